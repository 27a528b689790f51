"""The loss of the discrete Gaussian mechanism in cells, plain or sampled: sums over the noise.

The noise is k with chance ∝ e^{−k²/2v}; a record moves it by D. The base loss is l = D(2k − D)/2v, that of a record
sampled at rate q is ln w, w = 1 − q + q·e^l. It rises with k, so that cells are stretches of k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision, upper_float
from tightrope.numerics.discrete_normal import mass, tail
from tightrope.numerics.grid.cells import UNIT, CellLaw, Cells, Floats
from tightrope.numerics.grid.exponentials import exponentials
from tightrope.numerics.grid.growths import lifted, loss_gaps
from tightrope.numerics.grid.listing import MOST_LISTED, Listed, listed_losses

__all__ = ["DiscreteNormalCells"]

_WHAT = "the cells of a discrete Gaussian's loss"
_BITS = 160
_REACHES = 18, 12  # standard deviations: beyond, there is a mass of 10⁻⁷⁰; for wide noise 10⁻³²
_MOST_VALUES = 6_000_000
_WIDE = 10_000
_LARGEST_LOSS = 250
_EXPONENT = 590  # of floats
_BLOCK = 256


@dataclass(frozen=True)
class DiscreteNormalCells(CellLaw):
    """The loss of ((1−q)Q + qP, Q), or (``adding``) of its reverse: Q is noise around 0, P around ``shift`` > 0."""

    variance: Fraction
    shift: int
    rate: Fraction
    adding: bool = False
    scattered = True

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1 or self.shift < 1:
            raise AssertionError("the rate must lie between 0 and 1, the shift be positive")
        if self._reach < 1:
            raise NotCertified(_WHAT, "the noise is too narrow")
        if 2 * self._reach + self.shift > _MOST_VALUES:
            raise NotCertified(_WHAT, "the noise is too wide")

    @cached_property
    def _reach(self) -> int:
        """The noise is seen from −reach to reach + shift, as far as floats reach: k²/2v and base losses."""
        deviation = math.isqrt(math.ceil(self.variance)) + 1
        seen = deviation * (_REACHES[0] if deviation < _WIDE else _REACHES[1])
        squares = math.isqrt(math.floor(2 * _EXPONENT * self.variance)) - self.shift
        losses = math.floor((2 * _LARGEST_LOSS * self.variance / self.shift - self.shift) / 2)
        return min(seen, squares, losses)

    @cached_property
    def _floats(self) -> tuple[float, float, float]:
        """1/2v, q and 1 − q, off by at most 2·2⁻⁵³ of themselves."""
        with precision(_BITS):
            half = 1 / (2 * ball(self.variance))
            return float(half.mid()), float(ball(self.rate).mid()), float(ball(1 - self.rate).mid())

    @cached_property
    def _masses(self) -> tuple[Floats, Floats]:
        """The mixture and the plain law over the noise, and a 0: off by (5·exponent + 20)·2⁻⁵³ of themselves."""
        half, q, rest = self._floats
        with precision(_BITS):
            size = float((1 / mass(self.variance, Fraction(0))).mid())
        noise = np.arange(self._reach + self.shift + 1, dtype=np.float64)
        side = exponentials(-(noise * noise * half)) * size
        plain = np.concatenate([side[self._reach : 0 : -1], side, [0.0]])
        moved = np.concatenate([side[:0:-1], side[: self._reach + 1], [0.0]])
        return rest * plain + q * moved, plain

    @cached_property
    def _beyond(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """At least what the mixture and the plain law have below and above the noise that is seen."""
        with precision(_BITS):
            q, whole = ball(self.rate), mass(self.variance, Fraction(0))
            near, far = (tail(self.variance, self._reach + 1 + more) / whole for more in (0, self.shift))
            below = upper_float((1 - q) * near + q * far), upper_float(near)
            return below, (upper_float((1 - q) * far + q * near), upper_float(far))

    def cells(self, edges: Floats) -> Cells:
        """Sums over stretches of the noise; what is beyond may be in any cell there."""
        losses = -edges[::-1] if self.adding else edges
        half, q, rest = self._floats
        first, last, shift = -self._reach, self._reach + self.shift, self.shift
        ends = [shift * (2 * k - shift) * half for k in (first - 1, last + 1)]
        k = np.floor(lifted(q, rest, losses, *ends) / (2 * shift * half) + shift / 2)
        k = np.maximum.accumulate(np.clip(k, first - 1, last))
        found = self._sums(np.concatenate([[first - 1], k, [last]]).astype(np.int64))
        slack = self._slack(k, losses)
        if self.adding:
            found = [values[::-1] for values in (*found[2:], *found[:2])]
        return Cells(found[0], found[1], found[2], found[3], slack)

    def parted(self, low: float, high: float, least: float) -> Listed | None:
        """All noise that is not lighter than ``least``. What is below it has losses between that of the next one and
        ln(1 − q), so it may be light: all of it is put on the larger one of these, or is not there."""
        reach = math.isqrt(math.ceil(2 * self.variance * math.ceil(-math.log(least)))) + 1
        if 2 * reach + self.shift > MOST_LISTED or (self.adding and self.rate == 1):
            return None
        found, rest = _every(self, reach)
        with precision(_BITS):
            return listed_losses(found, low, high, least, rest)

    def _sums(self, k: NDArray[np.int64]) -> list[Floats]:
        """At least and at most what the mixture has between k_0 and k_1, between k_1 and k_2, …; then the plain law."""
        starts, numbers = k[:-1] + (self._reach + 1), np.diff(k)
        seen = np.flatnonzero(numbers)
        # Sums of sums, as they have fewer roundings. The farther noise of a stretch has the larger exponent's error.
        blocks = np.unique(np.concatenate([starts, np.arange(0, k[-1] - k[0], _BLOCK)]))
        places = np.searchsorted(blocks, starts)
        roundings = np.minimum(numbers, _BLOCK) + numbers / _BLOCK + 2
        farthest = np.maximum(np.abs(k[:-1] + 1 - self.shift), np.abs(k[1:])).astype(np.float64)
        error = (5.5 * self._floats[0] * farthest * farthest + 24 + 1.01 * roundings) * UNIT
        found = []
        for masses, below, above in zip(self._masses, *self._beyond, strict=True):
            sums = np.where(numbers > 0, np.add.reduceat(np.add.reduceat(masses, blocks), places), 0.0)
            high = sums * (1 + error)
            high[: seen[0] + 1] += below
            high[seen[-1] :] += above
            found += [sums * np.maximum(1 - error, 0.0), high * (1 + 2 * UNIT)]
        return found

    def _slack(self, k: Floats, losses: Floats) -> float:
        """How far k_i is above the i-th loss, or k_i + 1 below it; of edges with the same k the outer ones count. Base
        losses are off by 5·2⁻⁵³ of themselves, and d ln w/dl = q·e^l/w."""
        half, q, rest = self._floats
        new = np.flatnonzero(np.diff(k, prepend=-np.inf, append=np.inf))
        moved = 0.0
        for outer, step, end in ((new[:-1], 0, -self._reach - 1), (new[1:] - 1, 1, self._reach + self.shift)):
            at = outer[k[outer] != end]
            base = (self.shift * (2 * (k[at] + step) - self.shift)) * half
            gaps = loss_gaps(q, rest, base, np.clip(losses[at], -2 * _LARGEST_LOSS, 2 * _LARGEST_LOSS))
            grown = q * exponentials(base)
            rounding = 6 * UNIT * np.abs(base) * grown / (rest + grown) * (1 + 1e-9)
            moved = max(moved, float(np.max(gaps[step] + rounding, initial=0.0)))
        if not moved < 1:
            raise NotCertified(_WHAT, "an edge was not found")
        return moved * (1 + 4 * UNIT)


@lru_cache(maxsize=8)
def _every(law: DiscreteNormalCells, reach: int) -> tuple[list[tuple[Ball, Ball]], Ball]:
    """All losses and masses of noise up to ``reach``, those below it as one; and at least the mass of the others."""
    found: list[tuple[Ball, Ball]] = []
    with precision(_BITS):
        v, q, whole = ball(law.variance), ball(law.rate), mass(law.variance, Fraction(0))
        for k in range(-reach - 1, reach + law.shift + 1):
            growth = 1 + q * (law.shift * (2 * k - law.shift) / (2 * v)).expm1()
            plain = (-(k * k) / (2 * v)).exp() / whole
            found.append((growth.log(), plain * (1 if law.adding else growth)))
        below, near, far = (tail(law.variance, reach + 1 + more) / whole for more in (0, 0, law.shift))
        end = (1 - q).log() if law.adding else found[0][0]
        found[0] = (end, below.union(Ball(0)))
        return [(-loss if law.adding else loss, p) for loss, p in found], near + far
