"""A product of laws in one direction, on graded grids where one grid would not bring the ends together."""

from __future__ import annotations

import math
from contextlib import nullcontext, suppress

from tightrope.errors import NotCertified
from tightrope.numerics.grid.any_grid import AnyPlan, grid_units
from tightrope.numerics.grid.graded import GradedPlan, GradedSum
from tightrope.numerics.grid.graded_fit import GradeFit
from tightrope.numerics.grid.graded_search import Sketch, best_sketch
from tightrope.numerics.grid.grid_plan import GridPlan
from tightrope.numerics.grid.listed import ListedPlan
from tightrope.numerics.grid.search import (
    ENOUGH,
    GOAL,
    SMALL,
    GridDirection,
    Located,
    falling_root,
    log_float,
)

__all__ = ["GradedDirection"]

_SKETCHES, _NEARLY = 2, 0.3  # by how much of ε it may move for the borders
_AGAIN, _NATS = 2, 0.5  # if ln δ is off by more, grids are made again
_FURTHER = 1e-3  # of ε: where else δ is looked at


class GradedDirection(GridDirection):
    """As its base, but plans may be graded."""

    def located(self, goal: float, longest: int | None = None, graded: bool = True) -> Located:
        """Where ln δ(ε) is ``goal``, as closely as is worth while; ``longest``: on one grid of so many points; graded
        ones serve few other ε."""
        start = self.started(goal)
        if longest is not None or not graded or not start.upper > 0:
            return self.refined(start, goal, longest)
        gap = 1 - start.share
        if self.atoms_between():
            gap = min(gap, 1 - self.solved(start.upper, goal, SMALL, split=True).share)
        first: Located = start
        predicted = gap * (SMALL / self.longest(start.plan)) ** 2
        if predicted <= self.promising():
            first = self.refined(start, goal, None)
            if 1 - first.share <= ENOUGH:
                return first
        other = self._located(first, goal)
        if first is start and (other is None or max(ENOUGH, predicted) < 1 - other.share):
            first = self.refined(start, goal, None)
        return first if other is None or other.share <= first.share else other

    def promising(self) -> float:
        """The gap that one grid should have, if small ones predict it, to be tried first."""
        return GOAL

    def _located(self, start: Located, goal: float) -> Located | None:
        """On graded grids; None if they cannot be made."""
        at, slope = start.upper, self._slope(start.plan, start.upper)
        try:
            for _ in range(_SKETCHES):
                sketch = best_sketch(self.parts, self.pictures(), at, goal, slope)
                small = sketch.plan(at, goal, sketch.small())
                rough = self._rooted(small, at, goal)
                moved, at = abs(rough.upper - at) / at, rough.upper
                if not at > 0:
                    return None
                slope = self._slope(small, at)
                if moved <= _NEARLY:
                    break
            found = self._rooted(self._finer(sketch, small, at, goal, GOAL * slope), at, goal)
        except NotCertified:
            return None
        for _ in range(_AGAIN):
            away = abs(log_float(self.grid(found.plan).upper(at)) - goal)
            if 1 - found.share <= ENOUGH or away < _NATS:
                break
            at = found.upper  # small grids were far off, and fine ones were made for another ε
            with suppress(NotCertified):
                sketch = best_sketch(self.parts, self.pictures(), at, goal, self._slope(found.plan, at))
                small = sketch.plan(at, goal, sketch.small())
                finer = self._finer(sketch, small, at, goal, GOAL * self._slope(small, at))
                found = max(found, self._rooted(finer, at, goal), key=lambda one: one.share)
        return found

    def _finer(self, sketch: Sketch, small: GradedPlan, at: float, level: float, wanted: float) -> GradedPlan:
        """Grids that bring the gap of δ to about what is wanted, or as near as the work allowed does."""
        grid = self.grid(small)
        assert isinstance(grid, GradedSum)
        gaps = [gap * math.exp(-level) for gap in grid.gaps(at)]
        fit = GradeFit(self.parts, sketch, small, gaps, grid_units, (at, level))
        fit.narrow(wanted)
        plan, known = fit.plan, dict(zip(enumerate(small.plans), grid.grids, strict=True))
        self.keep(plan, GradedSum(self.parts, plan, {**known, **fit.grids}))
        return plan

    def _slope(self, plan: AnyPlan, at: float) -> float:
        """By how much ln δ falls as ln ε rises, about there."""
        here, further = (log_float(self.grid(plan).upper(x)) for x in (at, at * (1 + _FURTHER)))
        return min(max((here - further) / _FURTHER, 1e-3), 1e3) if math.isfinite(here - further) else 1.0

    def _rooted(self, plan: GradedPlan, at: float, goal: float) -> Located:
        grid, slope, end = self.grid(plan), float(plan.tilt), plan.end
        high = falling_root(lambda x: log_float(grid.upper(x)) - goal, at, slope, end)
        return Located(plan, falling_root(lambda x: log_float(grid.lower(x)) - goal, high, slope, end), high, at)

    def planned(self, epsilon: float, fine: bool = True, graded: bool = True, closely: bool = False) -> AnyPlan:
        """For δ at this ε; ``closely``: the ends of δ itself are to meet, and not those of an ε with that δ."""
        if not (fine and graded):
            return self.one_grid(epsilon, fine, closely)
        found = self.one_grid(epsilon, fine=False)
        if self._gap(found, epsilon, closely) * (SMALL / self.longest(found)) ** 2 <= 2 * self.promising():
            found = self.one_grid(epsilon, closely=closely)
            if self._gap(found, epsilon, closely) <= ENOUGH:
                return found
        other = self._planned(found, epsilon, closely)
        gap = math.inf if other is None else self._gap(other, epsilon, closely)
        if gap > ENOUGH and found.length == SMALL:
            with nullcontext() if other is None else suppress(NotCertified):  # what was found before is still good
                found = self.one_grid(epsilon, closely=closely)
        return found if other is None or self._gap(found, epsilon, closely) <= gap else other

    def _gap(self, plan: AnyPlan, epsilon: float, closely: bool) -> float:
        """The distance of ln δ's ends, in units of ln ε's if that is less and will do."""
        grid = self.grid(plan)
        upper, lower = log_float(grid.upper(epsilon)), log_float(grid.lower(epsilon))
        return (upper - lower) / (1.0 if closely else max(float(plan.tilt) * epsilon, 1.0)) if upper > lower else 0.0

    def _planned(self, start: GridPlan, epsilon: float, closely: bool = False) -> GradedPlan | ListedPlan | None:
        """Graded grids; None if they cannot be made."""
        try:
            level, slope = log_float(self.grid(start).upper(epsilon)), self._slope(start, epsilon)
            for _ in range(_SKETCHES):
                sketch = best_sketch(self.parts, self.pictures(), epsilon, level, slope)
                rough = sketch.plan(epsilon, level, sketch.small())
                before, level = level, log_float(self.grid(rough).upper(epsilon))
                slope = self._slope(rough, epsilon)
                if abs(level - before) < 1:
                    break
            wanted = GOAL * (1.0 if closely else max(slope, 1.0))
            return self._finer(sketch, rough, epsilon, level, wanted)
        except NotCertified:
            return None
