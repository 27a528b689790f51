"""How fast |M(t+iy)| of the exchanged sampled normal falls, t ≥ 0: its integral shifted by iθ/c.

There w(x) becomes W₁ = 1 − q + ρ(x)e^{iθ} and w(−x) becomes W₂ = 1 − q + ρ(−x)e^{−iθ}, and for every 0 < θ < π

    |M(t+iy)|/M(t) ≤ R(y) = e^{θ²/2c²} ∫ φ |W₁|^{t+1} |W₂|^{−t} e^{−y(arg W₁ − arg W₂)} dx / M(t),

where arg W₁ > 0 > arg W₂, so that R falls with y.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.transforms_replace_rule import replace_tails, replace_window
from tightrope.numerics.transforms_sampled_rule import Rule, short

if TYPE_CHECKING:
    from tightrope.numerics.transform import Floats

__all__ = ["log_decay", "replace_decay", "shifted_angle"]

_WIDEST = 2.9


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
    nats = ctx.prec * math.log(2) + theta * theta / (2 * c * c)
    left, right = replace_window(c, rate, t, nats - t * math.log(math.cos(theta / 2)))
    best, depth = math.inf, 0.0
    widest = min(0.97 * (math.pi - theta) / c, math.sqrt(2 * nats))
    for k in range(36):
        d = widest * 0.88**k
        extra = y * max(0.0, d * c - theta) - t * math.log(math.cos((theta + d * c) / 2))
        trial = (nats + extra) / d + d / 2
        if trial < best:
            best, depth = trial, d
    step = short(2 * math.pi / best)
    h = float(step)
    if not (right - left) / h < 5000:
        raise NotCertified("a decay", "too many nodes")
    return Rule(step, math.floor(left / h), math.ceil(right / h), short(depth))


def _logs(c: float, rate: float, t: float, thetas: Floats, y: Floats) -> Floats:
    """About ln R on y × angles."""
    import numpy as np

    left, right = replace_window(c, rate, t, 24.0)
    h = max(min(0.35, 0.5 / c, (right - left) / 40), (right - left) / 1000)
    x = np.arange(math.floor(left / h), math.ceil(right / h) + 1) * h
    angles = np.concatenate([[0.0], thetas])[:, None]
    (size, turn), (other, back) = (_polar(c, rate, side, angles) for side in (x, -x))
    logs = x * x / -2 + (t + 1) * size - t * other + angles * angles / (2 * c * c)
    plain = float(np.logaddexp.reduce(logs[0]))
    exponents = logs[1:] - y[:, None, None] * (turn + back)[1:]
    result: Floats = np.logaddexp.reduce(exponents, axis=2) - plain
    return result


def _polar(c: float, rate: float, x: Floats, angles: Floats) -> tuple[Floats, Floats]:
    """ln|w| and the angle of w = 1 − q + ρe^{iθ}."""
    import numpy as np

    rise = rate * np.exp(np.minimum(c * x - c * c / 2, 300.0))
    real, imag = rise * np.cos(angles) - rate, rise * np.sin(angles)
    return np.log1p(np.maximum(real * (2 + real) + imag * imag, -1 + 1e-16)) / 2, np.arctan2(imag, 1 + real)


def _angles(c: float, rate: float, t: float, y: float) -> Floats:
    """Seven angles around the best one at y."""
    import numpy as np

    least = min(0.3, max(1e-12, 0.3 * c * c * rate * y * math.exp(-min(c * c / 2, 20.0))))
    coarse = np.geomspace(least, _WIDEST, max(12, min(40, math.ceil(math.log(_WIDEST / least) / 0.3))))
    best = int(_logs(c, rate, t, coarse, np.array([y]))[0].argmin())
    result: Floats = np.minimum(coarse[best] * float(coarse[1] / coarse[0]) ** np.linspace(-1, 1, 7), _WIDEST)
    return result


def shifted_angle(c: float, rate: float, t: float, y: float) -> Fraction:
    """The θ at which R(y) is about least."""
    import numpy as np

    angles = _angles(c, rate, t, y)
    return short(float(angles[_logs(c, rate, t, angles, np.array([y]))[0].argmin()]))


def log_decay(c: float, rate: float, t: float, y: Floats) -> Floats:
    """About the logarithm of the least R, at many y within a small range."""
    import numpy as np

    angles = _angles(c, rate, t, float(np.sqrt(y[0] * y[-1])))
    result: Floats = np.minimum(_logs(c, rate, t, angles, y).min(axis=1), 0.0)
    return result
