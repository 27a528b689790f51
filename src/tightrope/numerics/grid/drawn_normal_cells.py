"""Cells of Gaussian noise on samples with replacement: the glued laws of one, two, … records exchanged, all at once.

Law j has the shift μ_j; all have the rate q, so that a loss x > 0 is ln(1 + q(e^b − 1)) of one base loss b, which is
turned into z_j = b/μ_j + μ_j/2. That the float b belongs to the edge is proved once, and what rounding does to all z_j
with it: m and h being the floats of μ_j and μ_j/2, off by e_m and e_h, and u = 2⁻⁵³,

|μ_j(z_j − μ_j/2) − b| ≤ 1.02·((2u + e_m/m)·b + u·m·h + 2h·e_m + m·e_h),

and the loss moves by at most its slope q·e^b/w(b) times that, or 1.01 times if that is below 0.009: the slope's
logarithm has a slope below 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tightrope.numerics.balls import lower_float, precision, upper_float
from tightrope.numerics.grid.cells import UNIT, Cells, Floats
from tightrope.numerics.grid.growths import GROWTH_ERROR, growths, loss_gaps
from tightrope.numerics.grid.normal_cells import mirrored
from tightrope.numerics.grid.normal_exchanges import GluedNormalCells, joined
from tightrope.numerics.grid.normal_masses import BLOCK, Centres, masses_between
from tightrope.numerics.real import Real

__all__ = ["DrawnNormalCells"]

_BITS = 160
_TINY = 1e-290  # products below the normal floats are off by less
_CLOSE = 0.009
_SHORT = 4 * BLOCK  # cells of all laws
_MAIN = 1e-12  # of the heaviest row: rows that are surely cut into cells
_NOTHING = 1e-13  # of the lightest cell: rows that need not be


class DrawnNormalCells:
    """``parts``: (share, glued law), the rate of all of them the same."""

    def __init__(self, parts: Sequence[tuple[Real, GluedNormalCells]]) -> None:
        self.parts = parts
        self.rate: Fraction = parts[0][1].rate

    @cached_property
    def _shares(self) -> tuple[Floats, Floats]:
        """At least and at most the shares."""
        with precision(_BITS):
            found = [share.ball() for share, _ in self.parts]
            low, high = [max(lower_float(one), 0.0) for one in found], [upper_float(one) for one in found]
        return np.array(low), np.array(high)

    @cached_property
    def _columns(self) -> tuple[Centres, Centres]:
        """The shifts and their halves."""
        both = [[law.shift for _, law in self.parts], [law.middle for _, law in self.parts]]
        shifts, halves = (
            Centres(np.array([[one.value] for one in some]), np.array([[one.error] for one in some])) for some in both
        )
        return shifts, halves

    def cells(self, edges: Floats) -> Cells:
        """Both sides; a cell around 0 has a part on each."""
        up, down = self._side(edges[edges > 0]), mirrored(self._side(-edges[edges < 0][::-1]))
        return joined(down, up, not np.any(edges == 0))

    def _side(self, losses: Floats) -> Cells:
        """The cells above 0."""
        rest, q = self.parts[0][1].weights
        with np.errstate(all="ignore"):
            base = np.maximum.accumulate(np.log1p(np.expm1(losses) / q))
        ends = np.concatenate(([0.0], base, [np.inf]))
        found = [np.empty(ends.size - 1) for _ in range(4)]
        short = ends.size * len(self.parts) <= _SHORT
        columns = ends.size if short else max(BLOCK // len(self.parts), 1)
        for start in range(0, ends.size - 1, columns):
            part = slice(start, start + columns)
            found[0][part], found[1][part], found[2][part], found[3][part] = self._between(
                ends[start : part.stop + 1], short
            )
        p_low, p_high = rest * found[0] + q * found[2], rest * found[1] + q * found[3]
        less, more = 1 - 6 * UNIT, 1 + 6 * UNIT
        return Cells(p_low * less, p_high * more, found[0], found[1], self._slack(losses, base))

    def _between(self, base: Floats, every: bool) -> tuple[Floats, Floats, Floats, Floats]:
        """At least and at most what the laws around 0 have between these base losses, and those around their shifts;
        ``every``: to look for laws that need not be cut would take longer than to cut them.

        Cells begin at the floats next to μ/2 (so do those whose lower edge fell there): between the two no density is
        above 0.4."""
        shifts, halves = self._columns
        z = base / shifts.value + halves.value
        first = z[:, :-1] <= halves.value
        off = np.where(first, 0.41 * halves.error, 0.0) if first.any() else None
        around = Centres(np.zeros_like(shifts.value), np.zeros_like(shifts.value)), shifts
        rows = np.arange(len(self.parts))
        found = [self._added(z, one, off, rows) if every else self._mixed(z, one, off) for one in around]
        error = (len(self.parts) + 5) * UNIT  # of products and sums of numbers that are not negative
        (rest_low, rest_high), (low, high) = (
            (np.maximum(least * (1 - error) - _TINY, 0.0), most * (1 + error) + _TINY) for least, most in found
        )
        return rest_low, rest_high, low, high

    def _mixed(self, z: Floats, centres: Centres, off: Floats | None) -> tuple[Floats, Floats]:
        """The sum of the rows, each times its share. A row of which hardly anything lies between the first and the last
        edge, beside the others, is not cut into cells: all of that may be in any cell."""
        _, highs = self._shares
        whole = masses_between(z[:, :1], z[:, -1:], centres)[1][:, 0]
        if off is not None:
            whole = whole * (1 + 2 * UNIT) + off[:, 0]
        weights = whole * highs
        main = weights >= _MAIN * float(weights.max())
        low, high = self._added(z, centres, off, np.flatnonzero(main))
        light = ~main & (weights <= _NOTHING * float(low.min()))
        others = np.flatnonzero(~main & ~light)
        if others.size:
            more = self._added(z, centres, off, others)
            low, high = low + more[0], high + more[1]
        return low, high + float(weights[light].sum())

    def _added(self, z: Floats, centres: Centres, off: Floats | None, rows: NDArray[np.intp]) -> tuple[Floats, Floats]:
        lows, highs = self._shares
        of = Centres(np.asarray(centres.value)[rows], np.asarray(centres.error)[rows])
        low, high = masses_between(z[rows, :-1], z[rows, 1:], of)
        if off is not None:
            low = np.maximum(low * (1 - 2 * UNIT) - off[rows], 0.0)
            high = high * (1 + 2 * UNIT) + off[rows]
        return (low * lows[rows, None]).sum(axis=0), (high * highs[rows, None]).sum(axis=0)

    @cached_property
    def _moved(self) -> tuple[float, float]:
        """By how much base losses b are off: at most the first times b, and the second."""
        shifts, halves = self._columns
        mu, half = np.asarray(shifts.value), np.asarray(halves.value)
        rising = 2 * UNIT + shifts.error / mu
        fixed = UNIT * mu * half + 2 * half * shifts.error + mu * halves.error
        return 1.02 * float(rising.max()), 1.02 * float(fixed.max())

    def _slack(self, losses: Floats, base: Floats) -> float:
        """How far the losses at the z_j are from these."""
        rest, q = self.parts[0][1].weights
        rising, fixed = self._moved
        worst = 0.0
        for at in range(0, losses.size, BLOCK):
            b, x = base[at : at + BLOCK], losses[at : at + BLOCK]
            above, below = loss_gaps(q, rest, b, x)
            grown = q * (1 + growths(b))
            off = rising * b + fixed
            moved = 1.01 * off * (grown / (rest + grown)) * (1 + 4 * GROWTH_ERROR)
            worst = max(worst, float(np.max(np.where(off < _CLOSE, np.maximum(above, below) + moved, np.inf))))
        return worst * (1 + 8 * UNIT)
