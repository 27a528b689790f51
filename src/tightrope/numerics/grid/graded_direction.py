"""A product of laws in one direction, on graded grids where one grid would not bring the ends together."""

from __future__ import annotations

import math
from contextlib import nullcontext, suppress

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball
from tightrope.numerics.grid.any_grid import AnyPlan, grid_units
from tightrope.numerics.grid.graded import GradedPlan, GradedSum, away
from tightrope.numerics.grid.graded_fit import GradeFit
from tightrope.numerics.grid.graded_search import Sketch, best_sketch
from tightrope.numerics.grid.grid_plan import GridPlan
from tightrope.numerics.grid.lengths import AIMED
from tightrope.numerics.grid.listed import ListedPlan
from tightrope.numerics.grid.search import SMALL, GridDirection, Located, falling_root, log_float

__all__ = ["GradedDirection"]

_SKETCHES, _NEARLY = 2, 0.3  # by how much of ε it may move for the borders
_AGAIN, _NATS = 2, 0.5  # if ln δ is off by more, grids are made again
_ROUNDS, _FAR = 3, 3.0  # likewise for small grids
_FURTHER, _NEXT = 1e-3, 0.1  # of ε, or over the steepest tilt: where else δ is looked at
_ELSEWHERE = 0.95  # of ε
_TELLING = 3  # times finer grids for the lesser direction
_STEEPEST = 1e4  # ln δ beside ln ε, as far as less of δ need be known


def _closer(one: Located, other: Located | None) -> Located:
    """The one whose ends are closer."""
    return one if other is None or other.share <= one.share else other


