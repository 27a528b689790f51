"""What sampling and parallel composition do to the curves of the part they act on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightrope.curves import approximate, pure, renyi
from tightrope.curves.approximate import Approximate
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.gaussian import GaussianDP
from tightrope.curves.loss import Loss
from tightrope.curves.pair import Pair
from tightrope.curves.pure import Pure
from tightrope.curves.renyi import Renyi
from tightrope.curves.sampled.draws import DrawsPair, drawn_rates
from tightrope.curves.sampled.exchanged import (
    loss_of_poisson_replacement,
    loss_of_poisson_replacement_by_quantiles,
    loss_of_poisson_replacement_of_guarantees,
)
from tightrope.curves.sampled.glued import glued_loss
from tightrope.curves.sampled.poisson import poisson_loss, single
from tightrope.curves.whole_orders import PoissonRenyi, WithoutReplacementRenyi
from tightrope.errors import NotCertified
from tightrope.mechanisms.composed import Grouped, Parallel
from tightrope.mechanisms.sampled import Poisson, WithoutReplacement, WithReplacement
from tightrope.numerics.balls import ball
from tightrope.numerics.real import Real, largest
from tightrope.theorems import Source, Theorem, theorem

Groups = Callable[[int], dict[type, Any]]


@dataclass(frozen=True, eq=False)
class Sampled:
    """One conclusion about a sampled mechanism."""

    premise: type
    notion: type
    rule: Theorem[..., Any]
    curve: Any


def sampled(base: dict[type, Any], mechanism: Poisson | WithoutReplacement) -> Iterator[Sampled]:
    """Every conclusion that a theorem draws from the base's curves."""
    rate = mechanism.rate
    if Pure in base:
        yield Sampled(Pure, Pure, pure.pure_is_amplified, pure.pure_is_amplified(base[Pure], rate))
    if Approximate in base:
        rule = approximate.approximate_is_amplified
        yield Sampled(Approximate, Approximate, rule, rule(base[Approximate], rate))
    for notion in (GaussianDP, ZeroConcentrated):
        if notion in base:
            yield Sampled(notion, notion, sampling_never_hurts, base[notion])
    if isinstance(mechanism, WithoutReplacement) and mechanism.relation == "replace":
        loss_rule, renyi_rule = loss_without_replacement, renyi_without_replacement
    else:
        loss_rule, renyi_rule = loss_of_poisson_sample, renyi_of_poisson_sample
    law = loss_rule(base[Loss], rate) if Loss in base else None
    if law is not None:
        yield Sampled(Loss, Loss, loss_rule, law)
    elif Loss in base:
        yield Sampled(Loss, Loss, sampling_never_hurts, base[Loss])
    if Renyi in base:
        yield Sampled(Renyi, Renyi, sampling_never_hurts, base[Renyi])
    if Renyi in base and not (isinstance(mechanism, WithoutReplacement) and mechanism.relation == "add-remove"):
        pure_epsilon = base[Pure].epsilon if Pure in base else None
        yield Sampled(Renyi, Renyi, renyi_rule, renyi_rule(base[Renyi], rate, pure_epsilon))


def exchanged(base: dict[type, Any], rate: Fraction, stated: type | None) -> Sampled | None:
    """The law of a Poisson sample under replace, by the first theorem that knows it; ``stated``: all that is known."""
    if Loss not in base:
        return None
    rest = loss_of_poisson_replacement_of_guarantees if stated is Pure else loss_of_poisson_replacement_by_quantiles
    for rule in (loss_of_poisson_replacement, rest):
        law = rule(base[Loss], rate)
        if law is not None:
            return Sampled(Loss, Loss, rule, law)
    return None


