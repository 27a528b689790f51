"""How much N(c, 1) puts between neighbours of a row of floats: enclosures with small relative errors, however narrow
the cells are and however far out they lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightrope.numerics.balls import Ball, precision, sharp, upper_float
from tightrope.numerics.grid.cells import UNIT, Floats
from tightrope.numerics.grid.exponentials import EXP_ERROR, exponentials
from tightrope.numerics.grid.tails import TAIL_ERROR, TAIL_REACH, upper_tails
from tightrope.numerics.real import Real

FLOOR = 1e-290  # below it masses are only said to be below it, so that no product ever underflows
BLOCK = 2**13  # so many floats at once stay in the cache
_BEYOND = 37.5  # Φ(−37) is below FLOOR
_DENSE = 34.0  # up to here densities are within reach of the exponentials
_NARROW = 1 / 16
_DENSITY = 0.3989422804014327  # 1/√(2π), rounded


@dataclass(frozen=True)
class Rounded:
    """A float and how far the number it stands for may be from it."""

    value: float
    error: float


def rounded(number: Real) -> Rounded:
    """The float nearest to a number, or nearly."""
    exact = sharp(number.ball)
    value = float(exact.mid())
    with precision(128):
        return Rounded(value, upper_float(abs(exact - Ball(value))))


def normal_masses(edges: Floats, centre: Rounded) -> tuple[Floats, Floats]:
    """Lower and upper bounds of N(c, 1)'s mass below the first edge, between neighbours, and above the last: one cell
    more than there are edges. The edges are exact and never fall; ±∞ is allowed; an edge more than 37 from the centre
    may stand for any number beyond 37 on its side."""
    ends = np.concatenate(([-np.inf], edges, [np.inf]))
    low, high = np.empty(edges.size + 1), np.empty(edges.size + 1)
    for start in range(0, low.size, BLOCK):
        part = slice(start, start + BLOCK)
        ends_here = ends[start : start + BLOCK + 1]
        low[part], high[part] = masses_between(ends_here[:-1], ends_here[1:], Centres(centre.value, centre.error))
    return low, high


@dataclass(frozen=True)
class Centres:
    """One centre for all cells, or a column of one for each row of them."""

    value: float | Floats
    error: float | Floats
    rounding: float = 0.0  # how far edges and widths may be from what they stand for, relatively

    def of(self, rows: NDArray[np.intp]) -> Centres:
        """For single cells of these rows."""
        if isinstance(self.value, float) or isinstance(self.error, float):
            return self
        return Centres(self.value[rows, 0], self.error[rows, 0], self.rounding)


def masses_between(
    below: Floats, above: Floats, centres: Centres, width: Floats | None = None
) -> tuple[Floats, Floats]:
    """The same of single cells, in rows of cells if there are as many centres: not too many at once. ``width``: where
    edges are rounded, their distances if they are known better."""
    with np.errstate(invalid="ignore"):  # ∞ − ∞ is not narrow
        width = above - below if width is None else width
        middle = 0.5 * (below + above) - centres.value
        size = np.abs(middle)
        narrow = (width * (size + 1) <= _NARROW) & (size <= _DENSE)
    if narrow.all():
        low, high = _narrow(width, middle, centres)
    else:
        low, high = np.zeros_like(middle), np.full_like(middle, FLOOR)
        high[np.isinf(below) & (below == above)] = 0.0
        at = np.nonzero(narrow)
        if at[0].size:
            low[at], high[at] = _narrow(width[at], middle[at], centres.of(at[0]))
        with np.errstate(invalid="ignore"):
            near = (below - centres.value <= _BEYOND) & (above - centres.value >= -_BEYOND)
        at = np.nonzero(~narrow & near)  # the others are below FLOOR
        if at[0].size:
            low[at], high[at] = _wide(below[at], above[at], centres.of(at[0]))
    return np.where(low < FLOOR, 0.0, low), np.where((high > 0) & (high < FLOOR), FLOOR, high)


def _narrow(width: Floats, middle: Floats, centre: Centres) -> tuple[Floats, Floats]:
    """φ(m)·w·Σ He_{2k}(m)(w/2)^{2k}/(2k + 1)!, for w(|m| + 1) ≤ 1/16.

    The first term left out is at most 105·32⁻⁸/9! < 2.5·2⁻⁵³, as |He₈(m)| ≤ E(m² + N²)⁴ ≤ 105(|m| + 1)⁸; the others are
    far smaller. The series rounds once (what follows 1 is below 2·10⁻⁴), the products, the constant, the width and the
    last factor seven times: below 11 beside the exponential, 12 are used. The exponent is off by m²/2·2⁻⁵³. A middle
    that is off by e changes the mass by a factor within e^{±e(|m| + w/2)}. Edges that are rounded have sizes of at most
    |m| + |c| + w/2.
    """
    square, step = middle * middle, width * width * 0.25
    size = np.abs(middle)
    fourth = square * (square - 6) + 3
    sixth = square * (square * (square - 15) + 45) - 15
    series = 1 + step * ((square - 1) * (1 / 6) + step * (fourth * (1 / 120) + step * (sixth * (1 / 5040))))
    mass = exponentials(-0.5 * square) * (width * series * _DENSITY)
    off = (2 * size + np.abs(centre.value)) * (1.01 * UNIT) + centre.error
    if centre.rounding:
        off += centre.rounding * (size + np.abs(centre.value) + 1)
    relative = 1.01 * (off * (size + 1) + (square * 0.5 + 12) * UNIT + (EXP_ERROR + centre.rounding))
    return mass * (1 - relative), mass * (1 + relative)


def _wide(below: Floats, above: Floats, centre: Centres) -> tuple[Floats, Floats]:
    """A difference of two tails, on the side on which they are small."""
    start, end = below - centre.value, above - centre.value
    with np.errstate(invalid="ignore"):  # −∞ + ∞: either side will do
        right = start + end > 0
    near = _tail_bounds(np.where(right, start, -end), centre)
    far = _tail_bounds(np.where(right, end, -start), centre)
    low, high = near[0] - far[1], near[1] - far[0]
    return np.maximum(low * (1 - 2 * UNIT), 0.0), high * (1 + 2 * UNIT)


def _tail_bounds(z: Floats, centre: Centres) -> tuple[Floats, Floats]:
    """Φ(−z) where z is a float minus the centre: the hazard rate is below 1 + z₊, so an argument off by e changes the
    tail by a factor within e^{±e(1 + z₊ + e)}. Beyond the reach between 0 and the last value; at ±∞ exactly 0 or 1."""
    tails = upper_tails(z)
    near = np.clip(z, -TAIL_REACH, TAIL_REACH)
    off = np.abs(near) * (1.01 * UNIT) + centre.error + centre.rounding * (np.abs(near) + np.abs(centre.value))
    relative = TAIL_ERROR + 1.01 * off * (1 + np.maximum(near, 0.0)) + 3 * UNIT
    low = np.where(z > TAIL_REACH, 0.0, tails * (1 - relative))
    high = np.minimum(tails * (1 + relative), 1.0)
    infinite = np.isinf(z)
    if np.any(infinite):
        ends = np.where(z > 0, 0.0, 1.0)
        low, high = np.where(infinite, ends, low), np.where(infinite, ends, high)
    return low, high
