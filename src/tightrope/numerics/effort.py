"""How much work a question may cost, counted and not timed: the same on any machine, however busy it is.

A unit is about a microsecond. Outside of ``allowed`` nothing is counted and nothing refused, so a proof that is checked
is never short of work.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from tightrope.errors import NotCertified

__all__ = ["affords", "allowed", "left", "owing", "paid", "proving", "spend"]


@dataclass
class _Allowance:
    """What is left of it; what is taken is taken from the outer ones as well."""

    left: float
    searching: bool
    outer: _Allowance | None
    free: bool = False  # nothing is refused, whatever the outer ones say


_present: ContextVar[_Allowance | None] = ContextVar("allowance", default=None)  # every thread has its own


@contextmanager
def _within(allowance: _Allowance | None) -> Iterator[None]:
    token = _present.set(allowance)
    try:
        yield
    finally:
        _present.reset(token)


def allowed(units: float, searching: bool = False) -> AbstractContextManager[None]:
    """Within, at most that much work, and no more than is left of an allowance around it; ``searching``: for searches
    only, and not for the proofs that they lead to."""
    return _within(_Allowance(min(units, left()), searching, _present.get()))


def proving() -> AbstractContextManager[None]:
    """Within, what was set aside while searching may be spent: a proof that was planned is likely to be the answer."""
    present = _present.get()
    while present is not None and present.searching:
        present = present.outer
    return _within(present)


def owing() -> AbstractContextManager[None]:
    """Within, work is counted and never refused: what is done here must not depend on what is left."""
    return _within(_Allowance(math.inf, False, _present.get(), free=True))


def paid() -> AbstractContextManager[None]:
    """Within, nothing is counted, since the whole was."""
    return _within(None)


def left() -> float:
    """The units that may still be spent; ∞ where nothing is counted."""
    present, least = _present.get(), math.inf
    while present is not None and not present.free:
        least = min(least, present.left)
        present = present.outer
    return least


def affords(units: float) -> bool:
    """Whether that much may still be spent."""
    return units <= left()


def spend(units: float, what: str) -> None:
    """Count work that is about to be done; NotCertified if too little is left for it."""
    if not affords(units):
        raise NotCertified(what, "the work allowed to one question is spent")
    present = _present.get()
    while present is not None:
        present.left -= units
        present = present.outer
