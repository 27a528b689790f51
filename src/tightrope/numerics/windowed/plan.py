"""The parameters of a windowed contour. Any are valid; poor ones cost width."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tightrope.numerics.windowed.bounds import Split

__all__ = ["Piece", "WindowPlan"]


@dataclass(frozen=True)
class Piece:
    """How the steps of one sampler are split, and the tilts and angles at which the rest of them is bounded.

    ``put``: for paths with a HIGH step, which end above x but for a bounded part; None where they are unlikely, and
    bounded by their probability. ``low_end``: where LOW steps end, but for few. ``angle``, ``low_angle``: the shifts
    for the nodes' tail; 0: none.
    """

    split: Split
    put: Fraction | None
    low_end: Fraction
    angle: Fraction
    low_angle: Fraction


@dataclass(frozen=True)
class WindowPlan:
    """A piece for each sampler; tilt, step and number of nodes; the bits; and the tilts at which the rest is bounded.

    ``above``: aliases from above. ``below``: those from below, None where there are none. ``all_low``: paths with LOW
    steps only.
    """

    pieces: tuple[Piece, ...]
    t: Fraction
    eta: Fraction
    count: int
    bits: int
    above: Fraction
    below: Fraction | None
    all_low: Fraction
    work: float = field(default=0.0, compare=False)  # about how many microseconds the proof takes

    @property
    def has_low(self) -> bool:
        """Whether paths with LOW steps only are left out."""
        return self.pieces[0].split.low is not None
