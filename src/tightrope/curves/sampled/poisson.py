"""Pairs under sampling: what a random batch does to the law of the loss.

With w = 1 − q + q·e^L: removing a record compares (1−q)Q + qP with Q, adding one compares Q with (1−q)Q + qP.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss, Parts, merged
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pair import Pair, Rung, sampled_rung
from tightrope.numerics.balls import INFINITY, Ball, ball
from tightrope.numerics.real import UNBOUNDED, ZERO, Real
from tightrope.numerics.remembered import kept, remembered
from tightrope.numerics.sums.composed_law import composed_law
from tightrope.numerics.sums.finite import scattered
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.grid.cells import CellLaw

_PANELS = 7e3  # units of work


def _lifted(x: Ball, rate: Fraction) -> Ball:
    """ln(1 + (e^x − 1)/q): the base loss that becomes x; −∞ where none does."""
    inner = x.expm1() / ball(rate)
    return (
        inner.log1p()
        if inner > -1
        else Ball("-inf")
        if inner <= -1
        else (inner.max(Ball(-1) + Ball(2) ** -4000)).log1p()
    )


class SampledPair(Pair):
    """What pairs made from a base pair by sampling have in common."""

    base: Pair
    rate: Fraction

    @property
    def effort(self) -> int:  # type: ignore[override]  # a property here
        """Less where there is a float formula."""
        return 1 if self.base.quick else 2

    @property
    def units(self) -> float:  # type: ignore[override]  # a property here
        """Much, where panels are laid for each value."""
        return _PANELS if self.base.dear else self.base.sampled_units

    @property
    def measured(self) -> bool | None:  # type: ignore[override]  # a property here
        """That of a normal base is known, and so are those of normal laws of unequal variance."""
        base = getattr(self, "reverse", self.base)
        return True if isinstance(base, NormalPair) else base.measured_sampled(self.rate)

    @property
    def decays(self) -> bool:  # type: ignore[override]  # a property here
        """As the base does."""
        return self.base.decays

    @property
    def composes(self) -> bool:  # type: ignore[override]  # a property here
        """As the base does."""
        return self.base.composes

    def mean(self) -> None:
        """No closed form is used."""
        return

    def rung(self) -> Rung | None:
        """Of the base, and the rate."""
        return sampled_rung(type(self).__name__, self.base, self.rate)

    def at_rate(self, rate: Fraction) -> Pair:
        """The same with another rate."""
        return replace(self, rate=rate)  # type: ignore[type-var]  # every pair of this kind is a dataclass

    def raised(self, top: Real) -> Real:
        """ln(1 + q(e^L − 1)) of a largest loss L."""
        return UNBOUNDED if top.infinite else Real(None, lambda: (top.ball().expm1() * ball(self.rate)).log1p())


@dataclass(frozen=True)
class PoissonRemove(SampledPair):
    """((1−q)Q + qP, Q) from the base pair (P, Q)."""

    base: Pair
    rate: Fraction
    words = "that of a sampled record taken away"

    def call(self, x: Ball) -> Ball:
        """q·δ(ln(1 + (e^x − 1)/q)) above ln(1 − q), where 1 − e^x takes over."""
        edge = x.expm1() / ball(self.rate) + 1
        below = -x.expm1()
        if edge <= 0:
            return below
        above = ball(self.rate) * self.base.call(_lifted(x, self.rate))
        return above if edge > 0 else above.union(below)

    def tail(self, x: Ball) -> Ball:
        """(1−q)Q[L > g] + qP[L > g], with Q[L > g] = (P[L > g] − δ(g))e^{−g}."""
        if x.expm1() / ball(self.rate) + 1 <= 0:
            return Ball(1)
        g = _lifted(x, self.rate)
        under_p = self.base.tail(g)
        under_q = (under_p - self.base.call(g)) * (-g).exp()
        return ball(1 - self.rate) * under_q + ball(self.rate) * under_p

    def cumulant(self, s: Fraction) -> Ball | None:
        """ln E_Q[w^{s+1}]."""
        if self.base.infinite().rational != 0:
            return INFINITY
        return self.base.sampled_cumulant(self.rate, s + 1)

    def approximate_cumulants(self, points: Sequence[float]) -> list[float]:
        """The same in floats."""
        return self.base.approximate_sampled_cumulants(self.rate, [s + 1 for s in points])

    def largest(self) -> Real:
        """ln(1 + q(e^{L} − 1)) of the base's largest loss."""
        return self.raised(self.base.largest())

    def infinite(self) -> Real:
        """q times the base's."""
        return self.base.infinite() * self.rate

    def transform(self) -> Transform | None:
        """Known where the base knows it."""
        return self.base.sampled_transform(self.rate, adding=False)

    def cells(self) -> CellLaw | None:
        """Known where the base knows them."""
        return self.base.sampled_cells(self.rate, adding=False)