class GradedDirection(GridDirection):
    """As its base, but plans may be graded."""

    def located(self, goal: float, longest: int | None = None, graded: bool = True) -> Located:
        """Where ln δ(ε) is ``goal``, as closely as is worth while; ``longest``: on one grid of so many points; graded
        ones serve few other ε."""
        start = self.started(goal)
        if longest is not None or not graded or not start.upper > 0:
            return self.refined(start, goal, longest)
        gap = 1 - start.share
        if self.uneven():
            gap = min(gap, 1 - self.solved(start.upper, goal, SMALL, split=True).share)
        first: Located = start
        predicted = gap * (SMALL / self.longest(start.plan)) ** 2
        if predicted <= self.promising():
            first = self.refined(start, goal, None)
            if 1 - first.share <= self.enough:
                return first
        other = self._located(first, goal)
        if first is start and (other is None or max(self.enough, predicted) < 1 - other.share):
            first = self.refined(start, goal, None)
            best = _closer(first, other)
            elsewhere = best.upper < _ELSEWHERE * start.upper  # borders were made for another ε
            if elsewhere and 1 - best.share > self.enough:
                other = _closer(best, self._located(best, goal))
        return _closer(first, other)

    def promising(self) -> float:
        """The gap that one grid should have, if small ones predict it, to be tried first."""
        return AIMED * self.enough

    def _located(self, start: Located, goal: float) -> Located | None:
        """On graded grids; None if they cannot be made."""
        at, slope = start.upper, self._slope(start.plan, start.upper)
        try:
            for _ in range(_SKETCHES):
                sketch = best_sketch(self.parts, self.pictures(), at, goal, slope)
                before, (small, at) = at, self._settled(sketch, at, goal, start.upper)
                if not at > 0:
                    return None
                slope = self._slope(small, at)
                if abs(at - before) <= _NEARLY * before:
                    break
            found = self._rooted(self._finer(sketch, small, at, goal, AIMED * self.enough * slope), at, goal)
        except NotCertified:
            return None
        for _ in range(_AGAIN):
            if 1 - found.share <= self.enough or self._off(found.plan, at, goal) < _NATS:
                break
            at = found.upper  # small grids were far off, and fine ones were made for another ε
            with suppress(NotCertified):
                sketch = best_sketch(self.parts, self.pictures(), at, goal, self._slope(found.plan, at))
                small = sketch.plan(at, goal, sketch.small())
                finer = self._finer(sketch, small, at, goal, AIMED * self.enough * self._slope(small, at))
                found = max(found, self._rooted(finer, at, goal), key=lambda one: one.share)
        return found

    def _settled(self, sketch: Sketch, at: float, goal: float, most: float) -> tuple[GradedPlan, float]:
        """Small grids made for an ε near the one they find, from ``at`` on, and what they find: at most ``most``, an
        upper end that is known."""
        for _ in range(_ROUNDS):
            small = sketch.plan(at, goal, sketch.small())
            before, at = at, min(self._upper_root(small, at, goal), most)
            if not at > 0 or self._off(small, before, goal) < _FAR:
                break
        return small, at

    def _off(self, plan: AnyPlan, at: float, goal: float) -> float:
        """By how many nats δ is from what is sought, where grids were made for."""
        return abs(log_float(self.grid(plan).upper(at)) - goal)

    def _finer(self, sketch: Sketch, small: GradedPlan, at: float, level: float, wanted: float) -> GradedPlan:
        """Grids that bring the gap of δ to about what is wanted, or as near as the work allowed does."""
        return self._narrowed_to(self._fit(sketch, small, at, level), small, wanted)

    def _fit(self, sketch: Sketch, small: GradedPlan, at: float, level: float) -> GradeFit:
        grid = self.grid(small)
        assert isinstance(grid, GradedSum)
        gaps = [gap * math.exp(-level) for gap in grid.gaps(at)]
        return GradeFit(self.parts, sketch, small, gaps, grid_units, (at, level))

    def _narrowed_to(self, fit: GradeFit, small: GradedPlan, wanted: float) -> GradedPlan:
        fit.narrow(wanted)
        grid = self.grid(small)
        assert isinstance(grid, GradedSum)
        plan, known = fit.plan, dict(zip(enumerate(small.plans), grid.grids, strict=True))
        self.keep(plan, GradedSum(self.parts, plan, {**known, **fit.grids}))
        return plan

    def _slope(self, plan: AnyPlan, at: float) -> float:
        """By how much ln δ falls as ln ε rises, about there."""
        steepest = plan.steepest if isinstance(plan, GradedPlan) else plan.tilt
        further = _NEXT / max(float(steepest) * at, _NEXT / _FURTHER)
        nats = [log_float(self.grid(plan).upper(x)) for x in (at, at * (1 + further))]
        return min(max((nats[0] - nats[1]) / further, 1e-3), _STEEPEST) if math.isfinite(nats[0] - nats[1]) else 1.0

    def _rooted(self, plan: GradedPlan, at: float, goal: float) -> Located:
        grid, high = self.grid(plan), self._upper_root(plan, at, goal)
        low = falling_root(lambda x: log_float(grid.lower(x)) - goal, high, float(plan.tilt), self._end(plan))
        return Located(plan, low, high, at)

    def _upper_root(self, plan: GradedPlan, at: float, goal: float) -> float:
        """Its upper end only: the lower one takes far longer where losses are split."""
        grid = self.grid(plan)
        return falling_root(lambda x: log_float(grid.upper(x)) - goal, at, float(plan.tilt), self._end(plan))

    def _end(self, plan: GradedPlan) -> float:
        return plan.end + float(away(plan.moves, [count for _, count in self.parts]))

    def planned(self, epsilon: float, fine: bool = True, graded: bool = True, closely: bool = False) -> AnyPlan:
        """For δ at this ε; ``closely``: the ends of δ itself are to meet, and not those of an ε with that δ."""
        if not (fine and graded):
            return self.one_grid(epsilon, fine, closely)
        found = self.one_grid(epsilon, fine=False)
        if self._gap(found, epsilon, closely) * (SMALL / self.longest(found)) ** 2 <= 2 * self.promising():
            found = self.one_grid(epsilon, closely=closely)
            if self._gap(found, epsilon, closely) <= self.enough:
                return found
        other = self._planned(found, epsilon, closely)
        gap = math.inf if other is None else self._gap(other, epsilon, closely)
        if gap > self.enough and found.length == SMALL:
            with nullcontext() if other is None else suppress(NotCertified):  # what was found before is still good
                found = self.one_grid(epsilon, closely=closely)
        return found if other is None or self._gap(found, epsilon, closely) <= gap else other

    def bounding(self, epsilon: float, level: Ball) -> AnyPlan:
        """Graded grids beside atoms, no finer than tells δ from ``level``; else as its base."""
        goal = log_float(level)
        if not (self.atoms_between() and goal > -math.inf):
            return super().bounding(epsilon, level)
        sketch = best_sketch(self.parts, self.pictures(), epsilon, goal, 1.0)
        small = plan = sketch.plan(epsilon, goal, sketch.small())
        fit = self._fit(sketch, small, epsilon, goal)
        for _ in range(_TELLING):
            grid = self.grid(plan)
            upper, lower = log_float(grid.upper(epsilon)), log_float(grid.lower(epsilon))
            if upper <= goal or lower > goal:
                break
            plan = self._narrowed_to(fit, small, -math.expm1(lower - goal) / 2)
        else:
            with suppress(NotCertified):  # one grid may tell what grades do not
                other = super().bounding(epsilon, level)
                return other if self.grid(other).upper(epsilon) < self.grid(plan).upper(epsilon) else plan
        return plan

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
            wanted = AIMED * self.enough * (1.0 if closely else max(slope, 1.0))
            return self._finer(sketch, rough, epsilon, level, wanted)
        except NotCertified:
            return None
