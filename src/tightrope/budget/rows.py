"""Reading and appending rows inside one transaction of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from tightrope.budget import costs
from tightrope.budget.costs import Amounts
from tightrope.budget.entries import COLUMNS, Entry, Request, canonical, digest, head_message
from tightrope.budget.signing import Signer

Execute = Callable[[str, Sequence[Any]], Any]  # with ? for each value; returns a cursor
ExecuteMany = Callable[[str, Sequence[Sequence[Any]]], Any]

_SELECT = f"SELECT {', '.join(COLUMNS)} FROM ledger_entries"
_INSERT = f"INSERT INTO ledger_entries ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"


class Rows:
    """The rows of a ledger as one transaction sees them. What is read often is remembered until its end."""

    def __init__(
        self, execute: Execute, execute_many: ExecuteMany | None = None, ledger: str = "", signer: Signer | None = None
    ) -> None:
        self._direct, self._many, self._ledger, self._signer = execute, execute_many, ledger, signer
        self._head: tuple[int, str, str] | None = None
        self._totals: dict[str, tuple[Amounts, Amounts]] = {}
        self._requests: dict[tuple[str, str], Entry | None] = {}  # looked up or appended in this transaction
        self._created: dict[str, Entry] = {}
        self._unwritten: list[tuple[Any, ...]] = []
        self._grown = False

    def _execute(self, sql: str, given: Sequence[Any]) -> Any:
        """Rows that were appended are written before anything else is asked."""
        self._write()
        return self._direct(sql, given)

    def _write(self) -> None:
        if self._unwritten:
            rows, self._unwritten = self._unwritten, []
            if self._many is not None and len(rows) > 1:
                self._many(_INSERT, rows)
            else:
                for row in rows:
                    self._direct(_INSERT, row)

    @property
    def head(self) -> tuple[int, str, str]:
        """Number, time and hash of the last entry."""
        if self._head is None:
            row = self._execute("SELECT seq, at, hash FROM ledger_head", ()).fetchone()
            self._head = (int(row[0]), row[1], row[2])
        return self._head

    def signature(self) -> str | None:
        """The signature stored with the head."""
        found = self._execute("SELECT signature FROM ledger_head", ()).fetchone()
        return None if found is None else found[0]

    def totals(self, budget: str) -> tuple[Amounts, Amounts]:
        """What is spent and what is held."""
        if budget not in self._totals:
            row = self._execute(
                "SELECT spent, held FROM ledger_entries WHERE budget = ? ORDER BY seq DESC LIMIT 1", (budget,)
            ).fetchone()
            self._totals[budget] = costs.read(row[0]), costs.read(row[1])
        return self._totals[budget]

    def found(self, budget: str, request_id: str) -> Entry | None:
        """The entry of a request id."""
        if (budget, request_id) not in self._requests:
            self._requests[budget, request_id] = self._one(
                f"{_SELECT} WHERE budget = ? AND request_id = ?", (budget, request_id)
            )
        return self._requests[budget, request_id]

    def look_up(self, requests: Sequence[tuple[str, str]]) -> None:
        """Find many requests with one question for each budget."""
        by_budget: dict[str, list[str]] = {}
        for budget, request_id in requests:
            by_budget.setdefault(budget, []).append(request_id)
            self._requests[budget, request_id] = None
        for budget, ids in by_budget.items():
            marks = ", ".join("?" * len(ids))
            for row in self._execute(
                f"{_SELECT} WHERE budget = ? AND request_id IN ({marks})", (budget, *ids)
            ).fetchall():
                entry = Entry(*row)
                self._requests[budget, entry.request_id or ""] = entry

    def entry(self, seq: int) -> Entry | None:
        """One entry by its number."""
        return self._one(f"{_SELECT} WHERE seq = ?", (seq,))

    def first(self, budget: str) -> Entry | None:
        """The entry that created a budget."""
        if budget not in self._created:
            found = self._one(f"{_SELECT} WHERE budget = ? ORDER BY seq LIMIT 1", (budget,))
            if found is None:
                return None
            self._created[budget] = found
        return self._created[budget]

    def referring(self, seq: int, kinds: Sequence[str]) -> Entry | None:
        """The first entry of these kinds about another one."""
        marks = ", ".join("?" * len(kinds))
        return self._one(f"{_SELECT} WHERE refers = ? AND kind IN ({marks}) ORDER BY seq LIMIT 1", (seq, *kinds))

    def last_of(self, budget: str, kind: str) -> Entry | None:
        """The latest entry of a kind."""
        return self._one(f"{_SELECT} WHERE budget = ? AND kind = ? ORDER BY seq DESC LIMIT 1", (budget, kind))

    def drawn(self, seq: int, mechanism: str) -> int:
        """How often a step of a plan was taken."""
        row = self._execute(
            "SELECT COUNT(*) FROM ledger_entries WHERE refers = ? AND mechanism = ? AND kind IN ('charge', 'release')",
            (seq, mechanism),
        ).fetchone()
        return int(row[0])

    def budgets(self) -> list[str]:
        """The names of all budgets, in the order they were created."""
        found = self._execute("SELECT budget FROM ledger_entries WHERE kind = 'budget' ORDER BY seq", ()).fetchall()
        return [row[0] for row in found]

    def about(self) -> dict[str, str]:
        """What the ledger says of itself."""
        return dict(self._execute("SELECT name, value FROM ledger_about", ()).fetchall())

    def every(self, budget: str | None = None, after: int = -1, chunk: int = 5000) -> Iterator[Entry]:
        """All entries in order, or those of one budget."""
        where, given = ("budget = ? AND ", [budget]) if budget is not None else ("", [])
        while True:
            rows = self._execute(f"{_SELECT} WHERE {where}seq > ? ORDER BY seq LIMIT {chunk}", [*given, after])
            found = rows.fetchall()
            yield from (Entry(*row) for row in found)
            if len(found) < chunk:
                return
            after = int(found[-1][0])

    def append(self, request: Request, cost: Amounts, spent: Amounts, held: Amounts, refers: int | None) -> Entry:
        """Write the next entry. The clock never goes back: an earlier time is written as the last one."""
        seq, before, previous = self.head
        at = max(datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"), before)
        fields = (
            seq + 1,
            at,
            request.kind,
            request.budget,
            request.request_id,
            refers,
            request.mechanism,
            request.purpose,
            costs.written(cost),
            costs.written(spent),
            costs.written(held),
            canonical(request.detail),
        )
        entry = Entry(*fields, digest(previous, fields))
        self._unwritten.append((*fields, entry.hash))
        if request.request_id is not None:
            self._requests[request.budget, request.request_id] = entry
        self._head, self._grown = (entry.seq, entry.at, entry.hash), True
        self._totals[request.budget] = spent, held
        return entry

    def sign(self) -> None:
        """Write the head once all entries of the transaction are there."""
        if self._grown and self._head is not None:
            seq, at, row_hash = self._head
            signature = self._signer.sign(head_message(self._ledger, seq, row_hash)) if self._signer else None
            self._execute(
                "UPDATE ledger_head SET seq = ?, at = ?, hash = ?, signature = ?", (seq, at, row_hash, signature)
            )

    def _one(self, sql: str, given: Sequence[Any]) -> Entry | None:
        row = self._execute(sql, given).fetchone()
        return None if row is None else Entry(*row)
