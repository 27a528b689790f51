"""The queue of writers: groups, the dead, the unreadable, and places where it cannot be."""

from __future__ import annotations

import fcntl
import os
import threading
from contextlib import contextmanager
from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.budget import queue
from tightrope.budget.entries import Entry, Request
from tightrope.budget.outcomes import outcome_from_json, outcome_to_json
from tightrope.budget.queue import Queue

ENTRY = Entry(1, "t", "charge", "b", "r", None, "m", "p", "1/2", "1/2", "0", "", "h")


@pytest.fixture
def place(quick_path, monkeypatch):
    monkeypatch.setattr(queue, "MEMORY", str(quick_path))
    return quick_path


def folder(place):
    return next(place.glob("tightrope-*"))


@contextmanager
def held(place):
    """The lock in somebody else's hands."""
    handle = os.open(folder(place) / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield handle
    finally:
        os.close(handle)


def served(seen):
    def serve(requests):
        seen.append([request.request_id for request in requests])
        return [ENTRY if request.kind == "charge" else tr.LedgerError("w", "y") for request in requests]

    return serve


def test_whoever_has_the_lock_serves_everyone(place):
    line, seen, told = Queue("q", "x"), [], []
    threads = []
    with held(place):
        for n in range(5):
            kind = "charge" if n else "refused"
            request = Request(kind, "b", f"r{n}")
            threads.append(threading.Thread(target=lambda r=request: told.append(line.submit(r, served(seen)))))
            threads[-1].start()
            while len(list(folder(place).glob("*.ask"))) <= n:
                pass
    for thread in threads:
        thread.join()
    assert sorted(r for group in seen for r in group) == [f"r{n}" for n in range(5)]
    assert sum(isinstance(outcome, tr.LedgerError) for outcome in told) == 1
    assert sum(outcome == ENTRY for outcome in told) == 4
    del threads
    line.close()
    assert not list(place.glob("tightrope-*"))
    assert line.submit(Request("charge", "b", "again"), served(seen)) == ENTRY  # the folder is made anew


def test_the_dead_are_dropped_and_the_unreadable_left_alone(place):
    line, seen = Queue("q", "x"), []
    gone = folder(place) / "00000000000000000001@1-1-1.bell.ask"
    gone.write_text(Request("charge", "b", "gone").to_json())
    bell = queue._Bell(str(folder(place)))
    garbled = folder(place) / f"00000000000000000002@{bell.name}.ask"
    garbled.write_text("{")
    assert line.submit(Request("charge", "b", "mine"), served(seen)) == ENTRY
    assert seen == [["mine"]]
    assert not gone.exists()
    assert garbled.exists()
    bell.sleep()  # it was rung


def test_a_failure_of_one_is_not_told_to_others(place):
    line, seen, told = Queue("q", "x"), [], []

    def fails(_):
        raise OSError(5, "the disk failed")

    with held(place) as handle:
        waiting = threading.Thread(target=lambda: told.append(line.submit(Request("charge", "b", "w"), served(seen))))
        waiting.start()
        while not list(folder(place).glob("*.ask")):
            pass
        with pytest.raises(OSError, match="disk"):
            line._serve_group(handle, Request("charge", "b", "first"), fails)
    waiting.join()
    assert told == [ENTRY]
    assert seen == [["w"]]


def test_a_request_told_just_before_the_lock_was_taken(place, monkeypatch):
    line, seen = Queue("q", "x"), []
    taken, calls = queue._taken, []

    def late(handle):
        calls.append(handle)
        if len(calls) == 2:  # served between looking and locking
            for path in folder(place).glob("*.ask"):
                queue._tell(str(path), ENTRY)
            return taken(handle)
        return False

    monkeypatch.setattr(queue, "_taken", late)
    assert line.submit(Request("charge", "b", "r"), served(seen)) == ENTRY
    assert seen == []


def test_what_processes_left_behind_is_swept_away(place):
    line = Queue("q", "x")
    for name in ("00000000000000000001@999999999-1-1.bell.told", "999999999-1-1.bell", "nonsense"):
        (folder(place) / name).write_text("")
    mine = folder(place) / f"{os.getpid()}-1-1.bell"
    mine.write_text("")
    Queue("q", "x")
    assert sorted(p.name for p in folder(place).iterdir()) == [mine.name]
    line.close()
    assert mine.exists()  # somebody is still here
    assert queue._running("1")


def test_where_the_queue_is(place, monkeypatch):
    other = place / "ledger"
    monkeypatch.setattr(queue, "MEMORY", str(place / "missing"))
    Queue("q", str(other))
    assert (place / "ledger-queue").is_dir()
    with pytest.raises(OSError, match="no place"):
        Queue("q", str(place / "no" / "where"))
    monkeypatch.setattr(queue, "MEMORY", str(place))
    (place / f"tightrope-{os.getuid()}-file").write_text("not a folder")
    with pytest.raises(PermissionError):
        Queue("file", str(place / "no" / "where"))
    with tr.Ledger.open(place / "b.db") as book:
        monkeypatch.setattr(queue, "_folder", lambda *_: (_ for _ in ()).throw(PermissionError(13, "no place")))
        with pytest.raises(tr.LedgerError, match="no place"):
            book.create_budget("b", rho=1)


@pytest.mark.usefixtures("place")
def test_a_bell_survives_a_fork():
    line = Queue("q", "x")
    bell = line._bell()
    assert line._bell() is bell
    bell.owner = -1  # as a child process sees it
    assert line._bell() is not bell
    bell.sleep()  # patience ends


def test_outcomes_cross_processes():
    for outcome in (
        ENTRY,
        tr.BudgetExceeded("b", "ρ", Fraction(1, 3), Fraction(1, 7)),
        tr.LedgerError("w", "y", "h"),
    ):
        again = outcome_from_json(outcome_to_json(outcome))
        assert type(again) is type(outcome)
        assert str(again) == str(outcome)
    strange = outcome_from_json(outcome_to_json(tr.Unsupported("what", "why")))
    assert isinstance(strange, tr.LedgerError)
    assert "what: why" in str(strange)
