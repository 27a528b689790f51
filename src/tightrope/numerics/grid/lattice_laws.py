"""Two laws on a lattice around a law in cells: one that certainly gives more, one that certainly gives less.

A pair of measures gives more if P grows or Q falls anywhere, and less the other way round; so rounding is paid by
moving the masses. Both laws are lists of P-masses on points x_i = step·i, moved by one small ``offset``; Q's masses
follow from them.

*More*: the part of the law between two points is split onto them so that both its masses stay, since (1 − e^{x−l})₊
is convex in e^{−l} (``sums/gridded.py``). *Less*: outcomes whose losses lie around one point are made one outcome,
whose loss ln P/Q is close to that point if the edges are chosen well: its error is of second order in the step, too.
Where it falls short, a share of the next outcome above is merged with it, which may be done at random; where that does
not help, the offset pays for all points, or the mass moves one point down.

Atoms between points cannot be merged so. For them there is *the same split, rounded down*: it gives more than the law,
but not much more, and ``total.py`` subtracts what splitting can add.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tightrope.numerics.balls import Ball, ball, lower_float, precision, upper_float
from tightrope.numerics.grid.cells import UNIT, Atoms, CellLaw, Cells, Floats
from tightrope.numerics.grid.exponentials import EXP_ERROR, exponentials

Places: TypeAlias = NDArray[np.int64]

_SNAP = 1e-2  # steps: an atom this close below a point may be moved up to it, and the offset pays
_ALMOST = 1e-9  # steps: an atom this close to a point is taken as on it
_INSIDE = 0.05  # steps: edges keep away from points
_SAFE = 16 * UNIT + EXP_ERROR  # of every product of a mass and an exponential below
_TINY = 1e-290  # products below the normal floats are off by more


@dataclass(frozen=True)
class Lattice:
    """Points step·i for first ≤ i ≤ last; the step has few bits, so that every point is a float."""

    step: Fraction
    first: int
    last: int

    def places(self) -> Places:
        """The numbers of the points."""
        return np.arange(self.first, self.last + 1, dtype=np.int64)

    def points(self) -> Floats:
        """The points."""
        return np.asarray(self.places() * float(self.step), dtype=np.float64)


@dataclass(frozen=True)
class LatticeLaw:
    """P-masses on the points step·place, all moved by ``offset``; and above them a mass at +∞, or of P and Q."""

    places: Places
    masses: Floats
    offset: float
    infinite: float
    under_q: float = 0.0  # Q's mass where ``infinite`` is P's
    missing: Floats | None = None  # at most what the exact split has more on each point


def greater_law(law: CellLaw, lattice: Lattice, cells: Cells | None = None) -> LatticeLaw:
    """A law whose hockey-sticks, and those of its products, are at least as large; ``cells`` between the points."""
    points, step = lattice.points(), ball(lattice.step)
    cells = cells or law.cells(points)
    slack = _known(cells)
    with precision(80):
        width, wider = lower_float(-(-step).expm1()), upper_float(-(-step).expm1())
    p, q = cells.p_high[1:], cells.q_low[1:]
    # With the points moved by the slack the upper share is (p − e^{x−slack}·q)/(1 − e^{−step}); the step after the
    # last is ∞.
    kept = exponentials(points) * q * (1 - slack - _SAFE)
    up = (p - np.where(kept > _TINY, kept, 0.0)) * (1 + 4 * UNIT)
    up[:-1] *= (1 + 4 * UNIT) / width
    up = np.clip(up, 0.0, p)
    masses = (p - up) * (1 + 2 * UNIT)
    # Rounding moves masses up; an exact split of losses that are brought into their cell may leave more on its lower
    # point.
    least = cells.p_low[1:] - exponentials(points) * cells.q_high[1:] * (1 + 2 * slack + _SAFE)
    missing = (up - np.clip(least * ((1 - 8 * UNIT) / wider), 0.0, up)) * (1 + 8 * UNIT)
    missing[-1] = 0.0  # what lies above the last point is not split
    masses[1:] += up[:-1]
    masses[0] += cells.p_high[0]
    beyond = Ball(float(up[-1]))
    for atom in law.atoms():
        with precision(80):
            mass, place = atom.mass.ball(), atom.loss.ball() / step
            at = math.floor(float(place.mid()) + _ALMOST)
            rest = place - at  # −_ALMOST or more, below 1
            if not rest < 1:
                raise ArithmeticError("the place of an atom is not known")
            if rest <= 0 or float(rest.mid()) <= _ALMOST:
                slack, share = max(slack, upper_float(rest.max(Ball(0)) * step)), Ball(1)
                if lattice.first <= at < lattice.last:  # an exact split has at most rest·(1 + step) of it one point up
                    missing[at + 1 - lattice.first] += upper_float(mass * rest.max(Ball(0)) * (1 + 2 * step))
            else:
                share = (step * (1 - rest)).expm1() / step.expm1()
            if at >= lattice.last:  # between the last point and ∞
                share = (points[-1] - atom.loss.ball()).exp().min(Ball(1))
                beyond += mass * (1 - share)
            for where, part in ((at, share), (at + 1, 1 - share)):
                if where <= lattice.last or part is share:
                    masses[min(max(where, lattice.first), lattice.last) - lattice.first] += upper_float(mass * part)
    with precision(80):
        infinite = upper_float(law.infinite().ball() + beyond)
    rounding = (8 + 2 * len(law.atoms())) * UNIT
    return LatticeLaw(lattice.places(), masses * (1 + rounding), slack, infinite, missing=missing)


def _known(cells: Cells) -> float:
    """The slack of cells whose edges are known; it is below 1, so that e^slack ≤ 1 + 2·slack."""
    if not cells.slack < 1:
        raise ArithmeticError("the edges of cells are not known")
    return cells.slack


def on_points(law: CellLaw, lattice: Lattice) -> bool:
    """Whether the law has nothing but atoms on points, or beyond them."""
    if not isinstance(law, Atoms):
        return False
    with precision(80):
        places = [float((atom.loss.ball() / ball(lattice.step)).mid()) for atom in law.listed]
    return all(abs(place - round(place)) <= _ALMOST for place in places if lattice.first < place < lattice.last)


def split_law(law: CellLaw, lattice: Lattice, cells: Cells | None = None) -> LatticeLaw:
    """The split of a law that gives less: masses rounded down, losses above their cell brought down to it."""
    points, step = lattice.points(), ball(lattice.step)
    cells = cells or law.cells(points)
    slack, above = _known(cells), (Ball(0), Ball(0))
    with precision(80):
        width = upper_float(-(-step).expm1())
    p, q = cells.p_low[1:-1], cells.q_high[1:-1]
    # With the points moved down by the slack the upper share is at least (p − e^{x+slack}·q)/(1 − e^{−step}).
    up = (p - exponentials(points[:-1]) * q * (1 + 2 * slack + _SAFE)) * ((1 - 8 * UNIT) / width)
    up = np.clip(up, 0.0, p)
    masses = np.zeros(points.size)
    masses[:-1] = (p - up) * (1 - 2 * UNIT)
    masses[1:] += up
    for atom in law.atoms():
        with precision(80):
            mass, loss = atom.mass.ball(), atom.loss.ball()
            place = loss / step
            at = math.floor(float(place.mid()) + _ALMOST)
            rest = place - at
            if at >= lattice.last:
                above = (above[0] + mass, above[1] + mass * (-loss).exp())
            if not lattice.first <= at < lattice.last:
                continue
            slack = max(slack, upper_float((-rest).max(Ball(0)) * step))
            share = (step * (1 - rest.max(Ball(0)))).expm1() / step.expm1()
            for where, part in ((at, share), (at + 1, 1 - share)):
                masses[where - lattice.first] += max(lower_float(mass * part), 0.0)
    with precision(80):
        infinite = lower_float(law.infinite().ball() + Ball(float(cells.p_low[-1])) + above[0])
        under_q = upper_float(Ball(float(cells.q_high[-1])) + above[1])
    rounding = (4 + 2 * len(law.atoms())) * UNIT
    return LatticeLaw(lattice.places(), masses * (1 - rounding), -slack, max(infinite, 0.0), under_q)


def merged_law(law: CellLaw, lattice: Lattice, tilt: float, cells: Cells | None = None) -> LatticeLaw:
    """A law whose hockey-sticks, and those of its products, are at most as large; the tilt says which masses matter,
    ``cells`` are those between the points."""
    points, step = lattice.points(), float(lattice.step)
    edges = _reflected(cells or law.cells(points), points, step)
    zero, atom = -lattice.first, _atom_at_zero(law)
    inside = bool(atom[0]) and 0 < zero < points.size - 1
    cells = law.cells(edges)
    p, q = cells.p_low[:-1].copy(), cells.q_high[:-1].copy()
    atoms, worst, above = _atoms(law, lattice, p, tilt, without_zero=inside)
    if inside:
        p[zero], q[zero] = (p[zero] + atom[0]) * (1 - 2 * UNIT), (q[zero] + atom[1]) * (1 + 2 * UNIT)
    p, q = _raised(p, q, points)
    offset = max(worst, _known(cells), _offset(_shortfall(p, q, points), p, points, step, tilt))
    # Since e^offset ≥ 1 + offset, the loss of such a cell is at least its point less the offset.
    held = p * (1 + offset) >= exponentials(points) * q * (1 + _SAFE)
    lower = ~held & (p * (1 + offset) >= exponentials(points - step) * q * (1 + _SAFE))
    masses = np.where(held, p, 0.0) + atoms
    places, some = lattice.places(), np.flatnonzero(lower[1:]) + 1
    with precision(80):
        infinite = lower_float(law.infinite().ball() + Ball(float(cells.p_low[-1])) + above[0])
        under_q = upper_float(Ball(float(cells.q_high[-1])) + above[1])
    return LatticeLaw(
        np.concatenate([places, places[some] - 1]),
        np.concatenate([masses, p[some]]) * (1 - (4 + 2 * len(law.atoms())) * UNIT),
        -offset,
        max(infinite, 0.0),
        under_q,
    )


def _reflected(cells: Cells, points: Floats, step: float) -> Floats:
    """Edges between points, in floats: as far below the upper point as the loss of the cell between is above the lower
    one. So it should be where a density hardly changes within a cell, and where it falls or rises by much."""
    p, q = cells.p_low[1:-1], cells.q_high[1:-1]
    share = 0.5 - _shortfall(p, q, points[:-1] + step / 2) / step
    return np.append(points[1:] - step * np.clip(share, _INSIDE, 1 - _INSIDE), points[-1] + step / 2)


def _raised(p: Floats, q: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Outcomes whose loss is below their point take a share θ of the one above: P_i + θP_{i+1} = e^{x_i}(Q_i +
    θQ_{i+1}), as far as shares go. What is left of that one keeps its loss. For any θ this is a merger at random."""
    scale = exponentials(points[:-1])
    lack = scale * q[:-1] * (1 + _SAFE) - p[:-1]
    gain = p[1:] - scale * q[1:]
    some = (lack > 0) & (gain > lack) & (p[1:] > _TINY / UNIT)
    shares = np.where(some, lack, 0.0) / np.where(some, gain, 1.0)
    rest, taken = np.append(1.0, 1 - shares), np.append(shares, 0.0)
    # Two products, a sum and the difference 1 − θ: four roundings.
    more_p, more_q = (taken * np.append(one[1:], 0.0) for one in (p, q))
    return (rest * p + more_p) * (1 - 6 * UNIT), (rest * q + more_q) * (1 + 6 * UNIT)


