"""Where a function of one real number is least, in floats: only a place to prove at."""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["minimum"]

_GOLDEN = (math.sqrt(5) - 1) / 2


def minimum(
    f: Callable[[float], float],
    low: float,
    high: float,
    tolerance: float = 1e-8,
    start: tuple[float, float] | None = None,
) -> float:
    """Where a function with one valley is least: parabolas through three points, else golden sections (Brent).

    ``start`` is a point between ``low`` and ``high`` with its value, where one is known.
    """
    first = low + (1 - _GOLDEN) * (high - low)
    best, at_best = (first, f(first)) if start is None else start
    second, third, at_second, at_third = best, best, at_best, at_best
    step = before = 0.0
    for _ in range(80):
        middle, near = (low + high) / 2, tolerance * (1 + abs(best))
        if abs(best - middle) + (high - low) / 2 <= 2 * near:
            break
        trial_step, limit = math.nan, abs(before)
        if limit > near and math.isfinite(at_third):
            r, q = (best - second) * (at_best - at_third), (best - third) * (at_best - at_second)
            bottom = 2 * (q - r)
            trial_step = -((best - third) * q - (best - second) * r) / bottom if bottom else math.nan
        before = step
        if not (abs(trial_step) < limit / 2 and low < best + trial_step < high):
            before = (high if best < middle else low) - best
            trial_step = (1 - _GOLDEN) * before
        step = trial_step
        point = best + (step if abs(step) >= near else math.copysign(near, middle - best))
        value = f(point)
        if value <= at_best:
            low, high = (best, high) if point >= best else (low, best)
            third, at_third, second, at_second, best, at_best = second, at_second, best, at_best, point, value
        else:
            low, high = (low, point) if point >= best else (point, high)
            if value <= at_second or second == best:
                third, at_third, second, at_second = second, at_second, point, value
            elif value <= at_third or third in (best, second):
                third, at_third = point, value
    return best
