"""ln E[w^a], w = 1 − q + q·e^ξ, ξ = μz − μ²/2, z standard normal: proved, or fast in floats.

With u = w − 1 (its mean is 0) the mean of w^a is G = 1 + X, X = ∫φ(z)g(u(z))dz, g(u) = (1+u)^a − 1 − a·u. The
trapezoidal rule on X converges geometrically and keeps the relative accuracy of ln G however small it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import ctx

from tightrope.numerics.balls import INFINITY, Ball, ball, between, certain, precision, upper_float
from tightrope.numerics.moments.centred_power import CentredPower
from tightrope.numerics.moments.sampled_normal_bounds import elementary_log_power_mean
from tightrope.numerics.moments.sampled_normal_floats import log_power_means, short_step, strip_step, window
from tightrope.numerics.real import Real

__all__ = ["log_power_mean", "log_power_means", "log_power_means_certified"]

_MOST_NODES = 5000
_MOST_WORK = 4_000_000  # nodes times bits
_BINOMIAL = 72  # up to this whole power the binomial sum is cheaper than the quadrature


def log_power_mean(mu: Real, rate: Fraction, power: Fraction) -> Ball:
    """ln E[w^a] for any real a, to the present precision (relative) where it is affordable.

    Where it is not (parameters that need more than some thousand nodes) the ball is wider, but still a proof.
    """
    return log_power_means_certified(mu, rate, [power])[0]


def log_power_means_certified(mu: Real, rate: Fraction, powers: Sequence[Fraction]) -> list[Ball]:
    """ln E[w^a] for several powers, which share the nodes of the quadrature; each as ``log_power_mean``."""
    bits = int(ctx.prec)
    with precision(bits + 64):
        shift = abs(mu.ball())  # the law of w is the same for μ and −μ
        if shift.is_finite() and not certain(shift, 24):
            # A smaller μ gives a conditional mean of w, and w^a is convex (concave for 0 < a < 1): monotone.
            ends = [_all(end, rate, powers, bits) for end in (shift.lower().max(Ball(0)), shift.upper())]
            return [between(x, y) for x, y in zip(*ends, strict=True)]
        return _all(shift, rate, powers, bits)


def _all(mu: Ball, rate: Fraction, powers: Sequence[Fraction], bits: int) -> list[Ball]:
    if rate == 0 or mu.is_zero():
        return [Ball(0)] * len(powers)
    if not mu.is_finite():
        return [_unbounded(mu, rate, power) for power in powers]
    grids: _Grids = {}
    return [_one(mu, rate, power, bits, grids) for power in powers]


def _unbounded(mu: Ball, rate: Fraction, power: Fraction) -> Ball:
    """What is sure when μ is ∞ or unknown: ln G is between 0 and its value at μ = ∞."""
    if power in (0, 1):
        return Ball(0)
    if mu == INFINITY and power > 1:
        return INFINITY
    return between(Ball(0), INFINITY if power > 1 or rate == 1 else ball(power) * (-ball(rate)).log1p())


def _one(mu: Ball, rate: Fraction, power: Fraction, bits: int, grids: _Grids) -> Ball:
    if power in (0, 1):
        return Ball(0)
    if rate == 1:
        return ball(power) * ball(power - 1) * mu * mu / 2
    if power.denominator == 1 and 2 <= power <= _BINOMIAL and upper_float(mu) < 1e3:
        return _binomial(mu, rate, int(power))
    low, high = elementary_log_power_mean(mu, rate, power, bits)
    simple = between(low, high)
    if certain(simple, bits) or not simple.is_finite():
        return simple
    aim = bits
    while aim >= 24:
        plan = _plan(mu, rate, power, aim, low, high)
        if plan is not None:
            proved = _trapezoid(mu, rate, power, plan, grids)
            return proved if proved.is_finite() and proved.rad() < simple.rad() else simple
        aim = aim * 2 // 3
    return simple


def _binomial(mu: Ball, rate: Fraction, order: int) -> Ball:
    """ln(1 + Σ_{k≥2} C(a,k) q^k (1−q)^{a−k} (e^{k(k−1)μ²/2} − 1)): every term is positive."""
    ratio = ball(rate / (1 - rate))
    half = mu * mu / 2
    weight = ball(1 - rate) ** order * ratio * order
    total = Ball(0)
    for k in range(2, order + 1):
        weight = weight * ratio * (order - k + 1) / k
        total += weight * (half * (k * (k - 1))).expm1()
    return total.log1p()


@dataclass(frozen=True)
class _Plan:
    """Nodes z = j·step for first ≤ j ≤ last; a strip |Im z| ≤ depth of analyticity; bits to compute with."""

    step: Fraction
    first: int
    last: int
    depth: float
    bits: int


def _plan(mu: Ball, rate: Fraction, power: Fraction, bits: int, low: Ball, high: Ball) -> _Plan | None:
    """Where to put the nodes for an error of 2^−bits of ln G: only a choice, in floats. None: too many."""
    if upper_float(mu) > 1e3 or abs(power) > 10**9:
        return None
    least, most = abs(low).min(abs(high)), abs(low).max(abs(high))
    scale = least.max(most * Ball("1e-30"))
    nats = bits * math.log(2) + 4 + max(0.0, -float(scale.log()))
    m, a, stay, take = float(mu), float(power), math.log1p(-float(rate)), float(ball(rate).log())
    depth, step = strip_step(m, a, nats)
    left, right = window(m, a, stay, take, nats, max(0.0, float(low)))
    h = short_step(step)
    first, last = math.floor(left / float(h)), math.ceil(right / float(h))
    working = bits + 40 + int(math.log2(2 + left * left + right * right + abs(a) * (m * right - stay)))
    count = last - first
    if count > _MOST_NODES or count * working > _MOST_WORK:
        return None
    return _Plan(h, first, last, depth, working)


_Node = tuple[Ball, Ball, Ball, float]  # e^{−z²/2}, u, ln(1+u), about the largest |u|


class _Grid:
    """The nodes of one step, made when first asked for, at the precision of that moment."""

    def __init__(self, mu: Ball, rate: Fraction, step: Fraction) -> None:
        self._mu, self._q, self._step = mu, ball(rate), ball(step)
        self._half = mu * mu / 2
        self._nodes: dict[int, _Node] = {}

    def node(self, j: int) -> _Node:
        found = self._nodes.get(j)
        if found is None:
            z = self._step * j
            u = self._q * (self._mu * z - self._half).expm1()
            found = self._nodes[j] = (z * z / -2).exp(), u, u.log1p(), float(u.abs_upper())
        return found


_Grids = dict[tuple[Fraction, int], _Grid]  # by step and precision


def _trapezoid(mu: Ball, rate: Fraction, power: Fraction, plan: _Plan, grids: _Grids) -> Ball:
    working = -(-plan.bits // 32) * 32
    with precision(working):
        grid = grids.get((plan.step, working))
        if grid is None:
            grid = grids[plan.step, working] = _Grid(mu, rate, plan.step)
        g = CentredPower(power)
        total = Ball(0)
        for j in range(plan.first, plan.last + 1):
            density, u, log_w, size = grid.node(j)
            total += density * g.value(u, log_w, size)
        total *= ball(plan.step) / (2 * Ball.pi()).sqrt()
        return _with_errors(total, mu, rate, power, plan, grid)


def _with_errors(total: Ball, mu: Ball, rate: Fraction, power: Fraction, plan: _Plan, grid: _Grid) -> Ball:
    """ln(1 + X) from the sum over the window: truncation and aliasing are added, each proved.

    φ·g is φ·w^a less the tangent φ·(1 + a·u), and the two are bounded apart. Aliasing of w^a: |w(x+iy)| lies
    between cos(yμ/2)·w(x) and w(x), so in the strip the integrand is at most e^{d²/2}·[cos(dμ/2)^a if a<0]
    times the real one: the error is at most κ·G. Of the tangent, which is two Gaussians, by Poisson
    summation: at most (1 + 2|a|q)·2Σ_{n≥1}e^{−2π²n²/h²}.
    """
    a, q, h, d = ball(power), ball(rate), ball(plan.step), Ball(plan.depth)
    left, right = h * plan.first, h * plan.last
    size = abs(a) * q
    if not (d * mu < Ball.pi() and left <= 0 and right >= mu and (power < 0 or right >= a * mu)):
        return Ball("nan")
    strip = (d * d / 2).exp() if power > 0 else (d * d / 2 + a * (d * mu / 2).cos().log()).exp()
    kappa = 2 * strip / (2 * Ball.pi() * d / h).expm1()
    alias = (-2 * Ball.pi() ** 2 / (h * h)).exp()
    rest = (1 + 2 * size) * 2 * alias / (1 - alias)
    # Beyond the ends every piece is monotone, so that a sum is at most its integral.
    rest += (1 + size) * (_tail(-left) + _tail(right)) + size * _tail(right - mu)
    (_, u_left, log_left, _), (_, _, log_right, _) = grid.node(plan.first), grid.node(plan.last)
    if power > 0:  # to the right ln w has slope at most μ; to the left w^a is at most its value at the end
        rest += (a * log_left).exp() * _tail(-left)
        rest += (a * (log_right - mu * right + a * mu * mu / 2)).exp() * _tail(right - a * mu)
    else:  # to the left the slope of ln w is at most what it is at the end
        share = (-a * mu * (u_left + q) / (1 + u_left)).upper()  # q·e^ξ = u + q
        if not left <= -share:
            return Ball("nan")
        rest += (a * log_right).exp() * _tail(right)
        rest += (a * log_left + share * left + share * share / 2).exp() * _tail(-left - share)
    if not kappa < 1:
        return Ball("nan")
    most = (1 + total + rest) / (1 - kappa)  # an upper bound of G itself
    error = (rest + kappa * most).upper()
    return (total + between(-error, error)).log1p()


def _tail(x: Ball) -> Ball:
    """An upper bound of Pr[z > x], for x ≥ 0."""
    return (x * x / -2).exp() / 2
