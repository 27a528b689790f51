"""Where floats do not see the call: searches on proved values.

Beyond some tilt the rare large losses of a sampled law outgrow all others, and no saddle is reached. A flatter contour
still serves, but its terms are e^30 times the call and more: doubles drown, balls do not.
"""

from __future__ import annotations

import math

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.contour.integral import ContourSum, Plan

__all__ = ["deep_call", "deep_root"]

_ROUGH = 1e-2  # relative accuracy of the contours of a search
_SEEN = 4  # bits of a ball whose middle is worth something
_CLOSE = 1e-6  # ln of the call so near to its target ends a search
_STEPS, _TRIALS = 8, 8
_MOST_NODES = 800  # of all contours of a search: half a second or so


def deep_root(total: ContourSum, log_target: float) -> float:
    """About the x at which the call is e^log_target, from where a normal sum would have it."""
    with effort.allowed(effort.left()):  # proofs that search, and do not end a search
        return _root(total, log_target)


def _root(total: ContourSum, log_target: float) -> float:
    deviation = math.sqrt(total.spread())
    x = deviation * (deviation / 2 + math.sqrt(-2 * log_target))
    plan, spent = total.crude_plan(x, log_target, _ROUGH), 0
    nodes = plan.count
    for _ in range(_STEPS):
        spent, nodes = spent + nodes, 0
        if spent > _MOST_NODES:
            break
        first = _log_call(total, x, plan)
        near = x + 1e-3 / float(plan.t)
        second = _log_call(total, near, plan)
        if first is None or second is None or not second < first:
            x -= deviation / 4  # the call drowns where it is small
            plan = total.crude_plan(x, log_target, _ROUGH)
            nodes = plan.count
            continue
        step = (log_target - first) * (near - x) / (second - first)
        if abs(first - log_target) < _CLOSE:
            return x + step
        x += max(-deviation, min(step, deviation))
        if abs(step) > deviation / 4:
            plan = total.crude_plan(x, log_target, _ROUGH)
            nodes = plan.count
    raise NotCertified("a contour integral", "no search found where the call is that small")


def deep_call(total: ContourSum, x: float) -> float:
    """About ln of the call at x: contours for smaller and smaller calls, until one sees it."""
    variance = total.spread()
    score = max((x - variance / 2) / math.sqrt(variance), 1.0)
    with effort.allowed(effort.left()):  # proofs that search, and do not end a search
        for k in range(_TRIALS):
            found = _log_call(total, x, total.crude_plan(x, -(score + k) ** 2 / 2, _ROUGH))
            if found is not None:
                return found
    raise NotCertified("a contour integral", "no search found how small the call is")


def _log_call(total: ContourSum, x: float, plan: Plan) -> float | None:
    """ln of the middle of the proved call; None where its radius is as large."""
    with precision(plan.bits + 64):
        value = total.call(Ball(x), plan)
        return float(value.mid().log()) if value.mid() > 0 and value.rel_accuracy_bits() >= _SEEN else None
