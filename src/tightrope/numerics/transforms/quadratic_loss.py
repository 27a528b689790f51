"""The loss of two normal laws of unequal variance as a quadratic in Q's own normal coordinate, and its mixture.

With z = (x − m₂)/s₂, which is standard normal under Q, and r = s₂/s₁: l(z) = αz² + βz + γ, α = (1 − r²)/2,
β = s₂(m₁ − m₂)/s₁², γ = ln r − (m₁ − m₂)²/2s₁². A sampled record has w(z) = 1 − q + q·e^{l(z)}, and E[w^A] is finite
if A ≤ 0 or 2Aα < 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.numerics.balls import Ball, ComplexBall, ball
from tightrope.numerics.exact import near
from tightrope.numerics.normal import upper_tail

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["QuadraticLoss", "domain_end"]


def domain_end(s1: Fraction, s2: Fraction) -> float:
    """Below it E[e^{tL}] is finite, sampled or not: s₂²/(s₁² − s₂²), if the first law is the wider one."""
    return near(s2**2 / (s1**2 - s2**2)) * (1 - 2.0**-50) if s1 > s2 else math.inf


@dataclass(frozen=True)
class QuadraticLoss:
    """N(m₁, s₁²) against N(m₂, s₂²), s₁ ≠ s₂, sampled at rate 0 < q < 1."""

    m1: Fraction
    s1: Fraction
    m2: Fraction
    s2: Fraction
    rate: Fraction

    @cached_property
    def bend(self) -> Fraction:
        """α."""
        return (1 - (self.s2 / self.s1) ** 2) / 2

    @cached_property
    def slope(self) -> Fraction:
        """β."""
        return self.s2 * (self.m1 - self.m2) / self.s1**2

    @property
    def vertex(self) -> Fraction:
        """Where l neither rises nor falls."""
        return -self.slope / (2 * self.bend)

    def height(self) -> Ball:
        """γ."""
        return ball(self.s2 / self.s1).log() - ball((self.m1 - self.m2) ** 2 / (2 * self.s1**2))

    def finite(self, power: Fraction) -> bool:
        """Whether E[w^power] is."""
        return power <= 0 or 2 * power * self.bend < 1

    @cached_property
    def floats(self) -> tuple[float, float, float, float]:
        """α, β, γ and q."""
        height = math.log(near(self.s2 / self.s1)) - near((self.m1 - self.m2) ** 2 / (2 * self.s1**2))
        return near(self.bend), near(self.slope), height, min(near(self.rate), 1 - 2.0**-53)

    def loss_floats(self, z: Floats) -> Floats:
        """ln w(z) in floats."""
        import numpy as np

        a, b, c, q = self.floats
        rise = (a * z + b) * z + c
        result: Floats = np.where(rise < 600, np.log1p(q * np.expm1(np.minimum(rise, 600.0))), rise + math.log(q))
        return result

    @cached_property
    def _coefficients(self) -> dict[int, tuple[Ball, Ball, Ball, Ball]]:
        return {}

    def coefficients(self) -> tuple[Ball, Ball, Ball, Ball]:
        """α, β, γ and q at the present precision."""
        known = self._coefficients
        if ctx.prec not in known:
            known[ctx.prec] = ball(self.bend), ball(self.slope), self.height(), ball(self.rate)
        return known[ctx.prec]

    def ratio(self, z: ComplexBall) -> ComplexBall:
        """w(z)."""
        bend, slope, height, rate = self.coefficients()
        return 1 + rate * ((z * bend + slope) * z + height).expm1()

    def tails(self, power: Fraction, left: Ball, right: Ball) -> Ball:
        """A bound of ∫φ·w^A below ``left`` and above ``right``."""
        return self._tail(power, left, -1) + self._tail(power, right, 1)

    def _tail(self, power: Fraction, end: Ball, side: int) -> Ball:
        """On one side. w is monotone away from the vertex.

        For A ≤ 0, w^A ≤ (1−q)^A, or what it is at the end from which on w rises. For A ≥ 1 it is at most 1 − q +
        q·e^{Al}, by convexity, and for A between at most 1 + w; or what it is at the end from which on w falls; or,
        where w rises, ρ^A times what w^A/ρ^A is at the end.
        """
        q, plain = ball(self.rate), upper_tail(side * end)
        bend, slope, height, _ = self.coefficients()
        line = (bend * end + slope) * end + height
        log = (q * line.expm1()).log1p()
        away = side * end >= side * ball(self.vertex)
        here: Ball = (ball(power) * log).exp() * plain
        if power <= 0:
            return here if away and self.bend > 0 else (ball(power) * (-q).log1p()).exp() * plain
        mixed = q * self._grown(max(power, Fraction(1)), end, side)
        bound = (1 - q) * plain + mixed if power >= 1 else (2 - q) * plain + mixed
        if away:
            risen = (ball(power) * (log - line)).exp() * self._grown(power, end, side) if self.bend > 0 else here
            bound = bound.min(risen)
        return bound

    def _grown(self, power: Fraction, end: Ball, side: int) -> Ball:
        """∫φ·e^{Al} on one side: under that weight z is normal again."""
        heavy = 1 - 2 * power * self.bend
        if heavy <= 0:
            raise AssertionError("the moment is infinite")
        root, middle = ball(heavy).sqrt(), ball(power * self.slope / heavy)
        log = ball(power) * self.height() + ball(power**2 * self.slope**2 / (2 * heavy))
        grown: Ball = log.exp() / root * upper_tail(side * root * (end - middle))
        return grown

    def log_tails(self, power: float, z: Floats) -> tuple[Floats, Floats]:
        """About ln of those bounds at each of many ends that rise: as left ends, and as right ends."""
        import numpy as np

        bend, slope, height, q = self.floats
        line, normal, loss = (bend * z + slope) * z + height, z * z / -2, self.loss_floats(z)
        vertex, here = -slope / (2 * bend), power * loss + normal
        left, right = z <= vertex, z >= vertex
        if power <= 0:
            least = power * math.log1p(-q) + normal
            return np.where(left & (bend > 0), here, least), np.where(right & (bend > 0), here, least)
        grown, bounds = power * line + normal, []
        tails = np.maximum.accumulate(grown), np.maximum.accumulate(grown[::-1])[::-1]
        for away, tail in zip((left, right), tails, strict=True):
            mixed = np.logaddexp(math.log1p(-q) + normal, math.log(q) + tail)
            tight = here if bend < 0 else power * (loss - line) + tail
            bounds.append(np.where(away, np.minimum(mixed, tight), mixed))
        return bounds[0], bounds[1]
