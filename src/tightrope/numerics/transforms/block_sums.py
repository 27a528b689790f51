"""A bound of |Σ_k p_k e^{iyℓ_k}| for ALL y of a stretch, where the sum itself is too long to be known everywhere.

The k are gathered in blocks, and |Σ| ≤ Σ_blocks |Σ_{k in the block} p_k e^{iyℓ_k}| =: F(y). A block's size does not
change with the origin of its losses, so F moves by at most λ = Σ p_k|ℓ_k − (an origin of its block)| per unit of y: the
largest F of a grid of y, and λ times half its step, bound F between. Long blocks give a small F, short ones a small λ.
Doubles with proved errors, as in ``float_lines``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, lower_float, precision
from tightrope.numerics.transforms.float_lines import UNIT, rounded

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Complexes

__all__ = ["NearBound", "near_bound", "stretch_bound"]

_BITS = 128
_MOST_WORK = 1.5e7  # products
_MOST_STEPS = 2e6  # so the errors of the powers stay far below 10⁻⁶
_BATCH = 30_000  # products at a time
_SHARES = (0.3, 0.08, 0.02, 0.005, 0.001, 0.0002)  # of the goal, for the steps of the grid
_FINE, _ROOM = 0.005, 0.05  # finer ones than that only for such a part of what a goal near 1 leaves
_TRIAL, _UNITS = 60.0, 0.03  # of work, and for each product; a trial takes a tenth of them
_LENGTHS = tuple(4**k for k in range(1, 12))
_PIECE = 4  # a stretch is cut where y has grown so much
_SLACK = 1 + 2.0**-30  # for sums of doubles that bound something


def stretch_bound(
    shares: Sequence[Ball],
    losses: Sequence[Ball],
    low: Fraction,
    high: Fraction,
    goal: float,
    lengths: Sequence[int] = _LENGTHS,
) -> Ball:
    """A bound of F(y) for every low ≤ y ≤ high with blocks of one of these lengths, if it can be ``goal``; else 1.

    Shares are ≥ 0 with a sum of at most 1; neighbours should have near losses.
    """
    import numpy as np

    with precision(_BITS):
        weights, places = np.array([rounded(p) for p in shares]), np.array([rounded(loss) for loss in losses])
    blocks = []
    for length in lengths:
        starts = np.arange(0, len(weights), length)
        means = np.add.reduceat(weights * places, starts) / np.maximum(np.add.reduceat(weights, starts), 1e-300)
        away = np.abs(places - np.repeat(means, length)[: len(places)])  # from any origin of the block
        blocks.append((float((away + 2.0**-48) @ weights) * _SLACK, starts))
        if length >= len(weights):
            break
    bound, work = Ball(0), _MOST_WORK
    while low < high and goal > 0:
        end = min(high, _PIECE * low)
        trials = [
            (math.ceil(float(end - low) * rate / (2 * share * goal)) + 1, rate, starts)
            for rate, starts in blocks
            for share in _SHARES
            if share >= min(_FINE, _ROOM * (1 - goal))
        ]
        for steps, rate, starts in sorted(trials, key=lambda trial: trial[0]):
            if steps * len(weights) > work or steps > _MOST_STEPS:
                return Ball(1)
            work -= steps * len(weights) / 10  # mostly a trial ends soon
            effort.spend(_TRIAL + _UNITS * steps * len(weights) / 10, "a proof that nodes are low")
            off = Ball(rate) * ball((end - low) / steps) / 2 + (12 * steps + 4 * len(weights) + 40) * UNIT
            step, limit = (end - low) / steps, goal - float(off)
            turn, first = (np.exp(1j * (places * float(y))) for y in (step, low + step / 2))
            if _largest(turn, first * weights, starts, steps, limit) == math.inf:  # a trial that proves nothing
                continue
            with precision(_BITS):
                turn, first = (_units(losses, y) for y in (step, low + step / 2))
            work -= steps * len(weights)
            effort.spend(_TRIAL + _UNITS * steps * len(weights), "a proof that nodes are low")
            most = _largest(turn, first * weights, starts, steps, limit)
            if most < math.inf:
                bound = bound.max((Ball(most) + off).upper())
                break
        else:
            return Ball(1)
        low = end
    return bound if low >= high else Ball(1)


def near_bound(shares: Sequence[Ball], losses: Sequence[Ball], low: Fraction) -> tuple[Ball, Fraction]:
    """A bound of |Σ share·e^{iy·loss}| for every y from ``low`` to an end not far from the origin, and that end."""
    return NearBound(shares, losses).at(low)


class NearBound:
    """With D = l_i − l_j, |Σ|² = Σp_ip_j·cos(yD) ≤ Σp_ip_j·(1 − y²D²/2 + y⁴D⁴/24), which falls up to y² =
    6ΣppD²/ΣppD⁴."""

    def __init__(self, shares: Sequence[Ball], losses: Sequence[Ball]) -> None:
        with precision(_BITS):
            total = sum(shares, Ball(0))
            middle = (sum((p * loss for p, loss in zip(shares, losses, strict=True)), Ball(0)) / total).mid()
            away = [loss - middle for loss in losses]
            first, second, third, fourth = (
                sum((p * x**k for p, x in zip(shares, away, strict=True)), Ball(0)) for k in range(1, 5)
            )
            self._total, self._squares = total, 2 * (total * second - first * first)
            self._fourths = 2 * total * fourth - 8 * third * first + 6 * second * second
            self.end = Fraction(lower_float((6 * self._squares / self._fourths).sqrt()))

    def at(self, low: Fraction) -> tuple[Ball, Fraction]:
        """The bound from ``low`` on, and the end."""
        with precision(_BITS):
            y = ball(low)
            square = self._total**2 - y**2 * self._squares / 2 + y**4 * self._fourths / 24
            return square.upper().max(Ball(0)).sqrt().upper(), self.end


def _largest(turn: Complexes, value: Complexes, starts: Integers, steps: int, most: float) -> float:
    """The largest F of so many turns of the terms, or ∞ as soon as it is above ``most``.

    The j-th power of a turn is off by at most 12u·j, its start by 12u, a sum of n terms by n·u, a size by 4u.
    """
    import numpy as np

    size = max(1, min(steps, _BATCH // len(value)))
    powers = np.ones((size + 1, len(value)), dtype=np.complex128)
    for j in range(size):
        powers[j + 1] = powers[j] * turn
    largest = 0.0
    for _ in range(-(-steps // size)):  # a few more at the end do no harm
        sums = np.add.reduceat(powers[:-1] * value, starts, axis=1)
        largest = max(largest, float(np.sqrt(sums.real**2 + sums.imag**2).sum(axis=1).max()))
        if largest > most:
            return math.inf
        value = value * powers[-1]
    return largest


def _units(losses: Sequence[Ball], y: Fraction) -> Complexes:
    import numpy as np

    at = ball(y)
    units = np.empty(len(losses), dtype=np.complex128)
    for k, loss in enumerate(losses):
        sin, cos = (loss * at).sin_cos()
        units[k] = complex(rounded(cos), rounded(sin))
    return units
