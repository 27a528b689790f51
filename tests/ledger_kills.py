"""kill -9 at random points: ``python ledger_kills.py ADDRESS KEY KILLS SEED`` prints what was lost.

Two writers at a time charge and release; each tells what was acknowledged through a pipe and is killed without warning.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
import time

import tightrope as tr

EACH = tr.Gaussian(sigma=10)


def write(address, key, pipe, name):
    """Charge and release until killed. One line for each acknowledgement, written at once."""
    book = tr.Ledger.open(address, key=key)
    number = 0
    while True:
        number += 1
        request = f"{name}-{number}"
        if number % 3:
            book.charge("kills", EACH, request_id=request)
            os.write(pipe, f"{request} charge\n".encode())
        else:
            answer = book.release("kills", EACH, 1.0, request_id=request)
            os.write(pipe, f"{request} {answer!r}\n".encode())


def killed(address, key, kills, seed):
    """Acknowledgements that are missing, answers without a recorded spend, and what the ledger says in the end."""
    random.seed(seed)
    told = []
    for n in range(0, kills, 2):
        writers = []
        for k in (0, 1):
            reader, pipe = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reader)
                try:
                    write(address, key, pipe, f"w{n + k}")
                finally:
                    os._exit(1)
            os.close(pipe)
            writers.append((child, reader))
        for _ in range(random.randint(0, 3)):  # some work first, but not always
            select.select([reader for _, reader in writers], [], [], 10)
            time.sleep(random.uniform(0, 0.004))
        for child, reader in writers:
            time.sleep(random.uniform(0, 0.006))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            with os.fdopen(reader) as file:
                told += [line.split() for line in file.read().splitlines()]
    return _judged(address, key, told, kills)


def _judged(address, key, told, kills):
    with tr.Ledger.open(address, key=key) as book:
        entries = {e.request_id: e for e in book.history("kills") if e.request_id}
        answered = {e.refers: e for e in book.history("kills") if e.kind == "answer"}
        lost = [request for request, _ in told if request not in entries]
        unpaid = [
            request
            for request, answer in told
            if answer != "charge" and (request not in entries or entries[request].seq not in answered)
        ]
        other = [
            request
            for request, answer in told
            if answer != "charge" and repr(book.release("kills", EACH, 1.0, request_id=request)) != answer
        ]
        spends = [e for e in entries.values() if e.kind in ("charge", "release")]
        exact = book.amounts("kills")["ρ"]["spent"] * 200 == len(spends)
        found = book.verify(book.head)
    return {
        "kills": kills,
        "acknowledged": len(told),
        "entered": len(spends),
        "lost": len(lost),
        "unpaid": len(unpaid),
        "other_answers": len(other),
        "exact": exact,
        "problems": list(found.problems),
    }


if __name__ == "__main__":
    address, key, kills, seed = sys.argv[1:5]
    with tr.Ledger.open(address, key=key) as made:
        made.create_budget("kills", rho=10**6)
        made.release("kills", EACH, 1.0)  # all is loaded before the writers are forked off
    print(json.dumps(killed(address, key, int(kills), int(seed))))
