"""Few sampled steps at small rates: the contour integral around those paths that it is needed for, proved.

Every step is LOW, MIDDLE or HIGH (``windowed_law``). With W the product of the w, x fixed and call(x) = E[(W − e^x)₊]
under the plain law, the paths fall into three kinds, each with a call ≥ 0, and the calls add:

    some step HIGH         P_H − e^x Q_H ≤ call ≤ min(P_H, P_H − e^x Q_H + c(v−1)e^{vx}·k·H(−v)M(−v)^{k−1}), v > 1
    no HIGH, some MIDDLE   the contour integral of F(s) = (l(s) + m(s))^k − m(s)^k, as in ``contour_proof``
    all LOW                0 ≤ call ≤ c(t')m(t')^k e^{−t'x}, t' > 0

where m, l, H are the moments of the pieces, ∫φ W w^{s+1}; the call of paths with a step beyond a cut is at most their
probability. F belongs to a positive measure that has neither the sharp
bulk nor the heavy tail: both would need very many nodes. Its losses are at least k·ln(1−q).

When a record is *added* the loss is −ln w under the plain law, at most −k·ln(1−q). The moments are ∫φ W w^{−s}, nothing
is LOW, and paths with a HIGH step have a call between 0 and c(v−1)e^{−(v−1)x}·k·∫φ H w^{1−v}·(∫φ w^{1−v})^{k−1}.
"""

from __future__ import annotations

from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.contour.proof import call_factor
from tightrope.numerics.moments.sampled_normal import log_power_mean
from tightrope.numerics.real import Real
from tightrope.numerics.windowed.bounds import HIGH, LOW, MIDDLE
from tightrope.numerics.windowed.law import Step
from tightrope.numerics.windowed.plan import WindowPlan

__all__ = ["WindowProof"]

_GUARD = 24
_MOST_NODES, _MOST_BITS = 8000, 4000  # a plan may come from outside
_ROUGH = 20  # bits, where a bound is wanted and no value


