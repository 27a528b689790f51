"""Transforms with a closed form: the normal loss and the Laplace loss."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.falling_nodes import FallingTransform
from tightrope.numerics.transforms.float_lines import UNIT, FloatNodes, Phases, above, rounded
from tightrope.numerics.transforms.transform import ClosedTransform

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["LaplaceTransform", "NormalTransform"]


class NormalTransform(FallingTransform):
    """L ~ N(μ²/2, μ²): M(s) = e^{μ²(s²+s)/2}."""

    def __init__(self, mu_squared: Real) -> None:
        self._square = mu_squared
        with precision(80):  # another thread's would do, but not so well
            self._float = float(mu_squared.ball().mid())

    def reverse_mass(self) -> Ball:
        """1."""
        return Ball(1)

    def log_real(self, t: Fraction) -> Ball:
        """μ²t(t+1)/2."""
        return self._square.ball() * ball(t * (t + 1) / 2)

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """μ²t(t+1)/2."""
        import numpy as np

        at = np.asarray(t, dtype=np.float64)
        result: Floats = at * (at + 1) * (self._float / 2)
        return result

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """φ = e^{μ²(iy(2t+1) − y²)/2}."""
        with precision(ctx.prec + 40):
            square = self._square.ball()
            fall, turn = square * ball(-eta * eta / 2), square * ball(eta * (2 * t + 1) / 2)
            phi = [ComplexBall(fall * (k * k), turn * k).exp() for k in range(count + 1)]
            return self.log_real(t), phi

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """The same in floats."""
        import numpy as np

        y = eta * np.arange(count + 1)
        return t * (t + 1) * self._float / 2, (self._float / 2) * (1j * y * (2 * t + 1) - y * y)

    def decay(self, t: Fraction, y: Fraction) -> Ball:  # noqa: ARG002
        """e^{−μ²y²/2}, exactly |φ|."""
        return (self._square.ball() * ball(-y * y / 2)).exp()

    def log_decay_floats(self, t: float, y: Floats) -> Floats:  # noqa: ARG002
        """−μ²y²/2."""
        return y * y * (-self._float / 2)

    def largest(self) -> Ball | None:
        """Unbounded."""
        return None

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:  # noqa: ARG002
        """One exponential a node."""
        return 2.0 * count


class LaplaceTransform(ClosedTransform):
    """Atoms ½ at ε₀ and ½e^{−ε₀} at −ε₀, density ¼e^{−(ε₀−l)/2} between, ε₀ > 0.

    M(s) = ½e^{sε₀} + ½e^{−(s+1)ε₀} + ½e^{−ε₀/2} sinh((s+½)ε₀)/(s+½), every term positive for real s.
    """

    each = True

    sparse = True

    def __init__(self, epsilon0: Fraction) -> None:
        self._reach = epsilon0
        self._float = float(epsilon0)

    def reverse_mass(self) -> Ball:
        """1."""
        return Ball(1)

    def log_real(self, t: Fraction) -> Ball:
        """ln M(t)."""
        with precision(ctx.prec + 40 + 2 * _smallness(self._reach)):
            value = self._real(t).log()
        return value + 0

    def _real(self, t: Fraction) -> Ball:
        e0, half = ball(self._reach), ball(t + Fraction(1, 2))
        middle = (half * e0).sinh() / half if t != Fraction(-1, 2) else e0
        return ((ball(t) * e0).exp() + (ball(-t - 1) * e0).exp() + (e0 / -2).exp() * middle) / 2

    def logs(self, s: Complexes) -> Complexes:
        """ln M(s) in floats: near s = −½ from M − 1, elsewhere relative to the largest exponential."""
        import numpy as np

        e0 = self._float
        h = np.where(np.abs(s + 0.5) < 1e-6, 1e-6, s + 0.5)
        h = np.where(h.real < 0, -h, h)  # M is even in h
        near = np.abs(h) * e0 < 1
        small = np.where(near, h, 0.5)
        rise = np.expm1((small - 0.5) * e0) + np.expm1((-small - 0.5) * e0)
        rise = (rise + np.exp(-e0 / 2) * np.sinh(small * e0) / small) / 2
        size = np.log1p(np.maximum(rise.real * (2 + rise.real) + rise.imag**2, -1 + 1e-16)) / 2
        back = np.exp(-2 * h * e0)
        far = (h - 0.5) * e0 + np.log((1 + back) / 2 + (1 - back) / (4 * h))
        result: Complexes = np.where(near, size + 1j * np.arctan2(rise.imag, 1 + rise.real), far)
        return result

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """φ = M(t+iy)/M(t)."""
        with precision(ctx.prec + 40):
            return self._real(t).log(), self.at(t, eta, range(count + 1))

    def at(self, t: Fraction, eta: Fraction, indices: Sequence[int]) -> list[ComplexBall]:
        """φ at each; sums and products of one sine and one cosine."""
        with precision(ctx.prec + 40):
            e0, real = ball(self._reach), self._real(t)
            up, down, middle = (ball(t) * e0).exp(), (ball(-t - 1) * e0).exp(), (e0 / -2).exp()
            grow, fall = (ball(t + Fraction(1, 2)) * e0).exp(), (ball(-t - Fraction(1, 2)) * e0).exp()
            half, step, phi = ball(t + Fraction(1, 2)), ball(eta), []
            sums = grow - fall, grow + fall, up + down, up - down
            for k in indices:
                y = step * k
                sin, cos = (y * e0).sin_cos()
                sinh = ComplexBall(cos * sums[0], sin * sums[1]) / 2
                atoms = ComplexBall(cos * sums[2], sin * sums[3])
                phi.append((atoms + sinh * middle / ComplexBall(half, y)) / (2 * real) if k else ComplexBall(1))
            return phi

    def float_nodes(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes | None:
        """All of them."""
        import numpy as np

        return self.few_nodes(t, eta, np.arange(count + 1), floor, count)

    def few_nodes(
        self, t: Fraction, eta: Fraction, indices: Integers, floor: Ball, count: int
    ) -> FloatNodes | None:
        """½e^{sε₀}(1+r) + ½e^{−(s+1)ε₀}(1−r), r = 1/(2s+1): either half is off by at most 26u, times |1±r| ≤ 2."""
        with precision(128):
            e0, real = ball(self._reach), 2 * self._real(t)
            up, down = rounded((ball(t) * e0).exp() / real), rounded((ball(-t - 1) * e0).exp() / real)
            phases = Phases(ball(eta) * e0, count)
            turns = phases.all() if len(indices) > count else phases.at(indices)
        y, across = 2 * float(eta) * indices, float(2 * t + 1)
        square = across * across + y * y
        share = across / square - 1j * (y / square)
        values = turns * (up * (1 + share)) + turns.conj() * (down * (1 - share))
        error = 60 * UNIT
        return FloatNodes(values, error, above(values, error, floor))

    def node_cost(self, copies: int) -> float:  # noqa: ARG002
        """Some products."""
        return 60.0

    def decay(self, t: Fraction, y: Fraction) -> Ball:
        """|s+1|/|2s+1| falls with y and |s|/|2s+1| ≤ ½, for t ≥ 0."""
        if t < 0:
            return Ball(1)
        e0, four = ball(self._reach), 4 * y * y
        ratio = (ball((2 * t + 2) ** 2 + four) / ball((2 * t + 1) ** 2 + four)).sqrt()
        bound = (ratio * (ball(t) * e0).exp() + (ball(-t - 1) * e0).exp()) / (2 * self._real(t))
        return bound.min(Ball(1))

    def log_decay_floats(self, t: float, y: Floats) -> Floats:
        """The same in floats."""
        import numpy as np

        e0, four = self._float, 4 * y * y
        ratio = np.sqrt(((2 * t + 2) ** 2 + four) / ((2 * t + 1) ** 2 + four))
        log = t * e0 + np.log((ratio + np.exp(-(2 * t + 1) * e0)) / 2) - float(self.log_floats([t])[0])
        result: Floats = np.minimum(log, 0.0)
        return result

    def largest(self) -> Ball | None:
        """ε₀."""
        return ball(self._reach)

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:  # noqa: ARG002
        """Some products a node."""
        return 5.0 * count


def _smallness(x: Fraction) -> int:
    """How many bits a positive number lies below 1."""
    return max(0, x.denominator.bit_length() - x.numerator.bit_length())
