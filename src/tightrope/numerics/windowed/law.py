"""The sampled normal step, split by a blurred copy of its outcome: integrals of each piece, proved.

One step draws z, and w(z) = 1 − q + q·e^{μz−μ²/2}. Let ζ = z + τξ with ξ standard normal and independent; the step is
LOW if ζ < c, HIGH if ζ ≥ b, and MIDDLE between. Given z these have the chances Φ((c−z)/τ), Φ((z−b)/τ) and the rest:
three analytic windows W(z) that sum to 1. LOW and MIDDLE are cut off at a z so far beyond their borders that what is
lost is negligible: without the cut, w^A with a large A would find a second peak there.

Integrals ∫φ W w^{A+iy} dz are done by Gauss's rule on panels; each panel's ellipse lies in a rectangle in which the
integrand is bounded (``windowed_bounds``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import INFINITY, Ball, ComplexBall, ball, between, precision
from tightrope.numerics.gauss import gauss, gauss_error
from tightrope.numerics.transforms.transform import power_sums
from tightrope.numerics.windowed.bounds import HIGH, LOW, MIDDLE, StepBounds, cdf
from tightrope.numerics.windowed.panels import Panel, panels

__all__ = ["Step"]


class _Node(NamedTuple):
    loss: Ball
    log_weight: Ball  # of φ·W·(Gauss's weight)


class Step(StepBounds):
    """One sampled normal step and its split: its integrals."""

    def shares(self, kind: str) -> tuple[Ball, Ball]:
        """∫φ W w and ∫φ W: closed forms, as ζ is normal with the variance 1 + τ², less what is cut off."""
        mu, q, tau = self.mu.ball(), ball(self.rate), ball(self.split.blur)
        scale = (1 + tau * tau).sqrt()
        found = []
        for shift in (mu, Ball(0)):
            above = cdf((shift - ball(self.split.high)) / scale)
            if kind == HIGH:
                found.append(above)
            elif self.split.low is None:
                found.append(cdf((ball(self.split.high) - shift) / scale))
            elif kind == LOW:
                found.append(cdf((ball(self.split.low) - shift) / scale))
            else:
                found.append(cdf((shift - ball(self.split.low)) / scale) - above)
        whole = (1 - q) * found[1] + q * found[0], found[1]
        if kind == HIGH:
            return whole
        return whole[0] - between(Ball(0), self.lost(kind, 1)), whole[1] - between(Ball(0), self.lost(kind, 0))

    def lost(self, kind: str, power: int, cut: Fraction | None = None) -> Ball:
        """A bound of ∫φ W w^A beyond the cut, or another one."""
        end = self.split.end(kind) if cut is None else cut
        assert end is not None
        return (self.after(kind, Fraction(power), ball(end)) / (2 * Ball.pi()).sqrt()).upper()

    def _nodes(self, kind: str, chosen: Sequence[Panel]) -> list[_Node]:
        result = []
        for panel in chosen:
            middle, half = ball(panel.middle), ball(panel.half)
            for place, weight in gauss(panel.number):
                z = middle + half * place
                value = self.window(kind, z) * weight * half
                if not value > 0:
                    raise NotCertified("a windowed contour", "a window vanishes")
                result.append(_Node(self.loss(z), z * z / -2 + value.log()))
        return result

    def moment(self, kind: str, power: Fraction, cut: Fraction | None = None) -> Ball:
        """∫φ W w^A for a real A, to about the present precision; up to another cut, if one is given."""
        end = self.split.end(kind) if cut is None else cut
        chosen = panels(self.shape, kind, float(power), 0.0, ctx.prec * math.log(2), 0.0, end)
        with precision(ctx.prec + 20):
            a = ball(power)
            total = sum(((node.log_weight + a * node.loss).exp() for node in self._nodes(kind, chosen)), Ball(0))
            error = self._error(kind, power, Ball(0), chosen, end)
            return (total + between(-error, error)) / (2 * Ball.pi()).sqrt()

    def _panels(self, kind: str, power: Fraction, y: float, theta: float = 0.0) -> list[Panel]:
        """Up to the cut."""
        return panels(self.shape, kind, float(power), y, ctx.prec * math.log(2), theta, self.split.end(kind))

    def line(self, kind: str, power: Fraction, eta: Fraction, count: int) -> list[ComplexBall]:
        """∫φ W w^{A+ikη} for k = 0 … count and η of either sign, each to about 2^−precision of the first."""
        chosen = self._panels(kind, power, abs(float(eta * count)))
        with precision(ctx.prec + 30):
            a, nodes = ball(power), self._nodes(kind, chosen)
            weights = [(node.log_weight + a * node.loss).exp() for node in nodes]
            sums = power_sums(weights, [node.loss * ball(eta) for node in nodes], count)
            scale = 1 / (2 * Ball.pi()).sqrt()
            end = self.split.end(kind)
            still = self._error(kind, power, Ball(0), chosen, end)
            error = self._error(kind, power, ball(abs(eta * count)), chosen, end)
            first = (sums[0].real + between(-still, still)) * scale
            off = ComplexBall(between(-error, error), between(-error, error))
            return [ComplexBall(first)] + [(value + off) * scale for value in sums[1:]]

    def decay(self, kind: str, power: Fraction, y: Fraction, theta: Fraction) -> Ball:
        """A bound of |∫φ W w^{A±iy'}| for ALL y' ≥ y: the path shifted by iθ/μ, where w has arg w ≥ 0, and the way back
        to the cut, of that length."""
        chosen = self._panels(kind, power, float(y), float(theta))
        with precision(ctx.prec + 20):
            mu, q, tau, a, fall = self.mu.ball(), ball(self.rate), ball(self.split.blur), ball(power), ball(-y)
            angle, total = ball(theta), Ball(0)
            if not (angle > 0 and angle < Ball.pi()):
                raise NotCertified("a windowed contour", "the path is shifted out of reach")
            _check_joined(chosen)
            shift = angle / mu
            cost, turn = shift * shift / (2 * tau * tau), ComplexBall(angle.cos(), angle.sin())
            bulk = not (kind == MIDDLE and self.split.low is not None)
            for panel in chosen:
                middle, half, rho = ball(panel.middle), ball(panel.half), ball(panel.rho)
                sums = [Ball(0), Ball(0)]  # by e^cost·W, and by 1 + e^cost(1 − W): one of them on all of a panel
                for place, weight in gauss(panel.number):
                    z = middle + half * place
                    window = self.window(kind, z)
                    log = (turn * (q * (mu * z - mu * mu / 2).exp()) + (1 - q)).log()
                    value = weight * half * (z * z / -2 + a * log.real + fall * log.imag).exp()
                    sums[0] += value * cost.exp() * window
                    if bulk:
                        sums[1] += value * (1 + cost.exp() * (1 - window))
                plain = not bulk or bool(sums[0] < sums[1])
                total += sums[0] if plain else sums[1]
                reach, depth = half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2
                left, right = middle - reach, middle + reach
                most = self.most_shifted(kind, power, ball(y), (left, right, depth), angle, plain)
                total += half * gauss_error(most, rho, panel.number)
            first, last = chosen[0], chosen[-1]
            beyond = self.before(kind, power, ball(first.middle - first.half))
            end = self.split.end(kind)
            beyond += self._beyond(kind, power, last, end)
            if end is not None:
                at = ball(end)
                beyond += shift * (a * self.loss(at) - at * at / 2).exp() * self.window(kind, at)
            if power < 0:
                furthest = INFINITY if end is None else ball(max(end, last.middle + last.half))
                beyond *= (a * self.shrinkage(furthest, angle)).exp()
            total = (total + beyond * cost.exp()) * (shift * shift / 2).exp() / (2 * Ball.pi()).sqrt()
            return total.upper()

    def _error(self, kind: str, power: Fraction, y: Ball, chosen: Sequence[Panel], end: Fraction | None) -> Ball:
        """√2π times a bound of the rule's error at every |y'| ≤ y, and of what lies beyond the panels."""
        _check_joined(chosen)
        total = Ball(0)
        for panel in chosen:
            rho = ball(panel.rho)
            middle, half = ball(panel.middle), ball(panel.half)
            reach, depth = half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2
            most = self.most(kind, power, y, middle - reach, middle + reach, depth)
            total += half * gauss_error(most, rho, panel.number)
        first, last = chosen[0], chosen[-1]
        total += self.before(kind, power, ball(first.middle - first.half))
        return (total + self._beyond(kind, power, last, end)).upper()

    def _beyond(self, kind: str, power: Fraction, last: Panel, end: Fraction | None) -> Ball:
        """√2π times a bound of ∫φ W w^A between the panels and the end."""
        reached = last.middle + last.half
        return Ball(0) if reached == end else self.after(kind, power, ball(reached))


def _check_joined(chosen: Sequence[Panel]) -> None:
    """Panels come from floats; that each begins where the one before it ends is checked exactly."""
    for one, following in pairwise(chosen):
        if one.middle + one.half != following.middle - following.half:
            raise NotCertified("a windowed contour", "its panels do not join")
