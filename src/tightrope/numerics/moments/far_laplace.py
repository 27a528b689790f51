"""ln E_Q[w^a] of sampled Laplace losses where a·ε₀ or ε₀ is large: nearly all is close to one end.

With y the distance from ε₀, w = w(ε₀)·(1 + m(e^{−y} − 1)), m = q·e^{ε₀}/w(ε₀); from −ε₀, w = w(−ε₀)·(1 + m(e^y − 1)),
m = q·e^{−ε₀}/w(−ε₀).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import ctx

from tightrope.numerics.balls import Ball, ComplexBall, ball, between
from tightrope.numerics.exact import near

__all__ = ["far_laplace"]

Integral = Callable[[Callable[[ComplexBall, bool], ComplexBall], Ball, Ball], Ball]
Log = Callable[[ComplexBall, bool], ComplexBall]
_NATS = 90.0


def far_laplace(epsilon0: Fraction, rate: Fraction, power: Fraction, integral: Integral, log1p: Log) -> Ball:
    """It may be wide where a·ε₀ is small; the power is above 1 or below 0."""
    e, q, a = ball(epsilon0), ball(rate), ball(power)
    high, low = (q * e.expm1()).log1p(), (q * (-e).expm1()).log1p()
    apart = (-abs(a) * (high - low)).exp()  # of the other end
    sign = -1 if power > 0 else 1
    near_end, weight, other = (high, (-e).exp(), e.exp()) if power > 0 else (low, Ball(1), (-e).exp())
    share = q * (-sign * e - near_end).exp()
    reach = _reach(near(epsilon0), float(share.mid()), float(a.mid()), sign)
    end = (2 * e).min(Ball(reach)) if reach < 2 * near(epsilon0) else 2 * e

    def density(y: ComplexBall, analytic: bool) -> ComplexBall:
        return (a * log1p(share * (sign * y).expm1(), analytic) - sign * y / 2).exp()

    inside = integral(density, Ball(0), end)
    if reach < 2 * near(epsilon0):  # beyond, w^a is at most what it is there; and so is e^{−y/2}
        most = (a * (share * (sign * end).expm1()).log1p() - (end / 2 if sign > 0 else Ball(0))).exp()
        inside += between(Ball(0), 2 * most * (e.exp() if sign < 0 else Ball(1)))
    return a * near_end + weight.log() + (Ball(0.5) + inside / 4 + other * apart / 2).log()


def _reach(e: float, share: float, a: float, sign: int) -> float:
    """Where nearly nothing is left: a choice, in floats."""
    nats = _NATS + ctx.prec * 0.35 + (e if sign < 0 else 0.0)

    def fallen(y: float) -> float:
        if sign > 0 and y > 600:
            return math.inf
        change = share * math.expm1(sign * y)
        return -a * (math.log1p(change) if change > -1 else -math.inf) + (y / 2 if sign > 0 else 0.0)

    if fallen(2 * e) <= nats:
        return 2 * e
    low, high = 0.0, 2 * e
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if fallen(middle) < nats else (low, middle)
    return high
