"""Real numbers that are dear to compute: their balls are kept, one for each of the last few precisions."""

from __future__ import annotations

from collections.abc import Callable

from flint import ctx

from tightrope.numerics.balls import Ball, precision, sharp
from tightrope.numerics.real import Real

__all__ = ["kept", "remembered", "sharply"]

_STEP, _KEPT = 64, 4  # bits between precisions at which it is found, and how many of these are kept
_SPARE = 12  # bits that a number may have less than the present precision


def remembered(compute: Callable[[], Ball]) -> Real:
    """The number that ``compute`` gives, found once for precisions that are about the same: more bits than are asked
    for do as well."""
    found: dict[int, Ball] = {}

    def known() -> Ball:
        bits = -(-ctx.prec // _STEP) * _STEP
        value = found.get(bits)
        if value is None:
            if bits == ctx.prec:
                value = compute()
            else:
                with precision(bits):
                    value = compute()
            while len(found) >= _KEPT:
                del found[next(iter(found))]
            found[bits] = value
        return value

    return Real(None, known)


def kept(number: Real) -> Real:
    """The same number, found once for each precision."""
    return number if number.rational is not None else remembered(number.ball)


def sharply(compute: Callable[[], Ball]) -> Real:
    """The same to relative accuracy, where more bits bring that: for small differences of large numbers."""
    return remembered(lambda: sharp(compute, int(ctx.prec) - _SPARE, start=int(ctx.prec)))
