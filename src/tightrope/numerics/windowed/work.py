"""How much work the proof of a windowed contour is, by formula from its plan."""

from __future__ import annotations

import math

from tightrope.numerics.windowed.floats import FloatLaw
from tightrope.numerics.windowed.outcomes import loss_at
from tightrope.numerics.windowed.plan import WindowPlan

__all__ = ["proof_work"]

_MOMENTS, _EXCHANGED = 1.2e4, 3e4  # for the moments of steps, and if these exchange a record
_LOWER, _MIRRORED = 1.4, 1.25  # LOW steps have nodes of their own, and exchanges two powers at each
_BITS, _DOUBLED = 48, 96  # from where on bits count, and how many more are twice the work


def proof_work(law: FloatLaw, plan: WindowPlan) -> float:
    """About how many microseconds it takes: nodes for the windows, the bulk, and the turns of w^{iy}."""
    total = 20.0 * plan.count + law.others.cost(float(plan.t), float(plan.eta), plan.count, plan.bits)
    dearer = 1 + max(plan.bits - _BITS, 0) / _DOUBLED
    node = 45 + (1.5 * math.sqrt(plan.count) + 0.035 * plan.count) * dearer
    node *= (_LOWER if plan.has_low else 1.0) * (_MIRRORED if law.exchanged else 1.0)
    for (mu, rate, _), piece in zip(law.samplers, plan.pieces, strict=True):
        loss = loss_at(mu, rate, float(piece.split.cut), law.exchanged)
        turns = float(plan.eta) * plan.count * (loss - math.log1p(-rate))  # losses far below 0 need few nodes
        total += (170 + 0.5 * turns) * node
        total += (_EXCHANGED if law.exchanged else _MOMENTS) * (2 if plan.has_low else 1)
    return total
