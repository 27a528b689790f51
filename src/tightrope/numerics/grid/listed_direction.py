"""A product of laws in one direction, with heavy steps listed one by one where they are atoms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball
from tightrope.numerics.grid.any_grid import AnyPlan
from tightrope.numerics.grid.graded import GradedPlan
from tightrope.numerics.grid.graded_direction import GradedDirection
from tightrope.numerics.grid.grid_plan import GridPlan
from tightrope.numerics.grid.listed import ListedPlan
from tightrope.numerics.grid.listed_borders import FEW_HEAVY, MANY_HEAVY, listed_sketch
from tightrope.numerics.grid.listed_fit import ListedFit
from tightrope.numerics.grid.listed_search import ListedSketch
from tightrope.numerics.grid.search import Located, falling_root, log_float

__all__ = ["ListedDirection"]

_CHEAPLY = 1e-3  # of the distance of ends that is enough: aimed at, as long as that is cheap
_FINEST = 3e-10  # of δ
_ROUNDS, _SERVES = 6, 4.0  # tilts times what ε may move before grids are made anew
_LOOKS, _WRONG = 2, 1e-6
_JUST = 1e-8  # below the largest sum, beyond which δ is 0
_STEEPEST = 1e3  # ln δ beside ln ε, as far as less of δ need be known
_BACK = (0.0, 0.1, 1.0, 5.0, 25.0)  # over the steepest tilt: where to begin, if nothing is seen at first
_UPPER, _LOWER = 0.15, 0.85  # of the work to read both ends of a grid
_NATS = 3.0  # of δ: by how much it may be wrong while grids are planned
_FURTHER = 0.05  # of ε, or times the steepest tilt: where else δ is looked at
_LOWEST, _HIGHEST = 0.75, 0.6  # of ε: how far it may move in a round
_DOUBTFUL = 0.1
_SHARE = 0.7  # of the work that is left: the other kinds of grids may serve where this does not


@dataclass(frozen=True, eq=False)
class ListedDirection(GradedDirection):
    """As its base, but heavy steps may be listed."""

    _sketches: dict[float, ListedSketch] = field(default_factory=dict)

    def rough(self, goal: float) -> float:
        """About where ln δ(ε) is ``goal``."""
        most = super().rough(goal)
        if not (most > 0 and self.atoms_between()):
            return most
        try:
            return self._sketch(goal).rough_epsilon(goal, most)
        except NotCertified:
            return most

    def _sketch(self, goal: float, targets: Sequence[float] = FEW_HEAVY) -> ListedSketch:
        about = self.started(goal).upper
        if targets is not FEW_HEAVY:
            return listed_sketch(self.parts, self.pictures(), about, goal, targets)
        if goal not in self._sketches:
            self._sketches.clear()
            self._sketches[goal] = listed_sketch(self.parts, self.pictures(), about, goal)
        return self._sketches[goal]

    def promising(self) -> float:
        """Less where heavy steps may be listed: what small grids predict of atoms is often wrong."""
        return super().promising() * (_DOUBTFUL if self.atoms_between() else 1.0)

    def _located(self, start: Located, goal: float) -> Located | None:
        """With listed heavy steps, or else on graded grids; None if neither can be made."""
        found = []
        for targets in (FEW_HEAVY, MANY_HEAVY) if self.atoms_between() else ():
            found.append(self._listed(start, goal, targets))
            if found[-1] is not None and 1 - found[-1].share <= self.enough:
                return found[-1]
        found.append(super()._located(start, goal))
        return max((one for one in found if one is not None), key=lambda one: one.share, default=None)

    def _planned(self, start: GridPlan, epsilon: float, closely: bool = False) -> GradedPlan | ListedPlan | None:
        """The same, for δ at this ε."""
        found = self._listed_plan(start, epsilon, closely) if self.atoms_between() else None
        if found is not None and self._gap(found, epsilon, closely) <= self.enough:
            return found
        other = super()._planned(start, epsilon, closely)
        plans = (one for one in (found, other) if one is not None)
        return min(plans, key=lambda one: self._gap(one, epsilon, closely), default=None)

    def _listed(self, start: Located, goal: float, targets: Sequence[float] = FEW_HEAVY) -> Located | None:
        """With listed heavy steps; None if that cannot be done."""
        try:
            with effort.allowed(_SHARE * effort.left()):
                sketch = self._sketch(goal, targets)
                most = sketch.highest * (1 - _JUST)
                at = min(sketch.rough_epsilon(goal, start.upper), most)
                for _ in range(_ROUNDS):
                    fit = ListedFit(self.parts, sketch, at, goal)
                    before, at = at, min(self._root(fit, fit.result()[1].upper, at, goal), most)
                    if abs(at - before) * fit.steepest < _SERVES:
                        break
            for _ in range(_LOOKS):
                fit.look(at)
                plan = self._narrowed(fit, at, closely=False)
                grid = self.grid(plan)
                at = min(self._root(fit, grid.upper, at, goal), most)
                least = self._root(fit, grid.lower, at, goal, _LOWER)
                found = Located(plan, min(least, at) if at == most else least, at, at)
                if 1 - found.share <= self.enough / 4 or not effort.affords(fit.reading):
                    break
            good = at == most or log_float(grid.upper(at)) <= goal + _WRONG
            return found if found.share <= 1 and good else None
        except (NotCertified, ArithmeticError):
            return None

    def _listed_plan(self, start: GridPlan, epsilon: float, closely: bool) -> ListedPlan | None:
        """The same, for δ at this ε."""
        try:
            with effort.allowed(_SHARE * effort.left()):
                level = log_float(self.grid(start).upper(epsilon))
                for _ in range(_ROUNDS):
                    sketch = listed_sketch(self.parts, self.pictures(), epsilon, level)
                    before, level = level, sketch.rough_level(epsilon)
                    if abs(level - before) < _NATS:
                        break
                fit = ListedFit(self.parts, sketch, epsilon, level)
                return self._narrowed(fit, epsilon, closely)
        except (NotCertified, ArithmeticError):
            return None

    def bounding(self, epsilon: float, level: Ball) -> AnyPlan:
        """Grids around listed sums, no finer than tells δ from ``level``; or else as its base, if that is closer."""
        found = None
        with suppress(NotCertified, ArithmeticError), effort.allowed(_SHARE * effort.left()):
            goal = log_float(level)
            if self.atoms_between() and goal > -math.inf:
                sketch = listed_sketch(self.parts, self.pictures(), epsilon, goal)
                fit = ListedFit(self.parts, sketch, epsilon, goal)
                for _ in range(_LOOKS):
                    plan, total = fit.result()
                    self.keep(plan, total)
                    found, (upper, lower) = plan, (total.upper(epsilon), total.lower(epsilon))
                    if upper <= level or lower > level:
                        return plan
                    apart = -math.expm1(log_float(lower) - goal) / 2
                    fit.narrow(apart, apart)
        try:
            other = super().bounding(epsilon, level)
        except NotCertified:
            if found is None:
                raise
            return found
        closer = found is not None and self.grid(found).upper(epsilon) < self.grid(other).upper(epsilon)
        return found if found is not None and closer else other

    def _narrowed(self, fit: ListedFit, at: float, closely: bool) -> ListedPlan:
        """As close as is worth while."""
        slope = 1.0 if closely else min(at * self._slope_at(fit, fit.result()[1].upper, at), _STEEPEST)
        fit.narrow(max(_CHEAPLY * self.enough * slope, _FINEST), self.enough / 2 * slope)
        plan, total = fit.result()
        self.keep(plan, total)
        return plan

    def _root(
        self, fit: ListedFit, delta: Callable[[float], Ball], at: float, goal: float, share: float = _UPPER
    ) -> float:
        """About where it is e^goal, not far away: elsewhere, these grids say little. 0 if nothing is seen there."""
        low = at * _LOWEST

        def gap(x: float) -> float:
            with effort.owing():  # what was found would be lost without it
                effort.spend(share * fit.reading, "sums of heavy losses")
            return log_float(delta(low + x)) - goal

        back = (at - x / max(fit.steepest, 1 / at) for x in _BACK)
        start = next((x for x in back if x > low and gap(x - low) > -math.inf), None)
        if start is None:
            return 0.0
        return low + falling_root(gap, start - low, self._slope_at(fit, delta, start), _HIGHEST * at)

    @staticmethod
    def _slope_at(fit: ListedFit, delta: Callable[[float], Ball], at: float) -> float:
        """By how much ln δ falls with ε, about there, where it is not 0."""
        step = min(_FURTHER * at, _FURTHER / max(fit.steepest, 1e-300))
        here, further = (log_float(delta(x)) for x in (at, at + step))
        return min(max((here - further) / step, 1e-3 / at), 1e9 / at) if here > -math.inf else 1 / at
