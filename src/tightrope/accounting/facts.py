"""Facts: what is true of a mechanism in each notion, with the theorems that say so.

One fold over the tree. Repetition and direction have one home here: equal terms are merged and counts applied once, for
every notion. Where several theorems give the same notion the better curve is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeGuard

from tightrope.accounting import sampling, sharing
from tightrope.curves import approximate, concentrated, gaussian, loss, pure, renyi, truncated
from tightrope.curves.approximate import Approximate
from tightrope.curves.bounded_range import BoundedRange
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.gaussian import GaussianDP
from tightrope.curves.loss import Loss
from tightrope.curves.loss_renyi import loss_has_renyi
from tightrope.curves.mean_concentrated import MeanConcentrated
from tightrope.curves.profile_renyi import profile_has_renyi
from tightrope.curves.pure import Pure
from tightrope.curves.renyi import Renyi, SmallestRenyi
from tightrope.curves.truncated import TruncatedConcentrated
from tightrope.mechanisms.base import Leaf, Mechanism
from tightrope.mechanisms.batches import Allocated, ShuffledBatches
from tightrope.mechanisms.composed import Composed, Grouped, Parallel, Repeated, grouped
from tightrope.mechanisms.sampled import Poisson, WithoutReplacement, WithReplacement
from tightrope.mechanisms.shuffled import Shuffled
from tightrope.mechanisms.stated import Stated
from tightrope.numerics.balls import precision
from tightrope.numerics.real import ZERO, Real
from tightrope.theorems import Kind, Step, Theorem, about

# From strong to weak: each notion may be concluded from those before it.
NOTIONS: tuple[type, ...] = (
    BoundedRange,
    Pure,
    Approximate,
    GaussianDP,
    MeanConcentrated,
    ZeroConcentrated,
    TruncatedConcentrated,
    Loss,
    Renyi,
)

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


@dataclass(frozen=True, eq=False)
class Fact:
    """A curve that is true of a mechanism. ``kind`` is ``equal`` when the worst mechanism that fits attains it."""

    curve: Any
    kind: Kind
    steps: tuple[Step, ...]


Facts = dict[type, Fact]


def fact(mechanism: Mechanism, notion: type) -> Fact | None:
    """What is known of the mechanism in this notion, if anything."""
    return facts(mechanism).get(notion)


@lru_cache(maxsize=512)
def facts(mechanism: Mechanism) -> Facts:
    """Everything that is known of the mechanism."""
    if isinstance(mechanism, Leaf):
        return _of_leaf(mechanism)
    if isinstance(mechanism, Repeated | Composed) or takes_everything(mechanism):
        return _of_terms(terms(mechanism), str(mechanism))
    if isinstance(mechanism, Grouped):
        return _of_group(mechanism)
    if isinstance(mechanism, Parallel):
        return _of_parallel(mechanism)
    if isinstance(mechanism, Poisson) and mechanism.max_batch is not None:
        return {}  # a cut may put another record into the batch: only the profile is known (routes.py)
    if isinstance(mechanism, Poisson | WithoutReplacement):
        return _of_sample(mechanism)
    if isinstance(mechanism, WithReplacement):
        return _of_draws(mechanism)
    if isinstance(mechanism, Shuffled | ShuffledBatches | Allocated):
        return _of_sharing(mechanism)
    raise AssertionError(f"no rule for {type(mechanism).__name__}")


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


def takes_everything(m: Mechanism) -> TypeGuard[Poisson | WithoutReplacement | sharing.Sharing]:
    """Whether a sampler takes every record and changes nothing; under replace, Poisson's base is for add-remove.
    The same of one shuffled report and of one batch."""
    if isinstance(m, Poisson):
        return m.rate == 1 and m.relation == "add-remove" and m.max_batch is None
    if isinstance(m, Shuffled):
        return m.users == 1
    if isinstance(m, ShuffledBatches | Allocated):
        return m.steps == 1
    return isinstance(m, WithoutReplacement) and m.size == m.population and m.relation == "replace"


def _of_leaf(leaf: Leaf) -> Facts:
    if isinstance(leaf, Stated) and leaf.vanishes:
        return _nothing(str(leaf))
    known: Facts = {}
    for stated in about(type(leaf), "analysis"):
        curve = stated(leaf)
        if curve is not None:
            _keep(known, stated.gives, Fact(curve, stated.kind, (Step(stated.id, str(leaf), 1, curve),)))
    return _converted(known, leaf.notion)


def _converted(known: Facts, stated: type | None = None) -> Facts:
    """Add every notion that follows. A conversion loses nothing only from the notion stated, or from the loss."""
    for premise in NOTIONS:
        for step in about(premise, "conversion"):
            before = known.get(premise)
            curve = None if before is None else step(before.curve)
            if before is None or curve is None:
                continue
            tight = before.kind == step.kind == "equal" and _says_all(premise, before, stated)
            kind: Kind = "equal" if tight else "upper"
            line = Step(step.id, before.steps[-1].of, before.steps[-1].count, curve)
            _keep(known, step.gives, Fact(curve, kind, (*before.steps, line)))
    return known


def _says_all(premise: type, before: Fact, stated: type | None) -> bool:
    return premise is stated or (premise is Loss and all(p.composes for d in before.curve.directions for p, _ in d))


def _keep(known: Facts, notion: type, new: Fact) -> None:
    old = known.get(notion)
    if old is None:
        known[notion] = new
    elif notion is Renyi and old.kind != "equal":
        known[notion] = (
            new if new.kind == "equal" else Fact(SmallestRenyi((old.curve, new.curve)), "upper", old.steps + new.steps)
        )
    elif old.kind != "equal" and (new.kind == "equal" or _size(new.curve) < _size(old.curve)):
        known[notion] = new


def _size(curve: Any) -> float:
    """How large a curve is, for choosing between two valid ones of the same notion."""
    with precision(80):
        if isinstance(curve, Pure):
            return _float(curve.epsilon)
        if isinstance(curve, GaussianDP):
            return _float(curve.mu_squared)
        if isinstance(curve, ZeroConcentrated):
            return _float(curve.rho) + max(_float(curve.xi), 0.0) + (1e300 if curve.delta.rational != 0 else 0.0)
        if isinstance(curve, TruncatedConcentrated):
            return _float(curve.rho) + (1e300 if curve.omega is not None else 0.0)
    return 0.0  # the first theorem stated is kept


def _float(x: Real) -> float:
    return float(x.ball().mid())


def _of_terms(counts: dict[Mechanism, int], name: str) -> Facts:
    if not counts:
        return _nothing(name)
    if list(counts.values()) == [1]:
        return facts(next(iter(counts)))
    parts = [(facts(part), n) for part, n in counts.items()]
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
        steps = tuple(_times(s, n) for f, n in present for s in f.steps)
        known[notion] = Fact(curve, kind, (*steps, Step(rule.id, name, 1, curve)))
    _sharpen_renyi(known)
    return known


def _times(step: Step, n: int) -> Step:
    return replace(step, count=step.count * n)


def _sharpen_renyi(known: Facts) -> None:
    """The sum of losses knows its direction, so its Rényi curve is at most the sum of the parts' worse curves."""
    whole = known.get(Loss)
    if whole is None:
        return
    curve = loss_has_renyi(whole.curve)
    if curve is None:
        return
    tight = whole.kind == "equal" and _says_all(Loss, whole, None)
    new = Fact(
        curve,
        "equal" if tight else "upper",
        (*whole.steps, Step(loss_has_renyi.id, whole.steps[-1].of if whole.steps else "", 1)),
    )
    if tight:
        known[Renyi] = new
    else:
        _keep(known, Renyi, new)


