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
_NOTHING, _LITTLE = -25.0, -4.0  # nats
_SHARE = 0.3  # of the gap that is wanted, for the widest grid
_GROWTH = 8  # at most, from one grid to the next
_COUNTS = 0.02  # of the gap that is wanted: a grid that counts
_WORTH = 0.1  # of the gap that is left to grids which do not get closer
_LEAST = 1.5  # by so much each finer grid must be closer
_BLIND, _SEEN = 2**14, 0.1  # points, and of δ: a coarser grid does not tell whether finer ones will do
_KEPT, _SPARE = 0.3, 1.1  # of the work that is left, for other kinds of grids; and of a finer grid's work
_CHEAP = 1.5e5  # units of work for more than is needed
_NEARLY = 3.0  # times what is enough: other kinds of grids are hardly as close
_ROOTS = 6  # readings that will be wanted
_BUDGET = 2 * LONGEST  # points of all grids
_PLANNED = 3000.0  # units of work for a plan and all bounds of a grid
_READ = 1000.0, 1.2  # units of work to read both ends of a grid at all sums, and at each of them


@dataclass(frozen=True, eq=False)
class Fitted:
    """A grid of a grade, and both ends of δ at the places of the grade's sums; or none, and 0 and 1."""

    grade: int
    band: Band
    upper: Floats
    lower: Floats
    grid: tuple[GridPlan, Readings] | None = None

    @property
    def length(self) -> int:
        """Of the grid."""
        return self.grid[0].length if self.grid else 0


class ListedFit:
    """The grids of all grades for δ(ε) ≈ e^level."""

    def __init__(
        self, parts: Sequence[tuple[CellLaw, int]], sketch: ListedSketch, epsilon: float, level: float
    ) -> None:
        self._parts, self._sketch, self._at, self._level = parts, sketch, epsilon, level
        self._vain: set[int] = set()  # grids that finer ones are hardly closer than
        self._found = [
            self._first(number, band)
            for number in range(len(sketch.grades))
            for band in sketch.bands(number, epsilon, level)
        ]

    def _first(self, number: int, band: Band) -> Fitted:
        """A small grid, or none where little is lost without it."""
        if band.mass < _LITTLE:
            size = self._sketch.grades[number].sums.size
            return Fitted(number, band, np.ones(size), np.zeros(size))
        return self._fitted(number, band, _TINY if band.height < _NOTHING else _SMALL)

    def _fitted(self, number: int, band: Band, length: int) -> Fitted:
        plan, sums = self._sketch.plan(number, band, length), self._sketch.grades[number].sums
        cost = grid_units(self._sketch.grades[number].light, plan) + _PLANNED + _READ[0] + _READ[1] * sums.size
        effort.spend(cost, "sums of heavy losses")
        return self._read(number, band, plan, Readings(GridSum(self._sketch.grades[number].light, plan, whole=False)))

    def _read(self, number: int, band: Band, plan: GridPlan, readings: Readings) -> Fitted:
        low, high = places(self._at, self._sketch.grades[number].sums)
        upper = np.minimum(readings.upper(low), 1.0)
        return Fitted(number, band, upper, np.asarray(readings.lower(high)), (plan, readings))

    def look(self, epsilon: float) -> None:
        """Judge the grids at this ε from now on."""
        effort.spend(self.reading, "sums of heavy losses")
        self._at = epsilon
        self._found = [self._read(one.grade, one.band, *one.grid) if one.grid else one for one in self._found]

    @property
    def reading(self) -> float:
        """The work to read both ends of all grids."""
        return sum(_READ[0] + _READ[1] * one.upper.size for one in self._found if one.grid)

    @property
    def steepest(self) -> float:
        """The largest tilt."""
        return max((float(one.grid[0].tilt) for one in self._found if one.grid), default=0.0)

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

    def narrow(self, wanted: float, enough: float) -> None:
        """Finer grids where most of the gap is, until it is what is wanted; or ``enough``, if more is not cheap; or a
        share of the work allowed is spent, or all of it where that seems enough."""
        stuck = set(self._vain)
        gaps, kept, cheap = self.gaps, _KEPT * effort.left(), _CHEAP
        while (gap := sum(gaps)) > wanted:
            left = [i for i in range(len(gaps)) if i not in stuck]
            widest = max(left, key=lambda i: gaps[i], default=None)
            if widest is None or gaps[widest] < max(_COUNTS * wanted, _WORTH * sum(gaps[i] for i in stuck)):
                return
            before, others = self._found[widest], gap - gaps[widest]
            if gap > enough and gaps[widest] > _NEARLY * enough * self._finest(before) ** 2:
                stuck.add(widest)  # not even of second order will do: other kinds of grids may
                continue
            near = _NEARLY * enough - others
            hopeful = math.sqrt(gaps[widest] / near) if near > 0 else math.inf
            had = effort.left()
            try:
                most, goal = (cheap, wanted) if gap <= enough else (math.inf, max(enough, wanted))
                finer = self._finer(before, gaps[widest] / (_SHARE * goal), most, kept, hopeful)
            except NotCertified:  # what was found is still good
                finer = None
            if gap <= enough and math.isfinite(had):
                cheap -= had - effort.left()
            if finer is None:
                stuck.add(widest)
                continue
            self._found[widest] = finer
            now, seen = self.gaps, before.length >= _BLIND and gaps[widest] < _SEEN
            order = finer.length / before.length if seen else _LEAST
            if now[widest] * order > gaps[widest]:  # not even of first order
                stuck.add(widest)
                self._vain |= {widest} if seen else set()
            if sum(now) >= gap:
                self._found[widest] = before
                stuck.add(widest)
                continue
            gaps = now

    def _finest(self, before: Fitted) -> float:
        """How many times finer a grid may be, as far as work and floats allow."""
        if before.grid is None:
            return math.inf
        cost = grid_units(self._sketch.grades[before.grade].light, before.grid[0])
        return min(LONGEST / before.length, max(effort.left() / cost, 1.0))

    def _finer(self, before: Fitted, excess: float, most: float, kept: float, hopeful: float) -> Fitted | None:
        """More points for one grid, or None if they are too many, or cost too much: so much work is kept, unless the
        grid is finer by a ratio that is ``hopeful``."""
        if before.grid is None:
            return self._fitted(before.grade, before.band, _SMALL) if most > 0 and effort.affords(kept) else None
        ratio = 2 ** math.ceil(math.log2(math.sqrt(max(excess, 1.0))) - 0.3)
        ratio = min(max(ratio, 2), _GROWTH)
        others = sum(one.length for one in self._found) - before.length
        while ratio > 1:
            length = before.length * ratio
            cost = grid_units(self._sketch.grades[before.grade].light, before.grid[0], ratio)
            rest = max(_ROOTS * self.reading, 0.0 if ratio >= hopeful else kept)
            if length + others <= _BUDGET and cost <= most and effort.affords(_SPARE * cost + rest):
                return self._fitted(before.grade, before.band, length)
            ratio //= 2
        return None

    def result(self) -> tuple[ListedPlan, ListedSum]:
        """What was found."""
        sketch, plans = self._sketch, [list[GridPlan]() for _ in self._sketch.grades]
        known: dict[tuple[int, GridPlan], Readings] = {}
        for one in self._found:
            if one.grid:
                plans[one.grade].append(one.grid[0])
                known[one.grade, one.grid[0]] = one.grid[1]
        lists = tuple(map(tuple, plans))
        plan = ListedPlan(sketch.borders, sketch.degree, sketch.least, lists, sketch.floor, sketch.moves)
        return plan, ListedSum(self._parts, plan, known, (sketch.grades, sketch.rest))
