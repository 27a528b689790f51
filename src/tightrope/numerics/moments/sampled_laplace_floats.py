"""Moments of the sampled Laplace loss in floats, for searches: they prove nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tightrope.numerics.gauss import float_gauss
from tightrope.numerics.products import product

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

__all__ = ["sampled_laplace_floats"]

_NODES, _LONGEST, _SHORTEST = 12, 2.0, 2.0**-14  # of a panel; large powers have all of their mass near one end
_GENTLE, _TINY = 0.5, 1e-3


def sampled_laplace_floats(epsilon0: float, rate: float, powers: Sequence[float]) -> list[float]:
    """About ln E_Q[w^a], w = 1 − q + q·e^L, of Laplace laws ε₀ > 0 scales apart, at many powers a."""
    import numpy as np

    masses, logs = _law(epsilon0, rate)
    at = np.asarray(powers, dtype=np.float64)
    exponents = np.multiply.outer(at, logs)
    with np.errstate(all="ignore"):
        tops = exponents.max(axis=1)
        values = tops + np.log(product(np.exp(exponents - tops[:, None]), masses))
        gentle = np.abs(exponents).max(axis=1) < _GENTLE
        if gentle.any():
            values[gentle] = np.log1p(product(_rise(at[gentle], logs), masses))
    return [float(value) if math.isfinite(value) else math.inf for value in values]


def _rise(powers: Floats, logs: Floats) -> Floats:
    """w^a − 1 − a(w − 1), whose mean is E[w^a] − 1: with r(x) = e^x − 1 − x and l = ln w it is r(al) − a·r(l), and with
    λ = a − 1, which may be tiny, it is (w − 1)(e^{λl} − 1) + r(λl) − λ·r(l)."""
    import numpy as np

    first = powers > _GENTLE
    lam = np.where(first, powers - 1, powers)
    more = np.multiply.outer(lam, logs)
    rise: Floats = _beyond_first(more) - lam[:, None] * _beyond_first(logs)
    rise[first] += np.expm1(logs) * np.expm1(more[first])
    return rise


def _beyond_first(x: Floats) -> Floats:
    """r(x)."""
    import numpy as np

    near = x * x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5)))
    result: Floats = np.where(np.abs(x) < _TINY, near, np.expm1(x) - x)
    return result


@lru_cache(maxsize=16)
def _law(epsilon0: float, rate: float) -> tuple[Floats, Floats]:
    """Masses under the plain law and ln w: both atoms, and the nodes of Gauss's rule on panels between them."""
    import numpy as np

    lengths, place = [], 0.0
    while place < epsilon0:
        lengths.append(min(max(place, _SHORTEST * epsilon0), _LONGEST, epsilon0 - place))
        place += lengths[-1]
    ends = np.concatenate([[0.0], np.cumsum(lengths)]) - epsilon0
    ends = np.concatenate([ends, -ends[-2::-1]])
    x, weights = float_gauss(_NODES)
    half, middle = np.diff(ends)[:, None] / 2, (ends[1:] + ends[:-1])[:, None] / 2
    places = (middle + half * x).ravel()
    density = (half * weights).ravel() * np.exp(-(epsilon0 + places) / 2) / 4
    losses = np.concatenate([[epsilon0, -epsilon0], places])
    masses = np.concatenate([[math.exp(-epsilon0) / 2, 0.5], density])
    return masses, np.log1p(rate * np.expm1(losses))
