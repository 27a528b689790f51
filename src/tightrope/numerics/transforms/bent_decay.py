"""How fast |G(A+iy)| falls, A ≥ 0, G(a) = E[w^a] of the sampled normal loss: the integral over z on a path that bends.

On z = x + iη(x) with 0 ≤ μη < π the factor w = 1 − q + ρ(z) has 0 ≤ arg w < π, so that for every y' ≥ y

    |G(A+iy')| ≤ ∫ φ(x) e^{η²/2} |w|^A e^{−y·arg w} √(1+η'²) dx.

Few records are sampled, so nearly all of the mass lies where w hardly turns: there the path must stay low, and further
to the right it may rise. While η is small the exponent gains yμρ·η and loses (η² + η'²)/2; the mean under φ is best for
η − η'' + xη' = yμρ, that is η = yq∫₀^μ e^{vx−v²/2}dv. It is bent to stay below 2.5/μ. That is within a few per cent of
|G(A+iy)| itself in the exponent. Any other path would be valid as well.

The path is linear between knots, and each piece is done by Gauss's rule. With slope s, at X = u + iv the integrand is
φ(X)e^{η(X)²/2} exp(½(A+iy)·ln w(X+iη(X)) + ½(A−iy)·ln w(X−iη(X))), and X ± iη(X) = u ∓ sv + i(v ± η(u)). So it is at
most e^{−u²/2+v²/2+η(u)²/2} w(u+|sv|)^A e^{yΘ/2}, where Θ bounds −arg of the first w, or arg of the second, for angles
up to μ(|v| − η(u)). Both can only be positive where η(u) < 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.gauss import float_gauss, gauss, gauss_error
from tightrope.numerics.moments.sampled_normal_floats import window
from tightrope.numerics.products import product
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.sampled_rule import Rule, largest_turn, right_end, short, tails

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["Path", "Piece", "bent_decay", "log_bent_decay"]

_STEEPEST = 2.5  # the largest angle μη
_LENGTH, _LONGEST, _LONGER = 1.3, 2.0, 1.15  # of a piece where the path bends, further away, and how they grow
_MOST_PIECES = 60
_UNITS = 64  # knots are multiples of one in so many
_SIZES = (6, 8, 10, 12, 16, 20, 24, 32, 48)  # few sizes, as they are kept
_DEPTHS = (1.6, 1.0, 0.6, 0.3)  # of an ellipse, in halves of a piece


def bent_decay(mu: Real, rate: Fraction, power: Fraction, y: Fraction, log_g: Ball) -> Ball:
    """A bound of |G(A+iy')|/G(A) for every y' ≥ y, proved, ln G(A) being ``log_g``; at most 1."""
    with precision(ctx.prec + 20):
        if not log_g.is_finite():
            return Ball(1)
        try:
            found = Path(abs(mu.ball()), rate, power, y, (ctx.prec - 20) * math.log(2)).bound(log_g)
        except NotCertified:
            return Ball(1)
        return found.upper().min(Ball(1)) if found.is_finite() else Ball(1)


def log_bent_decay(mu: float, rate: float, power: float, y: Floats, nats: float = 24.0) -> Floats:
    """About the logarithm of the bound, at many y within a small range; 0 where there is none."""
    import numpy as np

    try:
        knots = _knots(mu, rate, power, math.sqrt(float(y[0] * y[-1])), nats)
    except NotCertified:
        return y * 0.0
    places, weights = float_gauss(8)
    half, slope_of = np.diff(knots) / 2, np.diff(knots)
    x = (knots[:-1] + half)[:, None] + half[:, None] * places
    rise = rate * np.exp(np.minimum(mu * x - mu * mu / 2, 300.0))
    logs = np.log(half[:, None] * weights) - x * x / 2
    plain = np.logaddexp.reduce((logs + power * np.log1p(rise - rate)).ravel())
    heights = _heights(mu, rate, y, knots)
    slope = np.diff(heights, axis=1) / slope_of
    eta = heights[:, :-1, None] + slope[:, :, None] * (half[:, None] * (1 + places))
    real, imag = rise * np.cos(mu * eta) - rate, rise * np.sin(mu * eta)
    size = np.log1p(np.maximum(real * (2 + real) + imag * imag, -1 + 1e-16)) / 2
    logs = logs + power * size + eta * eta / 2 - y[:, None, None] * np.arctan2(imag, 1 + real)
    logs += np.log1p(slope * slope)[:, :, None] / 2
    result: Floats = np.minimum(np.logaddexp.reduce(logs.reshape(len(y), -1), axis=1) - plain, 0.0)
    return result


def _heights(mu: float, rate: float, y: Floats, x: Floats) -> Floats:
    """η at x, for each y."""
    import numpy as np

    places, weights = float_gauss(6)
    v = mu / 2 * (1 + places)
    free = rate * mu / 2 * product(np.exp(np.minimum(np.multiply.outer(x, v) - v * v / 2, 300.0)), weights)
    rise = np.multiply.outer(y, free) * (mu / _STEEPEST)
    result: Floats = _STEEPEST / mu * rise / (1 + rise)
    return result


def _knots(mu: float, rate: float, power: float, y: float, nats: float) -> Floats:
    """Where the path bends, in units: close to each other around where it is half as high as it can be."""
    import numpy as np

    left, right = window(mu, power, math.log1p(-rate), math.log(rate), nats, 0.0)
    right = right_end(mu, rate, power, nats, right)
    trial = np.linspace(left, right, 64)
    middle = float(np.interp(0.5 * _STEEPEST / mu, _heights(mu, rate, np.array([y]), trial)[0], trial))
    knots = [middle]
    for end, sign in ((right, 1), (left, -1)):
        at, length = middle, min(_LENGTH / max(mu, 0.8), _LONGEST)
        while (at - end) * sign < 0:
            at += sign * length
            knots.append(at)
            length = min(length * _LONGER, _LONGEST)
            if len(knots) > _MOST_PIECES:
                raise NotCertified("a decay", "too many pieces")
    return np.unique(np.round(np.array(knots) * _UNITS)) / _UNITS


@dataclass(frozen=True)
class Piece:
    """From one knot to the next, with the heights of the path there."""

    left: Fraction
    right: Fraction
    low: Fraction
    high: Fraction

    @property
    def slope(self) -> Fraction:
        """Of the path."""
        return (self.high - self.low) / (self.right - self.left)


class Path:
    """The integral along one path, μ > 0 and A ≥ 0."""

    def __init__(self, mu: Ball, rate: Fraction, power: Fraction, y: Fraction, nats: float) -> None:
        import numpy as np

        self._mu, self._q, self._power, self._y, self._nats = mu, ball(rate), power, y, nats
        self._floats = float(mu.mid()), min(float(rate), 1 - 2.0**-53), float(power), float(y)
        m, q, a, at = self._floats
        knots = _knots(m, q, a, at, nats)
        heights = _heights(m, q, np.array([at]), knots)[0]
        x = [Fraction(round(k * _UNITS), _UNITS) for k in knots]
        eta = [short(float(h), 12) for h in heights]
        self.pieces = [Piece(*ends) for ends in zip(x, x[1:], eta, eta[1:], strict=False)]
        if not max(ball(e) for e in eta) * mu < Ball.pi():
            raise NotCertified("a decay", "the path is too high")

    def bound(self, log_g: Ball) -> Ball:
        """The integral over G(A): the pieces, their errors and what lies beyond them."""
        total = Ball(0)
        for piece in self.pieces:
            size, depth = self._size(piece, float(log_g.mid()))
            total += self._sum(piece, size, log_g) + self._error(piece, ball(depth), size, log_g)
        first, last = self.pieces[0], self.pieces[-1]
        ends = [(self._q * (self._mu * ball(x) - self._mu**2 / 2).expm1()).log1p() for x in (first.left, last.right)]
        rule = Rule(Fraction(1, _UNITS), int(first.left * _UNITS), int(last.right * _UNITS), Fraction(1))
        highest = ball(max(first.low, last.high))
        beyond = tails(self._mu, self._q, self._power, rule, *ends) * (highest * highest / 2 - log_g).exp()
        return total / (2 * Ball.pi()).sqrt() + beyond

    def _sum(self, piece: Piece, size: int, log_g: Ball) -> Ball:
        """Gauss's rule for √2π times the piece's integral over G(A)."""
        mu, q, a, fall = self._mu, self._q, ball(self._power), ball(-self._y)
        left, low, slope = ball(piece.left), ball(piece.low), ball(piece.slope)
        half, drift, stay, total = ball(piece.right - piece.left) / 2, mu * mu / 2, 1 - q, Ball(0)
        for place, weight in gauss(size):
            ahead = half * (1 + place)
            x, eta = left + ahead, low + slope * ahead
            log = (ComplexBall(mu * x - drift, mu * eta).exp() * q + stay).log()
            total += weight * ((eta * eta - x * x) / 2 + a * log.real + fall * log.imag - log_g).exp()
        return total * half * (1 + slope * slope).sqrt()

    def _error(self, piece: Piece, depth: Ball, size: int, log_g: Ball) -> Ball:
        """A bound of the rule's error."""
        log, rho = self.log_most(piece, depth)
        half, slope = ball(piece.right - piece.left) / 2, ball(piece.slope)
        return gauss_error((log - log_g).exp(), rho, size) * half * (1 + slope * slope).sqrt()

    def log_most(self, piece: Piece, depth: Ball) -> tuple[Ball, Ball]:
        """ln of a bound of √2π times the integrand, but for √(1+s²), in the ellipse of that half height; and its ρ."""
        mu, q, a, slope = self._mu, self._q, ball(self._power), ball(piece.slope)
        half = ball(piece.right - piece.left) / 2
        share = depth / half
        rho = share + (1 + share * share).sqrt()
        over = half * ((1 + share * share).sqrt() - 1)
        left, right, aside = ball(piece.left) - over, ball(piece.right) + over, abs(slope) * depth
        low, high = ball(piece.low) - slope * over, ball(piece.high) + slope * over
        least, most = low.min(high), abs(low).max(abs(high))
        if not mu * (most + depth) < Ball.pi():
            raise NotCertified("a decay", "an ellipse is too high")
        logs = [(q * (mu * (x + aside) - mu * mu / 2).expm1()).log1p() for x in (left, right)]
        chord = (logs[1] - logs[0]) / (right - left)  # ln w is convex, and so below it
        top = (a * chord).max(left).min(right)
        log = top * top / -2 + a * (logs[0] + chord * (top - left)) + (depth * depth + most * most) / 2
        rise = q * (mu * (right + aside) - mu * mu / 2).exp()
        turn = largest_turn(1 - q, rise, (mu * (depth - least)).max(Ball(0)))
        return log + ball(self._y) * turn / (2 if least >= 0 else 1), rho

    def _size(self, piece: Piece, log_g: float) -> tuple[int, Fraction]:
        """How many nodes a piece needs and the half height of its ellipse: a choice, in floats."""
        mu, q, a, y = self._floats
        left, right, low, high = (float(v) for v in (piece.left, piece.right, piece.low, piece.high))
        half, slope = (right - left) / 2, float(piece.slope)
        best = math.inf, 0.0
        for depth in (share * half for share in _DEPTHS):
            over = half * (math.hypot(1, depth / half) - 1)
            least, most = sorted((low - slope * over, high + slope * over))
            most = max(most, -least)
            if mu * (most + depth) > 3.1:
                continue
            ends = [mu * (x + abs(slope) * depth) - mu * mu / 2 for x in (left - over, right + over)]
            logs = [math.log1p(q * math.expm1(end)) if end < 600 else end + math.log(q) for end in ends]
            chord = (logs[1] - logs[0]) / (right - left + 2 * over)
            top = min(max(a * chord, left - over), right + over)
            log = top * top / -2 + a * (logs[0] + chord * (top - left + over)) + (depth * depth + most * most) / 2
            rise, angle = q * math.exp(min(ends[1], 600.0)), max(mu * (depth - least), 0.0)
            angle = min(angle, math.acos(max(-rise / (1 - q), -1.0)))
            log += y * math.atan2(rise * math.sin(angle), 1 - q + rise * math.cos(angle)) / (2 if least >= 0 else 1)
            ratio = math.asinh(depth / half)  # ln of the ellipse's ρ
            best = min(best, ((log - log_g + self._nats + 2) / (2 * ratio) + 1, depth))
        size = next((one for one in _SIZES if one >= best[0]), None)
        if size is None:
            raise NotCertified("a decay", f"a piece needs {best[0]:.3g} nodes")
        return size, short(best[1])
