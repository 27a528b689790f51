"""The Laplace mechanism: a query with ℓ1 sensitivity Δ plus Laplace noise of scale b in every coordinate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.finite_pair import log_mean_float
from tightrope.curves.gaussian import GaussianDP
from tightrope.curves.loss import Loss
from tightrope.curves.pair import Call, Pair, Rung
from tightrope.curves.pure import Pure
from tightrope.mechanisms.base import Leaf
from tightrope.mechanisms.grids import grid_step
from tightrope.mechanisms.laplace_exchange import LaplaceExchange
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.exact import Number, near, positive
from tightrope.numerics.moments.sampled import sampled_laplace
from tightrope.numerics.normal import quantile
from tightrope.numerics.real import Real, real
from tightrope.numerics.sums.laplace import MOST_COPIES, laplace_call
from tightrope.numerics.transforms.closed import LaplaceTransform
from tightrope.numerics.transforms.sampled_laplace import SampledLaplaceTransform
from tightrope.numerics.transforms.symmetric_laplace import SymmetricLaplaceTransform
from tightrope.numerics.transforms.transform import Transform
from tightrope.theorems import Source, theorem

_NOISY = 100  # up to this ε₀: beyond, there is hardly any noise, and moments are only enclosed


@dataclass(frozen=True, init=False, repr=False)
class Laplace(Leaf):
    """Laplace noise of scale b = ``scale`` on a query of ℓ1 ``sensitivity``, both in the query's units.

    The query may be a number or a vector of any dimension. Its pure ε is sensitivity/scale; the noise's standard
    deviation is √2 times its scale. ``grid`` is the step of released numbers, a power of two; it changes no claim.

    >>> print(Laplace(scale=2))
    laplace(scale=2)
    """

    scale: Fraction
    sensitivity: Fraction
    grid: Fraction | None
    text_name = "laplace"

    def __init__(self, scale: Number, sensitivity: Number = 1, grid: Number | None = None) -> None:
        self._set(
            scale=positive("scale", scale, "It is the b of the Laplace density e^{−|x|/b}/2b."),
            sensitivity=positive("sensitivity", sensitivity, "It is the largest ℓ1 change one record can cause."),
            grid=grid_step(grid),
        )

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Sensitivity 1 and the usual grid are not printed."""
        return {"sensitivity": 1, "grid": None}

    @property
    def epsilon(self) -> Fraction:
        """ε₀ = Δ/b."""
        return self.sensitivity / self.scale

    def for_group(self, size: int) -> Laplace:
        """k records move the query k times as far."""
        return Laplace(self.scale, self.sensitivity * size, self.grid)


if TYPE_CHECKING:
    from tightrope.numerics.grid.cells import CellLaw


