"""The loss of a Gaussian answer in one of t places, chosen at random: the exact pair of random allocation.

Against no answer at all the density is Λ, the mean of t lognormal variables. Removing the record costs E[(Λ − e^ε)₊],
adding it e^ε·E[(e^{−ε} − Λ)₊], both under the law without the record.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from typing import Any

from tightrope.curves.engines.gridded_pair import GridPoints, gridded_call
from tightrope.curves.loss import Loss
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pair import Call, Pair
from tightrope.curves.sampled.poisson import single
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, between, certain, precision
from tightrope.numerics.mean_density import MeanDensity
from tightrope.numerics.moments.allocated import allocation_cumulant
from tightrope.numerics.real import UNBOUNDED, Real
from tightrope.theorems import Source, theorem

_ORDERS = (*range(2, 33), 40, 50, 64)
_DIGITS = 30  # bits of a value that are enough
_PROBE = 1e-5  # if the integral is quick up to where δ is this, it is used
_BITS = 128
_MOST_COPIES = 2_000  # epochs; multiplying out more takes seconds
_EXACT = 12.0  # standard deviations of the loss up to which a grid uses the integral; beyond, moments


@dataclass(frozen=True)
class Density:
    """Everything about one μ and t: the integral, and the moments where it would be long. ``name`` tells μ² exactly."""

    base: NormalPair = field(compare=False)
    steps: int
    name: Hashable

    @cached_property
    def mean(self) -> MeanDensity:
        """The mean of t lognormal variables."""
        return MeanDensity(self.base.root(), self.steps)

    @cached_property
    def moments(self) -> list[tuple[int, Ball]]:
        """ln E[Λ^α] at some whole orders."""
        with precision(_BITS):
            return [
                (a, allocation_cumulant(self.steps, a, lambda k: self.base.cumulant(Fraction(k - 1)))) for a in _ORDERS
            ]

    @cached_property
    def spread(self) -> float:
        """About the standard deviation of ln Λ."""
        with precision(_BITS):
            square = float(self.base.mu_squared.ball().mid())
        return math.sqrt(math.log1p(math.expm1(square) / self.steps))

    def bounded(self, x: Ball) -> Ball:
        """E[(Λ − e^x)₊] ≤ E[Λ^α]·e^{−(α−1)x}·(1 − 1/α)^{α−1}/α, and at most what one run costs."""
        found = [self.base.call(x)]
        for order, moment in self.moments:
            log = moment - (order - 1) * x + (order - 1) * (1 - Ball(1) / order).log() - Ball(order).log()
            found.append(log.exp())
        return between(Ball(0), reduce(Ball.min, found).upper())


@dataclass(frozen=True)
class AllocatedPair(Pair):
    """One direction of the pair; several copies are put on a grid, which only overstates."""

    density: Density
    adding: bool
    words = "that of an answer in one of many places"
    effort = 2
    composes = False

    def call(self, x: Ball) -> Ball:
        """The integral, at one precision whatever is asked, or a bound where it would take long."""
        return _remembered(self, x.man_exp()) if x.is_exact() else self.profile(x)

    def profile(self, x: Ball) -> Ball:
        """The integral with more bits until a few digits are known, or a bound."""
        mean, value = self.density.mean, None
        for bits in (_BITS, 2 * _BITS):
            with precision(bits):
                try:
                    value = x.exp() * mean.put((-x).exp()) if self.adding else mean.call(x.exp())
                except NotCertified:
                    break
            if certain(value, _DIGITS):
                return value
        with precision(_BITS):
            bound = x.exp() * mean.put_at_most((-x).exp()) if self.adding else self.density.bounded(x)
            found = between(Ball(0), bound.upper())
            return found if value is None else value.min(found)

    def tail(self, x: Ball) -> Ball:
        """P[L > x] is at least δ(x)."""
        return between(self.call(x), Ball(1))

    def cumulant(self, s: Fraction) -> None:  # noqa: ARG002 - the moments have a theorem of their own
        """Known at whole orders only."""
        return

    def mean(self) -> None:
        """No formula is used."""
        return

    def largest(self) -> Real:
        """All answers may be far out."""
        return UNBOUNDED

    def repeated(self, copies: int) -> Call | None:
        """For several copies, a law on a grid, which dominates; very many are left to the moments: loose, but quick."""
        if copies > _MOST_COPIES:
            return None
        return self.call if copies == 1 else gridded_call(_points(self.density)[self.adding], copies)

    def quick(self, x: Fraction) -> Ball:
        """A bound that suits a grid: the integral near 0, the moments beyond."""
        at = ball(x)
        return self.call(at) if self.adding or x <= _EXACT * self.density.spread else self.density.bounded(at)


@lru_cache(maxsize=1024)
def _remembered(pair: AllocatedPair, exact: tuple[Any, Any]) -> Ball:
    mantissa, exponent = exact
    return pair.profile(Ball(mantissa) * Ball(2) ** int(exponent))


@lru_cache(maxsize=32)
def _points(density: Density) -> tuple[GridPoints, GridPoints]:
    with precision(_BITS):
        remove, add = AllocatedPair(density, False), AllocatedPair(density, True)
        return GridPoints.both(density.spread, remove.quick, add.quick)


@theorem(
    of=Loss,
    gives=Loss,
    kind="equal",
    role="sampling",
    relation="add-remove",
    source=Source("chua2024balls", "dominating pair; docs/theorems.md"),
)
def loss_of_allocation(c: Loss, steps: int) -> Loss | None:
    """If (P, Q) = (N(μ, 1), N(0, 1)) dominates one run, then the mean over i of P in place i and Q elsewhere against Qᵗ
    dominates removal of a record that takes part in one of t runs, and the reverse dominates addition."""
    found = single(c)
    if found is None or not isinstance(found[0], NormalPair) or found[0].mu_squared.rational == 0:
        return None
    square = found[0].mu_squared
    density = Density(found[0], steps, square if square.rational is None else square.rational)
    return (
        Loss(((AllocatedPair(density, False), 1),), ((AllocatedPair(density, True), 1),)) if _quick(density) else None
    )


def _quick(density: Density) -> bool:
    """Whether the integral is short where it matters; few runs, or very little noise, make it long."""
    try:
        with precision(_BITS):
            density.mean.put(ball(Fraction(-density.spread)).exp())
            x = 5 * density.spread
            while not density.mean.call(ball(Fraction(x)).exp()) < _PROBE:
                x *= 1.5
    except (NotCertified, OverflowError):
        return False
    return True
