"""Many points of a profile by windowed contours: one plan for each direction serves a whole stretch of ε."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tightrope.curves.engines.lesser_direction import bounded_by, chernoff_bound
from tightrope.curves.profile import within_unit
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.exact import near
from tightrope.numerics.windowed.plan import WindowPlan
from tightrope.numerics.windowed.total import WindowedSum

__all__ = ["WindowedStretches"]

_STRETCH = 1.6
_ENOUGH = 24  # bits to which a call is wanted
_STEPS = tuple(10.0**k for k in range(-9, -5))  # relative distances at which an end is proved
_SECANTS = 12
_SETTLED = 1e-11


class WindowedStretches:
    """δ and ε of copies of one sampled Gaussian step, asked for in the order of rising ε.

    ``beyond`` tells whether no loss is as large as an ε when a record is added.
    """

    def __init__(self, steps: WindowedSum, adding: ContourSum, beyond: Callable[[Fraction], bool]) -> None:
        self._steps, self._adding, self._beyond = steps, adding, beyond
        self._plan: WindowPlan | None = None
        self._lesser: WindowPlan | None = None
        self._last = 0.0
        self._near: tuple[float, float] | None = None  # ln of the last ε that was found, and the slope of ln δ there

    def delta(self, epsilon: Fraction) -> Ball | None:
        """δ by the plans of the stretch, or of a new one; None if neither is good enough."""
        try:
            value = self._value(epsilon)
            if value is None and epsilon > 0:
                self._begin(near(epsilon))
                value = self._value(epsilon)
        except NotCertified:
            return None
        return value

    def epsilon(self, delta: Fraction) -> Bound | None:
        """ε likewise, each end proved where it is returned."""
        goal = math.log(delta.numerator) - math.log(delta.denominator)
        try:
            found = self._enclosed(goal, delta)
            if found is None:
                x, slope = self._steps.root(goal)
                if not x > 0:
                    return None
                self._begin(x * (1 - 1e-3))  # the root is rough
                self._near = math.log(x), -slope
                found = self._enclosed(goal, delta)
        except (NotCertified, ArithmeticError):
            return None
        return found

    def _begin(self, x: float) -> None:
        """Plans from x on; none for the lesser direction where it is bounded."""
        self._plan = self._lesser = None
        self._last = _STRETCH * x
        bounded = self._beyond(Fraction(x)) or bounded_by(self._adding, x, self._steps.estimate(x)[0] - 1e-6)
        plan = self._steps.wide_plan(x, self._last)
        self._lesser = None if bounded else self._steps.wide_plan(x, self._last, adding=True)
        self._plan = plan

    def _value(self, epsilon: Fraction) -> Ball | None:
        """The larger of both directions, if it is known well enough."""
        if self._plan is None:
            return None
        with precision(self._plan.bits + 64):
            value = self._steps.call(ball(epsilon), self._plan)
        if int(value.rel_accuracy_bits()) >= _ENOUGH and not self._beyond(epsilon):
            with precision(64):
                t = bounded_by(self._adding, near(epsilon), float(value.lower().log()) - 1e-6)
            if t is None and self._lesser is None:
                return None
            other = self._added(epsilon, t)
            with precision(256):
                value = value.max(other)
        return within_unit(value) if int(value.rel_accuracy_bits()) >= _ENOUGH else None

    def _added(self, epsilon: Fraction, t: Fraction | None) -> Ball:
        if t is not None or self._lesser is None:
            assert t is not None
            return chernoff_bound(self._adding, epsilon, t)
        with precision(self._lesser.bits + 64):
            return self._steps.call(ball(epsilon), self._lesser, adding=True)

    def _enclosed(self, goal: float, delta: Fraction) -> Bound | None:
        place = self._root(goal)
        if place is None:
            return None
        upper = next((x for s in _STEPS if self._compares(x := place * (1 + s), delta, below=True)), None)
        lower = next((x for s in _STEPS if self._compares(x := place * (1 - s), delta, below=False)), None)
        return None if upper is None or lower is None else Bound(lower, upper)

    def _root(self, goal: float) -> float | None:
        """Where ln of the call is ``goal``, by secants from the last one found; None if that is not in this stretch."""
        if self._plan is None or self._near is None:
            return None
        (at, slope), last = self._near, None
        for _ in range(_SECANTS):
            if not at < math.log(self._last):
                return None
            value = self._log_call(math.exp(at)) - goal
            if last is not None and at != last[0]:
                slope = (value - last[1]) / (at - last[0])
            if not -math.inf < slope < 0:
                return None
            self._near = at, slope
            if abs(value / slope) < _SETTLED:
                return math.exp(at)
            last, at = (at, value), at - value / slope
        return None

    def _log_call(self, x: float) -> float:
        assert self._plan is not None
        with precision(self._plan.bits + 64):
            middle = self._steps.call(Ball(x), self._plan).mid()
            return float(middle.log()) if middle > 0 else -math.inf

    def _compares(self, x: float, delta: Fraction, below: bool) -> bool:
        value = self._value(Fraction(x))
        if value is None:
            return False
        with precision(200):
            return bool(value <= ball(delta)) if below else bool(value > ball(delta))
