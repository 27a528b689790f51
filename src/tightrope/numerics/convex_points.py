"""A convex function of u ≥ 0 known at some points: the least of D(u) + a·u enclosed, for any a.

Between two points a convex function lies above the lines through their outer neighbours, extended inwards; beyond two
points over which it rises (or falls) it stays above the last. So points alone enclose the minimum, wherever they came
from: poor ones only leave it wide. Here D(0) = 1, D falls and is at least 1 − u and at least 0, and u = e^x.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from tightrope.numerics.balls import Ball, ball, precision

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["ConvexPoints"]

_BITS = 192


class _Point(NamedTuple):
    u: Ball
    low: Ball
    high: Ball


class _Line(NamedTuple):
    """A line below the function: its value at the end of an interval where it is anchored, and its slope."""

    value: Ball
    slope: Ball


class ConvexPoints:
    """Points x in rising order, each with a ball around D(e^x)."""

    def __init__(self) -> None:
        self.places: list[float] = []
        self.heights: list[float] = []  # the balls' middles
        self.radii: list[float] = []
        self._floats: tuple[Floats, Floats] | None = None  # u and D at the places
        with precision(_BITS):
            self._points = [_Point(Ball(0), Ball(1), Ball(1))]  # u = 0, then one for each place

    def add(self, x: float, value: Ball) -> None:
        """One more point; a place that is known already stays as it is."""
        i = bisect_left(self.places, x)
        if i < len(self.places) and self.places[i] == x:
            return
        with precision(_BITS):
            point = _Point(Ball(x).exp(), value.lower().max(Ball(0)), value.upper().min(Ball(1)))
        self.places.insert(i, x)
        self.heights.insert(i, float(value.mid()))
        self.radii.insert(i, float(value.rad()))
        self._points.insert(i + 1, point)
        self._floats = None

    def lowest(self, a: float) -> tuple[int, float]:
        """The place where D(u) + a·u is least, in floats, and what it is there."""
        import numpy as np

        if self._floats is None:
            self._floats = np.exp(np.array(self.places)), np.array(self.heights)
        values = self._floats[1] + a * self._floats[0]
        i = int(values.argmin())
        return i, float(values[i])

    def least(self, a: Fraction) -> tuple[Ball, Ball]:
        """Exact numbers below and above the least of D(u) + a·u, 0 < a < 1."""
        with precision(_BITS):
            share = ball(a)
            known = _Tilted(self._points, share)
            i, height = self.lowest(float(a)) if self.places else (-1, math.inf)
            best = i + 1 if height < 1 else 0  # any other point would be valid too
            return _below(known, best, share).lower().max(Ball(0)), known[best].high.upper()


class _Tilted(Sequence[_Point]):
    """The points of D(u) + a·u, each made when it is wanted."""

    def __init__(self, points: list[_Point], a: Ball) -> None:
        self._points, self._a = points, a
        self._made: dict[int, _Point] = {}

    def __len__(self) -> int:
        return len(self._points)

    def __getitem__(self, i: Any) -> Any:
        if i not in self._made:
            u, low, high = self._points[i]
            self._made[i] = _Point(u, low + u * self._a, high + u * self._a)
        return self._made[i]


def _below(known: Sequence[_Point], best: int, a: Ball) -> Ball:
    """The lower of what is proved left and right of the best point."""
    last = len(known) - 1
    right = best
    while right < last and not known[right + 1].low >= known[right].high:
        right += 1
    left = best
    while left > 0 and not known[left - 1].low >= known[left].high:
        left -= 1
    # Outside of left − 1 … right + 1 the function only rises.
    found = known[min(right + 1, last)].low.min(known[max(left - 1, 0)].low)
    for i in range(max(left - 1, 0), min(right + 1, last)):
        found = found.min(_between(known, i, a))
    return found.min(_beyond(known, a)) if right == last else found


def _from_left(known: Sequence[_Point], i: int, a: Ball) -> _Line:
    """The line through points i − 1 and i, or at u = 0 the one that D ≥ 1 − u gives."""
    if i == 0:
        return _Line(Ball(1), a - 1)
    one, two = known[i - 1], known[i]
    return _Line(two.low, (two.low - one.high) / (two.u - one.u))


def _from_right(known: Sequence[_Point], i: int, a: Ball) -> _Line:
    """The line through points i and i + 1, or behind the last the one that D ≥ 0 gives."""
    if i == len(known) - 1:
        return _Line(known[i].u * a, a)
    one, two = known[i], known[i + 1]
    return _Line(one.low, (two.high - one.low) / (two.u - one.u))


def _between(known: Sequence[_Point], i: int, a: Ball) -> Ball:
    """A lower bound between points i and i + 1: any mean of two lines is below the higher of them."""
    rises, falls = _from_right(known, i + 1, a), _from_left(known, i, a)
    width = known[i + 1].u - known[i].u
    share = Ball(_share(falls.slope, rises.slope))
    at_left = share * falls.value + (1 - share) * (rises.value - rises.slope * width)
    at_right = share * (falls.value + falls.slope * width) + (1 - share) * rises.value
    return at_left.min(at_right).lower()


def _beyond(known: Sequence[_Point], a: Ball) -> Ball:
    """A lower bound from the last point on."""
    falls = _from_left(known, len(known) - 1, a)
    if falls.slope >= 0:
        return falls.value.lower()
    share = a / (a - falls.slope)  # the mean with a·u is level
    return (share * (falls.value - falls.slope * known[-1].u)).lower()


def _share(falling: Ball, rising: Ball) -> float:
    """About the weight of the falling line in a level mean; one line alone where both rise or both fall."""
    down, up = float(falling.mid()), float(rising.mid())
    if not up > 0:
        return 0.0
    return up / (up - down) if down < 0 else 1.0
