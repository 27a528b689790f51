"""Losses with many atoms, gathered in cells: a table of floats whose errors are proved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightrope.numerics.grid.cells import UNIT, CellLaw, Cells, Floats

__all__ = ["TableCells"]

_TINY = 1e-290  # masses below the normal floats are off by less


@dataclass(frozen=True, eq=False)
class TableCells(CellLaw):
    """Atoms in any order. Each loss is off by at most ``loss_error``; a mass under P (Q) by ``p_errors`` (``q_errors``)
    of itself. ``below`` and ``above`` bound what P and Q have beyond the least and the greatest loss of the table."""

    losses: Floats
    p: Floats
    q: Floats
    loss_error: float
    p_errors: Floats
    q_errors: Floats
    below: tuple[float, float] = (0.0, 0.0)
    above: tuple[float, float] = (0.0, 0.0)

    def cells(self, edges: Floats) -> Cells:
        """Each atom in the cell of its float; what is beyond the table may be in any cell there."""
        count = len(edges) + 1
        places = np.searchsorted(edges, self.losses)
        first, last = int(places.min()), int(places.max())
        numbers = np.bincount(places, minlength=count)
        found = []
        for masses, errors, under, over in zip(
            (self.p, self.q), (self.p_errors, self.q_errors), self.below, self.above, strict=True
        ):
            total = np.bincount(places, masses, count)
            off = np.bincount(places, masses * errors, count)
            # Sums of n terms ≥ 0 are off by at most n − 1 roundings; ``off`` itself is rounded as often.
            off = (off + total * ((numbers + 4) * UNIT)) * (1 + 2 * (numbers + 8) * UNIT) + _TINY * (numbers > 0)
            low, high = np.maximum(total - off, 0.0), total + off
            high[: first + 1] += under * (1 + 4 * UNIT)
            high[last:] += over * (1 + 4 * UNIT)
            found += [low * (1 - 4 * UNIT), high * (1 + 4 * UNIT)]
        return Cells(found[0], found[1], found[2], found[3], self.loss_error)
