"""What an adapter does with its answer function: time it cold and warm, in CPU seconds, and print one line of JSON."""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

Answer = Callable[[dict[str, Any]], Any]


def plain(value: Any) -> Any:
    """Numbers as JSON can carry them: infinities and NaN as text."""
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    value = float(value)
    return value if math.isfinite(value) else str(value)


def main(load: Callable[[], Answer]) -> None:
    """Read a workload from standard input, answer it, print value, times and memory."""
    work = json.load(sys.stdin)
    start = time.process_time()
    answer = load()
    result: dict[str, Any] = {"import": time.process_time() - start}
    try:
        start = time.process_time()
        value = answer(work)
        result["cold"] = warm = time.process_time() - start
        spent, rounds = 0.0, 0
        while spent < 1.0 and rounds < 20 and result["cold"] < 3.0:  # an answer of milliseconds needs many rounds
            start = time.process_time()
            answer(work)
            took = time.process_time() - start
            warm, spent, rounds = min(warm, took), spent + took, rounds + 1
        result["warm"] = warm
        result["value"] = plain(value)
    except Exception as error:  # a peer's failure is a result, not a crash of the comparison
        result["error"] = f"{type(error).__name__}: {error}"[:160]
    result["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))
