"""Many points of one profile: a contour made at one place serves a whole stretch around it.

A contour (t, η, N) encloses the call at every x. Away from its saddle the terms outgrow the call by about
(x − saddle)²/2K″(t) nats, so one that is that much finer serves all x within that distance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from tightrope.curves.engines.lesser_direction import bounded_by, chernoff_bound, tilt_to_the_leak
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.contour.integral import ContourSum, Plan
from tightrope.numerics.exact import near
from tightrope.numerics.many_roots import many_roots

__all__ = ["ContourChart", "ProfileChart"]

_RELATIVE = 1e-12
_SHARES = (1.0, 0.25, 0.06)  # of the stretch that a contour can serve if nothing else limits it
_NATS = 9.0  # by how much finer a contour is than its saddle needs
_ENOUGH = 36  # bits to which a call is wanted; else a contour is made for this point alone


@dataclass(frozen=True)
class Sheet:
    """A contour, and the stretch it is meant for."""

    low: float
    high: float
    plan: Plan


class ContourChart:
    """One sum of losses, whose call is wanted at many x. Contours are kept and used again."""

    def __init__(self, total: ContourSum, relative: float = _RELATIVE) -> None:
        self.total, self._relative = total, relative
        self._leaks = not total.infinite().is_zero()
        self._enough = _ENOUGH
        self._shares: tuple[float, ...] = _SHARES
        self._sheets: tuple[Sheet, ...] = ()
        self.last = math.inf  # no contour need serve points beyond

    def call(self, x: Fraction) -> Ball:
        """A proved enclosure of the call at x; points in rising order need the fewest contours."""
        at = near(x)
        t = tilt_to_the_leak(self.total, at) if self._leaks else None
        if t is not None:
            return chernoff_bound(self.total, x, t)
        sheet = self._sheet(at)
        value = self._proved(x, sheet.plan)
        if int(value.rel_accuracy_bits()) < self._enough and sheet.low < sheet.high:
            sheet = Sheet(at, at, self.total.plan(at, self._relative))
            self._sheets = (sheet, *self._sheets)
            own = self._proved(x, sheet.plan)
            self._enough = min(self._enough, int(own.rel_accuracy_bits()))  # no contour of this sum does better
            value = own if int(own.rel_accuracy_bits()) > int(value.rel_accuracy_bits()) else value
        return value

    def _proved(self, x: Fraction, plan: Plan) -> Ball:
        with precision(plan.bits):
            return self.total.call(ball(x), plan)

    def polished(self, x: float, log_target: float) -> float:
        """A root of the call improved on the contour that serves there."""
        return self.total.polished(x, log_target, self._sheet(x).plan)

    def _sheet(self, low: float) -> Sheet:
        """The contour that serves here, or a new one for the stretch that begins here."""
        kept = next((sheet for sheet in self._sheets if sheet.low <= low <= sheet.high), None)
        if kept is not None:
            return kept
        sheet = self._stretch(low) or Sheet(low, low, self.total.plan(low, self._relative))
        self._sheets = (*self._sheets, sheet)
        return sheet

    def _stretch(self, low: float) -> Sheet | None:
        """As long as it can be; None if all are too fine, or too far out: a contour for this point alone may do."""
        reach = math.sqrt(2 * _NATS * self.total.curvature(low))
        while self._shares and low < self.last:
            half = min(self._shares[0] * reach, (self.last - low) / 2)
            with suppress(NotCertified):
                return Sheet(low, low + 2 * half, self.total.plan(low + half, self._relative, half))
            self._shares = self._shares[1:]  # what was too long once is not tried again
        return None


class ProfileChart:
    """δ of both directions at many ε."""

    def __init__(self, sums: Sequence[ContourSum]) -> None:
        self.charts = [ContourChart(total) for total in sums]

    def end_at(self, last: float) -> None:
        """No points beyond are wanted."""
        for chart in self.charts:
            chart.last = last

    def roots(self, goals: Sequence[float], last: float) -> dict[float, float]:
        """About where ln δ is each of these, between 0 and ``last``; not those that it takes elsewhere."""

        def log_delta(x: float) -> float:
            middle = self.delta(Fraction(x)).mid()
            return float(middle.log()) if middle > 0 else -math.inf

        top, low = log_delta(0.0), log_delta(last)
        return many_roots(log_delta, [goal for goal in goals if low < goal < top], (0.0, top), (last, low))

    def delta(self, x: Fraction) -> Ball:
        """A proved enclosure of δ at x."""
        value = self.charts[0].call(x)
        for chart in self.charts[1:]:
            with precision(256):
                level = float(value.lower().log()) if value.lower() > 0 else -math.inf
                t = bounded_by(chart.total, near(x), level - 1e-9)
                value = value.max(chart.call(x) if t is None else chernoff_bound(chart.total, x, t))
        return value
