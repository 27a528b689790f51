"""The upper half of the glued normal loss in floats: nodes and weights for many tilts. Nothing here is proved."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from tightrope.numerics.gauss import float_gauss
from tightrope.numerics.transforms.glued_rule import Growth, Panel, furthest_place, panels

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["FURTHEST", "even_nodes", "float_half", "float_nodes", "log_least"]

_EVEN, _MOST_EVEN = 20, 60  # nodes of an even panel, and panels
FURTHEST = 3000.0  # (t + 1)μ² beyond which no proof may be possible
_AWAY, _NOTHING = 13.0, 85.0  # deviations from a peak, and nats, beyond which nothing counts
_NATS = 37.0


def float_nodes(mu: float, chosen: tuple[Panel, ...]) -> tuple[Floats, Floats]:
    """Positions and logarithms of the weights, φ included."""
    import numpy as np

    z, logs = [], []
    for panel in chosen:
        half = float(panel.length) / 2
        x, weights = float_gauss(panel.number)
        at = mu / 2 + float(panel.start) + half + half * x
        z.append(at)
        logs.append(np.log(weights * half) - at * at / 2 - math.log(2 * math.pi) / 2)
    return np.concatenate(z), np.concatenate(logs)


def even_nodes(
    mu: float, rate: float, tilts: tuple[float, float], nats: float, log_size: float, cut: float = math.inf
) -> tuple[Floats, Floats] | None:
    """The same on even panels, for moments at real tilts between two, to about the rounding of floats; None if they
    would be many. Between the kink's surroundings and the peak of w^{t+1} nothing counts, if they are far apart."""
    import numpy as np

    least, t = tilts
    if (t + 1) * mu * mu > FURTHEST:
        return None
    begin, end = mu / 2, min(furthest_place(mu, rate, t, nats, log_size), mu / 2 + cut)
    steep = min(1.2, 2 / mu, 32 / ((t + 1) * mu))
    stretches = [(begin, end, steep)]
    peak = (least + 1) * mu - _AWAY
    if begin < peak and cut == math.inf:
        near, last = begin, min(peak, begin + _MOST_EVEN * steep)
        while near < last and max(least, 0.0) * _float_loss(mu, rate, near) + near * near / 2 < _NOTHING:
            near += steep
        turn = mu / 2 + math.log((1 - rate) / rate) / mu  # where w has a zero beside the real line
        if near < last and turn < peak:
            stretches = [(begin, near, steep), (peak, end, min(1.2, max(2 / mu, peak - turn)))]
    pieces = [(left, right, math.ceil((right - left) / length)) for left, right, length in stretches if right > left]
    if sum(number for _, _, number in pieces) > _MOST_EVEN:
        return None
    x, weights = float_gauss(_EVEN)
    places, logs = [], []
    for left, right, number in pieces:
        half = (right - left) / number / 2
        at = (left + half * (2 * np.arange(number)[:, None] + 1 + x)).ravel()
        places.append(at)
        logs.append(np.tile(np.log(weights * half), number) - at * at / 2 - math.log(2 * math.pi) / 2)
    return np.concatenate(places), np.concatenate(logs)


@lru_cache(maxsize=64)
def float_half(
    mu: float, rate: float, tilts: tuple[float, float], y: Fraction, cut: Fraction | None
) -> tuple[Floats, Floats]:
    """The logarithms of the weights of the upper half, and its losses, from one tilt to another; not to be changed."""
    import numpy as np

    nats = _NATS + min(60.0, max(0.0, -2 * math.log(rate * min(mu, 1.0))))
    size = log_least(mu, rate, tilts[0], cut)
    end = math.inf if cut is None else float(cut)
    even = None if y else even_nodes(mu, rate, tilts, nats, size, end)
    z, logs = even or float_nodes(mu, panels(mu, rate, tilts[1], Growth(y), nats, size, cut))
    rise = mu * z - mu * mu / 2
    small = np.log1p(rate * np.expm1(np.minimum(rise, 30.0)))
    return logs, np.where(rise < 30, small, np.logaddexp(math.log1p(-rate), math.log(rate) + rise))


def log_least(mu: float, rate: float, t: float, cut: Fraction | None) -> float:
    """About a lower bound of ln M(t)."""
    return 0.0 if cut is not None else max(0.0, (t + 1) * (t * mu * mu / 2 + math.log(rate)))


def _float_loss(mu: float, rate: float, z: float) -> float:
    rise = mu * z - mu * mu / 2
    return math.log1p(rate * math.expm1(rise)) if rise < 30 else math.log(rate) + rise
