"""The shared store: a PostgreSQL database. One row, the head, is locked by each writer in turn."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any
from urllib.parse import urlsplit

from tightrope.budget.book import posted
from tightrope.budget.entries import Entry, Request
from tightrope.budget.queue import Queue
from tightrope.budget.rows import Rows
from tightrope.budget.signing import Signer
from tightrope.budget.store import Store, found, migrate, outdated
from tightrope.errors import LedgerError, TightropeError

ATTEMPTS = 8  # at 50 ms, 100 ms, …: about 12 seconds in all, enough for a server to restart
FIRST_PAUSE = 0.05
_FOUNDING = 0x7472_6C31  # an advisory lock: only one process founds or migrates
_AGAIN = ("40001", "40P01", "57P01", "57P02", "57P03", "53300", "55P03")  # conflicts, and servers that come and go


class PostgresStore(Store):
    """A ledger in a database. A write that loses its connection is tried again, and its request id decides whether it
    was entered before."""

    kind = "postgresql"

    def __init__(self, address: str, create: bool, read_only: bool) -> None:
        try:
            import psycopg
        except ImportError:
            raise LedgerError(
                "PostgreSQL", "the package psycopg is not installed", "Install it: pip install 'tightrope[postgres]'."
            ) from None
        self._psycopg, self._address = psycopg, address
        self._create, self.read_only = create, read_only
        self.name = _without_password(address)
        self._mutex, self._owner = RLock(), 0
        self._opened: Any = None
        self._line: Queue | None = None
        self._inherited: list[Any] = []

    def begin(self, new_signer: Callable[[], Signer | None], present: Callable[[bool], Signer | None]) -> None:
        """Open the database, or found the ledger in it."""

        def start() -> dict[str, str]:
            if self._is_empty():
                if self.read_only or not self._create:
                    raise LedgerError(self.name, "there is no ledger in this database", "Create it with ledger init.")
                with self._transaction():
                    self._execute("SELECT pg_advisory_xact_lock(?)", (_FOUNDING,))
                    if self._is_empty():  # nobody was faster
                        found(self._execute, new_signer())
            if outdated(self._execute, self.name) and not self.read_only:
                with self._transaction():
                    self._execute("SELECT pg_advisory_xact_lock(?)", (_FOUNDING,))
                    migrate(self._execute, self.name)
            return Rows(self._execute).about()

        told = self._persistent(start)
        self._adopt(told, present(bool(told.get("public_key"))))

    def _is_empty(self) -> bool:
        return bool(self._execute("SELECT to_regclass('ledger_about') IS NULL", ()).fetchone()[0])

    @property
    def _lock(self) -> RLock:
        if self._owner not in (0, os.getpid()):  # another thread may have held it when this process was forked off
            self._mutex = RLock()
        return self._mutex

    @property
    def _connection(self) -> Any:
        if self._owner != os.getpid() or self._opened is None or self._opened.closed:
            if self._owner not in (0, os.getpid()):
                self._inherited.append(self._opened)  # the parent's: to be closed by the parent alone
            self._opened = self._psycopg.connect(
                self._address, autocommit=True, connect_timeout=10, application_name="tightrope ledger"
            )
            self._owner = os.getpid()
            # Whatever the server's default: a commit is on disk when it is acknowledged.
            self._opened.execute("SET synchronous_commit = on")
        return self._opened

    def _execute(self, sql: str, given: Sequence[Any]) -> Any:
        return self._connection.execute(sql.replace("?", "%s"), given)

    def _execute_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Insert many rows with one statement: one round trip, and none of the driver's pipelines to break."""
        start, _, marks = sql.partition("VALUES ")
        self._execute(f"{start}VALUES {', '.join([marks] * len(rows))}", [value for row in rows for value in row])

    @contextmanager
    def _transaction(self, kind: str = "") -> Iterator[None]:
        self._execute(f"BEGIN {kind}", ())
        try:
            yield
            self._execute("COMMIT", ())
        except BaseException:
            if not self._opened.closed:
                try:
                    self._opened.rollback()
                except self._psycopg.Error:
                    self._opened.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        """One read-only snapshot."""
        with self._lock:
            try:
                self._persistent(lambda: self._execute("SELECT 1", ()))
                with self._transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY"):
                    yield Rows(self._execute)
            except self._psycopg.Error as wrong:
                raise self._told(wrong) from wrong

    def write(self, request: Request) -> Entry:
        """Lock the head, check, append, commit: for all that wait on this machine at once, in turn with other machines.
        Every request has an id or refers to one, so trying again is safe."""
        if self.read_only:
            raise LedgerError(self.name, "it was opened for reading only")
        self.check_key()

        try:
            if self._line is None:
                name = hashlib.sha256(f"{self.name} {self.ledger}".encode()).hexdigest()[:20]
                self._line = Queue(name, beside=f"{tempfile.gettempdir()}/tightrope-{name}")
            told = self._line.submit(request, self._serve)
        except OSError as wrong:
            raise LedgerError(self.name, f"{wrong.strerror or wrong}; nothing was entered") from wrong
        if isinstance(told, TightropeError):
            raise told
        return told

    def _serve(self, requests: list[Request]) -> list[Entry | TightropeError]:
        def enter() -> list[Entry | TightropeError]:
            with self._transaction():
                self._execute("SELECT seq FROM ledger_head FOR UPDATE", ())
                return posted(Rows(self._execute, self._execute_many, self.ledger, self.signer), requests)

        with self._lock:
            found: list[Entry | TightropeError] = self._persistent(enter)
            return found

    def _persistent(self, act: Callable[[], Any]) -> Any:
        """Try again, a bounded number of times, where the server asks for it or went away."""
        for attempt in range(ATTEMPTS):
            try:
                return act()
            except self._psycopg.Error as wrong:
                gone = self._opened is None or self._opened.closed or self._opened.broken
                lost = isinstance(wrong, self._psycopg.OperationalError) and (gone or wrong.sqlstate is None)
                if attempt == ATTEMPTS - 1 or not (lost or wrong.sqlstate in _AGAIN):
                    raise self._told(wrong) from wrong
                if gone:
                    self._opened = None
            time.sleep(FIRST_PAUSE * 2**attempt)
        raise AssertionError("the last attempt returns or raises")

    def _told(self, wrong: Exception) -> LedgerError:
        line = " ".join(str(wrong).split()) or type(wrong).__name__
        return LedgerError(self.name, line[:300].rstrip("."), "If an entry was made, the same request id will find it.")

    def faults(self) -> list[str]:
        """Triggers and rules on the tables of the ledger, which could change rows on their way in."""
        found_triggers = self._execute(
            "SELECT tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
            "WHERE c.relname LIKE 'ledger@_%%' ESCAPE '@' AND NOT tgisinternal UNION ALL "
            "SELECT rulename FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class "
            "WHERE c.relname LIKE 'ledger@_%%' ESCAPE '@'",
            (),
        ).fetchall()
        return [f"{row[0]!r} does not belong to a ledger" for row in found_triggers]

    def close(self) -> None:
        """Close the connection."""
        if self._line is not None:
            self._line.close()
            self._line = None
        with self._lock:
            if self._opened is not None and self._owner == os.getpid():
                self._opened.close()
                self._opened = None


def _without_password(address: str) -> str:
    parts = urlsplit(address)
    place = f"{parts.hostname or ''}:{parts.port}" if parts.port else parts.hostname or ""
    return f"postgresql://{place}{parts.path}"
