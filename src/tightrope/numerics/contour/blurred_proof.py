"""The contour integral of a loss that does not decay, proved: a tiny normal loss is added, and its effect enclosed.

Let U ~ N(μ²/2, μ²) be the loss of a Gaussian mechanism with a tiny μ. Then for every loss L and every x

    call of L + U at x − c·μ²·(density of L + U at x)  ≤  call of L at x  ≤  call of L + U at x,

c = 1 + (μ/2)·Φ(μ/2)/φ(μ/2). Above: E[e^{−U}] = 1 and (1 − e^{x−L}z)₊ is convex in z. Below: the difference is
E[g(x−L)] with g(z) = call_U(z) − (1−e^z)₊, and g(z) ≤ c·μ·φ(z/μ − μ/2), which is c·μ² times the density of U at z.
(For z ≥ 0 put a = z/μ − μ/2. Then g(z) = φ(a)(R(a) − R(a+μ)) with Mills's ratio R, −R' = 1 − uR(u) is at most
1 + (μ/2)R(−μ/2) for u ≥ −μ/2, and R(−μ/2) = Φ(μ/2)/φ(μ/2). For z < 0 both sides are e^z times those at −z.)

Both integrals have the nodes of ``contour_proof`` with the factor e^{−μ²y²/2}. The trapezoidal sum of the density is
itself an upper bound: its aliases are positive. Nodes are doubles with a proved error (``float_lines``); those at
which the transform is tiny are dropped, and where few are left they are balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.contour.floats import Saddles
from tightrope.numerics.contour.proof import call_factor, log_moment, product_of_powers, total_largest
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.closed import NormalTransform
from tightrope.numerics.transforms.float_lines import UNIT, Phases, as_doubles, bell, block_sum
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform, whole_power

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["BlurPlan", "BlurredProof"]

BITS = 128
_DROPPED = 50  # a node whose share is below e^−50 is dropped
_FINE = Ball(2) ** -36  # an error of Π φ^k that is small enough
_FEW = 2e5  # nanoseconds of all nodes kept, as doubles: so many are worth evaluating in balls, 500 times slower
_MOST_NODES = 4_000_000  # a plan may come from outside
_SLACK = 1 + Ball(2) ** -30  # for sums of doubles that bound something


@dataclass(frozen=True)
class BlurPlan:
    """Tilt t, step η, nodes 0 … count, and the deviation μ of the loss added: short exact numbers."""

    t: Fraction
    eta: Fraction
    count: int
    blur: Fraction


class BlurredProof:
    """Everything about one plan that does not depend on x."""

    def __init__(self, parts: Sequence[tuple[Transform, int]], saddles: Saddles, plan: BlurPlan) -> None:
        if not (plan.t > 0 and plan.eta > 0 and 1 <= plan.count <= _MOST_NODES and 0 < plan.blur <= 1):
            raise NotCertified("a blurred contour", "its plan is void or out of reach")
        self._saddles, self.plan = saddles, plan
        self._finite = parts
        self._parts = [*parts, (NormalTransform(Real(plan.blur**2)), 1)]
        self._kept: dict[Fraction, Ball] = {}
        with precision(BITS):
            self.period = 2 * Ball.pi() / ball(plan.eta)
            self.mass = product_of_powers([(transform.mass(), copies) for transform, copies in parts])
            self.reverse = product_of_powers([(transform.reverse_mass(), copies) for transform, copies in parts])
            self._log_scale = log_moment(self._parts, plan.t, BITS - 20)
            self._largest = total_largest(parts)
            self._fill()
            self._tails = self._beyond()
            self._excess = 1 + ball(plan.blur / 2) / _mills(ball(plan.blur / 2))

    def _fill(self) -> None:
        """The terms at the nodes that are not dropped, and bounds of what rounding and dropping can change."""
        plan, indices, values, error = self.plan, *_nodes(self._finite, self.plan)
        bells, bell_error = bell(ball((plan.blur * plan.eta) ** 2 / 2), plan.count)
        kernel, sizes = _kernel(float(plan.t), float(plan.eta), indices)
        weights = bells[indices]
        weights[1:] *= 2  # and the mirror images; node 0 is always there
        self.indices, self._plain = indices, values * weights
        self._terms = self._plain * kernel
        t, eta = ball(plan.t), ball(plan.eta)
        whole = 1 / (t * t) + Ball.pi() / (2 * t * eta) * 2  # Σ 1/|s(s+1)| over all nodes
        lost = Ball(-_DROPPED).exp()
        rounding = bell_error + 48 * UNIT
        self._term_error = error * _total(weights * sizes) + rounding * _total(_size(self._terms)) + lost * whole
        self._plain_error = error * _total(weights) + rounding * _total(_size(self._plain)) + 3 * lost * plan.count
        self._term_size, self._plain_size = _total(_size(self._terms)), _total(_size(self._plain))

    def _beyond(self) -> tuple[Ball, Ball]:
        """Bounds of both sums beyond the last node."""
        plan = self.plan
        y, t, eta = plan.eta * plan.count, ball(plan.t), ball(plan.eta)
        log = ball(-((plan.blur * y) ** 2) / 2)
        for transform, copies in self._finite:
            log += transform.decay(plan.t, y).log() * copies
        size = 2 * log.exp() / eta
        return (size * (t / ball(y)).atan() / t).upper(), (size / ball(plan.blur**2 * y)).upper()

    def floats(self, x: float) -> tuple[float, float]:
        """About the call of L and its excess, both divided by e^{K(t)−tx}, for searches."""
        with precision(BITS):
            at = Ball(x)
            call, density = (float(b.mid()) for b in self._sums(at))
            return call - float(self._below(at, unscaled=True).mid()), density * float(self.plan.blur) ** 2

    def _sums(self, x: Ball) -> tuple[Ball, Ball]:
        """Both sums over the nodes, times η/2π."""
        plan = self.plan
        shifted = x - ball(plan.blur**2 * (2 * plan.t + 1) / 2)  # U turns the nodes by this
        turns = Phases(-ball(plan.eta) * shifted, plan.count).at(self.indices)
        results = []
        for terms, size, error, tail in (
            (self._terms, self._term_size, self._term_error, self._tails[0]),
            (self._plain, self._plain_size, self._plain_error, self._tails[1]),
        ):
            total, share = block_sum((terms * turns).real)
            off = ((Phases.ERROR + 4) * UNIT + share) * size + error + tail
            results.append((Ball(total.real) + between(-off.upper(), off.upper())) / self.period)
        return results[0], results[1]

    def call(self, x: Ball) -> Ball:
        """The finite part of the call of L at x."""
        with precision(BITS):
            if not x.is_finite():
                return between(Ball(0), self.mass)
            call, density = self._sums(x)
            scale = (self._log_scale - ball(self.plan.t) * x).exp()
            high = scale * call - self._below(x) - self._above(x)
            low = high - self._excess * ball(self.plan.blur**2) * scale * density.nonnegative_part().upper()
            least, most = (self.mass - self.reverse * x.exp()).lower().max(Ball(0)), self.mass.upper()
            return between(low.lower().max(least).min(most), high.upper().min(most).max(least))

    def _below(self, x: Ball, unscaled: bool = False) -> Ball:
        """The aliases from below, as in ``contour_proof``; ``unscaled``: divided by e^{K(t)−tx}."""
        t, b = ball(self.plan.t), self.period
        log = self._log_scale - t * x if unscaled else Ball(0)
        v = self._second_tilt(float(x.mid()), below=True)
        bound = (self._moment(-v) + ball(v) * x - log).exp() / ((ball(v) + t) * b).expm1()
        known = self.mass * (-log).exp() / (t * b).expm1()
        if v < 1:
            return known - between(Ball(0), bound.upper())
        known -= self.reverse * (x - log).exp() / ((t + 1) * b).expm1()
        return known + between(Ball(0), (call_factor(v - 1) * bound).upper())

    def _above(self, x: Ball) -> Ball:
        """The aliases from above: U alone must reach from the largest L to x + B, or Chernoff's bound of L + U."""
        t, mu, b = ball(self.plan.t), ball(self.plan.blur), self.period
        if self._largest is not None:
            gap, far = x + b - self._largest, 40 / mu
            if gap >= 40 * mu and far > t:
                log = mu * mu * far * (far + 1) / 2 - far * gap + t * b
                return between(Ball(0), (log.exp() / -(-(far - t) * b).expm1()).upper())
        higher = self._second_tilt(float(x.mid()), below=False)
        step = ball(higher - self.plan.t) * b
        bound = call_factor(higher) * (self._moment(higher) - ball(higher) * x).exp() / step.expm1()
        return between(Ball(0), bound.upper())

    def _moment(self, t: Fraction) -> Ball:
        found = self._kept.get(t)
        if found is None:
            found = self._kept[t] = log_moment(self._parts, t, 40)
        return found

    def _second_tilt(self, x: float, below: bool) -> Fraction:
        """The t' or the v with the least alias at x, from the table; a function of x and the plan only."""
        t, period = float(self.plan.t), float(self.period.mid())
        tilts = self._saddles.tilts(t)
        if below:
            logs = tilts.logs_below(x) - (tilts.below + t) * period
            v = float(tilts.below[int(logs.argmin())])
            return 1 + short(v - 1) if v > 1 else short(v) if v > 0 else Fraction(0)
        logs = tilts.logs_above(x) - (tilts.above - t) * period
        return short(float(tilts.above[int(logs.argmin())]))


