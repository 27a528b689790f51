"""How fast |M(t+iy)| of the exchanged sampled normal falls, t ≥ 0: its integral shifted by iθ/c.

There w(x) becomes W₁ = 1 − q + ρ(x)e^{iθ} and w(−x) becomes W₂ = 1 − q + ρ(−x)e^{−iθ}, and for every 0 < θ < π

    |M(t+iy)|/M(t) ≤ R(y) = e^{θ²/2c²} ∫ φ |W₁|^{t+1} |W₂|^{−t} e^{−y(arg W₁ − arg W₂)} dx / M(t),

where arg W₁ > 0 > arg W₂, so that R falls with y.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.decay_search import best_angle, least_logs, polar, positions, shifted_rule
from tightrope.numerics.transforms.replace_rule import replace_tails, replace_window
from tightrope.numerics.transforms.sampled_rule import Rule

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["log_decay", "replace_decay", "shifted_angle"]


def replace_decay(c: Real, rate: Fraction, t: Fraction, y: Fraction, theta: Fraction, log_m: Ball) -> Ball:
    """R(y) at this θ for t ≥ 0, proved; at most 1."""
    with precision(ctx.prec + 20):
        move, angle = abs(c.ball()), ball(theta)
        if not (angle > 0 and angle < Ball.pi()) or not log_m.is_finite() or t < 0:
            return Ball(1)
        try:
            chosen = _shifted_rule(float(move.mid()), min(float(rate), 1 - 2.0**-53), float(t), float(y), float(theta))
            total = _integral(move, ball(rate), t, y, angle, chosen)
            beyond = replace_tails(move, ball(rate), t, chosen)
            beyond *= (ball(-t) * (angle / 2).cos().log()).exp()  # |W₂| ≥ cos(θ/2)·w(−x)
            bound = (total + beyond) * (-log_m).exp() + _alias(move, t, y, angle, chosen)
        except NotCertified:
            return Ball(1)
        return (bound * (angle * angle / (2 * move * move)).exp()).upper().min(Ball(1))


def _integral(c: Ball, q: Ball, t: Fraction, y: Fraction, angle: Ball, chosen: Rule) -> Ball:
    a, fall, step, half = ball(t), ball(-y), ball(chosen.step), c * c / 2
    turn, back = ComplexBall(angle.cos(), angle.sin()), ComplexBall(angle.cos(), -angle.sin())
    total = Ball(0)
    for j in range(chosen.first, chosen.last + 1):
        x = step * j
        first = (turn * (q * (c * x - half).exp()) + (1 - q)).log()
        second = (back * (q * (-c * x - half).exp()) + (1 - q)).log()
        total += (x * x / -2 + (a + 1) * first.real - a * second.real + fall * (first.imag - second.imag)).exp()
    return total * step / (2 * Ball.pi()).sqrt()


def _alias(c: Ball, t: Fraction, y: Fraction, angle: Ball, chosen: Rule) -> Ball:
    """The rule's aliasing relative to M(t).

    The integrand is exp of ½(t+1±iy)·log and −½(t±iy)·log of W₁, W₂ and their conjugates, analytic for
    |Im| < (π−θ)/c. At depth d two angles help and two are at most max(0, dc − θ).
    """
    d = ball(chosen.depth)
    if not angle + d * c < Ball.pi():
        raise NotCertified("a decay", "the strip is too wide")
    log = d * d / 2 + ball(y) * (d * c - angle).max(Ball(0)) - ball(t) * ((angle + d * c) / 2).cos().log()
    return 2 * log.exp() / (2 * Ball.pi() * d / ball(chosen.step)).expm1()


def _shifted_rule(c: float, rate: float, t: float, y: float, theta: float) -> Rule:
    def extra(d: float) -> float:
        return y * max(0.0, d * c - theta) - t * math.log(math.cos((theta + d * c) / 2))

    nats = ctx.prec * math.log(2) + theta * theta / (2 * c * c)
    return shifted_rule(replace_window(c, rate, t, nats - t * math.log(math.cos(theta / 2))), nats, c, theta, extra)


def _logs(c: float, rate: float, t: float, thetas: Floats, y: Floats) -> Floats:
    """About ln R on y × angles."""
    import numpy as np

    x = positions(replace_window(c, rate, t, 24.0), c)
    angles = np.concatenate([[0.0], thetas])[:, None]
    (size, turn), (other, back) = (polar(c, rate, side, angles) for side in (x, -x))
    logs = x * x / -2 + (t + 1) * size - t * other + angles * angles / (2 * c * c)
    plain = float(np.logaddexp.reduce(logs[0]))
    exponents = logs[1:] - y[:, None, None] * (turn + back)[1:]
    result: Floats = np.logaddexp.reduce(exponents, axis=2) - plain
    return result


def shifted_angle(c: float, rate: float, t: float, y: float) -> Fraction:
    """The θ at which R(y) is about least."""
    return best_angle(partial(_logs, c, rate, t), c, rate, y)


def log_decay(c: float, rate: float, t: float, y: Floats) -> Floats:
    """About the logarithm of the least R, at many y within a small range."""
    return least_logs(partial(_logs, c, rate, t), c, rate, y)
