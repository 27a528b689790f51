"""Where a product of transforms comes back far from the axis, as it does for losses that nearly lie on a lattice."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tightrope.numerics.contour.smoothed_proof import SmoothPlan
from tightrope.numerics.transforms.low_stretches import LowPart

__all__ = ["islands"]

_MOST, _NODES, _LONGEST = 40, 8000, 3000  # islands, their nodes, and what is looked at for one
_FURTHER = 0.03  # of y: a little more than a stretch in which something is not low
_ROOM = 1.3  # what is that much lower than it must be is quickly proved to be low
_BESIDE = 2  # nodes on each side
_ONCE_MORE = 2  # returns that may be missing


def islands(parts: Sequence[LowPart], plan: SmoothPlan, reached: float) -> tuple[tuple[int, int], ...] | None:
    """The plan's islands, one more right after ``reached``, and those that follow at about the same distances: as
    floats see it. None if there is none there, or if they are too many."""
    start = int(reached / float(plan.eta)) - 1
    found = [island for island in plan.islands if island[1] < start]
    number = min(math.ceil(_FURTHER * start) + 3 * plan.count, _LONGEST)
    island = _island(parts, plan, start, number, found[-1][1] if found else plan.count)
    if island is None:
        return None
    found.append(island)
    period, turn, missing = sum(found[0]) / 2, len(found), 0
    while missing <= _ONCE_MORE and len(found) <= _MOST:
        turn += 1
        wide, middle = found[-1][1] - found[-1][0] + 2 * _BESIDE, round(turn * period)
        if middle - wide > plan.last:
            break
        island = _island(parts, plan, middle - wide, 2 * wide, found[-1][1])
        missing += island is None
        if island is not None:
            found.append(island)
            period = sum(island) / 2 / turn
    few = len(found) <= _MOST and sum(end - start for start, end in found) <= _NODES
    return tuple(found) if few else None


def _island(parts: Sequence[LowPart], plan: SmoothPlan, start: int, number: int, before: int) -> tuple[int, int] | None:
    """The first nodes that are not low among so many; ``before``: the last node that is known."""
    import numpy as np

    start = max(start, before + 1)
    nodes = start + np.arange(min(number, plan.last - start + 1))
    if not len(nodes):
        return None
    needed = plan.nats - np.log(nodes / plan.count)
    logs = np.min([part.logs(nodes * float(plan.eta)) for part in parts], axis=0)
    high = np.nonzero(logs > -_ROOM * needed)[0]
    if not len(high):
        return None
    apart = np.nonzero(np.diff(high) > plan.count)[0]  # what is nearer belongs to it
    last = high[apart[0]] if len(apart) else high[-1]
    return max(int(nodes[high[0]]) - _BESIDE, before + 1), min(int(nodes[last]) + _BESIDE, plan.last)
