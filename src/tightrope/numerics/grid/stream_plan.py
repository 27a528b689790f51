"""How the steps of a law climb (``climb.py``): floats choose rungs whose windows hold the sums below them.

A lattice of step h and n points can hold the sums of so many steps as have a window of n·h, and splitting k sums costs
kh². So the steps begin on the finest lattice that holds the sum of two or more of them, and each time the lattice is
coarse enough for four times as many, a rung takes them there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tightrope.numerics.grid.grid_plan import Rung, Stream

__all__ = ["Reach", "climbing"]

_DEEPEST = 14  # doublings
_FULL = 0.95  # of a window
_WORTH = 8  # what is split in many places costs more than what is merged
_GROWTH = 4  # of the sums from rung to rung


@dataclass(frozen=True)
class Reach:
    """Where sums of a number of steps are, but for hardly anything, and the tilts of two bounds that say so."""

    bottom: float
    top: float
    above: Fraction
    below: Fraction


def climbing(copies: int, step: Fraction, length: int, longest: float, reach: Callable[[int], Reach]) -> list[Stream]:
    """The streams of the law that splits least, or none if that is not worth it; ``longest`` is the range of a step."""
    numbers = [2**i for i in range(max(copies.bit_length(), 1))]
    widths = [reach(number) for number in numbers]
    wide = [one.top - one.bottom for one in widths]

    def most(level: int) -> int:
        """The largest power of two whose sums fit the window of a lattice."""
        window = _FULL * length * float(step) / 2**level
        fitting = [number for number, width in zip(numbers, wide, strict=True) if width <= window]
        return fitting[-1] if fitting and longest <= window else 0

    best, least = [], copies / _WORTH
    for bottom in range(1, _DEEPEST + 1):
        levels, blocks = _levels(bottom, most)
        if not levels:
            break
        cost = copies / 4**bottom
        for block, following in zip(blocks, [*levels[1:], 0], strict=True):
            cost += (copies // block + 1) / 4**following
        if cost < least:
            best, least = _streams(copies, levels, blocks, step, length, reach), cost
    return best


def _levels(bottom: int, most: Callable[[int], int]) -> tuple[list[int], list[int]]:
    """At which doublings below the top there are rungs, and how many steps have been summed on each."""
    levels: list[int] = []
    blocks: list[int] = []
    for level in range(bottom, 0, -1):
        fits = most(level)
        if fits >= (_GROWTH * blocks[-1] if blocks else 2):
            levels.append(level)
            blocks.append(fits)
        elif not blocks:
            return [], []
    return levels, blocks


def _streams(
    copies: int, levels: list[int], blocks: list[int], step: Fraction, length: int, reach: Callable[[int], Reach]
) -> list[Stream]:
    """All steps: first those that climb all rungs, then what is left over at each of them."""

    def rung(steps: int, power: int, level: int, following: int) -> Rung:
        where, finer = reach(steps), float(step) / 2**level
        coarse = 2 ** (level - following)
        middle = (where.bottom + where.top) / 2 - length * finer / 2
        return Rung(power, level - following, round(middle / finer / coarse) * coarse, where.above, where.below)

    rungs: list[Rung] = []
    found: list[Stream] = []
    below = 1
    for place, (level, block) in enumerate(zip(levels, blocks, strict=True)):
        over = copies % block // below
        if over:
            found.append(Stream((*rungs, rung(over * below, over, level, 0)), 1))
        following = levels[place + 1] if place + 1 < len(levels) else 0
        rungs.append(rung(block, block // below, level, following))
        below = block
    return [*([Stream(tuple(rungs), copies // below)] if copies >= below else []), *found]
