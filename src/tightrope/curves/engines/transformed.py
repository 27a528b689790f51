"""The transforms of the parts of a loss, and their sum."""

from __future__ import annotations

from functools import lru_cache

from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Parts, merged
from tightrope.curves.pair import Pair
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.sums.finite import FiniteSum
from tightrope.numerics.transforms.transform import Transform

__all__ = ["contour_sum", "total_variation", "transform_of", "transforms"]

_QUICK = 2.0  # milliseconds


def transforms(parts: Parts) -> list[tuple[Transform, int]] | None:
    """The transform of every pair, with its number of copies; None when one has none."""
    found = [(transform_of(pair), n) for pair, n in merged(parts)]
    known = [(transform, n) for transform, n in found if transform is not None]
    return known if len(known) == len(found) else None


@lru_cache(maxsize=512)
def transform_of(pair: Pair) -> Transform | None:
    """One object for a pair in all compositions, which remembers what it was asked."""
    return pair.transform()


def total_variation(parts: Parts) -> Ball:
    """An upper bound on that of the product: those of its parts, finite laws taken together if that is quick."""
    finite = FiniteSum([(pair.law, n) for pair, n in parts if isinstance(pair, FinitePair)])
    quick = finite.exact and finite.patience <= _QUICK
    others = [(pair, n) for pair, n in parts if not (quick and isinstance(pair, FinitePair))]
    return sum((pair.call(Ball(0)) * n for pair, n in others), finite.call(Ball(0)) if quick else Ball(0))


def contour_sum(parts: Parts) -> ContourSum | None:
    """The sum of the losses, where all transforms are known."""
    try:
        known = transforms(parts)
    except NotCertified:  # a part is out of the reach of its transform
        return None
    return None if known is None else ContourSum(known)
