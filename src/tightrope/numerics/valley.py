"""Where a function with one valley is least: sought in any way, then enclosed by chords."""

from __future__ import annotations

import math
from collections.abc import Callable

from tightrope.numerics.balls import Ball, upper_float

__all__ = ["chord_bound", "float_valley", "valley"]

_GOLDEN = (math.sqrt(5) - 1) / 2


def valley(f: Callable[[float], Ball]) -> float:
    """A float near the minimiser over the real line: outward from 0 by doubling, then golden sections."""
    values: dict[float, Ball] = {}

    def at(x: float) -> Ball:
        if x not in values:
            values[x] = f(x).mid()
        return values[x]

    _narrowed(at, 1e-17)
    return min(values, key=lambda p: values[p])


def float_valley(f: Callable[[float], float], start: float = 0.0) -> float:
    """The same for floats, whose round-off hides the valley's last digits: parabolas take over from the sections."""
    left, right = _narrowed(f, 0.05, start, 0.25 if start else 1.0)
    x = (left + right) / 2
    for h in (1e-2, 1e-3, 1e-3):
        low, middle, high = f(x - h), f(x), f(x + h)
        bend = low - 2 * middle + high
        if bend > 0:
            x += min(max(h * (low - high) / (2 * bend), -4 * h), 4 * h)
    return x


def _narrowed(
    at: Callable[[float], Ball] | Callable[[float], float], width: float, start: float = 0.0, step: float = 1.0
) -> tuple[float, float]:
    """An interval around the valley, narrower than ``width`` or as narrow as floats allow."""
    x = start
    direction = 1.0 if at(start + 1e-3) <= at(start - 1e-3) else -1.0
    before = start - direction * step
    while step < 1e18 and at(start + direction * step) < at(x):
        before, x, step = x, start + direction * step, step * 2
    left, right = sorted((start + direction * step, before))
    a, b = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
    first, second = at(a), at(b)
    for _ in range(90):
        if right - left < max(width, 1e-14 * abs(left)):
            break
        if first <= second:
            right, b, second = b, a, first
            a = right - _GOLDEN * (right - left)
            first = at(a)
        else:
            left, a, first = a, b, second
            b = left + _GOLDEN * (right - left)
            second = at(b)
    return left, right


def chord_bound(f: Callable[[float], Ball], x: float, finest: float = 1e-12) -> float | None:
    """An upper bound on −min f, for an f convex in e^x with its valley near x: chords through points on both sides,
    extended under the valley; None if no two points were proved to enclose it."""
    middle = f(x)
    for h in (h for h in (1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-2, 0.3) if h >= finest):
        low, high = x - h, x + h
        left, right = f(low), f(high)
        if left >= middle and right >= middle:
            before, after = Ball(x).exp() - Ball(low).exp(), Ball(high).exp() - Ball(x).exp()
            drop = ((left - middle) * after / before).max((right - middle) * before / after).max(Ball(0))
            return upper_float(drop - middle)
    return None