def drawn(mechanism: WithReplacement, groups: Groups) -> Iterator[Sampled]:
    """Every conclusion about a sample with replacement; ``groups`` gives the curves of the base for j records."""
    most = groups(mechanism.size)
    for notion in (GaussianDP, ZeroConcentrated, Renyi):
        if notion in most:
            yield Sampled(notion, notion, sampling_never_hurts, most[notion])
    if mechanism.population == 1:
        if Loss in most:
            yield Sampled(Loss, Loss, sampling_never_hurts, most[Loss])
        return
    law = loss_with_replacement(mechanism, groups)
    if law is not None:
        yield Sampled(Loss, Loss, loss_with_replacement, law)
    if Pure in most and not most[Pure].epsilon.infinite:
        rate = drawn_rates(mechanism.size, mechanism.population)[1]
        yield Sampled(Pure, Pure, pure_with_replacement, pure_with_replacement(most[Pure], rate))


def symmetric_pair(law: Loss | None) -> Pair | None:
    """The one pair of a law that is its own reverse."""
    found = None if law is None or law.add is not None else single(law)
    return None if found is None else found[0]


def _symmetric(known: dict[type, Any]) -> Pair | None:
    """One symmetric pair that dominates: the loss itself, or the leaky response of a guarantee."""
    pair = symmetric_pair(known.get(Loss))
    if pair is None and Approximate in known:
        pair = symmetric_pair(approximate.approximate_is_dominated_by_leaky_response(known[Approximate]))
    return pair


@theorem(
    of=Pure, gives=Pure, kind="upper", role="sampling", relation="replace", source=Source("balle2018privacy", "Thm 10")
)
def pure_with_replacement(c: Pure, rate: Fraction) -> Pure:
    """m draws with replacement of which each record is taken with chance η: ε' = ln(1 + η(e^ε − 1)), ε that of m
    records exchanged."""
    return Pure(Real(None, lambda: (ball(rate) * c.epsilon.ball().expm1()).log1p()))


@theorem(
    of=Loss, gives=Loss, kind="upper", role="sampling", relation="replace", source=Source("balle2018privacy", "Thm 10")
)
def loss_with_replacement(mechanism: WithReplacement, groups: Groups) -> Loss | None:
    """δ'(ε') ≤ Σ_j C(m,j)n^{−j}(1−1/n)^{m−j}·δ_j(ε) for e^{ε'} = 1 + η(e^ε − 1) and η = 1 − (1−1/n)^m, δ_j the
    profile of j records exchanged; continued below 0 by duality."""

    if any(_symmetric(groups(j)) is None for j in {1, min(2, mechanism.size), mechanism.size}):
        return None

    def pair(j: int) -> Pair:
        found = _symmetric(groups(j))
        if found is None:
            raise NotCertified("a sample with replacement", f"nothing is known of {j} records exchanged")
        return found

    return Loss(((DrawsPair(mechanism.part, mechanism.size, mechanism.population, pair), 1),))


@theorem(
    of=Loss, gives=Loss, kind="equal", role="sampling", relation="add-remove", source=Source("zhu2022optimal", "Thm 11")
)
def loss_of_poisson_sample(c: Loss, rate: Fraction) -> Loss | None:
    """If (P, Q) dominates, then ((1−q)Q + qP, Q) dominates removal and (Q, (1−q)Q + qP) addition on a Poisson sample.
    The same holds for a fixed-size sample of n ↔ n+1 records, with q = m/(n+1) and (P, Q) its own reverse and for an
    exchanged record."""
    return c if rate == 1 else poisson_loss(c, rate)


@theorem(
    of=Loss, gives=Loss, kind="equal", role="sampling", relation="replace", source=Source("zhu2022optimal", "Thm 11")
)
def loss_without_replacement(c: Loss, rate: Fraction) -> Loss | None:
    """On a sample of m of n records δ'(ε') = q·δ(ε) with e^{ε'} = 1 + q(e^ε − 1), continued below 0 by duality."""
    return c if rate == 1 else glued_loss(c, rate)


@theorem(of=GaussianDP, gives=GaussianDP, kind="upper", role="sampling", source=Source("dong2022gaussian", "Sec. 4"))
def sampling_never_hurts(c: Any) -> Any:
    """A guarantee of the mechanism holds for the same mechanism on a random sample: mixtures are harder to tell
    apart."""
    return c


