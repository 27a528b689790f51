"""A sum of losses whose right tail is heavy, integrated on its left: both directions from the reverse alone.

δ of (P, Q) at ε is 1 − e^ε + e^ε·δ′(−ε), δ′ that of (Q, P). Where E_P[e^{sL}] grows too fast for any tilt to see the
tail, as for random allocation, δ′(−ε) is integrated instead, at tilts at which the reverse has all moments, and with as
many more bits as δ is below 1. One contour serves all ε of a stretch, of both signs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.contour.floats import Saddles, searching
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.contour.proof import Plan
from tightrope.numerics.contour.tilts import log_factor
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform

__all__ = ["MirroredSum"]

_TILTS = np.geomspace(0.3, 30, 24)  # in 1/deviation
_HEIGHTS = np.geomspace(1.0, 1e4, 240)
_MOST_NODES = 3000
_MOST_MICROSECONDS = 1.5e6


class MirroredSum:
    """The sum of the reverse losses: (transform, number of copies) for each part, all of them finite."""

    @searching
    def __init__(self, parts: Sequence[tuple[Transform, int]]) -> None:
        self.parts = list(parts)
        self._saddles = Saddles(self.parts)
        self.reverse = ContourSum(self.parts)

    @property
    def spread(self) -> float:
        """About the standard deviation of the loss."""
        return float(math.sqrt(max(float(self._saddles.log_moment([1.0])[0]), 1e-300)))

    @searching
    def log_bounds(self, orders: Sequence[float]) -> list[float]:
        """About ln of Chernoff's bounds c(t)e^{K(t)} of the reverse."""
        t = np.array(orders, dtype=np.float64)
        return [float(log) for log in self._saddles.log_moment(t) + log_factor(t)]

    @searching
    def plan(self, reach: float, log_error: float) -> Plan:
        """A contour that encloses both at every ε ≤ reach to about e^log_error, absolutely."""
        log_error -= reach  # δ′(−ε) counts e^ε times
        best, least, lost, height = Fraction(0), math.inf, 0.0, math.inf
        for tilt in _TILTS:
            t = short(max(float(tilt) * self._saddles.unit, 1e-3), 8)
            at = float(t)
            nats = self._saddles.tilts(at).log_moment + at * reach - log_error + 2
            count = (high := self._height(nats)) * self._period(at, reach, log_error)
            cost = count * (60 + nats) * (1 + 1 / at)  # near 0 the moments have long tails
            if cost < least:
                best, least, lost, height = t, cost, nats, high
        if not best:
            raise NotCertified("a mirrored contour", "its transform does not decay fast enough")
        eta = short(2 * math.pi / self._period(float(best), reach, log_error), 8)
        if not height < _MOST_NODES * eta:
            raise NotCertified("a mirrored contour", f"it needs {height / float(eta):.3g} nodes")
        copies = sum(k for _, k in self.parts)
        bits = math.ceil((lost + math.log(copies)) / math.log(2)) + 4
        plan = Plan(best, eta, math.ceil(height / float(eta)) + 1, -(-max(bits, 32) // 8) * 8)
        work = sum(part.cost(float(best), float(eta), plan.count, plan.bits) for part, _ in self.parts)
        if not work < _MOST_MICROSECONDS:
            raise NotCertified("a mirrored contour", f"it needs {work / 1e6:.2g} s")
        return plan

    def _period(self, t: float, reach: float, log_error: float) -> float:
        return max(self._saddles.period(t, x, log_error - 2)[0] for x in (-reach, reach))

    def _height(self, nats: float) -> float:
        """How far up the nodes must go until the proved decay has so many nats."""
        y = _HEIGHTS * self._saddles.unit
        logs = np.zeros_like(y)
        for transform, copies in self.parts:
            logs += copies * recall.log_decay_floats(transform, float(self._saddles.unit), y)
        enough = np.nonzero(logs < -nats)[0]
        return float(y[enough[0]]) if len(enough) else math.inf

    def adding(self, x: Ball, plan: Plan) -> Ball:
        """δ′(x)."""
        return self.reverse.call(x, plan)

    def removing(self, x: Ball, plan: Plan) -> Ball:
        """δ(x) = 1 − eˣ + eˣ·δ′(−x)."""
        mirrored = self.reverse.call(-x, plan)
        with precision(plan.bits + 64):
            return (x.exp() * mirrored - x.expm1()).nonnegative_part()
