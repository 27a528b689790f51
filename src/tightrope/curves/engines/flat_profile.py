"""The profile of compositions with rare large losses, by contours as flat as is worth it."""

from __future__ import annotations

from functools import partial

from tightrope.curves.engines.contour_profile import ContourProfile
from tightrope.curves.engines.smoothed_profile import RELATIVE, SmoothedProfile, smoothed_profile
from tightrope.curves.engines.transformed import total_variation, transforms
from tightrope.curves.loss import Loss, merged
from tightrope.errors import NotCertified
from tightrope.numerics.contour.flat import FlatSum
from tightrope.numerics.real import Real, largest

__all__ = ["flat_profile"]

_MOST = 1.2e6  # units of work: draws are dearer than single records, and other ways mostly worse


def flat_profile(
    loss: Loss, smoothed: bool = False, relative: float = RELATIVE
) -> ContourProfile | SmoothedProfile | None:
    """A flat contour for each direction, or a smoothed one: if that is asked for, if there are atoms, and where decays
    do not show how short a contour is. None when a part has no transform, or one that falls too slowly for that."""
    try:
        profile = smoothed_profile(loss, relative, _MOST) if loss.add is None else None
        falls = all(pair.decays for parts in loss.directions for pair, _ in parts)
        if profile is not None and (smoothed or not falls or profile.total.weak()):
            return profile
        return _plain(loss) if falls else None
    except NotCertified:  # a transform out of reach, or no work left to look at it
        return None


def _plain(loss: Loss) -> ContourProfile | None:
    sums = []
    for parts in loss.directions:
        known = transforms(parts)
        if known is None:
            return None
        sums.append(FlatSum(known))
    if not all(total.promising() for total in sums):
        return None
    sizes = [Real(None, partial(total_variation, merged(parts))) for parts in loss.directions]
    return ContourProfile(tuple(sums), largest(sizes), deep=False)
