"""A sum of losses whose right tail is heavy, integrated on its left: both directions from the reverse alone.

δ of (P, Q) at ε is 1 − e^ε + e^ε·δ′(−ε), δ′ that of (Q, P). Where E_P[e^{sL}] grows too fast for any tilt to see the tail, as
for random allocation, δ′(−ε) is integrated instead, at tilts at which the reverse has all moments, and with as many more bits as δ
is below 1. One contour serves all ε of a stretch, of both signs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.contour.floats import Saddles, log_factor, searching
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.contour.proof import Plan
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform

__all__ = ["MirroredSum"]

_TILTS = np.geomspace(0.3, 30, 24)  # in 1/deviation
_FURTHER = 1 + np.geomspace(0.05, 8, 20)
_HEIGHTS = np.geomspace(1.0, 1e4, 240)
_MOST_NODES = 3000


class MirroredSum:
    """The sum of the reverse losses: (transform, number of copies) for each part, all of them finite."""

    @searching
    def __init__(self, parts: Sequence[tuple[Transform, int]]) -> None:
        self._parts = list(parts)
        self._saddles = Saddles(self._parts)
        self.reverse = ContourSum(self._parts)

    @searching
    def plan(self, reach: float, log_error: float) -> Plan:
        """A contour that encloses both at every ε ≤ reach to about e^log_error, absolutely."""
        log_error -= reach  # δ′(−ε) counts e^ε times
        tilts = np.maximum(_TILTS * self._saddles.unit, 1e-3)
        moments = self._saddles.log_moment(tilts)
        further = np.multiply.outer(tilts, _FURTHER)
        beyond = self._saddles.log_moment(further.ravel()).reshape(further.shape)
        above = (beyond + log_factor(further) + further * reach - log_error + 2) / (further - tilts[:, None])
        below = (reach - log_error + 2) / (tilts + 1)
        periods = np.maximum(np.nanmin(np.where(np.isfinite(above), above, np.inf), axis=1), below)
        lost = moments + tilts * reach - log_error + 2
        counts = np.array([self._height(lost_) for lost_ in lost]) * periods / (2 * math.pi)
        cost = np.where(np.isfinite(counts), counts * (60 + lost) * (1 + 1 / tilts), np.inf)  # tilts near 0 have long tails
        i = int(cost.argmin())
        if not counts[i] < _MOST_NODES:
            raise NotCertified("a mirrored contour", f"it needs {counts[i]:.3g} nodes")
        t, eta = short(float(tilts[i]), 8), short(2 * math.pi / float(periods[i]), 8)
        copies = sum(k for _, k in self._parts)
        bits = math.ceil((float(lost[i]) + math.log(copies)) / math.log(2)) + 4
        return Plan(t, eta, math.ceil(self._height(float(lost[i])) / float(eta)) + 1, -(-max(bits, 32) // 8) * 8)

    def _height(self, nats: float) -> float:
        """How far up the nodes must go until the proved decay has so many nats."""
        y = _HEIGHTS * self._saddles.unit
        logs = np.zeros_like(y)
        for transform, copies in self._parts:
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
