"""Elementary proved bounds of ln E[w^a], w = 1 − q + q·e^ξ, ξ = μz − μ²/2, z standard normal.

They cost some microseconds, hold for every parameter, and are sharp where quadrature is expensive: q tiny,
μ large, or |a| so large that one mode carries everything. G(a) is the mean; e(k) = E e^{kξ} = e^{k(k−1)μ²/2}.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tightrope.numerics.balls import INFINITY, Ball, ball, upper_float

__all__ = ["elementary_log_power_mean", "log_sum", "quadratic_top"]


def log_sum(*logs: Ball) -> Ball:
    """ln Σ e^{x_i}, without overflow."""
    top = logs[0]
    for x in logs[1:]:
        if x.mid() > top.mid():
            top = x
    rest = sum(((x - top).exp() for x in logs if x is not top), Ball(0))
    return top + rest.log1p()


def elementary_log_power_mean(mu: Ball, rate: Fraction, power: Fraction, bits: int) -> tuple[Ball, Ball]:
    """Exact numbers low ≤ ln G(a) ≤ high for 0 < q < 1, μ > 0 and a not 0 or 1.

    ``bits`` is the relative accuracy to aim at where there is a choice.
    """
    q, a = ball(rate), ball(power)
    gain = a * (a - 1) * mu * mu / 2  # ln e(a), which is ln G(a) for q = 1
    stay, take = (-q).log1p(), q.log()
    lows, highs = _by_curvature(mu, q, power)
    mixture = (q * gain.expm1()).log1p() if upper_float(gain) < 1e3 else log_sum(stay, take + gain)
    apart = log_sum(a * stay, a * take + gain)  # ln[(1−q)^a + q^a e(a)]: two modes that do not meet
    if power > 1:
        # w^a is convex in q (mixture), and (x+y)^a ≥ x^a + y^a.
        lows += [Ball(0), apart]
        highs += [mixture, _split(a, stay, a * take + gain, bits)]
        if power <= 2:
            # (x+y)^a ≤ x^a + y^a + a·2^{a−1}·min·max^{a−1}, and min·max^{a−1} ≤ (xy)^{a/2} for a ≤ 2.
            half = a / 2
            cross = a.log() + (a - 1) * Ball(2).log() + half * (stay + take) - half * (1 - half) * mu * mu / 2
            highs.append(log_sum(a * stay, a * take + gain, cross))
    elif power > 0:
        # w^a is concave in q, and (x+y)^a ≤ x^a + y^a.
        lows += [mixture, a * stay]
        highs += [Ball(0), apart]
    else:
        # w^a is convex in q and decreasing in z: it is at most (1−q)^a, and at least w(μ/4)^a left of μ/4.
        left = (-mu / (4 * Ball(2).sqrt())).erfc() / 2
        lows += [Ball(0), a * (q * (-mu * mu / 4).expm1()).log1p() + left.log()]
        highs += [mixture, a * stay]
        if upper_float(mu) < 1e3 and -power * Fraction(upper_float(mu)) > 8:
            low, high = _by_peak(mu, q, a)
            lows.append(low)
            highs.append(high)
    if not 0 <= power <= 1 and 4 < upper_float(mu) < 1e3:
        lows.append(_from_right(mu, q, a))
    return _extreme(lows, 1), _extreme(highs, -1)


def _split(a: Ball, stay: Ball, dominant: Ball, bits: int) -> Ball:
    """Upper bound for a > 1: cut where q·e^ξ = e^y; left w^a ≤ (1−q+e^y)^a, right w ≤ q·e^ξ(1+(1−q)e^{−y}).

    Every y gives a bound; this one leaves e^−bits of the mode at z = aμ on the left.
    """
    y = ((dominant - bits) / a).mid()
    return log_sum(a * log_sum(stay, y), dominant + a * log_sum(Ball(0), stay - y))


def _by_curvature(mu: Ball, q: Ball, power: Fraction) -> tuple[list[Ball], list[Ball]]:
    """Bounds from G − 1 = a(a−1)q² E[(e^ξ−1)² ∫₀¹(1−t)(1+tu)^{a−2}dt], u = q(e^ξ−1), sharp for small q or μ.

    Under the weight (e^ξ−1)²(1−t) the mean of 1+tu is 1+qr/3, r = (e^{μ²}−1)(e^{μ²}+2): Jensen bounds
    the mean of its power a−2, from below when that is convex. The other side: 1+tu ≥ 1−q, or convexity in q.
    """
    if upper_float(mu) > 1e3 or abs(power) > 10**9:
        return [], []
    a, b, square = ball(power), ball(power - 2), mu * mu
    second = square.expm1()  # E(e^ξ−1)²
    scale = a * (a - 1) / 2 * q * q * second
    jensen = (b * (q * second * (second + 3) / 3).log1p()).exp()
    least = (b * (-q).log1p()).exp()
    if power >= 3:
        step = (b * square).expm1()
        # tilted is E (e^ξ−1)² e^{bξ}
        tilted = (b * (b - 1) * square / 2).exp() * (step * step + (1 + step) ** 2 * second)
        pair = jensen, 1 + q / 3 * (tilted / second - 1)
    else:
        pair = (jensen, least) if power <= 2 else (least, jensen)
    first, last = ((scale * f).log1p() for f in pair)
    return ([last], [first]) if 0 < power < 1 else ([first], [last])


def _from_right(mu: Ball, q: Ball, a: Ball) -> Ball:
    """Lower bound for a < 0 or a > 1 and large μ, from z > 3μ/4 only.

    There g(u) = (1+u)^a − 1 − a·u, which is convex, ≥ 0, and 0 at 0, is at least u·g(c)/c, c = u(3μ/4).
    """
    c = q * (mu * mu / 4).expm1()
    root = 4 * Ball(2).sqrt()
    mass = ((-mu / root).erfc() - (3 * mu / root).erfc()) / 2  # E[e^ξ − 1; z > 3μ/4]
    return (q * mass * ((a * c.log1p()).expm1() - a * c) / c).log1p()


def _by_peak(mu: Ball, q: Ball, a: Ball) -> tuple[Ball, Ball]:
    """Bounds for a < 0 from ψ(z) = a·ln w(z) − z²/2 at a point: −1 ≥ ψ'' ≥ −(1+|a|μ²/4).

    Every point gives bounds; this one is near the maximum, where they are best.
    """
    m, power, rate = float(mu), float(a), float(q)
    left, right = power * m, 0.0
    for _ in range(40):
        z = (left + right) / 2
        odds = rate / (1 - rate) * math.exp(max(m * z - m * m / 2, -700.0)) if rate < 1 else math.inf
        share = odds / (1 + odds) if odds < math.inf else 1.0
        left, right = (z, right) if power * m * share > z else (left, z)
    point = Ball(right)
    rho = q * (mu * point - mu * mu / 2).exp()
    w = (1 - q) + rho
    height, slope = a * w.log() - point * point / 2, a * mu * rho / w - point
    bend = 1 - a * mu * mu / 4
    return height + slope * slope / (2 * bend) - bend.log() / 2, height + slope * slope / 2


def _extreme(candidates: list[Ball], sign: int) -> Ball:
    """The best of several bounds: the largest lower one (sign 1), or the least upper one (sign −1)."""
    best = -INFINITY
    for x in candidates:
        if x.is_finite():
            best = best.max((sign * x).lower())
    return sign * best


def quadratic_top(slope: Ball, left: Ball, right: Ball, height: Ball) -> Ball:
    """An upper bound of height + slope·x − x²/2 on [left, right]: by concavity any tangent is one."""
    x = Ball(min(max(float(slope), float(left)), float(right)))
    lean = slope - x
    return height + slope * x - x * x / 2 + (lean * (left - x)).max(lean * (right - x))
