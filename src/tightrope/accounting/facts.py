"""Facts: what is true of a mechanism in each notion, with the theorems that say so.

One fold over the tree. Repetition and direction have one home here: equal terms are merged and counts applied once, for
every notion.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from tightrope.accounting import sampling
from tightrope.accounting.known import Fact, Facts, converted, integrate_renyi, keep, multiplied, nothing, sharpen_renyi
from tightrope.accounting.sharing import Sharing, shared
from tightrope.accounting.sure_laws import sure_law, turnable
from tightrope.accounting.terms import takes_everything, terms
from tightrope.curves import approximate, concentrated, gaussian, loss, pure, renyi, truncated
from tightrope.curves.approximate import Approximate
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.gaussian import GaussianDP
from tightrope.curves.loss import Loss
from tightrope.curves.pure import Pure
from tightrope.curves.renyi import Renyi
from tightrope.curves.sampled.grouped import loss_of_grouped_poisson_sample
from tightrope.curves.sampled.poisson import single
from tightrope.curves.sampled.tabled import loss_is_dominated_by_dots, loss_is_dominated_by_even_dots
from tightrope.curves.truncated import TruncatedConcentrated
from tightrope.mechanisms.base import Leaf, Mechanism
from tightrope.mechanisms.batches import Allocated, ShuffledBatches
from tightrope.mechanisms.composed import Composed, Grouped, Parallel, Repeated, grouped
from tightrope.mechanisms.sampled import Poisson, WithoutReplacement, WithReplacement
from tightrope.mechanisms.shuffled import Shuffled
from tightrope.mechanisms.stated import Stated
from tightrope.numerics import effort
from tightrope.theorems import Kind, Step, Theorem, about

COMPOSITION: dict[type, Theorem[..., Any]] = {
    Pure: pure.pure_composes,
    Approximate: approximate.approximate_composes_basically,
    GaussianDP: gaussian.gaussian_composes,
    ZeroConcentrated: concentrated.concentrated_composes,
    TruncatedConcentrated: truncated.truncated_composes,
    Loss: loss.loss_composes,
    Renyi: renyi.renyi_composes,
}

GROUP: dict[type, Theorem[..., Any]] = {
    Pure: pure.pure_for_groups,
    Approximate: approximate.approximate_for_groups,
    GaussianDP: gaussian.gaussian_for_groups,
    ZeroConcentrated: concentrated.concentrated_for_groups,
    TruncatedConcentrated: truncated.truncated_for_groups,
    Renyi: renyi.renyi_for_groups,
}


def fact(mechanism: Mechanism, notion: type) -> Fact | None:
    """What is known of the mechanism in this notion, if anything."""
    return _law(mechanism) if notion is Loss else facts(mechanism).get(notion)


@lru_cache(maxsize=512)
def _law(mechanism: Mechanism) -> Fact | None:
    with effort.paid():
        return sure_law(mechanism) or facts(mechanism).get(Loss)


@lru_cache(maxsize=512)
def facts(mechanism: Mechanism) -> Facts:
    """Everything that is known of the mechanism, whatever work is allowed."""
    with effort.paid():
        return _facts(mechanism)


def _facts(mechanism: Mechanism) -> Facts:
    if isinstance(mechanism, Leaf):
        return _of_leaf(mechanism)
    if isinstance(mechanism, Repeated | Composed) or takes_everything(mechanism):
        return _of_terms(terms(mechanism), str(mechanism), mechanism.relation == "replace")
    if isinstance(mechanism, Grouped):
        return _of_group(mechanism)
    if isinstance(mechanism, Parallel):
        return _of_parallel(mechanism)
    if isinstance(mechanism, Poisson) and mechanism.max_batch is not None:
        # a cut may put another record into the batch: only the profile is known (routes.py)
        return {} if mechanism.max_batch > 0 else nothing(str(mechanism))
    if isinstance(mechanism, Poisson | WithoutReplacement):
        return _of_sample(mechanism)
    if isinstance(mechanism, WithReplacement):
        return _of_draws(mechanism)
    if isinstance(mechanism, Shuffled | ShuffledBatches | Allocated):
        return _of_sharing(mechanism)
    raise AssertionError(f"no rule for {type(mechanism).__name__}")


def _of_leaf(leaf: Leaf) -> Facts:
    if isinstance(leaf, Stated) and leaf.vanishes:
        return nothing(str(leaf))
    known: Facts = {}
    for stated in about(type(leaf), "analysis"):
        curve = stated(leaf)
        if curve is not None:
            keep(known, stated.gives, Fact(curve, stated.kind, (Step(stated.id, str(leaf), 1, curve),)))
    return converted(known, leaf.notion)


def _of_terms(counts: dict[Mechanism, int], name: str, exchanged: bool) -> Facts:
    if not counts:
        return nothing(name)
    if list(counts.values()) == [1]:
        return facts(next(iter(counts)))
    either_way = exchanged and turnable({part: facts(part).get(Loss) for part in counts}, counts)
    parts = [(_even(facts(part), part) if either_way else facts(part), n) for part, n in counts.items()]
    known: Facts = {}
    for notion, rule in COMPOSITION.items():
        found = [(known_part.get(notion), n) for known_part, n in parts]
        present = [(f, n) for f, n in found if f is not None]
        if len(present) < len(found):
            continue
        curve = rule([(f.curve, n) for f, n in present])
        if notion is Pure and curve.epsilon.infinite:
            continue
        kind: Kind = "equal" if rule.kind == "equal" and all(f.kind == "equal" for f, _ in present) else "upper"
        steps = tuple(multiplied(s, n) for f, n in present for s in f.steps)
        known[notion] = Fact(curve, kind, (*steps, Step(rule.id, name, 1, curve)))
    sharpen_renyi(known)
    return known


def _of_group(mechanism: Grouped) -> Facts:
    part, size = mechanism.part, mechanism.size
    if isinstance(part, Repeated | Composed):
        return _of_terms(terms(mechanism), str(mechanism), mechanism.relation == "replace")
    if hasattr(part, "for_group"):
        larger = facts(part.for_group(size))
        line = Step("noise_for_groups", str(mechanism), 1, str(part.for_group(size)))
        return {notion: Fact(f.curve, f.kind, (line, *f.steps)) for notion, f in larger.items()}
    known = _for_group(facts(part), size, str(mechanism), part.notion if isinstance(part, Stated) else None)
    if isinstance(part, Poisson) and part.relation == "replace" and part.max_batch is None:
        base = fact(part.part, Loss)
        law = None if base is None else loss_of_grouped_poisson_sample(base.curve, part.rate, size, size)
        if base is not None and base.kind == "equal" and law is not None:
            line = Step(loss_of_grouped_poisson_sample.id, str(mechanism), 1, law)
            known[Loss] = Fact(law, "equal", (*base.steps, line))
    return known


def _for_group(known: Facts, size: int, name: str, stated: type | None = None) -> Facts:
    """The same for ``size`` changes instead of one; nothing is lost only in the notion stated. What follows for others
    loses nothing from μ-GDP alone: kε-DP is not all that is known of k records, if one costs ε."""
    larger: Facts = {}
    for notion, rule in GROUP.items():
        before = known.get(notion)
        curve = None if before is None else rule(before.curve, size)
        if before is None or curve is None:
            continue
        kind: Kind = "equal" if before.kind == rule.kind == "equal" and notion is stated else "upper"
        larger[notion] = Fact(curve, kind, (*before.steps, Step(rule.id, name, 1, curve)))
    return converted(larger, stated if stated is GaussianDP else None)


def _of_parallel(mechanism: Parallel) -> Facts:
    blocks = [facts(block) for block in dict.fromkeys(mechanism.blocks)]
    known: Facts = {}
    for notion, rule in sampling.PARALLEL.items():
        found = [f[notion] for f in blocks if notion in f]
        if len(found) == len(blocks):
            curve = rule([f.curve for f in found])
            steps = tuple(s for f in found for s in f.steps)
            known[notion] = Fact(curve, "upper", (*steps, Step(rule.id, str(mechanism), 1, curve)))
    if len(blocks) == 1 and Loss in blocks[0]:
        known[Loss] = blocks[0][Loss]
    known = converted(known)
    return known if mechanism.relation == "add-remove" else _for_group(known, 2, str(mechanism))  # removed and added


def _of_sample(mechanism: Poisson | WithoutReplacement) -> Facts:
    name = str(mechanism)
    if mechanism.rate == 0:
        return nothing(name)
    base = facts(mechanism.part) if isinstance(mechanism, Poisson) else _of_exchange(mechanism.part)
    base = _as_one(base, mechanism)
    curves = {n: f.curve for n, f in base.items()}
    known = _concluded(base, sampling.sampled(curves, mechanism), name)
    integrate_renyi(known, name)
    if isinstance(mechanism, WithoutReplacement) or mechanism.relation == "add-remove":
        return known
    known = _for_group(known, 2, name)  # replacing a record is removing one and adding one
    stated = mechanism.part.notion if isinstance(mechanism.part, Stated) else None
    result = sampling.exchanged(curves, mechanism.rate, stated)
    if result is None and mechanism.rate < 1:
        base = _tabled(base, mechanism.part)
        result = sampling.exchanged({n: f.curve for n, f in base.items()}, mechanism.rate, stated)
    if result is not None:  # a known law of the base has a pair of its own under replace
        known[Loss] = _sampled(base, result, name)
        sharpen_renyi(known)
    return known


def _as_one(base: Facts, mechanism: Poisson | WithoutReplacement) -> Facts:
    """With one law for several mechanisms that are run on one sample, which acts on all of them together; of a record
    exchanged in a sample of a fixed size, one that is its own reverse."""
    law = base.get(Loss)
    if law is None or mechanism.rate == 1:
        return base
    alone = single(law.curve) is not None
    if isinstance(mechanism, WithoutReplacement) and law.curve.add is not None:
        return _even(base, mechanism.part)
    if isinstance(mechanism, WithoutReplacement) and mechanism.relation == "replace":
        return base if alone else _tabled(base, mechanism.part, even=True)
    return base if alone else _tabled(base, mechanism.part)


def _of_exchange(part: Mechanism) -> Facts:
    """What is known of several mechanisms that see one record exchanged for another."""
    return _of_terms(terms(part), str(part), exchanged=True) if isinstance(part, Repeated | Composed) else facts(part)


def _even(base: Facts, part: Mechanism) -> Facts:
    """With a law that is its own reverse, or none."""
    law = base.get(Loss)
    if law is None or law.curve.add is None:
        return base
    found = _tabled(base, part, even=True)
    return found if found[Loss].curve.add is None else {notion: f for notion, f in base.items() if notion is not Loss}


def _tabled(base: Facts, part: Mechanism, even: bool = False) -> Facts:
    """With a table in place of the law, where there is one; ``even``: one that is its own reverse."""
    law, rule = base.get(Loss), loss_is_dominated_by_even_dots if even else loss_is_dominated_by_dots
    table = None if law is None else rule(law.curve)
    if law is None or table is None:
        return base
    return {**base, Loss: Fact(table, "upper", (*law.steps, Step(rule.id, str(part), 1, table)))}


def _of_sharing(mechanism: Sharing) -> Facts:
    base = facts(mechanism.part) if isinstance(mechanism, Allocated) else _of_exchange(mechanism.part)
    return _concluded(base, shared({n: f.curve for n, f in base.items()}, mechanism), str(mechanism))


def _concluded(base: Facts, results: Iterable[sampling.Sampled], name: str) -> Facts:
    known: Facts = {}
    for result in results:
        keep(known, result.notion, _sampled(base, result, name))
    return converted(known)


def _sampled(base: Facts, result: sampling.Sampled, name: str) -> Fact:
    before = base[result.premise]
    kind: Kind = "equal" if before.kind == result.rule.kind == "equal" else "upper"
    return Fact(result.curve, kind, (*before.steps, Step(result.rule.id, name, 1, result.curve)))


def _of_draws(mechanism: WithReplacement) -> Facts:
    name = str(mechanism)
    if mechanism.size == 0:
        return nothing(name)

    counted = getattr(mechanism.part, "counted", None)  # noise on a sum, which knows a record that counts j times

    def of_records(j: int) -> Facts:
        return _of_exchange(mechanism.part) if j == 1 else facts(grouped(mechanism.part, j))

    def groups(j: int) -> dict[type, Any]:
        known = of_records(j)
        if counted is not None and Loss not in known:
            known = {**known, Loss: facts(counted(j))[Loss]}
        return {notion: f.curve for notion, f in known.items()}

    known: Facts = {}
    for result in sampling.drawn(mechanism, groups):
        before = of_records(1 if result.notion is Loss else mechanism.size).get(result.notion)
        lines: tuple[Step, ...] = (Step(result.rule.id, name, 1, result.curve),)
        if counted is not None and result.notion is Loss:
            lines = (Step(sampling.noise_for_draws.id, name, 1, str(counted(mechanism.size))), *lines)
        keep(known, result.notion, Fact(result.curve, "upper", (*(before.steps if before else ()), *lines)))
    known = converted(known)
    integrate_renyi(known, name)
    return known
