"""Uniform numbers whose bits are drawn when a question needs them, and exact coins made of them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightrope.noise.entropy import Source
from tightrope.numerics.balls import Ball, ball, precision

Threshold = Fraction | Callable[[], Ball]  # a number, exactly, or at the present precision
STEP = 64  # bits drawn at once when the known ones do not decide


class Uniform:
    """U in [0, 1), known to lie in [prefix, prefix + 1)/2^known."""

    def __init__(self, source: Source, prefix: int = 0, known: int = 0) -> None:
        self.source, self.prefix, self.known = source, prefix, known

    def refine(self) -> None:
        """Draw the next bits."""
        self.prefix = self.prefix << STEP | self.source.bits(STEP)
        self.known += STEP

    def ends(self) -> tuple[Fraction, Fraction]:
        """What is known: low ≤ U < high."""
        return Fraction(self.prefix, 1 << self.known), Fraction(self.prefix + 1, 1 << self.known)

    def below(self, threshold: Threshold) -> bool:
        """Whether U < threshold, whose law is exactly Bernoulli(threshold): bits are drawn until it is certain."""
        while True:
            verdict = self._compared(threshold)
            if verdict is not None:
                return verdict
            self.refine()

    def _compared(self, threshold: Threshold) -> bool | None:
        if isinstance(threshold, Fraction):
            scaled = threshold * (1 << self.known)
            return True if self.prefix + 1 <= scaled else False if self.prefix >= scaled else None
        with precision(128 + 2 * self.known):
            value = threshold() * (1 << self.known)
            return True if value >= self.prefix + 1 else False if value <= self.prefix else None


def coin(source: Source, chance: Threshold) -> bool:
    """True with exactly this chance."""
    return Uniform(source).below(chance)


def decaying_coin(source: Source, exponent: Fraction) -> bool:
    """True with chance e^{−exponent}, exactly."""
    if exponent == 0:
        return True
    return coin(source, lambda: (-ball(exponent)).exp())


def whole_below(source: Source, count: int) -> int:
    """A whole number in [0, count), all equally likely."""
    bits = (count - 1).bit_length()
    while True:
        drawn = source.bits(bits) if bits else 0
        if drawn < count:
            return drawn


def wholes_below(source: Source, size: int, count: int) -> NDArray[np.int64]:
    """``size`` whole numbers in [0, count), count ≤ 2^32: words are cut to enough bits and those too large dropped."""
    mask = np.uint32((1 << (count - 1).bit_length()) - 1)
    kept: list[NDArray[Any]] = []
    have = 0
    while have < size:
        words = source.words(2 * (size - have) + 16, 32) & mask
        kept.append(words[words < count])
        have += len(kept[-1])
    return np.concatenate(kept)[:size].astype(np.int64) if kept else np.zeros(0, np.int64)