def _atom_at_zero(law: CellLaw) -> tuple[float, float]:
    """At least and at most the mass of the atoms with loss 0."""
    with precision(80):
        masses = [atom.mass.ball() for atom in law.atoms() if atom.loss.rational == 0]
        mass = sum(masses, Ball(0))
        return max(lower_float(mass), 0.0), upper_float(mass)


def _shortfall(p: Floats, q: Floats, points: Floats) -> Floats:
    """By how much the loss of each merged cell is below its point, in floats; 0 where a cell is all but empty."""
    some = (p > 1e-290) & (q > 1e-290)
    ratio = np.where(some, p, 1.0) / np.where(some, q, 1.0)
    return np.where(some, points - np.log(ratio), 0.0)


def _offset(short: Floats, p: Floats, points: Floats, step: float, tilt: float) -> float:
    """Where paying for all points costs about as much as moving those that fall short further: in floats."""
    weights = p * np.exp(np.minimum(tilt * points, 600.0))
    total = float(weights.sum())
    if not total > 0:
        return 4 * _SAFE
    order = np.argsort(short)[::-1]
    worse = np.cumsum(weights[order]) / total  # the weight of the cells at least as short
    costs = np.maximum(short[order], 0.0)[1:] + step * worse[:-1]
    cost = float(np.maximum(short[order[0]], 0.0))
    if costs.size and float(costs.min()) < cost:
        cost = float(np.maximum(short[order[1 + int(np.argmin(costs))]], 0.0))
    return cost * (1 + 1e-6) + 4 * _SAFE


