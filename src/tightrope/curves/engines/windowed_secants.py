"""The root of a windowed contour's call, improved on proved values."""

from __future__ import annotations

import math
from collections.abc import Callable

from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.windowed.plan import WindowPlan
from tightrope.numerics.windowed.total import WindowedSum

__all__ = ["APART", "CLOSE", "CLOSE_CALL", "close", "halved", "nearest", "polished", "seen", "sharp_at"]

_STEPS = tuple(10.0**k for k in range(-13, -3))
APART = 1e-9  # of ε: closer ends need no halving
_LONG, _PARTS = 3e-10, (0.15, 0.25, 0.4, 0.65)  # a step that is worth a closer look, and that

_SECANTS, _HALVINGS = 4, 12
CLOSE = 2e-3  # how far a close root may be off, relatively
CLOSE_CALL, _FARTHEST = 0.3, 30.0  # nats that a root may be off to be close; and that a step may go
_SHARE, _FLATLY = 0.1, 0.3  # of x that it may move; more, where the call changes by no more nats than that
_WIDE = 1.0  # nats between the ends of a call that is known in a way
_FLATTER, _STEEPER = 1e-4, 10.0  # how far a slope may be from what floats see


def polished(
    steps: WindowedSum, x: float, goal: float, plan: WindowPlan, slope: float, adding: bool = False
) -> tuple[float, float]:
    """The root, by secants, and by halvings where these do not help; and the slope of −ln call against ln x there.
    ``slope`` is about that, as far as floats see it."""
    at, before = x, x * (1 + min(1e-4, 1e-2 / slope))
    excess = _drowned(steps, x, goal, plan, adding)
    if excess is not None:  # much further out than δ, where the estimate was poor; or such a plan says nothing
        return x * (1 - min(excess, _FARTHEST, 0.1 * slope) / slope) if excess > CLOSE_CALL else x, slope
    gap, last = (_log_call(steps, place, plan, adding) - goal for place in (at, before))
    seen = (gap - last) / math.log(before / at) if math.isfinite(gap - last) else slope
    slope = min(max(seen, _FLATTER * slope), _STEEPER * slope)
    sides, most = {gap > 0: at, last > 0: before}, min(max(_SHARE, _FLATLY / slope), _FARTHEST / slope)
    secants, halvings = _SECANTS, _HALVINGS
    while secants and halvings and abs(gap) >= 1e-14:
        fall = (gap - last) / (at - before) if at != before else 0.0
        following = at - gap / fall if -math.inf < fall < 0 else math.nan
        if len(sides) == 2 and not (sides[True] < following < sides[False] and abs(gap) < abs(last) / 2):
            following, halvings = (sides[True] + sides[False]) / 2, halvings - 1
        elif math.isnan(following):
            break
        else:
            secants -= 1
        nearer = min(max(following, x / (1 + most)), x * (1 + most))
        at, before, last = nearer, at, gap
        gap = _log_call(steps, at, plan, adding) - goal
        sides[gap > 0] = at
        if nearer != following and len(sides) < 2:
            break
    return at, slope


def close(x: float, start: float, slope: float, plan: WindowPlan | None = None) -> bool:
    """Whether a root is where it was sought; or whether that must do, as another proof as dear as this plan's would be
    too dear."""
    with effort.proving():
        last = plan is not None and not effort.affords(plan.work)
    return last or abs(x / start - 1) < min(CLOSE, CLOSE_CALL / slope)


def seen(steps: WindowedSum, x: float, goal: float, plan: WindowPlan, nats: float, adding: bool) -> bool:
    """Whether a plan that was made elsewhere shows that the call at x is that near to the goal."""
    with precision(plan.bits + 64):
        value = steps.call(Ball(x), plan, adding)
        ends = (value.lower(), value.upper())
        return bool(ends[0] > 0) and all(abs(float(end.log()) - goal) < nats for end in ends)


def nearest(shown: Callable[[float], bool]) -> float | None:
    """The first step at which something is shown; of a long one, whether a part of it will do."""
    found = next((s for s in _STEPS if shown(s)), None)
    if found is None or found < _LONG:
        return found
    return next((s for part in _PARTS if shown(s := part * found)), found)


def sharp_at(steps: WindowedSum, x: float, plan: WindowPlan, relative: float, adding: bool) -> bool:
    """Whether a plan tells the call at x that well."""
    with precision(plan.bits + 64):
        value = steps.call(Ball(x), plan, adding)
        return bool(value.mid() > 0) and float(value.rad() / value.mid()) < relative


def halved(
    lower: float, upper: float, meets: Callable[[float], bool], needs: Callable[[float], bool]
) -> tuple[float, float]:
    """Closer ends, where the other direction has them apart: beside atoms, adding a record may cost more."""
    while upper - lower > APART * upper:
        middle = (lower + upper) / 2
        if meets(middle):
            upper = middle
        elif needs(middle):
            lower = middle
        else:
            break
    return lower, upper


def _drowned(steps: WindowedSum, x: float, goal: float, plan: WindowPlan, adding: bool) -> float | None:
    """By how many nats at least the call at x is below ``goal``, or about it, where that is all that a plan shows; else
    None."""
    with precision(plan.bits + 64):
        value = steps.call(Ball(x), plan, adding)
        if not value.upper() > 0:
            return None
        high = float(value.upper().log())
        low = float(value.lower().log()) if value.lower() > 0 else -math.inf
        return None if high - low < _WIDE or low > goal else goal - high


def _log_call(steps: WindowedSum, x: float, plan: WindowPlan, adding: bool) -> float:
    with precision(plan.bits + 64):
        middle = steps.call(Ball(x), plan, adding).mid()
        return float(middle.log()) if middle > 0 else -math.inf
