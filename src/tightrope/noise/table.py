"""Sampling a law on the whole numbers by inversion on certified thresholds.

U is revealed bit by bit. Sixteen (or twenty) bits usually decide the value by one look-up; where a threshold lies in
the way, 64 bits are compared with T_i = ⌊2^64 C_i⌋; where these tie, or the value lies outside the table, the
distribution function itself is compared in balls and bits are drawn until it is certain. Proof in docs/noise.md.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightrope.noise.entropy import Source
from tightrope.noise.laws import Law
from tightrope.noise.uniform import Uniform
from tightrope.numerics.balls import Ball, precision

WORD = 64
CHUNK = 1 << 15  # values drawn at once, so that everything stays in the processor's cache
_FEW = 600  # thresholds for which a guide of 16 bits is ambiguous for less than a hundredth


def thresholds(law: Law, bits: int = 192) -> list[int]:
    """⌊2^64 P(X ≤ k)⌋ for all k of the law's span but a finite end: certified, at more bits where need be."""
    low, high = law.span()
    with precision(bits):
        floors = [_floor(c) for c in law.tabled(low, high - law.finite_above)]
    certified = [f for f in floors if f is not None]
    return certified if len(certified) == len(floors) else thresholds(law, 2 * bits)


def _floor(c: Ball | Fraction) -> int | None:
    """⌊2^64 c⌋ of a number strictly between 0 and 1, or at its ends exactly."""
    largest = (1 << WORD) - 1
    if isinstance(c, Fraction):
        return min(int(c * (1 << WORD)), largest)
    scaled = c * (1 << WORD)
    unique = scaled.floor().unique_fmpz()
    if unique is not None:
        return int(unique)
    # Chances too near 0 or 1 to be told from them are still strictly inside.
    return 0 if scaled < 1 else largest if scaled > largest else None


class TableSampler:
    """A law with its thresholds and a guide by the first bits. Immutable once made; shared by all threads."""

    def __init__(self, law: Law) -> None:
        self.law = law
        self.low, high = law.span()
        self.thresholds = np.array(thresholds(law), dtype=np.uint64)
        self.guide_bits = 16 if len(self.thresholds) <= _FEW else 20
        self.word_bits = 16 if self.guide_bits == 16 else 32
        kind = np.int16 if max(-self.low, high) < 1 << 15 else np.int32
        self._unsure = np.iinfo(kind).min
        buckets = (self.thresholds >> np.uint64(WORD - self.guide_bits)).astype(np.int64)
        inside = np.bincount(buckets, minlength=1 << self.guide_bits)
        before = np.cumsum(inside) - inside  # thresholds below the bucket: all of them are below U
        unsure = inside > 0
        if not law.finite_below:
            unsure |= before == 0
        if not law.finite_above:
            unsure |= before == len(self.thresholds)
        self.guide = np.where(unsure, self._unsure, before + self.low).astype(kind)

    def draw(self, source: Source, size: int) -> NDArray[np.int64]:
        """``size`` independent values."""
        out = np.empty(size, np.int64)
        for start in range(0, size, CHUNK):
            part = out[start : start + CHUNK]
            words = source.words(len(part), self.word_bits)
            values = self.guide.take(words if self.word_bits == 16 else words >> np.uint32(12))
            part[:] = values
            unsure = np.flatnonzero(values == self._unsure)
            if len(unsure):
                part[unsure] = self._refined(source, words[unsure])
        return out

    def _refined(self, source: Source, words: NDArray[Any]) -> NDArray[np.int64]:
        """The values for words whose first bits do not decide: now by 64 bits."""
        more = source.words(len(words), 64) >> np.uint64(self.word_bits)
        u = words.astype(np.uint64) << np.uint64(WORD - self.word_bits) | more
        index = np.searchsorted(self.thresholds, u)
        values = index + self.low
        last = len(self.thresholds)
        tied = (index < last) & (self.thresholds[np.minimum(index, last - 1)] == u)
        if not self.law.finite_below:
            tied |= index == 0
        if not self.law.finite_above:
            tied |= index == last
        for i in np.flatnonzero(tied):
            values[i] = self.exact(Uniform(source, int(u[i]), WORD), int(values[i]))
        return values

    def exact(self, u: Uniform, start: int) -> int:
        """The least k with U < P(X ≤ k), sought from ``start`` in either direction."""
        k, (low, high) = start, self.law.span()
        while not (self.law.finite_above and k >= high) and not u.below(self.law.cumulative(k)):
            k += 1
        while not (self.law.finite_below and k <= low) and u.below(self.law.cumulative(k - 1)):
            k -= 1
        return k


@lru_cache(maxsize=32)
def sampler(law: Law) -> TableSampler:
    """The sampler of a law, made once."""
    return TableSampler(law)
