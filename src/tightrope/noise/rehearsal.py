"""Seeded noise for tests: the same bits for the same seed, draw by draw. Nothing drawn here is private.

>>> import warnings
>>> with warnings.catch_warnings():
...     warnings.simplefilter("ignore", NotPrivate)
...     with rehearsed(seed=1) as tape:
...         first = drawing("coin", 1).bits(64)
...     with rehearsed(seed=1):
...         again = drawing("coin", 1).bits(64)
>>> first == again, tape.draws[0].source
(True, 'seed 1 (not private)')
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from tightrope.noise.entropy import Source, system_source
from tightrope.noise.recorder import Tape, _running, drawing

__all__ = ["NotPrivate", "Seeded", "drawing", "recorded", "rehearsed"]


class NotPrivate(UserWarning):
    """Noise comes from a seed: whoever knows the seed can remove it."""


class Seeded(Source):
    """SHAKE-256 of the seed, the number of the draw and a counter."""

    def __init__(self, seed: int, draw: int = 0) -> None:
        self.name = f"seed {seed} (not private)"
        self._start = f"{seed}/{draw}/"
        self._blocks = 0

    def block(self, size: int) -> bytes:
        """The next bytes of this draw's own stream."""
        self._blocks += 1
        return hashlib.shake_256(f"{self._start}{self._blocks}".encode()).digest(size)


@contextmanager
def _with(tape: Tape) -> Iterator[Tape]:
    before = _running.set(tape)
    try:
        yield tape
    finally:
        _running.reset(before)


@contextmanager
def rehearsed(seed: int) -> Iterator[Tape]:
    """Draw from ``seed`` inside, and keep what was drawn. For tests only: it warns each time.

    Draw number i has a stream of its own, so two runs meet the same bits at the same draw.
    """
    warnings.warn("noise is drawn from a seed: nothing released here is private", NotPrivate, stacklevel=3)
    with _with(Tape(lambda draw: Seeded(seed, draw))) as tape:
        yield tape


@contextmanager
def recorded() -> Iterator[Tape]:
    """Keep what is drawn inside, with the usual private bits."""
    with _with(Tape(lambda _: system_source())) as tape:
        yield tape
