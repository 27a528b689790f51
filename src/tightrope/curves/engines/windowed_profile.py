"""The profile of few or rare sampled steps of the Gaussian mechanism, by a contour integral of what matters of it."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from tightrope.curves.engines import windowed_secants as roots
from tightrope.curves.engines.lesser_direction import bounded_by, chernoff_bound
from tightrope.curves.engines.transformed import total_variation, transforms
from tightrope.curves.engines.windowed_direction import WindowedDirection
from tightrope.curves.engines.windowed_laws import window_law
from tightrope.curves.engines.windowed_stretches import WindowedStretches
from tightrope.curves.engines.windowed_witness import both_plans, read_plan, written_plan
from tightrope.curves.engines.windowed_zero import FLAT, FarFromZero, mirrored, root_near_zero
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss, merged
from tightrope.curves.profile import Profile, Witness, within_unit
from tightrope.curves.sampled.exchanged import PoissonReplace
from tightrope.curves.sampled.poisson import PoissonRemove
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.exact import near
from tightrope.numerics.real import ZERO, Real, largest
from tightrope.numerics.windowed.plan import WindowPlan
from tightrope.numerics.windowed.total import WindowedSum

_FARTHER, _SINKING = tuple(1 + 4.0**k for k in range(-5, 15)), 0.95  # a root that falls like this may be 0
_ATTEMPTS, _DEAR_ALONE = 5, 1e5  # microseconds of a proof that is in vain if the other direction has none
_DEAR, _ROUGHLY = 3e5, math.log(1e-2)  # microseconds of a proof that is worth a rough one; and how rough
_FEW, _NARROW = 5, 3e-7  # points that are asked alone; and of ε: closer ends need no other direction
_GREATER, _UNSURE = 2.0, 4.0  # nats by which floats see that adding a record costs more, and a saddle may be off
_ASIDE, _LEAST = 4, 1e-3  # how far δ may be from where floats see it, as a factor; where ε may be 0, of the largest
Answer = tuple[Bound, Witness]


@dataclass(frozen=True, eq=False)
class WindowedProfile(Profile):
    """Removing a record mostly costs more and is integrated; adding one is bounded below it, or integrated as well."""

    steps: WindowedSum
    adding: ContourSum
    largest: Real  # the largest loss when adding
    distance: Real  # an upper bound on δ(0): total variations add at most
    reach: float = 0.0  # where only atoms are beside the steps, what these reach alone: many points are not for windows
    may_be_wide = True  # where the call was estimated badly

    def find(self, epsilon: Fraction) -> Witness:
        """The plan of the removing direction, and how the other is bounded."""
        x = near(epsilon)
        if x < 0:
            raise NotCertified("a windowed contour", "ε is negative")
        level, slope = self.steps.estimate(x)
        level = math.log(math.exp(min(level, 0.0)) + self._leak()) if self._leak() else level
        return self._beside(x, level, self.steps.plan(x, level, max(slope, 1.0)))  # δ itself is wanted

    def _leak(self) -> float:
        """About the mass at ∞ where a record is removed."""
        with precision(64):
            return float(self.steps.infinite().mid())

    def _finite(self, goal: float) -> float:
        """About ln of what is left of δ = e^goal for finite losses."""
        leak = self._leak()
        if not leak:
            return goal
        if not math.log(leak) < goal:
            raise NotCertified("a windowed contour", "the mass at ∞ is as large as δ")
        return goal + math.log1p(-math.exp(math.log(leak) - goal))

    def _beside(
        self, x: float, level: float, plan: WindowPlan, adding: bool = False, other: WindowPlan | None = None
    ) -> Witness:
        """The plan, and what bounds the other direction, if that has no plan yet."""
        if other is not None:
            plans = (other, plan) if adding else (plan, other)
            return {**written_plan(plans[0]), "other": written_plan(plans[1])}
        if adding:
            return {**written_plan(self.steps.rough_plan(x, level, adding=False)), "other": written_plan(plan)}
        witness = written_plan(plan)
        if self._beyond(Fraction(x)) or (x == 0 and self.steps.sampled):
            return {**witness, "other": {}}
        t = bounded_by(self.adding, x, level - 1e-6)
        if t is not None:
            return {**witness, "other": {"t": t}}
        return {**witness, "other": written_plan(self.steps.rough_plan(x, level))}

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The larger of both directions."""
        if "distance" in witness:
            return Ball(0).union(sharp(self.distance.ball, bits=40))
        plan = read_plan(witness)
        with precision(plan.bits + 64):
            value = self.steps.call(ball(epsilon), plan)
        if self._beyond(epsilon) or (epsilon == 0 and self.steps.sampled):  # the total variation has no direction
            return within_unit(value)
        other = witness["other"]
        with precision(256):
            return within_unit(value.max(self._other(epsilon, other, plan)))

    def _beyond(self, epsilon: Fraction) -> bool:
        """Whether no loss is as large as ε when a record is added."""
        with precision(80):
            return bool(ball(epsilon) >= self.largest.ball())

    def _other(self, epsilon: Fraction, witness: Witness, removing: WindowPlan) -> Ball:
        if not witness:
            raise NotCertified("the exact profile", "nothing is said of the other direction")
        if "mirrored" in witness:
            return mirrored(self.steps, epsilon, removing)
        if "eta" not in witness:
            return chernoff_bound(self.adding, epsilon, Fraction(witness["t"]))
        plan = read_plan(witness)
        with precision(plan.bits + 64):
            return self.steps.call(ball(epsilon), plan, adding=True)

    def epsilon(self, delta: Fraction) -> Answer:
        """Solve in floats, then prove both sides of the solution by one plan."""
        with precision(160):
            if sharp(self.distance.ball, bits=40) <= ball(delta):
                return Bound(0.0, 0.0), {"distance": "the parts' total variations"}
        goal = math.log(delta.numerator) - math.log(delta.denominator)
        x, slope = self.steps.root(self._finite(goal))
        if not x > 0:
            return self._near_zero(delta)
        adding = False
        if not (self.steps.alone or self._beyond(Fraction(x))):
            adding = self.steps.near(x, adding=True) > goal + _GREATER
        if adding:
            x, slope = max((x, slope), self.steps.root(goal, adding=True))
        return self._solved(x, slope, delta, goal, adding, again=not self.steps.alone, made=None)

    def _solved(
        self, x: float, slope: float, delta: Fraction, goal: float, adding: bool, again: bool, made: Witness | None
    ) -> Answer:
        """Around an x where floats see δ; ``adding``: in the direction that mostly costs less. ``again``: or in the
        other one, should that cost more. ``made``: the plans of both, made there."""
        plan, other = both_plans(made, adding)
        if plan is None or not roots.sharp_at(self.steps, x, plan, roots.APART / 4, adding):
            plan = self.steps.plan(x, goal, slope, root=True, adding=adding)
        if plan.work > _DEAR_ALONE and not self.steps.alone and other is None:
            self._beside(x * (1 - min(roots.CLOSE, 1 / slope)), goal, plan, adding)  # if a dear proof must fail
        located: AbstractContextManager[None] = nullcontext()
        if plan.work > _DEAR:
            x, slope = self._located(x, goal, slope, adding)
            plan = self.steps.plan(x, goal, slope, root=True, before=plan, adding=adding)
            located = effort.proving()  # the proof is likely to be the answer, however rough its plan is
        if (flat := self._flat(delta, slope)) is not None:
            return flat
        for _ in range(_ATTEMPTS):  # far out, the first x is rough
            with located:
                start, (x, slope) = x, roots.polished(self.steps, x, goal, plan, slope, adding)
            located = nullcontext()
            if (flat := self._flat(delta, slope)) is not None:
                return flat
            if roots.close(x, start, slope, plan) or roots.seen(self.steps, x, goal, plan, roots.APART * slope, adding):
                witness = self._beside(x, goal, plan, adding, other)
                found = self._enclosed(x, delta, witness)
                if found is not None and found.upper - found.lower < _NARROW * found.upper:
                    return found, witness
                if again and self.needs(Fraction(x * (1 + roots.APART)), delta, witness):  # the other direction does
                    with suppress(NotCertified):
                        return self._solved(x, slope, delta, goal, not adding, False, witness)
                if found is not None:
                    return found, witness
            if x == start:  # the same again would be no better
                break
            if not adding and x < _SINKING * start and self._may_be_zero(goal, x):
                with suppress(NotCertified):  # δ may never be that large
                    return self._near_zero(delta)
            plan = self.steps.plan(x, goal, slope, root=True, before=plan, adding=adding)
        raise NotCertified("the exact profile", f"no windowed contour proved an ε near {x:.6g}")

    def _located(self, x: float, goal: float, slope: float, adding: bool) -> tuple[float, float]:
        """A better x and its slope, where a fine plan is dear: by rough ones."""
        for _ in range(_ATTEMPTS):
            rough = self.steps.plan_to(x, x, goal + _ROUGHLY, adding)
            start, (x, slope) = x, roots.polished(self.steps, x, goal, rough, slope, adding)
            there = slope < FLAT or roots.close(x, start, slope)
            if there or roots.seen(self.steps, x, goal, rough, roots.CLOSE_CALL, adding):
                break
        return x, slope

    def _enclosed(self, x: float, delta: Fraction, witness: Witness) -> Bound | None:
        """Both ends near x, each proved where it is."""

        def meets(e: float) -> bool:
            return self.meets(Fraction(e), delta, witness)

        def needs(e: float) -> bool:
            return self.needs(Fraction(e), delta, witness)

        above, below = roots.nearest(lambda s: meets(x * (1 + s))), roots.nearest(lambda s: needs(x * (1 - s)))
        known = above is not None and below is not None
        return Bound(*roots.halved(x * (1 - (below or 0)), x * (1 + (above or 0)), meets, needs)) if known else None

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """At many ε; a plan for each direction serves a whole stretch."""
        stretches = WindowedStretches(self.steps, self.adding, self._beyond)
        found = {x: stretches.delta(x) if near(x) >= self.reach else None for x in sorted(set(epsilons))}
        if len(alone := [x for x in found if found[x] is None]) <= _FEW:  # for many another way may be quicker
            found |= {x: self._delta(x) for x in alone}
        return [found[x] for x in epsilons]

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """At many δ likewise, between places that floats find."""
        order = sorted(set(deltas), reverse=True)
        if len(order) <= _FEW:
            return [self._epsilon(delta) for delta in deltas]
        number = bisect_left(order, True, key=self._positive)
        found: dict[Fraction, Bound | None] = {}
        if number and (before := self._epsilon(order[number - 1])) is not None and before.upper == 0:
            found |= dict.fromkeys(order[:number], before)  # δ falls
        try:
            if self.reach:
                number = bisect_left(order, self.reach, lo=number, hi=len(order) - 1, key=self.estimate)
            first, last = self.estimate(order[number] * _ASIDE), self.estimate(order[-1] / _ASIDE)
        except (NotCertified, IndexError):
            return [found.get(delta) for delta in deltas]
        stretches = WindowedStretches(self.steps, self.adding, self._beyond)
        found |= stretches.epsilons(order[number:], first if first > 0 else _LEAST * last, last)
        return [found.get(delta) for delta in deltas]

    def _positive(self, delta: Fraction) -> bool:
        """Whether ε seems to be positive."""
        try:
            return self.estimate(delta) > 0
        except NotCertified:
            return True

    def estimate(self, delta: Fraction) -> float:
        """About ε, in floats."""
        return self.steps.root(self._finite(math.log(delta.numerator) - math.log(delta.denominator)))[0]

    def _may_be_zero(self, goal: float, x: float) -> bool:
        """Whether δ(0) may be e^goal or less, as far as floats see it there; beside other parts, far below x."""
        for place, nats in ((0.0, 1.0), (_LEAST * x, _UNSURE)):
            with suppress(NotCertified):
                return self.steps.estimate(place)[0] < goal + nats
        return True

    def _flat(self, delta: Fraction, slope: float) -> Answer | None:
        """Near 0, if δ is flat there, and not elsewhere."""
        if slope < FLAT:
            with suppress(FarFromZero):
                return self._near_zero(delta)
        return None

    def _near_zero(self, delta: Fraction) -> Answer:
        """Where δ(0) is hardly more than δ, or not more."""
        found = root_near_zero(self.steps, delta)
        x, goal = found.place, math.log(delta.numerator) - math.log(delta.denominator)
        mirror = {**written_plan(found.plan), "other": {"mirrored": True}}
        witness = mirror if self.steps.sampled else self._beside(x, goal, found.plan)
        if x == 0 and self.meets(Fraction(0), delta, witness):
            return Bound(0.0, 0.0), witness
        bound = self._enclosed(x, delta, witness) if found.fall > 0 else None
        return self._apart(x, delta, witness) if bound is None else bound, witness

    def _apart(self, x: float, delta: Fraction, witness: Witness) -> Bound:
        """Ends further and further from x, where a plan shows no more."""
        upper = next((e for s in _FARTHER if self.meets(Fraction(e := x * s), delta, witness)), None)
        if upper is None:
            raise NotCertified("the exact profile", f"no windowed contour proved an ε near {x:.6g}")
        return Bound(next((e for s in _FARTHER if self.needs(Fraction(e := x / s), delta, witness)), 0.0), upper)


