"""Which tilts serve the light steps around listed sums (``listed.py``): floats choose.

A grid of tilt t sees δ_n(x) with an error of about e^{K(t) − tx} times that of its floats, K being that of the light
steps. For every sum of heavy losses, of mass p at x = ε − l, the tilts at which p·e^{K(t) − tx} is small enough beside
δ are an interval, since K is convex. So few tilts serve all sums: the intervals are stabbed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
    moments_within,
    noise_of,
    window_at,
)

__all__ = ["Band", "ListedSketch"]

Places: TypeAlias = NDArray[np.int64]

_COUNTS = math.log(1e-11)  # of δ: sums that are looked at
_QUIET = math.log(1e-8)  # of δ: the noise of a grid
_BESIDE = 4  # points above a window
_WINDOWS = 8  # that are compared for a tilt
_STEEPER = 20  # places of tilts: steeper ones than are needed may leave the range of floats
_HALVINGS, _CLOSE, _NATS = 50, 1e-7, 0.3  # of a search, in ε or in ln δ
_BELOW = math.log(1e-9)  # of δ: what is below a lattice, and counts as if it were on it
_ROUNDED = 1e-12  # of the losses of a law
_ABOUT = 2.0**14  # points of a grid
_UNITS = 300, 0.004  # units of work of the tilts of a grade, and of a sum for each tilt


@dataclass(frozen=True, eq=False)
class Band:
    """The place of a tilt; which sums of heavy losses it serves, ln of the largest mass and of all, beside δ; and of
    what a sum of 1 stands for after tilting."""

    place: int
    height: float
    weight: float
    mass: float
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

    @property
    def highest(self) -> float:
        """About the largest sum of all."""
        tops = [sum(picture.copies * picture.top for picture in light) for light in self.pictures]
        return max(float(one.sums.high.max()) + top for one, top in zip(self.grades, tops, strict=True))

    @cached_property
    def _moments(self) -> list[Floats]:
        """ln of the moments of each grade's light steps."""
        return [_moments(light) if light else np.empty(0) for light in self.pictures]

    def rough_level(self, epsilon: float) -> float:
        """About ln δ(ε), or more: Chernoff's bound around each sum, which is 1 − e^x where hardly anything is lost."""
        return self._rough(epsilon)[0]

    def _rough(self, epsilon: float) -> tuple[float, float]:
        """The same, and by how much it falls with ε."""
        total, fall = 0.0, 0.0
        factors = RISING * np.log(RISING) - (1 + RISING) * np.log1p(RISING)
        for one, light, moments in zip(self.grades, self.pictures, self._moments, strict=True):
            effort.spend(_UNITS[1] * one.sums.size * RISING.size, "sums of heavy losses")
            x = epsilon - one.sums.high
            if light:
                bounds = moments[-RISING.size :] + factors - np.outer(x, RISING)
                tilts = RISING[np.argmin(bounds, axis=1)]
                calls = np.exp(np.clip(np.min(bounds, axis=1), -600.0, 0.0))
                calls[x > sum(picture.copies * picture.top for picture in light)] = 0.0
            else:
                calls, tilts = np.maximum(-np.expm1(np.minimum(x, 0.0)), 0.0), 1 / np.maximum(-x, 1 / RISING[-1])
            total += float((one.sums.p_high * calls).sum())
            fall += float((one.sums.p_high * calls * tilts).sum())
        return (math.log(total), fall / total) if total > 0 else (-math.inf, 0.0)

    def rough_epsilon(self, goal: float, most: float) -> float:
        """About where ln δ(ε) is ``goal``, below ``most``: by Newton's steps where they stay between, else halves."""
        low, high, at, beyond = 0.0, most, most, False
        for _ in range(_HALVINGS):
            level, fall = self._rough(at)
            if abs(level - goal) < _NATS:
                return at
            low, high = (at, high) if level > goal else (low, at)
            beyond = beyond if level > goal else level == -math.inf
            if high - low < _CLOSE * high:
                break
            following = at + (level - goal) / fall if fall > 0 else low
            at = following if low < following < high else (low + high) / 2
        return low if beyond and low > 0 else high  # just below the largest sum

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
        reach = max(_reach(one) for one in light) or max(-float(one.losses[0]) for one in light)
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
            weight, mass = float(weights[group].max()), _log_sum(weights[group])
            served = np.flatnonzero(counts)[group]
            bands = [Band(int(i) + RISING.size + 1, _log_sum(heights[group, i]), weight, mass, served) for i in tried]
            found.append(min(bands, key=lambda one: _width(moments, one, steep)))
        return found

    def plan(self, number: int, band: Band, length: int) -> GridPlan:
        """A grid of this length for the light steps of a grade."""
        light, tilt = self.pictures[number], float(TILTS[band.place])
        caps = [min(one.top, high_for(one, -max(band.weight, 0.0))) for one in light]
        shown = [(one, _low(one, tilt, cap), cap) for one, cap in zip(light, caps, strict=True)]
        steep = STEEP / max(max(cap, -low) for _, low, cap in shown)
        moments = [one.copies * moments_within(one, low, cap) for one, low, cap in shown]
        lowest = sum(one.copies * low for one, low, _ in shown)
        highest = sum(one.copies * cap for one, _, cap in shown)
        total = np.asarray(np.sum(moments, axis=0))
        window = window_at(total, band.place, band.height, lowest, steep, highest)
        found = laid_out(shown, moments, window, length, True, True, max(band.height, 0.0))
        least = sum(one.copies * lattice.first for one, lattice in zip(light, found.lattices, strict=True))
        if not found.streams and found.start <= least:
            return found
        # Splitting spreads the sums, too: what is not needed of the window is left on both sides.
        spare = found.start + length - math.ceil(window.top / float(found.step)) - _BESIDE
        return replace(found, start=found.start - max(spare // 2, 0))


def _moments(light: Sequence[Picture]) -> Floats:
    return np.asarray(np.sum([one.copies * one.log_moments(TILTS) for one in light], axis=0))


def _moved(one: Picture) -> bool:
    """Whether its losses are counted from the largest one, but for roundings."""
    return one.top < -_ROUNDED * float(one.losses[0])


def _reach(one: Picture) -> float:
    """How far its losses reach, but for those that a steep tilt leaves nothing of."""
    return 0.0 if _moved(one) else max(one.top, -float(one.losses[0]))


def _steep(light: Sequence[Picture]) -> float:
    """The largest tilt whose exponents are floats."""
    return STEEP / max(max(_reach(one) for one in light), STEEP / float(TILTS[-1]))


def _low(one: Picture, tilt: float, cap: float) -> float:
    """Below which a loss no longer matters; of a law that is moved, even if it were raised to it: all of the mass that
    is below it, or nothing but what comes next."""
    if not _moved(one):
        return low_for(one, tilt, cap)
    with np.errstate(divide="ignore"):
        below = np.log(np.cumsum(one.masses))
    limit = float(one.log_moments(np.array([tilt]))[0]) + _BELOW - math.log(one.copies)
    return float(np.max(np.minimum(one.floors[1:], (limit - below[:-1]) / tilt), initial=float(one.floors[0])))


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
