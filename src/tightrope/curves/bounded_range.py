"""η-bounded range: for each pair of neighbours there is a t with every loss in [t, t + η]."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.loss import Loss
from tightrope.curves.pair import Pair
from tightrope.curves.pure import Pure
from tightrope.curves.renyi import Renyi
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.real import Real
from tightrope.theorems import Source, theorem


@dataclass(frozen=True, eq=False)
class BoundedRange:
    """Losses within an interval of length η. Stronger than η-DP."""

    eta: Real

    def __str__(self) -> str:
        return f"η = {self.eta}"


@dataclass(frozen=True)
class BoundedRangePair(Pair):
    """The pair whose profile is the largest of all η-bounded-range pairs; its loss has density e^{(l+η)/2}/(2(e^η−1))
    on (−η, η).

    No single mechanism has this profile at every ε, so a composition of such pairs only overstates.
    """

    eta: Fraction
    composes = False
    words = "at worst e^{(l+η)/2}/(2(e^η−1)) on (−η, η)"

    def call(self, x: Ball) -> Ball:
        """(e^{η/2} − e^{x/2})²/(e^η − 1) between −η and η."""
        e = ball(self.eta)
        inside = ((e / 2).exp() - (x / 2).exp()) ** 2 / e.expm1()
        return _by_side(x, e, inside)

    def tail(self, x: Ball) -> Ball:
        """P[L > x]."""
        e = ball(self.eta)
        clipped = x.max(-e).min(e)
        return (e.exp() - ((clipped + e) / 2).exp()) / e.expm1()

    def cumulant(self, s: Fraction) -> Ball:
        """ln of the integral of e^{sl} against the density."""
        e, t = ball(self.eta), ball(s) + ball(Fraction(1, 2))
        return ((e / 2).exp() * (t * e).sinh() / (t * e.expm1())).log()

    def mean(self) -> Ball:
        """E[L] = η·coth(η/2) − 2."""
        e = ball(self.eta)
        return e * (e / 2).coth() - 2

    def largest(self) -> Real:
        """η."""
        return Real(self.eta)


def _by_side(x: Ball, e: Ball, inside: Ball) -> Ball:
    if x >= e:
        return Ball(0)
    if x <= -e:
        return -x.expm1()
    if -e < x < e:
        return inside
    return inside.union(Ball(0) if x > 0 else -x.expm1())


@theorem(of=BoundedRange, gives=Pure, kind="equal", source=Source("durfee2019practical", "Lemma 3.2"))
def bounded_range_is_pure(c: BoundedRange) -> Pure:
    """η-bounded range implies η-DP."""
    return Pure(c.eta)


@theorem(of=BoundedRange, gives=Loss, kind="equal", source=Source("dong2020optimal", "Thm 3, and docs/theorems.md"))
def bounded_range_is_dominated(c: BoundedRange) -> Loss | None:
    """δ(ε) ≤ (e^{η/2} − e^{ε/2})²/(e^η − 1) for |ε| ≤ η, attained at each ε; as a profile it is that of one
    dominating pair."""
    if not c.eta.rational:
        return None
    return Loss(((BoundedRangePair(c.eta.rational), 1),))


@theorem(of=BoundedRange, gives=ZeroConcentrated, kind="equal", source=Source("harrison2025exact", "bounded range"))
def bounded_range_is_concentrated(c: BoundedRange) -> ZeroConcentrated:
    """η-bounded range implies ρ-zCDP with ρ = η/(e^η − 1) − 1 + ln((e^η − 1)/η) ≤ η²/8."""

    def rho() -> Ball:
        e = c.eta.ball()
        return (e / e.expm1() - 1 + (e.expm1() / e).log()).min(e**2 / 8)

    return ZeroConcentrated(c.eta if c.eta.rational == 0 else Real(None, rho))


@dataclass(frozen=True, eq=False)
class BoundedRangeRenyi(Renyi):
    """The largest Rényi divergence of an η-bounded-range pair at each order."""

    eta: Fraction

    def divergence(self, order: Fraction) -> Ball:
        """ln(x*^{α−1}(A − A^{1−α})/(α(A − 1)))/(α − 1) with A = e^η and x* = (1 − 1/α)(A − A^{1−α})/(1 − A^{1−α})."""
        if self.eta == 0:
            return Ball(0)
        e, a = ball(self.eta), ball(order)
        low = ((1 - a) * e).exp()
        spread = -(-a * e).expm1() * e.exp()  # A − A^{1−α}
        x = (1 - 1 / a) * spread / (1 - low)
        value = x.log() + (spread / (a * e.expm1())).log() / (a - 1)
        return value if value.is_finite() else Ball(0).union(e)


@theorem(of=BoundedRange, gives=Renyi, kind="equal", source=Source("dong2020optimal", "Lemma 3.2, maximised over t"))
def bounded_range_is_renyi(c: BoundedRange) -> Renyi | None:
    """The Rényi divergence of an η-bounded-range mechanism is largest for the two-valued loss {t, t − η} with the
    worst t."""
    return None if c.eta.rational is None else BoundedRangeRenyi(c.eta.rational)
