"""Bound: two floats, rounded outward, with the number meant between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tightrope.numerics.balls import LARGEST, Ball, lower_float, upper_float


@dataclass(frozen=True)
class Bound:
    """Two floats around a number that is not known exactly: ``lower`` ≤ the number ≤ ``upper``.

    >>> 0.5 in Bound(0.25, 1.0), Bound(0.25, 1.0).gap
    (True, 0.75)
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:  # also catches NaN
            raise AssertionError(f"not a bound: [{self.lower!r}, {self.upper!r}]")

    @classmethod
    def around(cls, b: Ball, least: float = -math.inf, most: float = math.inf) -> Bound:
        """The ball rounded outward to floats, then clipped to where the number is known to lie."""
        lower = min(max(lower_float(b), least), most) + 0.0  # no −0.0
        upper = max(min(upper_float(b), most), least) + 0.0
        return cls(lower, upper)

    @classmethod
    def rational(cls, x: Fraction) -> Bound:
        """The floats next to an exact number on both sides; one float when it is one."""
        try:
            near = float(x)
        except OverflowError:
            near = math.inf if x > 0 else -math.inf
        if math.isinf(near):
            return cls(LARGEST, math.inf) if x > 0 else cls(-math.inf, -LARGEST)
        exact = Fraction(near)
        return cls(
            near if exact <= x else math.nextafter(near, -math.inf),
            near if exact >= x else math.nextafter(near, math.inf),
        )

    def __contains__(self, x: float) -> bool:
        return self.lower <= x <= self.upper

    @property
    def gap(self) -> float:
        """The relative width: (upper − lower) / upper; 0 for an exact number, ∞ when nothing is known."""
        if self.lower == self.upper:
            return 0.0
        return (self.upper - self.lower) / abs(self.upper) if self.upper and math.isfinite(self.upper) else math.inf
