"""Tampering: ``python ledger_tampering.py FOLDER COUNT SEED`` changes a copy of a ledger in many ways and verifies it.

The tamperer can write the file and knows how hashes are made, but does not have the key. A change counts as undetected
when the rows are not what they were and verification, given the last receipt, finds nothing.
"""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import sys
from contextlib import suppress
from pathlib import Path

import tightrope as tr
from tightrope.budget.entries import COLUMNS, digest

TABLES = ("ledger_entries", "ledger_head", "ledger_about")


def sample(folder, key):
    """A ledger with every kind of entry, older copies of it, and its last receipt."""
    path = folder / "budget.db"
    with tr.Ledger.open(path, key=key) as book:
        book.create_budget("a", rho=1)
        book.create_budget("b", epsilon=1, delta=1e-6, rule="exact")
        book.plan("b", [tr.Gaussian(sigma=30)] * 3, request_id="plan")
        old = []
        for n in range(12):
            last = book.charge("a", tr.Gaussian(sigma=10 + n), purpose=f"p{n}", request_id=f"c{n}")
            held = book.reserve("a", tr.Laplace(scale=50))
            last = book.commit(held) if n % 2 else book.cancel(held)
            if n % 3 == 0:
                book.release("a", tr.Gaussian(sigma=20), n, request_id=f"r{n}")
                last = book.charge("b", tr.Gaussian(sigma=30), plan="plan") if n < 9 else last
            old.append(_copy(path, folder / f"old{n}.db"))
        last = book.head
    return _copy(path, folder / "whole.db"), old, last


def _copy(path, target):
    """A consistent copy in one file."""
    with sqlite3.connect(path) as source, sqlite3.connect(target) as made:
        source.backup(made)
    made.close()
    source.close()
    return target


def content(path):
    """All rows, or None for a file that cannot be read."""
    try:
        with sqlite3.connect(path) as base:
            rows = [base.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in TABLES]
            base.execute("PRAGMA integrity_check").fetchall()
        return rows
    except (sqlite3.Error, UnicodeDecodeError):
        return None
    finally:
        with suppress(NameError):
            base.close()


def tamper(path, old, choose):
    """One random change; its name."""
    kind = choose.choice(sorted(CHANGES))
    CHANGES[kind](path, old, choose)
    return kind


def _bit(path, _, choose):
    data = bytearray(path.read_bytes())
    for _ in range(choose.randint(1, 3)):
        data[choose.randrange(len(data))] ^= 1 << choose.randrange(8)
    path.write_bytes(data)


def _old_copy(path, old, choose):
    shutil.copy(choose.choice(old), path)


def _cut_with_old_head(path, old, choose):
    """The last rows are cut, and the head is the one that was signed then: the file is an honest one of yesterday."""
    with sqlite3.connect(choose.choice(old)) as base:
        head = base.execute("SELECT seq, at, hash, signature FROM ledger_head").fetchone()
    base.close()
    _sql(path, "DELETE FROM ledger_entries WHERE seq > ?", (head[0],))
    _sql(path, "UPDATE ledger_head SET seq = ?, at = ?, hash = ?, signature = ?", head)


def _sql(path, statement, given=()):
    with sqlite3.connect(path) as base, suppress(sqlite3.IntegrityError):
        base.execute(statement, given)
    base.close()


def _last(path):
    with sqlite3.connect(path) as base:
        found = base.execute("SELECT MAX(seq) FROM ledger_entries").fetchone()[0]
    base.close()
    return found


def _change(path, _, choose):
    column, seq = choose.choice(COLUMNS), choose.randint(0, _last(path))
    value = choose.choice([None, "", "0", "1/200 0", "x", 0, 3, -1, "charge", "cancel", "a", "{}", 1e300, b"\xff"])
    _sql(path, f"UPDATE ledger_entries SET {column} = ? WHERE seq = ?", (value, seq))


def _delete(path, _, choose):
    _sql(path, "DELETE FROM ledger_entries WHERE seq = ?", (choose.randint(0, _last(path)),))


