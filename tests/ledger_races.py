"""Many processes against one cap: ``python ledger_races.py ADDRESS KEY PROCESSES ATTEMPTS [CAP]`` prints the grants."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from fractions import Fraction

import tightrope as tr

EACH = tr.Gaussian(sigma=10)  # ρ = 1/200


def attempt(address, key, count, start, told):
    granted, refused, seconds = 0, 0, []
    with tr.Ledger.open(address, key=key) as book:
        book.fits("race", EACH)  # connected and warm before the start
        start.wait()
        for _ in range(count):
            began = time.perf_counter()
            try:
                book.charge("race", EACH)
                granted += 1
            except tr.BudgetExceeded:
                refused += 1
            seconds.append(time.perf_counter() - began)
    told.put((granted, refused, seconds))


def race(address, key, processes, attempts, cap):
    """Everybody starts at once; together they try more often than the cap allows."""
    with tr.Ledger.open(address, key=key) as book:
        book.create_budget("race", rho=Fraction(cap, 200))
    fork = multiprocessing.get_context("fork")
    start, told = fork.Barrier(processes + 1), fork.Queue()
    workers = [
        fork.Process(target=attempt, args=(address, key, attempts // processes, start, told)) for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    start.wait()
    began = time.perf_counter()
    results = [told.get() for _ in workers]
    elapsed = time.perf_counter() - began
    for worker in workers:
        worker.join()
    times = sorted(t for _, _, seconds in results for t in seconds)
    with tr.Ledger.open(address, key=key) as book:
        spent = book.amounts("race")["ρ"]["spent"]
        found = book.verify(book.head)
    return {
        "attempts": len(times),
        "cap": cap,
        "granted": sum(g for g, _, _ in results),
        "refused": sum(r for _, r, _ in results),
        "recorded": str(spent * 200),
        "problems": list(found.problems),
        "per_second": len(times) / elapsed,
        "p50_ms": 1e3 * times[len(times) // 2],
        "p99_ms": 1e3 * times[int(len(times) * 0.99)],
        "cores": os.cpu_count(),
    }


if __name__ == "__main__":
    address, key, processes, attempts = sys.argv[1:5]
    cap = int(sys.argv[5]) if len(sys.argv) > 5 else int(attempts) * 3 // 4
    print(json.dumps(race(address, key, int(processes), int(attempts), cap)))
