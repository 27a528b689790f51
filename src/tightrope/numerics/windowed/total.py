"""A few steps of the sampled normal mechanism: estimates, plans and proofs of their call, by ``windowed``."""

from __future__ import annotations

import math
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.contour.floats import searching
from tightrope.numerics.real import Real
from tightrope.numerics.windowed.integral import WindowProof
from tightrope.numerics.windowed.plan import WindowPlan, window_plan
from tightrope.numerics.windowed.start import near_call, near_reverse_call, near_root

__all__ = ["WindowedSum"]

_KEPT = 12
_FINEST, _USUAL, _COARSE, _ROUGH = 1e-15, 1e-10, 3e-8, 1e-7


class WindowedSum:
    """The sum of ``copies`` losses of the normal mechanism sampled at a rate: where a record is removed, or added."""

    def __init__(self, mu: Real, rate: Fraction, copies: int) -> None:
        self._mu, self._rate, self._copies = Real(None, lambda: abs(mu.ball())), rate, copies
        with precision(80):
            self._floats = float(self._mu.ball().mid()), float(rate), copies
        self._proofs: dict[tuple[WindowPlan, bool], WindowProof] = {}

    @searching
    def root(self, log_target: float) -> tuple[float, float]:
        """About the x ≥ 0 with ln call(x) = log_target, and the slope of −ln call against ln x there."""
        found = near_root(*self._floats, log_target)
        if found is None:
            raise NotCertified("a windowed contour", "floats do not see the call")
        return found

    @searching
    def estimate(self, x: float) -> tuple[float, float]:
        """About ln of the call at x ≥ 0, and the slope of −ln call against ln x there."""
        found = near_call(*self._floats, x)
        if not found[0] > -math.inf:
            raise NotCertified("a windowed contour", "floats do not see the call")
        return found

    @searching
    def plan(self, x: float, log_call: float, slope: float) -> WindowPlan:
        """A plan good enough to find the x of a call near this one."""
        try:
            return window_plan(self._floats, (x, x), log_call, max(_USUAL * min(slope, 1.0), _FINEST))
        except NotCertified:
            return window_plan(self._floats, (x, x), log_call, max(_COARSE * min(slope, 1.0), _FINEST))

    @searching
    def wide_plan(self, first: float, last: float, adding: bool = False) -> WindowPlan:
        """A plan for every x between these; when adding, to a share of the greater call."""
        level, relative = self.estimate(last)[0], _COARSE
        if adding:
            apart = [self.estimate(x)[0] - near_reverse_call(*self._floats, x) for x in (first, last)]
            relative = max(min(*apart, 0.8) / 8, relative)
        return window_plan(self._floats, (first, last), level, relative, adding)

    @searching
    def even_plan(self, first: float, last: float, adding: bool = False) -> WindowPlan:
        """A plan for every x between these, everywhere to the same share of the greater call at the first."""
        level = self.estimate(first)[0]
        try:
            return window_plan(self._floats, (first, last), level, _USUAL, adding)
        except NotCertified:
            return window_plan(self._floats, (first, last), level, _ROUGH, adding)

    @searching
    def rough_plan(self, x: float, level: float, adding: bool = False) -> WindowPlan:
        """A plan good enough to tell the call at x from e^level."""
        near = near_reverse_call(*self._floats, x) if adding else near_call(*self._floats, x)[0]
        return window_plan(self._floats, (x, x), level, max(min((level - near) / 8, 0.1), _USUAL), adding)

    @searching
    def call(self, x: Ball, plan: WindowPlan, adding: bool = False) -> Ball:
        """A proved enclosure of E[(1 − e^{x−L})₊]."""
        proof = self._proofs.get((plan, adding))
        if proof is None:
            while len(self._proofs) >= _KEPT:
                self._proofs.pop(next(iter(self._proofs)), None)
            proof = self._proofs[plan, adding] = WindowProof(self._mu, self._rate, self._copies, plan, adding)
        return proof.call(x)
