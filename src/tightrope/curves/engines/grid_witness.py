"""Plans of grids as witnesses, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tightrope.curves.profile import Witness
from tightrope.numerics.grid.any_grid import AnyPlan
from tightrope.numerics.grid.graded import GradedPlan
from tightrope.numerics.grid.grid_plan import GridPlan, Rung, Stream
from tightrope.numerics.grid.lattice_laws import Lattice
from tightrope.numerics.grid.listed import ListedPlan

__all__ = ["read_plan", "written_plan"]


def written_plan(plan: AnyPlan) -> Witness:
    """A plan as a witness."""
    if not isinstance(plan, GridPlan):
        borders = [[] if border is None else list(border) for border in plan.borders]
    if isinstance(plan, ListedPlan):
        lists = [[written_plan(one) for one in plans] for plans in plan.plans]
        found: Witness = {"borders": borders, "degree": plan.degree, "least": plan.least, "lists": lists}
        found |= {} if plan.floor == -math.inf else {"floor": plan.floor}
        return {**found, **_written_moves(plan)}
    if isinstance(plan, GradedPlan):
        graded = [written_plan(one) for one in plan.plans]
        return {"borders": borders, "degree": plan.degree, "grades": graded, **_written_moves(plan)}
    written: Witness = {
        "step": plan.lattices[0].step,
        "ranges": [[lattice.first, lattice.last] for lattice in plan.lattices],
        "tilt": plan.tilt,
        "start": plan.start,
        "length": plan.length,
        "above": plan.above,
        "below": plan.below,
        "split": plan.split,
    }
    if plan.streams:
        written["step"] = plan.step
        written["streams"] = [
            [{"rungs": [_written_rung(rung) for rung in one.rungs], "copies": one.copies} for one in streams]
            for streams in plan.streams
        ]
    return written


def _written_moves(plan: GradedPlan | ListedPlan) -> Witness:
    return {"moves": list(plan.moves)} if any(plan.moves) else {}


def _written_rung(rung: Rung) -> list[int | Fraction]:
    return [rung.power, rung.doublings, rung.start, rung.above, rung.below]


def read_plan(witness: Witness) -> AnyPlan:
    """The plan of a witness."""
    if "grades" in witness or "lists" in witness:
        borders = [(Fraction(one[0]), Fraction(one[1])) if one else None for one in witness["borders"]]
        moves = tuple(map(Fraction, witness.get("moves", [])))
    if "lists" in witness:
        lists = tuple(tuple(_read_grid(one) for one in plans) for plans in witness["lists"])
        degree, least, floor = int(witness["degree"]), float(witness["least"]), float(witness.get("floor", -math.inf))
        return ListedPlan(tuple(borders), degree, least, lists, floor, moves)
    if "grades" in witness:
        plans = tuple(_read_grid(one) for one in witness["grades"])
        return GradedPlan(tuple(borders), int(witness["degree"]), plans, moves)
    return _read_grid(witness)


def _read_grid(witness: Witness) -> GridPlan:
    step = Fraction(witness["step"])
    streams = tuple(
        tuple(Stream(tuple(_read_rung(rung) for rung in one["rungs"]), int(one["copies"])) for one in climbs)
        for climbs in witness.get("streams", [])
    )
    deep = [2 ** (climbs[0].doublings if climbs else 0) for climbs in streams] or [1] * len(witness["ranges"])
    lattices = tuple(
        Lattice(step / finer, int(first), int(last))
        for finer, (first, last) in zip(deep, witness["ranges"], strict=True)
    )
    start, length = int(witness["start"]), int(witness["length"])
    tilt, above, below = (Fraction(witness[name]) for name in ("tilt", "above", "below"))
    return GridPlan(lattices, tilt, start, length, above, below, bool(witness["split"]), streams)


def _read_rung(written: Sequence[Any]) -> Rung:
    power, doublings, start, above, below = written
    return Rung(int(power), int(doublings), int(start), Fraction(above), Fraction(below))
