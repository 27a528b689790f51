"""The one door through which all noise is drawn.

Every sampler asks here for its bits and says which law it draws and around what value. Nothing is kept unless a
``Tape`` is running (see ``rehearsal``): then tests can compare what two neighbouring data sets draw.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from tightrope.noise.entropy import Source, system_source


@dataclass(frozen=True)
class Draw:
    """One request for noise: its law in words, how many values, around which centre, with whose bits."""

    law: str
    size: int
    centre: Any
    source: str


@dataclass
class Tape:
    """What was drawn while it ran, in order; ``source`` gives the bits for draw number 0, 1, …"""

    source: Callable[[int], Source]
    draws: list[Draw] = field(default_factory=list)


_running: ContextVar[Tape | None] = ContextVar("tape", default=None)


def drawing(law: str, size: int, centre: Any = None) -> Source:
    """The bits for ``size`` values of ``law`` around ``centre``."""
    tape = _running.get()
    if tape is None:
        return system_source()
    source = tape.source(len(tape.draws))
    tape.draws.append(Draw(law, size, centre, source.name))
    return source


def source_name() -> str:
    """Where the next bits come from."""
    tape = _running.get()
    return system_source().name if tape is None else tape.source(len(tape.draws)).name
