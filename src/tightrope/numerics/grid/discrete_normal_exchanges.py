"""Cells of an exchanged record's loss with discrete Gaussian noise: a table of losses ±ln r_k and what is beyond it.

The losses and masses are those of ``transforms/exchanged_discrete.py``, in floats whose errors are proved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision, upper_float
from tightrope.numerics.discrete_exchange import mass_at_zero
from tightrope.numerics.discrete_normal import mass, tail
from tightrope.numerics.grid.cells import UNIT, Atom, CellLaw, Cells, Floats
from tightrope.numerics.grid.exponentials import exponentials
from tightrope.numerics.grid.growths import loss_gaps
from tightrope.numerics.grid.listing import MOST_LISTED, Listed, listed_losses
from tightrope.numerics.real import ZERO, Real

__all__ = ["ExchangedDiscreteNormalCells"]

_WHAT = "the cells of an exchanged record's loss with discrete Gaussian noise"
_BITS = 160
_REACHES = 18, 12  # standard deviations: beyond, there is a mass of 10⁻⁷⁰; for wide noise 10⁻³²
_WIDE = 10_000
_MOST_VALUES = 3_000_000
_EXPONENT = 590  # of floats
_TINY = 1e-290  # masses below the normal floats are off by less


@dataclass(frozen=True)
class Table:
    """Losses in rising order, and by how much each may be off; masses under P and Q, and their relative errors."""

    losses: Floats
    p: Floats
    q: Floats
    errors: Floats
    slacks: Floats


@dataclass(frozen=True)
class ExchangedDiscreteNormalCells(CellLaw):
    """Noise of this variance, a record that moves it by ``shift``; ``glued``: a sample of a fixed size, else a Poisson
    sample."""

    variance: Fraction
    shift: int
    rate: Fraction
    glued: bool
    scattered = True

    def __post_init__(self) -> None:
        if not 0 < self.rate < 1 or self.shift < 1:
            raise AssertionError("the rate must lie between 0 and 1, the shift be positive")
        if self._last <= self.shift // 2:
            raise NotCertified(_WHAT, "the noise is too narrow")
        if self._last > _MOST_VALUES:
            raise NotCertified(_WHAT, "the noise is too wide")

    @property
    def effort(self) -> float:  # type: ignore[override]  # a property here
        """To find places in a table costs less than normal tails; a long one takes longer."""
        return 0.25 + self._last / 1e6

    @cached_property
    def _last(self) -> int:
        """The last k of the table, as far as floats reach: k²/2v, and the base losses of N(D) and of N(−D)."""
        deviation = math.isqrt(math.ceil(self.variance)) + 1
        seen = deviation * (_REACHES[0] if deviation < _WIDE else _REACHES[1]) + self.shift
        most = 2 * _EXPONENT * self.variance
        reach = most / self.shift + (self.shift if self.glued else -self.shift)
        return min(seen, math.isqrt(math.floor(most)), math.floor(reach / 2))

    @cached_property
    def _table(self) -> Table:
        with precision(_BITS):
            half = float((1 / (2 * ball(self.variance))).mid())
            q, rest = float(ball(self.rate).mid()), float(ball(1 - self.rate).mid())
            size = float((1 / mass(self.variance, Fraction(0))).mid())
        k = np.arange(self.shift // 2 + 1 if self.glued else 1, self._last + 1, dtype=np.float64)
        base, back = self.shift * (2 * k - self.shift) * half, -self.shift * (2 * k + self.shift) * half
        plain = exponentials(-(k * k * half)) * size
        growth, logs, slacks = _growths(q, rest, base)
        under = plain
        if not self.glued:
            other, falls, more = _growths(q, rest, back)
            under, logs, slacks = plain * other, logs - falls, slacks + more
        # A base loss is off by 5·2⁻⁵³ of itself, and a loss by no more; the difference of two is rounded once more. So
        # is each, where it is raised to that of a smaller k: then both are off by as much as the larger one.
        far, growths = np.abs(base if self.glued else back), 1 if self.glued else 2  # the base losses that are used
        slacks = np.maximum.accumulate((slacks + 16 * UNIT * (far + 1)) * (1 + 8 * UNIT))
        over = plain * growth
        errors = (5.5 * half * k * k + 24 + growths * (6 * far + 14)) * UNIT
        losses = np.maximum.accumulate(np.maximum(logs, 0.0))  # they rise; rounding may hide it
        return Table(
            np.concatenate([-losses[::-1], losses]),
            np.concatenate([under[::-1], over]),
            np.concatenate([over[::-1], under]),
            np.concatenate([errors[::-1], errors]),
            np.concatenate([slacks[::-1], slacks]),
        )

    @cached_property
    def _beyond(self) -> tuple[float, float]:
        """At least what P and Q have above the table; below it, it is what Q and P have."""
        with precision(_BITS):
            q, whole, start = ball(self.rate), mass(self.variance, Fraction(0)), self._last + 1
            near, middle, far = (tail(self.variance, start + d) / whole for d in (-self.shift, 0, self.shift))
            under = middle if self.glued else (1 - q) * middle + q * far
            return upper_float((1 - q) * middle + q * near), upper_float(under)

    def cells(self, edges: Floats) -> Cells:
        """Each atom in the cell of its float; what is beyond the table may be in any cell there."""
        table, count = self._table, len(edges) + 1
        starts = np.concatenate([[0], np.searchsorted(table.losses, edges, side="right"), [len(table.losses)]])
        numbers = np.diff(starts)
        seen = np.flatnonzero(numbers)
        over, under = self._beyond
        found = []
        for masses, below, above in ((table.p, under, over), (table.q, over, under)):
            totals, off = np.zeros(count), np.zeros(count)
            totals[seen] = np.add.reduceat(masses, starts[seen])
            off[seen] = np.add.reduceat(masses * table.errors, starts[seen])
            # Sums of n terms ≥ 0 are off by at most n − 1 roundings; ``off`` itself is rounded as often.
            off = (off + totals * ((numbers + 4) * UNIT)) * (1 + 2 * (numbers + 8) * UNIT) + _TINY * (numbers > 0)
            low, high = np.maximum(totals - off, 0.0), totals + off
            high[: seen[0] + 1] += below * (1 + 4 * UNIT)
            high[seen[-1] :] += above * (1 + 4 * UNIT)
            found += [low * (1 - 4 * UNIT), high * (1 + 4 * UNIT)]
        return Cells(found[0], found[1], found[2], found[3], self._slack(edges))

    def parted(self, low: float, high: float, least: float) -> Listed | None:
        """The loss 0, and each other loss with its negative."""
        reach = math.isqrt(math.ceil(2 * self.variance * math.ceil(-math.log(least)))) + 1 + self.shift
        if 2 * reach > MOST_LISTED:
            return None
        found, rest = _every(self, reach)
        with precision(_BITS):
            return listed_losses(found, low, high, least, rest)

    def _slack(self, edges: Floats) -> float:
        """By how much a loss may be off that is not surely beyond all edges."""
        table = self._table
        near = (table.losses + table.slacks >= edges[0]) & (table.losses - table.slacks <= edges[-1])
        return float(np.max(table.slacks, initial=0.0, where=near))

    def atoms(self) -> list[Atom]:
        """The loss 0."""
        return [Atom(ZERO, Real(None, lambda: mass_at_zero(self.variance, self.shift, self.rate, self.glued)))]


def _growths(rate: float, rest: float, base: Floats) -> tuple[Floats, Floats, Floats]:
    """w = 1 − q + q·e^l, off by (6|l| + 14)·2⁻⁵³ of itself; about ln w, and by how much it may be off, for these l."""
    growth = rest + rate * exponentials(base)
    logs = np.log1p(rate * np.expm1(base))
    return growth, logs, np.maximum(*loss_gaps(rate, rest, base, logs))


@lru_cache(maxsize=8)
def _every(law: ExchangedDiscreteNormalCells, reach: int) -> tuple[list[tuple[Ball, Ball]], Ball]:
    """All losses and masses of noise up to ``reach``, and at least the mass of the others."""
    with precision(_BITS):
        v, q, whole = ball(law.variance), ball(law.rate), mass(law.variance, Fraction(0))
        found = [(Ball(0), mass_at_zero(law.variance, law.shift, law.rate, law.glued))]
        for k in range(law.shift // 2 + 1 if law.glued else 1, reach + 1):
            plain = (-(k * k) / (2 * v)).exp() / whole
            over, under = (1 + q * (law.shift * (s * 2 * k - law.shift) / (2 * v)).expm1() for s in (1, -1))
            under = Ball(1) if law.glued else under
            loss = (over / under).log()
            found += [(loss, plain * over), (-loss, plain * under)]
        beyond = [tail(law.variance, reach + 1 + d) / whole for d in (-law.shift, 0, law.shift)]
        return found, 2 * sum(beyond, Ball(0))
