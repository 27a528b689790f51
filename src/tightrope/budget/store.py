"""Store: where a ledger's rows live. A write is one durable, serial transaction; a read is one consistent view."""

from __future__ import annotations

import json
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import ClassVar

from tightrope.budget.entries import ORIGIN, Entry, Request, head_message
from tightrope.budget.rows import Execute, Rows
from tightrope.budget.schema import VERSION, pending
from tightrope.budget.signing import Signer, can_sign, signature_holds
from tightrope.errors import LedgerError


class Store(ABC):
    """One ledger in one place."""

    kind: ClassVar[str]
    ledger: str = ""
    public_key: str | None = None
    signer: Signer | None = None
    name: str = ""

    @abstractmethod
    def begin(self, new_signer: Callable[[], Signer | None], present: Callable[[bool], Signer | None]) -> None:
        """Open the place, or found the ledger; ``new_signer`` makes the key of a new one, ``present`` loads it."""

    @abstractmethod
    def write(self, request: Request) -> Entry:
        """Enter a request durably: when this returns, the entry survives a crash of the program and of the machine."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Rows]:
        """A consistent view of all rows."""

    @abstractmethod
    def faults(self) -> list[str]:
        """What is wrong with the storage itself, below the rows."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is held open."""

    def _adopt(self, told: dict[str, str], signer: Signer | None) -> None:
        """Take over what the ledger says of itself; a key that is not its own is refused."""
        try:
            self.ledger, self.public_key = told["ledger"], told["public_key"] or None
        except KeyError:
            raise LedgerError(self.name, "it says nothing of itself, so it is not a whole ledger") from None
        if signer is not None and signer.public_key != self.public_key:
            why = "it was signed with another key" if self.public_key else "it was created without signatures"
            raise LedgerError(self.name, why, "Give the key it was created with.")
        self.signer = signer

    def check_head(self) -> None:
        """Refuse to go on from a head that is not that of the last entry, or not signed with the ledger's key."""
        with self.reading() as rows:
            (seq, _, row_hash), signature = rows.head, rows.signature()
            last = rows.entry(seq)
        whole = last is not None and last.hash == row_hash
        if whole and self.public_key is not None and can_sign():
            whole = signature_holds(self.public_key, head_message(self.ledger, seq, row_hash), signature or "")
        if not whole:
            raise LedgerError(self.name, "its head was changed", "Run tightrope ledger verify, and restore a backup.")

    def check_key(self) -> None:
        """Refuse to write to a signed ledger without its key."""
        if self.public_key is not None and self.signer is None:
            raise LedgerError(self.name, "it is signed, and its key was not given", "Open it with key=.")


def found(execute: Execute, signer: Signer | None) -> None:
    """Write the first rows of a new ledger, or bring an older one up to date. Runs inside a transaction."""
    for version, statements in pending(0, "the new ledger"):
        for statement in statements:
            execute(statement, ())
        _set_version(execute, version)
    ledger = secrets.token_hex(16)
    public = signer.public_key if signer is not None else ""
    for name, value in (("ledger", ledger), ("public_key", public)):
        execute("INSERT INTO ledger_about VALUES (?, ?)", (name, value))
    execute("INSERT INTO ledger_head VALUES (1, -1, '', ?, NULL)", (ORIGIN,))
    rows = Rows(execute, ledger=ledger, signer=signer)
    rows.append(Request("ledger", "", detail={"ledger": ledger, "public_key": public, "version": 1}), (), (), (), None)
    rows.sign()


def migrate(execute: Execute, where: str) -> bool:
    """Bring an older ledger up to date; whether there was anything to do."""
    row = execute("SELECT value FROM ledger_about WHERE name = 'schema'", ()).fetchone()
    if row is None or not str(row[0]).isdigit():
        raise LedgerError(where, "its schema has no version")
    steps = pending(int(row[0]), where)
    for version, statements in steps:
        for statement in statements:
            execute(statement, ())
        _set_version(execute, version)
    return bool(steps)


def _set_version(execute: Execute, version: int) -> None:
    execute("DELETE FROM ledger_about WHERE name = 'schema'", ())
    execute("INSERT INTO ledger_about VALUES ('schema', ?)", (str(version),))


def outdated(execute: Execute, where: str) -> bool:
    """Whether a migration is due; a newer schema is refused."""
    row = execute("SELECT value FROM ledger_about WHERE name = 'schema'", ()).fetchone()
    if row is None or not str(row[0]).isdigit():
        raise LedgerError(where, "its schema has no version")
    return bool(pending(int(row[0]), where)) or int(row[0]) != VERSION


def first_entry_problems(entry: Entry, told: dict[str, str]) -> list[str]:
    """What does not agree between the first entry and what the ledger says of itself."""
    try:
        detail = json.loads(entry.detail)
    except ValueError:
        return ["the first entry cannot be read"]
    same = entry.kind == "ledger" and all(detail.get(k) == told.get(k) for k in ("ledger", "public_key"))
    problems = [] if same else ["the first entry does not agree with what the ledger says of itself"]
    if told.get("schema") != str(VERSION):
        problems.append(f"its schema is version {told.get('schema')}, not {VERSION}: open it for writing once")
    return problems
