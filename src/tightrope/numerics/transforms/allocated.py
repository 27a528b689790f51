"""The transform of random allocation: M(s) = E[Λ^{−s}], Λ = (W_1 + … + W_t)/t the mean of t lognormal variables.

Λ is the density of a Gaussian answer in one of t places against none, and −ln Λ the loss of adding the record. With
F(u) = E[e^{−uΛ}] = φ(u/t)^t and u = e^{w+iθ}

E[Λ^{−s}]·Γ(s) = ∫u^{s−1}F(u)du = e^{iθs} ∫e^{sw}F(e^{w+iθ})dw,

by the trapezoidal rule in w. On the path raised by v the integrand is at most e^{tw−yv}F(e^w cos(θ+v)), whose integral is
e^{−yv}cos(θ+v)^{−t}Γ(t)M(t). φ(v) = E[e^{−vW}] is the trapezoidal rule in x; its nodes lie so that ln u + μx stays on one lattice, and all
values of φ together are one product of polynomials. |M(t + iy)| ≤ e^{−μ²y²/2t}M(t), because ln Λ is the mean of the μX_i and something
independent of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from flint import ctx, fmpz_poly

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.moments.allocated import allocation_cumulants
from tightrope.numerics.normal import upper_tail
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.allocated_rule import AllocatedFloats, AllocatedRule, chosen_rule
from tightrope.numerics.transforms.transform import Transform, unit, whole_power

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["MOST_ORDER", "AllocatedTransform"]

_WIDTH = 9.0  # of a band, in 1/√|s|: at its ends terms outgrow their sum by e^{width²/8}
MOST_ORDER = 64  # E[Λ^j] is used up to this j, and chords of its logarithm between


class AllocatedTransform(Transform):
    """``mu`` > 0 and ``steps`` ≥ 2; the record is added."""

    def __init__(self, mu: Real, steps: int) -> None:
        self._mu, self._steps = mu, steps
        self._known: dict[int, list[Ball]] = {}
        with precision(80):
            self.floats = AllocatedFloats(float(mu.ball().mid()), steps)

    def reverse_mass(self) -> Ball:
        """E[Λ] = 1."""
        return Ball(1)

    def log_real(self, t: Fraction) -> Ball:
        """ln E[Λ^{−t}]; for negative t a ball below a chord of the whole orders."""
        if t > 0:
            return self.line(t, Fraction(0), 0)[0]
        order, rest = divmod(-t, 1)
        if order >= MOST_ORDER:
            return Ball("inf")
        below = self.log_order(order)
        return below if rest == 0 else between(Ball(0).min(below), (1 - ball(rest)) * below + ball(rest) * self.log_order(order + 1))

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
            (real, part), = self._band(t, eta, 0, 0)
            if not part < 0.5:
                raise NotCertified("a mean of densities", "the nodes are too far apart")
            moment = real.real / (1 + between(-part, part))  # known up to a part of itself
            phi, first = [ComplexBall(1)], 1
            while first <= count:
                last = min(count, _band_end(float(t), float(eta), first))
                # the other errors are parts of M(t) as well
                phi += [value / moment + _around(off) for value, off in self._band(t, eta, first, last)]
                first = last + 1
            return moment.log(), phi

    def _band(self, t: Fraction, eta: Fraction, first: int, last: int) -> list[tuple[ComplexBall, Ball]]:
        """E[Λ^{−t−ikη}] for first ≤ k ≤ last, each without an error that is at most a part of E[Λ^{−t}], and that part."""
        rule = chosen_rule(self.floats, float(t), float(eta * first), float(eta * last), ctx.prec * math.log(2) + 3)
        with precision(rule.bits + self._steps.bit_length()):
            tilt, step = ball(t), rule.fine * rule.wide
            start, top = ComplexBall(tilt, ball(eta * first)), ball(rule.top)
            weights = [
                f * (start * ball(step * j) - top).exp() for j, f in enumerate(self._transforms(rule), rule.first)
            ]
            sums = _turned_sums(weights, ball(eta * step), last - first)
            beyond, gamma, turn = self._beyond(rule, t, step), tilt.lgamma(), ComplexBall(0, ball(rule.angle))
            found = []
            for k, total in enumerate(sums):
                s = ComplexBall(tilt, ball(eta * (first + k)))
                scale = (turn * s - s.lgamma()).exp()
                size = scale.abs_upper()
                part = (size * gamma.exp() * _alias(rule, t, eta * (first + k), ball(step))).upper()
                total *= unit(ball(eta * step * (k * rule.first)))  # the sums begin at the first node
                found.append((total * (ball(step) * top.exp()) * scale + _around(beyond * size), part))
            return found

    def _transforms(self, rule: AllocatedRule) -> list[ComplexBall]:
        """F at the nodes."""
        mu, fine, stride, below = self._mu.ball(), rule.fine, rule.stride, ball(rule.lowered)
        across = ball(fine * stride) / mu  # the step in x
        sites = range(-rule.reach, rule.reach + 1)
        bells = _FixedPoint([(-(ComplexBall(across * i, -below) ** 2) / 2).exp() for i in sites])
        factor = ComplexBall(-(mu**2) / 2, ball(rule.angle) - mu * below).exp() / self._steps
        low = rule.first * rule.wide - rule.reach * stride
        high = rule.last * rule.wide + rule.reach * stride
        powers = _twice_exponential(-factor, fine, low, high)
        scale = across / (2 * Ball.pi()).sqrt()
        error = _around(self._inner_error(rule, across))
        values: dict[int, ComplexBall] = {}
        for start in range(stride):
            row = bells.correlated(powers[start::stride])
            for i, value in enumerate(row):
                j = low + start + (i + rule.reach) * stride
                if j % rule.wide == 0:
                    values[j] = value * scale + error
        return [whole_power(values[j * rule.wide], self._steps) for j in range(rule.first, rule.last + 1)]

    def _inner_error(self, rule: AllocatedRule, across: Ball) -> Ball:
        """Of φ: on the path of x moved to Im x = b, |e^{−vW}| ≤ 1 as long as θ + μb is within a right angle, and the density is at
        most e^{b²/2} times a normal one."""
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
        return y * y * (-self.floats.mu**2 / (2 * self._steps))

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
    tiny, found = Ball(2) ** -int(ctx.prec), []
    for j in range(low, high + 1):
        found.append((factor * ball(step * j).exp()).exp())
        if j % 64 == 0 and found[-1].abs_upper() < tiny:
            break
    return found + [_around(tiny)] * (high + 1 - low - len(found))


class _FixedPoint:
    """A short list of complex numbers as integers over 2^bits, so that sums of products are products of whole polynomials."""

    def __init__(self, numbers: Sequence[ComplexBall]) -> None:
        self._bits, self._length = int(ctx.prec), len(numbers)
        self._real, self._imag, self._off = self._read(numbers)
        self._size = sum((abs(n).upper() for n in numbers), Ball(0)).upper()

    def _read(self, numbers: Sequence[ComplexBall]) -> tuple[fmpz_poly, fmpz_poly, Ball]:
        """Real and imaginary parts, rounded, and how far any number may be off."""
        bits, worst, parts = self._bits, Ball(0), []
        for part in ([n.real for n in numbers], [n.imag for n in numbers]):
            whole = []
            for b in part:
                mantissa, exponent = b.mid().man_exp()
                shift = int(exponent) + bits
                whole.append(int(mantissa) << shift if shift >= 0 else int(mantissa) >> -shift)
                worst = worst.max(b.rad())
            parts.append(fmpz_poly(whole))
        return parts[0], parts[1], (2 * (worst + Ball(2) ** -bits)).upper()

    def correlated(self, row: Sequence[ComplexBall]) -> list[ComplexBall]:
        """Σ_i numbers[i]·row[j + i] for every j at which all of them are there; |row| ≤ 1."""
        real, imag, off = self._read(row)
        first, last = self._length - 1, len(row) - 1
        real_at, imag_at = real * self._back(self._real), imag * self._back(self._imag)
        cross_at = real * self._back(self._imag) + imag * self._back(self._real)
        unit = Ball(2) ** (-2 * self._bits)
        error = _around(self._size * off + self._length * self._off * (1 + off))
        whole = real_at - imag_at
        return [ComplexBall(Ball(whole[i]) * unit, Ball(cross_at[i]) * unit) + error for i in range(first, last + 1)]

    def _back(self, p: fmpz_poly) -> fmpz_poly:
        return fmpz_poly([p[self._length - 1 - i] for i in range(self._length)])


def _turned_sums(weights: Sequence[ComplexBall], angle: Ball, count: int) -> list[ComplexBall]:
    """Σ_j weight_j e^{ijk·angle} for k = 0 … count, by jk = (j² + k² − (k − j)²)/2: one product of polynomials."""
    last = len(weights) - 1
    chirps = [unit(angle * (m * m) / 2) for m in range(max(last, count) + 1)]
    numbers = _FixedPoint([weights[j] * chirps[j] for j in range(last, -1, -1)])
    row = [chirps[abs(m - last)].conjugate() for m in range(last + count + 1)]
    return [chirps[k] * total for k, total in enumerate(numbers.correlated(row))]


def _alias(rule: AllocatedRule, t: Fraction, y: Fraction, step: Ball) -> Ball:
    """The error of the sum in w, in parts of Γ(t)M(t): the path raised and lowered."""
    theta, tilt, total = ball(rule.angle), ball(t), Ball(0)
    for sign, shift in ((1, ball(rule.up)), (-1, ball(rule.down))):
        turned = theta + sign * shift
        if not abs(turned) < Ball.pi() / 2:
            raise NotCertified("a mean of densities", "the path is turned too far")
        total += (-sign * ball(y) * shift - tilt * turned.cos().log()).exp() / (2 * Ball.pi() * shift / step).expm1()
    return total.upper()


def _around(size: Ball) -> ComplexBall:
    most = size.upper()
    one = between(-most, most)
    return ComplexBall(one, one)
