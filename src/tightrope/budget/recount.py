"""What better theorems save on what was charged long ago."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction

from tightrope.accounting.text import parse
from tightrope.budget.costs import Amounts, read
from tightrope.budget.entries import SPENDING, Entry
from tightrope.budget.terms import Terms
from tightrope.errors import TightropeError


def savings(terms: Terms, history: Iterable[Entry]) -> tuple[Amounts, int]:
    """By how much the recorded total exceeds today's price of every stored tree, and the last entry looked at.

    Lowering a bill is valid at any time: the new price is a bound that was true of the mechanism all along, and it does
    not depend on the answers. A price is never raised.
    """
    today, recorded, upto, reserved = terms.nothing, terms.nothing, -1, {}
    for entry in history:
        upto, recorded = entry.seq, read(entry.spent)
        if entry.kind == "reserve":
            reserved[entry.seq] = entry
        elif entry.kind == "commit" and entry.refers in reserved:
            today = _added(today, _lowered(terms, reserved[entry.refers]))
        elif entry.kind in SPENDING:
            today = _added(today, _lowered(terms, entry))
    saved = tuple(max(r - t, Fraction(0)) for r, t in zip(recorded, today, strict=True))
    return saved, upto


def price(terms: Terms, entry: Entry) -> Amounts:
    """Today's price of an entry. Exact plans, steps of plans and what is not known any more keep theirs."""
    detail = json.loads(entry.detail) if entry.detail else {}
    if terms.rule == "exact" or "plan" in detail or "steps" in detail:
        return entry.amounts
    try:
        delta = Fraction(detail["delta"]) if "delta" in detail else None
        return terms.cost(parse(entry.mechanism), delta)
    except TightropeError:
        return entry.amounts


def _lowered(terms: Terms, entry: Entry) -> Amounts:
    return tuple(map(min, price(terms, entry), entry.amounts))


def _added(total: Amounts, more: Amounts) -> Amounts:
    return tuple(t + c for t, c in zip(total, more, strict=True))
