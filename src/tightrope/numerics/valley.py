"""Where a function with one valley is least: sought in any way, then enclosed by chords."""

from __future__ import annotations

import math
from collections.abc import Callable

from tightrope.numerics.balls import Ball, upper_float

__all__ = ["chord_bound", "valley"]

_GOLDEN = (math.sqrt(5) - 1) / 2


def valley(f: Callable[[float], Ball]) -> float:
    """A float near the minimiser over the real line: outward from 0 by doubling, then golden sections."""
    values: dict[float, Ball] = {}

    def at(x: float) -> Ball:
        if x not in values:
            values[x] = f(x).mid()
        return values[x]

    x, step = 0.0, 1.0
    direction = 1.0 if at(1e-3) <= at(-1e-3) else -1.0
    before = -direction * step
    while step < 1e18 and at(direction * step) < at(x):
        before, x, step = x, direction * step, step * 2
    left, right = sorted((direction * step, before))
    a, b = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
    for _ in range(90):
        if right - left < max(1e-17, 1e-14 * abs(left)):
            break
        if at(a) <= at(b):
            right, b = b, a
            a = right - _GOLDEN * (right - left)
        else:
            left, a = a, b
            b = left + _GOLDEN * (right - left)
    return min(values, key=lambda p: values[p])


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
