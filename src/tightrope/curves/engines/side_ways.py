"""One direction of a loss at given places, each to an accuracy of its own: the engines as they are used for terms of a
sum.

A term of which a tiny share is wanted needs a short contour only, or none. So every way here is asked for an absolute
error, over a stretch of places that one plan serves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Protocol

from tightrope.curves.engines import (
    contour_witness,
    grid_profile,
    grid_witness,
    windowed_profile,
    windowed_witness,
)
from tightrope.curves.engines.lesser_direction import bounded_by
from tightrope.curves.engines.rarity import few, rare
from tightrope.curves.engines.transformed import contour_sum
from tightrope.curves.loss import Loss
from tightrope.curves.pair import Call
from tightrope.curves.profile import Witness
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, lower_float, precision, upper_float
from tightrope.numerics.contour.floats import searching
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.grid.any_grid import AnySum
from tightrope.numerics.grid.search import GridDirection, log_float
from tightrope.numerics.windowed.total import WindowedSum

__all__ = ["Chernoff", "SideWay", "side_ways"]

_BITS = 256
_MOST_MICROSECONDS = 2.5e5  # for a plan: shorter stretches, or other ways, are the quicker ones
_READ = 500.0  # units of work for both ends of a value on a grid
_FINEST, _COARSEST = 1e-14, 0.05
_LEAST, _STRETCH = 1e-12, 0.8  # ln of the ratio of places that one coarse grid serves


class SideWay(Protocol):
    """A way to δ(y), y ≥ 0, in one direction."""

    name: str
    effort: int  # what a plan costs, in those of a contour
    enough: float  # by how many nats the error may be larger than asked for

    def about(self, y: float) -> float:
        """ln δ(y) in floats."""

    def plan(self, first: float, last: float, log_error: float) -> Witness:
        """A plan for every y from first to last, with an error of e^log_error."""

    def value(self, y: Ball, witness: Witness) -> Ball:
        """δ(y), enclosed. The ball y is narrow."""


class Windowed:
    """By a windowed contour."""

    name = "windowed"
    effort, enough = 1, math.log(16.0)

    def __init__(self, steps: WindowedSum, adding: ContourSum | None) -> None:
        self._steps, self._adding, self._total = steps, adding is not None, adding

    def about(self, y: float) -> float:
        """On a lattice of losses; where a record is added, that may be noise, but for Chernoff's bound."""
        found = self._steps.near(y, self._adding)
        return found if self._total is None else min(found, self._total.chernoff(y)[0])

    def plan(self, first: float, last: float, log_error: float) -> Witness:
        """One for the whole stretch."""
        found = self._steps.plan_to(first, last, log_error, self._adding)
        if found.work > _MOST_MICROSECONDS:
            raise NotCertified("a sum around atoms", f"a windowed term needs {found.work / 1e6:.2g} s")
        return windowed_witness.written_plan(found)

    def value(self, y: Ball, witness: Witness) -> Ball:
        """By the plan."""
        plan = windowed_witness.read_plan(witness)
        with precision(plan.bits + 64):
            return self._steps.call(y, plan, self._adding)


class Contour:
    """By a contour integral of the whole."""

    name = "contour"
    effort, enough = 1, math.log(16.0)

    def __init__(self, total: ContourSum) -> None:
        self._total = total

    def about(self, y: float) -> float:
        """By the saddle alone; where the mass at ∞ is more than the rest, that."""
        found = self._total.rough(y)
        with precision(64):
            infinite = self._total.infinite()
            return max(found, float(infinite.log())) if infinite > 0 else found

    def plan(self, first: float, last: float, log_error: float) -> Witness:
        """To the share of δ(first) that is asked for, everywhere."""
        relative = math.exp(min(log_error - self._total.estimate(first), 0.0))
        plan = self._total.plan((first + last) / 2, min(max(relative, _FINEST), _COARSEST), (last - first) / 2)
        return contour_witness.written_plan(plan)

    def value(self, y: Ball, witness: Witness) -> Ball:
        """By the plan."""
        with precision(int(witness["bits"]) + 64):
            return self._total.call(y, contour_witness.read_plan(witness))


class Closed:
    """By a formula."""

    name = "closed"
    effort, enough = 1, math.inf

    def __init__(self, call: Call) -> None:
        self._call = call

    def about(self, y: float) -> float:
        """Its logarithm."""
        with precision(64):
            return log_float(self._call(Ball(y)))

    def plan(self, first: float, last: float, log_error: float) -> Witness:  # noqa: ARG002 - nothing to plan
        """None is needed."""
        return {}

    def value(self, y: Ball, witness: Witness) -> Ball:  # noqa: ARG002 - the formula is the proof
        """The formula."""
        with precision(_BITS):
            return self._call(y)


class Gridded:
    """By two laws on a lattice."""

    name = "grid"
    effort, enough = 8, math.log(5000.0)  # finer ones take too long

    def __init__(self, laws: GridDirection) -> None:
        self._laws = laws
        self._coarse: dict[int, AnySum] = {}

    @searching
    def about(self, y: float) -> float:
        """On a coarse grid, made for a stretch."""
        k = round(math.log(max(y, _LEAST)) / _STRETCH)
        if k not in self._coarse:
            self._coarse[k] = self._laws.grid(self._laws.planned(math.exp(k * _STRETCH), fine=False))
        high, low = (log_float(end) for end in (self._coarse[k].upper(y), self._coarse[k].lower(y)))
        return max((high + low) / 2, high - 1.0)

    @searching
    def plan(self, first: float, last: float, log_error: float) -> Witness:  # noqa: ARG002 - as fine as is worth while
        """As good as grids are, in the middle."""
        return grid_witness.written_plan(self._laws.planned((first + last) / 2, graded=False))

    def value(self, y: Ball, witness: Witness) -> Ball:
        """Between both laws; δ falls in y."""
        effort.spend(_READ, "a sum around atoms")
        grid = self._laws.grid(grid_witness.read_plan(witness))
        with precision(100):
            return grid.lower(upper_float(y)).union(grid.upper(max(lower_float(y), 0.0)))


class Chernoff:
    """An upper bound, and 0 or the mass at ∞ as the lower one."""

    def __init__(self, total: ContourSum) -> None:
        self.total = total

    def tilt(self, y: float, level: float) -> Fraction | None:
        """A t at which the bound at y is at most e^level, if one is found quickly."""
        try:
            return bounded_by(self.total, y, level)
        except NotCertified:  # the transform is out of reach
            return None

    def value(self, y: Ball, t: Fraction) -> Ball:
        """At the tilt t."""
        if t <= 0:
            raise NotCertified("a far term", f"Chernoff's bound needs t > 0, not {t}")
        with precision(128):
            return self.total.infinite().union(self.total.upper(y, t))


def side_ways(loss: Loss, number: int) -> Iterator[SideWay]:
    """The ways to one direction of a loss, the quickest first."""
    parts = loss.directions[number]
    call = parts[0][0].repeated(parts[0][1]) if len(parts) == 1 else None
    if call is not None:
        yield Closed(call)
        return
    windowed = windowed_profile.windowed_profile(loss)
    total = contour_sum(parts)
    window = None if windowed is None else Windowed(windowed.steps, total if number else None)
    grid = grid_profile.grid_profile(Loss(parts))
    gridded = [] if grid is None else [Gridded(grid.directions[0])]
    if window is not None and rare(loss):
        yield window
    if few(loss):
        yield from gridded
    if total is not None and any(pair.decays for pair, _ in parts):
        yield Contour(total)
    if window is not None and not rare(loss):
        yield window
    if not few(loss):
        yield from gridded
