"""The plan of a contour as a witness, and what a witness proves."""

from __future__ import annotations

from fractions import Fraction

from tightrope.curves.engines.lesser_direction import chernoff_bound
from tightrope.curves.profile import Witness
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.contour.integral import ContourSum, Plan

__all__ = ["proved_value", "read_plan", "written_plan"]


def written_plan(plan: Plan) -> Witness:
    """A plan as a witness."""
    return {"t": plan.t, "eta": plan.eta, "count": plan.count, "bits": plan.bits}


def read_plan(witness: Witness) -> Plan:
    """The plan of a witness."""
    return Plan(Fraction(witness["t"]), Fraction(witness["eta"]), int(witness["count"]), int(witness["bits"]))


def proved_value(total: ContourSum, epsilon: Fraction, witness: Witness) -> Ball:
    """The call at ε by a written plan, or Chernoff's bound of it at a tilt."""
    if "eta" in witness:
        with precision(int(witness["bits"]) + 64):  # enough for one x, and not two ends of a ball
            return total.call(ball(epsilon), read_plan(witness))
    return chernoff_bound(total, epsilon, Fraction(witness["t"]))
