"""A law of the loss cut into cells: how much P and Q put between two losses, in floats with proved errors.

``edges`` are rising losses e_0 < … < e_{n−1}. Cell 0 is everything below e_0, cell i lies between e_{i−1} and e_i, and
cell n is everything above e_{n−1}. A law may move its edges a little, as long as it says by how much (``slack``); it
must use the same moved edges for P and for Q.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.grid.listing import MOST_LISTED, Listed, listed_losses
from tightrope.numerics.real import ZERO, Real

Floats: TypeAlias = NDArray[np.float64]

UNIT = 2.0**-53  # half the distance from 1 to the next float
_BITS = 160


@dataclass(frozen=True)
class Cells:
    """P[cell] is in [p_low, p_high] and Q[cell] in [q_low, q_high]; every loss in cell i lies between e_{i−1} − slack
    and e_i + slack."""

    p_low: Floats
    p_high: Floats
    q_low: Floats
    q_high: Floats
    slack: float


@dataclass(frozen=True)
class Atom:
    """P puts ``mass`` on one finite loss."""

    loss: Real
    mass: Real


class CellLaw(ABC):
    """The law of L = ln dP/dQ: a part that is cut into cells, atoms beside it, and P's mass at +∞.

    Q's masses follow: e^{−loss}·mass for an atom. Q's mass where P has none is never needed.
    """

    scattered = False  # True: the part in cells is itself made of many atoms
    steep = False  # True: its density has no bound, or none to speak of, so that merged cells may say little
    effort = 1.0  # what its cells cost, beside those of a normal law

    @abstractmethod
    def cells(self, edges: Floats) -> Cells:
        """The masses of the part without atoms: len(edges) + 1 cells."""

    def atoms(self) -> list[Atom]:
        """The atoms, which ``cells`` leaves out."""
        return []

    def infinite(self) -> Real:
        """P's mass at +∞, which ``cells`` leaves out."""
        return ZERO

    def parted(self, low: float, high: float, least: float) -> Listed | None:  # noqa: ARG002 - of other laws
        """The losses below ``low`` and above ``high``, one by one, and those between, if all are atoms and not too
        many; those outside of less mass than ``least`` need not be listed."""
        return None


@dataclass(frozen=True, eq=False)
class DerivedLaw(CellLaw):
    """A law that is made from another one, and cut as that is."""

    law: CellLaw

    @property
    def scattered(self) -> bool:  # type: ignore[override]  # a property here
        """As the other."""
        return self.law.scattered

    @property
    def steep(self) -> bool:  # type: ignore[override]  # a property here
        """As the other."""
        return self.law.steep

    @property
    def effort(self) -> float:  # type: ignore[override]  # a property here
        """As the other."""
        return self.law.effort


@dataclass(frozen=True)
class Atoms(CellLaw):
    """A law of finitely many losses."""

    listed: tuple[Atom, ...]
    leak: Real = ZERO
    effort = 0.0

    def cells(self, edges: Floats) -> Cells:
        """Nothing beside the atoms."""
        nothing = np.zeros(edges.size + 1)
        return Cells(nothing, nothing, nothing, nothing, 0.0)

    def atoms(self) -> list[Atom]:
        """All there is."""
        return list(self.listed)

    def infinite(self) -> Real:
        """The mass at +∞."""
        return self.leak

    def parted(self, low: float, high: float, least: float) -> Listed | None:
        """All atoms."""
        if len(self.listed) > MOST_LISTED:
            return None
        with precision(_BITS):
            found = [(atom.loss.ball(), atom.mass.ball()) for atom in self.listed]
            return listed_losses(found, low, high, least, Ball(0))


def constant_atoms(found: Iterable[tuple[Ball, Ball]]) -> Atoms:
    """A law of these (loss, mass)."""
    known = [[Real(None, partial(_same, value)) for value in one] for one in found]
    return Atoms(tuple(Atom(loss, mass) for loss, mass in known))


def _same(value: Ball) -> Ball:
    return value
