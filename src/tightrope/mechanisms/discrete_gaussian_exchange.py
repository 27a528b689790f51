"""A Poisson sample under replace with discrete Gaussian noise: the record's part of the batch moves up or down by Δ."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

from tightrope.curves.sampled.ruled import RuledPair
from tightrope.numerics.balls import Ball, between
from tightrope.numerics.discrete_exchange import exchange_masses, exchange_thresholds
from tightrope.numerics.moments.sampled_noise import discrete_noise_mean
from tightrope.numerics.real import UNBOUNDED, Real
from tightrope.numerics.transforms.exchanged_discrete import ExchangedDiscreteNormalTransform
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.grid.cells import CellLaw


@dataclass(frozen=True)
class DiscreteGaussianExchange(RuledPair):
    """(1−q)N(0) + qN(Δ) against (1−q)N(0) + qN(−Δ), N(m) the discrete Gaussian around m; symmetric.

    The loss rises with the noise, and is 0 at 0.
    """

    variance: Fraction
    shift: int
    rate: Fraction
    words = "that of a sampled record exchanged, with discrete Gaussian noise"
    decays = False
    symmetric = True

    def call(self, x: Ball) -> Ball:
        """The largest P[k ≥ i] − e^x Q[k ≥ i], that of the least i with a loss above x; below 0 by symmetry."""
        if x < 0:
            return -x.expm1() + x.exp() * self.call(-x)
        if not x.is_finite():
            return Ball(0) if x > 0 else between(Ball(0), Ball(1))
        if not x.is_exact():
            return between(self.call(x.upper()), self.call(x.lower()))  # it falls
        pairs = [self._masses(start) for start in self._starts(x)]
        return reduce(Ball.max, [first - x.exp() * second for first, second in pairs], Ball(0))

    def _masses(self, start: int) -> tuple[Ball, Ball]:
        return exchange_masses(self.variance, self.shift, self.rate, start)

    def _starts(self, x: Ball) -> range:
        return exchange_thresholds(self.variance, self.shift, self.rate, x)

    def tail(self, x: Ball) -> Ball:
        """P[L > x]; if x may lie on either side of an atom, both values are enclosed."""
        if not x.is_finite() or (x.contains(0) and not x.is_zero()):
            return Ball(0) if x > 0 else Ball(1) if x < 0 else between(Ball(0), Ball(1))
        starts = self._starts(abs(x))
        first, last = self._masses(starts[0]), self._masses(starts[-1])
        if x >= 0:
            return first[0].union(last[0])
        return 1 - first[1].union(last[1])  # P[L ≤ x] = Q[L ≥ −x]

    def largest(self) -> Real:
        """Unbounded."""
        return UNBOUNDED

    def cumulant(self, s: Fraction) -> Ball:
        """A sum over the noise, or about the rule for a normal one."""
        return discrete_noise_mean(self.variance, self.shift, self.rate, s + 1, -s)

    def transform(self) -> Transform:
        """A sum over the noise."""
        return ExchangedDiscreteNormalTransform(self.variance, self.shift, self.rate, glued=False)

    def cells(self) -> CellLaw:
        """A table of the losses."""
        from tightrope.numerics.grid.discrete_normal_exchanges import ExchangedDiscreteNormalCells

        return ExchangedDiscreteNormalCells(self.variance, self.shift, self.rate, glued=False)
