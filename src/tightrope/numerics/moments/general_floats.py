"""The general moment bounds of samples, in floats and for searches only: K = (order − 1)·D at whole orders.

``divergences`` holds the base's D at the whole orders 2, 3, …, at least up to the order asked. All terms are
logarithms, so that none overflows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["poisson_general_float", "without_replacement_general_float"]


def poisson_general_float(rate: float, order: int, divergences: Sequence[float]) -> float:
    """Zhu and Wang's bound with its factor 3 from the third moment on."""
    k, logs = _terms(order, divergences)
    weights = _log_binomials(order, k) + k * math.log(rate) + (order - k) * math.log1p(-rate)
    small = np.expm1(np.minimum(logs, 600.0))  # the weights sum to 1, so each term is taken less its own weight
    small[1:] = 3 * small[1:] + 2
    with np.errstate(divide="ignore"):
        excess = np.where(logs < 600, np.log(small), logs + np.where(k == 2, 0.0, math.log(3)))
    return _log_one_plus(weights + excess)


def without_replacement_general_float(
    rate: float, order: int, divergences: Sequence[float], pure: float | None
) -> float:
    """Wang, Balle and Kasiviswanathan's Theorem 9."""
    j, logs = _terms(order, divergences)
    caps = np.full(len(j), math.log(2))
    if pure is not None and 0 < pure < 1.1:
        caps = np.minimum(caps, j * math.log(math.expm1(pure)))
    excess = logs + caps
    if 0 < logs[0] < 600:
        excess[0] = min(excess[0], math.log(4 * math.expm1(logs[0])))
    return _log_one_plus(_log_binomials(order, j) + j * math.log(rate) + excess)


def _terms(order: int, divergences: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """k and (k − 1)·D_k for k = 2 … order."""
    k = np.arange(2, order + 1, dtype=float)
    return k, (k - 1) * np.asarray(divergences[: order - 1])


def _log_binomials(order: int, k: NDArray[np.float64]) -> NDArray[np.float64]:
    steps = np.log(order - k + 1) - np.log(k)
    found: NDArray[np.float64] = np.cumsum(steps) + math.log(order)
    return found


def _log_one_plus(logs: NDArray[np.float64]) -> float:
    """ln(1 + Σ e^y); ∞ where a term is."""
    top = float(np.max(logs))
    if not top < math.inf:
        return math.inf
    total = float(np.sum(np.exp(logs - top)))
    return math.log1p(math.exp(top) * total) if top < 600 else top + math.log(total)
