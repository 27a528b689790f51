"""Nodes far out of sampled normal losses, on a path above the axis: as many terms serve any y.

For 0 < Im z < π/μ the angle of w(z) = 1 − q + q·e^{μz−μ²/2} lies between 0 and π, and that of w(−z) between −π and 0.
So |w(z)^{iy}| ≤ 1 and |w(−z)^{−iy}| ≤ 1 there for every y ≥ 0. Let f(z) = φ(z)·w(z)^{A+iy}, times w(−z)^{−B−iy} where a
record is exchanged, B ≥ 0, and G the integral at y = 0. The trapezoidal rule on the line Im z = d, 2dμ < π, has a strip
from the axis to Im z = 2d, on whose edges the integrals of |f| are at most G and e^{2d²}·cos(dμ)^{−C}·G with
C = max(−A, 0) + B, as |w| ≤ w(x) and |w| ≥ cos(dμ)·w(x) there. So with step h it is off by at most

    (1 + e^{2d²}·cos(dμ)^{−C})·G/(e^{2πd/h} − 1),

however large y is. On the axis |w^{iy}| grows into the strip, and a rule needs a step that falls like 1/y.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.products import product
from tightrope.numerics.transforms.float_lines import UNIT, as_doubles
from tightrope.numerics.transforms.sampled_rule import short

if TYPE_CHECKING:
    from fractions import Fraction

    from tightrope.numerics.transforms.float_lines import Flags, Integers
    from tightrope.numerics.transforms.transform import Complexes

__all__ = ["Lifted", "height_and_step", "lift_error", "lifted_sums"]

_WHAT = "a line of doubles"
_BITS = 128
_HIGHEST, _TURNS = 1.5, (1.5, 1.2, 0.9, 0.6, 0.4, 0.25, 0.15, 0.08, 0.04, 0.02, 0.01, 5e-3, 2e-3)  # d, dμ < π/2
_LARGER = 3.0  # nats by which the terms may be larger than those on the axis
_TERMS = 64  # of a matrix product
_MOST_LOW = 12  # bits of a node's number that one table serves
_MOST_WORK = 3e8  # nanoseconds
_FACTOR, _PRODUCT = 4, 1  # of them for a product by itself, and in a matrix
_PLACE, _POWER = 10.0, 5.0  # units of work for a term, and for a power of its turn


@dataclass(frozen=True)
class Lifted:
    """Shares and losses with Im ≥ 0 whose sum Σ share·e^{iy·loss} is φ(y), or its conjugate, but for ``error``, for
    every y ≥ 0."""

    shares: Sequence[ComplexBall]
    losses: Sequence[ComplexBall]
    error: Ball
    mirrored: bool = False


def height_and_step(mu: float, inverse: float, nats: float) -> tuple[Fraction, Fraction]:
    """d and h with the fewest terms: a choice, in floats. ``inverse``: C above."""
    best: tuple[float, float] | None = None
    for d in (min(turn / mu, _HIGHEST) for turn in _TURNS):
        larger = d * d / 2 - inverse * math.log(math.cos(d * mu / 2))
        step = 2 * math.pi * d / (nats + 1 + 2 * d * d - inverse * math.log(math.cos(d * mu)))
        if larger < _LARGER and (best is None or step > best[1]):
            best = d, step
    if best is None:
        raise NotCertified(_WHAT, "no path above the axis is flat enough")
    return short(best[0]), short(best[1])


def lift_error(mu: Ball, inverse: Ball, height: Fraction, step: Fraction, tails: Ball) -> Ball:
    """A bound of the rule's error, over G; ``tails``: what lies beyond its ends on the axis, over G."""
    d = ball(height)
    if not 2 * d * mu < Ball.pi():
        raise NotCertified(_WHAT, "the strip is too wide")
    edge = 1 + (2 * d * d - inverse * (d * mu).cos().log()).exp()
    beyond = tails * (d * d / 2 - inverse * (d * mu / 2).cos().log()).exp()
    return (edge / (2 * Ball.pi() * d / ball(step)).expm1() + beyond).upper()


def lifted_sums(rule: Lifted, eta: Fraction, indices: Integers) -> tuple[Complexes, Ball]:
    """φ at y = kη for these k ≥ 0, which rise, and a bound of the errors.

    e^{ikη·loss} is a product of its powers with k = 1, 2, 4, …, none of which is larger than 1, each off by 3.25u, and
    each product by 2√2·u; sums as in ``exponential_sums``.
    """
    import numpy as np

    bits, number = max(int(indices[-1]).bit_length(), 1), len(rule.shares)
    low = min(range(min(bits, _MOST_LOW) + 1), key=lambda m: _work(int(np.count_nonzero(_new(indices >> m))), m, bits))
    high = (indices >> low)[_new(indices >> low)]
    work = number * _work(len(high), low, bits)
    if work > _MOST_WORK:
        raise NotCertified(_WHAT, "it is too long")
    effort.spend(number * (_PLACE + _POWER * bits) + work / 1000, _WHAT)
    with precision(_BITS):
        step = ball(eta)
        powers = [as_doubles([_turn(loss, step * 2**i) for loss in rule.losses]) for i in range(bits)]
        size = sum((share.abs_upper() for share in rule.shares), Ball(0))
    shares, sums = as_doubles(rule.shares), np.zeros((len(high), 1 << low), dtype=np.complex128)
    for at in range(0, number, _TERMS):
        some = slice(at, at + _TERMS)
        turns = [power[some, None] for power in powers]
        table, starts = np.ones_like(turns[0]), np.repeat(shares[some, None], len(high), axis=1)
        for turn in turns[:low]:
            table = np.concatenate([table, table * turn], axis=1)
        for i, turn in enumerate(turns[low:]):
            starts[:, (high >> i) & 1 == 1] *= turn
        sums += product(starts.T, table)
    values = sums[np.searchsorted(high, indices >> low), indices & ((1 << low) - 1)]
    error = UNIT * (size * (7 * bits + 50 + 5 * _TERMS + 2 * (number // _TERMS)) + number)
    return values.conj() if rule.mirrored else values, (error + rule.error).upper()


def _new(rising: Integers) -> Flags:
    """Where each of these, which rise, stands first."""
    import numpy as np

    return np.concatenate([np.ones(1, dtype=np.bool_), rising[1:] != rising[:-1]])


def _work(rows: int, low: int, bits: int) -> float:
    """About how many nanoseconds a term takes, if a table serves so many low bits and there are so many others."""
    return rows * (_FACTOR * (bits - low) + (_PRODUCT << low)) + (_FACTOR << low)


def _turn(loss: ComplexBall, step: Ball) -> ComplexBall:
    """e^{i·step·loss}."""
    sin, cos = (loss.real * step).sin_cos()
    size = (-(loss.imag * step)).exp()
    return ComplexBall(size * cos, size * sin)
