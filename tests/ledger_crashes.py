"""A PostgreSQL server that crashes while charges are committed: the request id decides what happened."""

from __future__ import annotations

import random
import threading
import time

import tightrope as tr

EACH = tr.Gaussian(sigma=10)


def crashes(server, address, key, count, seed, writers=2):
    """Crash one server process after another while writers insist on each of their requests until it is entered."""
    with tr.Ledger.open(address, key=key) as book:
        book.create_budget("crashes", rho=10**6)
    stop, told, errors = threading.Event(), [], []

    def write(name, mine):
        number = 0
        while not stop.is_set():
            number += 1
            while True:
                try:
                    receipt = mine.charge("crashes", EACH, request_id=f"{name}-{number}")
                    break
                except tr.LedgerError as lost:  # retries ended before the server was back: ask again, the same id
                    errors.append(str(lost))
            told.append((receipt.request_id, receipt.seq))

    books = [tr.Ledger.open(address, key=key) for _ in range(writers)]
    threads = [threading.Thread(target=write, args=(f"w{n}", book)) for n, book in enumerate(books)]
    for thread in threads:
        thread.start()
    choose = random.Random(seed)
    for _ in range(count):
        before = len(told)
        while len(told) < before + 3 * writers:  # some work between two crashes
            time.sleep(0.002)
        time.sleep(choose.uniform(0, 0.02))
        server.crash()
    stop.set()
    for thread, book in zip(threads, books, strict=True):
        thread.join()
        book.close()
    return _judged(address, key, told, count, errors)


def _judged(address, key, told, count, errors):
    with tr.Ledger.open(address, key=key) as book:
        entries = [e for e in book.history("crashes") if e.kind == "charge"]
        by_request = {e.request_id: e.seq for e in entries}
        found = book.verify(book.head)
        spent = book.amounts("crashes")["ρ"]["spent"] * 200
    return {
        "crashes": count,
        "acknowledged": len(told),
        "lost": sum(by_request.get(request) != seq for request, seq in told),
        "doubles": len(entries) - len(by_request) + int(spent != len(entries)),
        "given_up": len(errors),
        "problems": list(found.problems),
    }
