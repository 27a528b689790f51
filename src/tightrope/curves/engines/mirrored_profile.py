"""The profile of compositions with random allocation: every direction from contours of the adding one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from statistics import NormalDist

from tightrope.curves.engines.contour_points import in_floats, log_of
from tightrope.curves.engines.contour_witness import read_plan, written_plan
from tightrope.curves.profile import Profile, Witness, within_unit
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, between, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.contour.mirrored import MirroredSum
from tightrope.numerics.contour.proof import Plan, call_factor
from tightrope.numerics.exact import near

__all__ = ["MirroredProfile", "Side"]

_NATS = 24.0  # below δ: how small the errors of a contour are to be
_ENOUGH = 32  # bits of δ; else a finer contour is tried
_TRIES, _FINER = 3, 30.0
_ORDERS = (*range(1, 25), 32, 40, 50, 63)
_TOGETHER = 16  # points that share a contour
_FURTHEST = 80.0  # e^ε is a factor of the errors
_STEPS = tuple(10.0**k for k in range(-14, -3))


@dataclass(frozen=True, eq=False)
class Side:
    """One direction: the sum of its reverse losses if it is ``mirrored``, else of its own; K(s) at whole s."""

    total: MirroredSum
    mirrored: bool
    moment: Callable[[int], Ball]

    def value(self, x: Ball, plan: Plan) -> Ball:
        """δ(x), to about the accuracy of the plan."""
        return self.total.removing(x, plan) if self.mirrored else self.total.adding(x, plan)

    @cached_property
    def logs(self) -> list[tuple[int, float]]:
        """ln c(s) + K(s) at whole orders, in floats."""
        if not self.mirrored:
            return list(zip(_ORDERS, self.total.log_bounds(_ORDERS), strict=True))
        with precision(128):
            return [(s, float((self.moment(s) + call_factor(Fraction(s)).log()).mid())) for s in _ORDERS]

    def bound(self, x: Ball, order: int) -> Ball:
        """c(s)e^{K(s)−sx}."""
        if order < 1:
            raise NotCertified("a moment", f"its order must be positive, not {order}")
        return call_factor(Fraction(order)) * (self.moment(order) - order * x).exp()


@dataclass(frozen=True, eq=False)
class MirroredProfile(Profile):
    """One side for each direction; one contour serves them all."""

    sides: tuple[Side, ...]
    rare: Callable[[float], float]  # δ to about the ε of a single rare answer

    def find(self, epsilon: Fraction) -> Witness:
        """A contour that tells δ, or where there is none a moment of each side for Chernoff's bounds."""
        with in_floats():
            x = near(epsilon)
            orders = [min((k - s * x, s) for s, k in side.logs) for side in self.sides]
            log = min(max(least for least, _ in orders), 0.0)
            guess = log - min(max(0.0, log - self._normal(x) + 5), 20.0)
            witness: Witness = {"orders": [order for _, order in orders]}
            for _ in range(_TRIES):
                try:
                    plan = self._planned(x, guess - _NATS)
                    value = self._value(epsilon, plan)
                except NotCertified:
                    break
                witness = written_plan(plan)
                if int(value.rel_accuracy_bits()) >= _ENOUGH:
                    break
                with precision(64):
                    seen = value.mid() > value.rad()
                    guess = float(value.upper().log()) if seen else guess - _FINER
            return witness

    def _planned(self, reach: float, log_error: float) -> Plan:
        if not reach < _FURTHEST:
            raise NotCertified("a mirrored contour", f"ε = {reach:.3g} is too large for it")
        return self.sides[0].total.plan(reach, log_error)

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The larger of both directions."""
        if "eta" in witness:
            return within_unit(self._value(epsilon, read_plan(witness)))
        with precision(128):
            x = ball(epsilon)
            bounds = [side.bound(x, int(s)) for side, s in zip(self.sides, witness["orders"], strict=True)]
            return within_unit(between(Ball(0), reduce(Ball.max, bounds)))

    def _value(self, epsilon: Fraction, plan: Plan) -> Ball:
        with precision(plan.bits + 64):
            x = ball(epsilon)
            return reduce(Ball.max, [side.value(x, plan) for side in self.sides])

    def _normal(self, x: float) -> float:
        """About ln δ of a normal loss of the same variance."""
        spread = self.sides[0].total.spread
        tail = NormalDist().cdf(min(-x / spread + spread / 2, 0.0))
        return math.log(tail) - 1 if tail > 0 else -700.0

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Solve on a contour that serves all smaller ε, and prove both sides there."""
        with in_floats():
            plan, reach = self._contour(delta, _NATS)
            return self._solved(delta, plan, reach), written_plan(plan)

    def _contour(self, delta: Fraction, nats: float) -> tuple[Plan, float]:
        """One that serves up to an ε where δ is smaller, and this ε."""
        goal = log_of(delta)
        most = max(0.0, *(min((k - goal) / s for s, k in side.logs) for side in self.sides))
        spread, rare = self.sides[0].total.spread, self.rare(float(delta))
        usual = spread * (spread / 2 - NormalDist().inv_cdf(max(float(delta), 1e-300)))
        reach = max(1.3 * usual, rare) + 0.6 * min(usual, rare)
        while reach < most:
            plan = self._planned(reach, goal - nats)
            value = self._value(Fraction(reach), plan)
            if value <= ball(delta):
                return plan, reach
            reach *= 1.3
        return self._planned(most, goal - nats), most

    def _solved(self, delta: Fraction, plan: Plan, reach: float) -> Bound:
        root = self._root(delta, plan, reach)
        if not root > 0:
            if not self._compares(0.0, delta, plan, below=True):
                raise NotCertified("the exact profile", "ε is too close to 0 to be told from it")
            return Bound(0.0, 0.0)
        upper = next((x for step in _STEPS if self._compares(x := root * (1 + step), delta, plan, below=True)), None)
        if upper is None:
            raise NotCertified("the exact profile", f"no contour proved an ε near {root:.6g}")
        lower = (x for step in _STEPS if self._compares(x := root * (1 - step), delta, plan, below=False))
        return Bound(next(lower, 0.0), upper)

    def _compares(self, x: float, delta: Fraction, plan: Plan, below: bool) -> bool:
        value = self._value(Fraction(x), plan)
        with precision(200):
            return bool(value <= ball(delta)) if below else bool(value > ball(delta))

    def _root(self, delta: Fraction, plan: Plan, reach: float) -> float:
        """About where δ is that small: secants between two ends; 0 if it is from the start."""
        goal = log_of(delta)

        def gap(x: float) -> float:
            with precision(plan.bits + 64):
                middle = self._value(Fraction(x), plan).mid()
                return float(middle.log()) - goal if middle > 0 else -1e3

        low, high = 0.0, reach
        x, value = 0.0, gap(0.0)
        if not value > 0:
            return 0.0
        following = high
        for _ in range(60):
            before, x, value = (x, value), following, gap(following)
            low, high = (x, high) if value > 0 else (low, x)
            if abs(value) < 1e-14 or abs(x - before[0]) < 1e-15 * x:
                break
            slope = (value - before[1]) / (x - before[0])
            following = x - value / slope if slope < 0 else low
            if not low < following < high:
                following = (low + high) / 2
        return x

    def estimate(self, delta: Fraction) -> float:
        """About ε, on a coarser contour."""
        with in_floats():
            return self._root(delta, *self._contour(delta, _NATS / 2))

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """δ at many ε: the contour of the largest serves the others."""
        found: dict[Fraction, Ball | None] = dict.fromkeys(sorted(set(epsilons)))
        for group in _groups(list(found)):
            with suppress(NotCertified):
                witness = self.find(group[-1])
                found.update((x, self.prove(x, witness if "eta" in witness else self.find(x))) for x in group)
        return [found[x] for x in epsilons]

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """ε at many δ: the contour of the smallest serves the others."""
        found: dict[Fraction, Bound | None] = dict.fromkeys(sorted(set(deltas), reverse=True))
        for group in _groups(list(found)):
            with suppress(NotCertified), in_floats():
                plan, reach = self._contour(group[-1], _NATS)
                found.update((delta, self._solved(delta, plan, reach)) for delta in group)
        return [found[delta] for delta in deltas]


def _groups(points: list[Fraction]) -> list[list[Fraction]]:
    return [points[i : i + _TOGETHER] for i in range(0, len(points), _TOGETHER)]