@theorem(
    of=Renyi,
    gives=Renyi,
    kind="upper",
    role="sampling",
    relation="add-remove",
    source=Source("zhu2019poisson", "Thm 5"),
)
def renyi_of_poisson_sample(c: Renyi, rate: Fraction, pure_epsilon: Real | None) -> Renyi:  # noqa: ARG001 - same form as its sibling
    """(α−1)ε'(α) ≤ ln{(1−q)^{α−1}(αq−q+1) + C(α,2)q²(1−q)^{α−2}e^{ε(2)} + 3Σ_{l≥3} C(α,l)(1−q)^{α−l}q^l
    e^{(l−1)ε(l)}}."""
    return c if rate == 1 else PoissonRenyi(c, rate)


@theorem(
    of=Renyi,
    gives=Renyi,
    kind="upper",
    role="sampling",
    relation="replace",
    source=Source("wang2019subsampled", "Thm 9"),
)
def renyi_without_replacement(c: Renyi, rate: Fraction, pure_epsilon: Real | None) -> Renyi:
    """(α−1)ε'(α) ≤ ln{1 + q²C(α,2)min[4(e^{ε(2)}−1), e^{ε(2)}min(2,(e^{ε(∞)}−1)²)] + Σ_{j≥3}
    q^jC(α,j)e^{(j−1)ε(j)}min(2,(e^{ε(∞)}−1)^j)}."""
    return c if rate == 1 else WithoutReplacementRenyi(c, rate, pure_epsilon)


@theorem(
    of=Grouped, gives=Loss, kind="equal", role="group", source=Source("tightrope", "groups under log-concave noise")
)
def noise_for_groups(m: Grouped) -> None:
    """k records move the query k times as far: read the mechanism at sensitivity kΔ, which dominates for log-concave
    noise."""


@theorem(
    of=WithReplacement,
    gives=Loss,
    kind="equal",
    role="sampling",
    relation="replace",
    source=Source("tightrope", "groups under log-concave noise"),
    hypotheses=("the query is a sum over the batch: a record drawn j times counts j times",),
)
def noise_for_draws(m: WithReplacement) -> None:
    """A record drawn j times moves each entry of a sum j times as far, and no other: read the mechanism at sensitivity
    jΔ, which dominates for log-concave noise."""


@theorem(of=Poisson, gives=Loss, kind="equal", role="sampling", source=Source("balle2018privacy", "Sec. 3"))
def nothing_costs_nothing(m: Any) -> None:
    """A mechanism that never sees the record reveals nothing about it."""


@theorem(
    of=Parallel,
    gives=Pure,
    kind="equal",
    role="parallel",
    relation="add-remove",
    source=Source("mcsherry2009privacy", "Thm 4"),
)
def pure_in_parallel(parts: list[Pure]) -> Pure:
    """On disjoint blocks, adding or removing one record costs the largest ε of the blocks."""
    return Pure(largest([c.epsilon for c in parts]))


@theorem(
    of=Parallel,
    gives=GaussianDP,
    kind="equal",
    role="parallel",
    relation="add-remove",
    source=Source("mcsherry2009privacy", "Thm 4"),
)
def gaussian_in_parallel(parts: list[GaussianDP]) -> GaussianDP:
    """On disjoint blocks, adding or removing one record costs the largest μ of the blocks."""
    return GaussianDP(largest([c.mu_squared for c in parts]))


@theorem(
    of=Parallel,
    gives=ZeroConcentrated,
    kind="equal",
    role="parallel",
    relation="add-remove",
    source=Source("mcsherry2009privacy", "Thm 4"),
)
def concentrated_in_parallel(parts: list[ZeroConcentrated]) -> ZeroConcentrated:
    """On disjoint blocks, adding or removing one record costs at most the largest ρ, the largest ξ and the largest
    δ."""
    return ZeroConcentrated(
        largest([c.rho for c in parts]), largest([c.xi for c in parts]), largest([c.delta for c in parts])
    )


PARALLEL: dict[type, Theorem[..., Any]] = {
    Pure: pure_in_parallel,
    GaussianDP: gaussian_in_parallel,
    ZeroConcentrated: concentrated_in_parallel,
    Renyi: renyi.renyi_in_parallel,
}
