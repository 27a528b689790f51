"""How fast |G(A+iy)| falls: the integral over z, shifted by iθ/μ, where w = 1 − q + ρ(x)e^{iθ} has arg w > 0.

|G(A+iy)|/G(A) ≤ R(y) = e^{θ²/2μ²} ∫ φ(x) |w|^A e^{−y·arg w} dx / G(A) for every 0 < θ < π, and R falls with y.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.sampled_normal_floats import window
from tightrope.numerics.transforms_sampled_rule import Rule, short, tails

if TYPE_CHECKING:
    from tightrope.numerics.transform import Floats

__all__ = ["decay_bound", "log_decay", "shifted_angle"]

_WIDEST = 2.9


def decay_bound(mu: Real, rate: Fraction, power: Fraction, y: Fraction, theta: Fraction, log_g: Ball) -> Ball:
    """R(y) at this θ, proved: the trapezoidal rule, its aliasing, and what lies beyond its ends; at most 1."""
    with precision(ctx.prec + 20):
        m, angle = abs(mu.ball()), ball(theta)
        gain = angle * angle / (2 * m * m)
        if not (angle > 0 and angle < Ball.pi()) or not log_g.is_finite():
            return Ball(1)
        try:
            chosen = _shifted_rule(float(m.mid()), min(float(rate), 1 - 2.0**-53), float(power), float(y), float(theta))
            integral, beyond = _integral(m, rate, power, y, angle, chosen)
            bound = gain.exp() * ((integral + beyond) * (-log_g).exp() + _alias(m, power, y, angle, chosen))
        except NotCertified:
            return Ball(1)
        return bound.upper().min(Ball(1))


def _integral(mu: Ball, rate: Fraction, power: Fraction, y: Fraction, angle: Ball, chosen: Rule) -> tuple[Ball, Ball]:
    """The rule's sum, and a bound of what lies beyond its ends."""
    q, a, fall, step, half = ball(rate), ball(power), ball(-y), ball(chosen.step), mu * mu / 2
    turn = ComplexBall(angle.cos(), angle.sin())
    total = Ball(0)
    for j in range(chosen.first, chosen.last + 1):
        z = step * j
        log = (turn * (q * (mu * z - half).exp()) + (1 - q)).log()
        total += (z * z / -2 + a * log.real + fall * log.imag).exp()
    ends = [(q * (mu * (step * j) - half).expm1()).log1p() for j in (chosen.first, chosen.last)]
    beyond = tails(mu, q, power, chosen, *ends)
    if power < 0:  # |w| ≥ cos(θ/2)·w(x)
        beyond *= (a * (angle / 2).cos().log()).exp()
    return total * step / (2 * Ball.pi()).sqrt(), beyond


def _alias(mu: Ball, power: Fraction, y: Fraction, angle: Ball, chosen: Rule) -> Ball:
    """The rule's aliasing relative to G(A).

    The integrand is exp of ½(A+iy)·log w + ½(A−iy)·log w̄, analytic for |Im| < (π−θ)/μ. At depth d one
    angle is at least 0 and the other at most max(0, dμ − θ).
    """
    d = ball(chosen.depth)
    if not angle + d * mu < Ball.pi():
        raise NotCertified("a decay", "the strip is too wide")
    log = d * d / 2 + ball(y) / 2 * (d * mu - angle).max(Ball(0))
    if power < 0:
        log += ball(power) * ((angle + d * mu) / 2).cos().log()
    return 2 * log.exp() / (2 * Ball.pi() * d / ball(chosen.step)).expm1()


def _shifted_rule(mu: float, rate: float, power: float, y: float, theta: float) -> Rule:
    nats = ctx.prec * math.log(2) + theta * theta / (2 * mu * mu)
    grown = power * math.log(math.cos(theta / 2)) if power < 0 else 0.0  # what the shift may add to |w|^A
    left, right = window(mu, power, math.log1p(-rate), math.log(rate), nats + grown, 0.0)
    best, depth = math.inf, 0.0
    widest = min(0.97 * (math.pi - theta) / mu, math.sqrt(2 * nats))
    for k in range(36):
        d = widest * 0.88**k
        extra = power * math.log(math.cos((theta + d * mu) / 2)) if power < 0 else 0.0
        trial = (nats + y / 2 * max(0.0, d * mu - theta) + extra) / d + d / 2
        if trial < best:
            best, depth = trial, d
    step = short(2 * math.pi / best)
    h = float(step)
    if not (right - left) / h < 5000:
        raise NotCertified("a decay", "too many nodes")
    return Rule(step, math.floor(left / h), math.ceil(right / h), short(depth))


def _table(mu: float, rate: float, power: float, thetas: Floats) -> tuple[Floats, Floats, float]:
    """ln(φ|w|^A) + θ²/2μ² and arg w on angles × positions, and ln of the same sum at θ = 0."""
    import numpy as np

    nats = 24.0
    left, right = window(mu, power, math.log1p(-rate), math.log(rate), nats, 0.0)
    h = min(0.35, 0.5 / mu, (right - left) / 40)
    h = max(h, (right - left) / 1000)
    z = np.arange(math.floor(left / h), math.ceil(right / h) + 1) * h
    rise = rate * np.exp(np.minimum(mu * z - mu * mu / 2, 300.0))
    angles = np.concatenate([[0.0], thetas])[:, None]
    real, imag = rise * np.cos(angles) - rate, rise * np.sin(angles)
    size = np.log1p(np.maximum(real * (2 + real) + imag * imag, -1 + 1e-16)) / 2
    logs = z * z / -2 + power * size + angles * angles / (2 * mu * mu)
    top = float(logs[0].max())
    plain = top + math.log(float(np.exp(logs[0] - top).sum()))
    return logs[1:], np.arctan2(imag, 1 + real)[1:], plain


def _logs(table: tuple[Floats, Floats, float], y: Floats) -> Floats:
    """ln R on y × angles."""
    import numpy as np

    logs, turns, plain = table
    exponents = logs - y[:, None, None] * turns
    top = exponents.max(axis=2, keepdims=True)
    result: Floats = (top + np.log(np.exp(exponents - top).sum(axis=2, keepdims=True)))[:, :, 0] - plain
    return result


def _angles(mu: float, rate: float, power: float, y: float) -> Floats:
    """Seven angles around the best one at y."""
    import numpy as np

    least = min(0.3, max(1e-12, 0.3 * mu * mu * rate * y * math.exp(-min(mu * mu / 2, 20.0))))
    coarse = np.geomspace(least, _WIDEST, max(12, min(40, math.ceil(math.log(_WIDEST / least) / 0.3))))
    values = _logs(_table(mu, rate, power, coarse), np.array([y]))[0]
    best = int(values.argmin())
    ratio = float(coarse[1] / coarse[0])
    result: Floats = np.minimum(coarse[best] * ratio ** np.linspace(-1, 1, 7), _WIDEST)
    return result


def shifted_angle(mu: float, rate: float, power: float, y: float) -> Fraction:
    """The θ at which R(y) is about least."""
    import numpy as np

    angles = _angles(mu, rate, power, y)
    values = _logs(_table(mu, rate, power, angles), np.array([y]))[0]
    return short(float(angles[values.argmin()]))


def log_decay(mu: float, rate: float, power: float, y: Floats) -> Floats:
    """About the logarithm of the least R, at many y within a small range."""
    import numpy as np

    angles = _angles(mu, rate, power, float(np.sqrt(y[0] * y[-1])))
    result: Floats = np.minimum(_logs(_table(mu, rate, power, angles), y).min(axis=1), 0.0)
    return result
