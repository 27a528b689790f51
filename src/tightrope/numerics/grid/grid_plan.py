"""The plan of a grid, and what the proofs assume of one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.grid.lattice_laws import Lattice

__all__ = ["LONGEST", "GridPlan", "check_plan"]

LONGEST = 2**19
_SMALLEST, _LARGEST = Fraction(1, 2**200), Fraction(2**200)  # steps and tilts: none is lost in floats


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


def check_plan(plan: GridPlan, parts: int) -> None:
    """What the proofs of ``total.py`` assume of a plan; NotCertified for others."""
    step = plan.lattices[0].step if plan.lattices else Fraction(0)
    fits = len(plan.lattices) == parts and all(
        lattice.step == step and 0 <= lattice.last - lattice.first < plan.length for lattice in plan.lattices
    )
    short = all(x.denominator & (x.denominator - 1) == 0 for x in (step, plan.tilt))
    # Points, and the tilt times a point, are floats without rounding.
    bits = max((max(abs(lat.first), abs(lat.last)).bit_length() for lat in plan.lattices), default=0)
    short = short and bits + _bits(step) + _bits(plan.tilt) <= 53
    short = short and all(_SMALLEST <= x <= _LARGEST for x in (step, plan.tilt))
    window = abs(plan.start) + plan.length < 2**30
    power = 2 <= plan.length <= LONGEST and plan.length & (plan.length - 1) == 0
    if not (fits and short and window and power and plan.below < plan.tilt < plan.above):
        raise NotCertified("a grid of losses", "its plan does not fit")


def _bits(x: Fraction) -> int:
    """Of a dyadic number."""
    return (x.numerator // (x.numerator & -x.numerator)).bit_length() if x else 0
