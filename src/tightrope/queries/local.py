"""What a population answered, estimated without bias from its randomized responses."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightrope.errors import BadParameter, Unsupported
from tightrope.mechanisms.response import RandomizedResponse
from tightrope.numerics.balls import ball, precision
from tightrope.numerics.exact import Number, exact, near


@dataclass(frozen=True)
class Frequencies:
    """Estimated numbers of true answers, their standard deviations, and how many answers there were."""

    counts: NDArray[np.floating[Any]]
    std: NDArray[np.floating[Any]]
    answers: int
    _gap: float

    def interval(self, confidence: Number = 0.95) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
        """(low, high) for each count, by Hoeffding's inequality: at least this confidence for each."""
        doubt = near(1 - exact("confidence", confidence))
        if not 0 < doubt < 1:
            raise BadParameter("confidence", confidence, "must lie strictly between 0 and 1")
        half = sqrt(self.answers * log(2 / doubt) / 2) / self._gap
        return self.counts - half, self.counts + half


def frequencies(answers: Any, mechanism: RandomizedResponse) -> Frequencies:
    """Estimate how many people truly hold each answer, from answers that ``mechanism`` randomized.

    ``answers`` are numbers from 0 to k − 1, or truth values. Each true answer stays with chance p and becomes any given
    other one with chance q, so (seen − nq)/(p − q) is right on average. Returns an object with ``.counts`` (an array),
    ``.std`` and ``.interval(0.95)``. It costs nothing more: the answers are private already.

    >>> poll = RandomizedResponse(epsilon=1)
    >>> float(frequencies([0, 1, 1, 1], poll).counts.sum().round())
    4.0
    """
    if not isinstance(mechanism, RandomizedResponse):
        raise BadParameter("mechanism", mechanism, "must be a RandomizedResponse")
    truth, other = _chances(mechanism)
    if truth == other:
        raise Unsupported("estimating from these answers", "they do not depend on the truth", "Use a larger ε.")
    array = np.asarray(answers)
    if array.dtype.kind not in "biu" or array.ndim != 1:
        raise BadParameter("answers", "…", "must be a list of whole numbers from 0 to k − 1, or of truth values")
    if array.size and not (int(array.min()) >= 0 and int(array.max()) < mechanism.k):
        raise BadParameter("answers", "…", f"must lie between 0 and {mechanism.k - 1}")
    n, gap = len(array), truth - other
    seen = np.bincount(array.astype(np.int64), minlength=mechanism.k)
    counts = (seen.astype(np.float64) - n * other) / gap
    held = np.clip(counts, 0, n)
    variance = held * truth * (1 - truth) + (n - held) * other * (1 - other)
    return Frequencies(counts, np.sqrt(variance) / abs(gap), n, abs(gap))


def _chances(m: RandomizedResponse) -> tuple[float, float]:
    """(p, q) as floats: an estimate is not a privacy claim."""
    if m.p is not None:
        return float(m.p), float((1 - m.p) / (m.k - 1))
    with precision(128):
        grown = ball(m.epsilon or 0).exp()
        return float(grown / (grown + m.k - 1)), float(1 / (grown + m.k - 1))
