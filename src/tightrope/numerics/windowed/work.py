"""How much work the proof of a windowed contour is, by formula from its plan."""

from __future__ import annotations

import math

from tightrope.numerics.windowed.floats import FloatLaw
from tightrope.numerics.windowed.outcomes import loss_at
from tightrope.numerics.windowed.plan import WindowPlan

__all__ = ["proof_work"]

_EXCHANGED = 1.5e4  # for the moments of steps that exchange a record


def proof_work(law: FloatLaw, plan: WindowPlan) -> float:
    """About how many microseconds it takes: nodes for the windows, the bulk, and the turns of w^{iy}."""
    total = 20.0 * plan.count + law.others.cost(float(plan.t), float(plan.eta), plan.count, plan.bits)
    for (mu, rate, _), piece in zip(law.samplers, plan.pieces, strict=True):
        loss = loss_at(mu, rate, float(piece.split.cut), law.exchanged)
        turns = float(plan.eta) * plan.count * (loss - math.log1p(-rate))  # losses far below 0 need few nodes
        number = 240 + (100 if plan.has_low else 0) + 0.9 * turns
        if law.exchanged:
            total += _EXCHANGED * (2 if plan.has_low else 1)
        total += number * (40 + 1.2 * math.sqrt(plan.count) + 0.1 * plan.count)
    return total
