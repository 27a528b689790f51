"""The pair of Gaussian noise, whose loss is normal; sampled, it has formulas of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import frexp, inf, isqrt
from typing import TYPE_CHECKING

from tightrope.curves.pair import Pair, Rung
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.moments.sampled import without_replacement_normal
from tightrope.numerics.moments.sampled_normal import log_power_mean, log_power_means
from tightrope.numerics.normal import normal_call, upper_tail
from tightrope.numerics.real import UNBOUNDED, ZERO, Real
from tightrope.numerics.transforms.closed import NormalTransform
from tightrope.numerics.transforms.sampled import SampledNormalTransform
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.grid.cells import CellLaw


@dataclass(frozen=True, eq=False)
class NormalPair(Pair):
    """(N(μ, 1), N(0, 1)): the loss is N(μ²/2, μ²)."""

    mu_squared: Real
    words = "normal"
    symmetric, quick = True, True

    def call(self, x: Ball) -> Ball:
        """Φ(−x/μ + μ/2) − e^x Φ(−x/μ − μ/2)."""
        return normal_call(self.mu(), x)

    def rung(self) -> Rung | None:
        """More noise, added to what is released, makes μ smaller."""
        square = self.mu_squared.rational
        return None if square is None else ("normal", (square,))

    def atom_unit(self) -> Fraction:
        """There are none."""
        return Fraction(0)

    def mu(self) -> Ball:
        """μ as a ball."""
        return self.root().ball()

    def root(self) -> Real:
        """μ, rational when μ² is the square of a rational."""
        square = self.mu_squared.rational
        if square is not None:
            root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
            if root * root == square:
                return Real(root)
        return Real(None, lambda: self.mu_squared.ball().sqrt())

    def tail(self, x: Ball) -> Ball:
        """P[N(μ²/2, μ²) > x]."""
        if self.mu_squared.rational == 0:
            return Ball(1) if x < 0 else Ball(0) if x >= 0 else Ball(0).union(Ball(1))
        mu = self.mu()
        return upper_tail(x / mu - mu / 2)

    def cumulant(self, s: Fraction) -> Ball:
        """s(s+1)μ²/2."""
        return self.mu_squared.ball() * ball(s * (s + 1) / 2)

    def approximate_cumulants(self, points: Sequence[float]) -> list[float]:
        """The same in floats."""
        with precision(64):
            half = float(self.mu_squared.ball().mid()) / 2
        return [half * s * (s + 1) for s in points]

    def mean(self) -> Ball:
        """μ²/2."""
        return self.mu_squared.ball() / 2

    def largest(self) -> Real:
        """Unbounded, unless μ = 0."""
        return ZERO if self.mu_squared.rational == 0 else UNBOUNDED

    def sampled_cumulant(self, rate: Fraction, power: Fraction) -> Ball:
        """The sampled Gaussian mechanism, any real power."""
        return log_power_mean(Real(None, self.mu), rate, power)

    def approximate_sampled_cumulants(self, rate: Fraction, powers: Sequence[float]) -> list[float]:
        """The same in floats, all powers at once."""
        with precision(64):
            mu = float(self.mu().mid())
        found = [inf] * len(powers)
        for close in _octaves(powers):  # powers of one size share their nodes; a wide range would share far too many
            for i, k in zip(close, log_power_means(mu, float(rate), [powers[i] for i in close]), strict=True):
                found[i] = float(k)
        return found

    def transform(self) -> Transform:
        """exp(μ²(s² + s)/2)."""
        return NormalTransform(self.mu_squared)

    def sampled_transform(self, rate: Fraction, adding: bool) -> Transform | None:
        """The sampled Gaussian mechanism."""
        return SampledNormalTransform(self.root(), rate, adding) if 0 < rate < 1 else None

    def cells(self) -> CellLaw | None:
        """A line cut into cells."""
        from tightrope.numerics.grid.normal_cells import NormalCells

        return None if self.mu_squared.rational == 0 else NormalCells(self.root())

    def sampled_cells(self, rate: Fraction, adding: bool) -> CellLaw | None:
        """The sampled Gaussian mechanism."""
        from tightrope.numerics.grid.normal_cells import SampledNormalCells

        plain = self.mu_squared.rational == 0 or not 0 < rate < 1
        return None if plain else SampledNormalCells(self.root(), rate, adding)

    def glued_cells(self, rate: Fraction) -> CellLaw | None:
        """A sample of a fixed size."""
        from tightrope.numerics.grid.normal_exchanges import GluedNormalCells

        return None if self.mu_squared.rational == 0 or not 0 < rate < 1 else GluedNormalCells(self.root(), rate)

    def glued_cumulant(self, rate: Fraction, s: Fraction) -> Ball:
        """Sampling without replacement, replace relation."""
        return without_replacement_normal(Real(None, self.mu), rate, s)


def _octaves(numbers: Sequence[float]) -> list[list[int]]:
    sizes: dict[tuple[bool, int], list[int]] = {}
    for i, x in enumerate(numbers):
        sizes.setdefault((x > 0, frexp(x)[1] // 2), []).append(i)
    return list(sizes.values())
