"""The sum of independent losses: what is known of it without an integral."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, between, precision
from tightrope.numerics.contour.floats import Saddles, searching
from tightrope.numerics.contour.proof import call_factor, log_moment
from tightrope.numerics.transforms.transform import Transform

__all__ = ["LossSum"]

_MOMENT_BITS = 32  # of an upper bound that is mostly far above what it bounds
_KEPT = 32


class LossSum:
    """The sum L of independent losses: (transform, number of copies) for each part. L = ∞ counts 1 in the call."""

    @searching
    def __init__(self, parts: Sequence[tuple[Transform, int]]) -> None:
        merged: dict[int, tuple[Transform, int]] = {}
        for transform, copies in parts:
            if copies < 0:
                raise AssertionError("the number of copies must not be negative")
            if copies:
                merged[id(transform)] = (transform, copies + merged.get(id(transform), (transform, 0))[1])
        if not merged:
            raise AssertionError("a sum needs a part")
        self._parts = list(merged.values())
        self._saddles = Saddles(self._parts)
        self.kinds = sum(transform.kinds for transform, _ in self._parts)
        self._moments: dict[Fraction, Ball] = {}
        with precision(80):
            infinite = self.infinite()
            self._log_infinite = float(infinite.log()) if infinite > 0 else -math.inf

    def infinite(self) -> Ball:
        """P[L = ∞] = 1 − Π (1 − mᵢ)^{kᵢ}, without cancellation."""
        total = Ball(0)
        for transform, copies in self._parts:
            mass = transform.infinite()
            if not mass < 1:
                return between(mass, Ball(1))
            total += (-mass).log1p() * copies
        return -total.expm1()

    def _for_finite(self, log_target: float) -> float:
        """About ln of what the mass at ∞ leaves of e^log_target for finite losses; −∞ if that is nothing."""
        if self._log_infinite >= log_target:
            return -math.inf
        return log_target + math.log1p(-math.exp(self._log_infinite - log_target))

    @searching
    def chernoff(self, x: float, enough: float = -math.inf) -> tuple[float, float]:
        """About ln of the least Chernoff bound c(t)e^{K(t)−tx} of the finite part, or of one below ``enough``, and its
        t."""
        return self._saddles.chernoff(x, enough)

    def upper(self, x: Ball, t: Fraction) -> Ball:
        """A proved upper bound of the call at x for every t > 0: c(t)e^{K(t)−tx} + P[L = ∞]."""
        with precision(80):
            bound = call_factor(t) * (self._moment(t) - ball(t) * x).exp() + self.infinite()
        return bound.upper().min(Ball(1))

    @searching
    def last_root(self, log_target: float) -> float:
        """About the x at which the least Chernoff bound of the finite part is e^log_target."""
        return self._saddles.last_root(log_target)

    def root_upper(self, delta: Ball, t: Fraction) -> Ball:
        """An x from which on Chernoff's bound at this t > 0 proves that the call is at most delta."""
        with precision(80):
            return (call_factor(t).log() + self._moment(t) - (delta - self.infinite()).log()) / ball(t)

    def kept_tilt(self, x: Ball, most: Ball) -> Fraction | None:
        """A t at which this bound is no more than that, of those whose moments are kept."""
        return next((t for t in reversed(self._moments) if self.upper(x, t) <= most), None)

    def _moment(self, t: Fraction) -> Ball:
        """K(t), kept: many x share few t."""
        found = self._moments.get(t)
        if found is None:
            work = sum(transform.moment_cost(float(t), _MOMENT_BITS) for transform, _ in self._parts)
            effort.spend(work, "Chernoff's bound")
            while len(self._moments) >= _KEPT:
                self._moments.pop(next(iter(self._moments)), None)
            found = self._moments[t] = log_moment(self._parts, t, _MOMENT_BITS)
        return found
