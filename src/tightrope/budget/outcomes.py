"""Outcomes of requests as text, so that one process can serve another."""

from __future__ import annotations

import json
from fractions import Fraction

from tightrope.budget.entries import Entry
from tightrope.errors import BudgetExceeded, LedgerError, TightropeError


def outcome_to_json(outcome: Entry | TightropeError) -> str:
    """An entry, or a refusal with its data."""
    if isinstance(outcome, Entry):
        return json.dumps({"entry": list(outcome.told().values())})
    if isinstance(outcome, BudgetExceeded):
        amounts = [str(outcome.asked), str(outcome.remaining)]
        return json.dumps({"exceeded": [outcome.budget, outcome.unit, *amounts]})
    if isinstance(outcome, LedgerError):
        return json.dumps({"refused": [outcome.what, outcome.why, outcome.hint]})
    return json.dumps({"refused": [type(outcome).__name__, str(outcome).rstrip("."), ""]})


def outcome_from_json(text: str) -> Entry | TightropeError:
    """The outcome that another process wrote."""
    told = json.loads(text)
    if "entry" in told:
        return Entry(*told["entry"])
    if "exceeded" in told:
        budget, unit, asked, remaining = told["exceeded"]
        return BudgetExceeded(budget, unit, Fraction(asked), Fraction(remaining))
    return LedgerError(*told["refused"])
