"""What an adapter does with its answer function: time it cold and warm, in CPU seconds, and print one line of JSON."""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from collections.abc import Callable
from statistics import median
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
        result["cold"] = time.process_time() - start
        rounds: list[float] = []
        while sum(rounds) < 1.0 and len(rounds) < 20 and result["cold"] < 3.0:  # what takes milliseconds, many times
            start = time.process_time()
            answer(work)
            rounds.append(time.process_time() - start)
        result["warm"] = median(rounds) if rounds else result["cold"]
        result["value"] = plain(value)
    except Exception as error:  # a peer's failure is a result, not a crash of the comparison
        result["error"] = f"{type(error).__name__}: {error}"[:160]
    result["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))
