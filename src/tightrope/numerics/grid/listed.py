"""δ of a product of laws whose heavy steps are listed, not put on a lattice: light steps around every sum of them.

As in ``graded.py`` the law of k steps is Σ_n C(k, n)·light^{k−n}·heavy^n. Where a law has atoms only, heavy^n is a list
of sums l_c of mass p_c (``heavy_sums.py``), and so

δ(ε) = Σ_n Σ_c p_c·δ_n(ε − l_c),

with δ_n that of the light steps of the grade, a positive measure again, at any real place. The light steps have small
losses and a narrow window, on whose lattice nothing else must lie. A grade may have several grids: a tilt that suits
the sums far below ε does not suit those near it. Every one bounds every δ_n(x), and the best bounds count.

The sums that are left out count between 0 and their mass, and so do paths with more heavy steps than ``degree``. Paths
with an infinite loss of a listed law are certain loss.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, lower_float, precision, upper_float
from tightrope.numerics.grid.cells import UNIT, CellLaw, Floats, constant_atoms
from tightrope.numerics.grid.graded import Borders, grades, ordered, too_many
from tightrope.numerics.grid.grid_plan import LONGEST, MOST_POINTS, GridPlan
from tightrope.numerics.grid.heavy_sums import MOST_SUMS, NONE, SMALLEST, HeavySums, composed, heavy_sums, product
from tightrope.numerics.grid.listing import Listed
from tightrope.numerics.grid.moved import moved
from tightrope.numerics.grid.readings import NoSteps, Readings
from tightrope.numerics.grid.total import GridSum

__all__ = ["ALL", "HeavyGrade", "ListedPlan", "ListedSum", "heavy_grades", "places"]

_TINY = 1e-300  # mass of an atom that is not there
_MORE = 1 + 1e-10  # sums of some thousand positive floats
_MOST_GRADES, _MOST_PLANS = 400, 100
_LENGTHS = 3 * LONGEST  # of all grids
ALL = (Fraction(0), Fraction(0))  # the borders of a law whose steps are all listed


@dataclass(frozen=True)
class ListedPlan:
    """Each law's borders (None: all of it is light; ALL: nothing is, and no step is counted as heavy), the most heavy
    steps, the least mass of their sums, and plans for the light steps of each grade that has such sums
    (``heavy_grades``). Sums of laws that are ALL listed count as ``floor`` if they are below it, or not at all. The
    losses of laws that are all light may be counted from another origin (``moved.py``): ``moves``, if any is."""

    borders: tuple[Borders, ...]
    degree: int
    least: float
    plans: tuple[tuple[GridPlan, ...], ...]
    floor: float = -math.inf
    moves: tuple[Fraction, ...] = ()

    @property
    def tilt(self) -> Fraction:
        """The least of all grids."""
        return min((one.tilt for one in self.grids), default=Fraction(1))

    @property
    def points(self) -> int:
        """Of all grids."""
        return sum(one.points for one in self.grids)

    @property
    def grids(self) -> list[GridPlan]:
        """All of them."""
        return [one for plans in self.plans for one in plans]


@dataclass(frozen=True, eq=False)
class HeavyGrade:
    """How many steps of each law are heavy, the sums of their losses, and the laws of the light steps."""

    grade: tuple[int, ...]
    sums: HeavySums
    light: tuple[tuple[CellLaw, int], ...]


def heavy_grades(
    parts: Sequence[tuple[CellLaw, int]],
    borders: Sequence[Borders],
    degree: int,
    least: float,
    floor: float = -math.inf,
    moves: Sequence[Fraction] = (),
) -> tuple[list[HeavyGrade], Ball]:
    """The grades with sums that are not lighter than ``least``, and at least the mass of all other paths. By what light
    losses are moved down, the sums are moved up."""
    fits = len(borders) == len(parts) and degree >= 0 and SMALLEST <= least < 1 and floor < math.inf
    origins = list(moves) or [Fraction(0)] * len(parts)
    fits = fits and len(origins) == len(parts)
    fits = fits and not any(by for by, border in zip(origins, borders, strict=True) if border is not None)
    if not (fits and all(ordered(*border) for border in borders if border not in (None, ALL))):
        raise NotCertified("sums of heavy losses", "their plan does not fit")
    chances, sums, lights, rest = [], [], list[CellLaw | None](), Ball(0)
    every = NONE
    for (law, copies), border, by in zip(parts, borders, origins, strict=True):
        if border is None:
            sums.append([NONE])
            lights.append(moved(law, by))
            continue
        low, high = (math.inf, -math.inf) if border == ALL else (float(border[0]), float(border[1]))
        known = law.parted(low, high, _TINY if border == ALL else least / copies)
        if known is None:
            raise NotCertified("sums of heavy losses", "a law has more than atoms, or too many of them")
        if border == ALL:
            found_all, lost = composed(known, copies, least)
            every, more = product(every, found_all, least)
            sums.append([NONE])
            lights.append(None)
            with precision(100):
                rest += Ball(lost) + Ball(more) + copies * Ball(known.rest)
            continue
        found, lost = heavy_sums(known, copies, degree, least)
        alone = all(loss.is_zero() for loss, _ in known.light)  # then light steps only have a mass
        sums.append(_weighted(found, known, copies) if alone else found)
        lights.append(None if alone else constant_atoms(known.light))
        with precision(100):
            rest += Ball(lost) + copies * Ball(known.rest)
            chances.append((Ball(float(known.p_high.sum()) * _MORE) + Ball(known.rest), copies))
    away = sum((by * copies for by, (_, copies) in zip(origins, parts, strict=True)), Fraction(0))
    every = every.above(floor).moved(away)
    listed: list[HeavyGrade] = []
    counted = [border if border != ALL else None for border in borders]
    for number, grade in enumerate(grades([len(one) - 1 for one in sums], counted, degree)):
        if number >= _MOST_GRADES:
            raise NotCertified("sums of heavy losses", "there are too many grades")
        whole, lost = every, 0.0
        for one, n in zip(sums, grade, strict=True):
            if one[n] is NONE:
                continue
            whole, more = product(whole, one[n], least)
            lost += more
        with precision(100):
            rest += Ball(lost)
        if whole.size:
            counts = [count - n for (_, count), n in zip(parts, grade, strict=True)]
            pairs = zip(lights, counts, strict=True)
            light = tuple((law, count) for law, count in pairs if count and law is not None)
            listed.append(HeavyGrade(grade, whole, light))
        if sum(one.sums.size for one in listed) > MOST_SUMS:
            raise NotCertified("sums of heavy losses", "they are too many")
    with precision(100):
        return listed, (rest + too_many(chances, degree)).upper()


def _weighted(sums: list[HeavySums], known: Listed, copies: int) -> list[HeavySums]:
    """The same, times the mass of the light steps."""
    found = []
    with precision(100):
        mass = sum((mass for _, mass in known.light), Ball(0))
        for n, one in enumerate(sums):
            power = mass ** (copies - n)
            low, high = max(lower_float(power), 0.0) * (1 - 4 * UNIT), upper_float(power) * (1 + 4 * UNIT)
            found.append(HeavySums(one.low, one.high, one.p_low * low, one.p_high * high))
    return found


def _infinite(parts: Sequence[tuple[CellLaw, int]], borders: Sequence[Borders]) -> Ball:
    """The chance of an infinite loss of a listed law."""
    pairs = [(law.infinite(), k) for (law, k), border in zip(parts, borders, strict=True) if border is not None]
    with precision(100):
        return -sum((k * (-leak.ball()).log1p() for leak, k in pairs if leak.rational != 0), Ball(0)).expm1()


class ListedSum:
    """The product of laws, each with its number of copies, on the grids of one plan."""

    def __init__(
        self,
        parts: Sequence[tuple[CellLaw, int]],
        plan: ListedPlan,
        known: Mapping[tuple[int, GridPlan], Readings] | None = None,
        listed: tuple[Sequence[HeavyGrade], Ball] | None = None,
    ) -> None:
        """``known``: grids of some grades of this plan, by place; ``listed``: its grades, and the other paths' mass."""
        grids = plan.grids
        short = len(grids) <= _MOST_PLANS and sum(one.length for one in grids) <= _LENGTHS
        if not (short and plan.points <= MOST_POINTS):
            raise NotCertified("sums of heavy losses", "their plan does not fit")
        every, self._rest = listed or heavy_grades(parts, plan.borders, plan.degree, plan.least, plan.floor, plan.moves)
        self._infinite = _infinite(parts, plan.borders)
        if len(plan.plans) != len(every):
            raise NotCertified("sums of heavy losses", "their plan does not fit")
        self._terms: list[tuple[HeavySums, list[Readings | NoSteps]]] = []
        for place, (one, plans) in enumerate(zip(every, plan.plans, strict=True)):
            readings: list[Readings | NoSteps] = [] if one.light else [NoSteps()]
            for grid in plans if one.light else ():
                made = known.get((place, grid)) if known else None
                readings.append(made or Readings(GridSum(one.light, grid, whole=False)))
            self._terms.append((one.sums, readings))

    @property
    def reads(self) -> tuple[int, int]:
        """How many grids are read for a value of δ, and at how many places together."""
        return sum(len(grids) for _, grids in self._terms), sum(len(grids) * one.size for one, grids in self._terms)

    def upper(self, epsilon: float) -> Ball:
        """At least δ(ε), ε ≥ 0."""
        with precision(100):
            found = sum(float(_highest(epsilon, sums, grids).sum()) for sums, grids in self._terms)
            return (Ball(found) * Ball(_MORE) + self._rest + self._infinite).upper().min(Ball(1))

    def lower(self, epsilon: float) -> Ball:
        """At most δ(ε), ε ≥ 0."""
        with precision(100):
            found = sum(float(_lowest(epsilon, sums, grids).sum()) for sums, grids in self._terms)
            return (Ball(found) / Ball(_MORE) + self._infinite).lower().max(Ball(0))


def places(epsilon: float, sums: HeavySums) -> tuple[Floats, Floats]:
    """At most and at least ε less each sum."""
    low, high = epsilon - sums.high, epsilon - sums.low
    return low - 2 * UNIT * np.abs(low), high + 2 * UNIT * np.abs(high)


def _highest(epsilon: float, sums: HeavySums, grids: Sequence[Readings | NoSteps]) -> Floats:
    """At least what each sum adds to δ(ε)."""
    x, _ = places(epsilon, sums)
    best = reduce(np.minimum, (one.upper(x) for one in grids), np.ones(sums.size))
    return np.asarray(sums.p_high * best)


def _lowest(epsilon: float, sums: HeavySums, grids: Sequence[Readings | NoSteps]) -> Floats:
    """At most what each sum adds to δ(ε)."""
    _, x = places(epsilon, sums)
    best = reduce(np.maximum, (one.lower(x) for one in grids), np.zeros(sums.size))
    return np.asarray(sums.p_low * best)
