"""The parts of a composition, and which wrappers change nothing."""

from __future__ import annotations

from typing import TypeGuard

from tightrope.accounting.sharing import Sharing
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.batches import Allocated, ShuffledBatches
from tightrope.mechanisms.composed import Composed, Grouped, Repeated, grouped
from tightrope.mechanisms.sampled import Poisson, WithoutReplacement
from tightrope.mechanisms.shuffled import Shuffled


def terms(mechanism: Mechanism) -> dict[Mechanism, int]:
    """The parts of a composition that are not compositions, each with how often it runs."""
    counts: dict[Mechanism, int] = {}
    stack: list[tuple[Mechanism, int]] = [(mechanism, 1)]
    while stack:
        part, n = stack.pop()
        if isinstance(part, Composed):
            stack.extend((p, n) for p in reversed(part.parts))
        elif isinstance(part, Repeated):
            stack.append((part.part, n * part.times))
        elif isinstance(part, Grouped) and isinstance(part.part, Repeated | Composed):
            stack.extend((grouped(p, part.size), n * k) for p, k in reversed(terms(part.part).items()))
        elif takes_everything(part):
            stack.append((part.part, n))
        elif n:
            counts[part] = counts.get(part, 0) + n
    return counts


def takes_everything(m: Mechanism) -> TypeGuard[Poisson | WithoutReplacement | Sharing]:
    """Whether a sampler takes every record and changes nothing; under replace, Poisson's base is for add-remove.
    The same of one shuffled report and of one batch."""
    if isinstance(m, Poisson):
        return m.rate == 1 and m.relation == "add-remove" and m.max_batch is None
    if isinstance(m, Shuffled):
        return m.users == 1
    if isinstance(m, ShuffledBatches | Allocated):
        return m.steps == 1
    return isinstance(m, WithoutReplacement) and m.size == m.population and m.relation == "replace"
