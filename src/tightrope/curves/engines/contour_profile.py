"""The profile of any composition whose parts have a moment generating function: one contour integral a direction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial

from tightrope.curves.engines.contour_chart import ProfileChart
from tightrope.curves.engines.contour_points import FEW, found_at, in_floats, log_of
from tightrope.curves.engines.contour_witness import proved_value, read_plan, written_plan
from tightrope.curves.engines.enclosed_root import enclosed_root
from tightrope.curves.engines.lesser_direction import (
    FAR,
    NEAR,
    bounded_by,
    crosses_before,
    estimated,
    tilt_to_the_leak,
    told_apart,
)
from tightrope.curves.engines.reverses import each_others_reverse
from tightrope.curves.engines.transformed import total_variation, transforms
from tightrope.curves.loss import Loss, merged
from tightrope.curves.profile import Profile, Witness, within_unit
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.contour.deep import deep_call, deep_root
from tightrope.numerics.contour.integral import ContourSum, Unseen
from tightrope.numerics.exact import near
from tightrope.numerics.real import Real, largest
from tightrope.numerics.transforms.families import with_families

_RELATIVE, _COARSE = 1e-12, 1e-8  # accuracy of a call that is sought, and that will do where the former takes too long
_MOST = 0.9  # of the work for that, of very many kinds: the rest is for bounds where that ends
_BEYOND = 1e-3  # what a contour for many points reaches further than the last, relatively


@dataclass(frozen=True, eq=False)
class ContourProfile(Profile):
    """One sum of losses for each direction. The direction that costs more is integrated, the other bounded below it."""

    sums: tuple[ContourSum, ...]
    distance: Real  # an upper bound on δ(0): total variations add at most
    deep: bool = True  # whether to search on proved values where floats do not see the call, which may take a second
    turned: bool = False  # whether the directions are each other's reverse
    may_be_wide = True  # where they misjudge a call that rare losses hide

    def find(self, epsilon: Fraction) -> Witness:
        """The contour of the worse direction; for the other one the t of its Chernoff bound, or a contour too. Only
        such t where next to nothing but the mass at ∞ is left."""
        with in_floats():
            return self._found(epsilon)

    def _found(self, epsilon: Fraction) -> Witness:
        x = near(epsilon)
        leaks = [tilt_to_the_leak(total, x) for total in self.sums]
        if None not in leaks:
            return {"direction": 0, "t": leaks[0]} | ({"other": {"t": leaks[1]}} if len(leaks) > 1 else {})
        estimates = [estimated(total, x) for total in self.sums]
        worse = max(range(len(self.sums)), key=lambda i: estimates[i])
        try:
            return self._witness(x, worse, estimates[worse])
        except Unseen:
            if not self.deep:
                raise
            return self._deep(x, deep_call(self.sums[0], x))

    def _witness(self, x: float, worse: int, level: float, relative: float = _RELATIVE) -> Witness:
        """``level``: about ln δ at x in the worse direction."""
        witness: Witness = {"direction": worse, **written_plan(self.sums[worse].plan(x, relative))}
        for i, total in enumerate(self.sums):
            if i == worse:
                continue
            t = bounded_by(total, x, level - 1e-6)
            if t is not None:
                witness["other"] = {"t": t}
                continue
            apart = told_apart(self.sums[worse], total, x)  # it only has to be told from the worse one
            if apart > FAR:
                witness["other"] = written_plan(total.crude_plan(x, level - apart, min(apart / 8, 0.1)))
            else:
                apart = level - estimated(total, x)
                witness["other"] = written_plan(total.plan(x, min(max(apart / 8, relative), 1e-2)))
        return witness

    def _deep(self, x: float, level: float) -> Witness:
        """Where floats do not see the first direction, whose ln δ at x is about ``level``: the others must be less."""
        witness: Witness = {"direction": 0, **written_plan(self.sums[0].crude_plan(x, level, _RELATIVE))}
        for total in self.sums[1:]:
            t = bounded_by(total, x, level - NEAR)
            if t is not None:
                witness["other"] = {"t": t}
            else:
                apart = level - estimated(total, x)
                witness["other"] = written_plan(total.plan(x, min(max(apart / 8, _RELATIVE), 1e-2)))
        return witness

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The larger of both directions."""
        if "distance" in witness:
            return Ball(0).union(self._distance())
        value = self._worse(epsilon, witness)
        for i, total in enumerate(self.sums):
            if i != int(witness["direction"]):
                other = proved_value(total, epsilon, witness["other"])
                with precision(256):
                    value = value.max(other)
        return within_unit(value)

    def _worse(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The worse direction alone, whose lower end is one of both."""
        worse = int(witness["direction"])
        if not 0 <= worse < len(self.sums):
            raise NotCertified("the worse direction", f"there is no direction {worse}")
        return proved_value(self.sums[worse], epsilon, witness)

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Solve in floats, then prove both sides of the solution on one contour."""
        if (leaking := self._leaking(delta)) is not None:
            return leaking, {}
        goal = log_of(delta)
        with in_floats():
            worse, x = self._crossing(goal)
            if not x > 0:
                return self._at_zero(delta)
            try:
                return self._solved(delta, x, worse, goal)
            except Unseen:
                if not self.deep:
                    raise
                worse, x = 0, deep_root(self.sums[0], goal)
                witness = self._deep(x, goal)
                x = self.sums[worse].polished(x, goal, read_plan(witness))
        return self._enclosed(delta, witness, x), witness

    def _solved(self, delta: Fraction, x: float, worse: int, goal: float) -> tuple[Bound, Witness]:
        """By the finest contour that there is work for."""

        def by(relative: float) -> tuple[Bound, Witness]:
            witness = self._witness(x, worse, goal, relative)
            return self._enclosed(delta, witness, x), witness

        try:
            return by(self.sums[worse].fineness(x, _RELATIVE))
        except Unseen:
            raise
        except NotCertified:
            return by(_COARSE)

    def epsilon_beside(self, delta: Fraction, witness: Witness, x: float) -> tuple[Bound, Witness]:
        """On the same contour: one is as good for any law that hardly differs."""
        if "eta" not in witness or not 0 < x < math.inf:
            raise NotCertified("an ε beside another", "that has no contour")
        return self._enclosed(delta, witness, x), witness

    def _enclosed(self, delta: Fraction, witness: Witness, x: float) -> Bound:
        """Both sides of the solution near x."""
        with in_floats():
            x = self.sums[int(witness["direction"])].polished(x, log_of(delta), read_plan(witness))
        return enclosed_root(x, delta, lambda at: self.prove(at, witness), lambda at: self._worse(at, witness))

    def _leaking(self, delta: Fraction) -> Bound | None:
        """∞ where the mass there exceeds δ."""
        leaks = [sharp(total.infinite) for total in self.sums]
        with precision(160):
            if any(leak >= ball(delta) for leak in leaks):
                return Bound(math.inf if any(leak > ball(delta) for leak in leaks) else 0.0, math.inf)
        return None

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """ε at many δ from a few contours; None where none was found."""
        order = sorted(set(deltas), reverse=True)
        known: dict[Fraction, Bound] = {}
        many = self._chart.many and len(order) > FEW
        if len(order) > FEW:
            with suppress(NotCertified), in_floats(), effort.allowed((_MOST if many else 1.0) * effort.left()):
                known = self._shared(order)
        left = [delta for delta in order if delta not in known]
        if many:
            rest = {delta: self._leaking(delta) or self._chart.root_bound(delta) for delta in left}
        else:
            rest = found_at(left, lambda delta: self._leaking(delta) or self._charted(delta))
        found = {**rest, **known}
        return [found[delta] for delta in deltas]

    def _shared(self, order: list[Fraction]) -> dict[Fraction, Bound]:
        """ε at falling δ, but for those that are 0 or ∞, by contours that reach to the last."""
        goals = {delta: log_of(delta) for delta in order if self._leaking(delta) is None}
        last = self._crossing(min(goals.values(), default=0.0))[1] * (1 + _BEYOND)
        if not 0 < last < math.inf:
            return {}
        chart = self._chart if self._chart.many else ProfileChart(self.sums, self.turned)
        chart.end_at(last)
        last = chart.reached(last) if chart.many else last
        places = chart.roots(list(goals.values()), last)
        inside = [(delta, places[goal]) for delta, goal in goals.items() if places.get(goal, 0.0) > 0]
        return {delta: enclosed_root(place, delta, chart.delta, chart.delta) for delta, place in inside}

    def _charted(self, delta: Fraction) -> Bound:
        goal = log_of(delta)
        worse, x = self._crossing(goal)
        if not x > 0:
            return self._at_zero(delta)[0]
        return enclosed_root(self._chart.charts[worse].polished(x, goal), delta, self._chart.delta, self._chart.delta)

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """δ at many ε from a few contours; None where none was found."""
        self._chart.end_at(near(max(epsilons, default=Fraction(0))))
        many = self._chart.many
        with effort.allowed((_MOST if many else 1.0) * effort.left()):
            found = found_at(sorted(set(epsilons)), lambda x: within_unit(self._chart.delta(x)), not many)
        if many:
            found |= {x: self._chart.bound(x) for x, value in found.items() if value is None}
        return [found[x] for x in epsilons]

    @cached_property
    def _chart(self) -> ProfileChart:
        return ProfileChart(self.sums, self.turned)

    def estimate(self, delta: Fraction) -> float:
        """About ε, in floats, where they see it."""
        with in_floats():
            worse, x = self._crossing(log_of(delta))
            return self.sums[worse].seen(x) if 0 < x < math.inf else max(x, 0.0)

    def estimate_beside(self, delta: Fraction, other: Profile) -> float:
        """On the lines of the other, if its first direction is the worse one."""
        if isinstance(other, ContourProfile):
            goal = log_of(delta)
            with in_floats():
                (total, theirs), *rest = zip(self.sums, other.sums, strict=False)
                x = total.root_beside(theirs, goal)
                if x is not None and x > 0 and all(one.below_beside(that, x, goal) for one, that in rest):
                    return x
        return self.estimate(delta)

    def _crossing(self, goal: float) -> tuple[int, float]:
        """The direction whose ln δ falls to ``goal`` last, and about where."""
        worse, x = 0, _root(self.sums[0], goal)
        for i, total in enumerate(self.sums[1:], 1):
            if not (x > 0 and total.infinite().is_zero() and crosses_before(total, self.sums[worse], x, goal)):
                worse, x = max((worse, x), (i, _root(total, goal)), key=lambda found: found[1])
        return worse, x

    def _distance(self) -> Ball:
        return sharp(self.distance.ball, bits=40)

    def _at_zero(self, delta: Fraction) -> tuple[Bound, Witness]:
        with precision(160):
            if self._distance() <= ball(delta):
                return Bound(0.0, 0.0), {"distance": "the parts' total variations"}
        witness = self.find(Fraction(0))
        value = self.prove(Fraction(0), witness)
        with precision(200):
            if not value <= ball(delta):
                raise NotCertified("the exact profile", "ε is too close to 0 to be told from it")
        return Bound(0.0, 0.0), witness


def _root(total: ContourSum, goal: float) -> float:
    try:
        return total.root(goal)
    except NotCertified:
        return 0.0


def contour_profile(loss: Loss, deep: bool = True) -> ContourProfile | None:
    """The contour of each direction; None when a part has no transform."""
    sums = []
    for parts in loss.directions:
        known = transforms(parts)
        if known is None:
            return None
        sums.append(ContourSum(with_families(known)))
    sizes = [Real(None, partial(total_variation, merged(parts))) for parts in loss.directions]
    return ContourProfile(tuple(sums), largest(sizes), deep, each_others_reverse(loss))
