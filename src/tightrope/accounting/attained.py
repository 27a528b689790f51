"""Bounds from laws that mechanisms fitting a description really have, at many points at once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice

from tightrope.accounting.lower_laws import MOST_LAWS, lower_losses
from tightrope.curves.ladders import fewer_for_many_points
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.balls import lower_float, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.real import largest, total
from tightrope.theorems import Step

__all__ = ["attained_bounds", "largest_attained", "within"]

Bounds = list[Bound | None]


def attained_bounds(m: Mechanism, bounds: Callable[[Loss], Bounds]) -> Iterator[Bounds]:
    """What ``bounds`` says of each law, of very many kinds by a law of fewer. Parts of a law it has said all about are
    passed over: they give away less."""
    proved: list[Loss] = []
    for law, _ in islice(lower_losses(m), MOST_LAWS):
        if any(within(law, whole) for whole in proved):
            continue
        few = fewer_for_many_points(law)
        try:
            found = bounds(law if few is None else few[1])
        except NotCertified:
            continue
        yield found
        if None not in found:
            proved.append(law)


def largest_attained(m: Mechanism) -> tuple[float, tuple[Step, ...]]:
    """The largest loss of a law that is attained: no smaller ε will do without a δ. And the lines that say so, where it
    is infinite."""
    best = 0.0
    for law, steps in lower_losses(m):
        top = largest([total(parts) for parts in law.largest()])
        if top.infinite:
            return math.inf, steps
        with suppress(NotCertified):
            best = max(best, lower_float(sharp(top.ball)))
    return best, ()


def within(law: Loss, whole: Loss) -> bool:
    """Whether every part is one of the whole's, as often or less."""
    sides = zip((law.remove, law.directions[-1]), (whole.remove, whole.directions[-1]), strict=True)
    return all(Counter(dict(some)) <= Counter(dict(every)) for some, every in sides)
