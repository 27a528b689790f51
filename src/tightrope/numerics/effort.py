"""How much work a question may cost, counted and not timed: the same on any machine, however busy it is.

A unit is about a microsecond. Outside of ``allowed`` nothing is counted and nothing refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass

from tightrope.errors import NotCertified

__all__ = ["affords", "allowed", "left", "owing", "paid", "proving", "spend"]


@dataclass
class _Allowance:
    """What is left of it; what is taken is taken from the outer ones as well."""

    left: float
    outer: _Allowance | None
    searching: bool = False  # it does not hold for proofs
    proving: bool = False  # from here on inwards only those that hold for proofs count
    free: bool = False  # nothing is refused, whatever the outer ones say


_present: ContextVar[_Allowance | None] = ContextVar("allowance", default=None)  # every thread has its own


class _Within:
    """A context, written out since it is entered often."""

    __slots__ = ("_allowance", "_token")

    def __init__(self, allowance: _Allowance | None) -> None:
        self._allowance = allowance

    def __enter__(self) -> None:
        self._token = _present.set(self._allowance)

    def __exit__(self, *_: object) -> None:
        _present.reset(self._token)


def _counting() -> Iterator[_Allowance]:
    """The present allowances, from within; of a proof those that are not for searches only."""
    present, proving = _present.get(), False
    while present is not None:
        proving = proving or present.proving
        if not (proving and present.searching):
            yield present
        present = present.outer


def allowed(units: float, searching: bool = False) -> AbstractContextManager[None]:
    """Within, at most that much work, and no more than is left of an allowance around it; ``searching``: for searches
    only, and not for the proofs that they lead to."""
    return _Within(_Allowance(units, _present.get(), searching))


def proving() -> AbstractContextManager[None]:
    """Within, what was set aside while searching may be spent: a proof that was planned is likely to be the answer."""
    return _Within(_Allowance(math.inf, _present.get(), proving=True))


def owing() -> AbstractContextManager[None]:
    """Within, work is counted and never refused: what is done here must not depend on what is left."""
    return _Within(_Allowance(math.inf, _present.get(), free=True))


def paid() -> AbstractContextManager[None]:
    """Within, nothing is counted, since the whole was."""
    return _Within(None)


def left() -> float:
    """The units that may still be spent; ∞ where nothing is counted."""
    least = math.inf
    for allowance in _counting():
        if allowance.free:
            break
        least = min(least, allowance.left)
    return least


def affords(units: float) -> bool:
    """Whether that much may still be spent."""
    return units <= left()


def spend(units: float, what: str) -> None:
    """Count work that is about to be done; NotCertified if too little is left for it."""
    if not affords(units):
        raise NotCertified(what, "the work allowed to one question is spent")
    for allowance in _counting():
        allowance.left -= units
