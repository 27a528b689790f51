"""Losses with many atoms, gathered in cells: a table of floats whose errors are proved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tightrope.numerics.balls import Ball, certain, precision, upper_float
from tightrope.numerics.grid.cells import UNIT, Atom, CellLaw, Cells, Floats
from tightrope.numerics.real import ZERO, Real

__all__ = ["TableCells", "table_of"]

_BITS = 160
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
    leak: Real = ZERO
    scattered = True

    def infinite(self) -> Real:
        """The mass at +∞."""
        return self.leak

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


def table_of(atoms: Sequence[Atom], leak: Real) -> TableCells | None:
    """The same atoms in floats; None if some are not known well enough. Those whose P or Q is beyond floats, all of
    them above or below the others, are bounded."""
    with precision(_BITS):
        balls = [(atom.loss.ball(), atom.mass.ball()) for atom in atoms]
        rows = sorted(((loss, mass, mass * (-loss).exp()) for loss, mass in balls), key=lambda row: float(row[0].mid()))
        if any(not certain(one, 60) for _, *masses in rows for one in masses):
            return None
        kept = [i for i, (_, *masses) in enumerate(rows) if all(float(one.mid()) > _TINY for one in masses)]
        if not kept:
            return None
        first, last = kept[0], kept[-1] + 1
        below, above = (_bound(rows[:first]), _bound(rows[last:]))
        rows = rows[first:last]
        losses, p, q = (np.array([float(row[k].mid()) for row in rows]) for k in range(3))
        off = max(float(loss.rad()) for loss, _, _ in rows)
    if len(rows) > len(kept) or not (np.isfinite(losses).all() and np.isfinite(q).all()):
        return None
    # A float is off by half a unit in its last place, and the middle of a ball that is known to 60 bits by less.
    errors = np.full(len(rows), 2 * UNIT)
    slack = float(np.abs(losses).max()) * 2 * UNIT + 2 * off
    return TableCells(losses, p, q, slack, errors, errors, below, above, leak)


def _bound(rows: Sequence[tuple[Ball, Ball, Ball]]) -> tuple[float, float]:
    """Of P and Q of some atoms."""
    first, second = (upper_float(sum((row[k] for row in rows), Ball(0))) for k in (1, 2))
    return first, second
