"""Grids of every kind: one for all paths, one for each grade, or those around listed sums. And what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tightrope.numerics.grid.cells import CellLaw
from tightrope.numerics.grid.graded import GradedPlan, GradedSum, checked_grades, pieces
from tightrope.numerics.grid.grid_plan import GridPlan
from tightrope.numerics.grid.listed import ListedPlan, ListedSum
from tightrope.numerics.grid.total import GridSum

__all__ = ["AnyPlan", "AnySum", "grid_units", "made", "read_units", "units"]

AnyPlan: TypeAlias = GridPlan | GradedPlan | ListedPlan
AnySum: TypeAlias = GridSum | GradedSum | ListedSum
Parts: TypeAlias = Sequence[tuple[CellLaw, int]]

_SUMS, _CELLS, _START = 0.38, 0.42, 3000  # units of work for a point, a cell of a normal law, its first cells in points
_FIRST, _LAW = 1200, 600  # units of work for any grid, and for each of its laws
_RUNG, _RUNGS = 350, 0.18  # units of work for a rung, and for each of its points
_LISTED = 1e4  # units of work for lists
_READ, _READS = 250.0, (1000.0, 1.2)  # units of work for a value; of lists, for both ends of a grid, and at each place


def made(parts: Parts, plan: AnyPlan) -> AnySum:
    """The grids of a plan."""
    if isinstance(plan, GridPlan):
        return GridSum(parts, plan)
    return GradedSum(parts, plan) if isinstance(plan, GradedPlan) else ListedSum(parts, plan)


def grid_units(parts: Parts, plan: GridPlan, finer: float = 1.0) -> float:
    """About the work of a grid, or of one so many times finer: of its sums, and of the cells of its laws."""
    points = [_START + finer * (lattice.last - lattice.first + 1) for lattice in plan.lattices]
    fitting = zip(parts, points, strict=False)  # a plan that does not fit is refused by its grid
    cells = sum(law.effort * count for (law, _), count in fitting) / (2 if plan.split else 1)
    rungs = plan.points // plan.length - 1
    sums = finer * plan.length * (_SUMS + _RUNGS * rungs)
    return _FIRST + _LAW * len(plan.lattices) + _RUNG * rungs + sums + _CELLS * cells


def units(parts: Parts, plan: AnyPlan) -> float:
    """About the work of all grids of a plan."""
    if isinstance(plan, GridPlan):
        return grid_units(parts, plan)
    if isinstance(plan, ListedPlan):
        return _LISTED + sum(grid_units(parts, one) for one in plan.grids)
    listed = checked_grades(plan, [count for _, count in parts])
    laws = [pieces(parts, plan.borders, grade, plan.moves) for grade in listed]
    return sum(grid_units(some, one) for some, one in zip(laws, plan.plans, strict=True))


def read_units(grid: AnySum) -> float:
    """About the work of both ends of δ at one ε."""
    if not isinstance(grid, ListedSum):
        return _READ
    return _READ + sum(cost * number for cost, number in zip(_READS, grid.reads, strict=True))
