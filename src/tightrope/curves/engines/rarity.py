"""Whether so few records are sampled that other ways than a contour of the whole loss are the quicker ones."""

from __future__ import annotations

import math
from typing import TypeGuard

from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss, merged
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pair import Pair
from tightrope.curves.revealed import Revealed
from tightrope.curves.sampled.exchanged import PoissonReplace
from tightrope.curves.sampled.poisson import PoissonRemove
from tightrope.numerics.balls import precision

__all__ = ["few", "hits", "loud", "rare", "rare_and_long", "sampled_normal", "scattered", "seen"]

_FEW = 0.7  # sampled records on average
_ATOMS = 2  # both ends of a bounded loss
_SEEN = 0.1  # sampled records on average, times the variance of their noise, or its square if that is less
_LOUD = 0.5  # variance
_TINY = 1e-150  # a square that is beyond floats
_FEW_STEPS = 600
_RARE = 3.0  # below this, a contour integral of the whole loss would be slow


def few(loss: Loss) -> bool:
    """Whether so few records are sampled that a contour would be long. Only smooth noise: many atoms rarely fit a
    grid."""
    parts = merged(loss.remove)
    return all(hasattr(pair, "rate") and _smooth(pair) for pair, _ in parts) and hits(loss) < _FEW


def hits(loss: Loss) -> float:
    """Records that are sampled, on average; a step without a sampler has one."""
    return sum(copies * float(getattr(pair, "rate", 1)) for pair, copies in merged(loss.remove))


def _smooth(pair: Pair) -> bool:
    if isinstance(getattr(pair, "base", None), NormalPair | Revealed):
        return True
    law = pair.cells()
    return law is not None and not law.scattered and len(law.atoms()) <= _ATOMS


def rare(loss: Loss) -> bool:
    """Whether the windowed contour is likely the quicker one: few sampled records, little noise or a tiny rate."""
    hits = 0.0
    for pair, copies in merged(loss.remove):
        if not sampled_normal(pair):
            return False
        q = float(pair.rate)
        hits += copies * q * min(_variance(pair), 9.0) * min(1.0, q / 1e-3) ** 0.5
    return hits < _RARE


def rare_and_long(loss: Loss) -> bool:
    """Whether they are many steps besides, with losses too tiny for a grid to tell from 0."""
    return rare(loss) and sum(copies for _, copies in loss.remove) > _FEW_STEPS


def seen(loss: Loss) -> bool:
    """Whether nodes in doubles reach far enough for sampled Gaussian losses: not too few, or small ones."""
    return sum(hits * variance * min(variance, 1.0) for hits, variance in _sampled_normals(loss)) >= _SEEN


def loud(loss: Loss) -> bool:
    """Whether a sampled Gaussian has so little noise that one record may lose much."""
    return any(variance < _LOUD for _, variance in _sampled_normals(loss))


def _sampled_normals(loss: Loss) -> list[tuple[float, float]]:
    """How often each is hit on average, and the variance of its noise."""
    found = [(pair, copies) for pair, copies in merged(loss.remove) if sampled_normal(pair)]
    return [(copies * float(pair.rate), _variance(pair)) for pair, copies in found]


def sampled_normal(pair: Pair) -> TypeGuard[PoissonRemove | PoissonReplace]:
    """Whether it is a sampled Gaussian's, under either relation."""
    return isinstance(pair, PoissonRemove | PoissonReplace) and isinstance(pair.base, NormalPair)


def _variance(pair: PoissonRemove | PoissonReplace) -> float:
    assert isinstance(pair.base, NormalPair)
    with precision(53):
        mu = abs(float(pair.base.mu().mid()))
    return 1 / mu / mu if mu > _TINY else math.inf


def scattered(pair: Pair) -> bool:
    """Whether the losses of a sampled record are the many atoms of a noise without end."""
    endless = not pair.decays and hasattr(pair, "rate") and pair.largest().infinite
    return endless and not isinstance(pair, FinitePair)
