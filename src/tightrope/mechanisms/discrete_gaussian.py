"""The discrete Gaussian mechanism: integer noise with P(k) ∝ e^{−k²/2σ²}. Its profile is not the Gaussian's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.loss import Loss
from tightrope.curves.pair import Call, Pair
from tightrope.mechanisms.base import Leaf
from tightrope.mechanisms.discrete_gaussian_exchange import DiscreteGaussianExchange
from tightrope.numerics import discrete_normal
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.contour.discrete_normal import discrete_normal_sum_call
from tightrope.numerics.exact import Number, count, near, positive
from tightrope.numerics.moments.sampled_noise import discrete_noise_mean
from tightrope.numerics.real import UNBOUNDED, Real, real
from tightrope.numerics.sums.discrete_normal_atoms import discrete_normal_atoms
from tightrope.numerics.transforms.discrete_normal import DiscreteNormalTransform
from tightrope.numerics.transforms.exchanged_discrete import ExchangedDiscreteNormalTransform
from tightrope.numerics.transforms.smooth_discrete import sampled_discrete_transform
from tightrope.numerics.transforms.transform import Transform
from tightrope.theorems import Source, theorem


@dataclass(frozen=True, init=False, repr=False)
class DiscreteGaussian(Leaf):
    """Integer noise with P(k) ∝ exp(−k²/2σ²) on an integer query, σ = ``sigma``.

    One record changes at most ``coordinates`` entries, each by at most the whole number ``sensitivity``.

    >>> print(DiscreteGaussian(sigma=10))
    discrete_gaussian(sigma=10)
    """

    sigma: Fraction
    sensitivity: int
    coordinates: int
    text_name = "discrete_gaussian"

    def __init__(self, sigma: Number, sensitivity: Number = 1, coordinates: Number = 1) -> None:
        hint = "The query must be integer-valued; scale it first."
        self._set(
            sigma=positive("sigma", sigma),
            sensitivity=count("sensitivity", sensitivity, 1, hint),
            coordinates=count("coordinates", coordinates),
        )

    @property
    def defaults(self) -> Mapping[str, Any]:
        """One entry that changes by one is not printed."""
        return {"sensitivity": 1, "coordinates": 1}

    def counted(self, times: int) -> DiscreteGaussian:
        """For a sum in which a record counts so many times."""
        return DiscreteGaussian(self.sigma, self.sensitivity * times, self.coordinates)


if TYPE_CHECKING:
    from tightrope.numerics.grid.cells import CellLaw


@dataclass(frozen=True)
class DiscreteNormalPair(Pair):
    """Two discrete Gaussians a whole distance ``shift`` apart."""

    variance: Fraction
    shift: int
    words = "the discrete Gaussian's, on a lattice"
    decays = False
    symmetric, quick = True, True

    def call(self, x: Ball) -> Ball:
        """P[Y > xσ²/Δ − Δ/2] − e^x P[Y > xσ²/Δ + Δ/2]."""
        return discrete_normal.call(self.variance, self.shift, x)

    def atom_unit(self) -> Fraction:
        """Δ(2y − Δ)/2σ²."""
        return Fraction(self.shift) / (2 * self.variance)

    def repeated(self, copies: int) -> Call | None:
        """An integral over one period of the lattice."""
        if copies == 1:
            return self.call
        return partial(discrete_normal_sum_call, self.variance, self.shift, copies)

    def listed(self, copies: int, most: int) -> list[tuple[Ball, Ball]] | None:
        """The lattice as far as 18 deviations."""
        return discrete_normal_atoms(self.variance, self.shift, copies, most)

    def transform(self) -> Transform:
        """e^{(s²+s)Δ²/2σ²} S(sΔ)/S(0)."""
        return DiscreteNormalTransform(self.variance, self.shift)

    def cells(self) -> CellLaw | None:
        """The noise's values gathered in cells."""
        from tightrope.numerics.grid.discrete_normal_cells import DiscreteNormalCells

        return DiscreteNormalCells(self.variance, self.shift, Fraction(1))

    @property
    def sampled_units(self) -> float:  # type: ignore[override]  # a property here
        """A sum over some twenty deviations, or the rule for a normal one."""
        return min(300.0 + 200.0 * math.sqrt(near(self.variance)), 2e3)

    def sampled_cumulant(self, rate: Fraction, power: Fraction) -> Ball:
        """A sum over the noise, or about the rule for a normal one; any real power."""
        return discrete_noise_mean(self.variance, self.shift, rate, power, Fraction(0))

    def approximate_sampled_cumulants(self, rate: Fraction, powers: Sequence[float]) -> list[float]:
        """The same in floats, all powers at once."""
        from tightrope.numerics.moments.sampled_noise_floats import discrete_noise_means  # numpy, only when needed

        return discrete_noise_means(self.variance, self.shift, rate, powers)

    def sampled_transform(self, rate: Fraction, adding: bool) -> Transform | None:
        """A sum over the noise, or near the normal one."""
        return sampled_discrete_transform(self.variance, self.shift, rate, adding) if 0 < rate < 1 else None

    def sampled_cells(self, rate: Fraction, adding: bool) -> CellLaw | None:
        """The noise's values gathered in cells."""
        from tightrope.numerics.grid.discrete_normal_cells import DiscreteNormalCells

        return DiscreteNormalCells(self.variance, self.shift, rate, adding) if 0 < rate < 1 else None

    def exchanged(self, rate: Fraction) -> Pair:
        """Both mixtures, or twice the distance if every record is taken."""
        if rate == 1:
            return DiscreteNormalPair(self.variance, 2 * self.shift)
        return DiscreteGaussianExchange(self.variance, self.shift, rate)

    def glued_transform(self, rate: Fraction) -> Transform:
        """A sum over the noise on both sides of 0."""
        return ExchangedDiscreteNormalTransform(self.variance, self.shift, rate, glued=True)

    def glued_cells(self, rate: Fraction) -> CellLaw | None:
        """The same in cells."""
        from tightrope.numerics.grid.discrete_normal_exchanges import ExchangedDiscreteNormalCells

        return ExchangedDiscreteNormalCells(self.variance, self.shift, rate, glued=True) if 0 < rate < 1 else None

    def tail(self, x: Ball) -> Ball:
        """P[L > x]."""
        return discrete_normal.upper_probability(self.variance, self.shift, x)

    def cumulant(self, s: Fraction) -> Ball:
        """s(s+1)Δ²/2σ² + ln S(sΔ) − ln S(0)."""
        linear = ball(s * (s + 1) * self.shift**2 / (2 * self.variance))
        return linear + discrete_normal.log_mass_ratio(self.variance, s * self.shift)

    def mean(self) -> Ball:
        """Δ²/2σ²."""
        return ball(Fraction(self.shift**2) / (2 * self.variance))

    def largest(self) -> Real:
        """Unbounded."""
        return UNBOUNDED


@theorem(of=DiscreteGaussian, gives=Loss, kind="equal", role="analysis", source=Source("canonne2020discrete", "Thm 7"))
def discrete_gaussian_loss(m: DiscreteGaussian) -> Loss:
    """The pair at the full distance dominates each entry's smaller changes (log-concave noise), and entries
    multiply."""
    return Loss(((DiscreteNormalPair(m.sigma**2, m.sensitivity), m.coordinates),))


@theorem(
    of=DiscreteGaussian,
    gives=ZeroConcentrated,
    kind="equal",
    role="analysis",
    source=Source("canonne2020discrete", "Thm 4"),
)
def discrete_gaussian_is_concentrated(m: DiscreteGaussian) -> ZeroConcentrated:
    """The discrete Gaussian mechanism is Δ²/(2σ²)-zCDP for each entry that changes, and no better."""
    return ZeroConcentrated(real(Fraction(m.coordinates * m.sensitivity**2) / (2 * m.sigma**2)))