def windowed_profile(loss: Loss) -> WindowedProfile | None:
    """For Poisson-sampled Gaussian steps beside any parts with a transform; None for anything else."""
    directions = loss.directions
    try:
        laws, known = (window_law(directions[0]), window_law(directions[-1], reverse=True)), transforms(directions[-1])
        if laws[0] is None or laws[1] is None or known is None:
            return None
        steps, adding = WindowedSum(laws[0], laws[1]), ContourSum(known)
    except NotCertified:  # a part is out of the reach of its transform
        return None
    sizes = [Real(None, partial(total_variation, merged(parts))) for parts in directions]
    top = ZERO
    for pair, copies in merged(loss.add or ()):  # without another direction nothing is beyond 0 in it
        top = top + pair.largest() * copies
    others = [pair for pair, _ in loss.remove if not isinstance(pair, PoissonRemove | PoissonReplace)]
    atoms = steps.reached if all(isinstance(pair, FinitePair) for pair in others) else 0.0
    return WindowedProfile(steps, adding, top, largest(sizes), atoms)


def windowed_directions(loss: Loss) -> tuple[WindowedDirection, ...] | None:
    """Each direction, for copies of one sampled Gaussian step; None for anything else."""
    known = windowed_profile(loss) if len(merged(loss.remove)) == 1 else None
    if known is None or not known.steps.alone:
        return None
    return tuple(WindowedDirection(known.steps, adding) for adding in (False, True)[: len(loss.directions)])
