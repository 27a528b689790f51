"""Mechanisms that fit a stated guarantee: they show how much it must cost at least."""

from __future__ import annotations

from fractions import Fraction

from tightrope.mechanisms.stated import CDP, RDP, TCDP, ZCDP, Stated
from tightrope.numerics.real import Real, real
from tightrope.theorems import Source, theorem


@theorem(
    of=Stated,
    gives=Fraction,
    kind="lower",
    role="analysis",
    source=Source("bun2016concentrated", "Prop. 1.6: equality for Gaussians"),
)
def gaussian_instance(m: Stated) -> Real | None:
    """A Gaussian mechanism has D_α = αμ²/2; with the largest μ that keeps the stated bounds it fits, so the cost is
    at least its."""
    if isinstance(m, ZCDP):
        return real(2 * min(m.rho, m.rho + m.xi))  # ξ ≥ 0: ρα fits below ξ + ρα; ξ < 0: the tightest order is α → 1
    if isinstance(m, TCDP):
        return real(2 * m.rho)
    if isinstance(m, CDP):
        return real(min(m.tau**2, 2 * m.mu))
    if isinstance(m, RDP):
        return real(min(2 * e / a for a, e in zip(m.orders, m.values, strict=True)))
    return None
