"""The embedded store: one SQLite file, shared by any number of processes on one machine."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from tightrope.budget.book import posted
from tightrope.budget.entries import Entry, Request
from tightrope.budget.queue import Queue, file_name
from tightrope.budget.rows import Rows
from tightrope.budget.schema import APPLICATION, OBJECTS
from tightrope.budget.signing import Signer
from tightrope.budget.store import Store, found, migrate, outdated
from tightrope.errors import LedgerError, TightropeError

PATIENCE = 30_000  # milliseconds that SQLite waits for a lock which the queue does not know of


class SQLiteStore(Store):
    """A ledger in a file, in write-ahead mode, with an fsync for every group of entries."""

    kind = "sqlite"

    def __init__(self, path: Path, create: bool, read_only: bool) -> None:
        self.path, self.name, self.read_only = path, str(path), read_only
        if not path.exists() and (read_only or not create):
            raise LedgerError(self.name, "there is no such file", "Create the ledger with tightrope ledger init.")
        if path.is_dir():
            raise LedgerError(self.name, "it is a directory, not a ledger")
        self._mutex, self._owner = RLock(), 0
        self._line: Queue | None = None
        self._opened: sqlite3.Connection | None = None
        self._inherited: list[sqlite3.Connection] = []

    def begin(self, new_signer: Callable[[], Signer | None], present: Callable[[bool], Signer | None]) -> None:
        """Open the file, or found the ledger; ``new_signer`` makes the key of a new one, ``present`` loads it."""
        with self._errors():
            if self._is_empty():
                if self.read_only:
                    raise LedgerError(self.name, "it is empty")
                self._found(new_signer)
            with self.reading() as rows:
                told = rows.about()
                due = outdated(self._execute, self.name)
            if due and not self.read_only:
                with self._transaction():
                    migrate(self._execute, self.name)
            self._adopt(told, present(bool(told.get("public_key"))))

    def _found(self, new_signer: Callable[[], Signer | None]) -> None:
        with self._transaction():
            if self._is_empty():  # nobody was faster
                self._execute(f"PRAGMA application_id = {APPLICATION}", ())
                found(self._execute, new_signer())
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # the file's name must survive a power loss too
        finally:
            os.close(folder)

    def _is_empty(self) -> bool:
        return self._execute("SELECT 1 FROM sqlite_master WHERE name = 'ledger_about'", ()).fetchone() is None

    @property
    def _lock(self) -> RLock:
        if self._owner not in (0, os.getpid()):  # another thread may have held it when this process was forked off
            self._mutex = RLock()
        return self._mutex

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._owner != os.getpid():  # a connection must not be carried over a fork, nor be closed in the child
            if self._opened is not None:
                self._inherited.append(self._opened)
            self._opened, self._owner = self._open(), os.getpid()
        assert self._opened is not None
        return self._opened

    def _open(self) -> sqlite3.Connection:
        made = sqlite3.connect(
            self._uri(), uri=True, isolation_level=None, check_same_thread=False, timeout=PATIENCE / 1000
        )
        try:
            self._set_up(made)
        except BaseException:
            made.close()
            raise
        return made

    def _set_up(self, made: sqlite3.Connection) -> None:
        made.execute("PRAGMA trusted_schema = OFF")
        tables = {row[0] for row in made.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()}
        if tables and "ledger_about" not in tables:  # seen before anything is changed in somebody else's file
            raise LedgerError(self.name, "it is an SQLite file, but not a ledger", "Give another path.")
        if self.read_only:
            return
        mode = made.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise LedgerError(self.name, f"the write-ahead log cannot be used here ({mode})", "Use a local disk.")
        made.execute("PRAGMA synchronous = FULL")
        made.execute("PRAGMA fullfsync = ON")

    def _uri(self) -> str:
        mode = "rwc"
        if self.read_only:
            log = Path(f"{self.path}-wal")
            waiting = log.exists() and log.stat().st_size > 0
            mode = "ro" if waiting or os.access(self.path.parent, os.W_OK) else "ro&immutable=1"
        return f"{self.path.absolute().as_uri()}?mode={mode}"

    def _execute(self, sql: str, given: Sequence[Any]) -> sqlite3.Cursor:
        return self._connection.execute(sql, given)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock:
            self._execute("BEGIN IMMEDIATE", ())
            try:
                yield
                self._execute("COMMIT", ())
            except BaseException:
                if self._connection.in_transaction:
                    self._execute("ROLLBACK", ())
                raise

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        """One read transaction: writers may go on, and are not seen."""
        with self._errors(), self._lock:
            self._execute("BEGIN", ())
            try:
                yield Rows(self._execute)
            finally:
                if self._connection.in_transaction:
                    self._execute("ROLLBACK", ())

    def write(self, request: Request) -> Entry:
        """Queue up with other processes; whoever has the lock enters everything that waits, with one fsync."""
        if self.read_only:
            raise LedgerError(self.name, "it was opened for reading only")
        self.check_key()
        with self._errors():
            if self._line is None:
                whole = str(self.path.absolute())
                self._line = Queue(file_name(whole), beside=whole)
            told = self._line.submit(request, self._serve)
        if isinstance(told, TightropeError):
            raise told
        return told

    def _serve(self, requests: list[Request]) -> list[Entry | TightropeError]:
        with self._transaction():
            rows = Rows(self._execute, self._connection.executemany, self.ledger, self.signer)
            return posted(rows, requests)

    def faults(self) -> list[str]:
        """SQLite's own check of the file, and objects that do not belong to a ledger."""
        checked = [row[0] for row in self._execute("PRAGMA integrity_check(10)", ()).fetchall()]
        problems = [f"the file is damaged: {line}" for line in checked if line != "ok"]
        listed = self._execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_autoindex%'", ()).fetchall()
        names = {row[0] for row in listed}
        problems += [f"{name!r} does not belong to a ledger" for name in sorted(names - OBJECTS)]
        return problems + [f"{name!r} is missing" for name in sorted(OBJECTS - names)]

    def close(self) -> None:
        """Close the file."""
        if self._line is not None:
            self._line.close()
            self._line = None
        with self._lock:
            if self._opened is not None and self._owner == os.getpid():
                self._opened.close()
                self._opened, self._owner = None, 0

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as wrong:
            raise LedgerError(self.name, _told(str(wrong)), _hint(str(wrong))) from wrong
        except OSError as wrong:
            raise LedgerError(self.name, f"{wrong.strerror or wrong}; nothing was entered") from wrong


_HINTS = {
    "not a database": "Give the path of a ledger.",
    "disk is full": "Nothing was entered. Free some space and try again.",
    "readonly": "Open it with read_only=True to look at it.",
    "read-only": "Open it with read_only=True to look at it.",
    "unable to open": "Check that the directory exists and may be written.",
    "locked": "Another program holds the file. Try again.",
    "malformed": "The file is damaged: run tightrope ledger verify, and restore a backup.",
    "I/O": "The disk failed. If an entry was made, the same request id will find it.",
}


def _told(message: str) -> str:
    return message.rstrip(".")


def _hint(message: str) -> str:
    return next((hint for sign, hint in _HINTS.items() if sign in message), "")
