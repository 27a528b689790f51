"""The plan of a windowed contour as a witness, and back."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction

from tightrope.curves.profile import Witness
from tightrope.numerics.windowed.bounds import Split
from tightrope.numerics.windowed.plan import Piece, WindowPlan

__all__ = ["both_plans", "read_plan", "written_plan"]

_EXCHANGED = ("start", "deep", "deep_tilt")  # written only where a record is exchanged
_SPLIT = [f.name for f in fields(Split)]
_USUAL = [name for name in _SPLIT if name not in _EXCHANGED]
_PIECE = [f.name for f in fields(Piece) if f.name != "split"]
_PLAN = [f.name for f in fields(WindowPlan) if f.name not in ("pieces", "work")]


def written_plan(plan: WindowPlan) -> Witness:
    """One piece is written beside the rest, several as a list."""
    pieces = [
        {
            **{name: getattr(piece.split, name) for name in (_SPLIT if piece.split.start is not None else _USUAL)},
            **{name: getattr(piece, name) for name in _PIECE},
        }
        for piece in plan.pieces
    ]
    rest = {name: getattr(plan, name) for name in _PLAN if name not in _EXCHANGED or plan.deep_tilt is not None}
    return {**pieces[0], **rest} if len(pieces) == 1 else {"pieces": pieces, **rest}


def read_plan(witness: Witness) -> WindowPlan:
    """The plan of a witness."""

    def exact(given: Witness, name: str) -> Fraction | None:
        value = given.get(name) if name in _EXCHANGED else given[name]
        return None if value is None else Fraction(value)

    pieces = []
    for given in witness.get("pieces", [witness]):
        split = Split(**{name: exact(given, name) for name in _SPLIT})  # type: ignore[arg-type]  # a missing border is refused
        pieces.append(Piece(split, **{name: exact(given, name) for name in _PIECE}))  # type: ignore[arg-type]  # likewise
    rest = {name: int(witness[name]) if name in ("count", "bits") else exact(witness, name) for name in _PLAN}
    return WindowPlan(tuple(pieces), **rest)  # type: ignore[arg-type]  # likewise


def both_plans(witness: Witness | None, adding: bool) -> tuple[WindowPlan | None, WindowPlan | None]:
    """The plan of a direction, and that of the other one, as far as a witness has them."""
    if witness is None:
        return None, None
    removes, adds = read_plan(witness), read_plan(witness["other"]) if "eta" in witness["other"] else None
    return (adds, removes) if adding else (removes, adds)
