"""A mixture of losses whose label is seen: shares of laws added cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tightrope.numerics.balls import Ball, lower_float, precision, upper_float
from tightrope.numerics.grid.cells import UNIT, Atom, CellLaw, Cells, Floats
from tightrope.numerics.grid.drawn_normal_cells import DrawnNormalCells
from tightrope.numerics.grid.normal_exchanges import GluedNormalCells
from tightrope.numerics.real import ZERO, Real

__all__ = ["MixtureCells"]

_BITS = 160
_TINY = 1e-290  # products below the normal floats are off by less


@dataclass(frozen=True, eq=False)
class MixtureCells(CellLaw):
    """``parts``: (share, law), each of mass 1 under P; ``leak`` is P's mass at +∞ beside theirs, the rest is at 0."""

    parts: Sequence[tuple[Real, CellLaw]]
    leak: Real = ZERO

    @property
    def scattered(self) -> bool:  # type: ignore[override]  # a property here
        """Where a part is."""
        return any(law.scattered for _, law in self.parts)

    @property
    def effort(self) -> float:  # type: ignore[override]  # a property here
        """That of all parts."""
        return sum(law.effort for _, law in self.parts)

    @cached_property
    def _drawn(self) -> DrawnNormalCells | None:
        """The same where all parts are glued laws with Gaussian noise and one rate."""
        normal = [(share, law) for share, law in self.parts if isinstance(law, GluedNormalCells)]
        one = len({law.rate for _, law in normal}) == 1 and len(normal) == len(self.parts)
        return DrawnNormalCells(normal) if one else None

    def cells(self, edges: Floats) -> Cells:
        """The sums of the parts' cells, each times its share."""
        if self._drawn is not None:
            return self._drawn.cells(edges)
        totals, slack = [np.zeros(len(edges) + 1) for _ in range(4)], 0.0
        for share, law in self.parts:
            with precision(_BITS):
                low, high = max(lower_float(share.ball()), 0.0), upper_float(share.ball())
            found = law.cells(edges)
            slack = max(slack, found.slack)
            cells = (found.p_low, found.p_high, found.q_low, found.q_high)
            for total, one, factor in zip(totals, cells, (low, high) * 2, strict=True):
                total += one * factor
        error = (len(self.parts) + 3) * UNIT  # of products and sums of numbers that are not negative
        p_low, q_low = (np.maximum(total * (1 - error) - _TINY, 0.0) for total in totals[::2])
        p_high, q_high = (total * (1 + error) + _TINY for total in totals[1::2])
        return Cells(p_low, p_high, q_low, q_high, slack)

    def atoms(self) -> list[Atom]:
        """Those of the parts, each times its share, and the rest."""
        found = [Atom(atom.loss, _product(share, atom.mass)) for share, law in self.parts for atom in law.atoms()]
        shares = [share for share, _ in self.parts]
        rest = Real(None, lambda: (1 - self.leak.ball() - sum((s.ball() for s in shares), Ball(0))).max(Ball(0)))
        known = [one.rational for one in (self.leak, *shares) if one.rational is not None]
        whole = len(known) == len(shares) + 1 and sum(known) == 1
        return found if whole else [*found, Atom(ZERO, rest)]

    def infinite(self) -> Real:
        """The leak, and what the parts have."""
        terms = [(share, law.infinite()) for share, law in self.parts]
        live = [(share, mass) for share, mass in terms if mass.rational != 0]
        if not live:
            return self.leak
        return Real(None, lambda: sum((share.ball() * mass.ball() for share, mass in live), self.leak.ball()))


def _product(share: Real, mass: Real) -> Real:
    return mass * share.rational if share.rational is not None else Real(None, lambda: share.ball() * mass.ball())
