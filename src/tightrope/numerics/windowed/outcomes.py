"""The loss of one sampled step as a function of its outcome, in floats: for choices only.

A step draws z from the second law, φ(z), or φ(z)·w(−z) where a record is exchanged; w(z) = 1 − q + q·e^{μz−μ²/2}.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["log_one_call", "log_share_above", "loss_at", "loss_place", "losses", "shares_above", "usual_deviation"]

_HUGE = 600.0


def losses(mu: float, rate: float, z: Floats, exchanged: bool) -> tuple[Floats, Floats | float]:
    """The losses, and ln of the second law's density beside the normal one's."""
    import numpy as np

    up = np.log1p(rate * np.expm1(np.minimum(mu * z - mu * mu / 2, 690.0)))
    if not exchanged:
        return up, 0.0
    down = np.log1p(rate * np.expm1(np.minimum(-mu * z - mu * mu / 2, 690.0)))
    return up - down, down


def loss_at(mu: float, rate: float, z: float, exchanged: bool = False) -> float:
    """The loss of one outcome."""
    up = math.log1p(rate * math.expm1(min(mu * z - mu * mu / 2, 690.0)))
    return up - math.log1p(rate * math.expm1(min(-mu * z - mu * mu / 2, 690.0))) if exchanged else up


def loss_place(mu: float, rate: float, x: float, exchanged: bool = False) -> float:
    """The z whose loss is x; −∞ if there is none."""
    if x > _HUGE:
        return (x - math.log(rate)) / mu + mu / 2
    if exchanged:  # B·t² − A(e^x − 1)·t − e^x·B = 0 for t = e^{μz}, A = 1 − q and B = q·e^{−μ²/2}
        if x < 0:
            return -loss_place(mu, rate, -x, True)
        half = (1 - rate) * math.expm1(x) / 2
        log_b = math.log(rate) - mu * mu / 2
        low = math.exp(x / 2 + log_b)
        return (math.log(half + math.hypot(half, low)) - log_b) / mu
    rise = math.expm1(x) / rate + 1
    return math.log(rise) / mu + mu / 2 if rise > 0 else -math.inf


def usual_deviation(mu: float, rate: float, exchanged: bool) -> float:
    """About that of the loss, but for rare large ones."""
    size = min(mu * mu, 4.0)
    return rate * math.sqrt(2 * (math.expm1(size) - math.expm1(-size)) if exchanged else math.expm1(size))


def _log_tail(z: float) -> float:
    return math.log(math.erfc(z / math.sqrt(2)) / 2) if z < 35 else -z * z / 2 - math.log(z * math.sqrt(2 * math.pi))


def shares_above(mu: float, rate: float, z: float, exchanged: bool) -> tuple[float, float]:
    """The chances of an outcome above z under both laws."""
    plain, moved, away = (math.exp(max(_log_tail(z - shift), -745.0)) for shift in (0.0, mu, -mu))
    return (1 - rate) * plain + rate * moved, (1 - rate) * plain + rate * away if exchanged else plain


def log_share_above(mu: float, rate: float, z: float) -> float:
    """ln of the chance of an outcome above z under the first law."""
    moved, plain = math.log(rate) + _log_tail(z - mu), math.log1p(-rate) + _log_tail(z)
    return max(moved, plain) + math.log1p(math.exp(-abs(moved - plain)))


def log_one_call(mu: float, rate: float, x: float, exchanged: bool = False) -> float:
    """ln of the call of one step at x > 0."""
    z = loss_place(mu, rate, x, exchanged)
    top, grown = math.log(rate) + _log_tail(z - mu), math.expm1(min(x, _HUGE))
    low = math.log(grown + rate) + _log_tail(z)
    if exchanged:
        far = math.log(rate) + min(x, _HUGE) + _log_tail(z + mu)
        near = math.log(grown * (1 - rate)) + _log_tail(z) if grown else -math.inf
        low = max(near, far) + math.log1p(math.exp(-abs(near - far)))
    return top + math.log(max(-math.expm1(low - top), 1e-12)) if low < top else top - 27
