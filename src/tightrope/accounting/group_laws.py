"""The laws of a group of records each of which is sampled by itself: one for each number of those that come."""

from __future__ import annotations

from tightrope.accounting.facts import fact
from tightrope.accounting.known import Fact, line, multiplied
from tightrope.accounting.terms import terms
from tightrope.curves.loss import Loss, loss_composes
from tightrope.curves.sampled.grouped import MOST_MEMBERS, loss_of_grouped_poisson_sample
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.composed import Grouped
from tightrope.mechanisms.sampled import Poisson
from tightrope.theorems import Step

__all__ = ["group_laws", "law_of_group", "sampled_base"]


def sampled_base(part: Mechanism) -> tuple[Poisson, Fact] | None:
    """The Poisson sample that a group is of, and what is known of its base, if that is Gaussian noise."""
    sample = part.part if isinstance(part, Grouped) else None
    if not isinstance(sample, Poisson) or sample.max_batch is not None:
        return None
    base = fact(sample.part, Loss)
    if base is None or base.kind != "equal" or loss_of_grouped_poisson_sample(base.curve, sample.rate, 1, 0) is None:
        return None
    return sample, base


def law_of_group(part: Grouped, present: int, absent: int) -> tuple[Loss, tuple[Step, ...]] | None:
    """The law of such a group, so many of which come and so many go."""
    found = sampled_base(part)
    law = None if found is None else loss_of_grouped_poisson_sample(found[1].curve, found[0].rate, present, absent)
    if found is None or law is None:
        return None
    return law, (*found[1].steps, line(loss_of_grouped_poisson_sample, part))


def group_laws(m: Mechanism) -> tuple[list[Loss], tuple[Step, ...]] | None:
    """The laws of a composition in which such a group is seen, first that of all who come; every other part must have
    one law, whatever comes and goes."""
    counts = terms(m)
    groups = [part for part in counts if isinstance(part, Grouped) and sampled_base(part) is not None]
    sizes = {part.size for part in groups}
    if len(sizes) != 1 or m.relation != "add-remove" or max(sizes) > MOST_MEMBERS:
        return None
    rest = {part: known for part in counts if part not in groups and (known := _constant(part)) is not None}
    if len(rest) + len(groups) < len(counts):
        return None
    (size,) = sizes
    laws: list[Loss] = []
    steps: tuple[Step, ...] = ()
    for absent in range(size // 2 + 1):
        parts, steps = [], ()
        for part, n in counts.items():
            found = law_of_group(part, size - absent, absent) if isinstance(part, Grouped) and part in groups else None
            law, lines = (rest[part].curve, rest[part].steps) if found is None else found
            parts.append((law, n))
            steps += tuple(multiplied(one, n) for one in lines)
        laws.append(loss_composes(parts))
    return laws, steps


def _constant(part: Mechanism) -> Fact | None:
    """The law of a part that is the same in both directions, and attained."""
    known = fact(part, Loss)
    if known is None or known.kind != "equal" or known.curve.add is not None:
        return None
    return known if all(pair.composes for pair, _ in known.curve.remove) else None
