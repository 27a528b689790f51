"""From a stated (ε, δ) to the largest sum a filter may let through, rounded down."""

from __future__ import annotations

from fractions import Fraction

from tightrope.accounting.calibrate import calibrate
from tightrope.mechanisms.stated import GDP, ZCDP
from tightrope.numerics.balls import Ball, ball, lower_float, sharp


def largest_rho(epsilon: Fraction, delta: Fraction, leak: Fraction) -> Fraction:
    """The largest ρ (to a millionth) for which leak-approximate ρ-zCDP is proved to be (ε, δ)-DP."""
    return calibrate(lambda rho: ZCDP(rho, 0, leak), epsilon=epsilon, delta=delta).exact


def largest_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest μ (to a millionth) for which μ-GDP is proved to be (ε, δ)-DP."""
    return calibrate(lambda mu: GDP(mu), epsilon=epsilon, delta=delta).exact


def largest_squares(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest V with V/2 + √(2 ln(1/δ)·V) ≤ ε: V = (√(2L + 2ε) − √(2L))² with L = ln(1/δ)."""

    def value() -> Ball:
        twice = -2 * ball(delta).log()
        root = 2 * ball(epsilon) / ((twice + 2 * ball(epsilon)).sqrt() + twice.sqrt())  # no cancellation
        return root**2

    return Fraction(lower_float(sharp(value)))


def largest_divergence(epsilon: Fraction, delta: Fraction, order: Fraction) -> Fraction:
    """The largest D_α that is proved to be (ε, δ)-DP at this order; 0 when none is."""

    def value() -> Ball:
        lam = ball(order - 1)
        saving = lam * (1 / lam).log1p() + lam.log1p()
        return ball(epsilon) + (ball(delta).log() + saving) / lam

    return Fraction(max(lower_float(sharp(value)), 0.0))
