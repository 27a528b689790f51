"""A root of a call improved by steps on proved values, which floats cannot spoil."""

from __future__ import annotations

from typing import Protocol

from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.contour.proof import Plan

__all__ = ["polished"]

_GOOD = 1e-9  # a root at which ln of the call is so near to its target needs no proved slope
_POOR = 1e-7  # a step so long, relatively, leaves some of it
_FURTHEST, _MOST_STEPS = 1.0, 4  # ln of the call, from which a step on proved values leads to its target


class _Sum(Protocol):
    def call(self, x: Ball, plan: Plan) -> Ball: ...

    def slope(self, x: float) -> float | None: ...


def polished(total: _Sum, x: float, log_target: float, plan: Plan) -> float:
    """A step on proved values, and others while they are long; x itself if that fails.

    The slope need only be as good as the root is poor: of a good one it is that of the float line.
    """
    for _ in range(_MOST_STEPS):
        before, x = x, _step(total, x, log_target, plan)
        if abs(x - before) <= _POOR * abs(before):
            break
    return x


def _step(total: _Sum, x: float, log_target: float, plan: Plan) -> float:
    first = _misses(total, x, log_target, plan)
    short_of = abs(first)
    slope = total.slope(x) if short_of < _GOOD else None
    if slope is None:
        near = x + 1e-6 / float(plan.t)
        slope = (_misses(total, near, log_target, plan) - first) / (near - x)
    return x - first / slope if slope < 0 and short_of < _FURTHEST else x


def _misses(total: _Sum, x: float, log_target: float, plan: Plan) -> float:
    """ln call(x) − log_target, from the middle of the proved ball."""
    with precision(plan.bits + 64):
        return float(total.call(Ball(x), plan).mid().log() - Ball(log_target))
