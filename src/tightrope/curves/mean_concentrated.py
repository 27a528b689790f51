"""Mean-concentrated DP (μ, τ): the loss has mean at most μ and, centred, is τ-subgaussian.

Not closed under post-processing, so it is converted at once to zCDP and never composed as itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.numerics.real import Real
from tightrope.theorems import Source, theorem


@dataclass(frozen=True, eq=False)
class MeanConcentrated:
    """(μ, τ)-CDP, kept with τ²."""

    mu: Real
    tau_squared: Real

    def __str__(self) -> str:
        return f"μ = {self.mu}, τ² = {self.tau_squared}"


@theorem(of=MeanConcentrated, gives=ZeroConcentrated, kind="upper", source=Source("bun2016concentrated", "Lemma 1.5"))
def mean_concentrated_is_concentrated(c: MeanConcentrated) -> ZeroConcentrated:
    """(μ, τ)-CDP implies (μ − τ²/2, τ²/2)-zCDP: D_{1+λ} ≤ μ + λτ²/2."""
    half = c.tau_squared * Fraction(1, 2)
    return ZeroConcentrated(half, c.mu + half * -1)
