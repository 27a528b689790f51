"""The trapezoidal rule for ∫ φ(x) w(x)^{t+1+iy} w(−x)^{−t−iy} dx, t ≥ −½: nodes, aliasing, what lies beyond."""

from __future__ import annotations

import math
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.transforms.sampled_rule import Rule, short, upper_tail_bound

__all__ = ["log_factors", "replace_alias", "replace_rule", "replace_tails", "replace_window"]

_MOST_NODES = 20_000
_WHAT = "a sampled normal transform"


def log_factors(c: Ball, q: Ball, x: Ball) -> tuple[Ball, Ball]:
    """ln w(x) and ln w(−x)."""
    half, move = c * c / 2, c * x
    return (q * (move - half).expm1()).log1p(), (q * (-move - half).expm1()).log1p()


def replace_window(c: float, rate: float, t: float, nats: float) -> tuple[float, float]:
    """Ends beyond which the integrand at y = 0 is below e^−nats of its mass, about."""
    reach = math.sqrt(2 * nats)
    odds = rate / (1 - rate)
    right = (t + 1) * c + reach
    for _ in range(6):  # the slope of the exponent at the end: (t+1)·c + t·c·ρ/w(−right)
        falls = odds * math.exp(max(-c * right - c * c / 2, -700.0))
        right = (t + 1) * c + max(t, 0.0) * c * falls / (1 + falls) + reach
    if t > 0:
        # The peak's height over 1 is paid by a wider window where modes are apart.
        peak = (t + 1) * max(0.0, math.log(rate) + (t + 0.5) * c * c)
        right = max(right, (t + 1) * c + math.sqrt(2 * nats + 2 * max(0.0, (t + 1) * t * c * c / 2 - peak)))
    return -reach - max(0.0, -t) * c, right


def replace_rule(c: float, rate: float, t: float, y: float, nats: float) -> Rule:
    """Nodes for an error of about e^−nats relative to M(t) at every |y'| ≤ y: a choice, in floats."""
    left, right = replace_window(c, rate, t, nats)
    deepest = min(math.sqrt(2 * nats), 3.04 / c)
    depth, best = 0.0, math.inf
    for k in range(40 if t > 0 else 1):
        d = deepest * 0.88**k
        trial = (nats - max(t, 0.0) * math.log(math.cos(d * c / 2))) / d + d / 2
        if trial > best:
            break
        depth, best = d, trial
    step = short(2 * math.pi / (best + 2 * y * c))
    h = float(step)
    if not (right - left) / h < _MOST_NODES:
        raise NotCertified(_WHAT, f"it needs {(right - left) / h:.3g} nodes")
    return Rule(step, math.floor(left / h), math.ceil(right / h), short(depth))


def replace_alias(c: Ball, t: Fraction, y: Ball, chosen: Rule) -> Ball:
    """A bound of |h Σ_{j∈ℤ} f(jh) − ∫f| / M(t), for every |y'| ≤ y; certainly below 1.

    In the strip |Im x| ≤ d < π/c the two angles differ by at most 2dc, and cos(dc/2)·w ≤ |w| ≤ w on the axis.
    """
    d = ball(chosen.depth)
    if not d * c < Ball.pi():
        raise NotCertified(_WHAT, "the strip is too wide")
    log = d * d / 2 + 2 * y * d * c
    if t > 0:
        log -= ball(t) * (d * c / 2).cos().log()
    bound = 2 * log.exp() / (2 * Ball.pi() * d / ball(chosen.step)).expm1()
    if not bound < 0.5:
        raise NotCertified(_WHAT, "the nodes are too far apart")
    return bound


def replace_tails(c: Ball, q: Ball, t: Fraction, chosen: Rule) -> Ball:
    """A bound of h Σ|f| beyond both ends, for t ≥ −½.

    E(x) = (t+1)·ln w(x) − t·ln w(−x) has the slope (t+1)·c·π(x) + t·c·π(−x), π = ρ/w rising from 0 to 1. To the
    right of the end it is at most (t+1)·c + max(t,0)·c·π(−end), to the left at least −max(−t,0)·c.
    """
    a, left, right = ball(t), ball(chosen.step * chosen.first), ball(chosen.step * chosen.last)
    total = Ball(0)
    for end, outward in ((left, -left), (right, right)):
        first, second = log_factors(c, q, end)
        other = 1 - (1 - q) * (-second).exp()  # π(−end)
        steepest = (-a).max(Ball(0)) if end is left else a + 1 + a.max(Ball(0)) * other
        slope = (c * steepest).upper()
        if not outward >= slope:
            raise NotCertified(_WHAT, "the window ends before its peak")
        height = (a + 1) * first - a * second - slope * outward + slope * slope / 2
        total += height.exp() * upper_tail_bound(outward - slope)
    return total
