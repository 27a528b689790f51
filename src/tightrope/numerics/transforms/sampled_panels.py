"""Gauss-Legendre panels for ∫φ(z)w^{A+iy}dz, w = 1 − q + q·e^{μz−μ²/2}, far from the axis: y·q may be large.

A trapezoidal rule needs a strip, in which w^{iy} grows like e^{y·arg w} with arg w up to the strip's angle far to the
right. A panel needs an ellipse around itself only. On one from x₁ to x₂ with half height d, μd < π: |w| ≤ w(x₂) and
|w| ≥ cos(μd/2)·w(x₁), |φ(z)| ≤ φ(x)e^{d²/2}, and |arg w| is at most the ``largest_turn`` at x₂.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.gauss import gauss, gauss_error
from tightrope.numerics.transforms.sampled_rule import Rule, largest_turn, short, tails
from tightrope.numerics.transforms.settled_nodes import Quadrature

__all__ = ["panel_quadrature"]

_NATS = 40.0  # accuracy of doubles
_DEPTHS = (1.5, 1.0, 0.7, 0.45, 0.3, 0.2, 0.12, 0.07)
_LENGTH = 1.0  # of a panel
_SIZES = (8, 12, 16, 24, 32, 48, 64, 96)  # few sizes, as they are kept


def panel_quadrature(
    mu: Ball, rate: Fraction, power: Fraction, y: Fraction, window: tuple[float, float], log: Ball
) -> Quadrature:
    """E[w^{A+iy'}]/e^log for all |y'| ≤ y, ln G(A) being about log: weights, ln w, and a bound of the error."""
    step = short(_LENGTH)
    first, last = math.floor(window[0] / _LENGTH) - 1, math.ceil(window[1] / _LENGTH) + 1
    numbers = range(first, last)
    m, q, a = float(mu.mid()), min(float(rate), 1 - 2.0**-53), float(power)
    found = min((_size(m, q, a, float(y), numbers, d, float(log.mid())), d) for d in _DEPTHS if m * d < 3)
    size = next((one for one in _SIZES if one >= found[0]), None)
    if size is None:
        raise NotCertified("a sampled normal transform", f"it needs panels of {found[0]:.3g} nodes")
    depth, half, exact = short(found[1]), ball(step) / 2, ball(rate)
    shares: list[Ball] = []
    losses: list[Ball] = []
    error, scale = Ball(0), half / (2 * Ball.pi()).sqrt()
    for i in numbers:
        middle = ball(step) * i + half
        for x, weight in gauss(size):
            z = middle + half * x
            loss = (exact * (mu * z - mu * mu / 2).expm1()).log1p()
            losses.append(loss)
            shares.append(scale * weight * (z * z / -2 + ball(power) * loss - log).exp())
        error += _error(mu, exact, power, ball(y), (middle, half), ball(depth), size, log)
    rule = Rule(step, first, last, depth)
    ends = [(exact * (mu * ball(step) * i - mu * mu / 2).expm1()).log1p() for i in (first, last)]
    beyond = tails(mu, exact, power, rule, ends[0], ends[1]) * (-log).exp()
    return Quadrature(shares, losses, (2 * (error + beyond)).upper())


def _size(mu: float, q: float, power: float, y: float, numbers: range, depth: float, log: float) -> float:
    """About how many nodes a panel needs."""
    half = _LENGTH / 2
    rho = depth / half + math.sqrt(1 + (depth / half) ** 2)
    over = half * (rho + 1 / rho) / 2 - half
    most = 0.0
    for i in numbers:
        left, right = i * _LENGTH - over, (i + 1) * _LENGTH + over
        near = 0.0 if left < 0 < right else min(abs(left), abs(right))
        rises = [q * math.exp(min(mu * z - mu * mu / 2, 600.0)) for z in (left, right)]
        angle = min(mu * depth, math.acos(max(rises[1] / (q - 1), -1.0)))
        turn = math.atan2(rises[1] * math.sin(angle), 1 - q + rises[1] * math.cos(angle))
        grown = power * math.log1p(rises[1] - q) if power >= 0 else power * math.log1p(rises[0] - q)
        grown += 0 if power >= 0 else power * math.log(math.cos(mu * depth / 2))
        most = max(most, depth * depth / 2 - near * near / 2 + grown - log + y * turn)
    return (_NATS + most) / (2 * math.log(rho)) + 2


def _error(
    mu: Ball, q: Ball, power: Fraction, y: Ball, panel: tuple[Ball, Ball], depth: Ball, size: int, log: Ball
) -> Ball:
    """A bound of one panel's error, over e^log."""
    middle, half = panel
    angle = mu * depth
    if not angle < Ball.pi():
        raise NotCertified("a sampled normal transform", "the ellipse is too high")
    rho = depth / half + (1 + (depth / half) ** 2).sqrt()
    reach = half * (rho + 1 / rho) / 2
    left, right = middle - reach, middle + reach
    near = Ball(0).max(left).max(-right)
    rise, fall = (q * (mu * z - mu * mu / 2).exp() for z in (right, left))
    turn = largest_turn(1 - q, rise, angle)
    grown = ball(power) * ((rise - q).log1p() if power >= 0 else (fall - q).log1p() + (angle / 2).cos().log())
    most = (depth * depth / 2 - near * near / 2 + grown + y * turn - log).exp()
    return half / (2 * Ball.pi()).sqrt() * gauss_error(most, rho, size)
