"""Where a function with one valley is least: sought in any way, then enclosed by chords."""

from __future__ import annotations

import math
from collections.abc import Callable

from tightrope.numerics.balls import Ball, upper_float

__all__ = ["chord_bound", "valley"]

_GOLDEN = (math.sqrt(5) - 1) / 2
_NEAR, _NEAREST = 1e-13, 1e-17  # how near, relatively and at least
_MOST = 120


def valley(f: Callable[[float], Ball]) -> float:
    """A float near the minimiser over the real line: outward from 0 by doubling, then Brent's method, parabolas where
    they close in and golden sections elsewhere."""
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
    if direction * step not in values:
        return x  # it falls as far out as was looked
    left, right = sorted((direction * step, before))
    last = earlier = math.inf  # the last two moves
    for _ in range(_MOST):
        best, second, third = sorted((p for p in values if left <= p <= right), key=values.__getitem__)[:3]
        close = max(_NEAR * abs(best), _NEAREST)
        middle = (left + right) / 2
        if abs(best - middle) + (right - left) / 2 <= 2 * close:
            break
        move = _parabola((best, second, third), [values[p] for p in (best, second, third)])
        if move is None or not left < best + move < right or not abs(move) < earlier / 2:
            move = (1 - _GOLDEN) * ((left if best >= middle else right) - best)
            last = abs(move)
        earlier, last = last, abs(move)
        tried = best + (move if abs(move) >= close else math.copysign(close, middle - best))
        if at(tried) <= at(best):
            left, right = (best, right) if tried > best else (left, best)
        else:
            left, right = (left, tried) if tried > best else (tried, right)
    return min(values, key=lambda p: values[p])


def _parabola(places: tuple[float, float, float], values: list[Ball]) -> float | None:
    """From the first place to the lowest point of the parabola through three."""
    (x, w, v), (fx, fw, fv) = places, values
    r, q = (fx - fv) * (x - w), (fx - fw) * (x - v)
    down = 2 * (q - r)
    if not (down > 0 or down < 0):
        return None
    return float(((r * (x - w) - q * (x - v)) / down).mid())


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
