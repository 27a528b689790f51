"""(1+u)^a − 1 − a·u without cancellation: what is left of a power when its tangent at 1 is taken away.

Where the mean of u is 0 the mean of (1+u)^a is 1 plus the mean of this, so nothing of a small mean is lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from flint import ctx

from tightrope.numerics.balls import Ball, ComplexBall, ball

__all__ = ["CentredPower"]

Number = TypeVar("Number", Ball, ComplexBall)
_SMALL = 2.0**-16  # below this the binomial series is used; above it the closed form loses at most 16 bits
_UNIT = Ball(0, 1)  # [−1, 1]
_UNIT_SQUARE = ComplexBall(_UNIT, _UNIT)


class CentredPower:
    """The function g(u) = (1+u)^a − 1 − a·u for one power a, at the precision of the moment it was made.

    ``size`` is the largest |u| in the ball, as a float. It only chooses the formula: the closed form holds
    everywhere and the series for |u|(|a|+2) < 1/2, so its rounding does not matter.
    """

    def __init__(self, power: Fraction) -> None:
        self._near_one = abs(power - 1) * 2 < 1
        self._power = ball(power)
        self._less_one = ball(power - 1)
        self.reach = min(float(min(abs(power), Fraction(10**300))) + 2.0, 1e300)
        self._bits = int(ctx.prec)
        self._exact = power
        self._coefficients: list[Ball] = []

    def value(self, u: Ball, log: Ball, size: float) -> Ball:
        """g(u) for a real ball; ``log`` is ln(1+u)."""
        if size * self.reach < _SMALL:
            return self._series(u, size, _UNIT)
        return self._closed(u, log)

    def complex_value(self, u: ComplexBall, log: Callable[[], ComplexBall], size: float) -> ComplexBall:
        """g(u) for a complex ball inside |u| < 1 or away from the cut of ln(1+u)."""
        if size * self.reach < _SMALL:
            return self._series(u, size, _UNIT_SQUARE)
        return self._closed(u, log())

    def _closed(self, u: Number, log: Number) -> Number:
        if self._near_one:  # every term is a multiple of a − 1, which may be tiny
            return (1 + u) * (log * self._less_one).expm1() - u * self._less_one
        return (log * self._power).expm1() - u * self._power

    def _series(self, u: Number, size: float, unit: Number) -> Number:
        # |C(a, k+1)/C(a, k)| = |a−k|/(k+1) ≤ |a|+1, so from any term on the rest is at most twice that term.
        ratio = max(size * self.reach, 1e-300)
        count = 2 + int(self._bits / -math.log2(ratio))
        if len(self._coefficients) <= count:
            self._extend()
        rest = unit * (2 * self._coefficients[count])
        for k in range(count - 1, -1, -1):
            rest = rest * u + self._coefficients[k]
        return rest * u * u

    def _extend(self) -> None:
        """C(a, k) for k = 2, 3, …: as many as a ratio just below the threshold needs."""
        self._coefficients = [self._power * self._less_one / 2]
        for k in range(2, self._bits // 16 + 6):
            self._coefficients.append(self._coefficients[-1] * ball(self._exact - k) / (k + 1))
