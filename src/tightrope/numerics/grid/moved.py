"""A law whose losses are counted from another origin: l − c instead of l.

(P − e^x·Q)₊ is (P − e^{x−c}·e^c·Q)₊, so P stays and Q is multiplied by e^c; Q's mass need not be 1. Where sums lie just
below the largest one that a law can reach, a steep tilt leaves the range of floats at the losses themselves, and not at
what they lack to the largest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tightrope.errors import NotCertified
from tightrope.numerics.balls import ball, lower_float, precision, upper_float
from tightrope.numerics.grid.cells import UNIT, Atom, Atoms, CellLaw, Cells, DerivedLaw, Floats
from tightrope.numerics.real import Real

__all__ = ["LONGEST_MOVE", "Moved", "moved"]

LONGEST_MOVE = 100  # e^c is a float, far from the largest
_TINY = 1e-290


@dataclass(frozen=True, eq=False)
class Moved(DerivedLaw):
    """The law of L − ``by``."""

    by: Fraction

    def __post_init__(self) -> None:
        if not abs(self.by) <= LONGEST_MOVE:
            raise NotCertified("a law that is moved", f"it is moved by {float(self.by):.3g}, at most {LONGEST_MOVE}")

    @cached_property
    def _scale(self) -> tuple[float, float]:
        """At most and at least e^c, and a rounding of a product."""
        with precision(80):
            scale = ball(self.by).exp()
            return lower_float(scale) * (1 - 2 * UNIT), upper_float(scale) * (1 + 2 * UNIT)

    def cells(self, edges: Floats) -> Cells:
        """Between the edges as they were; that they are rounded there is part of the slack."""
        before = np.asarray(edges + float(self.by), dtype=np.float64)
        if not np.all(np.diff(before) > 0):
            raise NotCertified("a law that is moved", "its cells are too narrow for floats")
        found = self.law.cells(before)
        low, high = self._scale
        # c and the sum are rounded once each.
        slack = found.slack + 4 * UNIT * (abs(float(self.by)) + float(np.max(np.abs(before), initial=0.0)))
        # Below the normal floats a product says nothing.
        least = found.q_low * low
        least = np.where(least < _TINY, 0.0, least)
        most = np.where(found.q_high > 0, np.maximum(found.q_high * high, _TINY), 0.0)
        return Cells(found.p_low, found.p_high, least, most, slack * (1 + 4 * UNIT))

    def atoms(self) -> list[Atom]:
        """The same, moved."""
        return [Atom(atom.loss + Real(-self.by), atom.mass) for atom in self.law.atoms()]

    def infinite(self) -> Real:
        """As before."""
        return self.law.infinite()


def moved(law: CellLaw, by: Fraction) -> CellLaw:
    """The law of L − ``by``; atoms alone are atoms again."""
    if not by:
        return law
    found = Moved(law, by)
    return Atoms(tuple(found.atoms()), law.leak) if isinstance(law, Atoms) else found
