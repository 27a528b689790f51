"""One of the two laws of every part of a product after tilting: numbers, their size, and bounds of what is not seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.grid.cells import UNIT, Floats
from tightrope.numerics.grid.climb import growths, strayed
from tightrope.numerics.grid.exponentials import EXP_ERROR, exponentials
from tightrope.numerics.grid.grid_plan import GridPlan
from tightrope.numerics.grid.lattice_laws import LatticeLaw

__all__ = ["Side", "side"]

_TILTED = EXP_ERROR + 8 * UNIT  # of a mass times e^{tx}, with tx exact
_LEAST = 1e-280  # of a law after tilting: beside it, what falls below the normal floats is nothing
_TINY = 1e-300  # more than all of a law that falls below the normal floats
_BLOCK = 512

_Beyond: TypeAlias = tuple[float, Ball, Ball]


@dataclass(frozen=True)
class Side:
    """Numbers on the circle for each law, ln S of all steps, what is outside the windows."""

    numbers: list[Floats]
    scale: Ball  # Σ k·ln S
    outside_above: Ball
    outside_below: Ball
    strayed: Ball  # on the way up
    offset: Ball
    infinite: Ball
    above: list[tuple[Ball, Ball]]  # P and Q of events above the points (``_events``)
    missing: Ball  # ln of 1 and what exact splits have more, after tilting: Σ k·ln(1 + η)
    misplaced: Ball  # the same, each law's times the step of its lattice, by which it is elsewhere
    highest: int | None  # no sum on points is further up; None where splitting moves sums, too


class _Step:
    """One law after tilting: places, numbers that add up to at most 1, S, and bounds of moments."""

    def __init__(self, law: LatticeLaw, step: Fraction, tilt: Fraction) -> None:
        self.law, self.points = law, np.asarray(law.places * float(step), dtype=np.float64)
        self.size = self.points.size
        self.heights = law.masses * exponentials(self.points * float(tilt))
        self.total = float(self.heights.sum()) * (1 + (self.size + 16) * UNIT + _TILTED)
        if not self.total > _LEAST:
            raise NotCertified("a grid of losses", "nothing of a law is on it")
        self._tilt = tilt
        self._moments: dict[Fraction, Ball] = {}

    def moment(self, tilt: Fraction) -> Ball:
        """At least ln E[e^{aL}], relative to that at the tilt; rungs share theirs."""
        if tilt not in self._moments:
            self._moments[tilt] = self._moment(tilt)
        return self._moments[tilt]

    def _moment(self, tilt: Fraction) -> Ball:
        turned = exponentials(np.asarray(self.points * float(tilt)))
        # 1200u: tilts and exponents up to 600 are rounded.
        bound = float((self.law.masses * turned).sum()) * (1 + (self.size + 1300) * UNIT + _TILTED)
        return ((Ball(bound) + _TINY) / Ball(self.total)).log()

    def missing(self) -> Ball:
        """ln of 1 and what the exact split has more, after tilting."""
        if self.law.missing is None:
            return Ball(0)
        more = float((self.law.missing * exponentials(self.points * float(self._tilt))).sum())
        more = more * (1 + (self.size + 20) * UNIT + _TILTED) + _TINY
        return (Ball(more) / Ball(self.total)).log1p()

    def under_q(self) -> Ball:
        """At least Q's mass on the points; 32u: where P is rounded down, Q is with it, but for that."""
        held = _total(self.law.masses * exponentials(-self.points)) * (1 + _rounded(self.size) + _TILTED + 32 * UNIT)
        return (Ball(held) + _TINY) * (-Ball(self.law.offset)).exp()


