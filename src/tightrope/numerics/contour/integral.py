"""The sum of independent losses: E[(1 − e^{x−L})₊] by one contour integral, estimated in floats, proved in balls."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, between, precision
from tightrope.numerics.contour.floats import searching
from tightrope.numerics.contour.lines import FloatLine, float_line, for_many
from tightrope.numerics.contour.loss_sum import LossSum
from tightrope.numerics.contour.polishing import polished
from tightrope.numerics.contour.proof import ALIAS_BITS, Plan, Proof
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform

__all__ = ["UNITS", "ContourSum", "Plan", "Unseen"]

_KEPT = 8
UNITS, _LEAST = 1.3, 1e3  # of work for each microsecond that transforms expect to need, and for a short proof
_FLOAT_NATS, _FLOAT_LOST = 34.0, 15.0  # what floats can hold, and what of it a flatter tilt may spend
_MOST_LOST = 60.0
_COARSEST, _FAR = 1e-9, 20.0  # of a call far out: there ln of the call falls by so much within x
_SEEN = 0.1  # noise of ln of a call that floats see
_ALIASES = 3  # moments that the aliases of many x may need
_BITS, _DEAR = 50, 4e3  # of a first look at the price, and microseconds above which a sharper, dearer decay pays


class Unseen(NotCertified):
    """Floats do not see the call; balls might."""


class ContourSum(LossSum):
    """The call of a sum of independent losses by a contour integral."""

    def __init__(self, parts: Sequence[tuple[Transform, int]]) -> None:
        super().__init__(parts)
        self._proofs: dict[Plan, Proof] = {}
        self._line: FloatLine | None = None
        self._bent = sum(one.bent_cost for one, _ in self._parts)

    @searching
    def curvature(self, x: float) -> float:
        """About K″ at the saddle of x: the variance of the loss under that tilt."""
        return self._saddles.tilts(float(self._saddles.axis.rounded(self._saddles.saddle(x), 5))).curvature

    @searching
    def spread(self) -> float:
        """About the variance of the finite loss where no large loss is seen: K″ near 0."""
        return self._saddles.tilts(float(self._saddles.axis.tilt(self._saddles.unit / 16))).curvature

    def _line_at(self, x: float) -> FloatLine | None:
        """A float line that is good at x: the last one, or a new one at the saddle."""
        line = self._line  # another thread may replace it
        if line is not None and abs(x - line.x) <= line.reach / 3:
            return line
        guess = self._saddles.chernoff(x)[0] - 2.5
        tilt = self._saddles.tilt(x, guess, _FLOAT_NATS, _FLOAT_LOST)
        if line is None or not line.serves(tilt, x):
            line = float_line(self._parts, self._saddles, tilt, x, guess)
            self._line = line
        return line

    def _finite_estimate(self, x: float) -> float:
        """ln of the finite part of the call, guarded: where floats drown, the saddle-point estimate."""
        line = self._line_at(x)
        if line is not None:
            value, noise = line.log_call(x)
            if noise < 1e-3:
                return min(value, self._saddles.log_mass)
        return self._saddles.saddle_call(self._saddles.saddle(x), x)

    @searching
    def rough(self, x: float) -> float:
        """About ln of the finite part of the call at x from the saddle alone: some hundredths off."""
        t = self._saddles.axis.rounded(max(self._saddles.saddle(x), self._saddles.flattest), 5)
        return self._saddles.saddle_call(float(t), x)

    @searching
    def estimate(self, x: float) -> float:
        """About ln of the call at x."""
        finite, infinite = self._finite_estimate(x), self._log_infinite
        if infinite == -math.inf:
            return finite
        return max(finite, infinite) + math.log1p(math.exp(-abs(finite - infinite)))

    @searching
    def root(self, log_target: float) -> float:
        """About the x with ln call(x) = log_target; ∞ if the mass at ∞ is as large as that."""
        log_target = self._for_finite(log_target)
        if log_target == -math.inf:
            return math.inf
        if log_target >= self._saddles.log_mass:
            return -math.inf
        x, saddle = self._saddles.saddle_root(log_target)
        if saddle < self._saddles.flattest:  # it is not in the tail
            x = self._saddles.flat_root(log_target)
        for _ in range(5):
            tilt = self._saddles.tilt(x, log_target, _FLOAT_NATS, _FLOAT_LOST)
            line = float_line(self._parts, self._saddles, tilt, x, log_target)
            found = line.root(log_target, x) if line is not None else None
            if found is None or line is None:
                break
            self._line = line
            moved, x = abs(found - x), found
            if moved <= line.reach / 10 or line.serves(self._saddles.tilt(x, log_target, _FLOAT_NATS, _FLOAT_LOST), x):
                break
        return x

    @searching
    def root_beside(self, other: ContourSum, log_target: float) -> float | None:
        """The same on the last line of a sum that hardly differs; None where that does not serve, or mass is at ∞."""
        line = other._line
        if line is None or max(self._log_infinite, other._log_infinite) > -math.inf:
            return None
        self._line = line.redrawn(self._parts, self._saddles)
        x = None if self._line is None else self._line.root(log_target, line.x)
        return x if x is not None and abs(x - line.x) <= line.reach / 3 else None

    @searching
    def below_beside(self, other: ContourSum, x: float, log_target: float) -> bool:
        """Whether the call at x is less than e^log_target, on that line; without one it was seen from afar."""
        line = other._line
        if line is None:
            return True
        self._line = line.redrawn(self._parts, self._saddles)
        near = self._line is not None and abs(x - line.x) <= line.reach / 3
        return near and self._line is not None and self._line.log_call(x)[0] < log_target

    @searching
    def seen(self, x: float) -> float:
        """x, if floats see the call there."""
        line = self._line_at(x)
        if line is None or not line.log_call(x)[1] < _SEEN:
            raise Unseen("a contour integral", "floats do not see the call")
        return x

    @searching
    def fineness(self, x: float, relative: float) -> float:
        """How well the call must be known at x, so that x is known that well; far out less well than x."""
        return min(relative * max(x * self._saddles.saddle(x) / _FAR, 1.0), _COARSEST)

    @searching
    def plan(self, x: float, relative: float = 1e-11, spread: float = 0.0) -> Plan:
        """Parameters for a proof at and near x, for that relative accuracy of the call from x − spread to x + spread.

        Raises NotCertified if the proof would need more than about half a second.
        """
        line = self._line_at(x)
        log_call, noise = line.log_call(x) if line is not None else (0.0, math.inf)
        if not noise < _SEEN:
            raise Unseen("a contour integral", "floats do not see the call")
        return self._plan(x, log_call, relative, spread, line)

    @searching
    def crude_plan(self, x: float, log_call: float, relative: float) -> Plan:
        """A plan from about ln of the call at x, for a bound of it that need not be sharp."""
        return self._plan(x, log_call, relative, 0.0, None)

    @searching
    def blind_plan(self, x: float, log_call: Callable[[float], float], relative: float, spread: float) -> Plan:
        """A plan where floats do not see the call, of which about the logarithm is known from elsewhere."""
        return self._plan(x, log_call(x), relative, spread, None, log_call)

    def _plan(
        self,
        x: float,
        log_call: float,
        relative: float,
        spread: float,
        line: FloatLine | None,
        beside: Callable[[float], float] | None = None,
    ) -> Plan:
        t = self._saddles.tilt(x, log_call, -math.log(relative), _MOST_LOST)
        at = float(t)
        estimate = beside or self._finite_estimate
        logs = {x: log_call} | ({y: estimate(y) for y in (x - spread, x + spread)} if spread else {})
        totals = {y: max(log, self._log_infinite) for y, log in logs.items()}
        wanted = math.log(relative / 4)
        eta = short(2 * math.pi / max(self._saddles.period(at, y, log + wanted)[0] for y, log in totals.items()), 5)
        moment = self._saddles.tilts(at).log_moment + math.log(float(eta) / (2 * math.pi))
        least = min(log + wanted - moment + at * y for y, log in totals.items())
        count, size = self._count(line, at, float(eta), least)
        copies = sum(k for _, k in self._parts)
        period = 2 * math.pi / float(eta)
        known = self._saddles.log_mass - at * period - math.log(-math.expm1(-at * period))
        lost = max(max(moment - at * y - math.log(at * (at + 1)), known, log) - log for y, log in totals.items())
        bits = math.ceil((math.log(copies) + lost - wanted + math.log(2 + size)) / math.log(2)) + 2
        plan = Plan(t, eta, count, max(-(-bits // 4) * 4, 32))
        self._affordable(at, float(eta), count, plan.bits)
        return plan

    def _affordable(self, t: float, eta: float, count: int, bits: int) -> None:
        work = sum(transform.cost(t, eta, count, bits) for transform, _ in self._parts)
        with effort.proving():
            longest = max(transform.longest_proof for transform, _ in self._parts)
            most = min(for_many(longest, len(self._parts)), effort.left() / UNITS - self._around(t))
        if not work < most:
            raise NotCertified("a contour integral", f"it needs {work / 1e6:.2g} s")

    def _around(self, t: float) -> float:
        """Microseconds of what a proof needs besides its line."""
        moments = sum(one.moment_cost(t, ALIAS_BITS) for one, _ in self._parts)
        return _ALIASES * moments + sum(one.decay_cost for one, _ in self._parts) + self._bent

    def _count(self, line: FloatLine | None, t: float, eta: float, log_error: float) -> tuple[int, float]:
        """The number of nodes from the decays, for a node tail of e^log_error, and the terms' relative size."""
        # without a line: where a normal sum of that curvature has fallen so far
        start, size = math.sqrt(max(-2 * log_error, 0.5) / self._saddles.tilts(t).curvature), 1.0
        if line is not None:
            inside = [k for k, log in enumerate(line.log_sizes) if log < log_error + 8]
            start = line.eta * (inside[0] if inside else len(line.log_sizes))
            size = float(abs(line.terms).sum() / abs(line.terms[0]))
        start = max(start / 1.1, eta)
        count = self._fallen(start, t, eta, log_error, sharp=False)
        if any(transform.bends for transform, _ in self._parts) and not (
            count is not None and sum(transform.cost(t, eta, count, _BITS) for transform, _ in self._parts) < _DEAR
        ):
            count = self._fallen(start, t, eta, log_error, sharp=True) or count
        if count is None:
            raise NotCertified("a contour integral", "its transform does not decay fast enough")
        return _rounded(count), size

    def _fallen(self, start: float, t: float, eta: float, log_error: float, sharp: bool) -> int | None:
        """The first node from about ``start`` on whose tail is e^log_error; None if that is out of reach."""
        import numpy as np

        while math.isfinite(start):
            try:
                self._affordable(t, eta, math.ceil(start / eta), _BITS)
            except NotCertified:
                return None
            effort.spend(self._bent if sharp else 0.0, "a search for where nodes are low")
            y = start * 1.08 ** np.arange(13)
            logs = np.log(2 * np.arctan(t / y) / (t * eta))
            for transform, copies in self._parts:
                if sharp and transform.bends:
                    logs += copies * recall.log_bent_decay_floats(transform, t, y)
                else:
                    logs += copies * recall.log_decay_floats(transform, t, y)
            enough = np.nonzero(logs < log_error)[0]
            if len(enough):
                return math.ceil(float(y[enough[0]]) / eta) + 1
            start = float(y[-1])
        return None

    def slope(self, x: float) -> float | None:
        """About that of ln of the call at x, on the last float line, if it reaches."""
        line = self._line  # another thread's may be elsewhere
        if line is None or abs(x - line.x) > line.reach:
            return None
        near = x + 1e-4 / line.t
        return (line.log_call(near)[0] - line.log_call(x)[0]) / (near - x)

    def polished(self, x: float, log_target: float, plan: Plan) -> float:
        """A root improved on proved values (``polishing``)."""
        return polished(self, x, log_target, plan)

    def units(self, plan: Plan) -> float:
        """Of work for the proof of a plan."""
        t, eta = float(plan.t), float(plan.eta)
        work = sum(one.cost(t, eta, plan.count, plan.bits) for one, _ in self._parts)
        return UNITS * (work + self._around(t)) + _LEAST

    @searching
    def call(self, x: Ball, plan: Plan) -> Ball:
        """A proved enclosure of E[(1 − e^{x−L})₊], where L = ∞ counts 1. Never rises in x."""
        proof = self._proofs.get(plan)
        if proof is None:
            while len(self._proofs) >= _KEPT:
                self._proofs.pop(next(iter(self._proofs)), None)
            with effort.proving():
                effort.spend(self.units(plan), "a contour integral")
            with effort.paid():
                proof = self._proofs[plan] = Proof(self._parts, self._saddles, plan)
        with effort.paid(), precision(proof.bits):
            ends = [x] if x.is_exact() or x.rel_accuracy_bits() > 60 else [x.lower(), x.upper()]
            values = [self._clipped(proof, end) for end in ends]
            value = values[0] if len(values) == 1 else between(*values)
            return value + self.infinite()

    def _clipped(self, proof: Proof, x: Ball) -> Ball:
        """The proved value, cut to what every call satisfies: max(0, M(0) − M(−1)eˣ) ≤ call ≤ M(0)."""
        value = proof.call(x)
        low = (proof.mass - proof.reverse * x.exp()).lower().max(Ball(0))
        high = proof.mass.upper()
        if not value.is_finite():
            return between(low, high)
        if value.lower() >= low and value.upper() <= high:
            return value
        return between(value.lower().max(low).min(high), value.upper().min(high).max(low))


def _rounded(count: int) -> int:
    """A few more nodes, so that sums that differ little share their lines: four significant bits."""
    unit = 1 << max(count.bit_length() - 4, 0)
    return -(-count // unit) * unit
