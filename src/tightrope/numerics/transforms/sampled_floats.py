"""ln E[w^a] of the sampled normal law for many powers a of one sign: quick floats, unproved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tightrope.numerics.moments.sampled_normal_floats import log_power_means, strip_step, window
from tightrope.numerics.products import product

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["quick_log_means"]

_MOST_NODES = 4000
_STEEP = 600.0
_ALONE, _BESIDE = 40.0, 9.0  # nats above all else, and deviations from the peak


def quick_log_means(mu: float, rate: float, powers: Floats) -> Floats:
    """ln E[w^a]: from G − 1 = E[w^a − 1 − a(w−1)] where that is small, so that some 10⁹ copies lose little; where w^a
    has nothing but its peak at aμ, that alone."""
    import numpy as np

    with np.errstate(all="ignore"):
        result: Floats = powers * (math.log(rate) + (powers - 1) * (mu * mu / 2))
        beside = math.log(rate) + mu * (powers * mu - _BESIDE) - mu * mu / 2 - np.log(powers)  # ln ρ/a near the peak
        others = ~((powers > 1) & (result > _ALONE) & (beside > _ALONE))
    if others.any():
        result[others] = _means(mu, rate, powers[others])
    return result


def _means(mu: float, rate: float, powers: Floats) -> Floats:
    import numpy as np

    nats = 34.0 + min(60.0, max(0.0, -2 * math.log(rate * min(mu, 1.0))))
    low, high = float(powers.min()), float(powers.max())
    step = strip_step(mu, low, nats)[1]
    left, right = window(mu, max(low, -1e9), math.log1p(-rate), math.log(rate), nats, 0.0)
    right = max(right, max(1.0, high) * mu + math.sqrt(2 * nats))
    if not (right - left) / step < _MOST_NODES:
        return log_power_means(mu, rate, powers.astype(np.float64))
    z = step * np.arange(math.floor(left / step), math.ceil(right / step) + 1)
    xi = mu * z - mu * mu / 2
    u = rate * np.expm1(np.minimum(xi, _STEEP))
    logs = np.where(xi < _STEEP, np.log1p(u), xi + math.log(rate))
    density = np.exp(z * z / -2) * (step / math.sqrt(2 * math.pi))
    exponents = np.multiply.outer(powers, logs)
    rise = product(np.expm1(np.minimum(exponents, _STEEP)), density) - powers * float(u @ density)
    result: Floats = np.log1p(rise)
    steep = ~(np.abs(rise) < 1) | (exponents[:, -1] > _STEEP) | (right * mu > _STEEP)
    if steep.any():
        rows = exponents[steep] - z * z / 2
        top = rows.max(axis=1)
        sums = np.exp(rows - top[:, None]).sum(axis=1)
        result[steep] = top + np.log(sums) + math.log(step / math.sqrt(2 * math.pi))
    return result
