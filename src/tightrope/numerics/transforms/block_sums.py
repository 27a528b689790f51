"""A bound of |Σ_k p_k e^{iyℓ_k}| for ALL y of a stretch, where the sum itself is too long to be known everywhere.

The k are gathered in blocks, and |Σ| ≤ Σ_blocks |Σ_{k in the block} p_k e^{iyℓ_k}| =: F(y). A block's size does not
change with the origin of its losses, so F moves by at most λ = Σ p_k|ℓ_k − (an origin of its block)| per unit of y: the
largest F of a grid of y, and λ times half its step, bound F between. Long blocks give a small F, short ones a small λ.
Of one block alone F² = Σp_ip_j·cos(y(ℓ_i − ℓ_j)) has a second derivative of at most V = Σp_ip_j(ℓ_i − ℓ_j)² in size, so
that between two places at a distance h it exceeds the larger of both by V·h²/8 at most: far less, where h is short.
Doubles with proved errors, as in ``float_lines``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, lower_float, precision
from tightrope.numerics.transforms.float_lines import UNIT, rounded

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Complexes

__all__ = ["NearBound", "Patience", "near_bound", "stretch_bound"]

_BITS = 128
_MOST_WORK = 5e4  # units
_MOST_STEPS = 2e6  # so the errors of the powers stay far below 10⁻⁶
_BATCH = 30_000  # products at a time
_LOOKS, _GOLDEN = 24, 0.6180339887498949  # places that show how large F is with each length, and how they are spread
_SHARES = (0.7, 0.4, 0.2, 0.08)  # of what F seems to leave of the goal, for the steps of the grid
_ALONE = (0.7, 0.1, 0.01, 0.001)  # the same for one block, whose steps are longer by the root of that
_TRIALS = 8
_TRIAL, _STEP, _BLOCK, _PRODUCT = 150.0, 0.02, 0.015, 0.0025  # units of work for a trial, and for each of these in it
_LENGTHS = tuple(4**k for k in range(1, 12))
_PIECE = 4  # a stretch is cut where y has grown so much
_SLACK = 1 + 2.0**-30  # for sums of doubles that bound something


@dataclass
class Patience:
    """The units of work that are left for several bounds: the same whatever the question may cost, as a check must take
    the same path."""

    left: float = _MOST_WORK

    def spend(self, steps: int, terms: int, blocks: int) -> None:
        """A trial of so many steps."""
        cost = _TRIAL + _cost(steps, terms, blocks)
        effort.spend(cost, "a proof that nodes are low")
        self.left -= cost


def stretch_bound(
    shares: Sequence[Ball],
    losses: Sequence[Ball],
    low: Fraction,
    high: Fraction,
    goal: float,
    lengths: Sequence[int] = _LENGTHS,
    patience: Patience | None = None,
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
        away += 2.0**-51 * np.abs(places) + 2.0**-48  # as rounded
        blocks.append(_Blocks(starts, float(away @ weights) * _SLACK, float(away**2 @ weights) * 2 * _SLACK))
        if length >= len(weights):
            break
    bound, patience = Ball(0), Patience() if patience is None else patience
    least = patience.left - _MOST_WORK  # for one stretch
    while low < high and goal > 0:
        end = min(high, _PIECE * low)
        at = float(low) + float(end - low) * ((np.arange(_LOOKS) * _GOLDEN) % 1.0)
        seen = np.exp(1j * np.multiply.outer(at, places)) * weights
        trials = []
        for some in blocks:
            most = float(np.abs(np.add.reduceat(seen, some.starts, axis=1)).sum(axis=1).max())
            for share in some.room if most < goal else ():
                steps = some.steps(float(end - low), most, goal, share)
                trials.append((_cost(steps, len(weights), len(some.starts)), steps, some))
        patience.spend(_LOOKS, len(weights), len(weights))
        for cost, steps, some in sorted(trials, key=lambda trial: trial[0])[:_TRIALS]:
            if patience.left - cost < max(least, 0.0) or steps > _MOST_STEPS:
                continue
            off = (12 * steps + 6 * len(weights) + 40) * UNIT
            first, step = some.places(low, end, steps)
            limit = some.limit(goal, step) - float(off)
            turns = [np.exp(1j * (places * float(y))) for y in (step, first)]
            most, done = _largest(turns[0], turns[1] * weights, some.starts, steps, limit)
            patience.spend(done, len(weights), len(some.starts))
            if most == math.inf:  # a trial that proves nothing
                continue
            with precision(_BITS):
                turns = [_units(losses, y) for y in (step, first)]
            most, done = _largest(turns[0], turns[1] * weights, some.starts, steps, limit)
            patience.spend(done, len(weights), len(some.starts))
            if most < math.inf:
                bound = bound.max(some.between(Ball(most) + off, step))
                break
        else:
            return Ball(1)
        low = end
    return bound if low >= high else Ball(1)


@dataclass(frozen=True)
class _Blocks:
    """Where blocks begin, λ, and V of one block alone."""

    starts: Integers
    rate: float
    bend: float

    @property
    def room(self) -> Sequence[float]:
        """Shares of what seems to be left."""
        return _SHARES if len(self.starts) > 1 else _ALONE

    def steps(self, length: float, most: float, goal: float, share: float) -> int:
        """So many for a stretch of that length where F seems to be at most ``most``: a choice."""
        if len(self.starts) > 1:
            number = length * self.rate / (2 * share * (goal - most))
        else:
            number = length * math.sqrt(self.bend / (8 * share * (goal - most) * (goal + most)))
        return math.ceil(min(number, _MOST_STEPS + 1)) + 2

    def places(self, low: Fraction, high: Fraction, steps: int) -> tuple[Fraction, Fraction]:
        """The first place of the grid, and the distance to the next: of several blocks each is the middle of a step, of
        one the first and the last are the ends."""
        if len(self.starts) > 1:
            return low + (high - low) / steps / 2, (high - low) / steps
        return low, (high - low) / (steps - 1)

    def limit(self, goal: float, step: Fraction) -> float:
        """What F must not exceed at the grid, about."""
        if len(self.starts) > 1:
            return goal - self.rate * float(step) / 2
        square = goal * goal - self.bend * float(step) ** 2 / 8
        return math.sqrt(square) if square > 0 else -math.inf

    def between(self, most: Ball, step: Fraction) -> Ball:
        """A bound of F everywhere, if it is at most that at the grid."""
        h = ball(step)
        if len(self.starts) > 1:
            return (most + Ball(self.rate) * h / 2).upper()
        return (most**2 + Ball(self.bend) * h**2 / 8).sqrt().upper()


def _cost(steps: int, terms: int, blocks: int) -> float:
    """About the units of work for so many steps."""
    return steps * (_STEP + _BLOCK * blocks + _PRODUCT * terms)


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
            end = lower_float((6 * self._squares / self._fourths).sqrt())
            self.end = Fraction(end) if math.isfinite(end) else Fraction(0)  # one term has all of the mass, perhaps

    def at(self, low: Fraction) -> tuple[Ball, Fraction]:
        """The bound from ``low`` on, and the end."""
        with precision(_BITS):
            y = ball(low)
            square = self._total**2 - y**2 * self._squares / 2 + y**4 * self._fourths / 24
            return square.upper().max(Ball(0)).sqrt().upper(), self.end


def _largest(turn: Complexes, value: Complexes, starts: Integers, steps: int, most: float) -> tuple[float, int]:
    """The largest F of so many turns of the terms, or ∞ as soon as it is above ``most``; and how many were looked at.

    The j-th power of a turn is off by at most 12u·j, its start by 12u, a sum of n terms, by 5n·u, a
    size by 4u: a turn is off by 2u, a product by 3u and what its factors are, and there are two to a power.
    """
    import numpy as np

    size = max(1, min(steps, _BATCH // len(value)))
    powers = np.ones((size + 1, len(value)), dtype=np.complex128)
    known = 1
    while known <= size:
        more = min(known, size + 1 - known)
        powers[known : known + more] = powers[:more] * (powers[known - 1] * turn)
        known += more
    largest = 0.0
    for done in range(size, steps + size, size):  # a few more at the end do no harm
        if len(starts) == 1:  # not as a product of matrices: threads of libraries are in each other's way
            sums = np.einsum("ij,j->i", powers[:-1], value)[:, None]
        else:
            sums = np.add.reduceat(powers[:-1] * value, starts, axis=1)
        largest = max(largest, float(np.sqrt(sums.real**2 + sums.imag**2).sum(axis=1).max()))
        if largest > most:
            return math.inf, done
        value = value * powers[-1]
    return largest, steps


def _units(losses: Sequence[Ball], y: Fraction) -> Complexes:
    import numpy as np

    at = ball(y)
    units = np.empty(len(losses), dtype=np.complex128)
    for k, loss in enumerate(losses):
        sin, cos = (loss * at).sin_cos()
        units[k] = complex(rounded(cos), rounded(sin))
    return units
