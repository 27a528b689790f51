"""Laws on the whole numbers, by their distribution function: in balls at any precision, or as exact rationals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import isqrt
from typing import ClassVar

from tightrope.noise.uniform import Threshold
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.real import Real


class Law(ABC):
    """A law on the whole numbers. ``finite_below``, ``finite_above``: nothing lies beyond that end of its span."""

    finite_below: ClassVar[bool] = False
    finite_above: ClassVar[bool] = False

    @abstractmethod
    def cumulative(self, k: int) -> Threshold:
        """P(X ≤ k), exactly or as a function of the present precision."""

    @abstractmethod
    def span(self) -> tuple[int, int]:
        """(low, high): values worth a place in a table. What lies outside is found without one."""

    def tabled(self, low: int, high: int) -> Sequence[Ball | Fraction]:
        """P(X ≤ k) for low ≤ k ≤ high, at the present precision."""
        found = (self.cumulative(k) for k in range(low, high + 1))
        return [c if isinstance(c, Fraction) else c() for c in found]


@dataclass(frozen=True)
class DiscreteNormal(Law):
    """P(k) ∝ e^{−k²/2v} on all whole numbers."""

    variance: Fraction

    def span(self) -> tuple[int, int]:
        """Beyond 9.6σ less than 2^−64 is left."""
        reach = isqrt(int(93 * self.variance)) + 2
        return -reach - 1, reach

    def cumulative(self, k: int) -> Threshold:
        """From the nearer tail, so that small chances keep their relative accuracy."""

        def value() -> Ball:
            tails = normal_tails(self.variance, max(k, -k - 1))
            edge = tails[max(k, -k - 1)] / (1 + 2 * tails[0])
            return edge if k < 0 else 1 - edge

        return value

    def tabled(self, low: int, high: int) -> Sequence[Ball | Fraction]:
        """All from one pass over the masses."""
        tails = normal_tails(self.variance, high)
        whole = 1 + 2 * tails[0]
        scaled = [t / whole for t in tails[: high + 1]]
        return [scaled[-k - 1] if k < 0 else 1 - scaled[k] for k in range(low, high + 1)]


@dataclass(frozen=True)
class HalfNormal(Law):
    """P(j) ∝ e^{−j²/2v} on 0, 1, 2, …"""

    variance: Fraction
    finite_below = True

    def span(self) -> tuple[int, int]:
        """Beyond 9.6σ less than 2^−64 is left."""
        return 0, isqrt(int(93 * self.variance)) + 2

    def cumulative(self, k: int) -> Threshold:
        """1 − the upper tail."""

        def value() -> Ball:
            tails = normal_tails(self.variance, k)
            return 1 - tails[k] / (1 + tails[0])

        return value

    def tabled(self, low: int, high: int) -> Sequence[Ball | Fraction]:
        """All from one pass over the masses."""
        tails = normal_tails(self.variance, high)
        whole = 1 + tails[0]
        return [1 - tails[k] / whole for k in range(low, high + 1)]


def normal_tails(variance: Fraction, least: int) -> list[Ball]:
    """Σ_{i>k} e^{−i²/2v} for k = 0, …, ``least`` and on, until the masses are below the present precision."""
    half = -1 / (2 * ball(variance))
    ratio, shrink = half.exp(), (2 * half).exp()
    mass, masses = Ball(1), list[Ball]()
    floor = Ball(2) ** -_working_bits()
    while len(masses) <= least or not mass < floor:
        mass = mass * ratio
        ratio = ratio * shrink
        masses.append(mass)
    # The ratios fall, so what follows the last mass lies between 0 and a geometric series.
    upper = (mass * ratio / (1 - ratio)).union(Ball(0))
    tails = []
    for mass in reversed(masses):
        upper = upper + mass
        tails.append(upper)
    tails.reverse()
    return tails


def _working_bits() -> int:
    """The present precision, read from how finely it rounds."""
    third = 1 / Ball(3)
    return int(third.rel_accuracy_bits())


@dataclass(frozen=True)
class DiscreteLaplace(Law):
    """P(k) ∝ e^{−|k|/t} on all whole numbers."""

    scale: Fraction

    def span(self) -> tuple[int, int]:
        """Beyond 45t less than 2^−64 is left."""
        reach = int(45 * self.scale) + 2
        return -reach - 1, reach

    def cumulative(self, k: int) -> Threshold:
        """r^{−k}/(1 + r) below 0, 1 − r^{k+1}/(1 + r) from 0 on; r = e^{−1/t}."""

        def value() -> Ball:
            unit = ball(1 / self.scale)
            edge = (-unit * (-k if k < 0 else k + 1)).exp() / (1 + (-unit).exp())
            return edge if k < 0 else 1 - edge

        return value


@dataclass(frozen=True)
class Geometric(Law):
    """P(j) ∝ e^{−j/t} on 0, 1, 2, …"""

    scale: Fraction
    finite_below = True

    def span(self) -> tuple[int, int]:
        """Beyond 45t less than 2^−64 is left."""
        return 0, int(45 * self.scale) + 2

    def cumulative(self, k: int) -> Threshold:
        """1 − e^{−(k+1)/t}."""
        return lambda: -(-ball((k + 1) / self.scale)).expm1()


@dataclass(frozen=True)
class Rational(Law):
    """Value i has exactly the chance ``chances[i]``; they add up to 1."""

    chances: tuple[Fraction, ...]
    finite_below = True
    finite_above = True

    def span(self) -> tuple[int, int]:
        """All values."""
        return 0, len(self.chances) - 1

    def cumulative(self, k: int) -> Threshold:
        """A partial sum."""
        return sum(self.chances[: k + 1], Fraction(0))

    def tabled(self, low: int, high: int) -> Sequence[Ball | Fraction]:
        """All partial sums in one pass."""
        return list(accumulate(self.chances))[low : high + 1]


@dataclass(frozen=True)
class Coin(Law):
    """1 with chance e^a/(e^a + others), else 0: the true answer of randomized response."""

    exponent: Fraction
    others: int
    finite_below = True
    finite_above = True

    def span(self) -> tuple[int, int]:
        """Both values."""
        return 0, 1

    def cumulative(self, k: int) -> Threshold:
        """others/(e^a + others), then 1."""
        if k >= 1:
            return Fraction(1)
        if self.exponent == 0:
            return Fraction(self.others, self.others + 1)
        return Real(None, lambda: self.others / (ball(self.exponent).exp() + self.others)).ball
