"""How many of n reports fall into an event: Bin(n, o), or Bin(n−1, o) + Bernoulli(t) when one user holds another datum.

Against Q = Bin(n, o) the density of the other law is λ(j) = (t/o)(j/n) + ((1−t)/(1−o))(1 − j/n), which rises with j, so
hockey-sticks are sums of b(j)(λ(j) − γ)₊ and b(j)(1 − γλ(j))₊. They are bounded from below over blocks of counts: b is
at least its smaller end, λ at least its first value and at most its last. The blocks do not depend on γ, so the bounds
are convex in γ as profiles are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.real import Real

__all__ = ["CountedReports"]

_BLOCKS = 400
_REACH = 9.0  # standard deviations beyond which nothing is added
_BITS = 128


@dataclass(frozen=True, eq=False)
class CountedReports:
    """``hit``: the chance t of the event for the one user; ``other``: o for everybody else, 0 < o < t < 1."""

    users: int
    hit: Real
    other: Real

    def above(self, x: Ball) -> Ball:
        """Not above Σ b(j)(λ(j) − e^x)₊: that user against the others."""
        gamma = x.exp()
        return sum((mass * (least - gamma).nonnegative_part() for mass, least, _ in self._blocks), Ball(0))

    def below(self, x: Ball) -> Ball:
        """Not above Σ b(j)(1 − e^x·λ(j))₊: the others against that user."""
        gamma = x.exp()
        return sum((mass * (1 - gamma * most).nonnegative_part() for mass, _, most in self._blocks), Ball(0))

    @cached_property
    def _blocks(self) -> list[tuple[Ball, Ball, Ball]]:
        """A mass not above that of each block, and λ at its ends."""
        n = self.users
        with precision(_BITS + 2 * n.bit_length()):
            hit, other = self.hit.ball(), self.other.ball()
            start = (1 - hit) / (1 - other)
            slope = (hit / other - start) / n
            yes, no = other.log(), (1 - other).log()
            all_ways = Ball(n + 1).lgamma()

            def mass(j: int) -> Ball:
                ways = all_ways - Ball(j + 1).lgamma() - Ball(n - j + 1).lgamma()
                return (ways + j * yes + (n - j) * no).exp()

            return [(mass(a).min(mass(b)) * (b - a + 1), start + slope * a, start + slope * b) for a, b in self._ends()]

    def _ends(self) -> list[tuple[int, int]]:
        """First and last count of each block, chosen by floats: any are valid."""
        n, other = self.users, float(self.other.ball().mid())
        reach = _REACH * math.sqrt(n * other * (1 - other)) + _REACH
        first, last = max(0, math.floor(n * other - reach)), min(n, math.ceil(n * other + reach))
        width = 1 + (last - first) // _BLOCKS
        return [(j, min(j + width - 1, last)) for j in range(first, last + 1, width)]
