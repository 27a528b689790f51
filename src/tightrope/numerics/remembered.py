"""Real numbers that are dear to compute: their balls are kept, one for each of the last precisions."""

from __future__ import annotations

from collections.abc import Callable

from flint import ctx

from tightrope.numerics.balls import Ball
from tightrope.numerics.real import Real

__all__ = ["kept", "remembered"]

_KEPT = 4


def remembered(compute: Callable[[], Ball]) -> Real:
    """The number that ``compute`` gives at the present precision, found once for each precision."""
    found: dict[int, Ball] = {}

    def known() -> Ball:
        bits = int(ctx.prec)
        value = found.get(bits)
        if value is None:
            value = compute()
            while len(found) >= _KEPT:
                del found[next(iter(found))]
            found[bits] = value
        return value

    return Real(None, known)


def kept(number: Real) -> Real:
    """The same number, found once for each precision."""
    return number if number.rational is not None else remembered(number.ball)