def _nodes(parts: Sequence[tuple[Transform, int]], plan: BlurPlan) -> tuple[Integers, Complexes, Ball]:
    """The nodes kept, Π φ^k there, and a bound of the errors of these."""
    import numpy as np

    alive, lines = np.ones(plan.count + 1, dtype=np.bool_), []
    for transform, copies in parts:
        line = transform.float_nodes(plan.t, plan.eta, plan.count, Ball(-_DROPPED) / copies)
        if line is None:
            raise NotCertified("a blurred contour", "a part has no nodes in doubles")
        alive &= line.alive
        lines.append((line, copies))
    indices: Integers = np.nonzero(alive)[0]
    log_error = sum((copies * (line.error + 4 * UNIT) + 4 * UNIT for line, copies in lines), Ball(0))
    work = len(indices) * sum(transform.node_cost(copies) for transform, copies in parts)
    if not log_error < _FINE and work <= _FEW:
        try:
            return indices, *_in_balls(parts, plan, [int(k) for k in indices])
        except NotCertified:  # a transform that cannot: doubles will do, with a wider error
            pass
    values = np.ones(len(indices), dtype=np.complex128)
    for line, copies in lines:
        values = values * _power(line.values[indices], copies)
    return indices, values, log_error.expm1()


def _in_balls(parts: Sequence[tuple[Transform, int]], plan: BlurPlan, indices: list[int]) -> tuple[Complexes, Ball]:
    products = [ComplexBall(1)] * len(indices)
    for transform, copies in parts:
        with precision(BITS + copies.bit_length()):
            phi = transform.at(plan.t, plan.eta, indices)
            products = [a * whole_power(b, copies) for a, b in zip(products, phi, strict=True)]
    return as_doubles(products), 4 * UNIT


