"""Very many kinds of losses by few: where each pair dominates those below it, one stands for its neighbours."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction

from tightrope.curves.engines.rarity import hits
from tightrope.curves.loss import Loss, Parts, merged
from tightrope.curves.pair import Pair
from tightrope.theorems import Source, theorem

__all__ = ["kinds", "loss_dominates_fewer_kinds", "loss_is_dominated_by_fewer_kinds"]

MANY = 40  # kinds; what they cost together is found as they are
_RUNGS, _FEW_RUNGS = 36, 12  # that stand for a family; the latter for a grid,
_HITS = 2.5  # where fewer records are sampled on average
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
    if kinds(c) <= MANY:
        return None
    rungs = _RUNGS if hits(c) >= _HITS else _FEW_RUNGS
    found = Loss(_thinned(c.remove, largest, rungs), None if c.add is None else _thinned(c.add, largest, rungs))
    return found if kinds(found) <= MANY else None


def _thinned(parts: Parts, largest: bool, most: int) -> Parts:
    """Families that differ in the noise first, then those that differ in the rate."""
    found = merged(parts)
    for which in (0, 1):
        families: dict[Hashable, list[tuple[Fraction, Pair, int]]] = {}
        others: list[tuple[Pair, int]] = []
        for pair, n in found:
            rungs = pair.rungs()
            if which < len(rungs):
                families.setdefault(rungs[which][0], []).append((rungs[which][1], pair, n))
            else:
                others.append((pair, n))
        found = merged((*others, *(one for family in families.values() for one in _steps(family, largest, most))))
    return found


def _steps(family: list[tuple[Fraction, Pair, int]], largest: bool, most: int) -> list[tuple[Pair, int]]:
    """Neighbours that are about as far apart, relatively, as any, by the one of them at the end."""
    if len(family) <= most:
        return [(pair, n) for _, pair, n in family]
    family.sort(key=lambda one: one[0])
    low, high = float(family[0][0]), float(family[-1][0])
    span = math.log(high / low) if 0 < low < high < math.inf else 0.0
    groups: dict[int, list[tuple[Fraction, Pair, int]]] = {}
    for place, one in enumerate(family):
        share = math.log(float(one[0]) / low) / span if span > 0 else place / len(family)
        groups.setdefault(min(int(share * most), most - 1), []).append(one)
    return [(group[-1 if largest else 0][1], sum(n for _, _, n in group)) for group in groups.values()]
