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

from tightrope.curves.engines.lesser_direction import bounded_beside, chernoff_bound, shared_tilt, tilt_to_the_leak
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision, upper_float
from tightrope.numerics.bound import Bound
from tightrope.numerics.contour.integral import ContourSum, Plan, Unseen
from tightrope.numerics.exact import near
from tightrope.numerics.many_roots import many_roots

__all__ = ["ContourChart", "ProfileChart"]

_RELATIVE = 1e-12
_SHARES = (1.0, 0.25, 0.06)  # of the stretch that a contour can serve if nothing else limits it
_NATS = 9.0  # by how much finer a contour is than its saddle needs
_ENOUGH = 36  # bits to which a call is wanted; else a contour is made for this point alone
_KINDS = 16  # laws, of more of which a contour may be so dear that coarse ones
_COARSE, _FAIR = 1e-8, 21  # must do, as must so many bits
_ROUGH, _ROUGH_BITS = 1e-3, 5  # of one direction that is below the other
_STEPS = 24  # in which it is found out how far they reach
_SEVERAL = 16  # contours that are afforded, or they are dear
_FURTHER = 8.0  # nats that the terms fall within the reach of a contour beyond its stretch


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
        self.many = total.kinds > _KINDS
        self._enough = _ENOUGH
        self._shares: tuple[float, ...] = _SHARES
        self._sheets: tuple[Sheet, ...] = ()
        self._told: tuple[tuple[float, float], ...] = ()  # the last two x, and ln of their calls
        self._from_zero = False
        self._rougher: ContourChart | None = None
        self.last = math.inf  # no contour need serve points beyond

    def call(self, x: Fraction) -> Ball:
        """A proved enclosure of the call at x; points in rising order need the fewest contours."""
        at = near(x)
        t = tilt_to_the_leak(self.total, at) if self._leaks else None
        if t is not None:
            return chernoff_bound(self.total, x, t)
        value = self._beyond(x, at)
        if value is None:
            value = self._on_sheet(x, at)
        if self.many and value.mid() > 0:
            with precision(64):
                self._told = (*self._told[-1:], (at, float(value.mid().log())))
        return value

    def below(self, x: Fraction, most: Ball) -> Ball:
        """The same where it only matters whether it is below that: of very many kinds a rough contour tells mostly."""
        if self.many:
            if self._rougher is None:
                self._rougher = ContourChart(self.total, _ROUGH)
                self._rougher._enough, self._rougher.last = _ROUGH_BITS, self.last
                self._rougher._from_zero = True  # it is near 0 that the directions cost about the same
            with suppress(NotCertified):
                rough = self._rougher.call(x)
                if rough <= most:
                    return rough
        return self.call(x)

    def _on_sheet(self, x: Fraction, at: float) -> Ball:
        sheet = self._sheet(at)
        value = self._proved(x, sheet.plan)
        if _bits(value) < self._enough and sheet.low < sheet.high:
            sheet = Sheet(at, at, self._plan(at))
            self._sheets = (sheet, *self._sheets)
            own = self._proved(x, sheet.plan)
            self._enough = min(self._enough, _bits(own))  # no contour of this sum does better
            value = own if _bits(own) > _bits(value) else value
        return value

    def _beyond(self, x: Fraction, at: float) -> Ball | None:
        """By the youngest contour, beyond what it was meant for, while it is sharp enough; of very many kinds, whose
        next one would be dear."""
        if not (self.many and self._sheets) or any(sheet.low <= at <= sheet.high for sheet in self._sheets):
            return None
        sheet = self._sheets[-1]
        if not sheet.high < at < sheet.high + _FURTHER / float(sheet.plan.t):
            return None
        value = self._proved(x, sheet.plan)
        return value if _bits(value) >= self._enough else None

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
        if self.many and self._relative < _COARSE:
            self._save(low)
        first = self._stretch(0.0) if self._from_zero and not self._sheets else None
        if first is None or low > first.high:
            first = self._stretch(low) or Sheet(low, low, self._plan(low))
        sheet = first
        self._sheets = (*self._sheets, sheet)
        return sheet

    def _save(self, x: float) -> None:
        """Be content with less where only a few contours are afforded."""
        try:
            dear = not effort.affords(_SEVERAL * self.total.units(self._plan(x)))
        except NotCertified:
            dear = math.isfinite(effort.left())
        if dear:
            self._relative, self._enough = _COARSE, min(self._enough, _FAIR)

    def _stretch(self, low: float) -> Sheet | None:
        """As long as it can be; None if all are too fine, or too far out: a contour for this point alone may do."""
        reach = math.sqrt(2 * _NATS * self.total.curvature(low))
        while self._shares and low < self.last:
            half = min(self._shares[0] * reach, (self.last - low) / 2)
            with suppress(NotCertified):
                return Sheet(low, low + 2 * half, self._plan(low + half, half))
            if self.many and len(self._shares) == 1:
                break
            self._shares = self._shares[1:]  # what was too long once is not tried again
        return None

    def _plan(self, x: float, half: float = 0.0) -> Plan:
        try:
            return self.total.plan(x, self._relative, half)
        except Unseen:
            if len(self._told) < 2:
                raise
        return self.total.blind_plan(x, self._extrapolated, self._relative, half)

    def _extrapolated(self, x: float) -> float:
        """About ln of the call from the last two that were proved; too little further out, where it flattens: then the
        contour is only finer than it needs to be."""
        (one, first), (two, second) = self._told
        return second + (x - two) * min((second - first) / (two - one), 0.0)