def _power(values: Complexes, copies: int) -> Complexes:
    """By squaring: copies − 1 products lie behind the result, each off by at most 3u."""
    result, square = None, values
    while copies:
        if copies & 1:
            result = square if result is None else result * square
        copies >>= 1
        if copies:
            square = square * square
    assert result is not None
    return result


def _kernel(t: float, eta: float, indices: Integers) -> tuple[Complexes, Floats]:
    """1/(s(s+1)) at the nodes, off by at most 16u of its size, and upper bounds of its size.

    y = kη and t are short, so they are exact. |s(s+1)| ≥ t(t+1) + y², so cancellation in its real part is harmless.
    """
    y = indices * eta
    real, imag = t * (t + 1) - y * y, (2 * t + 1) * y
    square = real * real + imag * imag
    kernel: Complexes = real / square - 1j * (imag / square)
    return kernel, (1 + 2.0**-40) / (t * (t + 1) + y * y)


def _size(values: Complexes) -> Floats:
    import numpy as np

    result: Floats = np.abs(values.real) + np.abs(values.imag)
    return result


def _total(values: Floats) -> Ball:
    """An upper bound of the sum of numbers ≥ 0."""
    return Ball(block_sum(values)[0].real) * _SLACK


def _mills(x: Ball) -> Ball:
    """φ(x)/Φ(x)."""
    return (x * x / -2).exp() / (2 * Ball.pi()).sqrt() / ((-x / Ball(2).sqrt()).erfc() / 2)
