"""The contour integral at one tilt, proved: trapezoidal sum, aliases, node tail, rounding.

For t > 0 and s = t + iy the call E[(1 − e^{x−L})₊; L < ∞] is (1/2π)∫ M(s)e^{−sx}/(s(s+1)) dy. The trapezoidal
rule with step η = 2π/B gives EXACTLY Σ_j call(x+jB)e^{tjB} (Poisson summation), every term ≥ 0:

    j > 0   call(z) ≤ c(t')M(t')e^{−t'z} for every t' > t, c(t) = t^t/(1+t)^{1+t}; 0 beyond the largest loss
    j < 0   call(z) = M(0) − M(−1)e^z + put(z), 0 ≤ put(z) ≤ c(v−1)M(−v)e^{vz} for every v ≥ 1
            call(z) = M(0) − E[min(1, e^{z−L})], 0 ≤ E[min(1, e^{z−L})] ≤ M(−v)e^{vz} for every 0 ≤ v ≤ 1

The known pieces, M(0) and for v ≥ 1 also M(−1)e^z, are summed in closed form and subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision, upper_float
from tightrope.numerics.contour.floats import Saddles
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform, whole_power

__all__ = ["Plan", "Proof", "call_factor", "log_moment"]

_GUARD = 40
_ALIAS_BITS = 12  # of the moments in bounds of aliases, which are small
_MOST_NODES, _MOST_BITS = 100_000, 10_000  # a plan may come from outside


@dataclass(frozen=True)
class Plan:
    """Tilt t, step η, nodes 0 … count, and the bits to which the transforms are evaluated: short exact numbers."""

    t: Fraction
    eta: Fraction
    count: int
    bits: int


def call_factor(t: Fraction) -> Ball:
    """c(t) = sup_u (1−e^{−u})e^{−tu} = t^t/(1+t)^{1+t} for t ≥ 0."""
    at = ball(t)
    return (-at * (1 / at).log1p() - at.log1p()).exp() if t > 0 else Ball(1)  # no cancellation


def log_moment(parts: Sequence[tuple[Transform, int]], t: Fraction, bits: int) -> Ball:
    """K(t) = Σ k·ln M(t), to about 2^−bits (absolute)."""
    total = Ball(0)
    for transform, copies in parts:
        with precision(bits + copies.bit_length()):
            total += recall.log_real(transform, t) * copies
    return total


@dataclass(frozen=True)
class _Alias:
    """The bound factor·e^{moment + slope·x} of the aliases on one side, from the moment at a second tilt."""

    tilt: Fraction
    slope: Ball
    moment: Ball
    factor: Ball

    def at(self, x: Ball) -> Ball:
        """An upper bound, of which the aliases' sum lies between 0 and it."""
        return (self.factor * (self.moment + self.slope * x).exp()).upper()


