"""(ε, δ)-DP: P(S) ≤ e^ε Q(S) + δ for every event S and every ordered pair of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.curves.randomized import leaky_law
from tightrope.numerics.balls import Ball
from tightrope.numerics.real import ZERO, Real, total
from tightrope.theorems import Source, theorem


@dataclass(frozen=True, eq=False)
class Approximate:
    """(ε, δ)-DP."""

    epsilon: Real
    delta: Real

    def __str__(self) -> str:
        return f"ε = {self.epsilon}, δ = {self.delta}"


@theorem(
    of=Approximate,
    gives=Loss,
    kind="equal",
    source=Source("kairouz2015composition", "Thm 3.2"),
)
def approximate_is_dominated_by_leaky_response(c: Approximate) -> Loss:
    """Every (ε, δ)-DP mechanism is a post-processing of leaky randomized response, which is itself (ε, δ)-DP."""
    key = ("leaky", c.epsilon.rational or id(c.epsilon), c.delta.rational or id(c.delta))
    known = c.epsilon.rational, c.delta.rational
    ladder = None if known[0] is None or known[1] is None else (("leaky", known[1]), (known[0],))
    return Loss(((FinitePair(key, leaky_law(c.epsilon, c.delta), ladder=ladder), 1),))


@theorem(
    of=Approximate, gives=ZeroConcentrated, kind="upper", source=Source("bun2016concentrated", "Lemma 8.3, sharpened")
)
def approximate_is_approximately_concentrated(c: Approximate) -> ZeroConcentrated:
    """Every (ε, δ)-DP mechanism is δ-approximately ε·tanh(ε/2)-zCDP: without its leak, leaky randomized response is
    RR(ε)."""
    return ZeroConcentrated(rho=_epsilon_tanh(c.epsilon), xi=ZERO, delta=c.delta)


def _epsilon_tanh(epsilon: Real) -> Real:
    if epsilon.rational == 0:
        return ZERO
    return Real(None, lambda: epsilon.ball() * (epsilon.ball() / 2).tanh())


@theorem(
    of=Approximate,
    gives=Approximate,
    kind="upper",
    role="composition",
    source=Source("dwork2014algorithmic", "Thm 3.16"),
)
def approximate_composes_basically(parts: list[tuple[Approximate, int]]) -> Approximate:
    """The composition of (ε_i, δ_i)-DP mechanisms is (Σε_i, Σδ_i)-DP."""
    return Approximate(total([(c.epsilon, n) for c, n in parts]), total([(c.delta, n) for c, n in parts]))


@theorem(
    of=Approximate,
    gives=Approximate,
    kind="upper",
    role="group",
    source=Source("dwork2014algorithmic", "Thm 2.2, with its δ"),
)
def approximate_for_groups(c: Approximate, size: int) -> Approximate:
    """(ε, δ)-DP for one record is (kε, δ(e^{kε} − 1)/(e^ε − 1))-DP for k records."""

    def grown() -> Ball:
        e = c.epsilon.ball()
        return c.delta.ball() * (e * size).expm1() / e.expm1()

    linear = c.delta.rational == 0 or c.epsilon.rational == 0
    return Approximate(c.epsilon * size, c.delta * size if linear else Real(None, grown))


@theorem(
    of=Approximate, gives=Approximate, kind="upper", role="sampling", source=Source("balle2018privacy", "Thms 8, 9")
)
def approximate_is_amplified(c: Approximate, rate: Fraction) -> Approximate:
    """On a sample taken at rate q, (ε, δ)-DP becomes (ln(1 + q(e^ε − 1)), qδ)-DP."""
    return Approximate(amplified(c.epsilon, rate), c.delta * rate)


def amplified(epsilon: Real, rate: Fraction) -> Real:
    """ln(1 + q(e^ε − 1)), exact at the ends."""
    if rate == 1 or epsilon.rational == 0:
        return epsilon
    if rate == 0:
        return ZERO
    return Real(None, lambda: (epsilon.ball().expm1() * Ball(rate.numerator) / rate.denominator).log1p())
