"""e^{ik·angle} for many angles and k at once, with a proved error: whole numbers, sums and products of IEEE doubles.

An angle is a number of turns in fixed point, of 112 bits; k times it, modulo 1, is exact but for the last of 64 bits.
The nearest of 1024 parts of a turn comes from a table, made from balls and rounded once; for the rest r, |r| ≤ π/1024,
e^{ir} − 1 is a polynomial.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Complexes

    Parts = NDArray[np.uint64]

__all__ = ["TURNS_ERROR", "turns", "turns_at"]

#: |computed − e^{ik·angle}| ≤ TURNS_ERROR·2⁻⁵³. Proof, with u = 2⁻⁵³: the table is off by at most 2.2u. r is off by
#: 0.2u for the angle (_SURE), 2π·2⁻⁶³ for the last bits, and 3u|r| for its rounding. The polynomial leaves out less
#: than |r|⁶/720 < 0.02u; it and its product with the table have sizes of at most 0.0031, and round by less than 10u
#: of that. The last sum rounds by u. Together below 3.6u.
TURNS_ERROR = 4
_BITS, _FRACTION, _LOW = 160, 112, 48
_SURE = Ball(2) ** -58  # turns, of the angle times the largest k
_PARTS, _REST = 1024, 54  # of a turn in the table; bits of the rest
_MOST = 2**16
_BLOCK = 2**14  # numbers at a time, which stay in the processor's cache


@cache
def _table() -> Complexes:
    import numpy as np

    with precision(_BITS):
        pairs = [(2 * Ball(k) / _PARTS).sin_cos_pi() for k in range(_PARTS)]
    return np.array([complex(float(cos.mid()), float(sin.mid())) for sin, cos in pairs])


def turns(angles: Sequence[Ball], number: int) -> Complexes:
    """A row of e^{ik·angle} for k = 0 … number − 1 for every angle."""
    import numpy as np

    if not 0 < number <= _MOST:
        raise NotCertified("a line of doubles", f"it has {number} values in a row")
    high, low = _fractions(angles, number)
    result = np.empty((len(angles), number), dtype=np.complex128)
    rows = max(_BLOCK // number, 1)
    for at in range(0, len(angles), rows):
        some = slice(at, at + rows)
        for first in range(0, number, _BLOCK):
            columns = slice(first, min(first + _BLOCK, number))
            k = np.arange(columns.start, columns.stop, dtype=np.uint64)
            result[some, columns] = _turned(high[some, None] * k + (low[some, None] * k >> np.uint64(_LOW)))
    return result


def turns_at(angles: Sequence[Ball], numbers: Integers) -> Complexes:
    """A row of e^{ik·angle} for these k below 2³² for every angle: the product of two, off by 2·TURNS_ERROR + 3."""
    import numpy as np

    whole, rest = np.divmod(numbers.astype(np.uint64), np.uint64(_MOST))
    with precision(_BITS):
        steps = [angle * _MOST for angle in angles]
    result = np.ones((len(angles), len(numbers)), dtype=np.complex128)
    for places, some in ((whole, steps), (rest, angles)):
        if not places.any():
            continue
        high, low = _fractions(some, int(places.max()) + 1)
        result *= _turned(high[:, None] * places + (low[:, None] * places >> np.uint64(_LOW)))
    return result


def _fractions(angles: Sequence[Ball], number: int) -> tuple[Parts, Parts]:
    """The angles in turns modulo 1, times 2^112: their upper bits and the other ones."""
    import numpy as np

    high, low, mask = [], [], (1 << _FRACTION) - 1
    with precision(_BITS):
        turn, most = 2 * Ball.pi(), _SURE / number
        for angle in angles:
            part = angle / turn
            if not part.rad() < most:
                raise NotCertified("a line of doubles", "an angle is too wide to be rounded")
            mantissa, exponent = part.mid().man_exp()
            shift = int(exponent) + _FRACTION
            whole = (int(mantissa) << shift if shift >= 0 else int(mantissa) >> -shift) & mask
            high.append(whole >> _LOW)
            low.append(whole & ((1 << _LOW) - 1))
    return np.array(high, dtype=np.uint64), np.array(low, dtype=np.uint64)


def _turned(parts: Parts) -> Complexes:
    """e^{2πi·part/2⁶⁴}."""
    import numpy as np

    nearest = (parts + np.uint64(1 << (_REST - 1))) >> np.uint64(_REST)  # beyond the last it wraps, as it should
    rest = (parts - (nearest << np.uint64(_REST))).view(np.int64) * (2 * np.pi * 2.0**-64)
    square = rest * rest
    small = np.empty(parts.shape, dtype=np.complex128)
    small.real = square * (square * (1 / 24) - 0.5)
    small.imag = rest * (square * (square * (1 / 120) - 1 / 6) + 1.0)
    exact = _table()[nearest]
    result: Complexes = exact + exact * small
    return result
