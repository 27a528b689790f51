"""Moments of the mean of t densities: E[((W_1 + … + W_t)/t)^α] for independent W with known moments."""

from __future__ import annotations

from collections.abc import Callable

from tightrope.numerics.balls import Ball, BallPolynomial

__all__ = ["allocation_cumulant", "allocation_cumulants"]


def allocation_cumulant(steps: int, order: int, log_moment: Callable[[int], Ball]) -> Ball:
    """ln E[(mean of t)^α] at a whole order α ≥ 2, where ``log_moment`` gives ln E[W^k] for k ≥ 2 and E[W] = 1."""
    return allocation_cumulants(steps, order, log_moment)[order]


def allocation_cumulants(steps: int, most: int, log_moment: Callable[[int], Ball]) -> list[Ball]:
    """The same at all whole orders up to ``most``.

    By the multinomial theorem E[(mean of t)^α] is t^{−α}·α!·[x^α](Σ_k E[W^k]x^k/k!)^t. With x scaled by 1/t the
    polynomial is near e^{x/t}, and only terms up to x^α are kept.
    """
    factor = BallPolynomial([_coefficient(steps, k, log_moment) for k in range(most + 1)])
    power = BallPolynomial([1])
    n = steps
    while n:
        if n & 1:
            power = _truncated(power * factor, most)
        n >>= 1
        if n:
            factor = _truncated(factor * factor, most)
    return [Ball(0) if k < 2 else (power[k] * Ball(k).fac()).log() for k in range(most + 1)]


def _coefficient(steps: int, k: int, log_moment: Callable[[int], Ball]) -> Ball:
    plain = Ball(1) / (Ball(steps) ** k * Ball(k).fac())
    return plain if k < 2 else plain * log_moment(k).exp()


def _truncated(p: BallPolynomial, order: int) -> BallPolynomial:
    return BallPolynomial(p.coeffs()[: order + 1])
