"""Few places that stand for all members of a family in searches: sums over members by Chebyshev's interpolation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

__all__ = ["FLOAT_PLACES", "float_rule"]

FLOAT_PLACES = 24


def float_rule(members: Sequence[tuple[Fraction, int]]) -> list[tuple[Fraction, float]]:
    """Σ copies·f(member) ≈ Σ weight·f(place) for smooth f, places being evenly spread over the logarithm."""
    import numpy as np

    logs = np.log([float(x) for x, _ in members])
    copies = np.array([float(n) for _, n in members])
    count = FLOAT_PLACES
    if len(logs) <= count:
        return [(x, float(n)) for x, n in members]
    middle, reach = (logs[0] + logs[-1]) / 2, (logs[-1] - logs[0]) / 2
    zeros = np.cos((2 * np.arange(count) + 1) * np.pi / (2 * count))
    scales = (-1.0) ** np.arange(count) * np.sin((2 * np.arange(count) + 1) * np.pi / (2 * count))
    away = ((logs - middle) / reach)[:, None] - zeros
    away = np.where(away == 0, 1e-300, away)
    counts = scales / away
    weights = copies @ (counts / counts.sum(axis=1, keepdims=True))
    places = [Fraction(math.exp(middle + reach * float(z))) for z in zeros]
    return [(x, float(w)) for x, w in zip(places, weights, strict=True)]
