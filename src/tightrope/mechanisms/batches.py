"""Runs that share out the records: shuffled batches, as data loaders make them, and random allocation."""

from __future__ import annotations

from dataclasses import dataclass

from tightrope.mechanisms.base import Mechanism, Relation
from tightrope.mechanisms.composed import Wrapped
from tightrope.mechanisms.sampled import unbound
from tightrope.numerics.exact import Number, count


@dataclass(frozen=True, init=False, repr=False)
class ShuffledBatches(Wrapped):
    """``part`` once on each of ``steps`` batches of equal size, dealt out from a uniformly random order of the records.

    >>> from tightrope.mechanisms.gaussian import Gaussian
    >>> print(Gaussian(1, 2).shuffled_batches(100) * 3)
    gaussian(sigma=1, sensitivity=2).shuffled_batches(100) * 3
    """

    steps: int

    def __init__(self, part: Mechanism, steps: Number) -> None:
        object.__setattr__(self, "part", unbound(part, "shuffled batch"))
        object.__setattr__(self, "steps", count("steps", steps, 1, "It is the number of batches of one epoch."))

    @property
    def relation(self) -> Relation:
        """One record is exchanged: with one more, all later batches would shift."""
        return "replace"

    def __str__(self) -> str:
        return f"{self.factor}.shuffled_batches({self.steps})"


@dataclass(frozen=True, init=False, repr=False)
class Allocated(Wrapped):
    """``part`` run ``steps`` times; each record takes part in one run, chosen uniformly, whatever the others choose.

    >>> from tightrope.mechanisms.gaussian import Gaussian
    >>> print(Gaussian(1).allocated(100))
    gaussian(sigma=1).allocated(100)
    """

    steps: int

    def __init__(self, part: Mechanism, steps: Number) -> None:
        object.__setattr__(self, "part", unbound(part, "allocated"))
        object.__setattr__(
            self, "steps", count("steps", steps, 1, "It is the number of runs that records choose from.")
        )

    @property
    def relation(self) -> Relation:
        """One record is added or removed; the others choose as before."""
        return "add-remove"

    def __str__(self) -> str:
        return f"{self.factor}.allocated({self.steps})"
