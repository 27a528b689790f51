"""The profile of few or rare sampled steps of the Gaussian mechanism, by a contour integral of what matters of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from fractions import Fraction

from tightrope.curves.engines.contour_profile import transforms
from tightrope.curves.engines.lesser_direction import bounded_by, chernoff_bound
from tightrope.curves.engines.windowed_direction import WindowedDirection
from tightrope.curves.loss import Loss, merged
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.profile import Profile, Witness, within_unit
from tightrope.curves.sampled.poisson import PoissonAdd, PoissonRemove
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.exact import near
from tightrope.numerics.real import Real
from tightrope.numerics.windowed.bounds import Split
from tightrope.numerics.windowed.plan import WindowPlan
from tightrope.numerics.windowed.total import WindowedSum

_STEPS = tuple(10.0**k for k in range(-13, -3))
_SECANTS = 4
_ATTEMPTS, _CLOSE = 5, 2e-3
_STRETCH = 1.6
_ENOUGH = 24  # bits to which a call is wanted
_RARE = 3.0  # below this, a contour integral of the whole loss would be slow
_SPLIT = [f.name for f in fields(Split)]
_PLAN = [f.name for f in fields(WindowPlan) if f.name not in ("split", "work")]


@dataclass(frozen=True, eq=False)
class WindowedProfile(Profile):
    """Removing a record costs more and is integrated; adding one is bounded below it."""

    steps: WindowedSum
    adding: ContourSum
    largest: Real  # the largest loss when adding
    distance: Real  # an upper bound on δ(0): total variations add at most

    def find(self, epsilon: Fraction) -> Witness:
        """The plan of the removing direction, and how the other is bounded."""
        x = near(epsilon)
        if x < 0:
            raise NotCertified("a windowed contour", "ε is negative")
        level, slope = self.steps.estimate(x)
        return self._witness(x, level, slope)

    def _witness(self, x: float, level: float, slope: float) -> Witness:
        witness = _written(self.steps.plan(x, level, slope))
        if x == 0:
            return {**witness, "other": {}}  # the total variation has no direction
        if self._beyond(Fraction(x)):
            return {**witness, "other": {}}
        t = bounded_by(self.adding, x, level - 1e-6)
        if t is not None:
            return {**witness, "other": {"t": t}}
        return {**witness, "other": _written(self.steps.rough_plan(x, level, adding=True))}

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The larger of both directions."""
        if "distance" in witness:
            return Ball(0).union(sharp(self.distance.ball, bits=40))
        plan = _plan(witness)
        with precision(plan.bits + 64):
            value = self.steps.call(ball(epsilon), plan)
        if epsilon == 0 or self._beyond(epsilon):
            return within_unit(value)
        other = witness["other"]
        with precision(256):
            return within_unit(value.max(self._other(epsilon, other)))

    def _beyond(self, epsilon: Fraction) -> bool:
        """Whether no loss is as large as ε when a record is added."""
        with precision(80):
            return bool(ball(epsilon) >= self.largest.ball())

    def _other(self, epsilon: Fraction, witness: Witness) -> Ball:
        if "eta" not in witness:
            return chernoff_bound(self.adding, epsilon, Fraction(witness["t"]))
        plan = _plan(witness)
        with precision(plan.bits + 64):
            return self.steps.call(ball(epsilon), plan, adding=True)

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Solve in floats, then prove both sides of the solution by one plan."""
        with precision(160):
            if sharp(self.distance.ball, bits=40) <= ball(delta):
                return Bound(0.0, 0.0), {"distance": "the parts' total variations"}
        goal = math.log(delta.numerator) - math.log(delta.denominator)
        x, slope = self.steps.root(goal)
        if not x > 0:
            return self._at_zero(delta, goal)
        for _ in range(_ATTEMPTS):  # far out, the first x is rough
            witness = self._witness(x, goal, slope)
            start, x = x, self._polished(x, goal, _plan(witness))
            if abs(x / start - 1) < _CLOSE:
                break
        upper = next((e for e in _around(x, 1) if self._compares(e, witness, delta, below=True)), None)
        lower = next((e for e in _around(x, -1) if self._compares(e, witness, delta, below=False)), None)
        if upper is None or lower is None:
            raise NotCertified("the exact profile", f"no windowed contour proved an ε near {x:.6g}")
        return Bound(lower, upper), witness

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """At many ε; a plan for each direction serves a whole stretch."""
        found: dict[Fraction, Ball | None] = dict.fromkeys(sorted(set(epsilons)))
        plans: tuple[WindowPlan, WindowPlan | None] | None = None
        for x in found:
            value = None if plans is None else self._nearby(x, *plans)
            if value is None and x > 0:
                with suppress(NotCertified):
                    plans = self._stretch(near(x))
                    value = self._nearby(x, *plans)
            found[x] = self._delta(x) if value is None else value
        return [found[x] for x in epsilons]

    def _stretch(self, x: float) -> tuple[WindowPlan, WindowPlan | None]:
        """Plans from x on; none for the lesser direction where it is bounded."""
        last = _STRETCH * x
        if self._beyond(Fraction(x)) or bounded_by(self.adding, x, self.steps.estimate(x)[0] - 1e-6) is not None:
            return self.steps.wide_plan(x, last), None
        return self.steps.wide_plan(x, last), self.steps.wide_plan(x, last, adding=True)

    def _nearby(self, epsilon: Fraction, plan: WindowPlan, lesser: WindowPlan | None) -> Ball | None:
        """δ by plans that were made for another ε, if that is good enough."""
        try:
            with precision(plan.bits + 64):
                value = self.steps.call(ball(epsilon), plan)
            if int(value.rel_accuracy_bits()) >= _ENOUGH and not self._beyond(epsilon):
                with precision(64):
                    t = bounded_by(self.adding, near(epsilon), float(value.lower().log()) - 1e-6)
                if t is None and lesser is None:
                    return None
                other = _written(lesser) if t is None and lesser is not None else {"t": t}
                with precision(256):
                    value = value.max(self._other(epsilon, other))
        except NotCertified:
            return None
        return within_unit(value) if int(value.rel_accuracy_bits()) >= _ENOUGH else None

    def estimate(self, delta: Fraction) -> float:
        """About ε, in floats."""
        return self.steps.root(math.log(delta.numerator) - math.log(delta.denominator))[0]

    def _polished(self, x: float, goal: float, plan: WindowPlan) -> float:
        """The root improved by secant steps on proved values."""
        at, before = x, x * (1 + 1e-4)
        gap, last = (self._log_call(place, plan) - goal for place in (at, before))
        for _ in range(_SECANTS):
            slope = (gap - last) / (at - before) if at != before else 0.0
            if not -math.inf < slope < 0 or abs(gap) < 1e-14:
                break
            at, before, last = at - gap / slope, at, gap
            if not abs(at / x - 1) < 0.1:
                return x * 1.1 if at > x else x / 1.1
            gap = self._log_call(at, plan) - goal
        return at

    def _log_call(self, x: float, plan: WindowPlan) -> float:
        with precision(plan.bits + 64):
            middle = self.steps.call(Ball(x), plan).mid()
            return float(middle.log()) if middle > 0 else -math.inf

    def _at_zero(self, delta: Fraction, goal: float) -> tuple[Bound, Witness]:
        witness: Witness = {**_written(self.steps.rough_plan(0.0, goal)), "other": {}}
        if not self._compares(0.0, witness, delta, below=True):
            raise NotCertified("the exact profile", "ε is too close to 0 to be told from it")
        return Bound(0.0, 0.0), witness

    def _compares(self, x: float, witness: Witness, delta: Fraction, below: bool) -> bool:
        value = self.prove(Fraction(x), witness)
        with precision(200):
            return bool(value <= ball(delta)) if below else bool(value > ball(delta))


def _around(x: float, sign: int) -> list[float]:
    return [x * (1 + sign * step) for step in _STEPS]


def _written(plan: WindowPlan) -> Witness:
    return {**{name: getattr(plan.split, name) for name in _SPLIT}, **{name: getattr(plan, name) for name in _PLAN}}


def _plan(witness: Witness) -> WindowPlan:
    def exact(name: str) -> Fraction | None:
        return None if witness[name] is None else Fraction(witness[name])

    split = Split(**{name: exact(name) for name in _SPLIT})  # type: ignore[arg-type]  # a missing border is refused
    rest = {name: int(witness[name]) if name in ("count", "bits") else exact(name) for name in _PLAN}
    return WindowPlan(split, **rest)  # type: ignore[arg-type]  # likewise


def windowed_profile(loss: Loss) -> WindowedProfile | None:
    """For copies of one sampled Gaussian step, add-remove; None for anything else."""
    remove = merged(loss.remove)
    if len(remove) != 1 or loss.add is None:
        return None
    (pair, copies), add = remove[0], merged(loss.add)
    if not (isinstance(pair, PoissonRemove) and isinstance(pair.base, NormalPair) and 0 < pair.rate < 1):
        return None
    known = transforms(add) if len(add) == 1 and isinstance(add[0][0], PoissonAdd) else None
    if known is None:
        return None
    distance = Real(None, lambda: pair.call(Ball(0)) * copies)
    largest = add[0][0].largest() * copies
    return WindowedProfile(WindowedSum(pair.base.root(), pair.rate, copies), ContourSum(known), largest, distance)


def windowed_directions(loss: Loss) -> tuple[WindowedDirection, ...] | None:
    """Removing and adding a record, for copies of one sampled Gaussian step; None for anything else."""
    known = windowed_profile(loss)
    return None if known is None else tuple(WindowedDirection(known.steps, adding) for adding in (False, True))


def rare(loss: Loss) -> bool:
    """Whether the windowed contour is likely the quicker one: few sampled records, little noise or a tiny rate."""
    hits = 0.0
    for pair, copies in merged(loss.remove):
        if not (isinstance(pair, PoissonRemove) and isinstance(pair.base, NormalPair)):
            return False
        with precision(53):
            mu, q = abs(float(pair.base.mu().mid())), float(pair.rate)
        hits += copies * q * min(1 / mu, 3.0) ** 2 * min(1.0, q / 1e-3) ** 0.5
    return hits < _RARE
