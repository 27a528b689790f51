"""Which steps are listed as heavy, and which tilts serve the light ones around them (``listed.py``): floats choose.

A grid of tilt t sees δ_n(x) with an error of about e^{K(t) − tx} times that of its floats, K being that of the light
steps. For every sum of heavy losses, of mass p at x = ε − l, the tilts at which p·e^{K(t) − tx} is small enough beside
δ are an interval, since K is convex. So few tilts serve all sums: the intervals are stabbed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball
from tightrope.numerics.grid.cells import Atoms, CellLaw, Floats
from tightrope.numerics.grid.graded import Borders
from tightrope.numerics.grid.graded_search import degree_for, within
from tightrope.numerics.grid.grid_plan import GridPlan
from tightrope.numerics.grid.heavy_sums import MOST_COMPOSED, SMALLEST, number_composed
from tightrope.numerics.grid.listed import ALL, HeavyGrade, heavy_grades
from tightrope.numerics.grid.pictures import RISING, Picture
from tightrope.numerics.grid.plan import (
    STEEP,
    TILTS,
    high_for,
    laid_out,
    log_norms,
    low_for,
    noise_of,
    rough_epsilon,
    window_at,
)

__all__ = ["FEW_HEAVY", "MANY_HEAVY", "Band", "ListedSketch", "listed_sketch"]

Places: TypeAlias = NDArray[np.int64]

# Mean numbers of heavy steps: the first whose sums are not too many; and more of them, which takes more grids.
FEW_HEAVY = (0.1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-6, 1e-9, 1e-13, 1e-18, 1e-25)
MANY_HEAVY = (5.0, 2.0, 0.7, 0.3)
_ENOUGH = 5000  # sums
_LEAST = math.log(1e-12)  # of δ: lighter sums
_LEFT = math.log(1e-11)  # of δ: more heavy steps than are listed
_MOST_DEGREE = 100
_SEEN = math.log(1e-16)  # of δ: cells of laws
_COUNTS = math.log(1e-11)  # of δ: sums that are looked at
_QUIET = math.log(1e-8)  # of δ: the noise of a grid
_WINDOWS = 8  # that are compared for a tilt
_STEEPER = 20  # places of tilts: steeper ones than are needed may leave the range of floats
_NEARLY, _FURTHER = 0.98, 1.2  # of ε and of a loss, which are only about right
_HALVINGS, _CLOSE = 30, 0.02
_ABOUT = 2.0**14  # points of a grid
_LOWEST, _BITS = 1e-12, 20  # of borders
_UNITS = 300, 0.004  # units of work of the tilts of a grade, and of a sum for each tilt


@dataclass(frozen=True, eq=False)
class Band:
    """The place of a tilt; ln of what a sum of 1 stands for beside δ after tilting, and ln of the largest mass; and
    which sums of heavy losses it serves."""

    place: int
    height: float
    weight: float
    served: Places


@dataclass(frozen=True, eq=False)
class ListedSketch:
    """Borders and grades of a plan, the light steps' pictures, and the tilts of each grade."""

    borders: tuple[Borders, ...]
    degree: int
    least: float
    floor: float
    grades: tuple[HeavyGrade, ...]
    rest: Ball  # the mass of all other paths, or more
    pictures: tuple[tuple[Picture, ...], ...]

    @property
    def size(self) -> int:
        """How many sums there are."""
        return sum(one.sums.size for one in self.grades)

    @cached_property
    def _moments(self) -> list[Floats]:
        """ln of the moments of each grade's light steps."""
        return [_moments(light) if light else np.empty(0) for light in self.pictures]

    def rough_level(self, epsilon: float) -> float:
        """About ln δ(ε): Chernoff's bound around each sum, or 1 − e^x and that."""
        logs = [-math.inf]
        for one, light, moments in zip(self.grades, self.pictures, self._moments, strict=True):
            effort.spend(_UNITS[1] * one.sums.size * RISING.size, "sums of heavy losses")
            x = epsilon - one.sums.high
            closed = np.maximum(-np.expm1(np.minimum(x, 0.0)), 0.0)
            if light:
                falls = RISING * np.log(RISING) - (1 + RISING) * np.log1p(RISING)
                tail = np.min(moments[-RISING.size :] + falls - np.outer(np.maximum(x, 0.0), RISING), axis=1)
                closed = np.maximum(closed, np.exp(np.clip(tail, -600.0, 0.0)))
            total = float((one.sums.p_high * closed).sum())
            logs.append(math.log(total) if total > 0 else -math.inf)
        return max(logs)

    def rough_epsilon(self, goal: float, most: float) -> float:
        """About where ln δ(ε) is ``goal``, below ``most``."""
        low, high = 0.0, most
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.rough_level(middle) > goal else (low, middle)
            if high - low < _CLOSE * high:
                break
        return high

    def bands(self, number: int, epsilon: float, level: float) -> list[Band]:
        """The tilts for a grade at δ(ε) ≈ e^level."""
        sums, light = self.grades[number].sums, self.pictures[number]
        if not light:
            return []
        with np.errstate(divide="ignore"):
            weights = np.log(sums.p_high) - level
        counts = weights > _COUNTS
        weights, x = weights[counts], epsilon - sums.high[counts]
        if not x.size:
            return []
        effort.spend(_UNITS[0] + _UNITS[1] * x.size * RISING.size, "sums of heavy losses")
        moments, steep = self._moments[number], _steep(light)
        reach = max(float(np.max(np.abs([one.losses[0], one.top]))) for one in light)
        rising, total = RISING[steep > RISING], moments[-RISING.size :][steep > RISING]
        norms = np.max([one.log_norms(rising, reach / _ABOUT, -math.inf, math.inf) for one in light], axis=0)
        noise = log_norms(rising, reach / _ABOUT) + norms + noise_of(sum(one.copies for one in light))
        heights = weights[:, None] - x[:, None] * rising + total
        quiet = heights + noise <= _QUIET
        best = np.argmin(heights + noise, axis=1)
        some = quiet.any(axis=1)
        first = np.where(some, np.argmax(quiet, axis=1), best)
        last = np.where(some, rising.size - 1 - np.argmax(quiet[:, ::-1], axis=1), best)
        found = []
        for group, low, high in _stabbed(first, last):
            tried = np.unique(np.linspace(low, min(high, low + _STEEPER), _WINDOWS).astype(np.int64))
            weight = float(weights[group].max())
            served = np.flatnonzero(counts)[group]
            bands = [Band(int(i) + RISING.size + 1, _log_sum(heights[group, i]), weight, served) for i in tried]
            found.append(min(bands, key=lambda one: _width(moments, one, steep)))
        return found

    def plan(self, number: int, band: Band, length: int) -> GridPlan:
        """A grid of this length for the light steps of a grade."""
        light, steep = self.pictures[number], _steep(self.pictures[number])
        tilt = float(TILTS[band.place])
        caps = [min(one.top, high_for(one, -max(band.weight, 0.0))) for one in light]
        shown = [(one, low_for(one, tilt, cap), cap) for one, cap in zip(light, caps, strict=True)]
        moments = [one.copies * one.log_moments(TILTS, low, cap) for one, low, cap in shown]
        lowest = sum(one.copies * low for one, low, _ in shown)
        highest = sum(one.copies * cap for one, _, cap in shown)
        total = np.asarray(np.sum(moments, axis=0))
        window = window_at(total, band.place, band.height, lowest, steep, highest)
        return laid_out(shown, moments, window, length, True, True, max(band.height, 0.0), steep)