def _bits(value: Ball) -> int:
    return int(value.rel_accuracy_bits())


class ProfileChart:
    """δ of both directions at many ε. ``turned``: they are each other's reverse."""

    def __init__(self, sums: Sequence[ContourSum], turned: bool = False) -> None:
        self.charts = [ContourChart(total) for total in sums]
        self._turned = turned
        self.many = any(chart.many for chart in self.charts)

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
        for chart in self.charts[1:] if x or not self._turned else ():
            with precision(256):
                level = float(value.lower().log()) if value.lower() > 0 else -math.inf
                t = bounded_beside(chart.total, near(x), level - 1e-9)
                value = value.max(chart.below(x, value) if t is None else chernoff_bound(chart.total, x, t))
        return value

    def reached(self, last: float) -> float:
        """How far contours are afforded, in a few steps from 0 to the last."""
        far = 0.0
        with suppress(NotCertified):
            for k in range(_STEPS + 1):
                at = last * k / _STEPS
                self.delta(Fraction(at))
                far = at
        return far

    def root_bound(self, delta: Fraction) -> Bound | None:
        """Where no contour is afforded: an ε at which δ is no more than that, by Chernoff's bound at a shared tilt."""
        upper = 0.0
        try:
            if self.delta(Fraction(0)) <= ball(delta):
                return Bound(0.0, 0.0)
            for total in (chart.total for chart in self.charts):
                t = shared_tilt(total, total.last_root(math.log(delta.numerator) - math.log(delta.denominator)))
                root = total.root_upper(ball(delta), t)
                if not root.is_finite():  # the mass at ∞ is not told from δ
                    return None
                upper = max(upper, upper_float(root))
        except NotCertified:
            return None
        return Bound(0.0, upper) if math.isfinite(upper) else None

    def bound(self, x: Fraction) -> Ball | None:
        """Where no contour is afforded: Chernoff's bound at a tilt that many x share; None where that is not either."""
        try:
            with precision(128):
                first, *others = (chart.total for chart in self.charts)
                value = chernoff_bound(first, x, shared_tilt(first, near(x)))
                for total in others:
                    t = bounded_beside(total, near(x), float(value.upper().log()))
                    value = value.max(chernoff_bound(total, x, shared_tilt(total, near(x)) if t is None else t))
                return value
        except NotCertified:
            return None
