"""One direction of a loss at many ε, to about the same absolute accuracy over long stretches.

A contour made at one ε encloses δ at every other. Further out it errs by about as much as at its own place, and δ is
smaller there: for a trade-off that is good enough until δ has become small beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tightrope.curves.engines.lesser_direction import chernoff_bound, tilt_to_the_leak
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, between, lower_float, precision, upper_float
from tightrope.numerics.contour.blurred import BlurredSum
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.exact import near
from tightrope.numerics.grid.plan import grid_plan, rough_level
from tightrope.numerics.grid.search import SMALL, GridDirection, log_float

__all__ = ["EvenDirection", "blurred_direction", "contour_direction", "grid_direction"]

Prover = Callable[[Fraction], Ball]

_LOST = 14  # bits that a value may be less exact than at the contour's own place
_LEAST = 4  # bits of the first value; with fewer, another engine may do better
_MOST_SHEETS, _MOST_GRIDS = 5, 2  # contours for each direction; later points take what the last of them says
_GRID = 2**16  # points of a grid
_RELATIVE, _BLURRED = 1e-13, 5e-9
_BLURRED_BITS = 128  # more than its nodes have, which are floats


@dataclass(frozen=True)
class _Sheet:
    place: float
    bits: int  # how exact a value is there
    prove: Prover


class EvenDirection:
    """``contour`` makes a proof for an ε that holds at every other. Gives up for good if it fails at the first."""

    def __init__(self, contour: Callable[[float], Prover], most: int = _MOST_SHEETS) -> None:
        self._contour, self._most = contour, most
        self._sheets: tuple[_Sheet, ...] = ()
        self._failed = False

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """δ at each ε ≥ 0; None where it was not found."""
        return [self._delta(x) for x in epsilons]

    def _delta(self, epsilon: Fraction) -> Ball | None:
        if self._failed:
            return None
        x = near(epsilon)
        value: Ball | None = None
        try:
            before = max((s for s in self._sheets if s.place <= x), key=lambda s: s.place, default=None)
            if before is not None:
                value = before.prove(epsilon)
                if int(value.rel_accuracy_bits()) >= before.bits - _LOST:
                    return value
            if len(self._sheets) < self._most:
                prove = self._contour(x)
                value = prove(epsilon)
                bits = int(value.rel_accuracy_bits())
                if bits < _LEAST and not self._sheets:
                    raise NotCertified("a contour for many ε", "it does not see δ(0)")
                self._sheets = (*self._sheets, _Sheet(x, bits, prove))
        except NotCertified:
            self._failed = not self._sheets
        return None if self._failed else value


def contour_direction(total: ContourSum) -> EvenDirection:
    """By contours of a sum; far out, where next to nothing but the mass at ∞ is left, by Chernoff's bound."""
    leaks = not total.infinite().is_zero()

    def contour(x: float) -> Prover:
        t = tilt_to_the_leak(total, x) if leaks else None
        if t is not None:
            return lambda epsilon: chernoff_bound(total, epsilon, t)
        plan = total.plan(x, _RELATIVE)

        def prove(epsilon: Fraction) -> Ball:
            with precision(plan.bits + 64):  # so that ε is exact, or nearly
                return total.call(ball(epsilon), plan)

        return prove

    return EvenDirection(contour)


def blurred_direction(total: BlurredSum) -> EvenDirection:
    """By blurred contours of a sum."""

    def contour(x: float) -> Prover:
        plan = total.plan(x, _BLURRED)

        def prove(epsilon: Fraction) -> Ball:
            with precision(_BLURRED_BITS):
                return total.call(ball(epsilon), plan)

        return prove

    return EvenDirection(contour)


def grid_direction(laws: GridDirection) -> EvenDirection:
    """By two laws on a lattice that enclose the one asked about."""

    def contour(x: float) -> Prover:
        pictures = laws.pictures()
        rough = laws.grid(grid_plan(pictures, x, rough_level(pictures, x), SMALL))
        grid = laws.grid(grid_plan(pictures, x, log_float(rough.upper(x)), _GRID))

        def prove(epsilon: Fraction) -> Ball:
            with precision(_BLURRED_BITS):
                at = ball(epsilon)
                low, high = max(lower_float(at), 0.0), upper_float(at)  # δ falls in ε
                return between(grid.lower(high), grid.upper(low))

        return prove

    return EvenDirection(contour, _MOST_GRIDS)
