"""What the ledger was put through, in full: each trial prints its figure and its goal.

Run with ``make bench``, or ``python benchmarks/ledger.py NAME…`` for some of them: race, speed, kills, faults, crashes,
tampering, model, million, tiny. Times are of the wall, because waiting for the disk is what they are about.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import tightrope as tr
from tightrope.budget import costs
from tightrope.budget.entries import Request

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
sys.path.insert(0, str(TESTS))

import ledger_crashes  # noqa: E402 - found beside the tests
import postgres  # noqa: E402 - likewise

Figures = dict[str, Any]


def trial(script: str, *arguments: object) -> Figures:
    paths = os.pathsep.join([str(Path(tr.__file__).parents[1]), str(TESTS)])
    done = subprocess.run(
        [sys.executable, str(TESTS / script), *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    found: Figures = json.loads(done.stdout)
    return found


@contextmanager
def folder(memory: bool = False) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=postgres.memory() if memory else None) as place:
        yield Path(place)


@contextmanager
def server(on_disk: bool = True) -> Iterator[postgres.Server | None]:
    problem = postgres.install()
    if problem:
        print(f"  POSTGRESQL SKIPPED: {problem}")
        yield None
        return
    made = postgres.Server(on_disk=on_disk)
    try:
        yield made
    finally:
        made.stop()


def told(name: str, figure: str, goal: str) -> None:
    print(f"{name:<34} {figure}   (goal: {goal})", flush=True)


def race() -> None:
    goal = "granted = cap, overspent 0, underspent 0"
    with folder() as place:
        found = trial("ledger_races.py", place / "b.db", place / "key", 32, 20_000)
        told("race, SQLite, 32 processes", _race(found), goal)
    with server() as made, folder() as place:
        if made is not None:
            found = trial("ledger_races.py", made.create("race"), place / "key", 32, 20_000)
            told("race, PostgreSQL, 32 processes", _race(found), goal)


def _race(found: Figures) -> str:
    speed = f"{found['per_second']:.0f} a second, p99 {found['p99_ms']:.0f} ms"
    return f"{found['attempts']} attempts, cap {found['cap']}, granted {found['granted']}, {speed}"


def speed() -> None:
    for clients, attempts, goal in ((1, 2000, "at least 250 a second"), (32, 19_200, "at least 2000, p99 < 100 ms")):
        with folder() as place:
            found = trial("ledger_races.py", place / "b.db", place / "key", clients, attempts, attempts)
        told(f"durable charges, SQLite, {clients} client(s)", _speed(found), goal)
        with server() as made, folder() as place:
            if made is not None:
                address = made.create("speed")
                found = trial("ledger_races.py", address, place / "key", clients, attempts, attempts)
                told(f"durable charges, PostgreSQL, {clients}", _speed(found), goal)


def _speed(found: Figures) -> str:
    return f"{found['per_second']:.0f} a second, p50 {found['p50_ms']:.1f} ms, p99 {found['p99_ms']:.1f} ms"


def kills() -> None:
    with folder() as place:
        found = trial("ledger_kills.py", place / "b.db", place / "key", 5000, 1)
    lost = f"lost {found['lost']}, unpaid answers {found['unpaid']}, problems {len(found['problems'])}"
    told("kill -9", f"{found['kills']} kills, {found['acknowledged']} acknowledged: {lost}", "0, 0, 0")


def faults() -> None:
    with folder(memory=True) as place:
        found = trial("ledger_faults.py", place, 1)
    told("failing disk, every n", f"{found['faults']} faults: corrupt or fail-open {len(found['wrong'])}", "0")


def crashes() -> None:
    with server(on_disk=False) as made, folder() as place:
        if made is not None:
            found = ledger_crashes.crashes(made, made.create("crashes"), place / "key", 100, 1)
            figure = f"{found['crashes']} crashes, {found['acknowledged']} acknowledged: "
            told("crashing PostgreSQL", figure + f"lost {found['lost']}, doubles {found['doubles']}", "0, 0")


def tampering() -> None:
    with folder(memory=True) as place:
        found = trial("ledger_tampering.py", place, 5000, 1)
    figure = f"{found['tamperings']} tamperings, {found['harmless']} without effect"
    told("tampering", f"{figure}: undetected {len(found['undetected'])}", "0")


def model() -> None:
    from hypothesis import settings

    settings.register_profile("bench", deadline=None, database=None)
    settings.load_profile("bench")
    from laws.test_ledger_model import steps_compared

    told("model", f"{steps_compared(1300, 100)} steps, differences 0", "at least 100000, 0")


def million(count: int = 10**6) -> None:
    """A million entries, in large groups; then balances, and a full verification."""
    with folder() as place, tr.Ledger.open(place / "b.db") as book:
        book.create_budget("b", rho=count)
        mechanism = tr.Gaussian(sigma=10)
        cost = costs.written(book.terms("b").cost(mechanism))
        store = book._store
        start = time.perf_counter()
        for first in range(0, count, 10_000):
            numbers = range(first, min(first + 10_000, count))
            requests = [Request("charge", "b", f"r{n}", str(mechanism), "bulk", cost) for n in numbers]
            store._serve(requests)  # type: ignore[attr-defined]  # the queue is passed by: only the books are filled
        filled = time.perf_counter() - start
        balances = []
        for _ in range(20):
            start = time.perf_counter()
            spent = book.amounts("b")["ρ"]["spent"]
            balances.append(time.perf_counter() - start)
        assert spent == Fraction(count, 200)
        start = time.perf_counter()
        found = book.verify(book.head, progress=_progress)
        seconds = time.perf_counter() - start
        print(file=sys.stderr)
        told(f"{count} entries, balance", f"{1e3 * max(balances):.2f} ms (filled in {filled:.0f} s)", "at most 10 ms")
        told(f"{count} entries, verification", f"{seconds:.1f} s, problems {len(found.problems)}", "at most 60 s, 0")


def _progress(done: int, total: int) -> None:
    if done % 100_000 == 0 and sys.stderr.isatty():
        print(f"\r  {done}/{total}", end="", file=sys.stderr, flush=True)


def tiny() -> None:
    budget = tr.Filter(pure=1)
    each, least = tr.Pure(1e-9), tr.Pure(5e-324)
    for n in range(10**6):
        budget.charge(each)
        if n % 1000 == 0:
            budget.charge(least)
    exact = budget._total[0] == Fraction(10**6, 10**9) + 1000 * Fraction(5, 10**324)
    told("1000000 charges of 1e-9, subnormals", "exact" if exact else "NOT exact", "exact")


TRIALS: dict[str, Callable[[], None]] = {
    f.__name__: f for f in (race, speed, faults, tampering, tiny, million, crashes, model, kills)
}


def main() -> None:
    for name in sys.argv[1:] or TRIALS:
        TRIALS[name]()


if __name__ == "__main__":
    main()
