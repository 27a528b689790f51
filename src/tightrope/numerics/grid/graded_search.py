"""Which steps are heavy (``graded.py``): floats choose.

The gap of a grade falls with the square of the number of points, so for a given sum of gaps the fewest points in all
are ∝ gap^{1/3}.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from tightrope.errors import NotCertified
from tightrope.numerics.grid.cells import CellLaw
from tightrope.numerics.grid.climb import squares
from tightrope.numerics.grid.graded import MOST_GRADES, Borders, GradedPlan, away, grades, multiplicity
from tightrope.numerics.grid.grid_plan import GridPlan
from tightrope.numerics.grid.origins import moves, shown
from tightrope.numerics.grid.pictures import Picture
from tightrope.numerics.grid.plan import grid_plan

__all__ = ["KINDS", "SMOOTH", "Kind", "Sketch", "best_sketch", "degree_for", "smooth", "within"]

_TARGETS = (1e-5, 1e-3, 3e-2, 1e-8)  # mean numbers of heavy steps: each is tried next to the best so far
_SEVERAL, _DEAR = (3e-2, 0.3, 1.0), 1.0  # likewise, one after the other, where the best so far costs more
_CLEARLY, _WORTH = 0.6, 10.0  # of the cost of others, and at most: what grades of many heavy steps may cost
_MERGING, _ADDED = 1 / 8, 1.0  # of the squares of the step, or of the ranges of split losses (``splitting.py``)
_MANY = 32  # steps of one law
_SKETCHED = 2**11  # points of a small grid
_CORE = 1e-3  # of a border: smaller losses are one cell of a picture
_NOTHING = 1e-20  # of δ: heavier losses that are not pictured
_LEFT = math.log(1e-9)  # of δ: more heavy steps than are graded
_MOST_DEGREE = 24
_DEEPEST = -650.0  # ln δ
_NEAR = 0.1  # of ε
_BITS = 8  # of borders
_CLOSE = 0.05  # of ε: how far it may be from the largest sum of losses that are moved


@dataclass(frozen=True)
class Kind:
    """How a grade is put on its grid: its lower end split or merged, its steps climbing or not."""

    split: bool
    climb: bool


_MERGED, _SPLIT, _CLIMBING = Kind(False, False), Kind(True, False), Kind(True, True)
KINDS, SMOOTH = (_SPLIT, _CLIMBING, _MERGED), (_MERGED, _CLIMBING)


@dataclass(frozen=True)
class Sketch:
    """Borders, the most heavy steps, and for every grade its laws' pictures, its kind and its gap on a small grid."""

    borders: tuple[Borders, ...]
    degree: int
    pictures: tuple[tuple[Picture, ...], ...]
    counts: tuple[int, ...]
    kinds: tuple[Kind, ...]
    gaps: tuple[float, ...]  # relative to δ
    moves: tuple[Fraction, ...] = ()
    away: float = 0.0  # what all steps are moved by

    @property
    def cost(self) -> float:
        """Points for a gap of 1, but for a factor."""
        return _cost(self.gaps)

    def small(self) -> list[int]:
        """For a first look."""
        return [_SKETCHED] * len(self.gaps)

    def plan(self, epsilon: float, level: float, lengths: Sequence[int]) -> GradedPlan:
        """The plan for δ(ε) ≈ e^level."""
        listed = enumerate(zip(self.kinds, lengths, strict=True))
        plans = [self.grade_plan(place, kind, epsilon, level, length) for place, (kind, length) in listed]
        return GradedPlan(self.borders, self.degree, tuple(plans), self.moves)

    def grade_plan(self, place: int, kind: Kind, epsilon: float, level: float, length: int) -> GridPlan:
        """That of one grade."""
        place_of = Place(epsilon - self.away, level - math.log(self.counts[place]), epsilon)
        return _grade_plan(self.pictures[place], place_of, kind, length)


def _cost(gaps: Sequence[float]) -> float:
    return math.sqrt(sum(math.cbrt(gap) for gap in gaps)) ** 3


@dataclass(frozen=True)
class Place:
    """Where a grade is looked at, ln of its δ, and the size of ε."""

    at: float
    level: float
    size: float


