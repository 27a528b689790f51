"""A few steps of the sampled normal mechanism: estimates, plans and proofs of their call, by ``windowed``."""

from __future__ import annotations

import math
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.contour_floats import searching
from tightrope.numerics.real import Real
from tightrope.numerics.windowed import WindowProof
from tightrope.numerics.windowed_plan import WindowPlan, window_plan
from tightrope.numerics.windowed_start import near_call, near_reverse_call, near_root

__all__ = ["WindowedSum"]

_KEPT = 4
_FINEST, _USUAL = 1e-15, 1e-10


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
        return window_plan(*self._floats, x, log_call, max(_USUAL * min(slope, 1.0), _FINEST))

    @searching
    def lesser_plan(self, x: float, level: float) -> WindowPlan:
        """A plan for the call when a record is added, good enough to tell it from e^level."""
        apart = min((level - near_reverse_call(*self._floats, x)) / 8, 0.1)
        return window_plan(*self._floats, x, level, max(apart, _USUAL), adding=True)

    @searching
    def call(self, x: Ball, plan: WindowPlan, adding: bool = False) -> Ball:
        """A proved enclosure of E[(1 − e^{x−L})₊]."""
        proof = self._proofs.get((plan, adding))
        if proof is None:
            while len(self._proofs) >= _KEPT:
                self._proofs.pop(next(iter(self._proofs)), None)
            proof = self._proofs[plan, adding] = WindowProof(self._mu, self._rate, self._copies, plan, adding)
        return proof.call(x)
