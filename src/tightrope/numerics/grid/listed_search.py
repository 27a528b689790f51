"""Which tilts serve the light steps around listed sums (``listed.py``): floats choose.

A grid of tilt t sees δ_n(x) with an error of about e^{K(t) − tx} times that of its floats, K being that of the light
steps. For every sum of heavy losses, of mass p at x = ε − l, the tilts at which p·e^{K(t) − tx} is small enough beside
δ are an interval, since K is convex. So few tilts serve all sums: the intervals are stabbed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tightrope.numerics import effort
from tightrope.numerics.balls import Ball
from tightrope.numerics.grid.cells import Floats
from tightrope.numerics.grid.graded import Borders
from tightrope.numerics.grid.grid_plan import GridPlan
from tightrope.numerics.grid.listed import HeavyGrade
from tightrope.numerics.grid.pictures import RISING, Picture
from tightrope.numerics.grid.plan import (
    STEEP,
    TILTS,
    high_for,
    laid_out,
    log_norms,
    low_for,
    noise_of,
    window_at,
)

__all__ = ["Band", "ListedSketch"]

Places: TypeAlias = NDArray[np.int64]

_COUNTS = math.log(1e-11)  # of δ: sums that are looked at
_QUIET = math.log(1e-8)  # of δ: the noise of a grid
_WINDOWS = 8  # that are compared for a tilt
_STEEPER = 20  # places of tilts: steeper ones than are needed may leave the range of floats
_HALVINGS, _CLOSE = 30, 0.02
_ABOUT = 2.0**14  # points of a grid
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
    moves: tuple[Fraction, ...] = ()

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
