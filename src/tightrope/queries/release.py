"""Release: a private answer together with what it cost and how far it may be off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import inf, isinf
from typing import Any

from tightrope.accounting.claim import Claim
from tightrope.accounting.least import pure, zcdp
from tightrope.errors import Unsupported
from tightrope.mechanisms.base import Mechanism, Relation
from tightrope.numerics.exact import Number, near

Ends = Callable[[Number], tuple[Any, Any]]  # confidence → (low, high)


def around(value: int | float, half: float) -> tuple[float, float]:
    """value ± half, for whole numbers beyond all floats too."""
    if isinf(half):
        return -inf, inf
    return near(Fraction(value) - Fraction(half)), near(Fraction(value) + Fraction(half))


@dataclass(frozen=True)
class Release:
    """A private answer, from ``tr.count`` and the other queries. ``value`` may be published.

    ``mechanism`` is what was run, for neighbours under ``relation``; ``claim`` is what it cost; ``std`` bounds the
    noise's standard deviation (None for a choice); ``source`` says where the random bits came from.

    >>> from tightrope import count
    >>> answer = count([True, False, True], epsilon=0.5)
    >>> answer.claim.upper, type(answer.value)
    (0.5, <class 'int'>)
    """

    value: Any
    mechanism: Mechanism
    relation: Relation
    std: float | None
    source: str
    _ends: Ends | None = field(default=None, repr=False, compare=False)

    @cached_property
    def claim(self) -> Claim:
        """The least pure ε of what was run, or where there is none its least ρ (zCDP)."""
        found = pure(self.mechanism)
        return found if found.upper < inf else zcdp(self.mechanism)

    def interval(self, confidence: Number = 0.95) -> tuple[Any, Any]:
        """(low, high), which contains the exact answer (of the clamped data) with this chance, entry by entry."""
        if self._ends is None:
            raise Unsupported("an interval for this answer", "it was chosen among candidates", "Look at .value.")
        return self._ends(confidence)

    def __float__(self) -> float:
        return near(Fraction(self.value))
