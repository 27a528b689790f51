"""A law of the loss in a thousand coarse cells, 10⁻⁹ to 450 on both sides of 0: where its losses are, in floats."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tightrope.numerics.balls import precision
from tightrope.numerics.grid.cells import CellLaw, Floats
from tightrope.numerics.grid.pieces import Piece
from tightrope.numerics.products import product

__all__ = ["RISING", "Picture", "picture"]

RISING = np.geomspace(1e-3, 1e7, 201)  # tilts
_COARSE = 600
_GROUP = 6  # cells of small losses that are one
_WIDER = 0.05  # of a loss: more than from the mean of a cell to its ends
_HIGHEST = 450.0
_ROWS, _LEAST = 48, -700.0  # tilts at a time; nats


@dataclass(frozen=True)
class Picture:
    """Losses and P-masses of one law in rising order, coarsely."""

    losses: Floats
    masses: Floats
    floors: Floats  # where each cell begins
    ends: Floats
    copies: int
    atoms: tuple[tuple[float, float], ...] = ()  # their losses and masses, too
    border: float = math.inf  # no loss is above it

    @property
    def top(self) -> float:
        """About the largest loss."""
        return min(float(self.ends[-1]), self.border)

    def part(self, some: NDArray[np.bool_], copies: int, border: float = math.inf) -> Picture:
        """Some of its cells, and all atoms between them."""
        losses = self.losses[some]
        atoms = tuple(atom for atom in self.atoms if losses.size and losses[0] <= atom[0] <= losses[-1])
        return Picture(losses, self.masses[some], self.floors[some], self.ends[some], copies, atoms, border)

    def between(self, low: Fraction, high: Fraction, copies: int) -> Picture:
        """The part between two borders, up to them if there is more beyond: coarse cells may end before the last losses
        do."""
        found = self.part((self.losses > float(low)) & (self.losses < float(high)), copies, float(high))
        if not found.losses.size:
            return found
        first = float(low) if self.losses[0] <= float(low) else found.floors[0]
        last = float(high) if self.losses[-1] >= float(high) else found.ends[-1]
        return replace(found, floors=np.append(first, found.floors[1:]), ends=np.append(found.ends[:-1], last))

    def joined(self, core: NDArray[np.bool_]) -> Picture:
        """The same with some neighbouring cells as one."""
        mass = float(self.masses[core].sum())
        if not mass > 0:
            return self.part(~core, self.copies, self.border)
        middle = float((self.masses[core] * self.losses[core]).sum()) / mass
        left = self.losses[~core]
        at = int(np.searchsorted(left, middle))
        return Picture(
            np.insert(left, at, middle),
            np.insert(self.masses[~core], at, mass),
            np.insert(self.floors[~core], at, self.floors[core].min()),
            np.insert(self.ends[~core], at, self.ends[core].max()),
            self.copies,
            self.atoms,
            self.border,
        )

    def thinned(self, small: float) -> Picture:
        """The same with fewer cells of losses below ``small``."""
        sizes = np.abs(self.losses)
        places = np.arange(self.losses.size)
        core = (sizes < small) & (sizes > 0) & (self.masses > 0)
        if np.count_nonzero(core) < _GROUP * _GROUP:
            return self
        after = np.diff(core, prepend=~core[0])  # the first of the core, and the first beyond it
        group = np.cumsum(~core | after | (places % _GROUP == 0) | np.diff(self.losses > 0, prepend=False)) - 1
        masses = np.asarray(np.bincount(group, self.masses), dtype=np.float64)
        whole = np.maximum(masses, 1e-300)
        losses = np.asarray(np.bincount(group, self.masses * self.losses) / whole)
        alone = np.bincount(group) == 1
        losses[alone] = self.losses[np.searchsorted(group, np.flatnonzero(alone))]
        firsts = np.searchsorted(group, np.arange(masses.size))
        floors, ends = np.minimum.reduceat(self.floors, firsts), np.maximum.reduceat(self.ends, firsts)
        return Picture(losses, masses, floors, ends, self.copies, self.atoms, self.border)

    def log_moments(self, tilts: Floats, low: float = -math.inf, cap: float = math.inf) -> Floats:
        """ln E[e^{tL}] for every tilt, losses beyond the two ends taken as there."""
        found = np.empty(tilts.size)
        for some, tops, shares in self._tilted(tilts, low, cap):
            found[some] = tops + np.log(shares.sum(axis=1))
        return found

    def _tilted(self, tilts: Floats, low: float, cap: float) -> Iterator[tuple[slice, Floats, Floats]]:
        """ln of the largest p·e^{tl} for every tilt, and all of them beside it: few tilts at a time, in the processor's
        cache."""
        losses = np.clip(self.losses, low, cap)
        with np.errstate(divide="ignore"):
            masses = np.log(self.masses)
        for at in range(0, tilts.size, _ROWS):
            some = slice(at, at + _ROWS)
            exponents = tilts[some, None] * losses
            exponents += masses
            tops = exponents.max(axis=1)
            exponents -= tops[:, None]
            np.maximum(exponents, _LEAST, out=exponents)  # numbers below the normal ones take far longer
            yield some, tops, np.exp(exponents, out=exponents)

    @cached_property
    def falling_moments(self) -> Floats:
        """ln E[e^{−tL}] for the rising tilts t."""
        return self.log_moments(-RISING)

    def log_norms(self, tilts: Floats, step: float, low: float, cap: float) -> Floats:
        """ln of the Euclidean norm on a lattice after tilting, what is on the point 0 left out."""
        gaps = np.gradient(self.losses) if self.losses.size > 1 else np.zeros(1)
        alone = step / np.maximum(gaps, step) * (self.losses != 0)  # of a point, of a coarse cell
        found = np.empty(tilts.size)
        for some, _, shares in self._tilted(tilts, low, cap):
            shares /= shares.sum(axis=1)[:, None]
            shares *= shares
            found[some] = np.log(product(shares, alone) + 1e-300) / 2
        return found


def picture(law: CellLaw, copies: int) -> Picture:
    """The law in a thousand cells."""
    side = np.geomspace(1e-9, _HIGHEST, _COARSE)
    edges = np.concatenate([-side[::-1], [0.0], side])
    cells = law.cells(edges)
    p, q = cells.p_high, cells.q_high
    some = (p > 1e-290) & (q > 1e-290)
    middle = np.concatenate([[edges[0]], (edges[1:] + edges[:-1]) / 2, [edges[-1]]])[some]
    spread = np.concatenate([[1.0], np.diff(edges), [_HIGHEST]])[some]
    # Rounding hides the loss of tiny cells.
    losses = np.clip(np.log(p[some] / q[some]), middle - spread, middle + spread)
    atoms = law.atoms()
    with precision(80):
        known = tuple((float(atom.loss.ball().mid()), float(atom.mass.ball().mid())) for atom in atoms)
    wider = _WIDER * np.abs(losses)
    floors = np.clip(np.append(-math.inf, edges)[some], losses - wider, losses)
    ends = np.clip(np.append(edges, math.inf)[some], losses, losses + wider)
    losses, floors, ends = (np.append(one, [loss for loss, _ in known]) for one in (losses, floors, ends))
    masses = np.append(p[some], [mass for _, mass in known])
    order = np.argsort(losses, kind="stable")
    border = law.high if isinstance(law, Piece) and law.inside else math.inf
    return Picture(losses[order], masses[order], floors[order], ends[order], copies, known, border)