def _moments(light: Sequence[Picture]) -> Floats:
    return np.asarray(np.sum([one.copies * one.log_moments(TILTS) for one in light], axis=0))


def _steep(light: Sequence[Picture]) -> float:
    """The largest tilt whose exponents are floats."""
    return STEEP / max(max(one.top, -float(one.losses[0])) for one in light)


def _log_sum(logs: Floats) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def _width(moments: Floats, band: Band, steep: float) -> float:
    window = window_at(moments, band.place, band.height, -math.inf, steep)
    return window.top - window.bottom


def _stabbed(first: Places, last: Places) -> Iterator[tuple[Places, int, int]]:
    """Groups of intervals with a common part, as few as can be."""
    left = np.argsort(last, kind="stable")
    while left.size:
        end = last[left[0]]
        inside = first[left] <= end
        group = left[inside]
        yield group, int(first[group].max()), int(end)
        left = left[~inside]


def listed_sketch(
    parts: Sequence[tuple[CellLaw, int]],
    pictures: Sequence[Picture],
    epsilon: float,
    level: float,
    targets: Sequence[float] = FEW_HEAVY,
) -> ListedSketch:
    """The borders beyond which as many steps are heavy as can be listed."""
    fewest: ListedSketch | None = None
    finite = [_finite(law, copies) for law, copies in parts]
    for whole in (finite, [False] * len(parts)) if any(finite) else (finite,):
        for target in targets:
            with suppress(NotCertified, ArithmeticError):
                found = _sketch(parts, pictures, target, epsilon, level, whole)
                if found.size <= _ENOUGH:
                    return found
                fewest = found
            if all(whole):  # others would be the same
                break
    if fewest is None:
        raise NotCertified("sums of heavy losses", "no borders serve")
    return fewest