def side(laws: Sequence[LatticeLaw], copies: Sequence[int], plan: GridPlan, up: bool, whole: bool) -> Side:
    """Tilted, rounded up or down, with ln S and the bounds of what is outside the windows."""
    sign, numbers = 1 if up else -1, list[Floats]()
    with precision(100):
        scale = offset = finite = extra = finite_q = missing = misplaced = Ball(0)
        moments, away, beyond = [Ball(0), Ball(0)], Ball(0), list[_Beyond]()
        lowest = highest = 0
        for law, count, lattice, climbs in zip(laws, copies, plan.lattices, plan.climbs(copies), strict=True):
            one = _Step(law, lattice.step, plan.tilt)
            tilted = one.heights / one.total * (1 + sign * (_TILTED + 4 * UNIT))
            circle = np.bincount(law.places % plan.length, tilted, plan.length)
            numbers.append(np.asarray(circle, dtype=np.float64))
            scale += count * Ball(one.total).log()
            lowest, highest = lowest + count * int(law.places.min()), highest + count * int(law.places.max())
            for stream in climbs:
                scale += growths(stream, lattice.step, plan.tilt)
                away += strayed(stream, lattice.step, plan.tilt, plan.length, one.moment)
            for i, tilt in enumerate((plan.above, plan.below)):
                split = sum((growths(stream, lattice.step, tilt) for stream in climbs), Ball(0))
                moments[i] += count * one.moment(tilt) + split
            more = count * one.missing()
            missing, misplaced = missing + more, misplaced + more * ball(lattice.step)
            offset += count * Ball(law.offset)
            mass = Ball(_total(law.masses) * (1 + sign * _rounded(one.size)))
            finite += count * mass.log()
            extra += count * (Ball(law.infinite) / mass).log1p()
            if not up:
                under = Ball(1) if whole else one.under_q()
                finite_q += count * under.log()
                beyond.append(_beyond(law, count, None if whole else (mass, under)))
        outside = [
            (moments[0] - ball((plan.above - plan.tilt) * plan.step * (plan.start + plan.length))).exp().min(Ball(1)),
            (moments[1] + ball((plan.tilt - plan.below) * plan.step * plan.start)).exp().min(Ball(1)),
        ]
        top = None if plan.streams else highest
        if top is not None:
            outside[0] = Ball(0) if highest < plan.start + plan.length else outside[0]
            outside[1] = Ball(0) if lowest >= plan.start else outside[1]
        infinite = finite.exp() * extra.expm1()  # some step above the points: Π(m + infinite)^k − Πm^k
        above = _events(beyond, None if whole else (finite, finite_q))
        return Side(numbers, scale, outside[0], outside[1], away, offset, infinite, above, missing, misplaced, top)


def _beyond(law: LatticeLaw, count: int, on_points: tuple[Ball, Ball] | None) -> _Beyond:
    """About P/Q above the points, and ln of what a step that is not there leaves, or of what one adds to P and Q on
    points."""
    ratio = law.infinite / law.under_q if law.under_q else math.inf
    masses = Ball(law.infinite), Ball(law.under_q)
    if on_points is None:
        under_p, under_q = (count * (-mass.min(Ball(1))).log1p() for mass in masses)
    else:
        under_p, under_q = (count * (mass / on).log1p() for mass, on in zip(masses, on_points, strict=True))
    return ratio, under_p, under_q


def _events(beyond: Sequence[_Beyond], on_points: tuple[Ball, Ball] | None) -> list[tuple[Ball, Ball]]:
    """At least P, and at most Q, of some events, each a test of its own: a step of the law with the largest losses
    above its points is there, one of this law or of the next, and so on. The last law may end far below ε, where e^ε·Q
    is huge. Of parts of laws an event only counts where all other steps are on points, whose masses have these ln."""
    found, logs = [], [Ball(0), Ball(0)]
    for _, *more in sorted(beyond, key=lambda one: one[0], reverse=True):
        logs = [log + by for log, by in zip(logs, more, strict=True)]
        under_p, under_q = (-log.expm1() for log in logs)
        if on_points is not None:
            under_p, under_q = -on_points[0].exp() * under_p, -on_points[1].exp() * under_q
        found.append((under_p, under_q if under_q.is_finite() else Ball(1)))  # else all of a law is above its points
    return found


def _total(numbers: Floats) -> float:
    """The sum of numbers that are not negative, off by at most ``_rounded`` of itself: blocks have fewer roundings."""
    return float(np.add.reduceat(numbers, np.arange(0, numbers.size, _BLOCK)).sum())


def _rounded(size: int) -> float:
    return (_BLOCK + size // _BLOCK + 8) * UNIT
