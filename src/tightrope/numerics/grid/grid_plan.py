"""The plan of a grid, and what the proofs assume of one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from tightrope.errors import NotCertified
from tightrope.numerics.grid.lattice_laws import Lattice

__all__ = ["LONGEST", "MOST_POINTS", "GridPlan", "Rung", "Stream", "check_plan"]

LONGEST = 2**19
_HIGHEST = 40  # doublings
MOST_POINTS = 2**23  # of all rungs and streams
_SMALLEST, _LARGEST = Fraction(1, 2**200), Fraction(2**200)  # steps and tilts: none is lost in floats


@dataclass(frozen=True)
class Rung:
    """The sum of ``power`` of what is below, in a window from ``start`` on, is split onto every 2^``doublings``-th
    point; ``above`` and ``below`` are the tilts of two bounds."""

    power: int
    doublings: int
    start: int
    above: Fraction
    below: Fraction

    def __post_init__(self) -> None:
        if not 1 <= self.doublings <= _HIGHEST:
            raise NotCertified("a grid of losses", "a rung of its plan is too high")

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Asked for often, and that of a fraction takes long."""
        return hash((self.power, self.doublings, self.start, self.above, self.below))


@dataclass(frozen=True)
class Stream:
    """Some of a law's steps: they climb the rungs, and what arrives counts ``copies`` times."""

    rungs: tuple[Rung, ...]
    copies: int

    @property
    def steps(self) -> int:
        """How many they are."""
        return math.prod(rung.power for rung in self.rungs) * self.copies

    @property
    def doublings(self) -> int:
        """Of the lattice's step, from the bottom to the top."""
        return sum(rung.doublings for rung in self.rungs)


@dataclass(frozen=True)
class GridPlan:
    """All that floats choose: the lattice of each law, the tilt, the window of sums, the tilts of two bounds."""

    lattices: tuple[Lattice, ...]
    tilt: Fraction
    start: int  # the window of sums is step·J for start ≤ J < start + length
    length: int
    above: Fraction  # a tilt larger than ``tilt``
    below: Fraction  # a smaller one
    split: bool = False  # atoms between points: split as in the greater law, less what that adds; else merged
    streams: tuple[tuple[Stream, ...], ...] = ()  # of each law; none: all steps are on the lattice of the sums

    @property
    def step(self) -> Fraction:
        """Of the lattice of the sums."""
        first = self.streams[0][0].doublings if self.streams and self.streams[0] else 0
        return self.lattices[0].step * (1 << min(first, _HIGHEST))

    @property
    def end(self) -> float:
        """Beyond which ε is above the window, or nearly."""
        return float(self.step) * (self.start + self.length - 4)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """As that of a rung."""
        return hash((self.lattices, self.tilt, self.start, self.length, self.above, self.below, self.streams))

    @cached_property
    def points(self) -> int:
        """Of all rungs, too."""
        streams = [stream.rungs for climbs in self.streams for stream in climbs]
        return self.length * (1 + len({rungs[: i + 1] for rungs in streams for i in range(len(rungs))}))

    def climbs(self, copies: Sequence[int]) -> tuple[tuple[Stream, ...], ...]:
        """The streams of each law, if it has so many steps."""
        return self.streams or tuple((Stream((), count),) for count in copies)


def check_plan(plan: GridPlan, copies: Sequence[int]) -> None:
    """What the proofs of ``total.py`` assume of a plan for so many steps of each law; NotCertified for others."""
    step = plan.step if plan.lattices else Fraction(0)
    streams = plan.climbs(copies)
    fits = len(plan.lattices) == len(copies) == len(streams) and all(
        0 <= lattice.last - lattice.first < plan.length
        and sum(stream.steps for stream in climbs) == count
        and all(one.doublings <= _HIGHEST and lattice.step * 2**one.doublings == step for one in climbs)
        and all(_fits(stream, plan) for stream in climbs)
        for lattice, count, climbs in zip(plan.lattices, copies, streams, strict=True)
    )
    short = all(x.denominator & (x.denominator - 1) == 0 for x in (step, plan.tilt))
    # Points, and the tilt times a point, are floats without rounding.
    bits = max((max(abs(lat.first), abs(lat.last)).bit_length() for lat in plan.lattices), default=0)
    short = short and bits + _bits(step) + _bits(plan.tilt) <= 53
    short = short and all(_SMALLEST <= x <= _LARGEST for x in (step, plan.tilt))
    window = abs(plan.start) + plan.length < 2**30
    power = 2 <= plan.length <= LONGEST and plan.length & (plan.length - 1) == 0
    fits = fits and plan.points + sum(map(len, streams)) * plan.length <= MOST_POINTS
    if not (fits and short and window and power and plan.below < plan.tilt < plan.above):
        raise NotCertified("a grid of losses", "its plan does not fit")


def _fits(stream: Stream, plan: GridPlan) -> bool:
    """Whether the rungs of a stream are what the proofs of ``climb.py`` assume."""
    return stream.copies > 0 and all(
        plan.split
        and rung.power > 0
        and 2**rung.doublings <= plan.length // 2
        and rung.start % 2**rung.doublings == 0
        and abs(rung.start) < 2**30
        and rung.below < plan.tilt < rung.above
        for rung in stream.rungs
    )


def _bits(x: Fraction) -> int:
    """Of a dyadic number."""
    return (x.numerator // (x.numerator & -x.numerator)).bit_length() if x else 0
