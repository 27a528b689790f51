"""How many points a grid should have, from the distance of the ends of smaller ones: floats choose."""

from __future__ import annotations

import math

__all__ = ["AIMED", "ENOUGH", "next_length", "predicted"]

ENOUGH = 1e-6  # relative distance of the ends of ε, unless less will do
AIMED = 0.5  # of that, for a grid that is planned
_GROWTH = 8  # at most, from one grid to the next: coarse ones overstate the gap


def next_length(length: int, gap: float, longest: int, enough: float = ENOUGH) -> int:
    """How many points bring a gap that falls with their square to what is aimed at; the same if it is enough."""
    if gap <= enough or length >= longest:
        return length
    wanted = math.ceil(math.log2(length * math.sqrt(min(gap, 1.0) / (AIMED * enough))))
    return min(max(1 << wanted, 2 * length), _GROWTH * length, longest)


def predicted(gaps: tuple[float, float], lengths: tuple[int, int], longest: int) -> float:
    """The gap of the longest grid, if it falls as it did from one grid to the next."""
    if not 0 < gaps[1] < gaps[0] < 1:  # then the first one says nothing
        return 0.0
    order = math.log(gaps[0] / gaps[1]) / math.log(lengths[1] / lengths[0])
    return gaps[1] * math.exp(order * math.log(lengths[1] / longest))
