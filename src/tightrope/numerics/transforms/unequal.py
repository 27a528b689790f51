"""The transform of the loss between two normal laws of unequal variance; it decays like a power."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.numerics.balls import INFINITY, Ball, ComplexBall, ball, precision
from tightrope.numerics.exact import near
from tightrope.numerics.transforms.float_lines import UNIT, FloatNodes, above, as_doubles
from tightrope.numerics.transforms.quadratic_loss import domain_end
from tightrope.numerics.transforms.transform import ClosedTransform

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["UnequalTransform"]

_DOUBLE_BITS = 80


class UnequalTransform(ClosedTransform):
    """N(m₁, s₁²) against N(m₂, s₂²), s₁ ≠ s₂: with v = s₂² + s(s₂² − s₁²), finite for Re v > 0,

    M(s) = (s₂/s₁)^s · s₂·v^{−½} · e^{s(s+1)(m₁−m₂)²/2v}.
    """

    each = True

    sparse = True

    def __init__(self, m1: Fraction, s1: Fraction, m2: Fraction, s2: Fraction) -> None:
        self._first, self._second, self._square = s1, s2, (m1 - m2) ** 2
        self._slope = s2**2 - s1**2
        self.end = domain_end(s1, s2)
        self._floats = near(s1), near(s2), near(self._square), near(self._slope)

    def reverse_mass(self) -> Ball:
        """1."""
        return Ball(1)

    def log_real(self, t: Fraction) -> Ball:
        """ln M(t); ∞ where v ≤ 0."""
        v = self._second**2 + t * self._slope
        if v <= 0:
            return INFINITY
        linear = ball(t) * ball(self._second / self._first).log() + ball(self._second**2 / v).log() / 2
        return linear + ball(t * (t + 1) * self._square / (2 * v))

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """The same in floats."""
        import numpy as np

        at = np.asarray(t, dtype=np.float64)
        with np.errstate(all="ignore"):
            result: Floats = self.logs(at + 0j).real
        return np.where(self._floats[1] ** 2 + at * self._floats[3] > 0, result, math.inf)

    def logs(self, s: Complexes) -> Complexes:
        """The formula in floats."""
        import numpy as np

        _, s2, square, slope = self._floats
        grown = slope / (s2 * s2)
        v = 1 + s * grown
        # ln(s₂/s₁) = −½ln(1 − grown): close variances lose nothing
        result: Complexes = -s * math.log1p(-grown) / 2 - np.log(v) / 2 + s * (s + 1) * square / (2 * s2 * s2 * v)
        return result

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """φ = M(t+iy)/M(t)."""
        return self.log_real(t), self.at(t, eta, range(count + 1))

    def at(self, t: Fraction, eta: Fraction, indices: Sequence[int]) -> list[ComplexBall]:
        """At each node."""
        with precision(ctx.prec + 40):
            v0 = self._second**2 + t * self._slope
            base, log = ball(t * (t + 1) / v0), ball(self._second / self._first).log()
            half, slope, phi = ball(self._square / 2), ball(self._slope), []
            across, width, step = ball(t), ball(v0), ball(eta)
            for k in indices:
                y = step * k
                s, v = ComplexBall(across, y), ComplexBall(width, y * slope)
                exponent = (s * (s + 1) / v - base) * half + ComplexBall(0, y * log)
                phi.append(exponent.exp() / (v / width).sqrt())
            return phi

    def float_nodes(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes | None:
        """All of them, each from its ball."""
        import numpy as np

        return self.few_nodes(t, eta, np.arange(count + 1), floor, count)

    def few_nodes(
        self, t: Fraction, eta: Fraction, indices: Integers, floor: Ball, count: int  # noqa: ARG002
    ) -> FloatNodes | None:
        """Likewise."""
        with precision(_DOUBLE_BITS):
            values, error = as_doubles(self.at(t, eta, [int(k) for k in indices])), 4 * UNIT
        return FloatNodes(values, error, above(values, error, floor))

    def node_cost(self, copies: int) -> float:  # noqa: ARG002
        """A root and an exponential of balls."""
        return 7e3

    def decay(self, t: Fraction, y: Fraction) -> Ball:
        """|φ| itself, which falls: |v| rises, and Re s(s+1)/v is a constant and a positive multiple of 1/|v|²."""
        return self.at(t, y, [1])[0].abs_upper()

    def log_decay_floats(self, t: float, y: Floats) -> Floats:
        """The same in floats."""
        logs: Floats = self.logs(t + 1j * y).real - float(self.log_floats([t])[0])
        return logs

    def largest(self) -> Ball | None:
        """ln(s₂/s₁) + (m₁−m₂)²/2(s₂²−s₁²), if the first law is the narrower one."""
        if self._slope < 0:
            return None
        return ball(self._second / self._first).log() + ball(self._square / (2 * self._slope))

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:  # noqa: ARG002
        """A root and an exponential a node."""
        return 6.0 * count
