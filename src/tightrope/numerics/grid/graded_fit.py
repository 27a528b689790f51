"""How fine the grid of each grade must be, and of which kind (``graded.py``): floats choose, each grid is proved.

Small grids of all grades say how far each grade's ends are apart. The widest grade gets a finer grid, and so on. What
splitting adds falls with the square of the step, but not before the step is shorter than what smooths the sum; what
merging lacks falls so for smooth laws only. So while grids are small all kinds are tried that are not far behind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import precision, upper_float
from tightrope.numerics.grid.cells import CellLaw
from tightrope.numerics.grid.graded import GradedPlan, away, grades, pieces, seen_from
from tightrope.numerics.grid.graded_search import KINDS, SMOOTH, Kind, Sketch
from tightrope.numerics.grid.grid_plan import LONGEST, GridPlan
from tightrope.numerics.grid.total import GridSum

__all__ = ["GradeFit"]

_SHARE = 0.3  # of the gap that is wanted, for the widest grade
_GROWTH, _CAREFUL = 8, 4  # at most, from one grid to the next: coarse ones say little; and while kinds are compared
_COUNTS = 0.05  # of the gap that is wanted: a grade that counts
_BEHIND = 6.0  # times as wide as the best kind: then a kind is not tried on finer grids
_BLIND = 2**14  # points: on shorter grids a kind whose lower end says nothing may still be the best
_SEEN = 0.02  # of δ: unless another one is closer than this
_LEAST = 2  # by so much each finer grid must be closer
_NEARLY = 1e-3  # steps
_ROUNDED = 0.3  # from there on powers of two are rounded up
_BUDGET = LONGEST + LONGEST // 2  # points of all grades


@dataclass(frozen=True)
class Fitted:
    """A grade on one grid, how far its ends are apart relative to δ, and the kinds that may serve on a finer one."""

    kind: Kind
    plan: GridPlan
    gap: float
    alive: tuple[Kind, ...]
    length: int  # the most points that were tried


Units: TypeAlias = Callable[[Sequence[tuple[CellLaw, int]], GridPlan], float]


def _regular(kind: Kind) -> tuple[Kind, ...]:
    """The kinds that may serve where all atoms are on points: as if there were none, and the one that was predicted."""
    return SMOOTH if kind in SMOOTH else (kind, *SMOOTH)


class GradeFit:
    """The grids of all grades for δ(ε) ≈ e^level; ``units``: the work of one grid of these laws."""

    def __init__(
        self,
        parts: Sequence[tuple[CellLaw, int]],
        sketch: Sketch,
        small: GradedPlan,
        gaps: Sequence[float],
        units: Units,
        place: tuple[float, float],
    ) -> None:
        self._sketch, self._units, (self._at, self._level) = sketch, units, place
        listed = grades([count for _, count in parts], sketch.borders, sketch.degree)
        self._laws = [pieces(parts, sketch.borders, grade, sketch.moves) for grade in listed]
        self._ends = seen_from(self._at, away(sketch.moves, [count for _, count in parts]))
        self._found = [
            Fitted(kind, plan, gap, KINDS, plan.length)
            for kind, plan, gap in zip(sketch.kinds, small.plans, gaps, strict=True)
        ]
        if not any(law.scattered or law.steep for law, _ in parts):
            regular = [self._regular(place) for place in range(len(gaps))]
            pairs = zip(self._found, regular, strict=True)
            self._found = [replace(one, alive=_regular(one.kind)) if yes else one for one, yes in pairs]
        self.grids: dict[tuple[int, GridPlan], GridSum] = {}

    def _regular(self, place: int) -> bool:
        """Whether all atoms of a grade are on the points, or nearly."""
        pairs = zip(self._sketch.pictures[place], self._found[place].plan.lattices, strict=True)
        places = [loss / float(lattice.step) for one, lattice in pairs for loss, _ in one.atoms]
        return all(abs(x - round(x)) <= _NEARLY for x in places)

    @property
    def plan(self) -> GradedPlan:
        """What has been found."""
        sketch = self._sketch
        return GradedPlan(sketch.borders, sketch.degree, tuple(one.plan for one in self._found), sketch.moves)

    def narrow(self, wanted: float) -> None:
        """Finer grids for the widest grades, until the gap is what is wanted or the work allowed is spent."""
        stuck: set[int] = set()
        while sum(one.gap for one in self._found) > wanted:
            left = [i for i in range(len(self._found)) if i not in stuck]
            widest = max(left, key=lambda i: self._found[i].gap, default=None)
            if widest is None or self._found[widest].gap < _COUNTS * wanted:
                return
            before = self._found[widest]
            try:
                self._found[widest] = self._finer(widest, wanted)
            except NotCertified:  # the work allowed is spent; what was found is still good
                return
            now = self._found[widest]
            blind = before.length < now.length < _BLIND  # too short still to say anything
            if now.gap * _LEAST > before.gap and not blind:
                stuck.add(widest)

    def _finer(self, place: int, wanted: float) -> Fitted:
        """The best kind on a finer grid of one grade, or what was before if none is closer."""
        before = self._found[place]
        others = sum(one.plan.length for i, one in enumerate(self._found) if i != place)
        ratio = 2 ** math.ceil(math.log2(math.sqrt(before.gap / (_SHARE * wanted))) - _ROUNDED)
        length = before.length * min(max(ratio, 2), _GROWTH if len(before.alive) == 1 else _CAREFUL)
        length = min(length, LONGEST, 1 << int(math.log2(max(_BUDGET - others, 1))))
        if length <= before.length:
            return before
        found: dict[Kind, tuple[GridPlan, float, bool]] = {}
        for kind in before.alive:
            plan = self._planned(place, kind, length)
            while not found and length > before.length and not self._affords(place, plan):
                length //= 2
                plan = self._planned(place, kind, length)
            if length <= before.length or not self._affords(place, plan):
                break
            if kind.climb and not plan.streams:  # then it is another kind
                continue
            found[kind] = (plan, *self._gap(place, plan))
        if not found:
            raise NotCertified("graded grids of losses", "the work allowed to one question is spent")
        best = min(found, key=lambda kind: found[kind][1])
        plan, gap, _ = found[best]
        alive = [kind for kind, (_, wide, _) in found.items() if wide <= _BEHIND * gap]
        if length < _BLIND and gap > _SEEN:
            alive += [kind for kind, (_, _, unseen) in found.items() if unseen and kind not in alive]
        for kind, (other, _, _) in found.items():  # large, and not wanted again
            if kind != best:
                del self.grids[place, other]
        if gap >= before.gap:
            del self.grids[place, plan]
            return Fitted(before.kind, before.plan, before.gap, tuple(alive), length)
        self.grids.pop((place, before.plan), None)
        return Fitted(best, plan, gap, (best, *(kind for kind in alive if kind != best)), length)

    def _planned(self, place: int, kind: Kind, length: int) -> GridPlan:
        return self._sketch.grade_plan(place, kind, self._at, self._level, length)

    def _affords(self, place: int, plan: GridPlan) -> bool:
        return effort.affords(self._units(self._laws[place], plan))

    def _gap(self, place: int, plan: GridPlan) -> tuple[float, bool]:
        """Relative to δ, and whether the lower end says nothing."""
        effort.spend(self._units(self._laws[place], plan), "graded grids of losses")
        grid = self.grids[place, plan] = GridSum(self._laws[place], plan, whole=False)
        with precision(64):
            upper, lower = grid.upper(self._ends[0]), grid.lower(self._ends[1])
            gap = upper_float(upper - lower) * self._sketch.counts[place] * math.exp(-self._level)
            return gap, bool(2 * lower < upper)
