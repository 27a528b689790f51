"""Moments of the sampled discrete normal loss in floats, for searches: they prove nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tightrope.numerics.exact import near
from tightrope.numerics.moments.sampled_normal_floats import log_power_means
from tightrope.numerics.products import product

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

__all__ = ["discrete_noise_means"]

_SMOOTH = 9.0  # a variance from which on whole numbers are as good as real ones, in floats
_MOST, _NATS, _GENTLE, _CLOSE = 3000.0, 40.0, 30.0, 0.01


def discrete_noise_means(variance: Fraction, shift: int, rate: Fraction, powers: Sequence[float]) -> list[float]:
    """About ln E[w(k)^a] for a discrete normal k, at many powers a."""
    import numpy as np

    v, d, q = near(variance), float(shift), min(near(rate), 1 - 2.0**-53)
    if v >= _SMOOTH * d or rate == 1:
        found = np.empty(len(powers))
        for close in _octaves(powers):  # powers of one size share their nodes; a wide range would share far too many
            found[close] = log_power_means(d / math.sqrt(v), q, [powers[i] for i in close])
        return [float(value) for value in found]
    at = np.asarray(powers, dtype=np.float64)
    with np.errstate(all="ignore"):
        modes = np.logaddexp(at * math.log1p(-q), at * math.log(q) + at * (at - 1) * (d * d / (2 * v)))
        result = np.where(at > 0, modes, at * math.log1p(-q))
        near_by = np.where(at > 0, at * d, np.sqrt(np.abs(2 * v * at * math.log1p(-q)))) < _MOST
        if near_by.any():
            result[near_by] = _summed(v, d, q, at[near_by])
    return [float(value) for value in result]


def _summed(v: float, d: float, q: float, powers: Floats) -> Floats:
    """Sums over all k that matter to any of these powers; from E[w^a − 1 − a(w − 1)] where that is small."""
    import numpy as np

    reach = math.sqrt(2 * _NATS * v) + math.sqrt(max(0.0, 2 * v * float(powers.min()) * math.log1p(-q))) + 3
    k = np.arange(math.floor(-reach), math.ceil(reach + d * max(float(powers.max()), 1.0)) + 1, dtype=np.float64)
    loss = d * (2 * k - d) / (2 * v)
    logs = np.where(loss < 600, np.log1p(q * np.expm1(np.minimum(loss, 600.0))), loss + math.log(q))
    plain = -(k * k) / (2 * v)
    plain -= np.log(np.exp(plain).sum())
    some = np.multiply.outer(powers, logs)
    exponents = some + plain
    top = exponents.max(axis=1)
    values: Floats = top + np.log(np.exp(exponents - top[:, None]).sum(axis=1))
    tame = loss < 600  # beyond, nothing is left where the sum is small
    u, a = np.expm1(logs[tame]), powers[:, None]
    series = np.zeros((len(powers), len(u)))
    for n in range(6, 1, -1):
        series = 1 + (a - n) / (n + 1) * u * series
    close = (np.abs(a) + 2) * np.abs(u) < _CLOSE  # there a difference would cancel
    grown = np.where(close, a * (a - 1) / 2 * u * u * series, np.expm1(some[:, tame]) - a * u)
    rise = product(grown, np.exp(plain[tame]))
    small = (np.abs(rise) < 1) & (values < _GENTLE)
    return np.where(small, np.log1p(rise), values)


def _octaves(numbers: Sequence[float]) -> list[list[int]]:
    sizes: dict[tuple[bool, int], list[int]] = {}
    for i, x in enumerate(numbers):
        sizes.setdefault((x > 0, math.frexp(x)[1] // 2), []).append(i)
    return list(sizes.values())
