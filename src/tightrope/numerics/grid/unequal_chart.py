"""Two normal laws of unequal variance, folded where their likelihood ratio has its turn.

Let W = N(·, s_W²) be the wider law and N = N(·, s_N²) the narrower one, r = s_W/s_N, and d the distance of their means.
With y the distance from the turn, in units of s_N, and c = d·s_N/(s_W² − s_N²),

ln W/N = κy² − ln r − c²(r² − 1)/2,  κ = (1 − 1/r²)/2,

y is |N(c, 1)| under N, and y/r is |N(rc, 1)| under W. So ln W/N rises with y, and a cell of it is an interval of y.

Where c is large nothing is seen of the turn, and only y − c is of a moderate size. So y is counted from an origin o,
y = o + t: o is 0, or the float nearest to c. Then ln W/N = κt² + 2κo·t + (its value at t = 0).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.grid.cells import UNIT, Floats
from tightrope.numerics.grid.normal_masses import BLOCK, FLOOR, Centres, Rounded, masses_between, rounded
from tightrope.numerics.grid.tails import TAIL_REACH
from tightrope.numerics.real import Real

__all__ = ["Bounds", "UnequalChart"]

Bounds = tuple[Floats, Floats]

_LEAST_RATIO, _MOST_RATIO = 1 + Fraction(1, 10**12), 10**5
_MOST_SHIFT = 10**5  # of the means, in standard deviations of the wider law
_FOLDED = 64  # c from which on no other side of the turn is seen: Φ(−64) is below 10⁻⁸⁹⁰
_BITS = 256
_BEYOND = int(TAIL_REACH) + 1
_SCALED = 2.02 * UNIT  # r is rounded, and a product with it, or with a width (which rounds as it does elsewhere)
_SUMMED = 2 * UNIT


class UnequalChart:
    """ln W/N and the masses of both laws, along t."""

    def __init__(self, wide: Fraction, narrow: Fraction, distance: Fraction) -> None:
        """Both standard deviations, and the distance of the means."""
        self._ratio, shift = wide / narrow, abs(distance) / wide
        if not (_LEAST_RATIO <= self._ratio <= _MOST_RATIO and shift <= _MOST_SHIFT):
            raise ArithmeticError(
                f"standard deviations in the ratio of {float(self._ratio):g} and means {float(shift):g} of them apart "
                "are out of reach of these cells"
            )
        self._centre = abs(distance) * narrow / (wide**2 - narrow**2)
        self._bend = (1 - 1 / self._ratio**2) / 2
        self._origin = Fraction(float(self._centre)) if self._centre >= _FOLDED else Fraction(0)

    @cached_property
    def _curve(self) -> tuple[Rounded, Rounded, Rounded]:
        """κ, κo, and ln W/N at t = 0."""
        rational = self._bend * self._origin**2 - self._centre**2 * (self._ratio**2 - 1) / 2
        level = Real(None, lambda: ball(rational) - ball(self._ratio).log())
        return rounded(Real(self._bend)), rounded(Real(self._bend * self._origin)), rounded(level)

    @cached_property
    def start(self) -> float:
        """The turn; where it is out of sight this stands for everything below the reach."""
        return -float(self._origin)

    @cached_property
    def far(self) -> float:
        """Stands for any t beyond the reach."""
        return 2 * self._reach[1] + 1

    @cached_property
    def _reach(self) -> tuple[float, float]:
        """t beyond which both laws have less than 10⁻²⁹⁰, or nothing."""
        last = self._ratio * (self._ratio * self._centre + _BEYOND) - self._origin
        if not self._origin:
            return 0.0, float(last)
        first = min(self._centre - _BEYOND, self._ratio * (self._ratio * self._centre - _BEYOND)) - self._origin
        return float(first), float(last)

    @cached_property
    def ends(self) -> tuple[Ball, Ball]:
        """ln W/N at both ends of the reach."""
        with precision(_BITS):
            constant = ball(-(self._centre**2) * (self._ratio**2 - 1) / 2) - ball(self._ratio).log()
            squares = [(Fraction(t) + self._origin) ** 2 for t in self._reach]
            first, last = (ball(self._bend * square) + constant for square in squares)
            return first, last

    def losses(self, t: Floats) -> tuple[Floats, Floats]:
        """ln W/N at these t and its error: every term has its own, a rounding each of a product and of two sums, and
        the first one another for the first product."""
        bend, half, level = self._curve
        value = t * (bend.value * t + 2 * half.value) + level.value
        square, line = bend.value * t * t, 2 * half.value * np.abs(t)
        own = (bend.error / bend.value) * square + 2 * half.error * np.abs(t) + level.error
        return value, 1.01 * (own + UNIT * (4 * square + 3 * line + abs(level.value)))

    def places(self, losses: Floats) -> Floats:
        """t with about these ln W/N, within the reach, in plain floats."""
        bend, half, level = self._curve
        first, last = self._reach
        rest = losses - level.value
        with np.errstate(all="ignore"):
            found = rest / (half.value + np.sqrt(np.maximum(half.value**2 + bend.value * rest, 0.0)))
        return np.clip(np.where(np.isnan(found), first, found), first, last)

    def masses(self, t: Floats) -> tuple[Bounds, Bounds]:
        """W's and N's masses between the t, from the turn on: one cell more than there are t, which never fall."""
        ends = np.concatenate(([self.start], t, [np.inf]))
        wide = self._folded(ends, self._ratio * self._centre, 1 / self._ratio)
        return wide, self._folded(ends, self._centre, Fraction(1))

    def _folded(self, ends: Floats, centre: Fraction, scale: Fraction) -> Bounds:
        """The masses of |N(centre, 1)| between the ends, which are counted from the origin and to be scaled."""
        moved = scale * self._origin
        near = self._side(ends, centre - moved, scale)
        if self._origin:  # all of the other side is below the floor
            return near[0], (near[1] + FLOOR) * (1 + _SUMMED)
        far = self._side(ends, -centre - moved, scale)
        return (near[0] + far[0]) * (1 - _SUMMED), (near[1] + far[1]) * (1 + _SUMMED)

    @staticmethod
    def _side(ends: Floats, centre: Fraction, scale: Fraction) -> Bounds:
        """The masses of N(centre, 1) between the scaled ends."""
        around, factor = rounded(Real(centre)), float(scale)
        centres = Centres(around.value, around.error, 0.0 if scale == 1 else _SCALED)
        low, high = np.empty(ends.size - 1), np.empty(ends.size - 1)
        for start in range(0, low.size, BLOCK):
            part, here = slice(start, start + BLOCK), ends[start : start + BLOCK + 1]
            with np.errstate(invalid="ignore"):  # ∞ − ∞
                width = np.diff(here)
            if scale != 1:
                here, width = here * factor, width * factor
            low[part], high[part] = masses_between(here[:-1], here[1:], centres, width)
        return low, high
