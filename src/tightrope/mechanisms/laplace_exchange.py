"""A Poisson sample under replace with Laplace noise: the record's part of the batch moves up or down by Δ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.curves.pair import Rung, approximate
from tightrope.curves.sampled.ruled import RuledPair
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.moments.sampled import sampled_laplace
from tightrope.numerics.real import Real, real
from tightrope.numerics.transforms.symmetric_laplace import SymmetricLaplaceTransform
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.grid.cells import CellLaw


@dataclass(frozen=True)
class LaplaceExchange(RuledPair):
    """(1−q)Lap(0) + qLap(ε₀) against (1−q)Lap(0) + qLap(−ε₀), in units of the noise's scale; symmetric.

    Along z the loss rises from −L* to L* = ln w(ε₀)/w(−ε₀), w(l) = 1 − q + q·e^l: constant beyond ±ε₀, 0 at 0.
    """

    epsilon: Fraction
    rate: Fraction
    words = "that of a sampled record exchanged, with Laplace noise"
    symmetric = True

    def rung(self) -> Rung | None:
        """Laplace noise is a narrower one and independent other noise; a smaller sample is one of a larger one."""
        return ("exchanged", "laplace"), (self.epsilon, self.rate)

    def at_rate(self, rate: Fraction) -> LaplaceExchange:
        """The same with another rate."""
        return LaplaceExchange(self.epsilon, rate)

    def _edge(self) -> Ball:
        """w(−ε₀)."""
        return 1 + ball(self.rate) * (-ball(self.epsilon)).expm1()

    def _masses(self, x: Ball) -> tuple[Ball, Ball]:
        """P and Q of the outputs with a loss above x, for 0 ≤ x < L*."""
        e, q = ball(self.epsilon), ball(self.rate)
        lifted = ((x.exp() * self._edge() - 1 + q) / q).log().max(-e).min(e)
        z = (lifted + e) / 2
        plain = (1 - q) * (-z).exp() / 2
        return plain + q * (1 - (z - e).exp() / 2), plain + q * (-z - e).exp() / 2

    def call(self, x: Ball) -> Ball:
        """P[z > z*] − e^x Q[z > z*] at x ≥ 0, 0 beyond L*; below 0 by symmetry."""
        if x < 0:
            return -x.expm1() + x.exp() * self.call(-x)
        if not x >= 0:
            return self.call(x.upper()).union(self.call(x.lower()))
        top = self.largest().ball()
        if x >= top:
            return Ball(0)
        above, under = self._masses(x)
        value = (above - x.exp() * under).max(Ball(0))
        return value if x < top else value.union(Ball(0))

    def tail(self, x: Ball) -> Ball:
        """P[L > x]."""
        top = self.largest().ball()
        if x >= top:
            return Ball(0)
        if x < -top:
            return Ball(1)
        if x >= 0:
            value = self._masses(x)[0]
            return value if x < top else value.union(Ball(0))
        if x < 0:  # by symmetry P[L ≤ x] = Q[L ≥ −x], and there is no atom inside
            value = 1 - self._masses((-x).min(top))[1]
            return value if x > -top else value.union(Ball(1))
        return Ball(0).union(Ball(1))

    def largest(self) -> Real:
        """L*."""
        e, q = self.epsilon, self.rate
        return Real(None, lambda: (ball(q) * ball(e).expm1()).log1p() - (ball(q) * ball(-e).expm1()).log1p())

    def cumulant(self, s: Fraction) -> Ball:
        """By the rule of the transform; beyond its reach from the moments of a sampled record."""
        known = super().cumulant(s)
        return known if known is not None and known.is_finite() else self.from_samples(s)

    def from_samples(self, s: Fraction) -> Ball:
        """M(s) = w(−ε₀)^{−s}·G(s + 1) + w(−ε₀)^{s+1}·G(−s) − w(−ε₀), G(a) = E[w^a]."""
        log, more, a = self._edge().log(), s + 1, ball(s)
        up = sampled_laplace(self.epsilon, self.rate, more) - a * log
        down = sampled_laplace(self.epsilon, self.rate, -s) + (a + 1) * log
        return (up + ((down - up).exp() - (log - up).exp()).log1p()).max(Ball(0))

    def approximate_cumulants(self, points: Sequence[float]) -> list[float]:
        """The same in floats."""
        try:
            return super().approximate_cumulants(points)
        except NotCertified:  # hardly any noise
            return [approximate(self.cumulant, s) for s in points]

    def transform(self) -> Transform:
        """Atoms at ±L*, a density between."""
        return SymmetricLaplaceTransform(self.epsilon, self.rate, glued=False)

    def cells(self) -> CellLaw:
        """Exponentials between the atoms."""
        from tightrope.numerics.grid.laplace_cells import ExchangedLaplaceCells

        return ExchangedLaplaceCells(real(self.epsilon), self.rate)
