"""Moments of the mean of t densities: E[((W_1 + … + W_t)/t)^α] for independent W with known moments."""

from __future__ import annotations

from collections.abc import Callable

from tightrope.numerics.balls import Ball, BallPolynomial

__all__ = ["allocation_cumulant"]


def allocation_cumulant(steps: int, order: int, log_moment: Callable[[int], Ball]) -> Ball:
    """ln E[(mean of t)^α] at a whole order α ≥ 2, where ``log_moment`` gives ln E[W^k] for k ≥ 2 and E[W] = 1.

    By the multinomial theorem it is t^{−α}·α!·[x^α](Σ_k E[W^k]x^k/k!)^t. With x scaled by 1/t the polynomial is
    near e^{x/t}, and only terms up to x^α are kept.
    """
    factor = BallPolynomial([_coefficient(steps, k, log_moment) for k in range(order + 1)])
    power = BallPolynomial([1])
    n = steps
    while n:
        if n & 1:
            power = _truncated(power * factor, order)
        factor = _truncated(factor * factor, order)
        n >>= 1
    return (power[order] * Ball(order).fac()).log()


def _coefficient(steps: int, k: int, log_moment: Callable[[int], Ball]) -> Ball:
    plain = Ball(1) / (Ball(steps) ** k * Ball(k).fac())
    return plain if k < 2 else plain * log_moment(k).exp()


def _truncated(p: BallPolynomial, order: int) -> BallPolynomial:
    return BallPolynomial(p.coeffs()[: order + 1])
