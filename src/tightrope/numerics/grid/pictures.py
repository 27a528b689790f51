"""A law of the loss in a thousand coarse cells, 10⁻⁹ to 450 on both sides of 0: where its losses are, in floats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tightrope.numerics.balls import precision
from tightrope.numerics.grid.cells import CellLaw, Floats
from tightrope.numerics.grid.pieces import Piece

__all__ = ["RISING", "Picture", "picture"]

RISING = np.geomspace(1e-3, 1e7, 201)  # tilts
_COARSE = 600
_GROUP = 6  # cells of small losses that are one
_WIDER = 1.05  # the ratio of neighbouring edges
_HIGHEST = 450.0


@dataclass(frozen=True)
class Picture:
    """Losses and P-masses of one law in rising order, coarsely."""

    losses: Floats
    masses: Floats
    copies: int
    atoms: tuple[tuple[float, float], ...] = ()  # their losses and masses, too
    border: float = math.inf  # no loss is above it

    @property
    def top(self) -> float:
        """About the largest loss: a coarse cell reaches further up than its mean."""
        last = float(self.losses[-1])
        alone = self.border == math.inf and any(loss == last for loss, _ in self.atoms)
        return last if alone else min(max(last * _WIDER, last), self.border)

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
        return Picture(losses, masses, self.copies, self.atoms, self.border)

    def log_moments(self, tilts: Floats, low: float = -math.inf, cap: float = math.inf) -> Floats:
        """ln E[e^{tL}] for every tilt, losses beyond the two ends taken as there."""
        with np.errstate(divide="ignore"):
            exponents = np.log(self.masses) + tilts[:, None] * np.clip(self.losses, low, cap)
        top = exponents.max(axis=1)
        return np.asarray(top + np.log(np.exp(exponents - top[:, None]).sum(axis=1)))

    @cached_property
    def falling_moments(self) -> Floats:
        """ln E[e^{−tL}] for the rising tilts t."""
        return self.log_moments(-RISING)

    def log_norms(self, tilts: Floats, step: float, low: float, cap: float) -> Floats:
        """ln of the Euclidean norm on a lattice after tilting, what is on the point 0 left out."""
        losses = np.clip(self.losses, low, cap)
        with np.errstate(divide="ignore"):
            exponents = np.log(self.masses) + tilts[:, None] * losses
        shares = np.exp(exponents - exponents.max(axis=1)[:, None])
        shares /= shares.sum(axis=1)[:, None]
        gaps = np.gradient(self.losses) if self.losses.size > 1 else np.zeros(1)
        alone = step / np.maximum(gaps, step) * (self.losses != 0)  # of a point, of a coarse cell
        return np.asarray(np.log((shares * shares * alone).sum(axis=1) + 1e-300) / 2)


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
    losses = np.concatenate([losses, [loss for loss, _ in known]])
    masses = np.concatenate([p[some], [mass for _, mass in known]])
    order = np.argsort(losses, kind="stable")
    border = law.high if isinstance(law, Piece) and law.inside else math.inf
    return Picture(losses[order], masses[order], copies, known, border)
