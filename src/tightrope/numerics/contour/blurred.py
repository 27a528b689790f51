"""The sum of independent losses whose transforms do not decay: plans for ``blurred_proof``, and searches in floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, between, precision
from tightrope.numerics.contour.aliases import total_largest
from tightrope.numerics.contour.blurred_proof import BITS, KEPT_NODE, MOST_NODES, NODE, BlurPlan, BlurredProof
from tightrope.numerics.contour.floats import searching
from tightrope.numerics.contour.loss_sum import LossSum
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform

__all__ = ["BlurPlan", "BlurredSum"]

_KEPT, _MOST_KEPT, _NODES_KEPT = 4, 32, 10**6  # proofs; and at most, if they have no more nodes together: 40 bytes each
_LEAST_LOST, _MOST_LOST = 0.5, 14.0  # nats by which terms may exceed the call: doubles hold 36
_ROUNDING = 1e-14  # of the transform of a copy
_ROUGH = 1e-4
_MOST_WORK = {True: 4e6, False: 1e8}  # nanoseconds
_MANY, _LONGER = 60, 4  # so many copies are worth so much more of it
_FAIR, _LONGEST, _HALF = 2e-7, 6e8, 500.0  # less than that of the call is worth so much of it, and half of what is left
_WIDEST, _LONG_LOOK = 0.99, 1e8  # of the widest spacing there is; nanoseconds
_MOMENTS = 3
_LOOKS = (80, 16)  # places between which the tail of the nodes is looked at
_COARSEST = 0.1  # spacing, of what it is laid over
_LEAST_POINTS, _MOST_POINTS = 64, 2**32 - 1
_COARSER, _MUCH_COARSER = (1, 30, 1000), 100  # accuracies that are tried in turn, and in one plan
_FAR, _FAR_FAIR = 20.0, 1e-6  # ln of the call falls by so much within x: further out it may be known less well than x
_STEPS = 40
_NOTHING = BlurPlan(Fraction(1), Fraction(1), 1, 64)  # for an x beyond the largest loss
_TOP = 1e-9  # so near to the largest loss, relatively, nothing is looked at
_CLOSE = 1e-3  # how near to its target a root brings ln of the call: the ends are sought on the proof itself


class BlurredSum(LossSum):
    """The call of a sum of independent losses by contour integrals of functions that enclose it."""

    def __init__(self, parts: Sequence[tuple[Transform, int]]) -> None:
        super().__init__(parts)
        self._proofs: dict[BlurPlan, BlurredProof] = {}
        self._rough: tuple[float, float, BlurredProof] | None = None

    @property
    def largest(self) -> float:
        """About the largest finite loss; ∞ if there is none."""
        return self._saddles.largest

    @searching
    def estimate(self, x: float) -> float:
        """About ln of the call at x."""
        finite, infinite = self._finite(x), self._log_infinite
        top = max(finite, infinite)
        return top + math.log(math.exp(finite - top) + math.exp(infinite - top)) if top > -math.inf else top

    def _finite(self, x: float) -> float:
        if x >= self._saddles.largest:
            return -math.inf
        rough = self._rough
        if rough is None or not abs(x - rough[0]) <= rough[1]:
            plan = self._plan(x, self._saddles.chernoff(x)[0] - 2.5, _ROUGH, quick=True)
            reach = 0.5 * math.sqrt(self._saddles.tilts(float(plan.t)).curvature)
            rough = self._rough = x, reach, self._proof(plan, rough=True)
        return self._log_call(rough[2], x)

    def _log_call(self, proof: BlurredProof, x: float) -> float:
        """ln of the call in floats."""
        t, value = float(proof.plan.t), proof.floats(x)
        if not value > 0:
            return self._saddles.saddle_call(self._saddles.saddle(x), x)
        return min(math.log(value) + self._saddles.tilts(t).log_moment - t * x, self._saddles.log_mass)

    @searching
    def saddle_root(self, log_target: float) -> float:
        """About the x with ln call(x) = log_target, from its saddle alone; 0 where that is not in the tail."""
        log_target = self._for_finite(log_target)
        if log_target == -math.inf:
            return math.inf
        x, t = self._saddles.saddle_root(log_target)
        return max(x, 0.0) if t >= self._saddles.flattest else 0.0

    @searching
    def root(self, log_target: float) -> float:
        """About the x with ln call(x) = log_target; ∞ if the mass at ∞ is as large as that."""
        log_target = self._for_finite(log_target)
        if log_target == -math.inf:
            return math.inf
        if log_target >= self._saddles.log_mass:
            return -math.inf
        x, t = self._saddles.saddle_root(log_target)
        if t < self._saddles.flattest:  # it is not in the tail
            t = self._saddles.flattest
            x = self._saddles.flat_root(log_target)
        top = self._saddles.largest  # nothing is beyond, and right before it any x will do
        low, high, slope = -math.inf, top - _TOP * abs(top) if top < math.inf else top, -t
        x = min(x, high - 0.5 / t)
        before: tuple[float, float] | None = None
        for _ in range(_STEPS):
            gap = self._finite(x) - log_target
            low, high = (max(low, x), high) if gap > 0 else (low, min(high, x))
            if before is not None and before[0] != x:
                secant = (gap - before[1]) / (x - before[0])
                slope = secant if secant < 0 else slope
            before = x, gap
            if abs(gap) < _CLOSE or (gap > 0 and x >= high):
                break
            following = x - gap / slope
            if gap > 0 and following >= high:  # near the top the call falls like the distance from it
                following = min(top - (top - x) * math.exp(-gap), high)
            x = following if low < following <= high else (max(low, x - 1 / t) + min(high, x + 1 / t)) / 2
        return x

    @searching
    def plan(self, x: float, relative: float = 1e-10, solving: bool = False) -> BlurPlan:
        """Parameters for a proof at and near x: as near to that relative accuracy of the call as the work allows.
        ``solving``: it is x that is to be known."""
        if x >= self._saddles.largest:
            return _NOTHING
        log_call, failure = self._finite(x), NotCertified("a blurred contour", "no accuracy was tried")
        for coarser in _COARSER:
            plan, before = self._plan(x, log_call, relative * coarser, quick=False, solving=solving), effort.left()
            try:
                self._kept(plan)
            except NotCertified as wrong:  # a part has no nodes so far out
                failure = wrong
            else:
                return plan
            if math.isfinite(before) and not effort.affords(before - effort.left()):
                break  # the next attempt costs about as much
        raise failure

    def _plan(self, x: float, log_call: float, relative: float, quick: bool, solving: bool = False) -> BlurPlan:
        copies = sum(number for _, number in self._parts)
        lost = math.log(relative / (copies * _ROUNDING))  # nats that doubles leave
        t = self._saddles.tilt(x, log_call, -math.log(relative), min(max(lost, _LEAST_LOST), _MOST_LOST), dear=0.5)
        at = float(t)
        if solving:
            relative = min(relative * max(at * x / _FAR, 1.0), max(relative, _FAR_FAIR))
        tilts = self._saddles.tilts(at)
        scale = tilts.log_moment - at * x
        # ln of about density/call, at a saddle of the law or, near the top, of the call
        density = max(scale - math.log(2 * math.pi * tilts.curvature) / 2 - log_call, 2 * math.log(at))
        density = min(density, 2 * math.log(max(at, self._saddles.unit)) + 3)
        most = _MOST_WORK[quick]
        if not quick and copies >= _MANY:
            most *= _LONGER
        cost, fair = self._node_cost(), _FAIR * (max(at * x, 1.0) if solving else 1.0)
        with effort.proving():
            longest = 0.0 if quick else min(_LONGEST, _HALF * effort.left())
        for _ in range(8):
            spacing = min(
                math.exp((math.log(8 * relative) - density) / 2),
                math.exp(min((math.log(80 * relative * tilts.curvature) + log_call - scale) / 3, 300.0)),  # far from x
                _COARSEST * max(math.sqrt(tilts.curvature), 1 / at),
                1 / (at + 1),
            )
            period = self._saddles.period(at, x, log_call + math.log(relative / 8))[0]
            eta = short(2 * math.pi / period)
            if not 1 < period / spacing < math.inf:
                raise NotCertified("a blurred contour", "it lies beyond floats")
            if period / spacing >= _MOST_POINTS:
                relative *= _MUCH_COARSER
                continue
            points = max(math.ceil(2 * math.pi / float(eta) / spacing), _LEAST_POINTS)
            least = math.log(relative / 8) - scale + log_call
            fallen = self._fallen(at, float(eta), points, 0.3 * spacing * (at * period + math.log(points)), least)
            count = min(math.ceil(fallen / float(eta)) + 1, points - 1)
            work = count * max(cost, most / MOST_NODES)
            if quick and spacing * (at + 1) > _WIDEST:  # a coarser look would take as long
                most = max(most, min(1.01 * work, _LONG_LOOK))
            coarser = 1.2 * (work / most) ** 2
            if relative * coarser > fair:
                most = max(most, min(longest, work * math.sqrt(1.2 * relative / fair)))
                coarser = 1.2 * (work / most) ** 2
            if work <= most:
                return BlurPlan(t, eta, count, points)
            relative *= coarser
        raise NotCertified("a blurred contour", "it needs too many nodes")

    def _fallen(self, t: float, eta: float, points: int, more: float, least: float) -> float:
        """About the y from which on the tail of the nodes is low enough; beyond all of them, if there is none."""
        import numpy as np

        low, high = 2 * eta, eta * points
        for number in _LOOKS:  # a second one between two of the first
            y = np.geomspace(low, high, number)
            tail = np.log(1.2 / y + more)
            for transform, copies in self._parts:
                tail += copies * transform.log_decay_floats(t, y)
            enough = np.nonzero(tail < least)[0]
            if not len(enough):
                return high
            i = int(enough[0])
            if i == 0:
                return low
            low, high = float(y[i - 1]), float(y[i])
        return high

    def _node_cost(self) -> float:
        """About how many nanoseconds a node takes: more if it is not dropped, as are most of many copies."""
        share = 1.0 if self._rough is None else len(self._rough[2].indices) / (self._rough[2].plan.count + 1)
        costs = [transform.node_cost(n) * (share if transform.sparse else 1) for transform, n in self._parts]
        return NODE + KEPT_NODE * share + sum(costs)

    def _proof(self, plan: BlurPlan, rough: bool = False) -> BlurredProof:
        t = float(plan.t)  # three moments and a decay, whatever the nodes
        once = sum(_MOMENTS * one.cost(t, 0.0, 0, BITS) + one.decay_cost for one, _ in self._parts)
        if not effort.affords(once + plan.count * self._node_cost() / 1000):  # nodes are spent for part by part
            raise NotCertified("a blurred contour", "the work allowed to one question is spent")
        effort.spend(once, "a blurred contour")
        if rough:
            return BlurredProof(self._parts, self._saddles, plan, rough)
        with effort.owing():  # a check takes the same path
            return BlurredProof(self._parts, self._saddles, plan)

    def _kept(self, plan: BlurPlan) -> BlurredProof:
        """The proof of a plan, one of the last few."""
        proof = self._proofs.get(plan)
        if proof is None:
            while self._crowded():
                self._proofs.pop(next(iter(self._proofs)), None)
            with effort.proving():
                proof = self._proofs[plan] = self._proof(plan)
        return proof

    def keeps(self, plan: BlurPlan) -> bool:
        """Whether the proof of this plan is remembered."""
        return plan in self._proofs

    def _crowded(self) -> bool:
        """Whether the oldest proof must go: many points share many of them, if they are short."""
        kept = len(self._proofs)
        nodes = sum(len(proof.indices) for proof in list(self._proofs.values()))
        return kept >= _KEPT and (kept >= _MOST_KEPT or nodes > _NODES_KEPT)

    @searching
    def call(self, x: Ball, plan: BlurPlan) -> Ball:
        """A proved enclosure of E[(1 − e^{x−L})₊], where L = ∞ counts 1."""
        largest = total_largest(self._parts)
        if largest is not None and x >= largest:
            return self.infinite()
        proof = self._kept(plan)
        with effort.paid(), precision(BITS):
            ends = [x] if x.is_exact() else [x.lower(), x.upper()]  # the call never rises in x
            values = [proof.call(end) for end in ends]
            return (values[0] if len(values) == 1 else between(*values)) + self.infinite()
