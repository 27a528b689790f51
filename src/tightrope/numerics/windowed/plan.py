"""The parameters of a windowed contour. Any are valid; poor ones cost width."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.windowed.bounds import Split

__all__ = ["ROUGHEST", "Piece", "WindowPlan", "check_plan"]

_MOST_NODES, _MOST_BITS = 4000, 4000  # a plan may come from outside
ROUGHEST = 2
_WIDEST = Fraction(22, 7)  # no angle reaches π


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
    steps only. ``deep_tilt``: where a record is exchanged, paths with DEEP steps and no HIGH one.
    """

    pieces: tuple[Piece, ...]
    t: Fraction
    eta: Fraction
    count: int
    bits: int
    above: Fraction
    below: Fraction | None
    all_low: Fraction
    deep_tilt: Fraction | None = None
    work: float = field(default=0.0, compare=False)  # about how many microseconds the proof takes
    level: int = field(default=ROUGHEST, compare=False)  # 0: as fine as is wanted; then rougher and rougher

    @property
    def has_low(self) -> bool:
        """Whether paths with LOW steps only are left out."""
        return self.pieces[0].split.low is not None


def check_plan(plan: WindowPlan, samplers: int, exchanged: bool, adding: bool) -> None:
    """Refuse plans for which nothing is proved."""
    positive = plan.t > 0 and plan.eta > 0 and plan.above > plan.t and plan.all_low > 0
    if not positive or not (1 <= plan.count <= _MOST_NODES and 2 <= plan.bits <= _MOST_BITS):
        raise NotCertified("a windowed contour", "its plan is void or out of reach")
    if plan.below is not None and not plan.below >= 1:
        raise NotCertified("a windowed contour", "its plan is void")
    if len(plan.pieces) != samplers or any(p.put is not None and not p.put > 1 for p in plan.pieces):
        raise NotCertified("a windowed contour", "its plan is void")
    if any(not (0 < piece.angle < _WIDEST and 0 <= piece.low_angle < _WIDEST) for piece in plan.pieces):
        raise NotCertified("a windowed contour", "its angles are out of reach")
    if any((piece.split.low is not None) != plan.has_low for piece in plan.pieces):
        raise NotCertified("a windowed contour", "steps of some samplers only are low")
    if adding and plan.has_low:
        raise NotCertified("a windowed contour", "nothing is low when a record is added")
    if exchanged != (plan.deep_tilt is not None) or (plan.deep_tilt is not None and not plan.deep_tilt > 0):
        raise NotCertified("a windowed contour", "its plan is void")
    if adding and exchanged:
        raise NotCertified("a windowed contour", "a record is exchanged, and none added")
