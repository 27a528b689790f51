"""The sampled normal step, split by a blurred copy of its outcome: integrals of each piece, proved.

One step draws z, and w(z) = 1 − q + q·e^{μz−μ²/2}. Let ζ = z + τξ with ξ standard normal and independent; the step is
LOW if ζ < c, HIGH if ζ ≥ b, and MIDDLE between. Given z these have the chances Φ((c−z)/τ), Φ((z−b)/τ) and the rest:
three analytic windows W(z) that sum to 1. LOW and MIDDLE are cut off at a z so far beyond their borders that what is lost
is negligible: without the cut, w^A with a large A would find a second peak there. Each window is a mixture of normal
densities in z − ζ, so that

    |W(x+iv)| ≤ e^{v²/2τ²} W(x),     and also |W(x+iv)| ≤ 1 + e^{v²/2τ²}(1 − W(x)) for LOW and for HIGH.

Integrals ∫φ W w^{A+iy} dz are done by Gauss's rule on panels. A panel's ellipse lies in a rectangle of half-height v
(vμ ≤ π/2), in which |φ| ≤ φ(nearest)e^{v²/2}, W is bounded as above by its largest value, |w| lies between
cos(vμ/2)·w(left) and w(right), and |arg w| is at most what it is at the upper right corner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.real import Real
from tightrope.numerics.transform import power_sums
from tightrope.numerics.transforms_gauss import gauss, gauss_error
from tightrope.numerics.windowed_panels import Panel, Shape, panels

__all__ = ["HIGH", "LOW", "MIDDLE", "Split", "Step"]

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


class _Node(NamedTuple):
    loss: Ball
    log_weight: Ball  # of φ·W·(Gauss's weight)


class Step:
    """One sampled normal step and its split."""

    def __init__(self, mu: Real, rate: Fraction, split: Split) -> None:
        if not split.blur > 0 or (split.low is not None and not split.low < split.high):
            raise NotCertified("a windowed contour", "its split is void")
        if not (split.cut > split.high and (split.low is None or split.low_cut > split.low)):
            raise NotCertified("a windowed contour", "its cuts lie before its borders")
        self._mu, self._rate, self.split = mu, rate, split
        with precision(64):
            size = float(mu.ball().mid())
        low = None if split.low is None else float(split.low)
        self.shape = Shape(size, float(rate), float(split.blur), low, float(split.high))

    def _window(self, kind: str, z: Ball) -> Ball:
        """W(z), to relative accuracy."""
        tau = ball(self.split.blur)
        if kind == HIGH:
            return _cdf((z - ball(self.split.high)) / tau)
        if kind == LOW:
            assert self.split.low is not None
            return _cdf((ball(self.split.low) - z) / tau)
        upper = (ball(self.split.high) - z) / tau
        if self.split.low is None:
            return _cdf(upper)
        lower = (ball(self.split.low) - z) / tau
        if z > ball(self.split.low):  # both are small: their difference is good
            return _cdf(upper) - _cdf(lower)
        return _cdf(-lower) - _cdf(-upper)

    def loss(self, z: Ball) -> Ball:
        """ln w(z)."""
        mu = self._mu.ball()
        return (ball(self._rate) * (mu * z - mu * mu / 2).expm1()).log1p()

    def last_loss(self) -> Ball:
        """ln w at the cut."""
        return self.loss(ball(self.split.cut))

    def least_loss(self) -> Ball:
        """ln(1 − q)."""
        return (-ball(self._rate)).log1p()

    def shares(self, kind: str) -> tuple[Ball, Ball]:
        """∫φ W w and ∫φ W: closed forms, as ζ is normal with the variance 1 + τ², less what is cut off."""
        mu, q, tau = self._mu.ball(), ball(self._rate), ball(self.split.blur)
        scale = (1 + tau * tau).sqrt()
        found = []
        for shift in (mu, Ball(0)):
            above = _cdf((shift - ball(self.split.high)) / scale)
            if kind == HIGH:
                found.append(above)
            elif self.split.low is None:
                found.append(_cdf((ball(self.split.high) - shift) / scale))
            elif kind == LOW:
                found.append(_cdf((ball(self.split.low) - shift) / scale))
            else:
                found.append(_cdf((shift - ball(self.split.low)) / scale) - above)
        whole = (1 - q) * found[1] + q * found[0], found[1]
        if kind == HIGH:
            return whole
        return whole[0] - between(Ball(0), self.lost(kind, 1)), whole[1] - between(Ball(0), self.lost(kind, 0))

    def lost(self, kind: str, power: int) -> Ball:
        """A bound of ∫φ W w^A beyond the cut."""
        end = self.split.end(kind)
        assert end is not None
        return (self._after(kind, Fraction(power), ball(end)) / (2 * Ball.pi()).sqrt()).upper()

    def _nodes(self, kind: str, chosen: Sequence[Panel]) -> list[_Node]:
        result = []
        for panel in chosen:
            middle, half = ball(panel.middle), ball(panel.half)
            for place, weight in gauss(panel.number):
                z = middle + half * place
                value = self._window(kind, z) * weight * half
                if not value > 0:
                    raise NotCertified("a windowed contour", "a window vanishes")
                result.append(_Node(self.loss(z), z * z / -2 + value.log()))
        return result

    def moment(self, kind: str, power: Fraction) -> Ball:
        """∫φ W w^A for a real A, to about the present precision."""
        chosen = self._panels(kind, power, 0.0)
        with precision(ctx.prec + 20):
            a = ball(power)
            total = sum(((node.log_weight + a * node.loss).exp() for node in self._nodes(kind, chosen)), Ball(0))
            error = self._error(kind, power, Ball(0), chosen)
            return (total + between(-error, error)) / (2 * Ball.pi()).sqrt()

    def _panels(self, kind: str, power: Fraction, y: float, theta: float = 0.0) -> list[Panel]:
        return panels(self.shape, kind, float(power), y, ctx.prec * math.log(2), theta, self.split.end(kind))

    def line(self, kind: str, power: Fraction, eta: Fraction, count: int) -> list[ComplexBall]:
        """∫φ W w^{A+ikη} for k = 0 … count and η of either sign, each to about 2^−precision of the first."""
        chosen = self._panels(kind, power, abs(float(eta * count)))
        with precision(ctx.prec + 30):
            a, nodes = ball(power), self._nodes(kind, chosen)
            weights = [(node.log_weight + a * node.loss).exp() for node in nodes]
            sums = power_sums(weights, [node.loss * ball(eta) for node in nodes], count)
            scale = 1 / (2 * Ball.pi()).sqrt()
            still = self._error(kind, power, Ball(0), chosen)
            error = self._error(kind, power, ball(abs(eta * count)), chosen)
            first = (sums[0].real + between(-still, still)) * scale
            off = ComplexBall(between(-error, error), between(-error, error))
            return [ComplexBall(first)] + [(value + off) * scale for value in sums[1:]]

    def decay(self, kind: str, power: Fraction, y: Fraction, theta: Fraction) -> Ball:
        """A bound of |∫φ W w^{A±iy'}| for ALL y' ≥ y: the path shifted by iθ/μ, where w has arg w ≥ 0 and
        cos(θ/2)·w(x) ≤ |w| ≤ w(x), and the way back to the cut, of that length."""
        chosen = self._panels(kind, power, float(y), float(theta))
        with precision(ctx.prec + 20):
            mu, q, tau, a, fall = self._mu.ball(), ball(self._rate), ball(self.split.blur), ball(power), ball(-y)
            angle, total = ball(theta), Ball(0)
            if not (angle > 0 and angle < Ball.pi()):
                raise NotCertified("a windowed contour", "the path is shifted out of reach")
            shift = angle / mu
            cost, turn = shift * shift / (2 * tau * tau), ComplexBall(angle.cos(), angle.sin())
            for panel in chosen:
                middle, half, rho = ball(panel.middle), ball(panel.half), ball(panel.rho)
                plain = self._plain(kind, panel, cost)
                for place, weight in gauss(panel.number):
                    z = middle + half * place
                    window = self._window(kind, z)
                    size = cost.exp() * window if plain else 1 + cost.exp() * (1 - window)
                    log = (turn * (q * (mu * z - mu * mu / 2).exp()) + (1 - q)).log()
                    total += weight * half * size * (z * z / -2 + a * log.real + fall * log.imag).exp()
                reach, depth = half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2
                left, right = middle - reach, middle + reach
                most = self._most_shifted(kind, power, ball(y), (left, right, depth), angle, plain)
                total += half * gauss_error(most, rho, panel.number)
            first, last = chosen[0], chosen[-1]
            beyond = self._before(kind, power, ball(first.middle - first.half))
            beyond += self._beyond(kind, power, last)
            end = self.split.end(kind)
            if end is not None:
                at = ball(end)
                beyond += shift * (a * self.loss(at) - at * at / 2).exp() * self._window(kind, at)
            if power < 0:
                beyond *= (a * (angle / 2).cos().log()).exp()
            total = (total + beyond * cost.exp()) * (shift * shift / 2).exp() / (2 * Ball.pi()).sqrt()
            return total.upper()

    def _plain(self, kind: str, panel: Panel, cost: Ball) -> bool:
        """Which of the bounds of |W| is used on a panel: e^cost·W, or 1 + e^cost(1 − W)."""
        if kind == MIDDLE and self.split.low is not None:
            return True
        window = self._window(kind, ball(panel.middle))
        return bool(cost.exp() * window < 1 + cost.exp() * (1 - window))

    def _most_shifted(
        self, kind: str, power: Fraction, y: Ball, box: tuple[Ball, Ball, Ball], angle: Ball, plain: bool
    ) -> Ball:
        """A bound of the continued integrand of ``decay`` in a rectangle; e^{v²/2} is left out.

        |w|^A e^{−y·arg w} = exp of ½(A+iy)·log w(x+iθ/μ) + ½(A−iy)·log w(x−iθ/μ). At depth d one angle is
        at least 0, and the other at most that of dμ − θ.
        """
        mu, q, tau = self._mu.ball(), ball(self._rate), ball(self.split.blur)
        left, right, depth = box
        deep, shift = depth * mu, angle / mu
        if not (deep <= Ball.pi() / 2 and deep + angle < Ball.pi()):
            raise NotCertified("a windowed contour", "a panel is too deep")
        nearest = left if left > 0 else -right if right < 0 else Ball(0)
        bounds = self._log_window(kind, left, right, (depth * depth + shift * shift) / (2 * tau * tau))
        window = bounds[0] if plain or bounds[1] is None else bounds[1]
        log = (depth * depth - nearest * nearest) / 2 + window
        log += ball(power) * (self.loss(right) if power >= 0 else self.loss(left) + ((deep + angle) / 2).cos().log())
        back = (deep - angle).max(Ball(0))
        rise = q * (mu * right - mu * mu / 2).exp()
        log += y / 2 * ComplexBall(1 - q + rise * back.cos(), rise * back.sin()).arg()
        return log.exp()

    def _error(
        self, kind: str, power: Fraction, y: Ball, chosen: Sequence[Panel]
    ) -> Ball:
        """√2π times a bound of the rule's error at every |y'| ≤ y, and of what lies beyond the panels."""
        total = Ball(0)
        for panel in chosen:
            rho = ball(panel.rho)
            middle, half = ball(panel.middle), ball(panel.half)
            reach, depth = half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2
            most = self._most(kind, power, y, middle - reach, middle + reach, depth)
            total += half * gauss_error(most, rho, panel.number)
        first, last = chosen[0], chosen[-1]
        total += self._before(kind, power, ball(first.middle - first.half))
        return (total + self._beyond(kind, power, last)).upper()

    def _beyond(self, kind: str, power: Fraction, last: Panel) -> Ball:
        """√2π times a bound of ∫φ W w^A between the panels and the cut."""
        end = last.middle + last.half
        return Ball(0) if end == self.split.end(kind) else self._after(kind, power, ball(end))

    def _most(self, kind: str, power: Fraction, y: Ball, left: Ball, right: Ball, depth: Ball) -> Ball:
        """A bound of |φ W w^{A+iy}|·√2π in the rectangle."""
        mu, q, tau, a = self._mu.ball(), ball(self._rate), ball(self.split.blur), ball(power)
        angle = depth * mu
        if not angle <= Ball.pi() / 2:
            raise NotCertified("a windowed contour", "a panel is too deep")
        nearest = left if left > 0 else -right if right < 0 else Ball(0)
        log = (depth * depth - nearest * nearest) / 2
        log += _least(self._log_window(kind, left, right, depth * depth / (2 * tau * tau)))
        log += a * self.loss(right) if power >= 0 else a * (self.loss(left) + (angle / 2).cos().log())
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

    def _before(self, kind: str, power: Fraction, end: Ball) -> Ball:
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

    def _after(self, kind: str, power: Fraction, end: Ball) -> Ball:
        """√2π times a bound of ∫φ W w^A to the right of the panels.

        ln w is convex, so below its chords, and its slope is at most μ: piece by piece the exponent is below a
        concave function, whose fall at the piece's beginning bounds the integral.
        """
        a, tau, mu = ball(power), ball(self.split.blur), self._mu.ball()
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


def _cdf(x: Ball) -> Ball:
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
