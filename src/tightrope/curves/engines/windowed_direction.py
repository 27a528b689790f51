"""One direction of few or rare sampled steps of the Gaussian mechanism, to an absolute accuracy.

For a trade-off δ is wanted everywhere, but only to a share of δ(0), or of what is left of it far out: then one plan
serves all ε up to many times the usual loss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.exact import near
from tightrope.numerics.windowed.plan import WindowPlan
from tightrope.numerics.windowed.total import WindowedSum

_FIRST, _GROWTH = 10.0, 4.0  # the first stretch ends at so many times δ(0), each later one at so many times its start
_NARROW = 1.25  # a stretch of a point for which no wide one is in reach


class WindowedDirection:
    """δ(ε) where a record is removed, or added."""

    def __init__(self, steps: WindowedSum, adding: bool) -> None:
        self._steps, self._adding = steps, adding
        self._plans: dict[int, WindowPlan | None] = {}

    @cached_property
    def _first(self) -> float:
        """Where the first stretch ends."""
        return _FIRST * math.exp(self._steps.estimate(0.0)[0])

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """δ at each ε ≥ 0; None where it was not found."""
        return [self._delta(x) for x in epsilons]

    def _delta(self, epsilon: Fraction) -> Ball | None:
        try:
            plan = self._plan(near(epsilon))
            with precision(plan.bits + 64):
                return self._steps.call(ball(epsilon), plan, self._adding)
        except NotCertified:
            return None

    def _plan(self, x: float) -> WindowPlan:
        """The plan of the stretch around x, made when it is first wanted."""
        first = self._first
        number = 0 if x <= first else 1 + math.floor(math.log(x / first) / math.log(_GROWTH))
        if number not in self._plans:
            start = 0.0 if number == 0 else first * _GROWTH ** (number - 1)
            self._plans[number] = self._wide(start, first * _GROWTH**number)
        plan = self._plans[number]
        if plan is None:
            return self._steps.even_plan(x, _NARROW * x, self._adding)
        return plan

    def _wide(self, start: float, end: float) -> WindowPlan | None:
        try:
            return self._steps.even_plan(start, end, self._adding)
        except NotCertified:
            return None
