"""Gaussian DP: every pair of neighbours is at least as hard to tell apart as N(0, 1) and N(μ, 1)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.loss import Loss
from tightrope.curves.normal_pair import NormalPair
from tightrope.numerics.real import Real, total
from tightrope.theorems import Source, theorem


@dataclass(frozen=True, eq=False)
class GaussianDP:
    """μ-GDP, kept with μ²."""

    mu_squared: Real

    def __str__(self) -> str:
        return f"μ² = {self.mu_squared}"


@theorem(of=GaussianDP, gives=Loss, kind="equal", source=Source("dong2022gaussian", "Def. 2.6"))
def gaussian_is_dominated_by_normals(c: GaussianDP) -> Loss:
    """μ-GDP says that (N(μ, 1), N(0, 1)) dominates."""
    return Loss(((NormalPair(c.mu_squared), 1),))


@theorem(of=GaussianDP, gives=ZeroConcentrated, kind="equal", source=Source("dong2022gaussian", "Cor. B.6"))
def gaussian_is_concentrated(c: GaussianDP) -> ZeroConcentrated:
    """μ-GDP implies μ²/2-zCDP (and no converse holds)."""
    return ZeroConcentrated(c.mu_squared * Fraction(1, 2))


@theorem(
    of=GaussianDP, gives=GaussianDP, kind="upper", role="composition", source=Source("dong2022gaussian", "Cor. 3.3")
)
def gaussian_composes(parts: list[tuple[GaussianDP, int]]) -> GaussianDP:
    """Composition of μ_i-GDP mechanisms is √(Σμ_i²)-GDP: exactly that for Gaussians, less for others."""
    return GaussianDP(total([(c.mu_squared, n) for c, n in parts]))


@theorem(of=GaussianDP, gives=GaussianDP, kind="equal", role="group", source=Source("dong2022gaussian", "Thm 2.14"))
def gaussian_for_groups(c: GaussianDP, size: int) -> GaussianDP:
    """μ-GDP for one record is kμ-GDP for k records."""
    return GaussianDP(Real(c.mu_squared.rational, c.mu_squared.compute) * size**2)
