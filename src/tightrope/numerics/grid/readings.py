"""Both ends of a grid at many ε at once, below 0 as well: what ``GridSum.upper`` and ``lower`` say, in floats.

The formulas are those of ``total.py``, for any real x: (1 − e^{x−L})₊ is what it is there, and the lowest points of the
greater law only raise it. Every term but the call is positive, so that its few roundings are paid by a factor; those of
the call are paid by its terms' sizes. The place of x on the lattice may be off by one: then |x − point| is below
``_shifted``, and so is the factor of that point.

What splitting adds needs the mean of a kernel (``splitting.py``), which is taken in steps: on either side of 0 the
kernel rises and then falls, so that between two numbers it is at most the larger value there, or its top where it
turns.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, lower_float, precision, upper_float
from tightrope.numerics.grid.cells import UNIT, Floats
from tightrope.numerics.grid.exponentials import exponentials
from tightrope.numerics.grid.growths import GROWTH_ERROR, growths
from tightrope.numerics.grid.splitting import Kernel
from tightrope.numerics.grid.total import LARGER, SUMMED, GridSum

__all__ = ["NoSteps", "Readings"]

Places: TypeAlias = NDArray[np.int64]

_MORE = 1 + 1e-9  # some thousand roundings of positive numbers, and of exponents up to 10⁴
_FAR = 590.0  # exponents of floats
_LARGEST = 5e3  # the scale whose rounding is paid
_TINY = 1e-300  # times ∞ is ∞
_STEPS = 12  # of a kernel, on either side


class NoSteps:
    """No step at all: the loss is 0."""

    def upper(self, x: Floats) -> Floats:
        """At least 1 − e^x, and 0."""
        return np.maximum(-growths(np.clip(x, -_FAR, 1.0)), 0.0) * (1 + 2 * GROWTH_ERROR)

    def lower(self, x: Floats) -> Floats:
        """At most that."""
        return np.maximum(-growths(np.clip(x, -_FAR, 1.0)), 0.0) * (1 - 2 * GROWTH_ERROR)


class Readings:
    """A grid that is read at many places."""

    def __init__(self, grid: GridSum) -> None:
        self._grid, plan = grid, grid.plan
        self._step, self._start, self._tilt = float(grid.step), plan.start, float(plan.tilt)
        self._first = self._step * self._start
        self._tails, self._size = grid.tails, grid.size
        self._summed = SUMMED + 2 * plan.length * UNIT + 64 * UNIT
        greater, lesser, tilt = grid.greater, grid.lesser, ball(plan.tilt)
        with precision(100):
            lowest = tilt * ball(grid.step * plan.start)
            self._scales = [upper_float(greater.scale), upper_float(lesser.scale)]
            self._sizes = upper_float((greater.scale - lowest).exp()), lower_float((lesser.scale - lowest).exp())
            self._offsets = upper_float(greater.offset), lower_float(lesser.offset)
            turned = (tilt * Ball(self._offsets[0])).exp()
            top = ball(grid.step) * (plan.start + plan.length)
            self._infinite = upper_float(greater.infinite)
            self._events = [(max(lower_float(p), 0.0), upper_float(q)) for p, q in lesser.above]
            self._above = upper_float(greater.outside_above) + _TINY, upper_float((greater.scale - tilt * top).exp())
            cut = tilt * ball(grid.step) * self._size
            self._cut = upper_float((-cut).exp()) if self._size < plan.length else 0.0
            self._turned = upper_float(turned)
            self._missing = upper_float(grid.noise(self._offsets[0]) + greater.strayed * turned) + _TINY
            self._below = upper_float(greater.outside_below * turned)
            wrapped = lesser.outside_above + lesser.outside_below + lesser.strayed
            self._wrapped = upper_float(grid.noise(self._offsets[1]) + wrapped) + _TINY
            self._near_above = upper_float((greater.scale - lowest - cut).exp())
            self._near_below, self._strayed = upper_float(greater.outside_below), upper_float(greater.strayed) + _TINY
            highest = None if greater.highest is None else ball(grid.step * greater.highest) + Ball(self._offsets[0])
            self._highest = math.inf if highest is None else upper_float(highest)
            self._unseen = upper_float(greater.missing.expm1())
            self._moved = (self._offsets[0] - self._offsets[1]) * _MORE
            self._kernel_unseen = upper_float(4 * greater.misplaced * (2 * greater.missing).exp()) + _TINY
        sizes = all(map(math.isfinite, (*self._sizes, *self._offsets)))
        if not (sizes and all(abs(scale) < _LARGEST for scale in self._scales)):
            raise NotCertified("a grid of losses", "it left the range of floats")
        points = np.asarray(self._first + self._step * np.arange(self._size + 1), dtype=np.float64)
        self._noise = self._led(0, points) * (grid.error * _MORE + _TINY)

    @np.errstate(over="ignore")  # ∞ bounds anything
    def upper(self, x: Floats) -> Floats:
        """At least δ(x)."""
        call = np.maximum(self._call(0, x, up=True), 0.0) * (self._sizes[0] * _MORE)
        low = x - self._offsets[0] < self._first + self._step
        lead = self._led(0, x)
        missing = (self._missing + np.where(low, self._below, 0.0)) * lead
        missing += self._above[0] * np.minimum(self._above[1], lead * self._turned)  # they are above x − offset, too
        missing = np.where(x > self._highest, 0.0, call + missing)  # no sum is there
        return np.asarray((self._infinite + missing) * _MORE)

    @np.errstate(over="ignore")
    def lower(self, x: Floats) -> Floats:
        """At most δ(x), and at least 0."""
        call = np.maximum(self._call(1, x, up=False), 0.0) * (self._sizes[1] / _MORE)
        # what is taken away is paid first, as the rest is large beside it
        rest = call - (self._wrapped * self._led(1, x) + self._added(x)) * _MORE
        grown, high = exponentials(np.clip(x, -_FAR, _FAR)) * _MORE, np.zeros(x.size)
        for under_p, under_q in self._events:
            high = np.maximum(high, under_p - under_q * grown)
        high = np.where(x < _FAR, high, 0.0)
        return np.asarray((np.maximum(rest, 0.0) + high) * (1 - 8 * UNIT))

    def _led(self, which: int, x: Floats) -> Floats:
        """At least e^{scale − tx}."""
        exponents = self._scales[which] - self._tilt * x  # if tx is so large that its rounding is not paid, it is cut
        found = exponentials(np.clip(exponents, -_FAR, _FAR)) * _MORE
        return np.where(exponents > _FAR, np.inf, found)

    def _shifted(self, x: Floats, offset: float) -> Floats:
        """How far x less the first point and an offset may be off."""
        found = (4 * UNIT) * (np.abs(x) + abs(self._first) + abs(offset) + self._step)
        if not np.all(found * 8 < self._step):
            raise NotCertified("a grid of losses", "its step is too short for floats")
        return np.asarray(found)

    def _places(self, x: Floats) -> Floats:
        """x in steps from the first point."""
        return np.asarray(x / self._step - self._start)

    def _call(self, which: int, x: Floats, up: bool) -> Floats:
        """An end of Σ R·e^{−t(x_J − first)}(1 − e^{x−x_J−offset})₊ for the numbers R that were found."""
        tilted, both, sizes, others = self._tails[which]
        shifted = self._shifted(x, self._offsets[which])
        place = np.floor(self._places(x - self._offsets[which])) + 1
        first = np.clip(place, 0, self._size).astype(np.int64)
        before = np.where(place > self._size + 1, self._size, np.maximum(first - 1, 0))
        above = np.clip(x - self._first - self._offsets[which], -_FAR, _FAR)
        less = exponentials(above)
        if self._grid.narrow:
            own = -growths(above)
            value, size = own * tilted[first] + less * both[first], np.abs(own) * sizes[first] + less * others[first]
            moved = (1 + less) * sizes[before] + less * others[before]
        else:
            value, size = tilted[first] - less * both[first], sizes[first] + less * others[first]
            moved = sizes[before] + less * others[before]
        error = size * self._summed + 4 * shifted * moved + self._cut
        return np.asarray(value + error * _MORE if up else value - error * _MORE)

    def _near(self, x: Floats, reach: float, lead: Floats) -> Floats:
        """At least the greater law's chance to be within ``reach`` of x; ``lead``: e^{scale − tx} or more."""
        tilted, _, sizes, _ = self._tails[0]
        first = np.clip(np.floor(self._places(x - reach)) - 1, 0, self._size).astype(np.int64)
        end = np.ceil(self._places(x + reach)) + 2
        last = np.maximum(np.clip(end, 0, self._size).astype(np.int64), first)
        seen = tilted[first] - tilted[last] + (2 * self._summed) * sizes[first]
        unseen = self._unseen_near(reach, lead, first, last, end, self._unseen)
        return np.asarray(seen * (self._sizes[0] * _MORE) + unseen)

    def _unseen_near(
        self, reach: float, lead: Floats, first: Places, last: Places, end: Floats, missing: float
    ) -> Floats:
        """The convolution's error, and sums outside of windows: those below it are above x − reach; ``missing``: what
        exact splits have more."""
        outside = self._strayed + missing + np.where(first == 0, self._near_below, 0.0)
        found = self._noise[first] * np.sqrt(last - first + 1) + outside * (lead * _risen(self._tilt * reach))
        return np.asarray((found + np.where(end > self._size, self._near_above, 0.0)) * _MORE)

    def _added(self, x: Floats) -> Floats:
        """At least what splitting adds to δ: ``GridSum``."""
        grid = self._grid
        if not grid.ranges:
            return np.zeros(x.size)
        moved = upper_float(ball(Fraction(self._moved) + 2 * grid.step))
        added, lead = np.full(x.size, np.inf), self._led(0, x)
        if not grid.plan.streams:
            added = self._near(x, moved + grid.splits * self._step, lead) * (grid.splits * self._step / 4)
        if grid.layers is not None:
            found = np.full(x.size, upper_float(grid.layers.rest))
            for height, reach in zip(grid.layers.heights, grid.layers.reaches, strict=True):
                found += upper_float(height) * self._near(x, upper_float(ball(reach)) + moved, lead)
            if grid.layers.kernel is not None:
                found += self._mean(x, grid.layers.kernel, moved, lead)
            added = np.minimum(added, found)
        return np.asarray(added * (_risen(float(grid.reach) + moved) * _MORE))

    def _mean(self, x: Floats, kernel: Kernel, moved: float, lead: Floats) -> Floats:
        """At least the mean of a kernel around x under the greater law."""
        reach = (upper_float(ball(kernel.reach)) + moved) * _MORE
        shifted = self._shifted(x, self._offsets[0])
        off = self._moved + float(np.max(shifted))
        top = kernel.top * LARGER + 4 * off
        nodes = np.linspace(0.0, reach, _STEPS + 1)
        ends, heights = [], []
        for side in (nodes, -nodes):
            values = kernel.heights(side, off)
            most, turn = np.maximum(values[:-1], values[1:]), int(np.argmax(values))
            most[max(turn - 1, 0) : turn + 1] = top
            ends.append(side)
            heights.append(most)
        borders = np.concatenate([ends[1][::-1], ends[0][1:]])
        values = np.concatenate([heights[1][::-1], heights[0]])
        tilted, _, sizes, _ = self._tails[0]
        # The points with x − point ≤ border are those from this one on: each is in exactly one step.
        where = [np.clip(np.ceil(self._places(x - one)), 0, self._size).astype(np.int64) for one in borders]
        seen = np.zeros(x.size)
        for height, low, high in zip(values, where[1:], where[:-1], strict=True):
            seen += height * np.maximum(tilted[low] - tilted[high], 0.0)
        first, last = where[-1], where[0]
        seen += (4 * _STEPS * top * self._summed) * sizes[first]
        end = self._places(x + reach) + 2
        # Nothing is missing here: what exact splits have elsewhere changes the kernel, as in ``GridSum``.
        rest = top * self._unseen_near(reach + self._step, lead, first, last, end, 0.0)
        rest += self._kernel_unseen * (lead * _risen(self._tilt * reach))
        return np.asarray(seen * (self._sizes[0] * _MORE) + rest)


def _risen(x: float) -> float:
    """At least e^x."""
    return math.exp(x) * _MORE if x < _FAR else math.inf
