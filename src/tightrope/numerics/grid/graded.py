"""δ of a product of laws, graded by how many steps have a loss that is not small: each grade on a grid of its own.

A step is light if its loss lies between two borders, else heavy (``pieces.py``): a mere partition of the paths. The law
of k steps is Σ_n C(k, n)·light^{k−n}·heavy^n, a sum of positive measures; of several laws it is the product of such
sums. Hence δ is the sum of the grades' shares, and so are its bounds. Each grade is a product of (parts of) laws, for
which ``GridSum`` has both ends: splitting never lowers and merging never raises a hockey-stick of any positive measure.
The paths with more heavy steps than ``degree`` count between 0 and their mass: for every z ≥ 1

P[more than N heavy steps] ≤ z^{−N−1}·Π_j (1 + z·p_j)^{k_j}, p_j = P[step of law j is heavy].

For rare steps of noisy laws the grades are as different as can be: without a heavy step a narrow sum, of which ε is far
in the tail; with one a loss far above ε or far below, but for a narrow stretch; with two a wide sum of hardly any mass.

The losses of laws without borders may be counted from another origin (``moved.py``): then every grade is read that much
lower.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import numpy as np

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, lower_float, precision, upper_float
from tightrope.numerics.grid.cells import CellLaw
from tightrope.numerics.grid.grid_plan import LONGEST, MOST_POINTS, GridPlan
from tightrope.numerics.grid.moved import moved
from tightrope.numerics.grid.pieces import Piece
from tightrope.numerics.grid.total import GridSum

__all__ = [
    "MOST_GRADES",
    "Borders",
    "GradedPlan",
    "GradedSum",
    "away",
    "checked_grades",
    "grades",
    "multiplicity",
    "ordered",
    "pieces",
    "seen_from",
    "too_many",
]

MOST_GRADES = 64
_LENGTHS = 3 * LONGEST  # of all grades
_WIDEST = 2.0**9  # no loss of a grid is beyond

Borders = tuple[Fraction, Fraction] | None


@dataclass(frozen=True)
class GradedPlan:
    """Each law's borders (None: all of it is light), the most heavy steps, a plan for each grade (``grades``), and by
    what the losses of each law are moved down, if any is."""

    borders: tuple[Borders, ...]
    degree: int
    plans: tuple[GridPlan, ...]
    moves: tuple[Fraction, ...] = ()

    @property
    def tilt(self) -> Fraction:
        """The least of all grades."""
        return min((one.tilt for one in self.plans), default=Fraction(1))

    @property
    def steepest(self) -> Fraction:
        """The largest."""
        return max((one.tilt for one in self.plans), default=Fraction(1))

    @property
    def end(self) -> float:
        """Beyond which ε, less what all steps are moved by, is above all windows."""
        return max((one.end for one in self.plans), default=0.0)

    @property
    def points(self) -> int:
        """Of all grids."""
        return sum(one.points for one in self.plans)


def grades(copies: Sequence[int], borders: Sequence[Borders], degree: int) -> Iterator[tuple[int, ...]]:
    """How many steps of each law are heavy: all that have at most ``degree`` in all."""
    if not copies:
        yield ()
        return
    for number in range(min(degree, copies[0]) + 1 if borders[0] is not None else 1):
        for others in grades(copies[1:], borders[1:], degree - number):
            yield (number, *others)


def multiplicity(copies: Sequence[int], grade: Sequence[int]) -> int:
    """In how many ways the steps of a grade can be chosen."""
    return math.prod(math.comb(k, n) for k, n in zip(copies, grade, strict=True))


def pieces(
    parts: Sequence[tuple[CellLaw, int]],
    borders: Sequence[Borders],
    grade: Sequence[int],
    moves: Sequence[Fraction] = (),
) -> list[tuple[CellLaw, int]]:
    """The product of a grade: light and heavy parts of the laws with their numbers of steps."""
    found: list[tuple[CellLaw, int]] = []
    origins = moves or [Fraction(0)] * len(parts)
    for (law, copies), border, number, by in zip(parts, borders, grade, origins, strict=True):
        if border is None:
            found.append((moved(law, by), copies))
            continue
        low, high = float(border[0]), float(border[1])
        counts = ((True, copies - number), (False, number))
        found += [(Piece(law, low, high, inside), count) for inside, count in counts if count]
    return found


class GradedSum:
    """The product of laws, each with its number of copies, on the grids of one plan."""

    def __init__(
        self,
        parts: Sequence[tuple[CellLaw, int]],
        plan: GradedPlan,
        known: Mapping[tuple[int, GridPlan], GridSum] | None = None,
    ) -> None:
        """``known``: grids of some grades of this plan, by place."""
        copies = [count for _, count in parts]
        self._terms = []
        for place, (grade, one) in enumerate(zip(checked_grades(plan, copies), plan.plans, strict=True)):
            grid = known.get((place, one)) if known else None
            grid = grid or GridSum(pieces(parts, plan.borders, grade, plan.moves), one, whole=False)
            self._terms.append((multiplicity(copies, grade), grid))
        self._rest = heavier(parts, plan.borders, plan.degree)
        self._away = away(plan.moves, copies)

    def upper(self, epsilon: float) -> Ball:
        """At least δ(ε), ε ≥ 0."""
        with precision(100):
            x, _ = seen_from(epsilon, self._away)
            value = sum((count * grid.upper(x) for count, grid in self._terms), self._rest)
            return value.upper().min(Ball(1))

    @property
    def grids(self) -> list[GridSum]:
        """Of each grade."""
        return [grid for _, grid in self._terms]

    def gaps(self, epsilon: float) -> list[float]:
        """How far apart the ends of each grade are."""
        with precision(100):
            low, high = seen_from(epsilon, self._away)
            return [upper_float(count * (grid.upper(low) - grid.lower(high))) for count, grid in self._terms]

    def lower(self, epsilon: float) -> Ball:
        """At most δ(ε), ε ≥ 0."""
        with precision(100):
            _, x = seen_from(epsilon, self._away)
            return sum((count * grid.lower(x) for count, grid in self._terms), Ball(0)).lower()


def away(moves: Sequence[Fraction], copies: Sequence[int]) -> Fraction:
    """By what all steps together are moved."""
    return sum((by * count for by, count in zip(moves, copies, strict=True)), Fraction(0)) if moves else Fraction(0)


def seen_from(epsilon: float, away: Fraction) -> tuple[float, float]:
    """Floats at most and at least ε less what all steps are moved by: δ falls in ε, so the first one is for its upper
    end."""
    if not away:
        return epsilon, epsilon
    with precision(100):
        x = ball(Fraction(epsilon) - away)
        return lower_float(x), upper_float(x)


def checked_grades(plan: GradedPlan, copies: Sequence[int]) -> list[tuple[int, ...]]:
    """The grades of a plan, if it is what is assumed, beside what each grid assumes of its own; else NotCertified."""
    fits = len(plan.borders) == len(copies) and 0 <= plan.degree < MOST_GRADES
    fits = fits and all(ordered(*border) for border in plan.borders if border is not None)
    fits = fits and len(plan.moves) in (0, len(copies))
    fits = fits and not any(by for by, border in zip(plan.moves, plan.borders, strict=False) if border is not None)
    found = list(islice(grades(copies, plan.borders, plan.degree), MOST_GRADES + 1)) if fits else []
    fits = fits and len(found) == len(plan.plans) <= MOST_GRADES
    if not (fits and sum(one.length for one in plan.plans) <= _LENGTHS and plan.points <= MOST_POINTS):
        raise NotCertified("graded grids of losses", "their plan does not fit")
    return found


def ordered(low: Fraction, high: Fraction) -> bool:
    """Whether these are borders, and floats."""
    return -_WIDEST <= low < high <= _WIDEST and float(low) == low and float(high) == high


def heavier(parts: Sequence[tuple[CellLaw, int]], borders: Sequence[Borders], degree: int) -> Ball:
    """At least the chance of more than ``degree`` heavy steps."""
    with precision(100):
        chances = []
        for (law, copies), border in zip(parts, borders, strict=True):
            if border is not None:
                heavy = Piece(law, float(border[0]), float(border[1]), inside=False)
                cells = heavy.cells(np.zeros(1)).p_high
                known = sum((atom.mass.ball() for atom in heavy.atoms()), heavy.infinite().ball())
                chances.append((known + sum((Ball(float(x)) for x in cells), Ball(0)), copies))
        return too_many(chances, degree)


def too_many(chances: Sequence[tuple[Ball, int]], degree: int) -> Ball:
    """At least the chance of more than ``degree`` heavy steps, if steps of each law have these chances to be heavy."""
    if degree >= sum(copies for _, copies in chances):
        return Ball(0)
    with precision(100):
        mean = sum(float(chance.mid()) * copies for chance, copies in chances)
        z = Ball(min(max((degree + 1) / max(mean, 1e-300), 1.0), 1e100))
        logs = sum((copies * (z * chance).log1p() for chance, copies in chances), Ball(0))
        return (logs - (degree + 1) * z.log()).exp().upper().min(Ball(1))
