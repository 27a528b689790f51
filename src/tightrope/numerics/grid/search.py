"""How fine a grid must be: small grids find ε, or δ, and the distance of their ends says how many points are needed.

Both ends err by about the square of the step, so four times the points close the gap sixteenfold. Floats choose; the
ends of every grid are proved.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.grid.any_grid import AnyPlan, AnySum, grid_units, made, units
from tightrope.numerics.grid.cells import CellLaw
from tightrope.numerics.grid.grid_plan import LONGEST, GridPlan
from tightrope.numerics.grid.lengths import ENOUGH, next_length, predicted
from tightrope.numerics.grid.pictures import Picture, picture
from tightrope.numerics.grid.plan import grid_plan, rough_epsilon, rough_level

SMALL, _COARSE = 2**12, 2**14
_REPLANS = 6
_SETTLED, _ASTRAY = 0.02, 3.0  # of ε; and of what it was moved by before
_EVALUATIONS, _TINY = 60, 1e-7
_LARGEST = 1e6  # ε: no loss of a grid is above 600
_KEPT = 4  # grids that are remembered: two small ones beside two that may be the answer
_SHORT, _MANY = 2**17, 24  # points of all, if more are
_HOPELESS = 10.0  # nats above Chernoff's bound, or a coarser grid's: all that is seen is rounding
_PICTURE = 700.0  # units of work for the picture of a normal law
_SPARE = 4  # small grids
_BEHIND = 6.0  # times as wide as the other of merging and splitting: then it is not tried again
_LIGHT = 1.3  # the cells of so many normal laws take half a second


@dataclass(frozen=True)
class Located:
    """A plan, and the two ε between which δ(ε) is as asked for, in floats."""

    plan: AnyPlan
    lower: float
    upper: float
    at: float  # the ε that the plan was made for

    @property
    def share(self) -> float:
        """How close the ends are: 1 if they meet."""
        return self.lower / self.upper if self.upper > 0 else 1.0


@dataclass(frozen=True)
class OnOneGrid(Located):
    """The same, by one grid for all paths."""

    plan: GridPlan


@dataclass(frozen=True, eq=False)
class GridDirection:
    """The product of laws in one direction."""

    parts: tuple[tuple[CellLaw, int], ...]
    _grids: OrderedDict[AnyPlan, AnySum] = field(default_factory=OrderedDict)
    _paid: set[AnyPlan] = field(default_factory=set)  # plans whose work has been counted
    _starts: dict[float, OnOneGrid] = field(default_factory=dict)
    enough: float = ENOUGH  # the distance of the ends of ε, relatively, at which a search ends

    def grid(self, plan: AnyPlan) -> AnySum:
        """The grid of a plan; the last few are remembered."""
        found = self._grids.pop(plan, None)  # other threads may do the same
        if found is None:
            with effort.owing() if plan in self._paid else nullcontext():  # made before and forgotten: never refused
                effort.spend(units(self.parts, plan), "a grid of losses")
            self._paid.add(plan)
            try:
                found = made(self.parts, plan)
            except ArithmeticError as wrong:
                raise NotCertified("a grid of losses", f"it left the range of floats ({wrong})") from None
        self.keep(plan, found)
        return found

    def keep(self, plan: AnyPlan, found: AnySum) -> None:
        """Remember the grid of a plan, whose work has been counted."""
        self._paid.add(plan)
        self._grids[plan] = found
        while len(self._grids) > (_KEPT if sum(one.points for one in tuple(self._grids)) > _SHORT else _MANY):
            self._grids.popitem(last=False)

    def pictures(self) -> Sequence[Picture]:
        """Each law, coarsely."""
        return self._pictures

    @cached_property
    def _pictures(self) -> Sequence[Picture]:
        try:
            effort.spend(_PICTURE * sum(1 + law.effort for law, _ in self.parts), "a grid of losses")
            return [picture(law, copies) for law, copies in self.parts]
        except ArithmeticError as wrong:
            raise NotCertified("a grid of losses", f"a law is out of reach ({wrong})") from None

    def _units(self, plan: GridPlan, finer: float = 1.0) -> float:
        """About the work of a grid, or of one so many times finer."""
        return grid_units(self.parts, plan, finer)

    def _affordable(self, plan: GridPlan, length: int, trials: int = 1) -> int:
        """At most that many points, with so many grids of which the work allowed does not end: the other direction is
        still to be bounded."""
        while length > plan.length:
            units = trials * self._units(plan, length / plan.length)
            if effort.affords(units + _SPARE * self._units(plan, SMALL / plan.length)):
                return length
            length //= 2
        return plan.length

    def longest(self, plan: GridPlan) -> int:
        """A grid of less than a second, if its laws have the same share of the points as in this plan."""
        points = [lattice.last - lattice.first + 1 for lattice in plan.lattices]
        effort = sum(law.effort * count for (law, _), count in zip(self.parts, points, strict=True)) / plan.length
        return LONGEST if effort <= _LIGHT else max(LONGEST >> math.ceil(math.log2(effort / _LIGHT)), 2**15)

    def atoms_between(self) -> bool:
        """Whether atoms may lie between the points."""
        return any(law.scattered or any(atom.loss.rational != 0 for atom in law.atoms()) for law, _ in self.parts)

    def uneven(self) -> bool:
        """Whether splitting may serve the lower end better than merging."""
        return self.atoms_between() or any(law.steep for law, _ in self.parts)

    def located(self, goal: float, longest: int | None = None, graded: bool = True) -> Located:  # noqa: ARG002
        """Where ln δ(ε) is ``goal``, as closely as is worth while; ``longest``: on a grid of at most so many points."""
        return self.refined(self.started(goal), goal, longest)

    def rough(self, goal: float) -> float:
        """About where ln δ(ε) is ``goal``, or above."""
        return self.refined(self.started(goal), goal, SMALL).upper

    def started(self, goal: float) -> OnOneGrid:
        """The same on small grids."""
        if goal not in self._starts:
            self._starts.clear()
            self._starts[goal] = self._started(goal)
        return self._starts[goal]

    def _started(self, goal: float) -> OnOneGrid:
        pictures = self.pictures()
        at = max(rough_epsilon(pictures, goal), 0.0)
        found = best = self.solved(at, goal, SMALL)
        for _ in range(_REPLANS):
            moved = abs(found.upper - found.at)
            if moved <= _SETTLED * found.at:
                return found
            if not effort.affords((_SPARE + 1) * self._units(found.plan)):
                break
            found = self.solved(found.upper, goal, SMALL)
            best = max(best, found, key=lambda one: one.share)
            if abs(found.upper - found.at) > _ASTRAY * moved:  # to and fro: floats see nothing there
                break
        if best.upper == best.plan.end and found.upper == found.plan.end:
            raise NotCertified("a grid of losses", "δ is not seen to fall so far: losses are too large for its floats")
        return best

    def refined(self, found: OnOneGrid, goal: float, most: int | None) -> OnOneGrid:
        """On longer grids, as long as they bring the ends together."""
        undecided, atoms, closest = self.uneven(), self.atoms_between(), found
        while found.upper > 0:
            longest = most or self.longest(found.plan)
            length = next_length(found.plan.length, 1 - found.share, longest, self.enough)
            length = self._affordable(found.plan, length, 1 + undecided)
            if length == found.plan.length:
                break
            split = found.plan.split
            trials = [(found.upper, split), *([(found.upper, not split)] if undecided else [])]
            try:
                finer = [self.solved(at, goal, length, how) for at, how in trials]
                if found.at != found.upper and all(one.share < found.share for one in finer):
                    finer.append(self.solved(found.at, goal, length, split))
            except NotCertified:  # what was found before is still good
                break
            if all(one.share < found.share for one in finer):
                break
            before = found
            # What splitting adds falls with the square of the step; what merging lacks beside atoms with the step.
            order = {True: 2, False: 1 if atoms else 2}
            found = min(finer, key=lambda one: (1 - one.share) * (length / longest) ** order[one.plan.split])
            closest, gaps = max(closest, *finer, key=lambda one: one.share), [1 - one.share for one in finer]
            undecided = undecided and not atoms and max(gaps) <= _BEHIND * min(gaps)
            gap = predicted((1 - before.share, 1 - found.share), (before.plan.length, length), longest)
            if most is None and atoms and gap > _ASTRAY * self.enough:
                break
        return closest

    def estimated(self, goal: float) -> float:
        """About where ln δ(ε) is ``goal``: two small grids, and what the square of the step makes of them."""
        few = self.refined(self.started(goal), goal, SMALL)
        more = self.solved(few.upper, goal, _COARSE, few.plan.split)
        wide, narrow = (float(one.plan.lattices[0].step) for one in (few, more))
        if not narrow < wide / 2:
            return more.upper
        return max(more.upper - (few.upper - more.upper) * narrow**2 / (wide**2 - narrow**2), 0.0)

    def solved(self, at: float, goal: float, length: int, split: bool = False) -> OnOneGrid:
        """The same on one grid of this length, made for the ε ``at``."""
        plan = grid_plan(self.pictures(), at, goal, length, split)
        grid, end = self.grid(plan), plan.end
        high = falling_root(lambda x: log_float(grid.upper(x)) - goal, at, float(plan.tilt), end)
        low = falling_root(lambda x: log_float(grid.lower(x)) - goal, high, float(plan.tilt), end)
        return OnOneGrid(plan, low, high, at)

    def planned(
        self,
        epsilon: float,
        fine: bool = True,
        graded: bool = True,  # noqa: ARG002
        closely: bool = False,
    ) -> AnyPlan:
        """For δ at this ε; ``closely``: the ends of δ itself are to meet, and not those of an ε with that δ."""
        return self.one_grid(epsilon, fine, closely)

    def bounding(self, epsilon: float, level: Ball) -> AnyPlan:  # noqa: ARG002 - of other directions
        """For δ at this ε, which should be proved to be at most ``level``."""
        return self.planned(epsilon)

    def _split(self, epsilon: float, level: float) -> bool:
        """Whether splitting serves better, for δ(ε) ≈ e^level: where that is open, on small grids."""
        if self.atoms_between() or not self.uneven():
            return self.atoms_between()
        made = [self.grid(grid_plan(self.pictures(), epsilon, level, SMALL, split)) for split in (False, True)]
        merged, split = (log_float(grid.upper(epsilon)) - log_float(grid.lower(epsilon)) for grid in made)
        return not merged < split

    def one_grid(self, epsilon: float, fine: bool = True, closely: bool = False) -> GridPlan:
        """One grid for δ at this ε."""
        if not epsilon <= _LARGEST:
            raise NotCertified("a grid of losses", "ε is far above what floats can turn back")
        pictures = self.pictures()
        level = rough_level(pictures, epsilon)
        split, most = self._split(epsilon, level) if fine else self.uneven(), level + _HOPELESS
        length, plan = SMALL, grid_plan(pictures, epsilon, level, SMALL, split)
        longest = self.longest(plan)
        made: list[tuple[float, float, GridPlan]] = []  # how far the ends are apart, the upper one
        for _ in range(_REPLANS):
            try:
                grid = self.grid(plan)
            except NotCertified:
                if not made:
                    raise
                break  # what was found before is still good
            upper, lower = log_float(grid.upper(epsilon)), log_float(grid.lower(epsilon))
            if upper == -math.inf or (length > SMALL and lower == -math.inf and upper > most):
                if not made or made[-1][0] == math.inf:
                    raise NotCertified("a grid of losses", "δ is too small for its floats")
                break
            made.append((upper - lower, upper, plan))
            most = min(most, upper + _HOPELESS)
            gap = (upper - lower) / (1.0 if closely else max(float(plan.tilt) * epsilon, 1.0))
            longer = self._affordable(plan, next_length(length, gap, longest, self.enough)) if fine else length
            if abs(upper - level) < 1 and longer == length:
                break
            level, length = upper, longer
            try:
                plan = grid_plan(pictures, epsilon, level, length, split)
            except NotCertified:
                break
        return min(made, key=lambda one: one[:2])[2]  # the last need not be the best


def log_float(value: Ball) -> float:
    """ln of a number as a float; −∞ for 0."""
    with precision(64):
        return float(value.log().mid()) if value > 0 else -math.inf


def falling_root(gap: Callable[[float], float], start: float, slope: float, end: float) -> float:
    """About where a falling function of x ≥ 0 is 0; 0 if it is nowhere positive."""
    low, high, at = 0.0, end, min(max(start, 0.0), end)
    steepness, last = slope, None
    for _ in range(_EVALUATIONS):
        value = gap(at)
        if value <= 0 and at <= _TINY * start:  # far below ``start``, which the plan was made for, a grid says little
            return 0.0
        if last is None and value == -math.inf and gap(_TINY * start) <= 0:  # no need to halve so far
            return 0.0
        low, high = (at, high) if value > 0 else (low, at)
        if abs(value) < 1e-13 or high - low <= 1e-14 * high:
            break
        if last is not None and math.isfinite(value) and math.isfinite(last[1]) and last[0] != at:
            secant = (last[1] - value) / (at - last[0])
            steepness = secant if secant > 0 else steepness
        following = at + value / steepness if math.isfinite(value) else math.nan
        last = (at, value)
        if following >= high == end and gap(end) > 0:  # it is beyond all that is seen
            return end
        at = following if low < following < high else (low + high) / 2
        if abs(at - last[0]) <= 1e-15 * at:
            break
    return at
