"""Sampled normal steps beside other parts: estimates, plans and proofs of their call, by ``integral``."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball
from tightrope.numerics.contour.floats import searching
from tightrope.numerics.windowed.floats import FloatLaw
from tightrope.numerics.windowed.integral import WindowProof
from tightrope.numerics.windowed.parts import WindowLaw
from tightrope.numerics.windowed.plan import ROUGHEST, WindowPlan, check_plan
from tightrope.numerics.windowed.saddle import saddle_call, saddle_root
from tightrope.numerics.windowed.search import window_plan
from tightrope.numerics.windowed.start import near_call, near_reverse_call, near_root
from tightrope.numerics.windowed.work import proof_work

__all__ = ["WindowedSum"]

_KEPT = 64  # proofs: many points share many stretches
_LEAST = 1e4  # units of work of a short proof
_FINEST, _USUAL, _COARSE, _ROUGH = 1e-15, 1e-10, 3e-8, 1e-7
_PLACE = 2e-11  # what the place of a call may usually be off by
_APART = 0.03
_STEEP = 100.0
_WRONG = 4.0  # nats by which a saddle is never off
_MANY = 10.0  # sampled records on average
_CLEAR, _SURELY = 0.5, 5.0  # so many nats apart, rough estimates tell two calls from each other; of one sampler surely
_SHARES, _POOREST = (1e-9, 1e-7), 1e-2  # what the place of a call far out may be off by, and the call itself


class WindowedSum:
    """The loss where a record is removed, or added; or exchanged, and the same exchange in reverse."""

    def __init__(self, removing: WindowLaw, adding: WindowLaw) -> None:
        if removing.exchanged != adding.exchanged:
            raise NotCertified("a windowed contour", "a record is exchanged in one direction only")
        self._laws = removing, adding
        self._exchanged = removing.exchanged
        self._floats: tuple[FloatLaw, FloatLaw] = removing.floats, adding.floats
        self._proofs: dict[tuple[WindowPlan, bool], WindowProof] = {}

    @property
    def sampled(self) -> bool:
        """Whether there is nothing but sampled steps, the same ones in both directions, which are each other's
        reverse."""
        kinds = [sorted(law.samplers) for law in self._floats]
        return kinds[0] == kinds[1] and not any(law.others.some for law in self._floats)

    @property
    def alone(self) -> bool:
        """Whether there are equal steps of one sampler only."""
        return len(self._floats[0].samplers) == 1 and not self._floats[0].others.some

    @property
    def reached(self) -> float:
        """About the largest loss of the parts that are not sampled, if there is one; else 0."""
        top = self._floats[0].others.largest
        return top if top < math.inf else 0.0

    def _adds(self, adding: bool) -> bool:
        """Whether the losses are those of adding: an exchange in reverse is an exchange."""
        return adding and not self._exchanged

    def infinite(self, adding: bool = False) -> Ball:
        """P[L = ∞]."""
        return self._laws[adding].infinite()

    @searching
    def root(self, log_target: float, adding: bool = False) -> tuple[float, float]:
        """About the x ≥ 0 with ln call(x) = log_target, and the slope of −ln call against ln x there."""
        if adding:
            found = saddle_root(self._floats[1], log_target, self._adds(True))
            if found is None:
                raise NotCertified("a windowed contour", "floats do not see the call")
            return found
        law = self._floats[0]
        found = near_root(*law.samplers[0], log_target, self._exchanged) if self.alone else None
        if found is None or (found[0] > 0 and abs(saddle_call(law, found[0]) - log_target) > _WRONG):
            found = saddle_root(law, log_target) or found
        elif found[0] == 0 and self._exceeded_at_zero(log_target):  # a lattice does not hold losses so tiny
            found = saddle_root(law, log_target)
        if found is None:
            raise NotCertified("a windowed contour", "floats do not see the call")
        if self.alone and found[1] > _STEEP - 5 * log_target:
            return found[0], self._at_saddle(found[0])[1]
        return found

    def _exceeded_at_zero(self, log_target: float) -> bool:
        """Whether the call at 0 is surely more: of many sampled records about 0.4 deviations."""
        law = self._floats[0]
        many = sum(copies * rate for _, rate, copies in law.samplers) > _MANY
        return many and 0 < law.deviation < 1 and math.log(law.deviation) - log_target > _WRONG

    @searching
    def estimate(self, x: float) -> tuple[float, float]:
        """About ln of the call at x ≥ 0, and the slope of −ln call against ln x there."""
        law = self._floats[0]
        if self.alone:
            found = near_call(*law.samplers[0], x, self._exchanged)
            if found[0] > -math.inf:
                return found
        return self._at_saddle(x)

    def _at_saddle(self, x: float) -> tuple[float, float]:
        """The same by saddles alone."""
        law = self._floats[0]
        if x > 0:
            value, following = (saddle_call(law, place) for place in (x, x + _APART * law.room(x)))
            if math.isfinite(value) and math.isfinite(following):
                return value, max(value - following, 1e-3) / _APART * x / law.room(x)
        raise NotCertified("a windowed contour", "floats do not see the call")

    def _reverse(self, x: float) -> float:
        """About ln of the call at x when a record is added; −∞ if nothing is seen."""
        law = self._floats[1]
        found = near_reverse_call(*law.samplers[0], x) if self.alone and not self._exchanged else -math.inf
        return found if found > -math.inf else saddle_call(law, x, self._adds(True))

    @searching
    def plan(
        self,
        x: float,
        log_call: float,
        slope: float,
        root: bool = False,
        before: WindowPlan | None = None,
        adding: bool = False,
    ) -> WindowPlan:
        """A plan good enough to find the x of a call near this one; ``root``: and nothing else is wanted. Where the one
        ``before`` could not be finer, this one is not to be, either."""
        rough = [min(share * slope, _POOREST) for share in _SHARES]
        usual = max(_USUAL * min(slope, 1.0), min(_PLACE * slope, _ROUGH) if root else 0.0)
        shares = (usual, max(_COARSE * min(slope, 1.0), rough[0]), rough[1])
        for level in range(0 if before is None else before.level, len(shares)):
            try:
                plan = self._planned((x, x), log_call, max(shares[level], _FINEST), adding)
                return replace(plan, level=level)
            except NotCertified as wrong:
                failure = wrong
        raise failure

    @searching
    def wide_plan(self, first: float, last: float, adding: bool = False) -> WindowPlan:
        """A plan for every x between these; when adding, to a share of the greater call."""
        level, relative = self.estimate(last)[0], _COARSE
        if adding:
            apart = [self.estimate(x)[0] - self._reverse(x) for x in (first, last)]
            relative = max(min(*apart, 0.8) / 8, relative)
        return self._planned((first, last), level, relative, adding)

    @searching
    def even_plan(self, first: float, last: float, adding: bool = False) -> WindowPlan:
        """A plan for every x between these, everywhere to the same share of the greater call at the first."""
        level = self.estimate(first)[0]
        try:
            return self._planned((first, last), level, _USUAL, adding)
        except NotCertified:
            return self._planned((first, last), level, _ROUGH, adding)

    @searching
    def rough_plan(self, x: float, level: float, adding: bool = True) -> WindowPlan:
        """A plan good enough to tell the call at x when a record is added, or removed, from e^level."""
        apart = level - near_reverse_call(*self._floats[1].samplers[0], x) if self.alone else math.inf
        if apart < math.inf:
            return self._planned((x, x), level, min(apart / 8, 0.1) if apart > _CLEAR else _USUAL, adding)
        apart = min(self.near(x, not adding), level) - self.near(x, adding)  # rough, and mostly alike in both
        try:
            clear = apart > (_SURELY if self.alone else _CLEAR)  # of one sampler both may be one normal law, nearly
            return self._planned((x, x), level, min(apart / 8, 0.1) if clear else _USUAL, adding)
        except NotCertified:
            return self._planned((x, x), level, _ROUGH, adding)

    def _planned(self, ends: tuple[float, float], level: float, relative: float, adding: bool) -> WindowPlan:
        return window_plan(self._floats[adding], ends, level, relative, self._adds(adding))

    @searching
    def near(self, x: float, adding: bool = False) -> float:
        """About ln of the call at x ≥ 0; −∞ if nothing is seen."""
        return self._reverse(x) if adding else self.estimate(x)[0]

    @searching
    def plan_to(self, first: float, last: float, log_error: float, adding: bool = False) -> WindowPlan:
        """A plan for every x between these, with an error of about e^log_error."""
        return self._planned((first, last), log_error, 1.0, adding)

    @searching
    def call(self, x: Ball, plan: WindowPlan, adding: bool = False) -> Ball:
        """A proved enclosure of E[(1 − e^{x−L})₊]."""
        proof = self._proofs.get((plan, adding))
        if proof is None:
            while len(self._proofs) >= _KEPT:
                self._proofs.pop(next(iter(self._proofs)), None)
            check_plan(plan, len(self._floats[adding].samplers), self._exchanged, self._adds(adding))
            work = plan.work or proof_work(self._floats[adding], plan)  # one that was read does not say
            with nullcontext() if plan.level == ROUGHEST else effort.proving():
                effort.spend(work + _LEAST, "a windowed contour")
            with effort.paid():
                proof = WindowProof(self._laws[adding], plan, self._adds(adding))
                self._proofs[plan, adding] = proof
        with effort.paid():
            return proof.call(x)
