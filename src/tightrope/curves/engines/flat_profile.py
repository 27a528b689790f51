"""The profile of compositions with rare large losses, by contours as flat as is worth it."""

from __future__ import annotations

from functools import partial

from tightrope.curves.engines.contour_profile import ContourProfile, total_variation, transforms
from tightrope.curves.loss import Loss, merged
from tightrope.numerics.contour.flat import FlatSum
from tightrope.numerics.real import Real, largest

__all__ = ["flat_profile"]


def flat_profile(loss: Loss) -> ContourProfile | None:
    """A flat contour for each direction; None when a part has no transform, or one that falls too slowly for that."""
    sums = []
    for parts in loss.directions:
        known = transforms(parts) if all(pair.decays for pair, _ in parts) else None
        if known is None:
            return None
        sums.append(FlatSum(known))
    if not all(total.promising() for total in sums):
        return None
    sizes = [Real(None, partial(total_variation, merged(parts))) for parts in loss.directions]
    return ContourProfile(tuple(sums), largest(sizes), deep=False)
