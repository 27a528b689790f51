"""The Gauss-Legendre rule on [−1, 1] in balls, with a proved error for analytic integrands."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.numerics.balls import Ball, precision

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["float_gauss", "gauss", "gauss_error"]


def gauss(number: int) -> list[tuple[Ball, Ball]]:
    """Nodes and weights, at the present precision or better."""
    return _rule(number, -(-int(ctx.prec) // 64) * 64)


@lru_cache(maxsize=64)
def _rule(number: int, bits: int) -> list[tuple[Ball, Ball]]:
    with precision(bits):
        right = [Ball.legendre_p_root(number, k, weight=True) for k in range((number + 1) // 2)]  # they fall
        return right + [(-x, weight) for x, weight in reversed(right[: number // 2])]


@lru_cache(maxsize=16)
def float_gauss(number: int) -> tuple[Floats, Floats]:
    """Nodes and weights in floats."""
    import numpy as np

    pairs = [(float(x), float(weight)) for x, weight in _rule(number, 64)]
    return np.array([x for x, _ in pairs]), np.array([weight for _, weight in pairs])


def gauss_error(most: Ball, rho: Ball, number: int) -> Ball:
    """A bound of the rule's error for f with |f| ≤ most inside the ellipse with foci ±1 and half axes (ρ ± 1/ρ)/2.

    Trefethen, Approximation Theory and Approximation Practice, theorem 19.3 (its n + 1 is the number of nodes).
    """
    return 64 * most * rho ** (-2 * (number - 1)) / (15 * (1 - rho**-2))
