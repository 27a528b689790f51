"""The law of the loss where theorems that lose nothing say it: most questions need nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from tightrope.accounting.known import Fact, multiplied
from tightrope.accounting.sampling import loss_of_poisson_sample
from tightrope.accounting.terms import terms
from tightrope.curves.loss import Loss, loss_composes
from tightrope.curves.sampled.poisson import single
from tightrope.mechanisms.base import Leaf, Mechanism
from tightrope.mechanisms.composed import Composed, Repeated
from tightrope.mechanisms.sampled import Poisson
from tightrope.mechanisms.stated import Stated
from tightrope.theorems import Step, about

__all__ = ["sure_law", "turnable"]


def turnable(laws: Mapping[Mechanism, Fact | None], counts: Mapping[Mechanism, int]) -> bool:
    """Whether an exchange may take one step one way and another the other, and that is not the same: more than one of
    them costs more one way than the other."""
    return sum(counts[part] for part, law in laws.items() if law is not None and law.curve.add is not None) > 1


@lru_cache(maxsize=512)  # parts are asked again with other counts: the same law, whose transform remembers
def sure_law(m: Mechanism) -> Fact | None:
    """The same as among all facts, found alone; None where others might say more, or it must be looked for."""
    if isinstance(m, Leaf):
        return None if isinstance(m, Stated) else _of_leaf(m)
    if isinstance(m, Repeated | Composed):
        return _of_terms(m)
    if isinstance(m, Poisson) and m.max_batch is None and m.relation == "add-remove" and 0 < m.rate < 1:
        return _of_sample(m)
    return None


def _of_leaf(leaf: Leaf) -> Fact | None:
    for stated in about(type(leaf), "analysis"):
        curve = stated(leaf) if stated.gives is Loss and stated.kind == "equal" else None
        if curve is not None:
            return Fact(curve, "equal", (Step(stated.id, str(leaf), 1, curve),))
    return None


def _of_terms(m: Mechanism) -> Fact | None:
    counts = terms(m)
    if list(counts.values()) == [1]:
        return sure_law(next(iter(counts)))
    known = [(law, n) for part, n in counts.items() if (law := sure_law(part)) is not None]
    if not counts or len(known) < len(counts):
        return None
    if m.relation == "replace" and turnable({part: sure_law(part) for part in counts}, counts):
        return None
    curve = loss_composes([(law.curve, n) for law, n in known])
    steps = tuple(multiplied(step, n) for law, n in known for step in law.steps)
    return Fact(curve, "equal", (*steps, Step(loss_composes.id, str(m), 1, curve)))


def _of_sample(m: Poisson) -> Fact | None:
    base = sure_law(m.part)
    if base is None or single(base.curve) is None:
        return None
    curve = loss_of_poisson_sample(base.curve, m.rate)
    if curve is None:
        return None
    return Fact(curve, "equal", (*base.steps, Step(loss_of_poisson_sample.id, str(m), 1, curve)))