def _cut(path, _, choose):
    """The end is cut and the head put right, without the key."""
    seq = choose.randint(0, _last(path) - 1)
    _sql(path, "DELETE FROM ledger_entries WHERE seq > ?", (seq,))
    head = "UPDATE ledger_head SET (seq, at, hash) = (SELECT seq, at, hash FROM ledger_entries WHERE seq = ?)"
    _sql(path, head, (seq,))


def _swap(path, _, choose):
    one, two = choose.sample(range(_last(path) + 1), 2)
    for start, end in ((one, -7), (two, one), (-7, two)):
        _sql(path, "UPDATE ledger_entries SET seq = ? WHERE seq = ?", (end, start))


def _rewrite(path, _, choose):
    """A cost or a purpose is changed and everything after it is hashed anew: a chain without a key would not notice."""
    start = choose.randint(1, _last(path))
    with sqlite3.connect(path) as base:
        column, value = choose.choice([("purpose", "harmless"), ("cost", "0 0"), ("mechanism", "pure(epsilon=0)")])
        base.execute(f"UPDATE ledger_entries SET {column} = ? WHERE seq = ?", (value, start))
        previous = base.execute("SELECT hash FROM ledger_entries WHERE seq = ?", (start - 1,)).fetchone()[0]
        for row in base.execute(
            f"SELECT {', '.join(COLUMNS)} FROM ledger_entries WHERE seq >= ? ORDER BY seq", (start,)
        ).fetchall():
            previous = digest(previous, row[:-1])
            base.execute("UPDATE ledger_entries SET hash = ? WHERE seq = ?", (previous, row[0]))
        base.execute("UPDATE ledger_head SET hash = ?", (previous,))
    base.close()


def _about(path, _, choose):
    name = choose.choice(["ledger", "public_key", "schema"])
    _sql(path, "UPDATE ledger_about SET value = ? WHERE name = ?", (choose.choice(["", "0" * 64, "1", "x"]), name))


def _head(path, _, choose):
    column = choose.choice(["seq", "at", "hash", "signature"])
    _sql(path, f"UPDATE ledger_head SET {column} = ?", (choose.choice([0, "", "0" * 64, "ff", -1]),))


def _copy_row(path, _, choose):
    seq, last = choose.randint(0, _last(path)), _last(path)
    _sql(
        path,
        f"INSERT INTO ledger_entries SELECT {last + 1}, {', '.join(COLUMNS[1:])} FROM ledger_entries WHERE seq = ?",
        (seq,),
    )


CHANGES = {
    "flip bits": _bit,
    "old copy": _old_copy,
    "cut with the old head": _cut_with_old_head,
    "change": _change,
    "delete": _delete,
    "cut": _cut,
    "swap": _swap,
    "rewrite": _rewrite,
    "about": _about,
    "head": _head,
    "copy a row": _copy_row,
}


def detected(path, receipt):
    """Whether opening or verifying finds anything."""
    try:
        with tr.Ledger.open(path, create=False, read_only=True) as book:
            return not book.verify(receipt)
    except tr.LedgerError:
        return True


def tampered(folder, count, seed):
    whole, old, receipt = sample(folder, folder / "key")
    choose, before, path = random.Random(seed), content(whole), folder / "now.db"
    undetected, harmless, kinds = [], 0, {}
    assert not detected(whole, receipt)
    for n in range(count):
        for left in ("now.db-wal", "now.db-shm"):
            (folder / left).unlink(missing_ok=True)
        shutil.copy(whole, path)
        kind = tamper(path, old, choose)
        kinds[kind] = kinds.get(kind, 0) + 1
        if detected(path, receipt):
            continue
        if content(path) == before:
            harmless += 1
        else:
            undetected.append(f"{n}: {kind}")
    return {"tamperings": count, "harmless": harmless, "undetected": undetected, "kinds": kinds}


if __name__ == "__main__":
    print(json.dumps(tampered(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
