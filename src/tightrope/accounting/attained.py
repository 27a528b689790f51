"""Bounds from laws that mechanisms fitting a description really have, at many points at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from tightrope.accounting.lower_laws import lower_losses
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.bound import Bound

__all__ = ["attained_bounds", "within"]

Bounds = list[Bound | None]


def attained_bounds(m: Mechanism, bounds: Callable[[Loss], Bounds]) -> Iterator[Bounds]:
    """What ``bounds`` says of each law. Parts of a law it has said all about are passed over: they give away less."""
    proved: list[Loss] = []
    for law, _ in lower_losses(m):
        if any(within(law, whole) for whole in proved):
            continue
        try:
            found = bounds(law)
        except NotCertified:
            continue
        yield found
        if None not in found:
            proved.append(law)


def within(law: Loss, whole: Loss) -> bool:
    """Whether every part is one of the whole's, as often or less."""
    sides = zip((law.remove, law.directions[-1]), (whole.remove, whole.directions[-1]), strict=True)
    return all(Counter(dict(some)) <= Counter(dict(every)) for some, every in sides)
