"""Ball arithmetic: the door to flint.

A ball is an interval [mid ± rad] that is proved to contain the number meant. Every operation keeps that promise at
every precision; precision only decides how wide the ball is. flint keeps ONE precision for the whole process, so it is
set under a lock: a computation holds the lock from its first operation to its last.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from fractions import Fraction
from threading import RLock

from flint import acb as ComplexBall
from flint import arb as Ball
from flint import arb_poly as BallPolynomial
from flint import ctx, fmpq

from tightrope.numerics.exact import LARGEST

__all__ = [
    "Ball",
    "BallPolynomial",
    "ComplexBall",
    "INFINITY",
    "LARGEST",
    "ball",
    "between",
    "certain",
    "lower_float",
    "precision",
    "sharp",
    "upper_float",
]

INFINITY = Ball("inf")
NEGLIGIBLE = Ball(2) ** -7000
_lock = RLock()


class _Precision:
    """A context, written out since it is entered some hundred times for every answer."""

    __slots__ = ("_before", "_bits")

    def __init__(self, bits: int) -> None:
        self._bits = bits

    def __enter__(self) -> None:
        _lock.acquire()
        try:
            self._before = ctx.prec
            ctx.prec = self._bits
        except BaseException:
            _lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            ctx.prec = self._before
        finally:
            _lock.release()


def precision(bits: int) -> AbstractContextManager[None]:
    """Compute with ``bits`` bits inside; other threads wait."""
    return _Precision(bits)


def ball(x: int | Fraction | float | Ball) -> Ball:
    """The number as a ball. Rationals are rounded at the present precision, with the rounding inside the ball.

    A float here is the binary number it holds: parameters must be made exact (``exact``) before they come here.
    """
    if isinstance(x, Ball):
        return x
    if isinstance(x, Fraction):
        return Ball(fmpq(x.numerator, x.denominator))
    return Ball(x)


def between(low: Ball, high: Ball) -> Ball:
    """The ball that covers two balls and everything between them."""
    return low.union(high)


def lower_float(b: Ball) -> float:
    """A float that is not above anything in the ball. Never NaN: an unknown number has the lower end -inf."""
    if b.is_nan():
        return -math.inf
    with precision(128):  # an end is rounded outward at the present precision, which may be anybody's
        low = b.lower()
    f = float(low)
    if f == math.inf:
        return math.inf if low == INFINITY else LARGEST
    if f == -math.inf:
        return f
    return f if Ball(f) <= low else math.nextafter(f, -math.inf)


def upper_float(b: Ball) -> float:
    """A float that is not below anything in the ball. Never NaN: an unknown number has the upper end +inf."""
    with precision(128):
        mirrored = -b
    return -lower_float(mirrored)


def certain(b: Ball, bits: int) -> bool:
    """Whether the ball is finite and known to ``bits`` relative bits (an exact zero is)."""
    return bool(b.is_finite()) and (bool(b.is_zero()) or int(b.rel_accuracy_bits()) >= bits)


def sharp(evaluate: Callable[[], Ball], bits: int = 60, start: int = 80, limit: int = 6000) -> Ball:
    """Evaluate with more and more bits until the ball is known to ``bits`` relative bits or ``limit`` is passed.

    The ball returned is always a proof; past the limit it is just wider. A number that is surely below every number
    that can be asked about (2^−7000) needs no more digits, nor does a ball that two doublings did not narrow.
    """
    working, stuck, before = start, 0, INFINITY
    while True:
        with precision(working):
            value = evaluate()
        if certain(value, bits) or working >= limit or abs(value) < NEGLIGIBLE or stuck == 2:
            return value
        width = value.rad()
        stuck = stuck + 1 if working > 500 and width.is_finite() and not width < before / 2 else 0
        before = width
        working *= 2
