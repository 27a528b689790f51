"""Export for auditors: every entry as CSV, or as JSON with the ledger's head and key."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable
from typing import IO, Any

from tightrope.budget.entries import COLUMNS, Entry
from tightrope.budget.store import Store
from tightrope.errors import BadParameter

FORMATS = ("json", "csv")


def export(store: Store, history: Iterable[Entry], target: str | os.PathLike[str] | IO[str], format: str) -> int:
    """Write to a path or an open text file; the number of entries written."""
    if format not in FORMATS:
        raise BadParameter("format", format, f"must be one of {', '.join(FORMATS)}")
    if isinstance(target, str | os.PathLike):
        with open(target, "w", encoding="utf-8", newline="") as file:
            return export(store, history, file, format)
    return _csv(history, target) if format == "csv" else _json(store, history, target)


def _csv(history: Iterable[Entry], file: IO[str]) -> int:
    table = csv.writer(file)
    table.writerow(COLUMNS)
    count = 0
    for entry in history:
        table.writerow(["" if value is None else value for value in entry.told().values()])
        count += 1
    return count


def _json(store: Store, history: Iterable[Entry], file: IO[str]) -> int:
    with store.reading() as rows:
        (seq, _, row_hash), signature = rows.head, rows.signature()
    about: dict[str, Any] = {
        "tightrope-ledger": 1,
        "ledger": store.ledger,
        "public_key": store.public_key,
        "head": {"seq": seq, "hash": row_hash, "signature": signature},
    }
    file.write(json.dumps(about, ensure_ascii=False)[:-1] + ', "entries": [')
    count = 0
    for entry in history:
        file.write(("," if count else "") + "\n" + json.dumps(entry.told(), ensure_ascii=False))
        count += 1
    file.write("\n]}\n")
    return count
