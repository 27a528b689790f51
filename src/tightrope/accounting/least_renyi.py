"""D_α from everything that is known: a formula that is out of reach at one order is not worse than what others say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial

from tightrope.accounting.ask import enclosed
from tightrope.accounting.facts import fact
from tightrope.accounting.known import line
from tightrope.accounting.lower_laws import lower_losses
from tightrope.accounting.solve import Answer
from tightrope.curves.concentrated import ZeroConcentrated, concentrated_is_renyi
from tightrope.curves.loss import Loss
from tightrope.curves.loss_renyi import loss_has_renyi
from tightrope.curves.pure import Pure
from tightrope.curves.renyi import Renyi
from tightrope.curves.sampled.attained import renyi_attained_by_sample
from tightrope.curves.truncated import TruncatedConcentrated, truncated_is_renyi
from tightrope.errors import NotCertified
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.balls import lower_float, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.real import Real, largest, total
from tightrope.theorems import Kind, Step

_CLOSE = 1e-6  # ends so close together need no help
_BITS = 1500
_SMALLER = (4, 16, 256, 2**12, 2**16, 2**24)  # by so much smaller orders, where that of the question tells little


def renyi_answer(m: Mechanism, order: Fraction) -> Answer | None:
    """The enclosure by the Rényi curve, and by others where that is wide; None if nothing is known from above."""
    known, computed, best = fact(m, Renyi), Bound(0.0, math.inf), None
    if known is not None:
        computed = Bound.around(sharp(partial(known.curve.divergence, order), limit=_BITS), least=0.0)
        low = computed.lower if known.kind == "equal" else min(attained_renyi(m, order), computed.upper)
        best = Answer(Bound(low, computed.upper), computed, "rdp", known.kind, known.steps, {})
        if not _wide(best.bound):
            return best
    best = _least(m, order, best)
    if best is None or not _wide(best.bound):
        return best
    low = min(max(best.bound.lower, attained_renyi(m, order, further=True)), best.bound.upper)
    kind: Kind = "upper" if best.bound.upper > 2 * low else best.kind
    return replace(best, bound=Bound(low, best.bound.upper), kind=kind)


def _least(m: Mechanism, order: Fraction, best: Answer | None) -> Answer | None:
    """That answer, or with the least upper end that other curves tell."""
    for value, route, steps in _ceilings(m, order):
        upper = enclosed(value).upper
        if upper < (math.inf if best is None else best.bound.upper):
            low = min(attained_renyi(m, order) if best is None else best.bound.lower, upper)
            computed = Bound(0.0 if best is None else min(best.computed.lower, upper), upper)
            best = Answer(Bound(low, upper), computed, route, "upper" if best is None else best.kind, steps, {})
    return best


def _wide(bound: Bound) -> bool:
    return not bound.lower >= bound.upper * (1 - _CLOSE)


def _ceilings(m: Mechanism, order: Fraction) -> Iterator[tuple[Real, str, tuple[Step, ...]]]:
    """Other curves that bound D at this order."""
    law, pure = fact(m, Loss), fact(m, Pure)
    if law is not None:
        yield largest([total(parts) for parts in law.curve.largest()]), "exact", law.steps
    if pure is not None:
        yield pure.curve.epsilon, "basic", pure.steps
    linear, truncated = fact(m, ZeroConcentrated), fact(m, TruncatedConcentrated)
    if linear is not None and linear.curve.delta.rational == 0:
        value = linear.curve.xi + linear.curve.rho * order
        yield value, "zcdp", (*linear.steps, line(concentrated_is_renyi, m))
    if truncated is not None and (truncated.curve.omega is None or order <= truncated.curve.omega):
        yield truncated.curve.rho * order, "rdp", (*truncated.steps, line(truncated_is_renyi, m))


def attained_renyi(m: Mechanism, order: Fraction, further: bool = False) -> float:
    """The largest divergence of a law that fits; ``further``: also at smaller orders, since D never falls."""
    best = 0.0
    orders = [order, *(1 + (order - 1) / by for by in _SMALLER if (order - 1) > by)] if further else [order]
    for law, _ in lower_losses(m):
        curve = loss_has_renyi(law)
        value = partial(renyi_attained_by_sample, law) if curve is None else curve.divergence
        for at in orders:
            with suppress(NotCertified):
                best = max(best, lower_float(sharp(partial(value, at), limit=_BITS)))
    return best
