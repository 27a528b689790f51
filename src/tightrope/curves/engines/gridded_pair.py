"""A profile known only point by point, put on a grid so that it composes: a finite law that dominates it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.pair import Call
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.sums.atom_tables import AtomTable
from tightrope.numerics.sums.connected_dots import connected_dots
from tightrope.numerics.sums.finite import FiniteLaw, FiniteSum
from tightrope.numerics.windowed.power import windowed_power

_FINE, _DENSE, _GROWTH = 8, 72, 1.08  # points a standard deviation; how many of them; then ever wider apart
_TINY = Ball(2) ** -1000  # where the profile is below this, the next point is the largest loss
_CUT = Ball(2) ** -100  # a law of few copies ends here: what is beyond counts as certain loss
_BITS = 160


@dataclass(frozen=True)
class GridPoints:
    """Balls around δ at ε = unit·step for steps in rising order, both signs of ε."""

    unit: Fraction
    points: tuple[tuple[int, Ball], ...]

    @classmethod
    def symmetric(cls, spread: float, top: float, profile: Callable[[Fraction], Ball]) -> GridPoints:
        """The points of a profile that is its own reverse and vanishes from ``top`` on."""
        unit = _short(spread / _FINE)
        last = math.ceil(Fraction(top) * (1 + Fraction(1, 2**40)) / unit) + 1
        above = [*_listed(unit, last, _TINY, profile), (last, Ball(0))]
        return cls(unit, (*_dual(unit, above[1:]), *above))


def _listed(unit: Fraction, end: int, least: Ball, profile: Callable[[Fraction], Ball]) -> list[tuple[int, Ball]]:
    """From ε = 0 on, as long as δ is not below ``least``."""
    found = [(0, profile(Fraction(0)))]
    step = 1
    while step < end and not found[-1][1] < least:
        found.append((step, profile(unit * step)))
        step = step + 1 if step < _DENSE else math.ceil(step * _GROWTH)
    return found


def _dual(unit: Fraction, reverse: Sequence[tuple[int, Ball]]) -> list[tuple[int, Ball]]:
    """δ(−ε) = 1 − e^{−ε} + e^{−ε}·δ'(ε), δ' the profile of the reverse."""
    return [(-step, at_minus(ball(unit * step), height)) for step, height in reversed(reverse)]


def at_minus(x: Ball, height: Ball) -> Ball:
    """δ(−x) of a pair from δ(x) of its reverse."""
    return -(-x).expm1() + (-x).exp() * height


def _short(x: float) -> Fraction:
    """A dyadic number of few bits, not above x."""
    mantissa, exponent = math.frexp(x)
    return Fraction(math.floor(mantissa * 256)) * Fraction(2) ** (exponent - 8)


def gridded_law(points: GridPoints) -> FiniteLaw:
    """The law on the whole grid."""
    return connected_dots(points.unit, points.points)


def gridded_call(points: GridPoints, copies: int) -> Call:
    """δ of that many copies of a law that dominates: multiplied out where that is short, else integrated.

    The short law ends where δ is 2^−100; for answers not far above that, the moments of the whole grid bound them. The
    values have one precision, so each is found once.
    """
    short = connected_dots(points.unit, _ends(points.points))
    table = _multiplied(short, points.unit, copies)
    inner = FiniteSum([(short, copies)]).call if table is None else table.call
    whole = FinitePair("whole grid", gridded_law(points))
    with precision(_BITS):
        leak = -(copies * (-short.infinite.ball()).log1p()).expm1() + Ball(2) ** -100
    known: dict[Any, Ball] = {}

    def value(x: Ball) -> Ball:
        with precision(_BITS):
            found = inner(x)
            return found if found > 1024 * leak else found.min(_chernoff(whole, copies, x))

    def call(x: Ball) -> Ball:
        if not x.is_exact():
            return value(x)
        key = x.man_exp()
        if key not in known:
            known[key] = value(x)
        return known[key]

    return call


def _chernoff(pair: FinitePair, copies: int, x: Ball) -> Ball:
    """E[(1 − e^{x−S})₊] ≤ e^{nK(t)−tx}·t^t/(1 + t)^{1+t} for every t > 0; floats choose one."""
    if pair.law.infinite.rational != 0:
        return Ball(1)
    at = float(x.mid())
    tilts = [2.0**i for i in range(-20, 60)]
    moments = pair.approximate_cumulants(tilts)
    _, t = min((copies * k - t * at, t) for k, t in zip(moments, tilts, strict=True) if math.isfinite(k))
    tilt, power = ball(Fraction(t)), Fraction(t)
    return (copies * pair.cumulant(power) - tilt * x + tilt * tilt.log() - (1 + tilt) * tilt.log1p()).exp()


@dataclass(frozen=True)
class Leaking:
    """A listed law and a mass at ∞."""

    table: AtomTable
    leak: Ball

    def call(self, x: Ball) -> Ball:
        """E[(1 − e^{x−S})₊]."""
        return self.table.call(x) + self.leak


def _multiplied(law: FiniteLaw, unit: Fraction, copies: int) -> Leaking | None:
    """All atoms of the sum, if they are not too many."""
    with precision(_BITS + 2 * copies.bit_length()):
        found = windowed_power(law.steps, [m.ball() for m in law.masses], law.infinite.ball(), copies)
        if found is None:
            return None
        atoms = [(ball(unit * (found.first + i)), mass) for i, mass in enumerate(found.masses)]
        return Leaking(AtomTable(atoms), found.lost)


def _ends(points: Sequence[tuple[int, Ball]]) -> list[tuple[int, Ball]]:
    """The points up to the first tiny one, and as far below 0."""
    last = next((step for step, height in points if step > 0 and height < _CUT), points[-1][0])
    return [(step, height) for step, height in points if -last <= step <= last]
