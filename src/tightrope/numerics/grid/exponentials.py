"""e^x of many floats at once with a proved error: additions and products of IEEE doubles only.

x = (64k + i)·ln 2/64 + r with |r| ≤ ln 2/128 + 2⁻³⁰; 2^{i/64} comes from a ball and is rounded once, e^r is a
polynomial. The multiple of ln 2/64 is subtracted in two pieces, the first of which is a product without rounding.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.grid.cells import UNIT, Floats

#: |computed − e^x| ≤ EXP_ERROR·e^x for |x| ≤ 600. Proof: with |x| ≤ 600 the number m = 64k + i has at most 16 bits,
#: and so m·_LARGE is exact, as _LARGE has 36; the difference x − m·_LARGE is exact (Sterbenz, or both are multiples
#: of a common unit below 2⁻⁵³·0.01); m·_SMALL and the last subtraction are off by at most 2⁻⁵³(2⁻³⁰ + 0.0055),
#: absolutely, and so is e^r relatively. The polynomial leaves out less than r⁷/7!·1.01 ≤ 3·10⁻²⁰ and rounds by less
#: than 1.1·2⁻⁵³; the product with the table, itself rounded once, adds 2·2⁻⁵³. Together below 4·2⁻⁵³; 6 is used.
EXP_ERROR = 6 * UNIT
_REACH = 600.0
_PARTS, _MANTISSA = 64, 52
_BLOCK = 2**13


@cache
def _table() -> tuple[Floats, float, float]:
    """2^{i/64}, and ln 2/64 as a number of 36 bits and a rest."""
    with precision(120):
        two = Ball(2)
        table = np.array([float((two ** (Ball(i) / _PARTS)).mid()) for i in range(_PARTS)])
        unit = Ball.const_log2() / _PARTS
        large = np.floor(float(unit.mid()) * 2.0**42) / 2.0**42  # ln 2/64 is about 2⁻⁶·⁵: 36 bits
        small = float((unit - Ball(float(large))).mid())
    return table, float(large), small


def exponentials(x: Floats) -> Floats:
    """e^x, off by at most EXP_ERROR of itself; |x| ≤ 600."""
    if not np.all(np.abs(x) <= _REACH):
        raise ArithmeticError("an exponent is beyond the range of these exponentials")
    if x.size > _BLOCK:  # in pieces that stay in the processor's cache
        found = np.empty(x.size)
        for at in range(0, x.size, _BLOCK):
            found[at : at + _BLOCK] = exponentials(x[at : at + _BLOCK])
        return found
    table, large, small = _table()
    count = np.rint(x * (1 / (large + small)))
    rest = x - count * large
    rest -= count * small
    power = rest * (1 / 720)
    for factor in (1 / 120, 1 / 24, 1 / 6, 0.5, 1.0):
        power += factor
        power *= rest
    whole = count.astype(np.int64)
    power += 1
    power *= table[whole & _PARTS - 1]
    power.view(np.int64)[...] += (whole >> _PARTS.bit_length() - 1) << _MANTISSA  # times 2^k: no number is subnormal
    return power
