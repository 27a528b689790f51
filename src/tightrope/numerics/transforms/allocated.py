"""The transform of random allocation: M(s) = E[Λ^{−s}], Λ = (W_1 + … + W_t)/t the mean of t lognormal variables.

Λ is the density of a Gaussian answer in one of t places against none, and −ln Λ the loss of adding the record. With
F(u) = E[e^{−uΛ}] = φ(u/t)^t and u = e^{w+iθ}

E[Λ^{−s}]·Γ(s) = ∫u^{s−1}F(u)du = e^{iθs} ∫e^{sw}F(e^{w+iθ})dw,

by the trapezoidal rule in w. On the path raised by v the integrand is at most e^{tw−yv}F(e^w cos(θ+v)), whose integral
is e^{−yv}cos(θ+v)^{−t}Γ(t)M(t). φ(v) = E[e^{−vW}] is the trapezoidal rule in x; its nodes lie so that ln u + μx stays
on one lattice, and all values of φ together are one product of polynomials. |M(t + iy)| ≤ e^{−μ²y²/2t}M(t), because
ln Λ is the mean of the μX_i and something independent of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.moments.allocated import allocation_cumulants
from tightrope.numerics.normal import upper_tail
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.allocated_rule import AllocatedFloats, AllocatedRule, chosen_rule
from tightrope.numerics.transforms.fixed_point import FixedPoint, around, turned_sums
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform, unit, whole_power

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["MOST_ORDER", "AllocatedTransform", "aliases"]

_WIDTH = 9.0  # of a band, in 1/√|s|: at its ends terms outgrow their sum by e^{width²/8}
_ROUGH, _RATIO = 56, 1.2  # bits up to which a chord of tilts that far apart is enough
MOST_ORDER = 64  # E[Λ^j] is used up to this j, and chords of its logarithm between


class AllocatedTransform(Transform):
    """``mu`` > 0 and ``steps`` ≥ 2; the record is added."""

    def __init__(self, mu: Real, steps: int) -> None:
        self._mu, self._steps = mu, steps
        self._known: dict[int, list[Ball]] = {}
        self._tilts: dict[Fraction, Ball] = {}
        with precision(80):
            self.floats = AllocatedFloats(float(mu.ball().mid()), steps)

    def reverse_mass(self) -> Ball:
        """E[Λ] = 1."""
        return Ball(1)

    def log_real(self, t: Fraction) -> Ball:
        """ln E[Λ^{−t}]; for negative t, and where few bits are asked for, a ball below a chord: it is convex."""
        if t > 0:
            return self._below_chord(t) if ctx.prec <= _ROUGH else self.line(t, Fraction(0), 0)[0]
        order, rest = divmod(-t, 1)
        if order >= MOST_ORDER:
            return Ball("inf")
        below = self.log_order(order)
        if rest == 0:
            return below
        # convex, and 0 at 0 and at 1: between them above the next chord prolonged, from 1 on rising
        least = below if order else (ball(rest) - 1) * self.log_order(2)
        return between(least, (1 - ball(rest)) * below + ball(rest) * self.log_order(order + 1))

    def _below_chord(self, t: Fraction) -> Ball:
        """Bounds of aliases ask for many tilts and need an upper bound only."""
        place = math.floor(math.log(t) / math.log(_RATIO))
        ends = [short(_RATIO ** (place + i)) for i in (0, 1)]
        if not ends[0] <= t <= ends[1]:
            ends = [short(_RATIO ** (place + i)) for i in (-1, 2)]
        for end in ends:
            if end not in self._tilts:
                with precision(_ROUGH + 1):
                    self._tilts[end] = self.line(end, Fraction(0), 0)[0]
        share = ball((t - ends[0]) / (ends[1] - ends[0]))
        return between(Ball(0), (1 - share) * self._tilts[ends[0]] + share * self._tilts[ends[1]])

    def log_order(self, order: int) -> Ball:
        """ln E[Λ^j] at a whole order up to ``MOST_ORDER``."""
        return self._orders(max(int(ctx.prec), 64))[order]

    def _orders(self, bits: int) -> list[Ball]:
        if bits not in self._known:
            with precision(bits + 64):
                square = self._mu.ball() ** 2
                self._known[bits] = allocation_cumulants(self._steps, MOST_ORDER, lambda k: square * (k * (k - 1)) / 2)
        return self._known[bits]

    @cached_property
    def log_orders(self) -> list[float]:
        """The same in floats."""
        return [float(log.mid()) for log in self._orders(64)]

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """The same in floats."""
        import numpy as np

        at = np.asarray(t, dtype=np.float64)
        result = np.interp(-at, np.arange(MOST_ORDER + 1), self.log_orders, right=math.inf)
        result[at > 0] = self.floats.log_moments(at[at > 0])
        return result

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """One ray for the real moment, and one for each band of nodes."""
        if t <= 0:
            raise NotCertified("a mean of densities", "its moments are wanted right of 0")
        with precision(ctx.prec + 8):
            ((real, part),) = self._band(t, eta, 0, 0)
            if not part < 0.5:
                raise NotCertified("a mean of densities", "the nodes are too far apart")
            moment = real.real / (1 + between(-part, part))  # known up to a part of itself
            phi, first = [ComplexBall(1)], 1
            while first <= count:
                last = min(count, _band_end(float(t), float(eta), first))
                # the other errors are parts of M(t) as well
                phi += [value / moment + around(off) for value, off in self._band(t, eta, first, last)]
                first = last + 1
            return moment.log(), phi

    def _band(self, t: Fraction, eta: Fraction, first: int, last: int) -> list[tuple[ComplexBall, Ball]]:
        """E[Λ^{−t−ikη}] for first ≤ k ≤ last, each but for an error that is at most a part of E[Λ^{−t}], and that
        part."""
        rule = chosen_rule(self.floats, float(t), float(eta * first), float(eta * last), ctx.prec * math.log(2) + 3)
        with precision(rule.bits + self._steps.bit_length()):
            tilt, step = ball(t), rule.fine * rule.wide
            start, top = ComplexBall(tilt, ball(eta * first)), ball(rule.top)
            rise = start * ball(step)
            weights = [f * (rise * j - top).exp() for j, f in enumerate(self._transforms(rule), rule.first)]
            sums = turned_sums(weights, ball(eta * step), last - first)
            beyond, gamma, turn = self._beyond(rule, t, step), tilt.lgamma(), ComplexBall(0, ball(rule.angle))
            found = []
            for k, total in enumerate(sums):
                s = ComplexBall(tilt, ball(eta * (first + k)))
                scale = (turn * s - s.lgamma()).exp()
                size = scale.abs_upper()
                part = (size * gamma.exp() * aliases(rule, t, eta * (first + k), ball(step))).upper()
                total *= unit(ball(eta * step * (k * rule.first)))  # the sums begin at the first node
                found.append((total * (ball(step) * top.exp()) * scale + around(beyond * size), part))
            return found

    def _transforms(self, rule: AllocatedRule) -> list[ComplexBall]:
        """F at the nodes."""
        mu, fine, stride, below = self._mu.ball(), rule.fine, rule.stride, ball(rule.lowered)
        across = ball(fine * stride) / mu  # the step in x
        sites = range(-rule.reach, rule.reach + 1)
        bells = FixedPoint([(-(ComplexBall(across * i, -below) ** 2) / 2).exp() for i in sites])
        factor = ComplexBall(-(mu**2) / 2, ball(rule.angle) - mu * below).exp() / self._steps
        low = rule.first * rule.wide - rule.reach * stride
        high = rule.last * rule.wide + rule.reach * stride
        powers = _twice_exponential(-factor, fine, low, high)
        scale = across / (2 * Ball.pi()).sqrt()
        error = around(self._inner_error(rule, across))
        values: dict[int, ComplexBall] = {}
        for start in range(stride):
            row = bells.correlated(powers[start::stride])
            for i, value in enumerate(row):
                j = low + start + (i + rule.reach) * stride
                if j % rule.wide == 0:
                    values[j] = value * scale + error
        return [whole_power(values[j * rule.wide], self._steps) for j in range(rule.first, rule.last + 1)]

    def _inner_error(self, rule: AllocatedRule, across: Ball) -> Ball:
        """Of φ: on the path of x moved to Im x = b, |e^{−vW}| ≤ 1 as long as θ + μb is within a right angle, and the
        density is at most e^{b²/2} times a normal one."""
        mu, theta, right, below = self._mu.ball(), ball(rule.angle), Ball.pi() / 2, ball(rule.lowered)
        if not abs(theta - mu * below) < right:
            raise NotCertified("a mean of densities", "the path is turned too far")
        error = 2 * upper_tail(across * rule.reach) * (below**2 / 2).exp()
        for room, moved in (((right - theta) / mu + below, -below), ((right + theta) / mu - below, below)):
            depth = room.min(2 * Ball.pi() / across).lower()
            error += ((moved + depth) ** 2 / 2).exp() / (2 * Ball.pi() * depth / across).expm1()
        return error

    def _beyond(self, rule: AllocatedRule, t: Fraction, step: Fraction) -> Ball:
        """The nodes left out: before the first |F| ≤ 1; after the last |F| ≤ (p/(e·|u|·cos θ))^p·E[Λ^{−p}]."""
        tilt, h, p = ball(t), ball(step), ball(rule.power)
        if not rule.power > t:
            raise NotCertified("a mean of densities", "its tail is not bounded")
        before = (tilt * ball(step * rule.first)).exp() / (tilt * h).expm1()
        log = p * (p.log() - 1 - ball(rule.angle).cos().log()) + self._mu.ball() ** 2 * p * (p / self._steps + 1) / 2
        after = (log - (p - tilt) * ball(step * rule.last)).exp() / ((p - tilt) * h).expm1()
        return ((before + after) * h).upper()

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """From balls of few bits."""
        import numpy as np

        with precision(64):
            log, phi = self.line(Fraction(t), Fraction(eta), count)
            return float(log.mid()), np.array([complex(one.mid().log()) for one in phi])

    def decay(self, t: Fraction, y: Fraction) -> Ball:  # noqa: ARG002 - whatever the tilt
        """e^{−μ²y²/2t}."""
        return (self._mu.ball() ** 2 * ball(-y * y / (2 * self._steps))).exp()

    def log_decay_floats(self, t: float, y: Floats) -> Floats:  # noqa: ARG002
        """The same in floats."""
        return y * y * (-(self.floats.mu**2) / (2 * self._steps))

    def largest(self) -> Ball | None:
        """All answers may be far below."""
        return None

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:
        """Exponentials, products of polynomials, and ``power_sums``, for each band."""
        first, total = 1, 0.0
        while first <= count and total < 1e7:
            last = min(count, _band_end(t, eta, first))
            rule = chosen_rule(self.floats, t, eta * first, eta * last, bits * math.log(2))
            points = (rule.last - rule.first) * rule.wide + 2 * rule.reach * rule.stride
            total += (4 + rule.bits / 60) * points + (rule.last - rule.first) * (10 + 0.2 * (last - first))
            first = last + 1
        return total


def _band_end(t: float, eta: float, first: int) -> int:
    """The last node whose angle is near enough to that of the first."""
    angle = math.atan2(eta * first, t) + _WIDTH / math.sqrt(math.hypot(t, eta * first) + 4)
    return max(first, math.floor(t * math.tan(angle) / eta)) if angle < 1.57 else 10**9


def _twice_exponential(factor: ComplexBall, step: Fraction, low: int, high: int) -> list[ComplexBall]:
    """exp(factor·e^{j·step}) for low ≤ j ≤ high, |value| ≤ 1 and falling; from where it is 2^−bits on, only that."""
    tiny, found, rise = Ball(2) ** -int(ctx.prec), [], ball(step)
    for j in range(low, high + 1):
        found.append((factor * (rise * j).exp()).exp())
        if j % 64 == 0 and found[-1].abs_upper() < tiny:
            break
    return found + [around(tiny)] * (high + 1 - low - len(found))


def aliases(rule: AllocatedRule, t: Fraction, y: Fraction, step: Ball) -> Ball:
    """The error of the sum in w, in parts of Γ(t)M(t): the path raised and lowered."""
    theta, tilt, total = ball(rule.angle), ball(t), Ball(0)
    for sign, shift in ((1, ball(rule.up)), (-1, ball(rule.down))):
        turned = theta + sign * shift
        if not abs(turned) < Ball.pi() / 2:
            raise NotCertified("a mean of densities", "the path is turned too far")
        total += (-sign * ball(y) * shift - tilt * turned.cos().log()).exp() / (2 * Ball.pi() * shift / step).expm1()
    return total.upper()
