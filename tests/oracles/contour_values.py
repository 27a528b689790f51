"""Values of contour sums, and how they compare with printed ones."""

from __future__ import annotations

from fractions import Fraction

from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.transforms.transform import Transform

Parts = list[tuple[Transform, int]]


def proved(parts: Parts, x: Fraction, relative: float = 1e-12) -> Ball:
    total = ContourSum(parts)
    return total.call(ball(x), total.plan(float(x), relative))


def relative_width(value: Ball) -> float:
    with precision(60):
        return float((value.upper() - value.lower()) / value.mid())


def holds(value: Ball, low: str, high: str) -> bool:
    with precision(200):
        return bool(value.overlaps(Ball(low).union(Ball(high))))
