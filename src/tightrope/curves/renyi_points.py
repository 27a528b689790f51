"""Many points of the profile that follows from a Rényi curve: they share the orders at which it is evaluated.

Any order proves something of any point, so the orders are laid out once, some per cent apart over all that matter, and
each is proved once. A point loses about the square of how far its own best order is from the next one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from tightrope.curves.renyi import Renyi
from tightrope.curves.renyi_units import refuse_long, spend_on_value, value_units
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, sharp
from tightrope.numerics.exact import near
from tightrope.numerics.many_roots import ends_first

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["RenyiPoints"]

_COARSE = 60  # orders of a first look
_APART, _MOST = 0.03, (400, 200, 100)  # how far apart, relatively; and so many, by what a value in floats costs
_WHOLE = 24  # up to here whole orders are looked at as well, where some curves are best; beyond, these alone

Objective = Callable[["Floats", "Floats"], "Floats"]  # of λ and the divergence: what is to be least


class RenyiPoints:
    """Of one curve. ``lowest`` and ``highest`` bound the search for λ = α − 1."""

    def __init__(self, curve: Renyi, lowest: float, highest: float) -> None:
        top = math.inf if curve.top is None else near(curve.top)
        self._curve = curve
        self._high = min(top - 1, highest)
        self._low = min(lowest, self._high / 4)
        self._proved: dict[Fraction, Ball] = {}

    def orders(self, objectives: Sequence[Objective]) -> list[Fraction | None]:
        """For each point the order of which it has most, among those that are proved; None where there is none."""
        import numpy as np

        refuse_long(self._curve)
        coarse = np.geomspace(self._low, self._high, _COARSE)
        values = self._floats([Fraction(1 + float(lam)) for lam in coarse])
        if not np.isfinite(values).any():
            return [None] * len(objectives)
        best = [int(np.argmin(objective(coarse, values))) for objective in objectives]
        ends = coarse[max(min(best) - 1, 0)], coarse[min(max(best) + 1, _COARSE - 1)]
        number = min(math.ceil(math.log(ends[1] / ends[0]) / _APART) + 2, _MOST[self._curve.effort])
        whole = range(max(math.ceil(ends[0]), 1), min(math.floor(ends[1]), _WHOLE) + 1)
        orders = list(dict.fromkeys(self._order(float(lam)) for lam in (*np.geomspace(*ends, number), *whole)))
        lams, fine = np.array([float(order - 1) for order in orders]), self._floats(orders)
        chosen = [int(np.argmin(objective(lams, fine))) for objective in objectives]
        self._prove([orders[i] for i in ends_first(sorted(set(chosen)))])
        known = np.array([order in self._proved for order in orders])
        if not known.all():  # where work was left for some only
            fine = np.where(known, fine, math.inf)
            chosen = [int(np.argmin(objective(lams, fine))) for objective in objectives]
        return [orders[i] if known[i] else None for i in chosen]

    def divergence(self, order: Fraction) -> Ball:
        """That of an order that was proved."""
        return self._proved[order]

    def _order(self, lam: float) -> Fraction:
        order = Fraction(1 + lam).limit_denominator(2**20) if lam < _WHOLE else Fraction(round(1 + lam))
        if self._curve.top is not None and (order > self._curve.top or lam >= self._high):
            return self._curve.top
        return order if order > 1 else Fraction(1 + lam)

    def _floats(self, orders: Sequence[Fraction]) -> Floats:
        """The curve in floats, ∞ where it gives up."""
        import numpy as np

        try:
            found = self._curve.approximations([max(near(order), 1 + 2.0**-50) for order in orders])
        except NotCertified:
            if len(orders) == 1:
                return np.array([math.inf])
            return np.concatenate([self._floats([order]) for order in orders])
        return np.where(np.isfinite(found), found, math.inf)

    def _prove(self, orders: Sequence[Fraction]) -> None:
        """As far as there is work for them; the first always, unless it is long."""
        units = value_units(self._curve)
        for order in orders:
            if self._proved and not effort.affords(units):
                break
            spend_on_value(self._curve)
            with effort.paid():
                self._proved[order] = sharp(partial(self._curve.divergence, order), bits=60, start=128, limit=2000)
