"""The sampled normal step, split by a blurred copy of its outcome: integrals of each piece, proved.

One step draws z, and w(z) = 1 − q + q·e^{μz−μ²/2}. Let ζ = z + τξ with ξ standard normal and independent; the step is
LOW if ζ < c, HIGH if ζ ≥ b, and MIDDLE between. Given z these have the chances Φ((c−z)/τ), Φ((z−b)/τ) and the rest:
three analytic windows W(z) that sum to 1. LOW and MIDDLE are cut off at a z so far beyond their borders that what is
lost is negligible: without the cut, w^A with a large A would find a second peak there.

Integrals ∫φ W w^{A+iy} dz are done by Gauss's rule on panels; each panel's ellipse lies in a rectangle in which the
integrand is bounded (``bounds``).

Where a record is *exchanged* they are ∫φ W w(z)^{A+iy} w(−z)^{1−A−iy} dz: the loss is ln w(z) − ln w(−z), odd and
rising, and φ·w(z) and φ·w(−z) are the two laws. It has a heavy tail on both sides. The lower one is the
mirror image of the upper: the step is DEEP if ζ < a, which is less likely, and the others begin at a z far below a.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import INFINITY, Ball, ComplexBall, ball, between, certain, precision
from tightrope.numerics.gauss import gauss, gauss_error
from tightrope.numerics.moments.sampled_normal import log_power_mean
from tightrope.numerics.transforms.transform import power_sums
from tightrope.numerics.windowed.bounds import HIGH, LOW, MIDDLE, StepBounds, cdf
from tightrope.numerics.windowed.panels import Panel, panels

__all__ = ["Step"]

_SURE = 10  # bits of a logarithm that is multiplied by the number of steps


class _Node(NamedTuple):
    loss: Ball
    log_weight: Ball  # of φ·W·(Gauss's weight), times w(−z) where a record is exchanged


class Step(StepBounds):
    """One sampled normal step and its split: its integrals."""

    def shares(self, kind: str) -> tuple[Ball, Ball]:
        """The two laws of a piece, A = 1 and A = 0: closed forms, as ζ is normal with the variance 1 + τ², less what is
        cut off."""
        scale, (low, high) = (1 + ball(self.split.blur) ** 2).sqrt(), self.split.borders(kind)

        def chance(shift: Ball) -> Ball:
            if high is None:
                assert low is not None
                return cdf((shift - ball(low)) / scale)
            if low is None or low == self.split.deep:
                return cdf((ball(high) - shift) / scale) - (0 if low is None else cdf((ball(low) - shift) / scale))
            return cdf((shift - ball(low)) / scale) - cdf((shift - ball(high)) / scale)

        first, second = self._mixed(chance)
        return first - between(Ball(0), self.lost(kind, 1)), second - between(Ball(0), self.lost(kind, 0))

    def deep_shares(self) -> tuple[Ball, Ball]:
        """The same of DEEP steps, and of the others below the start."""
        scale, deep = (1 + ball(self.split.blur) ** 2).sqrt(), self.split.deep
        if deep is None:
            return Ball(0), Ball(0)
        first, second = self._mixed(lambda shift: cdf((ball(deep) - shift) / scale))
        lowest = MIDDLE if self.split.low is None else LOW  # all windows together are there what this one is
        size = (2 * Ball.pi()).sqrt()
        more = [between(Ball(0), (self.below_start(lowest, Fraction(a)) / size).upper()) for a in (1, 0)]
        return first + more[0], second + more[1]

    def _mixed(self, chance: Callable[[Ball], Ball]) -> tuple[Ball, Ball]:
        """The two laws of what has these chances under a normal law."""
        mu, q, still = self.mu.ball(), ball(self.rate), chance(Ball(0))
        return (1 - q) * still + q * chance(mu), (1 - q) * still + q * chance(-mu) if self.exchanged else still

    def lost(self, kind: str, power: int | Fraction, cut: Fraction | None = None) -> Ball:
        """A bound of ∫φ W w^A beyond the cut, or another one, and below the start."""
        end = self.split.end(kind) if cut is None else cut
        beyond = self.below_start(kind, Fraction(power))
        if end is not None:
            beyond += self.after(kind, Fraction(power), ball(end))
        return (beyond / (2 * Ball.pi()).sqrt()).upper()

    def log_whole(self, power: Fraction) -> Ball:
        """ln ∫φ w^A for A ≤ 0, or an upper bound of it: piece by piece where a rule for the whole would be long, and
        from the start on without DEEP steps where a record is exchanged."""
        if not self.exchanged and certain(known := log_power_mean(self.mu, self.rate, power), _SURE):
            return known
        total, size = self.moment(HIGH, power), (2 * Ball.pi()).sqrt()
        for kind in (MIDDLE,) if self.split.low is None else (LOW, MIDDLE):
            end = self.split.end(kind)
            assert end is not None
            total += self.moment(kind, power) + self.after(kind, power, ball(end)) / size
        return total.upper().log()

    def deep_moment(self, power: Fraction) -> tuple[Ball, Ball]:
        """∫φ W w^A over DEEP steps up to the cut, A ≥ 1, and a bound of the chance of the others: in a mirror they are
        HIGH."""
        mirror = Step(self.mu, self.rate, self.split.mirrored(), exchanged=True)
        return mirror.moment(HIGH, 1 - power), mirror.lost(HIGH, 0)

    def _nodes(self, kind: str, chosen: Sequence[Panel]) -> list[_Node]:
        result = []
        for panel in chosen:
            middle, half = ball(panel.middle), ball(panel.half)
            for place, weight in gauss(panel.number):
                z = middle + half * place
                value = self.window(kind, z) * weight * half
                if not value > 0:
                    raise NotCertified("a windowed contour", "a window vanishes")
                log = z * z / -2 + value.log()
                result.append(_Node(self.loss(z), log + self.rise(-z) if self.exchanged else log))
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
                    exponent = z * z / -2 + a * log.real + fall * log.imag
                    if self.exchanged:
                        back = (turn * (q * (-mu * z - mu * mu / 2).exp()) + (1 - q)).log()  # that of w(−z) is −arg
                        exponent += (1 - a) * back.real + fall * back.imag
                    value = weight * half * exponent.exp()
                    sums[0] += value * cost.exp() * window
                    if bulk:
                        sums[1] += value * (1 + cost.exp() * (1 - window))
                plain = not bulk or bool(sums[0] < sums[1])
                total += sums[0] if plain else sums[1]
                reach, depth = half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2
                left, right = middle - reach, middle + reach
                most = self.most_shifted(kind, power, ball(y), (left, right, depth), angle, plain)
                total += half * gauss_error(most, rho, panel.number)
            beyond = self._around(kind, power, chosen, self.split.end(kind), (shift, angle))
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
        return (total + self._around(kind, power, chosen, end)).upper()

    def _around(
        self,
        kind: str,
        power: Fraction,
        chosen: Sequence[Panel],
        end: Fraction | None,
        shifted: tuple[Ball, Ball] | None = None,
    ) -> Ball:
        """√2π times a bound of ∫φ W w^A on both sides of the panels; on a shifted path, with the ways back to it from
        where the piece begins and ends."""
        first, last = chosen[0].middle - chosen[0].half, chosen[-1].middle + chosen[-1].half
        start = self.split.start
        if (start is not None and first < start) or (end is not None and last > end):
            raise NotCertified("a windowed contour", "its panels reach too far")
        left = Ball(0) if first == start else self.before(kind, power, ball(first))
        right = Ball(0) if last == end else self.after(kind, power, ball(last))
        if shifted is None:
            return left + right
        shift, angle = shifted
        furthest = INFINITY if end is None else ball(end)
        # up to a right angle |w(−z)| falls with x, as it does on the axis
        lowest = ball(first) if angle <= Ball.pi() / 2 else -INFINITY if start is None else ball(start)
        left *= self.shrunk(power, lowest, ball(first), angle).exp()
        right *= self.shrunk(power, ball(last), furthest, angle).exp()
        return (
            left + right + shift * (self._way_back(kind, power, start, angle) + self._way_back(kind, power, end, angle))
        )

    def _way_back(self, kind: str, power: Fraction, place: Fraction | None, angle: Ball) -> Ball:
        """√2π times a bound of the integrand where a piece begins or ends, at that angle or less; but for what φ and W
        grow by."""
        if place is None:
            return Ball(0)
        at = ball(place)
        log = self.log_power(ball(power), at) - at * at / 2 + self.shrunk(power, at, at, angle)
        return log.exp() * self.window(kind, at)


def _check_joined(chosen: Sequence[Panel]) -> None:
    """Panels come from floats; that each begins where the one before it ends is checked exactly."""
    for one, following in pairwise(chosen):
        if one.middle + one.half != following.middle - following.half:
            raise NotCertified("a windowed contour", "its panels do not join")