def _atoms(
    law: CellLaw, lattice: Lattice, p: Floats, tilt: float, without_zero: bool
) -> tuple[Floats, float, tuple[Ball, Ball]]:
    """The atoms moved down to points, how far the points must move down too, and P and Q of the atoms above.

    An atom just below a point is moved up to it where that costs less: where it counts after tilting, beside ``p``."""
    found = [atom for atom in law.atoms() if not (without_zero and atom.loss.rational == 0)]
    masses, worst, above = np.zeros(lattice.last - lattice.first + 1), 0.0, (Ball(0), Ball(0))
    if not found:
        return masses, worst, above
    with precision(80):
        losses = np.array([float(atom.loss.ball().mid()) for atom in found])
        heights = np.array([float(atom.mass.ball().mid()) for atom in found])
    weights = heights * np.exp(np.clip(tilt * losses, -600, 600))
    whole = float(weights.sum() + (p * np.exp(np.clip(tilt * lattice.points(), -600.0, 600.0))).sum())
    for atom, weight in zip(found, weights, strict=True):
        with precision(80):
            mass, loss = atom.mass.ball(), atom.loss.ball()
            place = loss / ball(lattice.step)
            at = math.floor(float(place.mid()) + max(min(_SNAP, float(weight) / whole), _ALMOST))
            if at > lattice.last:
                above = (above[0] + mass, above[1] + mass * (-loss).exp())
                continue
            worst = max(worst, upper_float((at - place).max(Ball(0)) * ball(lattice.step)))
        if at >= lattice.first:
            masses[at - lattice.first] += max(lower_float(mass), 0.0)
    return masses, worst, above
