"""Contours for sums in which rare large losses outgrow all others beyond some tilt: as flat as is worth it.

Such a sum has several saddles, and a search that follows one valley ends in the wrong one. Here some tilts are weighed:
a flat one has terms that exceed the call by more, and a short period, since the large losses hardly count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.contour.floats import Saddles, searching
from tightrope.numerics.contour.integral import UNITS, ContourSum, Plan
from tightrope.numerics.contour.lines import FloatLine, float_line
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform

__all__ = ["FlatSum"]

_TILTS = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_FLOAT_NATS, _FLOAT_LOST = 34.0, 20.0
_SHARPEST = 1e-10
_PATIENCE = 1.5e6  # microseconds that balls would take for a line of floats: it takes a tenth
_MOST_MICROSECONDS = 1.3e6  # of the proof
_LINES = 4
_GOOD = 1e-2
_CLEAR = 1e-7  # a line with less noise at the root need not be replaced
_LOOKS, _HALVINGS = 100, 46
_NEEDED = 45.0  # nats by which the integrand must fall
_MOST_NODES, _PERIOD = 1500, 30.0


class FlatSaddles(Saddles):
    """A tilt is the best of a few."""

    def tilt(self, x: float, log_call: float, nats: float, most_lost: float, dear: float = 0.5) -> Fraction:
        """The one with the least work of those that lose no more than that; or that loses the least."""
        found = []
        for t in _TILTS:
            lost, period = self.tilts(t).log_moment - t * x - log_call, self.period(t, x, log_call - nats)[0]
            found.append((max(lost - most_lost, 0.0), period * (nats + max(lost, 0.0)) ** dear, t))
        return short(min(found)[2])


class FlatSum(ContourSum):
    """The call of a sum of independent losses, some of them rare and large."""

    @searching
    def __init__(self, parts: Sequence[tuple[Transform, int]]) -> None:
        super().__init__(parts)
        self._saddles = FlatSaddles(self._parts)

    @searching
    def promising(self) -> bool:
        """Whether so flat a contour can be short: whether the transform falls soon enough."""
        import numpy as np

        y = 2 * math.pi / _PERIOD * _MOST_NODES * np.array([0.9, 1.0])
        logs = sum(copies * recall.log_decay_floats(transform, _TILTS[2], y) for transform, copies in self._parts)
        return bool(np.min(logs) < -_NEEDED)

    def plan(self, x: float, relative: float = 1e-11, spread: float = 0.0) -> Plan:
        """As ever, but no sharper than is worth the time: flat contours are long."""
        return super().plan(x, max(relative, _SHARPEST), spread)

    def _affordable(self, t: float, eta: float, count: int, bits: int) -> None:
        work = sum(transform.cost(t, eta, count, bits) for transform, _ in self._parts)
        with effort.proving():
            most = min(_MOST_MICROSECONDS, effort.left() / UNITS)
        if not work < most:
            raise NotCertified("a contour integral", f"it needs {work / 1e6:.2g} s")

    def _new_line(self, x: float, log_call: float) -> FloatLine | None:
        tilt = self._saddles.tilt(x, log_call, _FLOAT_NATS, _FLOAT_LOST)
        return float_line(self._parts, self._saddles, tilt, x, log_call, _PATIENCE)

    def _line_at(self, x: float) -> FloatLine | None:
        """The last line if it sees the call at x: flat ones see far."""
        line = self._line  # another thread may replace it
        if line is None or not line.log_call(x)[1] < _GOOD:
            line = self._line = self._new_line(x, self._saddles.chernoff(x)[0] - 2.5)
        return line

    @searching
    def root(self, log_target: float) -> float:
        """About the x with ln call(x) = log_target; ∞ if the mass at ∞ is as large as that."""
        log_target = self._for_finite(log_target)
        if log_target == -math.inf:
            return math.inf
        if log_target >= self._saddles.log_mass:
            return -math.inf
        deviation = math.sqrt(self._saddles.tilts(_TILTS[0]).curvature)
        x = deviation * (deviation / 2 + math.sqrt(max(-2 * log_target, 1.0)))  # as if there were no large losses
        for _ in range(_LINES):
            line = self._new_line(x, log_target)
            if line is None:
                raise NotCertified("a contour integral", "no line of floats is short enough")
            found = _root(line, log_target)
            if found is None:
                break
            self._line, moved, x = line, abs(found - x), found
            if moved <= line.reach or line.log_call(x)[1] < _CLEAR:
                break
        return x


def _root(line: FloatLine, log_target: float) -> float | None:
    """Where the line's call first is that small, within half of its period: further on aliases mislead, or rounding."""
    high = math.pi / line.eta
    low, step = 0.0, high / _LOOKS
    if not line.log_call(low)[0] > log_target:
        return None
    while line.log_call(low + step)[0] > log_target:
        low += step
        if low > high:
            return None
    high = low + step
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if line.log_call(middle)[0] > log_target else (low, middle)
    return (low + high) / 2