def _grade_plan(pictures: Sequence[Picture], place: Place, kind: Kind, length: int) -> GridPlan:
    return grid_plan(pictures, place.at, place.level, length, kind.split, kind.climb, place.size)


def best_sketch(
    parts: Sequence[tuple[CellLaw, int]], pictures: Sequence[Picture], epsilon: float, level: float, slope: float
) -> Sketch:
    """Of some borders those with the fewest points; ``slope``: by how much ln δ falls as ln ε rises."""
    if not (_DEEPEST < level <= 0 and epsilon > 0):
        raise NotCertified("graded grids of losses", "δ or ε is too small for floats")
    found: dict[float, Sketch] = {}
    for target in _tried(found, max(count for _, count in parts) >= _MANY):
        borders = tuple(_border(one, target / len(parts)) for one in pictures)
        if target and not any(borders):
            continue
        with suppress(NotCertified, ArithmeticError):
            least = min((one.cost for one in found.values()), default=math.inf)
            if target > _TARGETS[2]:  # many grades take longer than their points say
                least = min(_CLEARLY * least, _WORTH)
            found[target] = _sketch(parts, pictures, borders, epsilon, level, slope, least)
    if not found:
        raise NotCertified("graded grids of losses", "no borders serve")
    return min(found.values(), key=lambda one: one.cost)


def _tried(found: dict[float, Sketch], many: bool) -> Iterator[float]:
    """Mean numbers of heavy steps: none where steps may climb, then two, and then what is beyond the better one; more
    where all of these are dear."""
    if many:
        yield 0.0
    few, middle, most, fewest = _TARGETS
    yield few
    yield middle
    costs = [found[one].cost if one in found else math.inf for one in (few, middle)]
    yield most if costs[1] < costs[0] else fewest
    for target in _SEVERAL:
        if target not in found and min((one.cost for one in found.values()), default=math.inf) > _DEAR:
            yield target


def _border(one: Picture, target: float) -> Borders:
    """Beyond which there are so many steps in the mean; None if hardly any is."""
    if not target:
        return None
    sizes = np.abs(one.losses)
    order = np.argsort(sizes)
    beyond = one.copies * np.cumsum(one.masses[order][::-1])[::-1]
    place = int(np.searchsorted(-beyond, -target))
    if not 0 < place < sizes.size - 1:
        return None
    mantissa, exponent = math.frexp(math.sqrt(sizes[order][place] * max(sizes[order][place - 1], 1e-12)))
    high = Fraction(round(mantissa * 2**_BITS)) * Fraction(2) ** (exponent - _BITS)
    return -high, high


def _sketch(
    parts: Sequence[tuple[CellLaw, int]],
    pictures: Sequence[Picture],
    borders: tuple[Borders, ...],
    epsilon: float,
    level: float,
    slope: float,
    most: float,
) -> Sketch:
    """For these borders, unless that costs more than ``most``."""
    copies = [count for _, count in parts]
    mean = sum(_beyond(one, border) for one, border in zip(pictures, borders, strict=True))
    degree = degree_for(mean, level + _LEFT + min(math.log(slope), 0.0))
    listed = list(islice(grades(copies, borders, degree), MOST_GRADES + 1))  # of many laws they are beyond counting
    if len(listed) > MOST_GRADES:
        raise NotCertified("graded grids of losses", "there are too many grades")
    seen, counts, kinds, gaps = [], [], [], []
    known = (_MERGED if smooth(parts) else _SPLIT, _CLIMBING)
    origins = moves(pictures, borders, epsilon, 1 + _CLOSE)
    by = float(away(origins, copies))
    if by < (1 - _CLOSE) * epsilon:
        origins, by = (), 0.0
    every = shown(parts, pictures, origins)
    for grade in listed:
        seen.append(tuple(_shown(every, borders, grade, level)))
        counts.append(multiplicity(copies, grade))
        place = Place(epsilon - by, level - math.log(counts[-1]), epsilon)
        plan = _grade_plan(seen[-1], place, _CLIMBING, _SKETCHED)
        steepest = max(slope, slope * slope) / epsilon**2 if any(grade) else math.inf
        found = {kind: _predicted(seen[-1], plan, kind, place, steepest) for kind in known}
        kinds.append(min(known, key=lambda kind: found[kind]))
        gaps.append(found[kinds[-1]])
        if _cost(gaps) > most:
            raise NotCertified("graded grids of losses", "other borders need fewer points")
    return Sketch(borders, degree, tuple(seen), tuple(counts), tuple(kinds), tuple(gaps), origins, by)


