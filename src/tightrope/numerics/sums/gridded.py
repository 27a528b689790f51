"""Values that share no lattice, put on one: a law that is certainly smaller, one with larger integrals.

Smaller: every value moves down to a grid point; (1 − e^{x−s})₊ rises in s. Larger: every value is split onto
its two neighbours so that its mass and its mass times e^{−value} stay; (1 − e^{x−s})₊ is convex in e^{−s}, so
this can only raise the integral (second order in the step). Both survive adding independent variables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tightrope.numerics.balls import Ball, ball, sharp
from tightrope.numerics.real import Real
from tightrope.numerics.sums.lattice import LatticeGroup

__all__ = ["GridPlan", "Gridded", "grid_plan", "gridded"]

_SNAP = 1e-9  # a value this close under a grid point (in steps) counts as on it; ``slip`` pays the excess


@dataclass(frozen=True)
class GridPlan:
    """The step and, for each law, the number of the value that lies on the grid exactly."""

    step: Fraction
    anchors: tuple[int, ...]


@dataclass(frozen=True)
class Gridded:
    """Both laws on base + step·ℤ. The sum is at least (lower sum) − slip."""

    base: Ball
    step: Ball
    lower: list[LatticeGroup]
    upper: list[LatticeGroup]
    slip: Ball


def grid_plan(laws: Sequence[tuple[Sequence[float], Sequence[float], int]], reach: float, most: int) -> GridPlan:
    """Of steps from reach/most to twice that, the one on which the laws (values, masses, copies) nearly lie.

    The anchor is exact, so two values can be, and more nearly are when a step nearly divides their distances.
    """
    best: tuple[float, float, tuple[int, ...]] | None = None
    stride = max(1, most * sum(len(values) for values, _, _ in laws) // 20_000)  # a bounded search
    for number in range(most // 2, most + 1, stride):
        step, cost, anchors = reach / number, 0.0, []
        for values, masses, copies in laws:
            tries = []
            for anchor in _heaviest(masses, 3):
                off = ((v - values[anchor]) / step for v in values)
                moved = sum(m * (o + _SNAP - math.floor(o + _SNAP)) for o, m in zip(off, masses, strict=True))
                tries.append((moved, anchor))
            moved, anchor = min(tries)
            cost += copies * moved * step
            anchors.append(anchor)
        if best is None or cost < best[0]:
            best = (cost, step, tuple(anchors))
    assert best is not None
    return GridPlan(Fraction(best[1]), best[2])


def _heaviest(masses: Sequence[float], number: int) -> list[int]:
    return sorted(range(len(masses)), key=lambda i: -masses[i])[:number]


def gridded(laws: Sequence[tuple[Sequence[Real], Sequence[Real], int]], plan: GridPlan) -> Gridded:
    """The smaller and the larger law of each (values, masses, copies), at the present precision."""
    step = ball(plan.step)
    base, slip = Ball(0), Ball(0)
    lower, upper = [], []
    for (values, masses, copies), anchor in zip(laws, plan.anchors, strict=True):
        origin = values[anchor].ball()
        low: dict[int, Ball] = {}
        split: dict[int, Ball] = {}
        worst = Ball(0)
        for i, (value, mass) in enumerate(zip(values, masses, strict=True)):
            off = Ball(0) if i == anchor else (value.ball() - origin) / step
            point = math.floor(float(off.mid()) + _SNAP)
            if not off - point < 1:  # cannot be told from the next point: move there, as if slightly below it
                point += 1
            rest = off - point
            if not rest < 1:
                raise ArithmeticError("a value is not known to one grid step")
            # Slightly below its point: the larger law takes it as on it, the smaller pays the difference.
            worst = worst.max((-rest).upper() if not rest >= 0 else Ball(0))
            rest = rest.nonnegative_part()
            stays = Ball(1) if rest.is_zero() else (step * (1 - rest)).expm1() / step.expm1()
            share = mass.ball()
            low[point] = low.get(point, Ball(0)) + share
            for at, part in ((point, stays), (point + 1, 1 - stays)):
                if not part.is_zero():
                    split[at] = split.get(at, Ball(0)) + share * part.nonnegative_part()
        least = min(low)
        base += copies * (origin + step * least)
        slip += copies * worst * step
        lower.append(_group(low, least, copies))
        upper.append(_group(split, least, copies))
    return Gridded(base, step, lower, upper, slip)


def _group(masses: dict[int, Ball], least: int, copies: int) -> LatticeGroup:
    order = sorted(masses)
    return LatticeGroup(tuple(i - least for i in order), tuple(masses[i] for i in order), copies)


def nearest_float(number: Real) -> float:
    """The number as a float, for searches."""
    return float(sharp(number.ball, bits=53, limit=400).mid())
