"""Certified search: find with floats, prove with balls."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import LARGEST, Ball, ball, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.many_roots import through
from tightrope.numerics.minimum import minimum

Estimate = Callable[[float], float]
Proof = Callable[[Fraction], Ball]
Start = tuple[float, float]

_FALLS = 0.2  # a point that is nearer to the root by so much
_SURE = 30.0  # times as far off as it seems
_NEAR = 1e-6  # a root so near to where it is guessed, relatively, is looked for first
_STEPS = 200  # floats alone cannot halve an interval more often than this between 1e-300 and 1e308, on a log scale


def crossing(
    estimate: Estimate, prove: Proof, target: Fraction, start: Start | None = None, first_step: float = 2.0**-51
) -> Bound:
    """Enclose the least x ≥ 0 with f(x) ≤ target, for f non-increasing and continuous.

    ``estimate`` gives ln f(x) in floats and may be sloppy; ``prove`` gives a ball around f(x). The upper end satisfies
    f(upper) ≤ target and the lower end f(lower) > target, both by balls at exactly that float. ``start`` is a point
    near the answer with the slope of ln f there: then no point far away is looked at.
    """
    goal = _log(target)
    root = None if start is None else _inverse(estimate, goal, *start)
    if root is None:
        if _at_most(prove(Fraction(0)), target):
            return Bound(0.0, 0.0)
        low, high = (None if start is None else _around(estimate, goal, start[0])) or _bracket(estimate, goal)
        if high == math.inf:
            return _beyond_floats(prove, target)
        root = _root(estimate, goal, low, high, first_step)
    return Bound(_prove_below(prove, target, root, first_step), _prove_above(prove, target, root, first_step))


def _inverse(estimate: Estimate, goal: float, x: float, slope: float) -> float | None:
    """The root by inverse interpolation from a point near it; None when it wanders off.

    A root through one point more moves by ``moved``: about what it was off. It is off itself by about moved times that
    over the product of the last distances, times the one before them; where that is nothing, it is not looked at.
    """
    if not slope < 0:
        return None
    known = [(estimate(x) - goal, x)]
    following, moved = x - known[0][0] / slope, math.inf
    for _ in range(20):
        value, x = known[-1]
        if not math.isfinite(value) or not 0 < following < 2 * x:
            return None
        away = [abs(following - at) for _, at in known[-3:]]
        off = away[0] * moved * moved / (away[1] * away[2]) if len(away) == 3 and away[1] * away[2] else math.inf
        if min(away[-1], _SURE * off) <= 2e-16 * x:
            return following
        after = estimate(following) - goal
        if after == value or not math.isfinite(after):
            return following if abs(after) < 1e-9 else None
        steady = abs(after) < _FALLS * abs(value) and after not in [before for before, _ in known]
        few = known[-2:] if steady else known[-1:]  # around a kink one is enough
        known = [*few, (after, following)]
        following = through(known, 0.0)
        moved = abs(following - through(known[-2:], 0.0)) if len(known) == 3 else math.inf
    return x if abs(known[-1][0]) < 1e-9 else None  # they may jump to and fro for ever


def _log(x: Fraction) -> float:
    return math.log(x.numerator) - math.log(x.denominator)


def _at_most(value: Ball, target: Fraction) -> bool:
    with precision(200):
        return bool(value <= ball(target))


def _above(value: Ball, target: Fraction) -> bool:
    with precision(200):
        return bool(value > ball(target))


def _around(estimate: Estimate, goal: float, x: float) -> tuple[float, float] | None:
    """Both sides of the root, where it is near x: f may jump there, so that its slope says nothing."""
    wide = _NEAR
    while wide < 1:
        low, high = x * (1 - wide), x * (1 + wide)
        if estimate(low) > goal >= estimate(high):
            return low, high
        wide *= 30
    return None


def _bracket(estimate: Estimate, goal: float) -> tuple[float, float]:
    high, factor = 1.0, 4.0
    while estimate(high) > goal:
        if high >= LARGEST:
            return high, math.inf
        high, factor = min(high * factor, LARGEST), min(factor * factor, 1e100)
    low, factor = high / 2, 4.0
    while estimate(low) <= goal:
        if low < 1e-300:
            return 0.0, low
        high, low, factor = low, low / factor, min(factor * factor, 1e60)
    return low, high


def _root(estimate: Estimate, goal: float, low: float, high: float, close: float) -> float:
    """Bracketed secant (Illinois), with bisection wherever the secant is not usable."""
    at_low, at_high, side = estimate(low) - goal if low else math.inf, estimate(high) - goal, 0
    for _ in range(_STEPS):
        if high - low <= close * high / 2:
            break
        if low > 0 and high > 4 * low:
            x = math.sqrt(low) * math.sqrt(high)
        elif math.isfinite(at_low) and math.isfinite(at_high) and at_low != at_high:
            x = low + (high - low) * (at_low / (at_low - at_high))
        else:
            x = low + (high - low) / 2
        if not low < x < high:
            x = low + (high - low) / 2
            if not low < x < high:
                break
        value = estimate(x) - goal
        if value > 0:
            low, at_low, at_high, side = x, value, at_high / 2 if side > 0 else at_high, 1
        else:
            high, at_high, at_low, side = x, value, at_low / 2 if side < 0 else at_low, -1
        if abs(value) < 2 * close:
            return x
    return high


def _beyond_floats(prove: Proof, target: Fraction) -> Bound:
    """The estimate stays above the target up to the largest float: the answer is at least that, if a ball agrees."""
    low = LARGEST
    while low > 1 and not _above(prove(Fraction(low)), target):
        low /= 1e30
    return Bound(low if low > 1 else 0.0, math.inf)


def _prove_above(prove: Proof, target: Fraction, root: float, step: float) -> float:
    while step < 1e6:
        x = min(root * (1 + step), LARGEST) if root else 5e-324
        if _at_most(prove(Fraction(x)), target):
            return x
        step *= 4
    raise NotCertified("an upper end", f"no proof up to {root * 1e6:.3g}")


def _prove_below(prove: Proof, target: Fraction, root: float, step: float) -> float:
    while step < 1:
        x = root * (1 - step)
        if x and _above(prove(Fraction(x)), target):
            return x
        step *= 4
    return 0.0  # f(0) > target or unknown: zero is always a lower end


def least(objective: Callable[[list[float]], list[float]], low: float, high: float, points: int = 64) -> float:
    """A float near the minimiser of a function with one valley, on a logarithmic scale. Only a place to prove at.

    ``objective`` takes many points at once: first a grid over the whole range, then parabolas around the lowest point.
    """
    ratio = math.log(high / low) / points
    grid = [math.log(low) + i * ratio for i in range(points + 1)]
    values = objective([math.exp(x) for x in grid])
    best = min(range(points + 1), key=lambda i: values[i])
    if values[best] == math.inf or best in (0, points):
        return math.exp(grid[best])
    start = grid[best], values[best]
    return math.exp(minimum(lambda x: objective([math.exp(x)])[0], grid[best - 1], grid[best + 1], 2e-9, start))