def smooth(parts: Sequence[tuple[CellLaw, int]]) -> bool:
    """Whether no law has atoms but at 0, and all densities are bounded."""
    uneven = (law.scattered or law.steep or any(atom.loss.rational != 0 for atom in law.atoms()) for law, _ in parts)
    return not any(uneven)


def _beyond(one: Picture, border: Borders) -> float:
    """How many steps are heavy in the mean."""
    if border is None:
        return 0.0
    return one.copies * float(one.masses[~within(one, border)].sum())


def within(one: Picture, border: tuple[Fraction, Fraction]) -> NDArray[np.bool_]:
    """Which losses are between the borders."""
    return (one.losses > float(border[0])) & (one.losses < float(border[1]))


def degree_for(mean: float, left: float, most: int = _MOST_DEGREE) -> int:
    """The fewest heavy steps such that the chance of more is below e^left."""
    if not mean:
        return 0
    for degree in range(most):
        if (degree + 1) * math.log(mean) - math.lgamma(degree + 2) < left:
            return degree
    raise NotCertified("graded grids of losses", "too many steps are heavy")


def _shown(
    pictures: Sequence[Picture], borders: Sequence[Borders], grade: Sequence[int], level: float
) -> Iterator[Picture]:
    """The pictures of the laws of a grade, each in few cells."""
    for one, border, number in zip(pictures, borders, grade, strict=True):
        if border is None:
            yield one
            continue
        light = within(one, border)
        if one.copies > number:
            inside = one.between(*border, one.copies - number)
            core = (np.abs(inside.losses) < _CORE * float(border[1])) & (inside.losses != 0)
            yield inside.joined(core)
        if number:
            yield one.part(~light & (one.masses > math.exp(max(level, -600.0)) * _NOTHING), number)


def _predicted(pictures: Sequence[Picture], plan: GridPlan, kind: Kind, place: Place, most: float) -> float:
    """About the gap of a grade, relative to its δ: the density of its sums at ε, as if they were normal after
    tilting, times what merging and splitting do to a variance. A loss below the step adds less to it.

    The density is at most ``most``, and at least that of one step near ε and no other."""
    t, top = float(plan.tilt), plan.step
    size = variance = ranges = alone = whole = 0.0
    streams = plan.climbs([one.copies for one in pictures])
    for one, lattice, climbs in zip(pictures, plan.lattices, streams, strict=True):
        step = float(lattice.step if kind.climb else top)
        losses = np.clip(one.losses, float(lattice.first * lattice.step), float(lattice.last * lattice.step))
        with np.errstate(divide="ignore"):
            exponents = np.log(one.masses) + t * losses
        highest = float(exponents.max())
        shares = np.exp(exponents - highest)
        size += one.copies * (highest + math.log(float(shares.sum())))
        shares /= shares.sum()
        mean = float((shares * losses).sum())
        variance += one.copies * float((shares * (losses - mean) ** 2).sum())
        reach = step if kind.split else float((shares * np.minimum(step, 2 * np.abs(losses))).sum())
        ranges += one.copies * step * reach
        near, mass = np.abs(one.losses - place.at) < _NEAR * place.size, float(one.masses.sum())
        alone += one.copies * float(one.masses[near].sum()) / (mass * 2 * _NEAR * place.size)
        whole += one.copies * math.log(mass)
        if kind.climb:
            ranges += float(sum((squares(stream, lattice.step) for stream in climbs), Fraction(0)))
    log_density = size - t * place.at - place.level - math.log(2 * math.pi * (variance + float(top) ** 2)) / 2
    density = min(max(math.exp(min(log_density, 600.0)), alone * math.exp(min(whole - place.level, 600.0))), most)
    return density * ranges * (_ADDED if kind.split else _MERGING)
