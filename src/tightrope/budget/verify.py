"""Verification: every row, from the first to the last, against its hash, its arithmetic, the head and the receipts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tightrope.budget.book import CLOSING, terms_in
from tightrope.budget.costs import Amounts, read, tidy, written
from tightrope.budget.entries import COLUMNS, ORIGIN, SPENDING, Entry, Receipt, digest, head_message
from tightrope.budget.recount import price
from tightrope.budget.rows import Rows
from tightrope.budget.signing import can_sign, signature_holds
from tightrope.budget.store import Store, first_entry_problems
from tightrope.budget.terms import Terms
from tightrope.errors import TightropeError

MOST = 20  # problems listed


@dataclass(frozen=True)
class Verification:
    """True in a condition exactly when nothing was found; ``problems`` says what was."""

    problems: tuple[str, ...]
    entries: int
    head: str
    signed: bool
    receipts: int

    def __bool__(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        signed = "signed" if self.signed else "NOT signed: whoever can write the store can write another history"
        told = f"{self.entries} entries, head {self.head[:16]}, {signed}"
        if self.problems:
            return "\n".join([f"{told}: {len(self.problems)} problem(s)", *(f"  - {p}" for p in self.problems)])
        kept = f"{self.receipts} receipt(s) found in place"
        unknown = "no receipt was given, so a cut end or an old copy put back would not show"
        return f"{told}: nothing found; {kept if self.receipts else unknown}"


@dataclass
class _Walk:
    """What is known while walking through the rows."""

    recount: bool
    problems: list[str] = field(default_factory=list)
    hashes: dict[int, str] = field(default_factory=dict)
    wanted: set[int] = field(default_factory=set)
    terms: dict[str, Terms] = field(default_factory=dict)
    totals: dict[str, tuple[Amounts, Amounts]] = field(default_factory=dict)
    written: dict[str, tuple[str, str]] = field(default_factory=dict)
    open: dict[int, Entry] = field(default_factory=dict)
    seen: int = 0
    last: tuple[int, str, str] = (-1, "", ORIGIN)

    def problem(self, told: str) -> None:
        if len(self.problems) < MOST:
            self.problems.append(told)


def verified(
    store: Store, receipts: list[Receipt], recount: bool, progress: Callable[[int, int], None] | None
) -> Verification:
    """Walk through one consistent view of the ledger."""
    walk = _Walk(recount, wanted={receipt.seq for receipt in receipts})
    try:
        with store.reading() as rows:
            walk.problems += store.faults()
            total = max(int(rows.head[0]) + 1, 1)
            for entry in rows.every():
                _row(walk, entry)
                if progress is not None and walk.seen % 5000 == 0:
                    progress(walk.seen, total)
            _head(walk, rows, store)
            _first(walk, rows)
    except (TightropeError, TypeError, ValueError, KeyError, IndexError, OverflowError) as wrong:
        walk.problem(f"the rows cannot be read: {wrong}")
    for receipt in receipts:
        _receipt(walk, receipt, store)
    if progress is not None:
        progress(walk.seen, walk.seen)
    return Verification(tuple(walk.problems), walk.seen, walk.last[2], store.public_key is not None, len(receipts))


def _row(walk: _Walk, entry: Entry) -> None:
    seq, at, previous = walk.last
    if not _typed(entry):
        walk.problem(f"the entry after {seq} was changed: a field is not of its type")
        walk.seen += 1
        return
    fields = tuple(getattr(entry, name) for name in COLUMNS[:-1])
    if entry.seq != seq + 1:
        walk.problem(f"entry {seq + 1} is missing: entry {entry.seq} follows entry {seq}")
    if entry.hash != digest(previous, fields):
        walk.problem(f"entry {entry.seq} was changed, or the one before it is not the one it was written after")
    if not entry.at >= at:
        walk.problem(f"entry {entry.seq} is dated before the one before it")
    walk.seen, walk.last = walk.seen + 1, (entry.seq, entry.at, entry.hash)
    if entry.seq in walk.wanted:
        walk.hashes[entry.seq] = entry.hash
    try:
        _arithmetic(walk, entry)
    except (TightropeError, ValueError, TypeError, KeyError, ZeroDivisionError, OverflowError) as wrong:
        walk.problem(f"entry {entry.seq} cannot be read: {wrong}")


def _typed(entry: Entry) -> bool:
    told = entry.told()
    whole = isinstance(told.pop("seq"), int) and isinstance(told.pop("refers"), int | None)
    return whole and isinstance(told.pop("request_id"), str | None) and all(isinstance(x, str) for x in told.values())


def _arithmetic(walk: _Walk, entry: Entry) -> None:
    """The totals after the row are those before it and its cost, and within the limits when it spends."""
    name, kind = entry.budget, entry.kind
    if kind == "ledger":
        return
    if kind == "budget":
        terms = terms_in(entry.detail)
        walk.terms[name], walk.totals[name] = terms, (terms.nothing, terms.nothing)
    terms, (spent, held), cost = walk.terms[name], walk.totals[name], read(entry.cost)
    if any(x < 0 for x in cost):
        walk.problem(f"entry {entry.seq} has a negative cost")
    if kind in SPENDING and any(cost):
        _limits(walk, entry, terms, _plus(spent, held), cost)
        spent = _plus(spent, cost)
    elif kind == "reserve":
        _limits(walk, entry, terms, _plus(spent, held), cost)
        held, walk.open[entry.seq] = _plus(held, cost), entry
    elif kind in CLOSING:
        opened = walk.open.pop(entry.refers if entry.refers is not None else -1, None)
        if opened is None or opened.cost != entry.cost or opened.budget != name:
            walk.problem(f"entry {entry.seq} closes a reservation that is not open")
        spent, held = _plus(spent, cost) if kind == "commit" else spent, _minus(held, cost)
    elif kind == "recount":
        spent = _minus(spent, cost)
    if walk.recount and kind in (*SPENDING, "reserve") and any(cost):
        _recounted(walk, entry, terms)
    walk.totals[name] = spent, held
    if (entry.spent, entry.held) != (written(spent), written(held)):
        walk.problem(f"the totals after entry {entry.seq} are not those of its cost")


def _limits(walk: _Walk, entry: Entry, terms: Terms, taken: Amounts, cost: Amounts) -> None:
    if not terms.fits(taken, cost):
        walk.problem(f"entry {entry.seq} exceeds the budget {entry.budget!r}")


def _recounted(walk: _Walk, entry: Entry, terms: Terms) -> None:
    """No entry was charged less than its mechanism costs today, but for the last digits of numbers rounded up."""
    now = price(terms, entry)
    if any(paid < x * (1 - Fraction(1, 10**9)) for paid, x in zip(entry.amounts, now, strict=True)):
        walk.problem(f"entry {entry.seq} was charged less than {entry.mechanism} costs")


def _plus(total: Amounts, more: Amounts) -> Amounts:
    return tuple(tidy(t + c) for t, c in zip(total, more, strict=True))


def _minus(total: Amounts, less: Amounts) -> Amounts:
    return tuple(tidy(max(t - c, Fraction(0))) for t, c in zip(total, less, strict=True))


def _head(walk: _Walk, rows: Rows, store: Store) -> None:
    if rows.head != walk.last:
        walk.problem(f"the head names entry {rows.head[0]}, and the last entry is {walk.last[0]}, or another one")
    _signature(walk, store, "the head", *walk.last[::2], rows.signature())


def _first(walk: _Walk, rows: Rows) -> None:
    first = rows.entry(0)
    walk.problems += ["the first entry is missing"] if first is None else first_entry_problems(first, rows.about())


def _signature(walk: _Walk, store: Store, what: str, seq: int, row_hash: str, signature: Any) -> None:
    if store.public_key is None:
        if signature is not None:
            walk.problem(f"{what} carries a signature, but the ledger says that it is not signed")
        return
    if not can_sign():
        walk.problem("signatures cannot be checked without the package cryptography: pip install 'tightrope[ledger]'")
    elif signature is None or not signature_holds(
        store.public_key, head_message(store.ledger, seq, row_hash), signature
    ):
        walk.problem(f"{what} is not signed with the key of this ledger")


def _receipt(walk: _Walk, receipt: Receipt, store: Store) -> None:
    what = f"the receipt of entry {receipt.seq}"
    if receipt.ledger != store.ledger or receipt.public_key != store.public_key:
        walk.problem(f"{what} belongs to another ledger, or this one was founded anew")
        return
    _signature(walk, store, what, receipt.seq, receipt.hash, receipt.signature)
    if receipt.seq > walk.last[0]:
        walk.problem(f"{what} is newer than the last entry {walk.last[0]}: rows were cut off, or an old copy put back")
    elif walk.hashes.get(receipt.seq) != receipt.hash:
        walk.problem(f"{what} does not fit: entry {receipt.seq} is not the one that was acknowledged")
