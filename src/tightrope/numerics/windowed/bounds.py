"""Bounds of the integrands of a split sampled step, in rectangles of the complex plane and beyond its panels.

For z = x + iv, w(z) = 1 − q + q·e^{μz−μ²/2} and a window W of ``windowed_law``, with vμ ≤ π/2: |φ(z)| = φ(x)e^{v²/2};
|W(z)| ≤ e^{v²/2τ²} W(x), as W is a mixture of normal densities in z, and so also |W(z)| ≤ 1 + e^{v²/2τ²}(1 − W(x)) for
LOW and HIGH; |w(z)|² = w(x)² − 4(1−q)ρ·sin²(vμ/2) with ρ = q·e^{μx−μ²/2}; and |arg w(z)| grows with x and with v.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.windowed.panels import Shape

__all__ = ["HIGH", "LOW", "MIDDLE", "Split", "StepBounds", "cdf"]

LOW, MIDDLE, HIGH = "low", "middle", "high"
_MOST_PIECES = 40


@dataclass(frozen=True)
class Split:
    """The blur τ, the borders c < b, and the cuts of LOW and MIDDLE: short exact numbers. Without c nothing is LOW."""

    blur: Fraction
    low: Fraction | None
    high: Fraction
    low_cut: Fraction
    cut: Fraction

    def end(self, kind: str) -> Fraction | None:
        """Where a piece is cut off."""
        return None if kind == HIGH else self.low_cut if kind == LOW else self.cut


class StepBounds:
    """One sampled normal step, μ > 0, and its split."""

    def __init__(self, mu: Real, rate: Fraction, split: Split) -> None:
        if not split.blur > 0 or (split.low is not None and not split.low < split.high):
            raise NotCertified("a windowed contour", "its split is void")
        if not (split.cut > split.high and (split.low is None or split.low_cut > split.low)):
            raise NotCertified("a windowed contour", "its cuts lie before its borders")
        self.mu, self.rate, self.split = mu, rate, split
        with precision(64):
            size = float(mu.ball().mid())
        low = None if split.low is None else float(split.low)
        self.shape = Shape(size, float(rate), float(split.blur), low, float(split.high))

    def window(self, kind: str, z: Ball) -> Ball:
        """W(z), to relative accuracy."""
        tau = ball(self.split.blur)
        if kind == HIGH:
            return cdf((z - ball(self.split.high)) / tau)
        if kind == LOW:
            assert self.split.low is not None
            return cdf((ball(self.split.low) - z) / tau)
        upper = (ball(self.split.high) - z) / tau
        if self.split.low is None:
            return cdf(upper)
        lower = (ball(self.split.low) - z) / tau
        if z > ball(self.split.low):  # both are small: their difference is good
            return cdf(upper) - cdf(lower)
        return cdf(-lower) - cdf(-upper)

    def loss(self, z: Ball) -> Ball:
        """ln w(z)."""
        mu = self.mu.ball()
        return (ball(self.rate) * (mu * z - mu * mu / 2).expm1()).log1p()

    def shrinkage(self, right: Ball, angle: Ball) -> Ball:
        """A lower bound of ln(|w|/w(x)) at that angle or less, for x ≤ right: 4(1−q)ρ/w² grows up to ρ = 1 − q."""
        q, mu = ball(self.rate), self.mu.ball()
        rise, share = q * (mu * right - mu * mu / 2).exp(), Ball(1)
        if rise <= 1 - q:
            share = 4 * (1 - q) * rise / (1 - q + rise) ** 2
        sine = (angle / 2).sin()
        return ((-share * sine * sine).log1p() / 2).lower()

    def last_loss(self) -> Ball:
        """ln w at the last cut."""
        low = self.split.low_cut if self.split.low is not None else self.split.cut
        return self.loss(ball(max(self.split.cut, low)))

    def least_loss(self) -> Ball:
        """ln(1 − q)."""
        return (-ball(self.rate)).log1p()

    def most_shifted(
        self, kind: str, power: Fraction, y: Ball, box: tuple[Ball, Ball, Ball], angle: Ball, plain: bool
    ) -> Ball:
        """A bound of the continued integrand of ``decay`` in a rectangle; e^{v²/2} is left out.

        |w|^A e^{−y·arg w} = exp of ½(A+iy)·log w(x+iθ/μ) + ½(A−iy)·log w(x−iθ/μ). At depth d one angle is
        at least 0, and the other at most that of dμ − θ.
        """
        mu, q, tau = self.mu.ball(), ball(self.rate), ball(self.split.blur)
        left, right, depth = box
        deep, shift = depth * mu, angle / mu
        if not (deep <= Ball.pi() / 2 and deep + angle < Ball.pi()):
            raise NotCertified("a windowed contour", "a panel is too deep")
        nearest = left if left > 0 else -right if right < 0 else Ball(0)
        bounds = self._log_window(kind, left, right, (depth * depth + shift * shift) / (2 * tau * tau))
        window = bounds[0] if plain or bounds[1] is None else bounds[1]
        log = (depth * depth - nearest * nearest) / 2 + window
        log += ball(power) * (self.loss(right) if power >= 0 else self.loss(left) + self.shrinkage(right, deep + angle))
        back = (deep - angle).max(Ball(0))
        rise = q * (mu * right - mu * mu / 2).exp()
        log += y / 2 * ComplexBall(1 - q + rise * back.cos(), rise * back.sin()).arg()
        return log.exp()

    def most(self, kind: str, power: Fraction, y: Ball, left: Ball, right: Ball, depth: Ball) -> Ball:
        """A bound of |φ W w^{A+iy}|·√2π in the rectangle."""
        mu, q, tau, a = self.mu.ball(), ball(self.rate), ball(self.split.blur), ball(power)
        angle = depth * mu
        if not angle <= Ball.pi() / 2:
            raise NotCertified("a windowed contour", "a panel is too deep")
        nearest = left if left > 0 else -right if right < 0 else Ball(0)
        log = (depth * depth - nearest * nearest) / 2
        log += _least(self._log_window(kind, left, right, depth * depth / (2 * tau * tau)))
        log += a * (self.loss(right) if power >= 0 else self.loss(left) + self.shrinkage(right, angle))
        if not y.is_zero():
            rise = q * (mu * right - mu * mu / 2).exp()
            log += y * ComplexBall(1 - q + rise * angle.cos(), rise * angle.sin()).arg()
        return log.exp()

    def _log_window(self, kind: str, left: Ball, right: Ball, cost: Ball) -> tuple[Ball, Ball | None]:
        """ln of both bounds of |W| for x between left and right at the depth that costs e^cost."""
        tau = ball(self.split.blur)
        low = None if self.split.low is None else ball(self.split.low)
        high = ball(self.split.high)
        if kind == LOW:
            assert low is not None
            return _log_bulk((low - left) / tau, (low - right) / tau, cost)
        if kind == HIGH:
            return _log_bulk((right - high) / tau, (left - high) / tau, cost)
        if low is None:
            return _log_bulk((high - left) / tau, (high - right) / tau, cost)
        return cost + _log_tail((right - low) / tau).min(_log_tail((high - left) / tau)), None

    def before(self, kind: str, power: Fraction, end: Ball) -> Ball:
        """√2π times a bound of ∫φ W w^A to the left of the panels."""
        a = ball(power)
        log = a * self.loss(end) if power >= 0 else a * self.least_loss()
        if end < 0:
            log -= end * end / 2
        if kind == HIGH or (kind == MIDDLE and self.split.low is not None):
            border = self.split.high if kind == HIGH else self.split.low
            assert border is not None
            log += _log_tail((end - ball(border)) / ball(self.split.blur))
        return log.exp() * (2 * Ball.pi()).sqrt()

    def after(self, kind: str, power: Fraction, end: Ball) -> Ball:
        """√2π times a bound of ∫φ W w^A to the right of the panels.

        ln w is convex, so below its chords, and its slope is at most μ: piece by piece the exponent is below a
        concave function, whose fall at the piece's beginning bounds the integral.
        """
        a, tau, mu = ball(power), ball(self.split.blur), self.mu.ball()
        border = self.split.low if kind == LOW else self.split.high if kind == MIDDLE else None
        total, width = Ball(0), Fraction(1, 4)
        for _ in range(_MOST_PIECES):
            value, fall = a * self.loss(end) - end * end / 2, end
            if border is not None:
                beyond = ((end - ball(border)) / tau).max(Ball(0))  # before its border a window is at most 1
                value -= beyond * beyond / 2
                fall += beyond / tau
            if power <= 0 or fall > a * mu:
                fall -= a * mu if power > 0 else 0
                if not fall > 0:
                    break
                return total + value.exp() / fall
            following = end + ball(width)
            fall -= a * (self.loss(following) - self.loss(end)) / ball(width)
            if not fall > 0:
                break
            total += value.exp() / fall
            end, width = following, width * 5 / 4
        raise NotCertified("a windowed contour", "the panels end too early")


def cdf(x: Ball) -> Ball:
    """Φ(x), to relative accuracy in the lower tail."""
    return (x / -Ball(2).sqrt()).erfc() / 2


def _log_tail(x: Ball) -> Ball:
    """ln of a bound of Φ at x and below."""
    top = x.upper().min(Ball(0))
    return top * top / -2


def _log_bulk(most: Ball, least: Ball, cost: Ball) -> tuple[Ball, Ball]:
    """ln of e^cost·Φ(most) and of 1 + e^cost·Φ(−least)."""
    return cost + _log_tail(most), (cost + _log_tail(-least)).exp().log1p()


def _least(bounds: tuple[Ball, Ball | None]) -> Ball:
    return bounds[0] if bounds[1] is None else bounds[0].min(bounds[1])
