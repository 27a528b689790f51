"""The tables of a ledger, the same in every store, and how older ones are brought up to date."""

from __future__ import annotations

from tightrope.errors import LedgerError

APPLICATION = 0x74726C31  # «trl1», in the header of an SQLite file

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE ledger_about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
        "CREATE TABLE ledger_entries (seq BIGINT PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, "
        "budget TEXT NOT NULL, request_id TEXT, refers BIGINT, mechanism TEXT NOT NULL, purpose TEXT NOT NULL, "
        "cost TEXT NOT NULL, spent TEXT NOT NULL, held TEXT NOT NULL, detail TEXT NOT NULL, hash TEXT NOT NULL)",
        "CREATE TABLE ledger_head (only_one INTEGER PRIMARY KEY CHECK (only_one = 1), seq BIGINT NOT NULL, "
        "at TEXT NOT NULL, hash TEXT NOT NULL, signature TEXT)",
        "CREATE UNIQUE INDEX ledger_requests ON ledger_entries (budget, request_id)",
        "CREATE INDEX ledger_balances ON ledger_entries (budget, seq)",
    ),
    ("CREATE INDEX IF NOT EXISTS ledger_references ON ledger_entries (refers)",),
)
VERSION = len(MIGRATIONS)
OBJECTS = {"ledger_about", "ledger_entries", "ledger_head", "ledger_requests", "ledger_balances", "ledger_references"}


def pending(version: int, where: str) -> list[tuple[int, tuple[str, ...]]]:
    """The steps from a version to the present one; a newer version is refused."""
    if version > VERSION:
        raise LedgerError(
            where, f"its schema is version {version}, and this tightrope knows {VERSION}", "Use a newer tightrope."
        )
    return [(n + 1, MIGRATIONS[n]) for n in range(version, VERSION)]