class Proof:
    """Everything about one plan that does not depend on x."""

    def __init__(self, parts: Sequence[tuple[Transform, int]], saddles: Saddles, plan: Plan) -> None:
        if not (plan.t > 0 and plan.eta > 0 and 1 <= plan.count <= _MOST_NODES and 2 <= plan.bits <= _MOST_BITS):
            raise NotCertified("a contour integral", "its plan is void or out of reach")
        self._parts, self._saddles, self._plan = parts, saddles, plan
        self._kept: dict[tuple[bool, int], _Alias] = {}
        self.bits = plan.bits + _GUARD
        with precision(self.bits):
            self._log_scale, logs = self._line()
            self._terms: list[tuple[Ball, Ball]] = []
            t, eta = ball(plan.t), ball(plan.eta)  # short numbers: these, and their multiples, are exact
            for k, log in enumerate(logs):
                s = ComplexBall(t, eta * k)
                term = log / (s * (s + 1))
                self._terms.append((term.real, term.imag))
            self._tail = self._node_tail()
            self._period = 2 * Ball.pi() / ball(plan.eta)
            self.mass = product_of_powers([(transform.mass(), copies) for transform, copies in parts])
            self.reverse = product_of_powers([(transform.reverse_mass(), copies) for transform, copies in parts])
            self._largest = total_largest(parts)
            self._known = self.mass / (t * self._period).expm1()
            self._known_reverse = self.reverse / ((t + 1) * self._period).expm1()

    def _line(self) -> tuple[Ball, list[ComplexBall]]:
        """K(t), and Π φ^k at the nodes."""
        plan = self._plan
        scale, products = Ball(0), [ComplexBall(1)] * (plan.count + 1)
        for transform, copies in self._parts:
            with precision(plan.bits):
                log, phi = recall.line(transform, plan.t, plan.eta, plan.count)
            scale += log * copies
            products = [a * whole_power(b, copies) for a, b in zip(products, phi, strict=True)]
        return scale, products

    def _node_tail(self) -> Ball:
        """A bound of 2 Σ_{n>N} |Π φ^k / (s(s+1))|: the decays, and |s(s+1)| ≥ t² + y², summed as an integral."""
        plan = self._plan
        y = plan.eta * plan.count
        t, log = ball(plan.t), Ball(0)
        for i in self._decaying(float(y)):
            transform, copies = self._parts[i]
            with precision(copies.bit_length() + 4 + -(-44 // copies)):  # R^k to a few per cent, and down to 2^−44
                bound = recall.decay(transform, plan.t, y)
            log += bound.log() * copies
        return (2 * log.exp() * (t / ball(y)).atan() / (t * ball(plan.eta))).upper()

    def _decaying(self, y: float) -> list[int]:
        """The parts whose decay is worth proving: enough of them, the strongest first."""
        import numpy as np

        if len(self._parts) == 1:
            return [0]
        at, t = np.array([y]), float(self._plan.t)
        logs = [copies * float(transform.log_decay_floats(t, at)[0]) for transform, copies in self._parts]
        order = sorted((i for i in range(len(logs)) if logs[i] < 0), key=lambda i: logs[i])
        chosen, total, enough = [], 0.0, math.fsum(logs) + 0.05
        for i in order:
            if total < enough:
                break
            chosen.append(i)
            total += logs[i]
        return chosen

    def call(self, x: Ball) -> Ball:
        """The finite part of the call at x."""
        with precision(self.bits):
            if not x.is_finite():
                return between(Ball(0), self.mass)
            t, eta = ball(self._plan.t), ball(self._plan.eta)
            angle = eta * x
            total = Ball(0)
            for k in range(1, len(self._terms)):
                real, imag = self._terms[k]
                sin, cos = (angle * k).sin_cos()
                total += real * cos + imag * sin
            total = self._terms[0][0] + 2 * total + between(-self._tail, self._tail)
            value = (self._log_scale - t * x).exp() * total / self._period
            value -= self._below(x) + self._above(x)
            return value

    def _below(self, x: Ball) -> Ball:
        """The aliases from below: the known pieces, and a ball for the rest."""
        alias = self._alias(float(x.mid()), below=True)
        bound = alias.at(x)
        if alias.tilt < 1:
            return self._known - between(Ball(0), bound)
        return self._known - self._known_reverse * x.exp() + between(Ball(0), bound)

    def _above(self, x: Ball) -> Ball:
        """The aliases from above."""
        if self._largest is not None and x + self._period >= self._largest:
            return Ball(0)
        return between(Ball(0), self._alias(float(x.mid()), below=False).at(x))

    def _alias(self, x: float, below: bool) -> _Alias:
        """The bound of one side's aliases near x: its tilt is chosen for a stretch of a 64th of the period."""
        period = 2 * math.pi / float(self._plan.eta)
        stretch = round(64 * x / period)
        found = self._kept.get((below, stretch))
        if found is None:
            tilt = self._second_tilt(stretch * period / 64, period, below)
            t = -tilt if below else tilt
            gap = ball(tilt + self._plan.t if below else tilt - self._plan.t) * self._period
            factor = (Ball(1) if tilt < 1 else call_factor(tilt - 1)) if below else call_factor(tilt)
            found = _Alias(tilt, ball(-t), log_moment(self._parts, t, _ALIAS_BITS), factor / gap.expm1())
            self._kept[below, stretch] = found
        return found

    def _second_tilt(self, x: float, period: float, below: bool) -> Fraction:
        """The t' or the v with the least alias at x, from the table; a function of x and the plan only."""
        t = float(self._plan.t)
        tilts = self._saddles.tilts(t)
        if below:
            logs = tilts.logs_below(x) - (tilts.below + t) * period
            v = float(tilts.below[int(logs.argmin())])
            return 1 + short(v - 1) if v > 1 else short(v) if v > 0 else Fraction(0)
        logs = tilts.logs_above(x) - (tilts.above - t) * period
        return short(float(tilts.above[int(logs.argmin())]))


def product_of_powers(factors: Sequence[tuple[Ball, int]]) -> Ball:
    """Π fᵢ^{kᵢ} of factors that are not negative; a factor of exactly 1 costs nothing."""
    total = Ball(1)
    for factor, copies in factors:
        if not (factor.is_exact() and factor == 1):
            total *= factor**copies
    return total


def total_largest(parts: Sequence[tuple[Transform, int]]) -> Ball | None:
    """The largest finite loss of the sum; None if there is none, or none that floats reach."""
    total = Ball(0)
    for transform, copies in parts:
        top = transform.largest()
        if top is None:
            return None
        total += top * copies
    return total if upper_float(total) < 1e300 else None
