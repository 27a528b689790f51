"""The transform of the discrete Gaussian's loss L = D(2Y+D)/2v, P[Y = k] ∝ e^{−k²/2v}.

M(s) = e^{(s²+s)D²/2v} S(sD)/S(0), S(c) = Σ_k e^{−(k−c)²/2v}. L lies on D²/2v + (D/v)ℤ, so that a step by the period
2πv/D along a vertical line multiplies M by (−1)^D. Within half a period |M| falls: by Jacobi's triple product S is, up
to a factor of size e^{(Re c)²/2v}, a product of terms |1 + ρe^{±iθ}| with ρ > 0, each of which falls for θ from 0 to π.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.exact import near
from tightrope.numerics.theta import DUAL, log_mass_ratio, square
from tightrope.numerics.transforms.float_lines import (
    UNIT,
    FloatNodes,
    Phases,
    above,
    as_doubles,
    bell,
    exponential_sums,
    rounded,
)
from tightrope.numerics.transforms.transform import Transform, log_phases, unit

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["DiscreteNormalTransform"]

_SMOOTH = 16  # the variance from which on S is constant to 10⁻³⁴
_LISTED = 60  # the largest σ whose values are listed one by one where its curves overlap
_MOST_REACH = 20_000  # nodes in a curve
_REACH = 9.5  # deviations that are listed: less than u/100 lies beyond


class DiscreteNormalTransform(Transform):
    """Variance v > 0 and a whole shift D ≥ 1."""

    each = True

    def __init__(self, variance: Fraction, shift: int) -> None:
        self._variance, self._shift = variance, shift
        self._float = near(variance)
        if not 1e-4 < self._float < 1e30 or not shift < 1e15:
            raise NotCertified("the discrete Gaussian's transform", "σ or the sensitivity is out of reach")
        self._rate = near(Fraction(shift) ** 2 / (2 * variance))

    @property
    def step(self) -> Fraction:
        """The distance of two neighbouring losses."""
        return Fraction(self._shift) / self._variance

    @property
    def offset(self) -> Fraction:
        """One of the losses."""
        return Fraction(self._shift) ** 2 / (2 * self._variance)

    def reverse_mass(self) -> Ball:
        """1."""
        return Ball(1)

    def log_real(self, t: Fraction) -> Ball:
        """t(t+1)D²/2v + ln S(tD) − ln S(0)."""
        return ball(t * (t + 1) * self.offset) + log_mass_ratio(self._variance, t * self._shift)

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """The same in floats."""
        import numpy as np

        at = np.asarray(t, dtype=np.float64)
        result: Floats = at * (at + 1) * self._rate
        if self._float < _SMOOTH:
            c = at * self._shift
            c = np.abs(c - np.round(c))
            k = np.arange(-self._reach(), self._reach() + 1)
            sums = np.exp(-((k[None, :] - c[:, None]) ** 2 - c[:, None] ** 2) / (2 * self._float)).sum(axis=1)
            result = result + np.log(sums / np.exp(-(k**2) / (2 * self._float)).sum()) - c**2 / (2 * self._float)
        return result

    def _reach(self) -> int:
        return math.ceil(_REACH * math.sqrt(self._float)) + 2

    def at(self, t: Fraction, eta: Fraction, indices: Sequence[int]) -> list[ComplexBall]:
        """φ at each."""
        with precision(ctx.prec + 20):
            return self.on_line(t, [ball(eta * k) for k in indices])

    def on_line(self, t: Fraction, places: Sequence[Ball]) -> list[ComplexBall]:
        """M(t+iy)/M(t) at each y, reduced to the first period."""
        theta = partial(self._theta, self._rows(t)) if self._variance >= DUAL else self._narrow_theta(t)
        period, base, phi = 2 * Ball.pi() * ball(self._variance / self._shift), theta(Ball(0)), []
        fall, turn, length = ball(self.offset), ball((2 * t + 1) * self.offset), float(period.mid())
        for place in places:
            turns = round(float(place.mid()) / length)
            y = place - turns * period if turns else place
            value = ComplexBall(-y * y * fall, y * turn).exp() * theta(y) / base
            phi.append(-value if turns * self._shift % 2 else value)
        return phi

    def _rows(self, t: Fraction) -> tuple[Ball, Ball, list[Ball]]:
        """What all sums of ``_theta`` share: 2π²v, its 2πD and 2πnc for n = 0, 1, …, c = tD less a whole number."""
        w, c, pi = ball(self._variance), t * self._shift, Ball.pi()
        c -= round(c)
        most = 2 + math.isqrt(int(ctx.prec / (28 * min(self._float, 1e6))))
        return 2 * pi * pi * w, 2 * pi * self._shift, [2 * pi * n * ball(c) for n in range(most + 1)]

    def _theta(self, rows: tuple[Ball, Ball, list[Ball]], y: Ball) -> ComplexBall:
        """S((t+iy)D)/√2πv = Σ_n e^{−2π²vn² + 2πin(t+iy)D}, for |y| up to a little over half a period."""
        rate, shift, angles = rows
        self._within(y * self._shift)
        turn, total = shift * y, ComplexBall(1)
        size, fall, least = abs(float(turn.mid())), float(rate.mid()), -ctx.prec * math.log(2)
        count = next((n for n in range(len(angles) - 1) if (size - fall * (n + 1)) * (n + 1) < least), len(angles) - 1)
        for n in range(1, count + 1):
            for m, angle in ((n, angles[n]), (-n, -angles[n])):
                total += ComplexBall(-rate * (n * n) - m * turn, angle).exp()
        # Terms of n beyond fall by more than half each, since 2π|yD| ≤ 1.1·2π²v.
        return _widened(total, 4 * ((count + 1) * abs(turn) - rate * (count + 1) ** 2).exp())

    def _within(self, b: Ball) -> None:
        if not abs(b) < 1.1 * Ball.pi() * ball(self._variance):
            raise NotCertified("the discrete Gaussian's transform", "a node is not in the first period")

    def _masses(self, t: Fraction) -> tuple[list[tuple[Ball, Ball]], Ball]:
        """Places k − c and e^{−(k−c)²/2v} there, c = tD less a whole number; and a bound of the others: beyond,
        |k − c| ≥ |k| − ½, and 1/2v > 3."""
        half, c = ball(1 / (2 * self._variance)), t * self._shift
        c -= round(c)
        count = 2 + math.isqrt(int(1.4 * ctx.prec * self._float) + 1)
        places = [ball(k - c) for k in range(-count, count + 1)]
        return [(place, (-half * place * place).exp()) for place in places], 4 * (-half * count**2).exp()

    def _narrow_theta(self, t: Fraction) -> Callable[[Ball], ComplexBall]:
        """The same, value by value."""
        (masses, rest), w = self._masses(t), ball(self._variance)
        scale = 1 / (2 * Ball.pi() * w).sqrt()

        def theta(y: Ball) -> ComplexBall:
            b = y * self._shift
            self._within(b)
            turn = b / w
            total = sum((unit(turn * place) * mass for place, mass in masses), ComplexBall(0))
            return _widened(total, rest) * (b * b / (2 * w)).exp() * scale

        return theta

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """All nodes."""
        return self.log_real(t), self.at(t, eta, range(count + 1))

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """The same in floats: one normal curve in each period, or the values one by one."""
        import numpy as np

        log = float(self.log_floats([t])[0])
        if self._float < _SMOOTH:
            centre = round(t * self._shift)
            k = centre + np.arange(-self._reach(), self._reach() + 1)
            shares = np.exp(-((k - t * self._shift) ** 2) / (2 * self._float))
            return log, log_phases(
                shares / shares.sum(), (2 * k + self._shift) * (self._shift / 2 / self._float), eta, count
            )
        y = eta * np.arange(count + 1)
        period = 2 * math.pi * self._float / self._shift
        turns = np.round(y / period)
        y = y - turns * period
        return log, self._rate * (1j * y * (2 * t + 1) - y * y) + 1j * math.pi * (turns * self._shift % 2)

    def float_nodes(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes | None:
        """Narrow noise: the values one by one. Wide noise: a normal curve around every period, nothing between."""
        if self._float < _SMOOTH:
            return self._listed(t, eta, count, floor)
        with precision(128):
            width = (-2 * floor * ball(self._variance)).sqrt() / self._shift
            reach = math.ceil(1.01 * float(width) / float(eta)) + 1  # in nodes
            period = 2 * math.pi * self._float / self._shift / float(eta)  # in nodes
            if reach > min(period / 2 - 2, _MOST_REACH):
                return None if self._float > _LISTED**2 else self._listed(t, eta, count, floor)
            if not self.at(t, eta, [reach - 1])[0].abs_upper() <= floor.exp():
                return None
            return self._curves(t, eta, count, reach, round(count / period))

    def _curves(self, t: Fraction, eta: Fraction, count: int, reach: int, periods: int) -> FloatNodes:
        """φ = ±e^{(−y²+iy(2t+1))D²/2v} with y from the nearest period, but for 8e^{−π²v/2} from the rest of S.

        At node n + j, n next to the m-th period and oη away from it, that is e^{−B(j+o)²+iC(j+o)}: one row of
        e^{−Bj²+iCj}, times the j-th power of e^{−2Bo}, times a number. Each product is off by at most 3u.
        """
        import numpy as np

        rate = ball(self.offset)
        fall, turn = rate * ball(eta * eta), rate * ball(eta * (2 * t + 1))
        bells, bell_error = bell(fall, reach)
        row = bells * Phases(turn, reach).all()
        period = 2 * Ball.pi() * ball(self._variance / (self._shift * eta))
        starts, steps, firsts = [], [], []
        for m in range(periods + 1):
            n = round(float((period * m).mid()))
            off = n - period * m
            start = ComplexBall(-fall * off * off, turn * off).exp()
            starts.append(-start if m * self._shift % 2 else start)
            steps.append(rounded((-2 * fall * off).exp() / 2) * 2)
            firsts.append(n)
        values, alive = np.zeros(count + 1, dtype=np.complex128), np.zeros(count + 1, dtype=np.bool_)
        places, first, step = np.array(firsts), as_doubles(starts), np.array(steps)
        up, down = first, first
        for j in range(reach + 1):
            for at, power, factor in ((places + j, up, row[j]), (places - j, down, row[j].conjugate())):
                inside = (at >= 0) & (at <= count)
                values[at[inside]] = (power * factor)[inside]
                alive[at[inside]] = True
            up, down = up * step, down / step
        rest = 8 * (-square(Ball.pi()) * ball(self._variance) / 2).exp()
        return FloatNodes(values, bell_error + UNIT * (6 * reach + 40) + rest, alive)

    def _listed(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes:
        """Tilted by e^{tL}, P[Y = k] becomes e^{−(k−tD)²/2v}."""
        c, reach = t * self._shift, self._reach()
        k = range(round(c) - reach, round(c) + reach + 1)
        with precision(128):
            raw = [(ball(-((j - c) ** 2) / (2 * self._variance))).exp() for j in k]
            total = sum(raw, Ball(0))
            angles = [ball(self.step * (j + Fraction(self._shift, 2)) * eta) for j in k]
            values, error = exponential_sums([w / total for w in raw], angles, count)
        error += UNIT
        return FloatNodes(values, error, above(values, error, floor))

    def node_cost(self, copies: int) -> float:  # noqa: ARG002
        """A row of a matrix product, or one curve for each of some 10²…10⁴ nodes."""
        if self._float < _SMOOTH:
            return 5.0 + (2 * self._reach() + 1)
        return 40.0

    def largest(self) -> Ball | None:
        """Unbounded."""
        return None

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:  # noqa: ARG002
        """A few exponentials a node."""
        return 25.0 * count


def _widened(value: ComplexBall, by: Ball) -> ComplexBall:
    off = between(-by.upper(), by.upper())
    return value + ComplexBall(off, off)
