"""How fast |G(A+iy)| falls: the integral over z, shifted by iθ/μ, where w = 1 − q + ρ(x)e^{iθ} has arg w > 0.

|G(A+iy)|/G(A) ≤ R(y) = e^{θ²/2μ²} ∫ φ(x) |w|^A e^{−y·arg w} dx / G(A) for every 0 < θ < π, and R falls with y.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.moments.sampled_normal_floats import window
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.decay_search import best_angle, least_logs, polar, positions, shifted_rule
from tightrope.numerics.transforms.sampled_rule import Rule, right_end, tails

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["decay_bound", "log_decay", "shifted_angle", "shifted_moment"]


def decay_bound(mu: Real, rate: Fraction, power: Fraction, y: Fraction, theta: Fraction, log_g: Ball) -> Ball:
    """R(y) at this θ, proved; at most 1."""
    with precision(ctx.prec + 20):
        if not log_g.is_finite():
            return Ball(1)
        try:
            return shifted_moment(mu, rate, power, y, theta, log_g).upper().min(Ball(1))
        except NotCertified:
            return Ball(1)


def shifted_moment(mu: Real, rate: Fraction, power: Fraction, y: Fraction, theta: Fraction, log_g: Ball) -> Ball:
    """R(y) at this θ, ln G(A) being ``log_g``: the trapezoidal rule, its aliasing, and what lies beyond its ends."""
    m, angle = abs(mu.ball()), ball(theta)
    gain = angle * angle / (2 * m * m)
    if not (angle > 0 and angle < Ball.pi()):
        raise NotCertified("a decay", "the angle is out of range")
    chosen = _shifted_rule(float(m.mid()), min(float(rate), 1 - 2.0**-53), float(power), float(y), float(theta))
    integral, beyond = _integral(m, rate, power, y, angle, chosen)
    alias = _alias(m, power, y, angle, chosen)
    return gain.exp() * ((integral + between(Ball(0), beyond)) * (-log_g).exp() + between(-alias, alias))


def _integral(mu: Ball, rate: Fraction, power: Fraction, y: Fraction, angle: Ball, chosen: Rule) -> tuple[Ball, Ball]:
    """The rule's sum, and a bound of what lies beyond its ends."""
    q, a, fall, step, half = ball(rate), ball(power), ball(-y), ball(chosen.step), mu * mu / 2
    turn, stay = ComplexBall(angle.cos(), angle.sin()), 1 - q
    rise, ratio, width = q * (mu * step * chosen.first - half).exp(), (mu * step).exp(), step * step / -2
    total = Ball(0)
    for j in range(chosen.first, chosen.last + 1):
        log = (turn * rise + stay).log()
        total += (width * (j * j) + a * log.real + fall * log.imag).exp()
        rise = rise * ratio
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
    def extra(d: float) -> float:
        grown = power * math.log(math.cos((theta + d * mu) / 2)) if power < 0 else 0.0
        return y / 2 * max(0.0, d * mu - theta) + grown

    nats = ctx.prec * math.log(2) + theta * theta / (2 * mu * mu)
    grown = power * math.log(math.cos(theta / 2)) if power < 0 else 0.0  # what the shift may add to |w|^A
    return shifted_rule(_window(mu, rate, power, nats + grown), nats, mu, theta, extra)


def _window(mu: float, rate: float, power: float, nats: float) -> tuple[float, float]:
    left, right = window(mu, power, math.log1p(-rate), math.log(rate), nats, 0.0)
    return left, right_end(mu, rate, power, nats, right) if power > 0 else right


def _logs(mu: float, rate: float, power: float, thetas: Floats, y: Floats) -> Floats:
    """About ln R on y × angles."""
    import numpy as np

    z = positions(_window(mu, rate, power, 24.0), mu)
    angles = np.concatenate([[0.0], thetas])[:, None]
    size, turn = polar(mu, rate, z, angles)
    logs = z * z / -2 + power * size + angles * angles / (2 * mu * mu)
    exponents = logs[1:] - y[:, None, None] * turn[1:]
    top = exponents.max(axis=2, keepdims=True)
    sums = top + np.log(np.exp(exponents - top).sum(axis=2, keepdims=True))
    result: Floats = sums[:, :, 0] - float(np.logaddexp.reduce(logs[0]))
    return result


def shifted_angle(mu: float, rate: float, power: float, y: float) -> Fraction:
    """The θ at which R(y) is about least."""
    return best_angle(partial(_logs, mu, rate, power), mu, rate, y)


def log_decay(mu: float, rate: float, power: float, y: Floats) -> Floats:
    """About the logarithm of the least R, at many y within a small range."""
    return least_logs(partial(_logs, mu, rate, power), mu, rate, y)
