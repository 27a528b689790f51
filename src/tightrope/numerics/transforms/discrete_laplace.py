"""The transform of the discrete Laplace loss at a large whole distance, in closed form.

Losses (D−2j)/b with the chance of noise j, and both tails at ±D/b. With r = e^{−1/b}, κ = (1−r)/(1+r) and
z = e^{−(2s+1)/b}: M(s) = e^{sD/b}(1/(1+r) + κz/(1−z)) + r^D e^{−sD/b}(1/(1+r) − κ/(1−z)).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.exact import near
from tightrope.numerics.transforms.float_lines import UNIT, FloatNodes, Phases, above, rounded
from tightrope.numerics.transforms.transform import ClosedTransform

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Complexes

__all__ = ["DiscreteLaplaceTransform"]


class DiscreteLaplaceTransform(ClosedTransform):
    """Scale b and a whole distance D ≥ 2."""

    each = True

    def __init__(self, scale: Fraction, shift: int) -> None:
        self._scale, self._shift = scale, shift
        self._floats = near(scale), near(Fraction(shift))
        if not 0.01 < self._floats[0] < 1e9 or not self._floats[1] / self._floats[0] < 500:
            raise NotCertified("a discrete Laplace transform", "its scale or its distance is out of reach")

    def reverse_mass(self) -> Ball:
        """1."""
        return Ball(1)

    def _value(self, s: ComplexBall) -> ComplexBall:
        b, d = ball(self._scale), self._shift
        r = (-1 / b).exp()
        share, middle = 1 / (1 + r), (1 - r) / (1 + r)
        z = (-(2 * s + 1) / b).exp()
        up, down = (s * d / b).exp(), (-(s + 1) * d / b).exp()
        return up * (share + middle * z / (1 - z)) + down * (share - middle / (1 - z))

    def log_real(self, t: Fraction) -> Ball:
        """ln M(t); at −½, where both halves are infinite, their limit."""
        with precision(ctx.prec + 100):
            if 2 * t + 1 == 0:
                b, r = ball(self._scale), ball(-1 / self._scale).exp()
                return ((2 + (1 - r) * (self._shift - 1)) / (1 + r)).log() - self._shift / (2 * b)
            return self._value(ComplexBall(ball(t))).real.log()

    def logs(self, s: Complexes) -> Complexes:
        """ln M relative to the larger exponential, from the half plane right of −½ by symmetry."""
        import numpy as np

        b, d = self._floats
        s = np.where(s.real < -0.5, -1 - s, s)
        s = np.where(np.abs(s + 0.5) < 1e-7, s + 1e-7, s)
        r = np.exp(-1 / b)
        share, middle = 1 / (1 + r), -np.expm1(-1 / b) / (1 + r)
        gap = -np.expm1(-(2 * s + 1) / b)
        back = np.exp(-(2 * s + 1) * d / b)
        result: Complexes = s * d / b + np.log(share + middle * (1 / gap - 1) + back * (share - middle / gap))
        return result

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """All nodes."""
        return self.log_real(t), self.at(t, eta, range(count + 1))

    def at(self, t: Fraction, eta: Fraction, indices: Sequence[int]) -> list[ComplexBall]:
        """φ at each."""
        with precision(ctx.prec + 100):
            base = self._value(ComplexBall(ball(t)))
            return [self._value(ComplexBall(ball(t), ball(eta * k))) / base for k in indices]

    def float_nodes(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes | None:
        """The closed form. 1 − z is off by at most 20u and no smaller than 1 − |z|; dividing by it adds 10u."""
        with precision(200):
            b, d, step = ball(self._scale), self._shift, ball(eta)
            r = (-1 / b).exp()
            total = self._value(ComplexBall(ball(t))).real
            size = (ball(-(2 * t + 1)) / b).exp()
            share, middle = 1 / (1 + r), (1 - r) / (1 + r)
            up, down = (ball(t * d) / b).exp() / total, (ball(-(t + 1) * d) / b).exp() / total
            turns, inner = Phases(step * d / b, count).all(), Phases(-2 * step / b, count).all() * rounded(size)
            least = 1 - size
            sides = [(rounded(end * share), rounded(end * middle)) for end in (up, down)]
            loss = (up + down) * (8 + 2 * middle / (least * least))
            error = (UNIT * (60 + 20 * loss)).upper()
        values = turns * (sides[0][0] + sides[0][1] * inner / (1 - inner))
        values = values + turns.conj() * (sides[1][0] - sides[1][1] / (1 - inner))
        return FloatNodes(values, error, above(values, error, floor))

    def node_cost(self, copies: int) -> float:  # noqa: ARG002
        """Some products and a division."""
        return 120.0

    def largest(self) -> Ball | None:
        """D/b."""
        return ball(self._shift / self._scale)

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:  # noqa: ARG002
        """Three exponentials a node."""
        return 8.0 * count