class WindowProof:
    """Everything about one plan that does not depend on x."""

    def __init__(self, mu: Real, rate: Fraction, copies: int, plan: WindowPlan, adding: bool = False) -> None:
        positive = plan.t > 0 and plan.eta > 0 and plan.above > plan.t and plan.put > 1 and plan.all_low > 0
        if not positive or not (1 <= plan.count <= _MOST_NODES and 2 <= plan.bits <= _MOST_BITS):
            raise NotCertified("a windowed contour", "its plan is void or out of reach")
        if plan.below is not None and not plan.below >= 1:
            raise NotCertified("a windowed contour", "its plan is void")
        if adding and plan.split.low is not None:
            raise NotCertified("a windowed contour", "nothing is low when a record is added")
        self._mu, self._rate, self._copies, self._plan, self._adding = mu, rate, copies, plan, adding
        self._step = Step(mu, rate, plan.split)
        self.bits = plan.bits + copies.bit_length() + _GUARD
        with precision(self.bits):
            middle, low = self._lines()
            self._log_scale = self._log_power(middle[0].real, None if low is None else low[0].real)
            self._terms = self._ratios(middle, low)
            self._period = 2 * Ball.pi() / ball(plan.eta)
            self._tail = self._node_tail(low)
            self._mass, self._reverse = self._masses()
            ends = self._step.least_loss() * copies, self._step.last_loss() * copies
            self._least, self._largest = (-ends[1], -ends[0]) if adding else ends
            self._high_mass, self._high_reverse = (
                -((-share).log1p() * copies).expm1() for share in self._step.shares(HIGH)
            )
        with precision(_ROUGH + copies.bit_length()):
            self._above = call_factor(plan.above) * self._bounded(plan.above).exp()
            self._below = None
            if plan.below is not None:
                self._below = call_factor(plan.below - 1) * self._bounded(-plan.below).exp()
            self._put = self._high_put()
            self._all_low, self._lost = Ball(0), self._step.lost(MIDDLE, 0 if adding else 1) * copies
            if plan.split.low is not None:
                power = (self._step.moment(LOW, plan.all_low + 1, plan.low_end).log() * copies).exp()
                self._all_low = call_factor(plan.all_low) * power
                self._lost += (self._step.lost(LOW, 1) + self._step.lost(LOW, 1, plan.low_end)) * copies

    def _power(self, s: Fraction) -> Fraction:
        return -s if self._adding else s + 1

    def _lines(self) -> tuple[list[ComplexBall], list[ComplexBall] | None]:
        plan = self._plan
        with precision(plan.bits + self._copies.bit_length()):
            turn = -plan.eta if self._adding else plan.eta
            middle = self._step.line(MIDDLE, self._power(plan.t), turn, plan.count)
            if plan.split.low is None:
                return middle, None
            return middle, self._step.line(LOW, plan.t + 1, plan.eta, plan.count)

    def _log_power(self, middle: Ball, low: Ball | None) -> Ball:
        """ln((l + m)^k − m^k), l and m positive."""
        k = self._copies
        if low is None:
            return middle.log() * k
        return low.log() * k + (((middle / low).log1p() * k).expm1()).log()

    def _ratios(self, middle: list[ComplexBall], low: list[ComplexBall] | None) -> list[tuple[Ball, Ball]]:
        """F(s)/F(t)/(s(s+1)) at the nodes."""
        plan, k, terms = self._plan, self._copies, []
        for n in range(plan.count + 1):
            if low is None:
                ratio = middle[n] / middle[0]
                power = (ratio.log() * k).exp() if k >= 8 and ratio.abs_lower() > 0 else ratio**k
            elif not low[n].abs_lower() > 0:
                raise NotCertified("a windowed contour", "the low part vanishes")
            else:
                grown = ((middle[n] / low[n]).log1p() * k).expm1()
                power = grown * (low[n].log() * k - self._log_scale).exp()
            s = ComplexBall(ball(plan.t), ball(plan.eta * n))
            term = power / (s * (s + 1))
            terms.append((term.real, term.imag))
        return terms

    def _node_tail(self, low: list[ComplexBall] | None) -> Ball:
        """A bound of 2 Σ_{n>N} |F(s)/F(t)/(s(s+1))|: |F| ≤ (R_l + R_m)^k − R_m^k, which grows with both."""
        plan, k = self._plan, self._copies
        y, t = plan.eta * plan.count, ball(plan.t)
        with precision(plan.bits + k.bit_length()):  # it must be seen how small the middle part has become
            middle = self._step.decay(MIDDLE, self._power(plan.t), y, plan.angle)
            bottom = None
            if low is not None:
                bottom = low[0].real.upper()
                if plan.low_angle > 0:
                    bottom = bottom.min(self._step.decay(LOW, plan.t + 1, y, plan.low_angle))
        log = self._log_power(middle, bottom) - self._log_scale
        return (2 * log.exp() * (t / ball(y)).atan() / (t * ball(plan.eta))).upper()

    def _masses(self) -> tuple[Ball, Ball]:
        """F(0) and F(−1)."""
        middle = self._step.shares(MIDDLE)
        low = (None, None) if self._plan.split.low is None else self._step.shares(LOW)
        first, second = (self._log_power(a, b).exp() for a, b in zip(middle, low, strict=True))
        return (second, first) if self._adding else (first, second)

    def _bounded(self, t: Fraction) -> Ball:
        """ln F(t) at a real t."""
        middle = self._step.moment(MIDDLE, self._power(t))
        return self._log_power(middle, None if self._plan.split.low is None else self._step.moment(LOW, t + 1))

    def _high_put(self) -> Ball:
        """c(v−1)·k·H(−v)·M(−v)^{k−1}."""
        v, k = self._plan.put, self._copies
        whole = log_power_mean(self._mu, self._rate, 1 - v) * (k - 1)
        return call_factor(v - 1) * k * self._step.moment(HIGH, 1 - v) * whole.exp()

    def call(self, x: Ball) -> Ball:
        """E[(1 − e^{x−L})₊], enclosed."""
        with precision(self.bits):
            low = (ball(-self._plan.all_low) * x).exp() * self._all_low
            return self._middle(x) + self._high(x) + between(Ball(0), (low + self._lost).upper())

    def _high(self, x: Ball) -> Ball:
        if self._adding:
            bound = (ball(1 - self._plan.put) * x).exp() * self._put
            return between(Ball(0), bound.upper().min(self._high_reverse.upper()))
        least = self._high_mass - x.exp() * self._high_reverse
        most = (least + (ball(self._plan.put) * x).exp() * self._put).upper()
        return _between_ends(least.lower().max(Ball(0)), most.min(self._high_mass.upper()))

    def _middle(self, x: Ball) -> Ball:
        t, turn, total = ball(self._plan.t), ball(self._plan.eta) * x, Ball(0)
        for n in range(1, len(self._terms)):
            real, imag = self._terms[n]
            sin, cos = (turn * n).sin_cos()
            total += real * cos + imag * sin
        total = self._terms[0][0] + 2 * total + between(-self._tail, self._tail)
        value = (self._log_scale - t * x).exp() * total / self._period
        value -= self._aliases_below(x)
        higher = ball(self._plan.above)
        if not x + self._period >= self._largest:
            above = self._above * (-higher * x).exp() / ((higher - t) * self._period).expm1()
            value -= between(Ball(0), above.upper())
        if not value.is_finite():
            return between(Ball(0), self._mass)
        return _between_ends(value.lower().max(Ball(0)), value.upper().min(self._mass.upper()))

    def _aliases_below(self, x: Ball) -> Ball:
        """The known pieces, and a ball for the rest, which is 0 where x − B is no larger than the least loss."""
        t, b = ball(self._plan.t), self._period
        known = self._mass / (t * b).expm1() - self._reverse * x.exp() / ((t + 1) * b).expm1()
        if x - b <= self._least:
            return known
        if self._below is None or self._plan.below is None:
            return known + between(Ball(0), self._reverse.upper() * x.exp() / ((t + 1) * b).expm1())
        v = ball(self._plan.below)
        rest = self._below * (v * x).exp() / ((v + t) * b).expm1()
        return known + between(Ball(0), rest.upper())


def _between_ends(low: Ball, high: Ball) -> Ball:
    """What lies between two exact ends; nothing else is possible than low ≤ high."""
    return between(low, high.max(low))
