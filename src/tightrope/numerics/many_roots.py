"""Where a falling function takes each of many values: every place that was asked helps to find the next ones.

Floats: what is found is close, and proved elsewhere.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["ends_first", "interpolated", "many_roots", "spread", "through"]

Value = TypeVar("Value")

_NEIGHBOURS = 6
_MOST_ASKED = 60  # for one value
_HALVED = 4  # so often, at a corner, the place between is halved
_STILL = 1e-13  # a step that is so small beside its place leads nowhere


def many_roots(
    function: Callable[[float], float],
    values: Sequence[float],
    first: tuple[float, float],
    last: tuple[float, float],
    close: float = 1e-13,
) -> dict[float, float]:
    """The places of the values, which lie between those at ``first`` and ``last``: (place, value), places rising. A
    value so ``close`` will do."""
    known = sorted([(first[1], first[0]), (last[1], last[0])])  # by value: they fall where places rise
    return {value: _root(function, value, known, close) for value in spread(sorted(set(values)))}


def ends_first(values: list[Value]) -> list[Value]:
    """Then the middle, then those in the middle of what is left: what is not reached lies between others."""
    return [*values[:1], *values[1:][-1:], *spread(values[1:-1])]


def spread(values: list[Value]) -> list[Value]:
    """The middle first, then those in the middle of what is left."""
    order: list[Value] = []
    halves = [values]
    while halves:
        half = halves.pop(0)
        if half:
            middle = len(half) // 2
            order.append(half[middle])
            halves += [half[:middle], half[middle + 1 :]]
    return order


def _root(function: Callable[[float], float], value: float, known: list[tuple[float, float]], close: float) -> float:
    place = math.nan
    for turn in range(1, _MOST_ASKED):
        at = bisect_left(known, (value, -math.inf))
        if at < len(known) and known[at][0] == value:
            return known[at][1]
        if not 0 < at < len(known):
            break
        high, low = known[at - 1][1], known[at][1]
        before, place = place, interpolated(known, at, value)
        if turn % _HALVED == 0 or not low < place < high:
            place = (low + high) / 2
        if abs(place - before) <= _STILL * abs(place):
            break
        found = function(place)
        if not math.isfinite(found) or not known[at - 1][0] < found < known[at][0]:
            break  # noise: nothing between these two is told apart
        insort(known, (found, place))
        if abs(found - value) <= close:
            break
    return place


def interpolated(known: list[tuple[float, float]], at: int, value: float) -> float:
    """The place of a value between those at ``at`` − 1 and ``at`` of the known (value, place)."""
    first = max(min(at - _NEIGHBOURS // 2, len(known) - _NEIGHBOURS), 0)
    return through(known[first : first + _NEIGHBOURS], value)


def through(points: Sequence[tuple[float, float]], at: float) -> float:
    """The value at ``at`` of the polynomial through a few points, by Neville's scheme."""
    rows = [value for _, value in points]
    for width in range(1, len(points)):
        for i in range(len(points) - width):
            left, right = points[i][0], points[i + width][0]
            rows[i] = ((at - right) * rows[i] - (at - left) * rows[i + 1]) / (left - right)
    return rows[0]
