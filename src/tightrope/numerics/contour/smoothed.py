"""The sum of independent losses, atoms among them, some of them rare and large: plans for ``smoothed_proof``.

Rare large losses outgrow all others beyond some tilt, so that no saddle is reached, and the terms of every contour
exceed the call by many nats. All searches are on proved values: doubles would drown.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, between, precision
from tightrope.numerics.contour.floats import searching
from tightrope.numerics.contour.islands import islands
from tightrope.numerics.contour.loss_sum import LossSum
from tightrope.numerics.contour.smoothed_proof import NotLow, SmoothedProof, SmoothPlan, check_gaps, price
from tightrope.numerics.contour.tilts import normal_root
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.low_stretches import LowPart, low_parts, near_end
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform

__all__ = ["SmoothPlan", "SmoothedSum"]

_KEPT = 32  # proofs: many points share many of them
_TILTS, _TRIED = (1.0, 0.75, 0.5, 0.2, 0.1), 3  # of the saddle; and those of which one should do
_DEAR, _FLAT = 60.0, (0.5, 0.2, 0.1)  # microseconds of a tilt, and where that is dear, of which the first must do
_ROUGH = 1e-2
_WIDER, _WIDEST = 2, 2e-5  # times that λ is made wider, and about its largest price, of x
_THIN = 1 / 16  # λ in deviations, whatever the slope is
_ASIDE = 1.2  # so much wider than where nodes were not low: it is rounded, too
_SOON = (1.04, 1.15, 1.3, 1.5, 2.0, 3.0, 4.5, 7.0, 10.0)  # last nodes, of those of a normal loss
_LATER = tuple(10 * 1.5**i for i in range(1, 20))  # where most of the deviation is that of atoms
_ROOM = 1.1  # |φ| is to be a little below what is asked
_MORE, _NEAR_BY = 1.5, 4.0  # times as many nodes, where those seen are not enough: where it fails so near to them
_PLACES, _MENDED = 32, 6  # times that a plan may be mended
_MOST_NODES = 4000
_LOW_WORK, _LOOKS = 5e3, 100  # to see how far nodes are not low; and the tilts that are worth as much as the rest
_AGAIN = 2.5  # plans like the first one that a search for a root takes, at least
_PLANS, _STEPS, _STEEPER, _STEEPENED = 10, 10, 4.0, 3  # the slope, where nothing is seen; and how often
_BELOW = (25.0, 70.0, 150.0, 300.0)  # nats by which a call may be below Chernoff's bound
_CLOSE, _APART = 1e-3, 0.1  # ln of the call so near to its target ends a search; and what all plans agree on
_BEFORE, _NEAR, _OUTGROWN = 0.85, 0.02, 4.0  # a tilt so much below the saddle should have about the same curvature
_LOW_NATS, _NOTHING = 40.0, 3.0
_SMALL, _SEEN = (16, 128, 1024), 4  # shares of the usual tilt; bits of a ball whose middle is worth something
_WHAT = "a smoothed contour"


class SmoothedSum(LossSum):
    """The call of a sum of independent losses by contour integrals of functions that enclose it."""

    def __init__(self, parts: Sequence[tuple[Transform, int]]) -> None:
        super().__init__(parts)
        self._proofs: dict[SmoothPlan, SmoothedProof] = {}
        self._low: dict[Hashable, Fraction] = {}

    @searching
    def root(self, log_target: float) -> tuple[float, float]:
        """About the x with ln call(x) = log_target, and the slope of that logarithm there."""
        log_target = self._for_finite(log_target)
        if log_target == -math.inf:
            return math.inf, 0.0
        if log_target >= self._saddles.log_mass:
            return -math.inf, 0.0
        deviation, low, high = self._deviation(), 0.0, _ROOM * self._saddles.last_root(log_target)
        x, slope = self._start(log_target)
        x, back, steeper = max(x, 0.0), deviation / 4, 0
        for _ in range(_PLANS):
            plan, made = self._proved(x, log_target, -slope, _ROUGH, room=_AGAIN), x
            reach = max(deviation, math.pi / float(plan.eta))
            for _ in range(_STEPS):
                found = self._log_slope(x, plan)
                if found is None:  # the call drowns: where it falls more steeply than was thought, or is small
                    below = self._below(x, plan, log_target)
                    if x == made and not below and steeper < _STEEPENED:
                        slope, steeper = slope * _STEEPER, steeper + 1
                    elif x == made or below:
                        high, slope, steeper = min(high, x), slope / _STEEPER**steeper, 0
                        x, back = (low + high) / 2 if low > 0 else max(x - back, x / 2), 2 * back
                    break
                gap, slope, steeper = found[0] - log_target, found[1], 0
                if gap < 0 and x <= 0:
                    return 0.0, slope
                if abs(gap) > _APART:
                    low, high = (max(low, x), high) if gap > 0 else (low, min(high, x))
                following = min(x - gap / slope, made + reach)
                x = following if low < following < high else (low + min(high, 2 * x)) / 2
                if abs(gap) < _CLOSE:
                    return x, slope
                if abs(x - made) > reach:
                    break
        raise NotCertified(_WHAT, "no search found where the call is that small")

    def _start(self, log_target: float) -> tuple[float, float]:
        """Chernoff's bound of a root, and its slope, or that as if the sum were normal and had no rare losses."""
        x, steep = min(normal_root(self._deviation(), log_target), self._saddles.saddle_root(log_target))
        return x, -steep

    def _log_slope(self, x: float, plan: SmoothPlan) -> tuple[float, float] | None:
        """ln of the call of one plan and its slope; None where it is not seen."""
        first, step = self._log_call(x, plan), 1e-3 / float(plan.t)
        second = self._log_call(x + step, plan)
        return None if first is None or second is None or not second < first else (first, (second - first) / step)

    @searching
    def weak(self) -> bool:
        """Whether the decays of the parts do not show that nodes are low where those of a normal sum are."""
        import numpy as np

        y = np.array([2 * math.sqrt(2 * _LOW_NATS) / self._deviation()])
        t = self._saddles.unit / 2
        logs = sum(copies * recall.log_decay_floats(transform, t, y)[0] for transform, copies in self._parts)
        return not logs < -_LOW_NATS / 2

    def dear(self) -> bool:
        """Whether a part has no nodes in doubles."""
        return any(math.isinf(transform.node_cost(copies)) for transform, copies in self._parts)

    @searching
    def rare(self, log_target: float) -> bool:
        """Whether large losses outgrow all others right before the saddle for such a call, which is none then."""
        import numpy as np

        t = self._saddles.saddle_root(self._for_finite(log_target))[1]
        around = t * np.array([1 - _NEAR, 1.0, 1 + _NEAR])
        bends = [float(np.diff(self._saddles.log_moment(at), 2)[0]) for at in (around, _BEFORE * around)]
        return not 0 < bends[0] < _OUTGROWN * _BEFORE**2 * bends[1]

    def _deviation(self) -> float:
        """About that of the finite loss where no large loss is seen: at a small tilt, or a tiny one."""
        return math.sqrt(min(self._saddles.tilts(self._saddles.unit / by).curvature for by in _SMALL))

    @searching
    def plan_at(self, x: float, relative: float) -> SmoothPlan:
        """A plan for x alone: from contours for smaller and smaller calls, until one sees it, but for none that is
        nothing beside the mass at ∞. Where the work does not last, that of the smallest one, which bounds the call."""
        most, deviation, least = self._saddles.chernoff(x)[0], self._deviation(), self._log_infinite - _NOTHING
        plan: SmoothPlan | None = None
        for below in _BELOW:
            level = max(min(most - below, -1.0), least)
            steep = math.sqrt(-2 * level) / deviation
            try:
                plan = self._proved(x, level, steep, _ROUGH)
                found = self._log_slope(x, plan)
                if found is not None or level == least:
                    return self.plan(x, *(found or (least, -steep)), relative)
            except NotCertified:
                if plan is None:
                    raise
                break
        assert plan is not None
        return plan

    def _below(self, x: float, plan: SmoothPlan, log_target: float) -> bool:
        with precision(plan.bits + 64):
            return bool(self.call(Ball(x), plan) - self.infinite() < Ball(log_target).exp())

    def _log_call(self, x: float, plan: SmoothPlan) -> float | None:
        """ln of the middle of the proved call; None where its radius is as large."""
        with precision(plan.bits + 64):
            value = self.call(Ball(x), plan) - self.infinite()
            return float(value.mid().log()) if value.mid() > 0 and value.rel_accuracy_bits() >= _SEEN else None

    @searching
    def plan(self, x: float, log_call: float, slope: float, relative: float) -> SmoothPlan:
        """Parameters for a proof at and near x, where ln of the call has that slope: as near to that relative accuracy
        of the call as can be proved."""
        narrowest = 0.0
        with effort.proving():
            for _ in range(_WIDER):
                try:
                    return self._proved(x, log_call, -slope, relative, narrowest)
                except NotLow as wrong:
                    narrowest = _ASIDE * math.sqrt(2 * wrong.nats) / wrong.reached
                    if not narrowest**2 * (1 - slope) < _WIDEST * x:
                        raise
            return self._proved(x, log_call, -slope, relative, narrowest)

    def _proved(
        self, x: float, log_call: float, steep: float, relative: float, narrowest: float = 0.0, room: float = 1.0
    ) -> SmoothPlan:
        """A plan whose nodes are proved to be low, if need be with some more of them, or with islands. ``room``: so
        many times its price is to be left."""
        plan = self._plan(x, log_call, steep, relative, narrowest)
        for _ in range(_MENDED):
            try:
                self._kept(plan, room)
                break
            except NotLow as wrong:
                plan = self._mended(plan, wrong)
        self._kept(plan, room)
        return plan

    def _mended(self, plan: SmoothPlan, wrong: NotLow) -> SmoothPlan:
        """A plan that may do where one does not; the failure again if there is none."""
        if wrong.reached <= _NEAR_BY * float(plan.eta) * plan.count:
            return replace(plan, count=min(math.ceil(_MORE * plan.count), plan.last))
        found = islands(low_parts(self._parts, plan.t), plan, wrong.reached) if self._each_alone(plan.t) else None
        if found is None or found == plan.islands:  # floats see nothing there: it is only too long to be proved
            raise wrong
        return replace(plan, islands=found)

    def _each_alone(self, t: Fraction) -> bool:
        """Whether every part has nodes far out, one by one."""
        return all(transform.each or transform.terms_of(t) is not None for transform, _ in self._parts)

    def _plan(self, x: float, log_call: float, steep: float, relative: float, narrowest: float) -> SmoothPlan:
        """``steep``: −d ln call/dx; ``narrowest``: the least λ. At the first tilt at which nodes seem low soon, or else
        the one at which they do with the fewest."""
        error = math.log(relative / 8)
        least = math.sqrt(relative / (steep * (steep + 1)))  # the price is about 0.43λ²·density/call
        least = min(least, _THIN * self._deviation())
        width, copies = short(max(least, narrowest), 4), sum(number for _, number in self._parts)
        found: list[SmoothPlan] = []
        for t, period, lost in self._tilts(x, log_call, error):
            eta = short(2 * math.pi / period, 5)
            nats = math.ceil(lost - error + max(math.log(self._deviation()), 0.0) + 1)
            last = math.ceil(math.sqrt(2 * nats) / float(width * eta))
            effort.spend(_LOW_WORK + _LOOKS * sum(transform.tilt_cost for transform, _ in self._parts), _WHAT)
            with effort.owing():
                count = self._count(low_parts(self._parts, t), eta, last, nats)
            if count is not None:
                bits = math.ceil((lost - error + math.log(copies) + 2) / math.log(2))
                found.append(SmoothPlan(t, eta, count, max(-(-bits // 8) * 8, 32), width, last, nats))
                if count <= _SOON[-1] * self._usual(eta, nats):
                    break
        if not found:
            raise NotCertified(_WHAT, "its nodes are not low")
        return min(found, key=lambda plan: plan.count)

    def _tilts(self, x: float, log_call: float, error: float) -> list[tuple[Fraction, float, float]]:
        """A few tilts, their periods, and the nats by which terms exceed the call; the fewest nodes first."""
        found, dear = [], sum(transform.tilt_cost for transform, _ in self._parts) > _DEAR
        saddle = max(self._saddles.saddle(x), self._saddles.unit / 32)
        for factor in _FLAT if dear else _TILTS:
            trial = short(saddle * factor, 5)
            tilts, at = self._saddles.tilts(float(trial)), float(trial)
            lost = max(tilts.log_moment - at * x - log_call, 0.0)
            period = self._saddles.period(at, x, log_call + error)[0]
            found.append((period * math.sqrt(lost - error), (trial, period, lost)))  # the bulk is about as wide at any
        return [one for _, one in sorted(found)[: 1 if dear else _TRIED]]

    def _usual(self, eta: Fraction, nats: float) -> float:
        """The last node that is not low, if the sum is about normal."""
        return math.sqrt(2 * nats) / (self._deviation() * float(eta))

    def _count(self, parts: list[LowPart], eta: Fraction, last: int, nats: float) -> int | None:
        """The last node that is not low, as far as floats and moments see it; None if it is far out."""
        usual = self._usual(eta, nats)
        for factors in (_SOON, _LATER):
            counts = [n for factor in factors if (n := min(math.ceil(factor * usual), last)) <= _MOST_NODES]
            i = bisect_left(counts, True, key=lambda n: n >= last or self._low_from(parts, eta * n, nats))
            if i < len(counts):
                return counts[i]
        return None

    @staticmethod
    def _low_from(parts: list[LowPart], y: Fraction, nats: float) -> bool:
        """Whether nodes seem low right after y."""
        import numpy as np

        if any(part.log_decay(float(y)) < -_ROOM * nats for part in parts):
            return True
        with precision(80):
            near = near_end(parts, y, 4 * y, nats)
        places = np.geomspace(float(near), 4 * float(near), _PLACES)
        low = np.zeros(_PLACES, dtype=np.bool_)
        return any(bool((low := low | (part.logs(places) < -_ROOM * nats)).all()) for part in parts)

    def _kept(self, plan: SmoothPlan, room: float = 1.0) -> SmoothedProof:
        """The proof of a plan, one of the last few."""
        proof = self._proofs.get(plan)
        if proof is None:
            while len(self._proofs) >= _KEPT:
                self._proofs.pop(next(iter(self._proofs)), None)
            plan.check()
            work = price(self._parts, plan)
            for number in range(1, len(plan.islands) + 2):
                if not effort.affords(room * work):
                    raise NotCertified(_WHAT, "the work allowed to one question is spent")
                with effort.owing():  # a check takes the same path
                    check_gaps(self._parts, plan, self._low, number)
            with effort.owing():
                effort.spend(work, _WHAT)
                proof = self._proofs[plan] = SmoothedProof(self._parts, self._saddles, plan, self._low)
        return proof

    @searching
    def call(self, x: Ball, plan: SmoothPlan) -> Ball:
        """A proved enclosure of E[(1 − e^{x−L})₊], where L = ∞ counts 1."""
        proof = self._kept(plan)
        with effort.paid(), precision(proof.bits):
            ends = [x] if x.is_exact() else [x.lower(), x.upper()]  # the call never rises in x
            values = [proof.call(end) for end in ends]
            return (values[0] if len(values) == 1 else between(*values)) + self.infinite()