def _finite(law: CellLaw, copies: int) -> bool:
    """Whether all sums of a law can be listed."""
    few = number_composed(len(law.listed), copies) if isinstance(law, Atoms) else 0
    return 0 < few <= MOST_COMPOSED


def _sketch(
    parts: Sequence[tuple[CellLaw, int]],
    pictures: Sequence[Picture],
    target: float,
    epsilon: float,
    level: float,
    whole: Sequence[bool],
) -> ListedSketch:
    least = math.exp(level + _LEAST)
    if least < SMALLEST:
        raise NotCertified("sums of heavy losses", "masses are below what floats hold")
    known: list[Borders] = []
    for (law, copies), one, every in zip(parts, pictures, whole, strict=True):
        if every:
            known.append(ALL)
            continue
        at = _border(one, target / len(parts), least / copies)
        may = at is not None and law.parted(float(at[0]), float(at[1]), least / copies) is not None
        known.append(at if may else None)
    if not any(known):
        raise NotCertified("sums of heavy losses", "no law can be listed")
    mean = sum(
        one.copies * float(one.masses[~within(one, at)].sum())
        for one, at in zip(pictures, known, strict=True)
        if at not in (None, ALL)
    )
    degree = degree_for(mean, level + _LEFT, _MOST_DEGREE)
    floor = _floor(pictures, whole, epsilon, level)
    grades, rest = heavy_grades(parts, known, degree, least, floor)
    seen = math.exp(level + _SEEN)
    light = [tuple(_light(pictures, known, one.grade, seen)) if one.light else () for one in grades]
    return ListedSketch(tuple(known), degree, least, floor, tuple(grades), rest, tuple(light))


def _floor(pictures: Sequence[Picture], whole: Sequence[bool], epsilon: float, level: float) -> float:
    """Below which the sums of laws that are all listed hardly matter, as the other laws' do not reach ε from there."""
    others = [one for one, every in zip(pictures, whole, strict=True) if not every]
    if len(others) == len(pictures) or not others:
        return -math.inf
    return _NEARLY * epsilon - _FURTHER * rough_epsilon(others, level + _LEFT)


def _border(one: Picture, target: float, least: float) -> Borders:
    """Midway between two losses of some mass, beyond which are so many steps in the mean; None if hardly any is."""
    some = one.masses > least
    sizes = np.abs(one.losses[some])
    order = np.argsort(sizes)
    beyond = one.copies * np.cumsum(one.masses[some][order][::-1])[::-1]
    place = int(np.searchsorted(-beyond, -target))
    if not 0 < place < sizes.size:
        return None
    mantissa, exponent = math.frexp(math.sqrt(sizes[order][place] * max(sizes[order][place - 1], _LOWEST)))
    high = Fraction(round(mantissa * 2**_BITS)) * Fraction(2) ** (exponent - _BITS)
    return -high, high


def _light(
    pictures: Sequence[Picture], borders: Sequence[Borders], grade: Sequence[int], seen: float
) -> Iterator[Picture]:
    """The pictures of the light steps; lighter cells than ``seen`` are not looked at."""
    for one, at, number in zip(pictures, borders, grade, strict=True):
        if at is None:
            some = one.masses * one.copies > seen
            yield Picture(one.losses[some], one.masses[some], one.copies, one.atoms)
        elif at != ALL and one.copies > number:
            some = within(one, at)
            if np.any(one.losses[some]):  # else these steps only have a mass
                yield Picture(one.losses[some], one.masses[some], one.copies - number, (), float(at[1]))
