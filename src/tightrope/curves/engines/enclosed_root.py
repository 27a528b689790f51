"""Both sides of the ε at which δ is a given one, each proved where it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tightrope.curves.profile import Profile, Witness
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.bound import Bound

__all__ = ["ends_near", "enclosed_root"]

_STEPS = tuple(10.0**k for k in range(-13, -3))
_ENDS = tuple(10.0**k for k in range(-15, -3))


def enclosed_root(
    x: float, delta: Fraction, whole: Callable[[Fraction], Ball], part: Callable[[Fraction], Ball]
) -> Bound:
    """Both sides of the solution near x, each proved where it is returned; 0 if no lower side is. ``part`` is at most
    the whole, and near it."""

    def above(at: float) -> bool:
        value = part(Fraction(at))
        with precision(200):
            return bool(value > ball(delta))

    def below(at: float) -> bool:
        value = whole(Fraction(at))
        with precision(200):
            return bool(value <= ball(delta))

    upper = next((e for step in _STEPS if below(e := x * (1 + step))), None)
    if upper is None:
        raise NotCertified("the exact profile", f"no contour proved an ε near {x:.6g}")
    return Bound(next((e for step in _STEPS if above(e := x * (1 - step))), 0.0), upper)


def ends_near(profile: Profile, low: float, high: float, delta: Fraction, witness: Witness) -> Bound:
    """Both ends near those that floats found, each proved where it is returned; 0 if no lower one is."""
    if not (math.isfinite(low) and math.isfinite(2 * high)):
        raise NotCertified("the exact profile", "no ε was found in floats")
    upper = next((e for step in _ENDS if profile.meets(Fraction(e := high * (1 + step)), delta, witness)), None)
    if upper is None:
        raise NotCertified("the exact profile", f"no contour proved an ε near {high:.6g}")
    below = (max(low * (1 - step), 0.0) for step in _ENDS)
    return Bound(next((e for e in below if profile.needs(Fraction(e), delta, witness)), 0.0), upper)
