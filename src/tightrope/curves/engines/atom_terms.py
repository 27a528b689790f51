"""The terms of a sum over atoms: δ(x) = p_∞ + Σ p_i·δ_s(x − l_i) in each direction, with δ_s that of a smooth part.

For arguments below 0 the hockey-stick is turned around: δ_s(−y) = 1 − e^{−y} + e^{−y}·δ_r(y) with the reverse
direction's δ_r, whatever the masses at ∞, since ∫(p − e^{−y}q)₊ = 1 − e^{−y} + ∫(e^{−y}q − p)₊.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tightrope.curves.engines.listed_sum import ListedSum
from tightrope.curves.engines.smooth_side import SmoothSide
from tightrope.curves.profile import Witness
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision

__all__ = ["MOST_ATOMS", "AtomTerms", "Term", "log_float"]

MOST_ATOMS = 1000
_BITS = 256  # of the atoms, and of x less an atom
_FAR = 45.0  # nats below the largest term
_BISECTIONS, _CLOSE = 60, 1e-6
_LARGEST = 1e6  # ε that is looked for
_TERM, _LIGHT = 80.0, 1.0  # units of work


@dataclass(frozen=True)
class Term:
    """p·δ_s(x − l) in floats: which side it asks, where, ln of the factor before it, and ln of what is known."""

    side: int
    place: float
    weight: float
    closed: float


@dataclass(frozen=True, eq=False)
class AtomTerms:
    """For each direction the smooth part, and the sum of the finite ones. Two directions are each other's reverse."""

    sides: tuple[SmoothSide, ...]
    finite: tuple[ListedSum, ...]

    @cached_property
    def _atoms(self) -> list[tuple[Ball, list[tuple[Ball, Ball]], Ball]]:
        """For each direction the mass at ∞, the atoms (value, mass), and the mass of those that are left out."""
        with precision(_BITS):
            return [(one.infinite(), *(one.atoms(MOST_ATOMS) or ([], Ball(1)))) for one in self.finite]

    def left_out(self, direction: int) -> float:
        """ln of the mass of the atoms that are left out."""
        with precision(64):
            return log_float(self._atoms[direction][2].upper())

    @cached_property
    def _floats(self) -> list[tuple[float, list[tuple[float, float]]]]:
        """The same in floats, with logarithms of the masses."""
        with precision(64):
            return [
                (log_float(infinite), [(float(v.mid()), log_float(mass)) for v, mass in atoms if mass > 0])
                for infinite, atoms, _ in self._atoms
            ]

    def listed(self, direction: int, x: float) -> list[Term]:
        """The terms at x, in floats."""
        found, back = [], len(self.sides) - 1 - direction
        for value, weight in self._floats[direction][1]:
            y = x - value
            if y >= 0:
                found.append(Term(direction, y, weight, -math.inf))
            else:
                found.append(Term(back, -y, weight + y, weight + math.log(-math.expm1(y))))
        return found

    def level(self, direction: int, x: float) -> float:
        """About ln δ(x) in one direction. Terms far below the others are not looked at closely."""
        terms = self.listed(direction, x)
        logs = [self._floats[direction][0], *(term.closed for term in terms)]
        floor = max(logs) - _FAR
        for term in sorted(terms, key=lambda term: term.place):
            if term.weight < floor:
                continue
            logs.append(term.weight + self.sides[term.side].about(term.place, floor - term.weight))
            floor = max(floor, logs[-1] - _FAR)
        top = max(logs)
        return top + math.log(sum(math.exp(log - top) for log in logs)) if top > -math.inf else top

    def levels(self, x: float) -> list[float]:
        """The same in every direction."""
        return [self.level(i, x) for i in range(len(self.sides))]

    def root(self, goal: float) -> float:
        """About the x at which ln δ is ``goal``; 0 if there is none above."""
        if max(self.levels(0.0)) <= goal:
            return 0.0
        low, high = 0.0, max(1e-9, *(v for _, atoms in self._floats for v, _ in atoms))
        step = 1e-4 * high
        while max(self.levels(high)) > goal:
            low, high, step = high, high + step, 2 * step
            if high > _LARGEST:
                raise NotCertified("a sum around atoms", "floats do not see δ")
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if max(self.levels(middle)) > goal else (low, middle)
            if high - low < _CLOSE * self.nearest(high):
                break
        return high

    def nearest(self, x: float) -> float:
        """How far from x the next place is at which δ may change its course."""
        return min([x, *(abs(x - v) for _, atoms in self._floats for v, _ in atoms)])

    def value(self, direction: int, x: Ball, stretches: Sequence[Sequence[Witness]], least: Ball) -> Ball:
        """δ(x) in one direction, proved. An atom that is not heavier than ``least`` counts between 0 and its mass."""
        with precision(_BITS):
            value, atoms, few = self._atoms[direction]
            heavy = [(place, mass) for place, mass in atoms if not mass <= least]
            effort.spend(_TERM * len(heavy) + _LIGHT * len(atoms), "a sum around atoms")
            few += sum((mass for _, mass in atoms if mass <= least), Ball(0))
            for place, mass in heavy:
                value += mass * self._smooth(direction, x - place, stretches)
            return value + few * Ball(0).union(Ball(1))

    def _smooth(self, direction: int, y: Ball, stretches: Sequence[Sequence[Witness]]) -> Ball:
        """δ_s(y) for any real y."""
        back = len(self.sides) - 1 - direction
        if y >= 0:
            return self.sides[direction].value(y, stretches[direction])
        if y < 0:
            return -y.expm1() + y.exp() * self.sides[back].value(-y, stretches[back])
        # y cannot be told from 0: δ_s(h) ≤ δ_s(y) ≤ δ_s(−h) ≤ h + δ_s(0), and both directions have one δ_s(0)
        h = y.abs_upper()
        side, plans = self.sides[direction], stretches[direction]
        return side.value(h, plans).union(h + side.value(Ball(0), plans))


def log_float(value: Ball) -> float:
    """ln of the middle of a ball; −∞ if that is not positive."""
    middle = value.mid()
    return float(middle.log()) if middle > 0 else -math.inf
