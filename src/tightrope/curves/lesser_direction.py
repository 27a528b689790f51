"""The direction that costs less need not be integrated: Chernoff's bound of it stays below the other's value."""

from __future__ import annotations

import math
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.contour import ContourSum
from tightrope.numerics.transforms_sampled_rule import short

__all__ = ["bounded_by", "chernoff_bound"]


def bounded_by(total: ContourSum, x: float, level: float) -> Fraction | None:
    """A t at which the Chernoff bound at x stays below e^level, if one is found quickly."""
    least, best = total.chernoff(x)
    if math.isfinite(least) and least > level:
        return None  # no t will do
    for t in (min(max(best, 1e-3), 1e9), 1.0, 8.0, 64.0, 512.0, 4096.0):
        at = short(t, 5)  # few bits, so that sums that differ little share its moment
        try:
            with precision(128):
                if total.upper(Ball(x), at) <= Ball(level).exp():
                    return at
        except NotCertified:  # too far out for this law: a smaller t may do
            continue
    return None


def chernoff_bound(total: ContourSum, x: Fraction, t: Fraction) -> Ball:
    """Proved: the call at x lies between 0 and Chernoff's bound at t."""
    if t <= 0:
        raise NotCertified("the lesser direction", f"Chernoff's bound needs t > 0, not {t}")
    with precision(128):
        return Ball(0).union(total.upper(ball(x), t))