def _of_group(mechanism: Grouped) -> Facts:
    part, size = mechanism.part, mechanism.size
    if isinstance(part, Repeated | Composed):
        return _of_terms(terms(mechanism), str(mechanism))
    if hasattr(part, "for_group"):
        larger = facts(part.for_group(size))
        line = Step("noise_for_groups", str(mechanism), 1, str(part.for_group(size)))
        return {notion: Fact(f.curve, f.kind, (line, *f.steps)) for notion, f in larger.items()}
    own = part.notion if isinstance(part, Stated) else None
    known: Facts = {}
    for notion, rule in GROUP.items():
        before = fact(part, notion)
        curve = None if before is None else rule(before.curve, size)
        if before is None or curve is None:
            continue
        kind: Kind = "equal" if before.kind == rule.kind == "equal" and notion is own else "upper"
        known[notion] = Fact(curve, kind, (*before.steps, Step(rule.id, str(mechanism), 1, curve)))
    return _converted(known, own)


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
    known = _converted(known)
    if mechanism.relation == "add-remove":
        return known
    return _doubled(known, str(mechanism))


def _doubled(known: Facts, name: str) -> Facts:
    """Replacing a record is removing one and adding one: two changes in the add-remove sense."""
    two: Facts = {}
    for notion, rule in GROUP.items():
        before = known.get(notion)
        curve = None if before is None else rule(before.curve, 2)
        if before is not None and curve is not None:
            two[notion] = Fact(curve, "upper", (*before.steps, Step(rule.id, name, 1, curve)))
    return _converted(two)


