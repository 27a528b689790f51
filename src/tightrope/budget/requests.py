"""From a mechanism to the request that pays for it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from tightrope.accounting.ask import checked, epsilon
from tightrope.accounting.terms import terms as parts
from tightrope.budget import costs
from tightrope.budget.costs import Amounts
from tightrope.budget.entries import Request, plain
from tightrope.budget.filters import payable
from tightrope.budget.terms import Terms
from tightrope.errors import BadParameter, Unsupported
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.composed import Grouped, composed
from tightrope.numerics.exact import Number, shortest


def spending(
    kind: str,
    name: str,
    m: Mechanism,
    terms: Terms,
    purpose: str,
    request_id: str | None,
    delta: Number | None = None,
    plan: str | None = None,
) -> Request:
    """A charge, a release or a reservation. A step of a plan was paid for with the plan."""
    paid = None if delta is None else payable(delta)
    detail = {"delta": shortest(paid)} if paid is not None else {}
    if plan is not None:
        detail["plan"] = plain("plan", plan, least=1)
    cost = terms.nothing if plan is not None else terms.cost(m, paid)
    return _request(kind, name, m, purpose, request_id, cost, detail)


def planning(
    name: str, m: Mechanism, terms: Terms, purpose: str, request_id: str | None, delta: Number | None
) -> Request:
    """A plan: the steps with their numbers, and the price of the whole, composed exactly where the rule allows it."""
    steps = {str(part): n for part, n in parts(m).items()}
    if not steps:
        raise BadParameter("mechanisms", m, "must contain at least one step")
    if terms.rule == "exact":
        found = costs.decimal_above(epsilon(m, terms.delta).upper)
        if found is None:
            raise costs.no_price(m, terms.rule, f"it has no finite ε at δ = {shortest(terms.delta)}", "")
        return _request("plan", name, m, purpose, request_id, (found,), {"steps": steps})
    paid = None if delta is None else payable(delta)
    detail = {"steps": steps, **({"delta": shortest(paid)} if paid is not None else {})}
    return _request("plan", name, m, purpose, request_id, terms.cost(m, paid), detail)


def whole(mechanisms: Mechanism | Iterable[Mechanism]) -> Mechanism:
    """One mechanism, or several composed in order."""
    if isinstance(mechanisms, Mechanism):
        return mechanisms
    if isinstance(mechanisms, str) or not isinstance(mechanisms, Iterable):
        return checked(mechanisms)
    steps = [checked(m) for m in mechanisms]
    if not steps:
        raise BadParameter("mechanisms", mechanisms, "must contain at least one step")
    return steps[0] if len(steps) == 1 else composed(*steps)


def refuse_unrunnable(m: Mechanism) -> None:
    """Refuse before anything is spent what cannot be run."""
    from tightrope.mechanisms.running.release import RUNS  # loads the noise, which accounting does not need

    inner = m
    while isinstance(inner, Grouped):
        inner = inner.part
    if type(inner) not in RUNS:
        raise Unsupported(f"releasing {m}", "it cannot be run as one query", "Charge it, and run its parts elsewhere.")


def _request(
    kind: str, name: str, m: Mechanism, purpose: str, request_id: str | None, cost: Amounts, detail: dict[str, Any]
) -> Request:
    given = str(uuid.uuid4()) if request_id is None else plain("request_id", request_id, least=1)
    text = plain("purpose", purpose, most=10_000)
    return Request(kind, name, given, str(m), text, costs.written(cost), detail=detail)
