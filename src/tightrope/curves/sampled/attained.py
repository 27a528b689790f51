"""What a mechanism on a random sample costs at least: data sets of equal records, of which one is exchanged, data sets
so small that no batch is cut, and groups of which one member counts."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from tightrope.curves.loss import Loss
from tightrope.curves.pair import Pair
from tightrope.curves.renyi import Renyi
from tightrope.curves.sampled.poisson import PoissonRemove, poisson_loss
from tightrope.numerics.balls import Ball
from tightrope.numerics.moments.sampled import without_replacement_lower
from tightrope.theorems import Source, theorem

_ATTAINED = "one pair of data sets attains the base's law, as for noise added to a count"


@theorem(
    of=Loss,
    gives=Loss,
    kind="lower",
    role="sampling",
    relation="replace",
    source=Source("wang2019subsampled", "Prop. 11, proof"),
    hypotheses=(_ATTAINED,),
)
def loss_attained_without_replacement(c: Loss, rate: Fraction) -> Loss | None:
    """Among equal records one is exchanged. A sample of m of n holds it with chance q = m/n, so the pair
    ((1−q)Q + qP, Q) and its reverse are attained."""
    return poisson_loss(c, rate)


@theorem(
    of=Loss,
    gives=Renyi,
    kind="lower",
    role="sampling",
    source=Source("wang2019subsampled", "Prop. 11"),
    hypotheses=(_ATTAINED,),
)
def renyi_attained_by_sample(c: Loss, order: Fraction) -> Ball:
    """(α−1)D_α ≥ ln Σ_k C(α,k)(1−q)^{α−k}q^k e^{(k−1)ε(k)} at whole orders α; from 2 on, an order between them costs
    at least as much as the whole one below."""
    whole = floor(order)
    if whole < 2:
        return Ball(0)
    return sum((_cumulant(pair, whole) * n for pair, n in c.remove), Ball(0)) / (whole - 1)


@theorem(
    of=Loss,
    gives=Loss,
    kind="lower",
    role="sampling",
    source=Source("tightrope", "batches cut to a largest size"),
    hypotheses=(
        "the data may have fewer records than the stated population",
        "where another part needs more than b records: they count as none in this one, and are dropped first",
    ),
)
def loss_attained_by_cut_batches(c: Loss, most: int, records: int = 1) -> Loss:
    """No batch from at most b records is cut to b of them, so a law that so few attain on a Poisson sample is attained
    with cuts as well, one record's for b ≥ 1. With b = 0 all batches are empty and tell nothing."""
    return c if most >= records else Loss(())


@theorem(
    of=Loss,
    gives=Loss,
    kind="lower",
    role="group",
    source=Source("tightrope", "groups of which one member counts"),
    hypotheses=("some records count as none, or alike if they are exchanged",),
)
def loss_attained_by_one_of_a_group(c: Loss) -> Loss:
    """Of k records that change together k − 1 may count as none: a law that one record attains is attained by the
    group."""
    return c


def _cumulant(pair: Pair, order: int) -> Ball:
    """At most K(order − 1); 0 where no formula is known."""
    if isinstance(pair, PoissonRemove):
        return without_replacement_lower(pair.rate, order, lambda k: _known(pair.base, k) / (k - 1))
    return _known(pair, order)


def _known(pair: Pair, order: int) -> Ball:
    value = pair.cumulant(Fraction(order - 1))
    return Ball(0) if value is None else value
