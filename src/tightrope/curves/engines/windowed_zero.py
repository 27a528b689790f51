"""ε close to 0, where δ hardly falls: by secants of δ itself, which is convex and nearly straight there."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.windowed.plan import WindowPlan
from tightrope.numerics.windowed.total import WindowedSum

__all__ = ["FLAT", "FarFromZero", "NearZero", "mirrored", "root_near_zero"]

FLAT = 0.5  # the slope of −ln δ against ln ε below which δ is nearly straight
_FIRST, _FINER, _FINEST = 1e-3, 1e-4, 1e-16  # errors of the first plan, of the next if it tells nothing, and at least
_FINE, _FAIR = 1e-10, 3e-8  # errors of the last one, of how much δ falls up to the root
_CLEARLY = 4.0  # times its radius a value is sure
_SECANTS = 40
_MUCH = 20  # times δ
_STILL = 1e-13  # relatively: a root that moves no more
_GROWTH = 8.0


class FarFromZero(NotCertified):
    """δ(0) is much more than δ."""


@dataclass(frozen=True)
class NearZero:
    """About where δ is met, by how much δ(0) is more than that, as far as it is known, and the plan that shows it."""

    place: float
    fall: float
    plan: WindowPlan


def root_near_zero(steps: WindowedSum, delta: Fraction) -> NearZero:
    """The ε ≥ 0 at which removing a record costs δ, found on proved values. If no plan tells it from 0, ``place`` is as
    small as one shows, and ``fall`` is 0."""
    goal, error = math.log(delta.numerator) - math.log(delta.denominator), _FIRST
    known: NearZero | None = None
    while error >= _FINEST:
        try:
            plan = steps.plan_to(0.0, 0.0, goal + math.log(error))
            fall, unsure = _excess(steps, 0.0, delta, plan)
        except NotCertified:
            if known is None:
                raise
            break
        if fall + unsure <= 0:
            return NearZero(0.0, 0.0, plan)
        if fall - unsure > _MUCH * delta:
            raise FarFromZero("the exact profile", "δ is much less than at ε = 0")
        if fall > _CLEARLY * unsure:
            return _closer(steps, delta, _secants(steps, delta, NearZero(0.0, fall, plan)))
        known, error = NearZero(abs(fall) + unsure, 0.0, plan), error * _FINER
    assert known is not None
    return known


def _closer(steps: WindowedSum, delta: Fraction, found: NearZero) -> NearZero:
    """The same on a plan as fine as it must be there, if that is not too dear."""
    for share in (_FINE, _FAIR):
        with suppress(NotCertified):
            plan = steps.plan_to(0.0, found.place, math.log(share * found.fall))
            return _secants(steps, delta, NearZero(0.0, _excess(steps, 0.0, delta, plan)[0], plan))
    return found


def _excess(steps: WindowedSum, x: float, delta: Fraction, plan: WindowPlan) -> tuple[float, float]:
    """By how much the call at x is more than δ, and the radius of that."""
    with precision(plan.bits + 64):
        value = steps.call(Ball(x), plan) - ball(delta)
        return float(value.mid()), float(value.rad())


def _secants(steps: WindowedSum, delta: Fraction, start: NearZero) -> NearZero:
    """From 0 on. No slope is more than 1, so the first place is before the root; and as the call is convex, so are the
    next ones, but for rounding."""
    before, last, at = 0.0, start.fall, start.fall
    for _ in range(_SECANTS):
        excess, unsure = _excess(steps, at, delta, start.plan)
        if last - excess <= _CLEARLY * unsure:
            if abs(excess) <= unsure:
                break  # the plan shows no more
            following = at * _GROWTH if excess > 0 else (at + before) / 2
        else:
            following = at + excess * (at - before) / (last - excess)
        if not 0 < following < math.inf:
            raise NotCertified("the exact profile", f"no secant leads to an ε near {at:.6g}")
        if abs(following - at) <= _STILL * at:
            break
        before, last, at = at, excess, following
    return NearZero(at, start.fall, start.plan)


def mirrored(steps: WindowedSum, epsilon: Fraction, plan: WindowPlan) -> Ball:
    """Adding a record, where that reverses the pair: ∫(q − e^ε p)₊ = 1 − e^ε + e^ε ∫(p − e^{−ε} q)₊."""
    if not steps.sampled:
        raise NotCertified("the exact profile", "the directions are not each other's reverse")
    with precision(plan.bits + 64):
        x = ball(epsilon)
        return x.exp() * steps.call(-x, plan) - x.expm1()