@dataclass(frozen=True)
class LaplacePair(Pair):
    """Two Laplace densities ε₀ scales apart: half the mass at loss ε₀, e^{−ε₀}/2 at −ε₀, a density between."""

    epsilon: Fraction
    words = "Laplace's: a density between two atoms"
    symmetric = True

    def call(self, x: Ball) -> Ball:
        """1 − e^{(x−ε₀)/2} between −ε₀ and ε₀."""
        return laplace_call(self.epsilon, 1, x)

    def rung(self) -> Rung | None:
        """Laplace noise is a narrower one and independent other noise."""
        return "laplace", (self.epsilon,)

    def atom_unit(self) -> Fraction:
        """±ε₀."""
        return self.epsilon

    def repeated(self, copies: int) -> Call | None:
        """The exact residue sum."""
        if copies > MOST_COPIES:
            return None
        return lambda x: laplace_call(self.epsilon, copies, x)

    def tail(self, x: Ball) -> Ball:
        """P[L > x] = 1 − e^{−(ε₀−x)/2}/2 inside."""
        e = ball(self.epsilon)
        if x >= e:
            return Ball(0)
        if x < -e:
            return Ball(1)
        inside = 1 - (-(e - x.max(-e).min(e)) / 2).exp() / 2
        return inside if x < e and x >= -e else inside.union(Ball(0) if x > -e else Ball(1))

    def cumulant(self, s: Fraction) -> Ball:
        """ln[(s+1)/(2s+1)·e^{sε₀} + s/(2s+1)·e^{−(s+1)ε₀}]."""
        e = ball(self.epsilon)
        first = ball((s + 1) / (2 * s + 1)) * (ball(s) * e).expm1()
        second = ball(s / (2 * s + 1)) * (-ball(s + 1) * e).expm1()
        inner = (first + second).log1p()
        if inner.is_finite() and not (ball(s) * e).exp() > Ball(10) ** 100:
            return inner
        tail = ball(s / (s + 1)) * (-ball(2 * s + 1) * e).exp()
        return ball(s) * e + ball((s + 1) / (2 * s + 1)).log() + tail.log1p()

    def approximate_cumulants(self, points: Sequence[float]) -> list[float]:
        """The same in floats, as if it had two atoms, and in balls where floats would cancel."""
        e = near(self.epsilon)
        found = [log_mean_float([(e, (s + 1) / (2 * s + 1)), (-e * (s + 1) / s, s / (2 * s + 1))], s) for s in points]
        careful = super().approximate_cumulants
        return [careful([s])[0] if k is None else k for s, k in zip(points, found, strict=True)]

    def mean(self) -> Ball:
        """ε₀ + e^{−ε₀} − 1."""
        e = ball(self.epsilon)
        return e + (-e).expm1()

    def largest(self) -> Real:
        """ε₀."""
        return real(self.epsilon)

    def transform(self) -> Transform:
        """The same for complex s."""
        return LaplaceTransform(self.epsilon)

    def sampled_transform(self, rate: Fraction, adding: bool) -> Transform | None:
        """The sampled Laplace mechanism."""
        return SampledLaplaceTransform(self.epsilon, rate, adding) if 0 < rate < 1 else None

    def exchanged(self, rate: Fraction) -> Pair | None:
        """Laplace noise around mixtures with +Δ and with −Δ."""
        return LaplaceExchange(self.epsilon, rate) if 0 < rate < 1 else LaplacePair(2 * self.epsilon)

    def glued_transform(self, rate: Fraction) -> Transform | None:
        """The glued pair's."""
        return SymmetricLaplaceTransform(self.epsilon, rate, glued=True) if 0 < rate < 1 else None

    def cells(self) -> CellLaw:
        """Exponentials between two atoms."""
        from tightrope.numerics.grid.laplace_cells import LaplaceCells

        return LaplaceCells(real(self.epsilon))

    def sampled_cells(self, rate: Fraction, adding: bool) -> CellLaw | None:
        """The sampled Laplace mechanism."""
        from tightrope.numerics.grid.laplace_cells import SampledLaplaceCells

        return SampledLaplaceCells(real(self.epsilon), rate, adding) if 0 < rate < 1 else None

    def glued_cells(self, rate: Fraction) -> CellLaw | None:
        """A sample of a fixed size."""
        from tightrope.numerics.grid.laplace_cells import GluedLaplaceCells

        return GluedLaplaceCells(real(self.epsilon), rate) if 0 < rate < 1 else None

    def sampled_cumulant(self, rate: Fraction, power: Fraction) -> Ball:
        """ln E_Q[w^power], by a rigorous integral."""
        return sampled_laplace(self.epsilon, rate, power)

    def approximate_sampled_cumulants(self, rate: Fraction, powers: Sequence[float]) -> list[float]:
        """The same in floats, unless there is hardly any noise."""
        if not (0 < rate < 1 and 0 < self.epsilon <= _NOISY):
            return super().approximate_sampled_cumulants(rate, powers)
        from tightrope.numerics.moments.sampled_laplace_floats import sampled_laplace_floats

        return sampled_laplace_floats(near(self.epsilon), min(near(rate), 1 - 2.0**-53), powers)


@theorem(of=Laplace, gives=Pure, kind="equal", role="analysis", source=Source("dwork2006calibrating", "Prop. 1"))
def laplace_mechanism_is_pure(m: Laplace) -> Pure:
    """The Laplace mechanism is Δ/b-DP, and no better."""
    return Pure(real(m.epsilon))


@theorem(
    of=Laplace,
    gives=Loss,
    kind="equal",
    role="analysis",
    source=Source("zhu2022optimal", "Sec. 4; vectors by docs/theorems.md"),
)
def laplace_mechanism_loss(m: Laplace) -> Loss:
    """The scalar Laplace pair at distance ε₀ = Δ/b dominates every change of ℓ1 size Δ, in any dimension."""
    return Loss(((LaplacePair(m.epsilon), 1),))


@theorem(
    of=Laplace, gives=ZeroConcentrated, kind="equal", role="analysis", source=Source("harrison2025exact", "abstract")
)
def laplace_mechanism_is_concentrated(m: Laplace) -> ZeroConcentrated:
    """The Laplace mechanism is exactly (ε₀ + e^{−ε₀} − 1)-zCDP with ε₀ = Δ/b."""
    return ZeroConcentrated(Real(None, LaplacePair(m.epsilon).mean))


@theorem(
    of=Laplace,
    gives=GaussianDP,
    kind="equal",
    role="analysis",
    source=Source("tightrope", "the Laplace mechanism in Gaussian terms"),
)
def laplace_mechanism_is_gaussian(m: Laplace) -> GaussianDP:
    """The Laplace mechanism is μ-GDP with μ = −2Φ⁻¹(e^{−ε₀/2}/2), and no better: the curves touch where both errors
    are equal."""
    return GaussianDP(Real(None, lambda: (2 * quantile((-ball(m.epsilon) / 2).exp() / 2)) ** 2))