def _of_sample(mechanism: Poisson | WithoutReplacement) -> Facts:
    base, name = facts(mechanism.part), str(mechanism)
    if mechanism.rate == 0:
        return _nothing(name)
    known: Facts = {}
    for result in sampling.sampled({n: f.curve for n, f in base.items()}, mechanism):
        before = base[result.premise]
        kind: Kind = "equal" if before.kind == result.rule.kind == "equal" else "upper"
        line = Step(result.rule.id, name, 1, result.curve)
        _keep(known, result.notion, Fact(result.curve, kind, (*before.steps, line)))
    known = _converted(known)
    _integrate_renyi(known, name)
    if isinstance(mechanism, Poisson) and mechanism.relation == "replace":
        return _exchanged(base, _doubled(known, name), mechanism)
    return known


def _of_sharing(mechanism: sharing.Sharing) -> Facts:
    base, name = facts(mechanism.part), str(mechanism)
    known: Facts = {}
    for result in sharing.shared({n: f.curve for n, f in base.items()}, mechanism):
        before = base[result.premise]
        kind: Kind = "equal" if before.kind == result.rule.kind == "equal" else "upper"
        line = Step(result.rule.id, name, 1, result.curve)
        _keep(known, result.notion, Fact(result.curve, kind, (*before.steps, line)))
    return _converted(known)


def _integrate_renyi(known: Facts, name: str) -> None:
    """A bounded loss without a formula for its moments still has them through its profile."""
    law = known.get(Loss)
    if law is None or loss_has_renyi(law.curve) is not None:
        return
    curve = profile_has_renyi(law.curve)
    if curve is not None:
        _keep(known, Renyi, Fact(curve, "upper", (*law.steps, Step(profile_has_renyi.id, name, 1, curve))))


def _exchanged(base: Facts, known: Facts, mechanism: Poisson) -> Facts:
    """A known law of the base has a pair of its own under replace."""
    result = sampling.exchanged({n: f.curve for n, f in base.items()}, mechanism.rate)
    if result is not None:
        before = base[Loss]
        kind: Kind = "equal" if before.kind == result.rule.kind == "equal" else "upper"
        line = Step(result.rule.id, str(mechanism), 1, result.curve)
        known[Loss] = Fact(result.curve, kind, (*before.steps, line))
        _sharpen_renyi(known)
    return known


def _of_draws(mechanism: WithReplacement) -> Facts:
    name = str(mechanism)
    if mechanism.size == 0:
        return _nothing(name)

    def groups(j: int) -> dict[type, Any]:
        return {notion: f.curve for notion, f in facts(grouped(mechanism.part, j)).items()}

    known: Facts = {}
    for result in sampling.drawn(mechanism, groups):
        before = facts(grouped(mechanism.part, 1 if result.notion is Loss else mechanism.size)).get(result.notion)
        line = Step(result.rule.id, name, 1, result.curve)
        _keep(known, result.notion, Fact(result.curve, "upper", (*(before.steps if before else ()), line)))
    known = _converted(known)
    _integrate_renyi(known, name)
    return known


def _nothing(name: str) -> Facts:
    line = (Step("nothing_costs_nothing", name, 1, "ε = 0"),)
    return {
        Pure: Fact(Pure(ZERO), "equal", line),
        Approximate: Fact(Approximate(ZERO, ZERO), "equal", line),
        GaussianDP: Fact(GaussianDP(ZERO), "equal", line),
        ZeroConcentrated: Fact(ZeroConcentrated(ZERO), "equal", line),
        TruncatedConcentrated: Fact(TruncatedConcentrated(ZERO, None), "equal", line),
        Loss: Fact(Loss(()), "equal", line),
        Renyi: Fact(renyi.LinearRenyi(ZERO), "equal", line),
    }
