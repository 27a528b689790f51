"""The hockey-stick of a sum of discrete-Gaussian losses, any number of them: an integral over one period.

The sum S of k losses lies on o + hℤ, h = D/v, o = kD²/2v. With n nodes s_j = t + 2πij/(nh) around the period, and x₀
the least lattice point above x,

    (1/n) Σ_j M(s_j)^k κ(s_j),   κ(s) = e^{−sx₀}/(1 − e^{−sh}) − e^{x−(s+1)x₀}/(1 − e^{−(s+1)h}),

is EXACTLY Σ_i call(x + iB)e^{tiB} with B = nh: the aliases of ``contour_proof``. |M| falls within half a period
(``transforms_discrete_normal``), so of a long period only the first nodes are evaluated and the others bounded.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import ctx

from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.contour.floats import Saddles, searching
from tightrope.numerics.contour.proof import call_factor
from tightrope.numerics.transforms.discrete_normal import DiscreteNormalTransform
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import whole_power

__all__ = ["discrete_normal_sum_call"]

_MOST_NODES, _NODE, _LOOK = 4000, 6.0, 1e3  # and units of work: of a node, and of the choice of a line
_FURTHEST, _MOST_LOST = -2e4, 3e2  # ln of a call that nobody asks for, and nats that it may cost
_UNSEEN = Ball(2) ** -1200
_NARROW = 0.3  # a variance below which it is not that of the normal law
_GRAIN = 1.1  # numbers of nodes are rounded up to powers of it, so that neighbouring x share their nodes


def discrete_normal_sum_call(variance: Fraction, shift: int, copies: int, x: Ball) -> Ball:
    """E[(1 − e^{x−S})₊], S the sum of ``copies`` losses shift·(2Y + shift)/2v, Y discrete Gaussian; about as sharp as
    the present precision."""
    if not x.is_finite():
        return Ball(0) if x > 0 else Ball(1) if x < 0 else between(Ball(0), Ball(1))
    if not x.is_exact():  # it never rises in x
        low, high = x.upper(), x.lower()
        ends = [discrete_normal_sum_call(variance, shift, copies, end) for end in (low, high)]
        return between(*ends)
    if x < 0:  # exchanging the pair changes nothing
        return -x.expm1() + x.exp() * discrete_normal_sum_call(variance, shift, copies, -x)
    still = _unmoved(variance, shift, copies, x) if variance < _NARROW else None
    return _at(variance, shift, copies, x) if still is None else still


@searching
def _at(variance: Fraction, shift: int, copies: int, x: Ball) -> Ball:
    """The value at an exact x ≥ 0: choices in floats, then balls."""
    law, saddles = _law(variance, shift), _saddles(variance, shift, copies)
    bits, at, step = int(ctx.prec), float(x.mid()), float(law.step)
    nats = bits * math.log(2)
    mean = copies * float(law.offset)
    missing = Ball(1)  # what is short of 1 may be out of sight
    if at < mean:
        gentle = short(min(max((mean - at) / (2 * mean), 2.0**-60), 1.0))
        for v in (gentle, Fraction(1, 2)) if variance < _NARROW else (gentle,):
            missing = missing.min((law.log_real(-v) * copies + ball(v) * x).exp().upper())
        if missing < Ball(2) ** (-bits - 8):
            return 1 - between(Ball(0), missing)
    best, log_call = _saddle(saddles, at, step)
    t = short(max(best, 0.05 * saddles.unit), 7)
    tilts = saddles.tilts(float(t))
    lost = max(tilts.log_moment - float(t) * at - log_call, 0.0)
    if lost > _MOST_LOST and log_call + best * step < _FURTHEST:
        return between(Ball(0), (law.log_real(t) * copies - ball(t) * x).exp().upper())  # Chernoff's bound
    around = _rounded(max(saddles.period(float(t), at, log_call - nats - 2)[0] / step, 8.0))
    moves = _tilted_variance(float(variance), float(t) * shift)
    fall = math.sqrt(2 * (nats + lost + 8) / (copies * moves)) * float(variance) / shift  # where |M|^k is low enough
    number = min(_rounded(1.02 * fall * step * around / (2 * math.pi) + 2), around // 2)
    if number > _MOST_NODES and variance < _NARROW:  # it does not fall
        return between(1 - missing, Ball(1))
    number = min(number, _MOST_NODES)
    sizes = [copies, tilts.log_moment + 2, float(t) * at + 2, 1 / step + 2, 1 / step + 2]
    guard = 40 + math.ceil(lost / math.log(2)) + sum(math.ceil(math.log2(max(size, 1.0))) for size in sizes)
    effort.spend(_LOOK + _NODE * number, "a sum of discrete Gaussians")  # kept or not
    with precision(bits + guard):
        return _line(variance, shift, copies, t, around, number, bits + guard).call(x)


def _unmoved(variance: Fraction, shift: int, copies: int, x: Ball) -> Ball | None:
    """Where all noise is 0, but for a chance that is out of sight: then the loss is copies·shift²/2v."""
    other = ball(-1 / (2 * variance)).exp()  # k² ≥ |k|, so that Σe^{−k²/2v} over k ≠ 0 is at most 2e/(1 − e)
    chance = (2 * copies * other / (1 - other)).upper()
    above = ball(copies * shift * shift / (2 * variance)) - x
    value = -(-above).expm1()
    if above > 0 and chance < value * Ball(2) ** (-int(ctx.prec) - 8):
        return value + between(-chance, chance)
    return None if above > 0 or not chance < _UNSEEN else between(Ball(0), value.upper().max(Ball(0)) + chance)


def _tilted_variance(variance: float, place: float) -> float:
    """About that of the noise around a place: if it is narrow, between the two nearest values."""
    if variance > _NARROW:
        return variance
    away = abs(place - round(place))
    less = math.exp(max((2 * away - 1) / (2 * variance), -600.0))
    return less / (1 + less) ** 2


def _saddle(saddles: Saddles, x: float, step: float) -> tuple[float, float]:
    """About the least of K(t) − tx − ln t(t+1), and ln of the call at x, rather too small: the lattice's next point
    may lie a step above x."""
    import numpy as np

    t = saddles.saddle(x)
    for width in (0.4, 0.03):
        trial = t * np.exp(np.linspace(-width, width, 33))
        values = saddles.log_moment(trial) - trial * x - np.log(trial) - np.log1p(trial)
        t = float(trial[int(values.argmin())])
    return t, saddles.saddle_call(t, x) - t * step


def _rounded(number: float) -> int:
    """A little more, odd, and one of few."""
    return 2 * math.ceil(_GRAIN ** math.ceil(math.log(number) / math.log(_GRAIN)) / 2) + 1


@lru_cache(maxsize=64)
def _law(variance: Fraction, shift: int) -> DiscreteNormalTransform:
    return DiscreteNormalTransform(variance, shift)


@lru_cache(maxsize=64)
def _saddles(variance: Fraction, shift: int, copies: int) -> Saddles:
    return Saddles([(_law(variance, shift), copies)])


@lru_cache(maxsize=16)
def _line(variance: Fraction, shift: int, copies: int, t: Fraction, around: int, number: int, bits: int) -> _Line:
    with precision(bits):
        return _Line(variance, shift, copies, t, around, number)


class _Line:
    """Everything that does not depend on x, at one tilt, for ``around`` nodes a period of which ``number`` are kept."""

    def __init__(self, variance: Fraction, shift: int, copies: int, t: Fraction, around: int, number: int) -> None:
        self._law, self._copies, self._t, self._around = _law(variance, shift), copies, t, around
        self._saddles = _saddles(variance, shift, copies)
        self._step, self._offset = self._law.step, copies * self._law.offset
        self._log_scale = self._law.log_real(t) * copies
        angle = 2 * Ball.pi() / around
        eta = angle / ball(self._step)
        near, far = (ball(-t * self._step)).exp(), ball(-(t + 1) * self._step).exp()
        self._near, self._far = near, far
        self._angle = angle
        self._terms: list[tuple[ComplexBall, ComplexBall]] = []
        phi = self._law.on_line(t, [eta * j for j in range(number + 1)])
        for j, value in enumerate(phi):
            turn = ComplexBall(0, -angle * j).exp()
            power = whole_power(value, copies)
            # The sum begins at o: M^k turns by e^{iy(o + hJ)}, of which e^{iyo} is taken out here.
            power *= ComplexBall(0, -eta * j * ball(self._offset)).exp()
            term = power / ((1 - near * turn) * (1 - far * turn))
            self._terms.append((term, term * turn))
        self._size = power.abs_upper()
        self._number = number

    def call(self, x: Ball) -> Ball:
        """The call at an exact x ≥ 0, cut to [max(0, 1 − eˣ), 1]."""
        place = (x - ball(self._offset)) / ball(self._step)
        low, high = (int(end.floor().unique_fmpz() or 0) for end in (place.lower(), place.upper()))
        values = [self._value(x, first) for first in {low + 1, high + 1}]
        value = values[0] if len(values) == 1 else between(*values)  # it is the one or the other
        value -= self._below(x) + self._above(x)
        return value.nonnegative_part().min(Ball(1)) if value.is_finite() else between(Ball(0), Ball(1))

    def _value(self, x: Ball, first: int) -> Ball:
        """The sum when o + h·first is the least lattice point above x."""
        start, n = ball(self._offset + self._step * first), self._around
        constant = -(x - start).expm1()
        linear = self._near * (ball(-self._step).expm1() + constant)
        total = Ball(0)
        for j, (term, turned) in enumerate(self._terms):
            value = term * constant - turned * linear
            sin, cos = (self._angle * (j * first % n)).sin_cos()
            total += (value.real * cos + value.imag * sin) * (2 if j else 1)
        if self._number < n // 2:
            size = (abs(constant) + abs(linear)) * self._size / (self._near * self._far).sqrt()
            rest = (size * n * n / (8 * self._number)).upper()
            total += between(-rest, rest)
        return (self._log_scale - ball(self._t) * start).exp() * total / n

    def _below(self, x: Ball) -> Ball:
        """The aliases from below, as in ``contour_proof``."""
        t, b = ball(self._t), ball(self._step * self._around)
        _, v = self._tilts(x)
        bound = (self._law.log_real(-v) * self._copies + ball(v) * x).exp() / ((ball(v) + t) * b).expm1()
        known = 1 / (t * b).expm1()
        if v < 1:
            return known - between(Ball(0), bound.upper())
        known -= x.exp() / ((t + 1) * b).expm1()
        return known + between(Ball(0), (call_factor(v - 1) * bound).upper())

    def _above(self, x: Ball) -> Ball:
        """The aliases from above."""
        higher, _ = self._tilts(x)
        step = ball((higher - self._t) * self._step * self._around)
        log = self._law.log_real(higher) * self._copies - ball(higher) * x
        return between(Ball(0), (call_factor(higher) * log.exp() / step.expm1()).upper())

    def _tilts(self, x: Ball) -> tuple[Fraction, Fraction]:
        """Second tilts with the least aliases at x, above and below."""
        at, t, period = float(x.mid()), float(self._t), float(self._step * self._around)
        tilts = self._saddles.tilts(t)
        v = float(tilts.below[int((tilts.logs_below(at) - (tilts.below + t) * period).argmin())])
        higher = float(tilts.above[int((tilts.logs_above(at) - (tilts.above - t) * period).argmin())])
        return short(higher), 1 + short(v - 1) if v > 1 else short(v) if v > 0 else Fraction(0)
