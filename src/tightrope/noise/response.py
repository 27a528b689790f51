"""Randomized response over k answers, vectorised."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tightrope.noise.entropy import Source
from tightrope.noise.laws import Law
from tightrope.noise.table import CHUNK, sampler
from tightrope.noise.uniform import whole_below, wholes_below

_MOST = 1 << 32  # answers that one 32-bit word can choose among


def responses(source: Source, kept: Law, answers: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Each answer 0 … k−1 stays if ``kept`` says 1, or becomes one of the others, all equally likely."""
    out = answers.copy()
    for start in range(0, len(out), CHUNK):
        part = out[start : start + CHUNK]
        change = np.flatnonzero(sampler(kept).draw(source, len(part)) == 0)
        if k == 2:
            part[change] ^= 1
        elif k <= _MOST:
            part[change] = (part[change] + 1 + wholes_below(source, len(change), k - 1)) % k
        else:
            part[change] = [(int(v) + 1 + whole_below(source, k - 1)) % k for v in part[change]]
    return out
