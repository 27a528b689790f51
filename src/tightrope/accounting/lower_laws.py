"""Laws that some mechanism fitting a description really has: what is known of its cost from below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

from tightrope.accounting.facts import fact
from tightrope.accounting.group_laws import law_of_group
from tightrope.accounting.instances import gaussian_instance
from tightrope.accounting.known import Fact, line, multiplied
from tightrope.accounting.sampling import loss_of_poisson_sample, noise_for_groups
from tightrope.accounting.terms import terms
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.ladders import loss_dominates_fewer_kinds
from tightrope.curves.loss import Loss, loss_composes
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.sampled.attained import (
    loss_attained_by_cut_batches,
    loss_attained_by_one_of_a_group,
    loss_attained_without_replacement,
)
from tightrope.curves.sampled.draws import drawn_rates, loss_attained_with_replacement
from tightrope.curves.sampled.exchanged import loss_attained_by_poisson_replacement
from tightrope.curves.sampled.grouped import MOST_MEMBERS
from tightrope.curves.sampled.shuffled_count import loss_attained_by_shuffling
from tightrope.curves.sampled.tabled import loss_dominates_lines
from tightrope.curves.shared_records import loss_attained_by_sharing, sharing_cuts
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.batches import Allocated, ShuffledBatches
from tightrope.mechanisms.composed import Grouped, grouped
from tightrope.mechanisms.sampled import Poisson, WithoutReplacement, WithReplacement
from tightrope.mechanisms.shuffled import Shuffled
from tightrope.mechanisms.stated import Stated
from tightrope.theorems import Step, Theorem

MOST_LAWS = 24  # that are asked for a lower end

Known = tuple[Loss, tuple[Step, ...]]  # a law, and the lines that prove it
Sample = WithoutReplacement | WithReplacement | Poisson
Rule = Theorem[[Loss, Fraction], Loss | None]


def lower_losses(m: Mechanism) -> Iterator[Known]:
    """Laws that some mechanism fitting the description really has, for lower bounds: all parts together, then each
    alone."""
    parts: list[tuple[Loss, int, tuple[Step, ...]]] = []
    for part, n in terms(m).items():
        found = _attained(part, n)
        if found is not None:
            parts.append((found[0], n, found[1]))
    together = [(law, n) for law, n, _ in parts]
    if together:
        whole, lines = loss_composes(together), tuple(multiplied(s, n) for _, n, steps in parts for s in steps)
        yield whole, lines
        fewer = loss_dominates_fewer_kinds(whole)
        if fewer is not None:
            yield fewer, (*lines, line(loss_dominates_fewer_kinds, m))
    turned = [(_turned(part), n) for part, n in terms(m).items()]
    if any(known for known, _ in turned):
        yield _composed([(known or _attained(part, n), n) for (known, n), part in zip(turned, terms(m), strict=True)])
    easy = [(law, n, s) for law, n, s in parts if _easy(law)]
    if easy and len(easy) < len(parts):
        yield (
            loss_composes([(law, n) for law, n, _ in easy]),
            tuple(multiplied(s, n) for _, n, steps in easy for s in steps),
        )
    for law, n, steps in parts:
        if (n > 1 or _easy(law)) and len(parts) > 1:
            yield loss_composes([(law, n)]), tuple(multiplied(s, n) for s in steps)
        if not _easy(law) and (n > 1 or len(parts) > 1):
            yield law, steps
    if any(isinstance(part, Grouped) and _attained_together(part) is not None for part in terms(m)):
        yield from _of_members(m)
    for part, n in terms(m).items():
        yield from _shared(part, n) if not isinstance(part, Grouped) else _by_one(part, _shared(part.part, n))


def _of_members(m: Mechanism) -> Iterator[Known]:
    """Of groups whose own law has few moments that are known: what one member attains."""
    yield _composed([(_attained_alone(part, n), n) for part, n in terms(m).items()])


def _composed(laws: Iterable[tuple[Known | None, int]]) -> Known:
    """All that are known, each taken so often."""
    found = [(known, n) for known, n in laws if known is not None]
    steps = tuple(multiplied(s, n) for (_, lines), n in found for s in lines)
    return loss_composes([(law, n) for (law, _), n in found]), steps


def _turned(part: Mechanism) -> Known | None:
    """Of a sample of a fixed size whose base costs more one way than the other: what is attained if the records that
    are equal are those of the other kind."""
    base = _attained_law(part.part) if isinstance(part, WithoutReplacement) else None
    if not isinstance(part, WithoutReplacement) or base is None or base.curve.add is None:
        return None
    back = replace(base, curve=Loss(base.curve.add, base.curve.remove))
    rule = loss_attained_without_replacement if part.relation == "replace" else loss_of_poisson_sample
    return _sampled_law(back, part, rule, part.rate)


def _attained_alone(part: Mechanism, times: int) -> Known | None:
    """What one member of a group attains."""
    if not isinstance(part, Grouped) or _attained_law(part) is not None:
        return _attained(part, times)
    found = _attained(part.part, times)
    return None if found is None else next(_by_one(part, [found]))


def _shared(part: Mechanism, times: int) -> Iterator[Known]:
    """Laws that shuffled reports, shuffled batches or an allocation attain, taken so often."""
    if isinstance(part, Shuffled):
        found = _attained_by_shuffling(part, 1)
        if found is not None:
            yield found
    if not isinstance(part, ShuffledBatches | Allocated) or part.steps == 1:
        return
    known = fact(part, Loss)
    if known is not None and known.kind == "equal" and times > 1:
        yield known.curve, known.steps  # the runs of one epoch
    base = _attained_law(part.part)
    for cuts in [] if base is None else sharing_cuts(base.curve, part.steps, times):
        assert base is not None
        law = loss_attained_by_sharing(base.curve, part.steps, cuts)
        if law is not None:
            steps = (*base.steps, line(loss_attained_by_sharing, part))
            yield loss_composes([(law, times)]), tuple(multiplied(s, times) for s in steps)


def _easy(law: Loss) -> bool:
    return all(isinstance(pair, NormalPair | FinitePair) for parts in law.directions for pair, _ in parts)


def _by_one(group: Grouped, laws: Iterable[Known]) -> Iterator[Known]:
    """What one record attains, for the group that it is in."""
    for law, steps in laws:
        yield loss_attained_by_one_of_a_group(law), (*steps, line(loss_attained_by_one_of_a_group, group))


def _attained(part: Mechanism, times: int) -> Known | None:
    if isinstance(part, Poisson) and part.max_batch is not None:
        found = _attained(part.uncut, times)
        law = None if found is None else loss_attained_by_cut_batches(found[0], part.max_batch)
        return None if found is None or law is None else (law, (*found[1], line(loss_attained_by_cut_batches, part)))
    if isinstance(part, Grouped):
        return _attained_by_group(part, times)
    if isinstance(part, WithoutReplacement) and part.relation == "replace":
        return _attained_by_sample(part, loss_attained_without_replacement, part.rate)
    if isinstance(part, WithReplacement):
        return _attained_by_sample(part, loss_attained_with_replacement, drawn_rates(part.size, part.population)[0])
    if isinstance(part, Shuffled) and part.users > 1:
        return _attained_by_shuffling(part, times)
    known = _attained_law(part)
    if known is not None:
        return known.curve, known.steps
    if isinstance(part, Poisson) and part.relation == "replace":
        return _attained_by_sample(part, loss_attained_by_poisson_replacement, part.rate)
    if isinstance(part, Poisson | WithoutReplacement):
        return _attained_by_sample(part, loss_of_poisson_sample, part.rate)
    return _gaussian(part) if isinstance(part, Stated) else None


def _gaussian(part: Stated, size: int = 1) -> Known | None:
    """A Gaussian mechanism that keeps what is stated, for a group of so many."""
    mu_squared = gaussian_instance(part)
    if mu_squared is None:
        return None
    law = Loss(((NormalPair(mu_squared * size**2), 1),))
    return law, (Step(gaussian_instance.id, str(part), 1, f"μ² = {mu_squared}"),)


def _attained_by_group(group: Grouped, times: int) -> Known | None:
    """The group's own law, a Gaussian that keeps what is stated, or what one of its members attains."""
    known = _attained_law(group)
    if known is not None:
        return known.curve, known.steps
    together = _attained_together(group)
    if together is not None:
        return together
    normal = _gaussian(group.part, group.size) if isinstance(group.part, Stated) else None
    if normal is not None:
        return normal[0], (*normal[1], line(noise_for_groups, group))
    found = _attained(group.part, times)
    return None if found is None else next(_by_one(group, [found]))


