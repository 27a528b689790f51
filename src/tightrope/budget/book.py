"""The rules of bookkeeping: how a request becomes an entry, or is refused. Nothing is written before all is checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache

from tightrope.budget.costs import Amounts, read, tidy
from tightrope.budget.entries import Entry, Request, canonical
from tightrope.budget.rows import Rows
from tightrope.budget.terms import Terms
from tightrope.errors import LedgerError, TightropeError

CLOSING = ("commit", "cancel")


def post(rows: Rows, request: Request) -> Entry:
    """The entry of a request. The same request id and body give the entry that is already there."""
    if request.request_id is not None:
        earlier = rows.found(request.budget, request.request_id)
        if earlier is not None:
            return _repeated(earlier, request)
    return _POSTS[request.kind](rows, request)


def posted(rows: Rows, requests: list[Request]) -> list[Entry | TightropeError]:
    """The entries of a group of requests, in order, each with its refusal if it is refused; then the head."""
    results: list[Entry | TightropeError] = []
    rows.look_up([(r.budget, r.request_id) for r in requests if r.request_id is not None])
    for request in requests:
        try:
            results.append(post(rows, request))
        except TightropeError as refusal:  # a refusal has written nothing
            results.append(refusal)
    rows.sign()
    return results


def _repeated(earlier: Entry, request: Request) -> Entry:
    if (earlier.kind, earlier.mechanism, earlier.purpose, earlier.detail) == request.body:
        return earlier
    raise LedgerError(
        f"request {request.request_id!r} on budget {request.budget!r}",
        f"this id was used at {earlier.at} for something else ({earlier.kind} of {_short(earlier.mechanism)}, "
        f"purpose {earlier.purpose!r})",
        "Give every request an id of its own.",
    )


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."


def stored_terms(rows: Rows, budget: str) -> tuple[Entry, Terms]:
    """The entry that created a budget, and its terms."""
    entry = rows.first(budget)
    if entry is None:
        known = ", ".join(map(repr, rows.budgets()[:10])) or "none yet"
        raise LedgerError(f"budget {budget!r}", "there is no such budget", f"Budgets here: {known}.")
    return entry, terms_in(entry.detail)


@lru_cache(maxsize=1024)
def terms_in(detail: str) -> Terms:
    """The terms that the detail of a budget's entry states."""
    return Terms.from_json(json.loads(detail)["terms"])


def _budget(rows: Rows, request: Request) -> Entry:
    earlier = rows.first(request.budget)
    if earlier is not None:
        raise LedgerError(
            f"budget {request.budget!r}",
            f"it was created at {earlier.at} ({terms_in(earlier.detail)})",
            "Its terms never change; choose another name for another budget.",
        )
    nothing = terms_in(canonical(request.detail)).nothing
    return rows.append(request, nothing, nothing, nothing, None)


def _added(total: Amounts, more: Amounts) -> Amounts:
    return tuple(tidy(t + c) for t, c in zip(total, more, strict=True))


def _taken(total: Amounts, less: Amounts) -> Amounts:
    # A total that was rounded up stays at or above the truth; it can never fall below zero.
    return tuple(tidy(max(t - c, c - c)) for t, c in zip(total, less, strict=True))


def _spend(rows: Rows, request: Request) -> Entry:
    """Charge, release or plan: spent at once. A step of a plan is paid for already."""
    _, terms = stored_terms(rows, request.budget)
    spent, held = rows.totals(request.budget)
    if request.plan is not None:
        plan = _plan(rows, request)
        return rows.append(request, terms.nothing, spent, held, plan.seq)
    cost = read(request.cost)
    if request.kind == "plan" and terms.rule == "exact" and rows.last_of(request.budget, "plan") is not None:
        raise LedgerError(
            f"budget {request.budget!r}",
            "it has its plan already, and exact costs of two plans do not add up",
            "Put everything into one plan, or use a budget with another rule.",
        )
    _fit(rows, request, terms, cost)
    return rows.append(request, cost, _added(spent, cost), held, None)


def _fit(rows: Rows, request: Request, terms: Terms, cost: Amounts) -> None:
    spent, held = rows.totals(request.budget)
    taken = _added(spent, held)
    if not terms.fits(taken, cost):
        raise terms.shortfall(request.budget, taken, cost)


def _plan(rows: Rows, request: Request) -> Entry:
    plan = rows.found(request.budget, request.plan or "")
    if plan is None or plan.kind != "plan":
        raise LedgerError(f"plan {request.plan!r}", f"budget {request.budget!r} has no plan with this request id")
    steps = json.loads(plan.detail)["steps"]
    allowed, drawn = steps.get(request.mechanism, 0), rows.drawn(plan.seq, request.mechanism)
    if drawn >= allowed:
        why = f"it was taken {drawn} of {allowed} times" if allowed else "it is not one of its steps"
        raise LedgerError(f"{_short(request.mechanism)} in plan {request.plan!r}", why, "A plan is fixed in advance.")
    return plan


def _reserve(rows: Rows, request: Request) -> Entry:
    _, terms = stored_terms(rows, request.budget)
    spent, held = rows.totals(request.budget)
    cost = read(request.cost)
    _fit(rows, request, terms, cost)
    return rows.append(request, cost, spent, _added(held, cost), None)


def _close(rows: Rows, request: Request) -> Entry:
    """Commit or cancel a reservation: once, and the first word stands."""
    held_entry = rows.entry(request.refers if request.refers is not None else -1)
    if held_entry is None or held_entry.kind != "reserve" or held_entry.budget != request.budget:
        raise LedgerError(f"reservation {request.refers}", f"budget {request.budget!r} has no such reservation")
    closed = rows.referring(held_entry.seq, CLOSING)
    if closed is not None:
        if closed.kind == request.kind:
            return closed
        raise LedgerError(
            f"reservation {held_entry.seq}", f"it was closed at {closed.at} by {closed.kind}, not {request.kind}"
        )
    cost, (spent, held) = held_entry.amounts, rows.totals(request.budget)
    if request.kind == "commit":
        spent = _added(spent, cost)
    return rows.append(request, cost, spent, _taken(held, cost), held_entry.seq)


def _answer(rows: Rows, request: Request) -> Entry:
    """The answer to a release: the first one stored is the only one."""
    released = rows.entry(request.refers if request.refers is not None else -1)
    if released is None or released.kind != "release":
        raise LedgerError(f"release {request.refers}", "there is no such release")
    stored = rows.referring(released.seq, ("answer",))
    if stored is not None:
        return stored
    spent, held = rows.totals(request.budget)
    return rows.append(request, tuple(x - x for x in spent), spent, held, released.seq)


def _recount(rows: Rows, request: Request) -> Entry:
    """Lower the total by what better theorems save on entries up to a point, if nobody else did so meanwhile."""
    stored_terms(rows, request.budget)
    last = rows.last_of(request.budget, "recount")
    if last is not None and last.seq > request.detail["upto"]:
        raise LedgerError(f"budget {request.budget!r}", "it was recounted by somebody else meanwhile", "Try again.")
    spent, held = rows.totals(request.budget)
    saved = read(request.cost)
    return rows.append(request, saved, _taken(spent, saved), held, None)


_POSTS: dict[str, Callable[[Rows, Request], Entry]] = {
    "budget": _budget,
    "charge": _spend,
    "release": _spend,
    "plan": _spend,
    "reserve": _reserve,
    "commit": _close,
    "cancel": _close,
    "answer": _answer,
    "recount": _recount,
}
