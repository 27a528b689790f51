"""What sampling and parallel composition do to the curves of the part they act on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from tightrope.curves import approximate, pure, renyi
from tightrope.curves.approximate import Approximate
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.gaussian import GaussianDP
from tightrope.curves.loss import Loss
from tightrope.curves.pure import Pure
from tightrope.curves.renyi import Renyi
from tightrope.curves.sampled_loss import glued_loss, poisson_loss
from tightrope.mechanisms.composed import Grouped, Parallel
from tightrope.mechanisms.sampled import Poisson, WithoutReplacement
from tightrope.numerics.balls import INFINITY, Ball, ball
from tightrope.numerics.real import Real, largest
from tightrope.numerics.sampled_moments import poisson_general, without_replacement_general
from tightrope.theorems import Source, Theorem, theorem

MOST_TERMS = 2000  # the general moment bounds sum over all whole orders up to the one asked


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


@theorem(
    of=Loss, gives=Loss, kind="equal", role="sampling", relation="add-remove", source=Source("zhu2022optimal", "Thm 11")
)
def loss_of_poisson_sample(c: Loss, rate: Fraction) -> Loss | None:
    """If (P, Q) dominates, then ((1−q)Q + qP, Q) dominates removal and (Q, (1−q)Q + qP) addition on a Poisson sample.
    The same holds for a fixed-size sample of n ↔ n+1 records, with q = m/(n+1) and (P, Q) for an exchanged record."""
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


class _WholeOrders(Renyi):
    """A bound known at whole orders: linear in K between them, from K(0) = 0."""

    def __init__(self, base: Renyi) -> None:
        self.base = base

    @property
    def effort(self) -> int:
        """Each value is a sum over all smaller whole orders."""
        return 2

    @property
    def top(self) -> Fraction:  # type: ignore[override]  # found from the base
        """The last whole order the base knows, and not beyond what is summed in reasonable time."""
        known = MOST_TERMS if self.base.top is None else min(floor(self.base.top), MOST_TERMS)
        return Fraction(max(known, 2))

    @abstractmethod
    def cumulant(self, order: int) -> Ball:
        """K = (order − 1)·D at a whole order above 1."""

    def divergence(self, order: Fraction) -> Ball:
        """The chord of K between the whole orders around, or the value itself."""
        if order > self.top:
            return INFINITY
        below = floor(order)
        if order == below:
            return self.cumulant(below) / (below - 1)
        if below == 1:
            return self.cumulant(2)
        share = ball(order - below)
        return ((1 - share) * self.cumulant(below) + share * self.cumulant(below + 1)) / ball(order - 1)


class PoissonRenyi(_WholeOrders):
    """The general bound for Poisson samples."""

    def __init__(self, base: Renyi, rate: Fraction) -> None:
        super().__init__(base)
        self.rate = rate

    def cumulant(self, order: int) -> Ball:
        """Zhu and Wang's bound with its factor 3."""
        return poisson_general(self.rate, order, lambda k: self.base.divergence(Fraction(k)))


class WithoutReplacementRenyi(_WholeOrders):
    """The bound of the lecture notes for samples without replacement."""

    def __init__(self, base: Renyi, rate: Fraction, pure_epsilon: Real | None) -> None:
        super().__init__(base)
        self.rate, self.pure_epsilon = rate, pure_epsilon

    def cumulant(self, order: int) -> Ball:
        """Wang, Balle and Kasiviswanathan's Theorem 9."""
        finite = None if self.pure_epsilon is None or self.pure_epsilon.infinite else self.pure_epsilon.ball()
        return without_replacement_general(self.rate, order, lambda k: self.base.divergence(Fraction(k)), finite)


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