@dataclass(frozen=True)
class PoissonAdd(SampledPair):
    """(Q, (1−q)Q + qP), from the base pair (Q, P) and its reverse (P, Q)."""

    base: Pair  # (Q, P)
    reverse: Pair  # (P, Q)
    rate: Fraction
    words = "that of a sampled record added"

    def call(self, x: Ball) -> Ball:
        """c·δ_{Q‖P}(ln(q·e^x/c)) with c = 1 − (1−q)e^x, while c > 0; 0 beyond."""
        c = 1 - ball(1 - self.rate) * x.exp()
        if c <= 0:
            return Ball(0)
        if not c > 0:
            return Ball(0).union(c.upper() if c.upper() > 0 else Ball(0))
        return c * self.base.call((ball(self.rate) * x.exp() / c).log())

    def tail(self, x: Ball) -> Ball:
        """Q[L < h] with e^h = (e^{−x} − 1 + q)/q."""
        inner = ((-x).exp() - ball(1 - self.rate)) / ball(self.rate)
        if inner <= 0:
            return Ball(0)
        if not inner > 0:
            return Ball(0).union(Ball(1))
        return self.base.tail(-inner.log())

    def cumulant(self, s: Fraction) -> Ball | None:
        """ln E_Q[w^{−s}]."""
        return self.reverse.sampled_cumulant(self.rate, -s)

    def approximate_cumulants(self, points: Sequence[float]) -> list[float]:
        """The same in floats."""
        return self.reverse.approximate_sampled_cumulants(self.rate, [-s for s in points])

    def largest(self) -> Real:
        """−ln(1 − q + q·e^{−L}) of the base's largest loss L."""
        top = self.base.largest()
        if self.rate == 1:
            return top
        if top.infinite:
            return Real(None, lambda: -(-ball(self.rate)).log1p())
        return Real(None, lambda: -(ball(self.rate) * (-top.ball()).expm1()).log1p())

    def transform(self) -> Transform | None:
        """Known where the reverse of the base knows it."""
        return self.reverse.sampled_transform(self.rate, adding=True)

    def cells(self) -> CellLaw | None:
        """Known where the reverse of the base knows them."""
        return self.reverse.sampled_cells(self.rate, adding=True)


def single(loss: Loss) -> tuple[Pair, Pair] | None:
    """The pair and its reverse when the loss is one pair, taken once, or a product of finite ones that is not too
    long."""
    found = [_alone(merged(parts)) for parts in loss.directions]
    forward, backward = found[0], found[-1]
    return None if forward is None or backward is None else (forward, backward)


def _alone(parts: Parts) -> Pair | None:
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]
    finite = [(pair, n) for pair, n in parts if isinstance(pair, FinitePair)]
    law = composed_law([(pair.law, n) for pair, n in finite]) if finite and len(finite) == len(parts) else None
    return None if law is None else FinitePair(("product", parts), law, all(pair.composes for pair, _ in finite))


def poisson_loss(loss: Loss, rate: Fraction) -> Loss | None:
    """The two pairs of a Poisson sample, add-remove."""
    found = single(loss)
    if found is None:
        return None
    forward, backward = found
    if isinstance(forward, FinitePair) and isinstance(backward, FinitePair):
        return _finite_poisson(forward, backward, rate)
    return Loss(((PoissonRemove(forward, rate), 1),), ((PoissonAdd(backward, forward, rate), 1),))


def _finite_poisson(forward: FinitePair, backward: FinitePair, rate: Fraction) -> Loss:
    q = rate
    values, removed, added = [], [], []
    for v, m in zip(forward.law.values, forward.law.masses, strict=True):
        under_q = remembered(lambda v=v, m=m: m.ball() * (-v.ball()).exp())  # type: ignore[misc]  # bound now
        values.append(kept(log_mixture(v, q)))
        removed.append(kept(m * q + under_q * (1 - q)))
        added.append(under_q)
    missing = backward.law.infinite  # Q-mass where P has none: its loss is ln(1 − q), and −ln(1 − q) on the way back
    if missing.rational != 0:
        values.append(Real(None, lambda: (-ball(q)).log1p()))
        removed.append(missing * (1 - q))
        added.append(missing)
    out = FinitePair(
        ("poisson", forward, q),
        scattered(values, removed, forward.law.infinite * q),
        forward.composes,
        ladder=sampled_rung("removed", forward, q),
    )
    negative = [kept(v * -1) for v in values]
    back = FinitePair(
        ("poisson add", backward, q),
        scattered(negative, added),
        backward.composes,
        ladder=sampled_rung("added", backward, q),
    )
    return Loss(((out, 1),), ((back, 1),))


def log_mixture(value: Real, rate: Fraction) -> Real:
    """ln(1 − q + q·e^value)."""
    if value.rational == 0:
        return ZERO
    return Real(None, lambda: (ball(rate) * value.ball().expm1()).log1p())
