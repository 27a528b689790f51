"""Failing disks: ``python ledger_faults.py FOLDER [STRIDE]`` fails the n-th write, fsync or open, for every n."""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import tightrope as tr
from failing_disk import KINDS, FailingDisk

EACH = tr.Gaussian(sigma=10)


def work(path, key, told):
    """Open, create, charge, release; what was acknowledged is noted at once. Errors must be the ledger's own."""
    with tr.Ledger.open(path, key=key) as book:
        if "faults" not in book.budgets():
            book.create_budget("faults", rho=1)
        for n in range(3):
            with suppress(tr.LedgerError):
                book.charge("faults", EACH, request_id=f"c{n}")
                told.append((f"c{n}", None))
        with suppress(tr.LedgerError):
            told.append(("r", book.release("faults", EACH, 5, request_id="r")))


def judged(path, key, told):
    """What is wrong after the disk works again: lost acknowledgements, other answers, problems, a wrong sum."""
    if not os.path.exists(path):
        return ["lost"] if told else []
    with tr.Ledger.open(path, key=key) as book:
        if "faults" not in book.budgets():
            return ["lost"] if told else [] if book.verify(book.head) else ["corrupt"]
        wrong = [] if book.verify(book.head) else ["corrupt"]
        entries = {e.request_id: e for e in book.history("faults")}
        spends = sum(e.kind in ("charge", "release") for e in entries.values())
        if book.amounts("faults")["ρ"]["spent"] * 200 != spends:
            wrong.append("sum")
        for request, answer in told:
            if request not in entries:
                wrong.append("lost")
            elif answer is not None and book.release("faults", EACH, 5, request_id="r") != answer:
                wrong.append("answer")
        return wrong


def trial(disk, folder, key, existing, kind, at, lasting):
    """One fault; whether it happened, and what was wrong afterwards."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    path = str(folder / "budget.db")
    if existing:
        for file in existing.iterdir():
            shutil.copy(file, folder / file.name)
    told: list[tuple[str, object]] = []
    disk.fail(kind, at, lasting)
    with suppress(tr.LedgerError):  # refused in the ledger's own words
        work(path, key, told)
    happened = disk.calls >= at
    disk.fail("", 0)
    return happened, judged(path, key, told)


def faults(folder, stride):
    """Every n until nothing fails any more: on a new ledger and on an old one, once and from then on."""
    disk = FailingDisk()
    key, old = folder / "key", folder / "old"
    old.mkdir()
    with tr.Ledger.open(old / "budget.db", key=key) as book:
        book.create_budget("faults", rho=1)
        book.charge("faults", EACH, request_id="c0")
    count, wrong = 0, []
    for existing in (None, old):
        for kind in KINDS:
            for lasting in (False, True):
                at = 1
                while True:
                    happened, found = trial(disk, folder / "now", key, existing, kind, at, lasting)
                    wrong += [f"{kind} {at} {lasting}: {what}" for what in found]
                    if not happened:
                        break
                    count, at = count + 1, at + stride
    return {"faults": count, "wrong": wrong}


if __name__ == "__main__":
    place = Path(sys.argv[1])
    print(json.dumps(faults(place, int(sys.argv[2]) if len(sys.argv) > 2 else 1)))
