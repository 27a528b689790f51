"""Whether the directions of a loss are each other's reverse: then their δ(0) is the same total variation."""

from __future__ import annotations

from tightrope.curves.loss import Loss
from tightrope.curves.pair import Pair
from tightrope.curves.sampled.poisson import PoissonAdd, PoissonRemove

__all__ = ["each_others_reverse"]


def each_others_reverse(loss: Loss) -> bool:
    """Whether the directions are, part by part."""
    turned = {_reverse(pair): n for pair, n in loss.remove}
    return None not in turned and turned == dict(loss.directions[-1])


def _reverse(pair: Pair) -> Pair | None:
    """(Q, P) of a pair (P, Q), where that is known."""
    if isinstance(pair, PoissonRemove) and pair.base.symmetric:
        return PoissonAdd(pair.base, pair.base, pair.rate)
    return pair if pair.symmetric else None
