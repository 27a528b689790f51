"""How fine the grids around listed sums must be (``listed.py``): floats choose, each grid is proved.

Small grids say how far the ends of each sum are apart; the grid that most of the gap is left to gets more points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.grid.any_grid import grid_units
from tightrope.numerics.grid.cells import CellLaw, Floats
from tightrope.numerics.grid.grid_plan import LONGEST, GridPlan
from tightrope.numerics.grid.listed import ListedPlan, ListedSum, places
from tightrope.numerics.grid.listed_search import Band, ListedSketch
from tightrope.numerics.grid.readings import Readings
from tightrope.numerics.grid.total import GridSum

__all__ = ["ListedFit"]

_SMALL, _TINY = 2**11, 2**9  # points at first, and where nothing but a bound is needed
_NOTHING = -25.0  # nats
_SHARE = 0.3  # of the gap that is wanted, for the widest grid
_GROWTH = 8  # at most, from one grid to the next
_COUNTS = 0.02  # of the gap that is wanted: a grid that counts
_LEAST = 1.5  # by so much each finer grid must be closer
_BUDGET = 2 * LONGEST  # points of all grids
_READ = 20.0, 2.0  # units of work to read a grid at all sums, and at each of them


@dataclass(frozen=True, eq=False)
class Fitted:
    """A grid of a grade, and both ends of δ at the places of the grade's sums."""

    grade: int
    band: Band
    plan: GridPlan
    readings: Readings
    upper: Floats
    lower: Floats


class ListedFit:
    """The grids of all grades for δ(ε) ≈ e^level."""

    def __init__(
        self, parts: Sequence[tuple[CellLaw, int]], sketch: ListedSketch, epsilon: float, level: float
    ) -> None:
        self._parts, self._sketch, self._at, self._level = parts, sketch, epsilon, level
        self._found = [
            self._fitted(number, band, _TINY if band.height < _NOTHING else _SMALL)
            for number in range(len(sketch.grades))
            for band in sketch.bands(number, epsilon, level)
        ]

    def _fitted(self, number: int, band: Band, length: int) -> Fitted:
        plan, sums = self._sketch.plan(number, band, length), self._sketch.grades[number].sums
        cost = grid_units(self._sketch.grades[number].light, plan) + _READ[0] + _READ[1] * sums.size
        effort.spend(cost, "sums of heavy losses")
        readings = Readings(GridSum(self._sketch.grades[number].light, plan, whole=False))
        return self._read(number, band, plan, readings)

    def _read(self, number: int, band: Band, plan: GridPlan, readings: Readings) -> Fitted:
        low, high = places(self._at, self._sketch.grades[number].sums)
        upper = np.minimum(readings.upper(low), 1.0)
        return Fitted(number, band, plan, readings, upper, np.asarray(readings.lower(high)))

    def look(self, epsilon: float) -> None:
        """Judge the grids at this ε from now on."""
        effort.spend(sum(_READ[0] + _READ[1] * one.upper.size for one in self._found), "sums of heavy losses")
        self._at = epsilon
        self._found = [self._read(one.grade, one.band, one.plan, one.readings) for one in self._found]

    @property
    def steepest(self) -> float:
        """The largest tilt."""
        return max((float(one.plan.tilt) for one in self._found), default=0.0)

    @property
    def gaps(self) -> list[float]:
        """Of δ: what is left to each grid by the sums that it is made for."""
        found = [0.0] * len(self._found)
        for number, one in enumerate(self._sketch.grades):
            own = [i for i, fitted in enumerate(self._found) if fitted.grade == number]
            if own:
                upper = np.min([self._found[i].upper for i in own], axis=0)
                lower = np.max([self._found[i].lower for i in own], axis=0)
                left = one.sums.p_high * np.maximum(upper - lower, 0.0) * math.exp(-self._level)
                for i in own:
                    found[i] = float(left[self._found[i].band.served].sum())
        return found

    def narrow(self, wanted: float, cheap: float, enough: float) -> None:
        """Finer grids where most of the gap is, until it is what is wanted; or ``enough``, if finer ones are not
        cheap; or the work allowed is spent."""
        stuck: set[int] = set()
        gaps = self.gaps
        while sum(gaps) > wanted:
            left = [i for i in range(len(gaps)) if i not in stuck]
            widest = max(left, key=lambda i: gaps[i], default=None)
            if widest is None or gaps[widest] < _COUNTS * wanted:
                return
            before = self._found[widest]
            try:
                most = cheap if sum(gaps) <= enough else math.inf
                finer = self._finer(before, gaps[widest] / (_SHARE * wanted), most)
            except NotCertified:  # what was found is still good
                finer = None
            if finer is None:
                stuck.add(widest)
                continue
            self._found[widest] = finer
            now = self.gaps
            if sum(now) >= sum(gaps):
                self._found[widest] = before
                stuck.add(widest)
                continue
            if now[widest] * _LEAST > gaps[widest]:
                stuck.add(widest)
            gaps = now

    def _finer(self, before: Fitted, excess: float, most: float) -> Fitted | None:
        """More points for one grid, or None if they are too many, or cost too much."""
        ratio = 2 ** math.ceil(math.log2(math.sqrt(max(excess, 1.0))) - 0.3)
        ratio = min(max(ratio, 2), _GROWTH)
        others = sum(one.plan.length for one in self._found) - before.plan.length
        while ratio > 1:
            length = before.plan.length * ratio
            cost = grid_units(self._sketch.grades[before.grade].light, before.plan, ratio)
            if length + others <= _BUDGET and cost <= most and effort.affords(2 * cost):
                return self._fitted(before.grade, before.band, length)
            ratio //= 2
        return None

    def result(self) -> tuple[ListedPlan, ListedSum]:
        """What was found."""
        sketch, plans = self._sketch, [list[GridPlan]() for _ in self._sketch.grades]
        for one in self._found:
            plans[one.grade].append(one.plan)
        plan = ListedPlan(
            sketch.borders, sketch.degree, sketch.least, tuple(map(tuple, plans)), sketch.floor, sketch.moves
        )
        known = {(one.grade, one.plan): one.readings for one in self._found}
        return plan, ListedSum(self._parts, plan, known, (sketch.grades, sketch.rest))