def _attained_together(group: Grouped) -> Known | None:
    """What members who are sampled one by one attain, as many of them as are never cut and whose law is computed."""
    if not isinstance(group.part, Poisson):
        return None
    cut = group.part.max_batch
    members = min(group.size, MOST_MEMBERS, group.size if cut is None else cut)
    if members < 2:
        return None
    whole = grouped(group.part.uncut, members)
    assert isinstance(whole, Grouped)
    found = law_of_group(whole, members, members if group.relation == "replace" else 0)
    if found is None or cut is None:
        return found
    return loss_attained_by_cut_batches(found[0], cut, members), (*found[1], line(loss_attained_by_cut_batches, group))


def _attained_law(part: Mechanism) -> Fact | None:
    known = fact(part, Loss)
    if known is None or known.kind != "equal" or not all(p.composes for d in known.curve.directions for p, _ in d):
        return None
    return known


def _attained_by_sample(part: Sample, rule: Rule, rate: Fraction) -> Known | None:
    """One pair of data sets, on a base whose own law is attained; of several mechanisms on one sample a table of their
    outputs."""
    base = _attained_law(part.part)
    return None if base is None else _sampled_law(base, part, rule, rate)


def _sampled_law(base: Fact, part: Sample, rule: Rule, rate: Fraction) -> Known | None:
    law = rule(base.curve, rate)
    if law is not None:
        return law, (*base.steps, line(rule, part))
    table = loss_dominates_lines(base.curve)
    law = None if table is None else rule(table, rate)
    return None if law is None else (law, (*base.steps, line(loss_dominates_lines, part.part), line(rule, part)))


def _attained_by_shuffling(part: Shuffled, times: int) -> Known | None:
    """One user among others who all hold the second datum, on a base whose own law is attained."""
    base = _attained_law(part.part)
    law = None if base is None else loss_attained_by_shuffling(base.curve, part.users, times)
    return None if base is None or law is None else (law, (*base.steps, line(loss_attained_by_shuffling, part)))
