"""Sums Σ share·e^{iy·loss} of many terms at many nodes, most of which are low: a few heavy terms show where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.products import product
from tightrope.numerics.transforms.float_lines import UNIT, FloatNodes, above, exponential_sums, rounded_weights
from tightrope.numerics.transforms.turns import turns_at

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Complexes

__all__ = ["Terms", "screened_sums", "sums_at"]

_BITS = 128
_LEAST = 24  # fewer terms are not worth it
_ROOM = 0.15  # of what separates the floor from 1, for the light terms
_HEAVY, _FEW = 0.6, 0.01  # shares of the terms, and of the nodes, from which on nothing is gained
_TOGETHER, _AT_ONCE = 64, 2**18  # terms, whose sum is off by little; and products
_ROW, _WORK = 10.0, 0.06  # units of work of a term: to begin, and for a product by itself


@dataclass(frozen=True)
class Terms:
    """Shares ≥ 0 with a sum of at most 1, and losses, whose sum Σ share·e^{iy·loss} is φ(y) but for ``error``."""

    shares: Sequence[Ball]
    losses: Sequence[Ball]
    error: Ball


def screened_sums(terms: Terms, eta: Fraction, count: int, floor: Ball) -> FloatNodes:
    """The nodes kη, k ≤ count, but for those where |φ| ≤ e^floor is proved."""
    import numpy as np

    with precision(_BITS):
        step = ball(eta)
        sizes = np.array([float(share.mid()) for share in terms.shares])
        order = np.argsort(-sizes)
        light = np.cumsum(sizes[order][::-1])[::-1]  # of each and all that are lighter
        heavy = int(np.count_nonzero(light > _ROOM * -float(floor.expm1())))
        angles = [loss * step for loss in terms.losses]
        if len(sizes) >= _LEAST and heavy <= _HEAVY * len(sizes):
            chosen = [int(j) for j in order[:heavy]]
            values, error = exponential_sums([terms.shares[j] for j in chosen], [angles[j] for j in chosen], count)
            error += terms.error + sum((terms.shares[int(j)] for j in order[heavy:]), Ball(0))
            alive = above(values, error.upper(), floor)
            indices = np.nonzero(alive)[0]
            if len(indices) <= _FEW * count:
                values[indices], error = _few_sums(terms.shares, angles, indices)
                error = (error + terms.error).upper()
                alive[indices] = above(values[indices], error, floor)
                return FloatNodes(values, error, alive)
        values, error = exponential_sums(terms.shares, angles, count)
        error = (error + terms.error).upper()
    return FloatNodes(values, error, above(values, error, floor))


def sums_at(shares: Sequence[Ball], angles: Sequence[Ball], indices: Integers) -> tuple[Complexes, Ball]:
    """Σ share·e^{ik·angle} at these k, which rise, and a bound of the errors, as ``exponential_sums``."""
    count = int(indices[-1])
    if len(indices) <= _FEW * count:
        return _few_sums(shares, angles, indices)
    values, error = exponential_sums(shares, angles, count)
    return values[indices], error


def _few_sums(shares: Sequence[Ball], angles: Sequence[Ball], indices: Integers) -> tuple[Complexes, Ball]:
    import numpy as np

    effort.spend(len(shares) * (_ROW + _WORK * len(indices)), "a line of doubles")
    weights, values = rounded_weights(shares), np.zeros(len(indices), dtype=np.complex128)
    size = max(_AT_ONCE // _TOGETHER, 1)
    for at in range(0, len(shares), _TOGETHER):
        terms = slice(at, at + _TOGETHER)
        for first in range(0, len(indices), size):
            some = slice(first, first + size)
            values[some] += product(weights[terms], turns_at(angles[terms], indices[some]))
    return values, UNIT * (40 + 5 * _TOGETHER + 2 * (len(shares) // _TOGETHER))
