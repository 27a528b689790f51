"""Very many kinds of losses by few: where each pair dominates those below it, one stands for its neighbours."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction

from tightrope.curves.engines.rarity import hits, rare, rare_and_long
from tightrope.curves.engines.windowed_laws import MOST_SAMPLERS
from tightrope.curves.loss import Loss, Parts, merged
from tightrope.curves.pair import Pair
from tightrope.theorems import Source, theorem

_Member = tuple[Pair, tuple[Fraction, ...], int]

__all__ = ["fewer_for_many_points", "fewest", "kinds", "loss_dominates_fewer_kinds", "loss_is_dominated_by_fewer_kinds"]

MANY = 40  # kinds; what they cost together is found as they are
_RUNGS, _FEW_RUNGS = 36, 12  # that stand for a family; the latter for dear laws and for a grid,
_HITS = 2.5  # where fewer records are sampled on average
_RARE_RUNGS = 7  # where losses are rare: for a windowed contour
_SOURCE = Source("tightrope", "fewer kinds")


def kinds(c: Loss) -> int:
    """How many different laws there are in a direction."""
    return max(len(merged(parts)) for parts in c.directions)


@theorem(of=Loss, gives=Loss, kind="upper", role="composition", source=_SOURCE)
def loss_is_dominated_by_fewer_kinds(c: Loss) -> Loss | None:
    """Less noise, a larger rate or a weaker guarantee dominates: pairs of one family cost no more than as many copies
    of the largest."""
    return _fewer(c, largest=True)


@theorem(of=Loss, gives=Loss, kind="lower", role="composition", source=_SOURCE)
def loss_dominates_fewer_kinds(c: Loss) -> Loss | None:
    """More noise, a smaller rate or a stronger guarantee is dominated: pairs of one family cost at least as much as as
    many copies of the smallest."""
    return _fewer(c, largest=False)


def _fewer(c: Loss, largest: bool) -> Loss | None:
    """None where they are few, or still many."""
    few_hits = rare_and_long(c)  # then sums of some kinds take as long as those of many others
    most = MOST_SAMPLERS if few_hits else MANY
    if kinds(c) <= most:
        return None
    dear = any(pair.effort > 1 for parts in c.directions for pair, _ in parts)
    rungs = _RARE_RUNGS if few_hits else _RUNGS if hits(c) >= _HITS and not dear else _FEW_RUNGS
    while rungs > 1:
        found = _with(c, largest, rungs)
        if kinds(found) <= most:
            return found
        rungs = rungs * 2 // 3
    return None


def fewer_for_many_points(c: Loss) -> tuple[Loss, Loss] | None:
    """Laws above and below one of very many kinds, for many points; of rare losses of the fewest, as each point of more
    takes its time."""
    above, below = loss_is_dominated_by_fewer_kinds(c), loss_dominates_fewer_kinds(c)
    if above is None or below is None:
        return None
    return fewest(c) if rare(c) else (above, below)


def fewest(c: Loss) -> tuple[Loss, Loss] | None:
    """Laws above and below with one kind for each family, where that is fewer: the last resort of a law that nothing
    else is known of."""
    above, below = _with(c, True, 1), _with(c, False, 1)
    return (above, below) if max(kinds(above), kinds(below)) < kinds(c) else None


def _with(c: Loss, largest: bool, rungs: int) -> Loss:
    return Loss(_thinned(c.remove, largest, rungs), None if c.add is None else _thinned(c.add, largest, rungs))


def _thinned(parts: Parts, largest: bool, rungs: int) -> Parts:
    """Each family in cells of about the same relative size, whose members count as the worst or the best of them."""
    families: dict[Hashable, list[_Member]] = {}
    found: list[tuple[Pair, int]] = []
    for pair, n in merged(parts):
        known = pair.rung()
        if known is None:
            found.append((pair, n))
            continue
        family, numbers = known
        if len(numbers) > 1 and pair.at_rate(numbers[1]) is None:  # of one rate, as no other can be had
            family, numbers = (family, numbers[1:]), numbers[:1]
        families.setdefault(family, []).append((pair, numbers, n))
    for members in families.values():
        places = zip(*(_places([one[1][i] for one in members], rungs) for i in range(len(members[0][1]))), strict=True)
        cells: dict[tuple[int, ...], list[_Member]] = {}
        for place, member in zip(places, members, strict=True):
            cells.setdefault(place, []).append(member)
        found += [_standing(cell, largest) for cell in cells.values()]
    return merged(tuple(found))


def _places(numbers: list[Fraction], rungs: int) -> list[int]:
    """In which of so many cells each lies, on a logarithmic scale."""
    logs = [math.log(x.numerator) - math.log(x.denominator) if x > 0 else -math.inf for x in numbers]
    finite = [x for x in logs if x > -math.inf]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    step = (high - low) / rungs or 1.0
    return [-1 if x == -math.inf else min(int((x - low) / step), rungs - 1) for x in logs]


def _standing(cell: list[_Member], largest: bool) -> tuple[Pair, int]:
    """The pair that dominates all of the cell, or is dominated by all, and how many it stands for."""
    choose = max if largest else min
    pair, numbers, _ = choose(cell, key=lambda one: one[1][0])
    rate = choose(one[1][-1] for one in cell)
    other = pair.at_rate(rate) if len(numbers) > 1 and rate != numbers[1] else None
    return pair if other is None else other, sum(n for _, _, n in cell)
