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
        """A bound of ∫φ·w^A below ``left`` and above ``right``.

        w^A ≤ (1−q)^A for A ≤ 0. For A ≥ 1 it is at most 1 − q + q·e^{Al}, by convexity, and for A between at most
        1 + w. Under the weight e^{Al} z is normal again.
        """
        plain = upper_tail(-left) + upper_tail(right)
        q = ball(self.rate)
        if power <= 0:
            return (ball(power) * (-q).log1p()).exp() * plain
        a = max(power, Fraction(1))
        heavy = 1 - 2 * a * self.bend
        if heavy <= 0:
            raise AssertionError("the moment is infinite")
        root, middle = ball(heavy).sqrt(), ball(a * self.slope / heavy)
        log = ball(a) * self.height() + ball(a**2 * self.slope**2 / (2 * heavy))
        grown = log.exp() / root * (upper_tail(root * (middle - left)) + upper_tail(root * (right - middle)))
        return (1 - q) * plain + q * grown if power >= 1 else (2 - q) * plain + q * grown
