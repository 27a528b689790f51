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
_NARROW, _MOST_NARROW = 1.25, 3  # the same where no wide one is in reach, and how many of these are tried


class WindowedDirection:
    """δ(ε) where a record is removed, or added."""

    def __init__(self, steps: WindowedSum, adding: bool) -> None:
        self._steps, self._adding = steps, adding
        self._wide: dict[int, WindowPlan | None] = {}
        self._narrow: dict[int, WindowPlan | None] = {}

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
        """The plan of the stretch around x, made when it is first wanted; narrow where no wide one is found."""
        number = 0 if x <= self._first else 1 + math.floor(math.log(x / self._first) / math.log(_GROWTH))
        start = 0.0 if number == 0 else self._first * _GROWTH ** (number - 1)
        plan = self._kept(self._wide, number, start, self._first * _GROWTH**number)
        if plan is None and number > 0:
            step = math.floor(math.log(x / self._first) / math.log(_NARROW))
            start = self._first * _NARROW**step
            if step in self._narrow or len(self._narrow) < _MOST_NARROW:
                plan = self._kept(self._narrow, step, start, _NARROW * start)
        if plan is None:
            raise NotCertified("a windowed contour", "no stretch around this ε is in reach")
        return plan

    def _kept(self, plans: dict[int, WindowPlan | None], key: int, start: float, end: float) -> WindowPlan | None:
        if key not in plans:
            try:
                plans[key] = self._steps.even_plan(start, end, self._adding)
            except NotCertified:
                plans[key] = None
        return plans[key]
