"""A part of a law of the loss: the outcomes whose loss lies between two numbers, or all others.

The cells enclose the masses of that part. Where an edge lies is only known up to a slack, so the outcomes within a
small margin of the two numbers count in the upper ends of the masses and not in the lower ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightrope.numerics.balls import precision
from tightrope.numerics.grid.cells import UNIT, Atom, Cells, DerivedLaw, Floats
from tightrope.numerics.real import ZERO, Real

__all__ = ["Piece"]

_MARGIN = 2.0**-36  # relatively: the mass within it is nothing; slacks are mostly below it
_TRIALS = 2


@dataclass(frozen=True, eq=False)
class Piece(DerivedLaw):
    """What has losses between ``low`` and ``high`` (``inside``), or what has not. ``low`` may be −∞, ``high`` ∞."""

    low: float
    high: float
    inside: bool

    def cells(self, edges: Floats) -> Cells:
        """The whole's cells between these edges and the borders, those of the other part left out."""
        smallest = min((abs(x) for x in (self.low, self.high) if math.isfinite(x)), default=1.0)
        margin = _MARGIN * smallest
        for _ in range(_TRIALS):
            around = (self.low - margin, self.low + margin, self.high - margin, self.high + margin)
            first, second, third, fourth = around
            own = (edges >= first) & (edges <= fourth) if self.inside else (edges <= second) | (edges >= third)
            finer = np.union1d(edges[own], [x for x in around if math.isfinite(x)])
            found = self.law.cells(finer)
            if found.slack < margin:
                return self._gathered(edges, finer, found, around)
            margin = 4 * found.slack
        raise ArithmeticError("the borders of a part of a law are not known")

    def _gathered(self, edges: Floats, finer: Floats, found: Cells, around: tuple[float, float, float, float]) -> Cells:
        """The cells that surely belong here, and those that may."""
        bottoms, tops = np.append(-np.inf, finer), np.append(finer, np.inf)
        sure, maybe = (
            ((bottoms >= a) & (tops <= b)) if self.inside else ((tops <= c) | (bottoms >= d))
            for a, b, c, d in (
                (around[1], around[2], around[0], around[3]),
                (around[0], around[3], around[1], around[2]),
            )
        )
        places = np.searchsorted(edges, tops)
        low, high = (
            [_gathered(places[of], one[of], edges.size + 1) for one in ends]
            for of, ends in ((sure, (found.p_low, found.q_low)), (maybe, (found.p_high, found.q_high)))
        )
        less, more = 1 - 4 * UNIT, 1 + 4 * UNIT  # a cell is the sum of five at most
        return Cells(low[0] * less, high[0] * more, low[1] * less, high[1] * more, found.slack)

    def atoms(self) -> list[Atom]:
        """Those of the whole that belong here."""
        return [atom for atom in self.law.atoms() if self._within(atom) == self.inside]

    def _within(self, atom: Atom) -> bool:
        with precision(100):
            loss = atom.loss.ball()
            if loss > self.low and loss < self.high:
                return True
            if loss < self.low or loss > self.high:
                return False
        raise ArithmeticError("an atom is at the border of a part of a law")

    def infinite(self) -> Real:
        """An infinite loss is outside."""
        return ZERO if self.inside else self.law.infinite()


def _gathered(places: NDArray[np.int64], masses: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(places, masses, size), dtype=np.float64)
