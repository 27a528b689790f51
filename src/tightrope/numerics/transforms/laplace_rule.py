"""The Gauss-Legendre rule of a sampled Laplace loss: how many nodes, their terms, and a proved bound of its error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.gauss import gauss, gauss_error

__all__ = ["LaplaceRule"]

_MOST_NODES, _FEW = 1600, 400  # few that differ by little are kept


@dataclass(frozen=True)
class LaplaceRule:
    """E[w^a], w = 1 − q + q·e^l, over −ε₀ ≤ l ≤ ε₀ and its two atoms."""

    reach: Fraction
    rate: Fraction

    @property
    def floats(self) -> tuple[float, float]:
        """ε₀ and q."""
        return float(self.reach), min(float(self.rate), 1 - 2.0**-53)

    def number(self, power: float, y: float, nats: float, most: int = _MOST_NODES) -> tuple[int, float]:
        """How many Gauss-Legendre nodes for an error of e^−nats, and the ellipse's parameter: a choice, in floats."""
        e0, q = self.floats
        best = (most * 10, 1.5)
        for k in range(1, 15):
            v = math.pi / 2 * 0.99 * 0.8 ** (k - 1)  # the ellipse's lesser half axis
            rho = v / e0 + math.sqrt(1 + (v / e0) ** 2)
            major = e0 * (rho + 1 / rho) / 2
            turn = min(v, q * math.exp(min(major, 300.0)) * math.sin(v) / (1 - q))
            above = max(power, 0.0) * (math.log1p(q * math.expm1(major)) - math.log1p(q * math.expm1(-e0)))
            above += max(-power, 0.0) * (math.log1p(q * math.expm1(e0)) - math.log1p(-q))
            number = 2 + math.ceil((nats + y * turn + min(above, 60.0) + major) / (2 * math.log(rho)))
            best = min(best, (number, rho))
        number = -(-best[0] // 16) * 16 if best[0] < _FEW else -(-best[0] // 256) * 256  # few, to be kept
        if number > most:
            raise NotCertified("a sampled Laplace transform", f"it needs {number} nodes")
        return number, best[1]

    def terms(self, power: Fraction, number: int) -> tuple[list[Ball], list[Ball], Ball]:
        """Weights·w^A and ln w at the atoms and the rule's nodes, and the factor of the integral."""
        e0, q, a = ball(self.reach), ball(self.rate), ball(power)
        scale = (e0 / -2).exp() / 4 * e0
        positions, weights = [e0, -e0], [(-e0).exp() / 2, Ball(1) / 2]
        for x, weight in gauss(number):
            positions.append(e0 * x)
            weights.append(scale * weight * (e0 * x / -2).exp())
        logs = [(q * at.expm1()).log1p() for at in positions]
        return [weight * (a * log).exp() for weight, log in zip(weights, logs, strict=True)], logs, scale

    def error(self, power: Fraction, y: Ball, number: int, rho: Fraction) -> Ball:
        """The rule's error for ∫_{−1}^{1} e^{−l/2} w(l)^{A+iy'} dx, l = ε₀x, for every |y'| ≤ y.

        On an ellipse with half axes major and v < π/2: |e^{−l/2}| ≤ e^{major/2}, 1−q ≤ |w| ≤ w(major), and
        |arg w| is at most v and at most q·e^major·sin v/(1−q).
        """
        e0, q, a, r = ball(self.reach), ball(self.rate), ball(power), ball(rho)
        major, v = e0 * (r + 1 / r) / 2, e0 * (r - 1 / r) / 2
        if not v < Ball.pi() / 2:
            raise NotCertified("a sampled Laplace transform", "the ellipse is too wide")
        angle = v.min(q * major.exp() * v.sin() / (1 - q))
        size = a * (q * major.expm1()).log1p() if power >= 0 else a * (-q).log1p()
        return gauss_error((major / 2 + size + y * angle).exp(), r, number)
