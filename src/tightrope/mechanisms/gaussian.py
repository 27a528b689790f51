"""The Gaussian mechanism: a query with ℓ2 sensitivity Δ plus N(0, σ²) in every coordinate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.gaussian import GaussianDP
from tightrope.curves.loss import Loss
from tightrope.curves.mean_concentrated import MeanConcentrated
from tightrope.curves.normal_pair import NormalPair
from tightrope.mechanisms.base import Leaf
from tightrope.mechanisms.grids import grid_step
from tightrope.numerics.exact import Number, positive
from tightrope.numerics.real import real
from tightrope.theorems import Source, theorem


@dataclass(frozen=True, init=False, repr=False)
class Gaussian(Leaf):
    """Gaussian noise of standard deviation ``sigma`` on a query of ℓ2 ``sensitivity``, both in the query's units.

    The query may be a number or a vector of any dimension. The noise multiplier of DP-SGD is sigma/sensitivity.
    ``grid`` is the step of released numbers, a power of two; it changes no claim.

    >>> print(Gaussian(sigma=2.5))
    gaussian(sigma=2.5)
    """

    sigma: Fraction
    sensitivity: Fraction
    grid: Fraction | None
    text_name = "gaussian"

    def __init__(self, sigma: Number, sensitivity: Number = 1, grid: Number | None = None) -> None:
        self._set(
            sigma=positive("sigma", sigma, "It is the standard deviation of the noise."),
            sensitivity=positive("sensitivity", sensitivity, "It is the largest ℓ2 change one record can cause."),
            grid=grid_step(grid),
        )

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Sensitivity 1 and the usual grid are not printed."""
        return {"sensitivity": 1, "grid": None}

    @property
    def mu(self) -> Fraction:
        """μ = Δ/σ."""
        return self.sensitivity / self.sigma

    def for_group(self, size: int) -> Gaussian:
        """k records move the query k times as far."""
        return Gaussian(self.sigma, self.sensitivity * size, self.grid)


@theorem(of=Gaussian, gives=GaussianDP, kind="equal", role="analysis", source=Source("dong2022gaussian", "Thm 2.7"))
def gaussian_mechanism_is_gaussian(m: Gaussian) -> GaussianDP:
    """The Gaussian mechanism is exactly Δ/σ-GDP."""
    return GaussianDP(real(m.mu**2))


@theorem(of=Gaussian, gives=Loss, kind="equal", role="analysis", source=Source("balle2018improving", "Lemma 3"))
def gaussian_mechanism_loss(m: Gaussian) -> Loss:
    """The loss of the Gaussian mechanism is N(μ²/2, μ²) with μ = Δ/σ, in both directions."""
    return Loss(((NormalPair(real(m.mu**2)), 1),))


@theorem(
    of=Gaussian,
    gives=ZeroConcentrated,
    kind="equal",
    role="analysis",
    source=Source("bun2016concentrated", "Prop. 1.6"),
)
def gaussian_mechanism_is_concentrated(m: Gaussian) -> ZeroConcentrated:
    """The Gaussian mechanism is exactly Δ²/(2σ²)-zCDP: D_α = αΔ²/(2σ²)."""
    return ZeroConcentrated(real(m.mu**2 / 2))


@theorem(
    of=Gaussian,
    gives=MeanConcentrated,
    kind="equal",
    role="analysis",
    source=Source("dwork2016concentrated", "Thm 3.2"),
)
def gaussian_mechanism_is_mean_concentrated(m: Gaussian) -> MeanConcentrated:
    """The Gaussian mechanism is exactly (μ²/2, μ)-CDP with μ = Δ/σ."""
    return MeanConcentrated(real(m.mu**2 / 2), real(m.mu**2))
