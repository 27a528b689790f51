"""How many of n reports fall into an event: Bin(n, o), or Bin(n−1, o) + Bernoulli(t) when one user holds another datum.

Against Q = Bin(n, o) the density of the other law is λ(j) = (t/o)(j/n) + ((1−t)/(1−o))(1 − j/n). Only a cell of counts
is told. In a cell Q's chances b(j) are log-concave, so not below the geometric sequence g between those at its ends; a
count j is told as its cell with chance g(j)/b(j), else as the middle cell. That is post-processing, so that the pair
(Σg(j)λ(j), Σg(j)) over the cells, with all else in the middle one, costs no more than the counts do, nor do several.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

from flint import ctx

from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.real import Real

__all__ = ["CountedReports", "geometric"]

_REACH = 9.0  # standard deviations beyond which counts are not told
_BITS = 128


@dataclass(frozen=True, eq=False)
class CountedReports:
    """``hit``: the chance t of the event for the one user; ``other``: o for everybody else, 0 < o < t < 1."""

    users: int
    hit: Real
    other: Real
    most: int  # about how many cells
    _known: dict[int, list[tuple[Ball, Ball]]] = field(default_factory=dict)

    @cached_property
    def ends(self) -> list[tuple[int, int]]:
        """First and last count of each cell, chosen by floats: any are valid."""
        with precision(64):
            n, other = self.users, float(self.other.ball().mid())
        reach = _REACH * math.sqrt(n * other * (1 - other)) + _REACH
        first, last = max(0, math.floor(n * other - reach)), min(n, math.ceil(n * other + reach))
        width = 1 + (last - first) // self.most
        return [(j, min(j + width - 1, last)) for j in range(first, last + 1, width)]

    def masses(self) -> list[tuple[Ball, Ball]]:
        """That user's and the others' mass of every cell."""
        bits = max(int(ctx.prec), _BITS)
        if bits not in self._known:
            with precision(bits + 2 * self.users.bit_length()):
                self._known[bits] = self._found()
        return self._known[bits]

    def _found(self) -> list[tuple[Ball, Ball]]:
        n, hit, other = self.users, self.hit.ball(), self.other.ball()
        start = (1 - hit) / (1 - other)
        slope = (hit / other - start) / n
        yes, no = other.log(), (1 - other).log()
        all_ways = Ball(n + 1).lgamma()

        def log_chance(j: int) -> Ball:
            ways = all_ways - Ball(j + 1).lgamma() - Ball(n - j + 1).lgamma()
            return ways + j * yes + (n - j) * no

        found = []
        for first, last in self.ends:
            total, moment = geometric(log_chance(first), log_chance(last), last - first + 1)
            found.append((total * (start + slope * first) + moment * slope, total))
        if len(found) < n + 1:  # not all counts are told one by one
            middle = len(found) // 2
            rest = [1 - sum((cell[i] for j, cell in enumerate(found) if j != middle), Ball(0)) for i in (0, 1)]
            found[middle] = rest[0], rest[1]
        return found


def geometric(first: Ball, last: Ball, number: int) -> tuple[Ball, Ball]:
    """Σr^i and Σi·r^i, times e^first, over i < number, where r^{number−1} = e^{last−first}."""
    if number == 1:
        return first.exp(), Ball(0)
    log = (last - first) / (number - 1)
    ratio, rest = log.exp(), (log * number).expm1()
    if not abs(log) * number > Ball(2) ** -20:  # nearly equal: at least number·min, and the moment by symmetry
        least = first.exp().min(last.exp()) * number
        return least, least * Ball(number - 1) / 2
    total = rest / log.expm1()
    moment = (number * (rest + 1) - ratio * total) / log.expm1()
    return first.exp() * total, first.exp() * moment
