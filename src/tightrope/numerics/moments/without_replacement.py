"""The moments of the symmetric pair of sampling without replacement over the Gaussian base.

M(s) = (1−q)(2Φ(μ/2)−1) + E[w^{s+1} + w^{−s}; z > μ/2], w = 1−q+q·e^ξ, ξ = μz − μ²/2, z standard normal.
As M(0) = 1, M − 1 = E[(w^{s+1} − 1)(1 − w^{−s}); z > μ/2]: nothing cancels in this product. M(s) = M(−1−s).
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import ctx

from tightrope.numerics.balls import INFINITY, Ball, ball, between, certain, precision, upper_float
from tightrope.numerics.gauss import gauss
from tightrope.numerics.moments.sampled_normal_bounds import elementary_log_power_mean, log_sum, quadratic_top
from tightrope.numerics.real import Real

__all__ = ["without_replacement_normal"]

_MOST_NODES = 8000
_MOST_PANELS = 1000
_RULES = (2, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 200)  # few, as they are kept
_LONG: dict[tuple[float, Fraction, Fraction], int] = {}  # bits at which an integral was too long: more take longer
_KEPT = 256


def without_replacement_normal(mu: Real, rate: Fraction, power_s: Fraction) -> Ball:
    """ln M(s), for the order s + 1, with full relative accuracy; wider, but proved, where that is costly."""
    s = max(power_s, -1 - power_s)
    bits = int(ctx.prec)
    with precision(bits + 32):
        m = abs(mu.ball())
        if m.is_finite() and not certain(m, 24):  # M grows with μ (s > 0) or falls: the base's profile grows
            least = _log_moment(m.lower().max(Ball(0)), rate, s, bits)
            return between(least, _log_moment(m.upper(), rate, s, bits))
        return _log_moment(m, rate, s, bits)


def _log_moment(mu: Ball, rate: Fraction, s: Fraction, bits: int) -> Ball:
    if s == 0 or rate == 0 or mu.is_zero():
        return Ball(0)
    gain = ball(s * (s + 1)) * mu * mu / 2
    if rate == 1:
        return gain
    if not mu.is_finite():
        return INFINITY if mu == INFINITY and s > 0 else between(Ball(0), INFINITY)
    simple = _simple(mu, rate, s, gain, bits)
    if upper_float(mu) > 100 or s > 10**6 or certain(simple, bits):
        return simple
    key = float(mu.mid()), rate, s
    if bits >= _LONG.get(key, math.inf):
        return simple
    value = _HalfLine(mu, rate, s, bits).log_moment()
    if not value.is_finite():
        while len(_LONG) >= _KEPT:
            _LONG.pop(next(iter(_LONG)), None)
        _LONG[key] = bits
    return value if value.is_finite() and value.rad() < simple.rad() else simple


def _simple(mu: Ball, rate: Fraction, s: Fraction, gain: Ball, bits: int) -> Ball:
    """By convexity (s > 0) or concavity in q from M = 1 to M = e^gain; by w ≥ q·e^ξ; by M ≤ 1 + E w^{s+1}."""
    q = ball(rate)
    mixture = (q * gain.expm1()).log1p() if upper_float(gain) < 1 else log_sum((-q).log1p(), q.log() + gain)
    if s < 0:
        return between(mixture, Ball(0))
    right = (ball(Fraction(-1, 2) - s) * mu / Ball(2).sqrt()).erfc() / 2
    alone = ball(s + 1) * q.log() + gain + right.log()
    whole = log_sum(Ball(0), elementary_log_power_mean(mu, rate, s + 1, bits)[1])
    return between(alone.lower().max(Ball(0)), mixture.upper().min(whole.upper()))


class _HalfLine:
    """∫_{μ/2}^∞ e^{−z²/2}(w^{s+1}−1)(1−w^{−s})dz by Gauss–Legendre on panels, each with a proved error."""

    def __init__(self, mu: Ball, rate: Fraction, s: Fraction, bits: int) -> None:
        self._mu, self._q, self._half = mu, ball(rate), mu * mu / 2
        self._plus, self._minus, self._s = ball(s + 1), ball(-s), s
        self._top = ball(max(Fraction(1), s + 1))
        m, top = float(mu), float(max(Fraction(1), s + 1))
        trials = (2.0 * m, top * m / 4, top * m / 2, top * m * 3 / 4, top * m, m / 2 + 1)
        size = max(float(abs(self._integrand(Ball(max(z, m / 2 + 1 / max(1.0, m))))).log()) for z in trials)
        # The logarithm of the error allowed in a panel.
        self._goal = size - bits * math.log(2) - 6 if math.isfinite(size) else 0.0
        excess = float(self._tail_height(self._top * mu)) - self._goal
        self._start, self._end = mu / 2, Ball(math.ceil(top * m + math.sqrt(2 * max(10.0, excess))) + 1)
        self._depth = self._best_depth(m, max(0.0, float(s)), bits * math.log(2) + 20)

    def _best_depth(self, m: float, s: float, nats: float) -> float:
        """The half-height of the ellipses, near the one that needs the fewest nodes."""
        trials = [min(math.sqrt(nats), 3.0 / m if m > 1e-9 else math.inf) * 0.8**k for k in range(24)]
        return min(trials, key=lambda b: (nats + b * b / 2 - s * math.log(math.cos(b * m / 2))) / b)

    def _log_w(self, z: Ball) -> Ball:
        return (self._q * (self._mu * z - self._half).expm1()).log1p()

    def _integrand(self, z: Ball) -> Ball:
        log = self._log_w(z)
        return (z * z / -2).exp() * (self._plus * log).expm1() * -(self._minus * log).expm1()

    def _most(self, left: Ball, right: Ball, depth: float) -> Ball:
        """An upper bound of the integrand's modulus for left ≤ Re z ≤ right, |Im z| ≤ depth.

        With x + iy = z and W = w(x): cos(μy/2)·W ≤ |w| ≤ W, and the modulus is at most e^{(y²−x²)/2} times
        (|w|^{s+1} + 1)(1 + |w|^{−s}); for −1 < s < 0 these brackets are at most 4(W + 1). ln W is convex:
        below its chord. Where u = w − 1 is small, |w^p − 1| ≤ e^{|p|t} − 1, t = |u|/(1−|u|) ≥ |ln w|.
        """
        log_left, log_right = self._log_w(left), self._log_w(right)
        slope = self._top * (log_right - log_left) / (right - left)
        most = quadratic_top(slope, left, right, self._top * log_left - slope * left).exp()
        plain = quadratic_top(Ball(0), left, right, Ball(0)).exp()
        y = Ball(depth)
        far = (self._mu * left - self._half).abs_upper().max((self._mu * right - self._half).abs_upper())
        u = self._q * (far + self._mu * y).expm1()
        if self._top * u < 0.25:
            t = u / (1 - u)
            return plain * (self._plus * t).expm1() * (abs(self._minus) * t).expm1() * (y * y / 2).exp()
        most += plain
        if self._s > 0:
            least = (y * self._mu / 2).cos().log() + log_left.min(Ball(0))
            most *= 1 + (self._minus * least).exp()
        else:
            most *= 4
        return most * (y * y / 2).exp()

    def log_moment(self) -> Ball:
        """ln M(s), not finite when the work limit is met."""
        total, nodes, panels = Ball(0), 0, 0
        error = self._tail()
        stack = [(self._start, self._end)]
        while stack:
            left, right = stack.pop()
            panels += 1
            radius = (right - left) / 2
            negligible = self._most(left, right, 0.0) * radius * 2
            if negligible.log() < self._goal:
                error += negligible
            elif upper_float(radius) > self._depth:
                middle = left + radius
                stack += [(left, middle), (middle, right)]
            else:
                value, bound, count = self._panel(left, right)
                total, error, nodes = total + value, error + bound, nodes + count
            if nodes > _MOST_NODES or panels > _MOST_PANELS:
                return Ball("nan")
        error = error.upper()
        return ((total + between(-error, error)) / (2 * Ball.pi()).sqrt()).log1p()

    def _panel(self, left: Ball, right: Ball) -> tuple[Ball, Ball, int]:
        """Value, error bound and node count of one panel.

        n points integrate degree 2n−1 exactly, and the Chebyshev coefficients of a function bounded by B in
        the ellipse of parameter ρ are at most 2Bρ^−k: the error is at most (64/15)·B·ρ^−2n/(1−ρ^−2), n ≥ 2.
        """
        radius, centre = (right - left) / 2, (left + right) / 2
        share = Ball(self._depth) / radius  # minor half-axis over half-length
        rho = share + (share * share + 1).sqrt()
        reach = radius * (share * share + 1).sqrt()
        most = self._most(centre - reach, centre + reach, self._depth)
        need = float((most * radius).log()) - self._goal + 2
        points = need / (2 * float(rho.log()))
        n = next((rule for rule in _RULES if rule >= points), None)
        if n is None:
            return Ball(0), INFINITY, _MOST_NODES + 1
        error = most * radius * 64 / 15 * rho ** (-2 * n) / (1 - 1 / (rho * rho))
        value = sum((w * self._integrand(centre + radius * x) for x, w in gauss(n)), Ball(0))
        return value * radius, error, n

    def _tail(self) -> Ball:
        """Beyond the end the integrand is at most w^max(1,s+1)·e^{−z²/2}, and ln w has slope at most μ."""
        over = self._end - self._top * self._mu
        height = self._tail_height(self._end)
        return (height - over * over / 2).exp() * (Ball.pi() / 2).sqrt() if over > 0 else INFINITY

    def _tail_height(self, z: Ball) -> Ball:
        return self._top * (self._log_w(z) - self._mu * z + self._top * self._half)
