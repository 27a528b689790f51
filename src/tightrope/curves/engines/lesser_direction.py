"""What need not be integrated, since Chernoff's bound says enough: the direction that costs less, and what is
nothing beside the mass at ∞."""

from __future__ import annotations

import math
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, between, precision
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.contour.loss_sum import LossSum
from tightrope.numerics.transforms.sampled_rule import short

__all__ = [
    "FAR",
    "NEAR",
    "bounded_beside",
    "bounded_by",
    "chernoff_bound",
    "crosses_before",
    "estimated",
    "shared_tilt",
    "tilt_to_the_leak",
    "told_apart",
]

NEAR, FAR = 1e-6, 0.1  # nats by which floats tell one direction from the other: by a line, by the saddles alone
_TAIL = -3.0  # ln of a call that is about as far out as its saddle
_FEW_BITS = 2  # of tilts that many x share
_NOTHING = 30.0  # nats below the mass at ∞: far less than floats can tell


def bounded_by(total: LossSum, x: float, level: float) -> Fraction | None:
    """A t at which the Chernoff bound at x stays below e^level, if one is found quickly."""
    least, best = total.chernoff(x, level - 1)
    if math.isfinite(least) and least > level:
        return None  # no t will do
    with precision(128):
        return _tilt(total, x, best, Ball(level).exp())


def bounded_beside(total: LossSum, x: float, level: float) -> Fraction | None:
    """The same for one of many x: a t that served another does, if it can."""
    with precision(128):
        kept = total.kept_tilt(Ball(x), Ball(level).exp()) if level > -math.inf else None
    return bounded_by(total, x, level) if kept is None else kept


def _tilt(total: LossSum, x: float, best: float, most: Ball) -> Fraction | None:
    """The first t at which the Chernoff bound is proved to be at most that."""
    for t in (min(max(best, 1e-3), 1e9), 1.0, 8.0, 64.0, 512.0, 4096.0):
        at = short(t, 5)  # few bits, so that sums that differ little share its moment
        try:
            if total.upper(Ball(x), at) <= most:
                return at
        except NotCertified:  # too far out for this law: a smaller t may do
            continue
    return None


def shared_tilt(total: LossSum, x: float) -> Fraction:
    """About the t of the least Chernoff bound at x, one of few."""
    return short(min(max(total.chernoff(x)[1], 1e-3), 1e9), _FEW_BITS)


def chernoff_bound(total: LossSum, x: Fraction, t: Fraction) -> Ball:
    """Proved: the call at x lies between the mass at ∞ and Chernoff's bound at t."""
    if t <= 0:
        raise NotCertified("the lesser direction", f"Chernoff's bound needs t > 0, not {t}")
    with precision(128):
        return between(total.infinite(), total.upper(ball(x), t))


def tilt_to_the_leak(total: LossSum, x: float) -> Fraction | None:
    """A t at which Chernoff's bound of the finite part is nothing beside the mass at ∞, if there is one."""
    with precision(128):
        mass = total.infinite()
        if not mass > 0:
            return None
        least, best = total.chernoff(x)
        level = float(mass.mid().log()) - _NOTHING
        return _tilt(total, x, best, mass * (1 + Ball(1 - _NOTHING).exp())) if least < level else None


def estimated(total: ContourSum, x: float) -> float:
    """About ln of the call at x."""
    try:
        return total.estimate(x)
    except NotCertified:
        return -math.inf  # too little is left for floats to see; the other direction, or the proof, decides


def crosses_before(total: ContourSum, worse: ContourSum, x: float, goal: float) -> bool:
    """Whether ln of a call is below the goal at x, where that of the worse one reaches it: as floats see it."""
    try:
        if total.chernoff(x, goal)[0] < goal or told_apart(worse, total, x) > FAR:
            return True
        return total.estimate(x) < goal - NEAR
    except NotCertified:
        return False


def told_apart(worse: ContourSum, total: ContourSum, x: float) -> float:
    """About by how many nats one call is below the other at x; 0 where a mass at ∞ or floats obscure it, and where x is
    not in the tail, of which alone a saddle says something."""
    if not (worse.infinite().is_zero() and total.infinite().is_zero()):
        return 0.0
    try:
        more, less = worse.rough(x), total.rough(x)
    except NotCertified:
        return 0.0
    return more - less if more < _TAIL and math.isfinite(more - less) else 0.0
