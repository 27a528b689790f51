"""Bounds of the integrands of a split sampled step, in rectangles of the complex plane and beyond its panels.

For z = x + iv, w(z) = 1 − q + q·e^{μz−μ²/2} and a window W of ``windowed_law``, with vμ ≤ π/2: |φ(z)| = φ(x)e^{v²/2};
|W(z)| ≤ e^{v²/2τ²} W(x), as W is a mixture of normal densities in z, and so also |W(z)| ≤ 1 + e^{v²/2τ²}(1 − W(x)) for
LOW and HIGH; |w(z)|² = w(x)² − 4(1−q)ρ·sin²(vμ/2) with ρ = q·e^{μx−μ²/2}; and |arg w(z)| grows with x and with v.

Where a record is exchanged the integrand is φ W w(z)^A w(−z)^{1−A}. For w(−z) all of this holds at −x and −v; each
of the two powers is bounded by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.windowed.panels import Shape

__all__ = ["HIGH", "LOW", "MIDDLE", "Split", "StepBounds", "cdf"]

LOW, MIDDLE, HIGH = "low", "middle", "high"
_MOST_PIECES = 40


@dataclass(frozen=True)
class Split:
    """The blur τ, the borders c < b, and the cuts of LOW and MIDDLE: short exact numbers. Without c nothing is LOW.

    Where a record is exchanged steps with ζ < ``deep`` are DEEP; the three pieces begin at ``start``.
    """

    blur: Fraction
    low: Fraction | None
    high: Fraction
    low_cut: Fraction
    cut: Fraction
    start: Fraction | None = None
    deep: Fraction | None = None

    def borders(self, kind: str) -> tuple[Fraction | None, Fraction | None]:
        """Between which ζ lies."""
        if kind == HIGH:
            return self.high, None
        if kind == LOW:
            return self.deep, self.low
        return self.deep if self.low is None else self.low, self.high

    def mirrored(self) -> Split:
        """With −z for z: what was DEEP is HIGH, and what was HIGH is DEEP."""
        assert self.deep is not None
        assert self.start is not None
        return Split(self.blur, None, -self.deep, -self.start, -self.start, -self.cut, -self.high)

    def end(self, kind: str) -> Fraction | None:
        """Where a piece is cut off."""
        return None if kind == HIGH else self.low_cut if kind == LOW else self.cut


class StepBounds:
    """One sampled normal step, μ > 0, and its split. ``exchanged``: one record leaves, another one may enter."""

    def __init__(self, mu: Real, rate: Fraction, split: Split, exchanged: bool = False) -> None:
        if not split.blur > 0:
            raise NotCertified("a windowed contour", "its split is void")
        if not (split.cut > split.high and (split.low is None or split.low_cut > split.low)):
            raise NotCertified("a windowed contour", "its cuts lie before its borders")
        if exchanged != (split.start is not None) or exchanged != (split.deep is not None):
            raise NotCertified("a windowed contour", "its split is void")
        places = [place for place in (split.start, split.deep, split.low, split.high) if place is not None]
        if any(one >= following for one, following in pairwise(places)):
            raise NotCertified("a windowed contour", "its borders are out of order")
        self.mu, self.rate, self.split, self.exchanged = mu, rate, split, exchanged
        with precision(64):
            size = float(mu.ball().mid())
        low = None if split.low is None else float(split.low)
        start, deep = ((None if place is None else float(place)) for place in (split.start, split.deep))
        self.shape = Shape(size, float(rate), float(split.blur), low, float(split.high), start, deep)

    def window(self, kind: str, z: Ball) -> Ball:
        """W(z), to relative accuracy."""
        tau, (low, high) = ball(self.split.blur), self.split.borders(kind)
        lower, upper = ((None if border is None else (ball(border) - z) / tau) for border in (low, high))
        if upper is None:
            assert lower is not None
            return cdf(-lower)
        if lower is None:
            return cdf(upper)
        if lower < 0:  # both are small: their difference is good
            return cdf(upper) - cdf(lower)
        return cdf(-lower) - cdf(-upper)

    def rise(self, z: Ball) -> Ball:
        """ln w(z)."""
        mu = self.mu.ball()
        return (ball(self.rate) * (mu * z - mu * mu / 2).expm1()).log1p()

    def loss(self, z: Ball) -> Ball:
        """ln w(z), or ln w(z) − ln w(−z)."""
        return self.rise(z) - self.rise(-z) if self.exchanged else self.rise(z)

    def log_power(self, power: Ball, z: Ball) -> Ball:
        """A·ln w(z), or that and (1−A)·ln w(−z)."""
        return power * self.rise(z) + ((1 - power) * self.rise(-z) if self.exchanged else 0)

    def shrinkage(self, right: Ball, angle: Ball) -> Ball:
        """A lower bound of ln(|w|/w(x)) at that angle or less, for x ≤ right: 4(1−q)ρ/w² grows up to ρ = 1 − q."""
        q, mu = ball(self.rate), self.mu.ball()
        rise, share = q * (mu * right - mu * mu / 2).exp(), Ball(1)
        if rise <= 1 - q:
            share = 4 * (1 - q) * rise / (1 - q + rise) ** 2
        sine = (angle / 2).sin()
        return ((-share * sine * sine).log1p() / 2).lower()

    def last_loss(self) -> Ball:
        """That at the last cut."""
        low = self.split.low_cut if self.split.low is not None else self.split.cut
        return self.loss(ball(max(self.split.cut, low)))

    def least_loss(self) -> Ball:
        """ln(1 − q), or the loss where all pieces begin."""
        return (-ball(self.rate)).log1p() if self.split.start is None else self.loss(ball(self.split.start))

    def shrunk(self, power: Fraction, left: Ball, right: Ball, angle: Ball) -> Ball:
        """A bound of ln of what |w|^A, and |w(−z)|^{1−A}, is at that angle or less, beside its value on the axis."""
        log = ball(power) * self.shrinkage(right, angle) if power < 0 else Ball(0)
        if self.exchanged and power > 1:
            log += ball(1 - power) * self.shrinkage(-left, angle)
        return log

    def _largest(self, power: Fraction, left: Ball, right: Ball) -> Ball:
        """A bound of ``log_power`` between left and right."""
        log = ball(power) * self.rise(right if power >= 0 else left)
        if self.exchanged:
            log += ball(1 - power) * self.rise(-right if power > 1 else -left)
        return log

    def _turn(self, left: Ball, right: Ball, angle: Ball) -> Ball:
        """The largest angle of w between left and right at an angle ≤ π/2; with that of w(−z), which turns back."""
        mu, q, total = self.mu.ball(), ball(self.rate), Ball(0)
        for end in (right, -left) if self.exchanged else (right,):
            rise = q * (mu * end - mu * mu / 2).exp()
            total += ComplexBall(1 - q + rise * angle.cos(), rise * angle.sin()).arg()
        return total

    def most_shifted(
        self, kind: str, power: Fraction, y: Ball, box: tuple[Ball, Ball, Ball], angle: Ball, plain: bool
    ) -> Ball:
        """A bound of the continued integrand of ``decay`` in a rectangle; e^{v²/2} is left out.

        |w|^A e^{−y·arg w} = exp of ½(A+iy)·log w(x+iθ/μ) + ½(A−iy)·log w(x−iθ/μ). At depth d one angle is
        at least 0, and the other at most that of dμ − θ. The same holds of w(−z).
        """
        mu, tau = self.mu.ball(), ball(self.split.blur)
        left, right, depth = box
        deep, shift = depth * mu, angle / mu
        if not (deep <= Ball.pi() / 2 and deep + angle < Ball.pi()):
            raise NotCertified("a windowed contour", "a panel is too deep")
        nearest = left if left > 0 else -right if right < 0 else Ball(0)
        bounds = self._log_window(kind, left, right, (depth * depth + shift * shift) / (2 * tau * tau))
        window = bounds[0] if plain or bounds[1] is None else bounds[1]
        log = (depth * depth - nearest * nearest) / 2 + window
        log += self._largest(power, left, right) + self.shrunk(power, left, right, deep + angle)
        return (log + y / 2 * self._turn(left, right, (deep - angle).max(Ball(0)))).exp()

    def most(self, kind: str, power: Fraction, y: Ball, left: Ball, right: Ball, depth: Ball) -> Ball:
        """A bound of |φ W w^{A+iy}|·√2π in the rectangle, or of |φ W w(z)^{A+iy} w(−z)^{1−A−iy}|·√2π."""
        tau, angle = ball(self.split.blur), depth * self.mu.ball()
        if not angle <= Ball.pi() / 2:
            raise NotCertified("a windowed contour", "a panel is too deep")
        nearest = left if left > 0 else -right if right < 0 else Ball(0)
        log = (depth * depth - nearest * nearest) / 2
        log += _least(self._log_window(kind, left, right, depth * depth / (2 * tau * tau)))
        log += self._largest(power, left, right) + self.shrunk(power, left, right, angle)
        if not y.is_zero():
            log += y * self._turn(left, right, angle)
        return log.exp()

    def _log_window(self, kind: str, left: Ball, right: Ball, cost: Ball) -> tuple[Ball, Ball | None]:
        """ln of both bounds of |W| for x between left and right at the depth that costs e^cost; one for what lies
        between LOW and HIGH."""
        tau, (low, high) = ball(self.split.blur), self.split.borders(kind)
        plain, outside = Ball(0), Ball(0)
        if low is not None:
            plain = plain.min(_log_tail((right - ball(low)) / tau))
            outside += _log_tail((ball(low) - left) / tau).exp()
        if high is not None:
            plain = plain.min(_log_tail((ball(high) - left) / tau))
            outside += _log_tail((right - ball(high)) / tau).exp()
        bulk = not (kind == MIDDLE and self.split.low is not None)
        return cost + plain, (cost.exp() * outside).log1p() if bulk else None

    def before(self, kind: str, power: Fraction, end: Ball) -> Ball:
        """√2π times a bound of ∫φ W w^A to the left of the panels."""
        if self.split.start is not None:
            log = self._largest(power, ball(self.split.start), end)
        else:
            log = ball(power) * (self.rise(end) if power >= 0 else self.least_loss())
        if end < 0:
            log -= end * end / 2
        border = self.split.borders(kind)[0]
        if border is not None:
            log += _log_tail((end - ball(border)) / ball(self.split.blur))
        return log.exp() * (2 * Ball.pi()).sqrt()

    def after(self, kind: str, power: Fraction, end: Ball) -> Ball:
        """√2π times a bound of ∫φ W w^A to the right of the panels."""
        return self._falling(self.split.borders(kind)[1], power, end)

    def below_start(self, kind: str, power: Fraction) -> Ball:
        """√2π times a bound of ∫φ W w^A below the start: in a mirror, that to the right of −start."""
        border = self.split.borders(kind)[0]
        if self.split.start is None or border is None:
            return Ball(0)
        return self._falling(-border, 1 - power, -ball(self.split.start))

    def _falling(self, border: Fraction | None, power: Fraction, end: Ball) -> Ball:
        """√2π times a bound of ∫φ W w^A from an end on, where W falls beyond a border, if there is one.

        ln w is convex, so below its chords, and its slope is at most μ: piece by piece the exponent is below a
        concave function, whose fall at the piece's beginning bounds the integral. −ln w(−z) is concave, so below its
        tangent, of slope μρ/w at −z.
        """
        a, tau, mu = ball(power), ball(self.split.blur), self.mu.ball()
        total, width = Ball(0), Fraction(1, 4)
        for _ in range(_MOST_PIECES):
            value, fall = self.log_power(a, end) - end * end / 2, end
            if self.exchanged and power > 1:
                fall += (1 - a) * mu * (1 - (1 - ball(self.rate)) * (-self.rise(-end)).exp())
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
            fall -= a * (self.rise(following) - self.rise(end)) / ball(width)
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


def _least(bounds: tuple[Ball, Ball | None]) -> Ball:
    return bounds[0] if bounds[1] is None else bounds[0].min(bounds[1])
