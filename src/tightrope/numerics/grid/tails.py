"""Φ(−z) of many floats at once with a proved relative error: additions and products of IEEE doubles only.

Around each anchor c = i/32 ≥ 0 the tail is its Taylor polynomial; the coefficients come from balls, rounded once.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.grid.cells import UNIT, Floats

#: |computed − Φ(−z)| ≤ TAIL_ERROR·Φ(−z) for z ≤ 37. Proof: z − c is exact (Sterbenz) and |z − c| ≤ 1/64. In Horner's
#: scheme the term of degree k is off by at most 2k + 2 roundings, its coefficient's included, so the sum by at most
#: 2⁻⁵³·1.01·Σ(2k + 2)|a_k|/64^k; what is left out is below Σ_{k>15} |a_k|/64^k. Divided by Φ(−c − 1/64), the least of
#: the values, both together stay below 12·2⁻⁵³ at every anchor: the tests compute them in balls.
#: For z < 0 the value is 1 − Φ(z), at least 1/2, and Φ(z) at most 1/2: one more rounding.
TAIL_ERROR = 14 * UNIT
TAIL_REACH = 37.0  # Φ(−37) is about 6·10⁻³⁰⁰
_PER_UNIT = 32
_DEGREE = 15


def anchor_coefficients(anchor: Ball, degree: int) -> list[Ball]:
    """Φ(−c − d) = Σ a_k d^k: a_0 = Φ(−c) and a_{k+1} = (−1)^{k+1}·φ(c)·He_k(c)/(k + 1)!."""
    scaled = -(-anchor * anchor / 2).exp() / (2 * Ball.pi()).sqrt()
    found = [(anchor / Ball(2).sqrt()).erfc() / 2]
    before, hermite = Ball(0), Ball(1)
    for k in range(degree):
        scaled /= k + 1
        found.append(scaled * hermite)
        before, hermite = hermite, anchor * hermite - k * before
        scaled = -scaled
    return found


@cache
def anchor_table(unit: int) -> Floats:
    """The anchors from ``unit`` on, below the next whole number: a row for each power, a column for each anchor."""
    with precision(128):
        anchors = [unit + Ball(i) / _PER_UNIT for i in range(_PER_UNIT)]
        return np.array([[float(a.mid()) for a in anchor_coefficients(c, _DEGREE)] for c in anchors]).T.copy()


def _table(columns: NDArray[np.intp]) -> Floats:
    """The tables of the units that occur, side by side; the others are not filled."""
    table = np.zeros((_DEGREE + 1, (int(TAIL_REACH) + 1) * _PER_UNIT))
    for unit in np.flatnonzero(np.bincount(columns // _PER_UNIT)):
        table[:, unit * _PER_UNIT : (unit + 1) * _PER_UNIT] = anchor_table(int(unit))
    return table


def upper_tails(z: Floats) -> Floats:
    """Φ(−z), off by at most TAIL_ERROR of itself for z ≤ 37. Beyond 37 it is Φ(−37), which is only an upper bound."""
    size = np.minimum(np.abs(z), TAIL_REACH)
    index = np.rint(size * _PER_UNIT)
    step = size - index / _PER_UNIT
    column = index.astype(np.intp)
    table = _table(column)
    value = table[_DEGREE][column]
    for row in table[_DEGREE - 1 :: -1]:
        value = value * step + row[column]
    result: Floats = np.where(z < 0, 1 - value, value)
    return result
