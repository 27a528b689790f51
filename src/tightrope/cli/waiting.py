"""A sign of life on a terminal, for whatever takes longer than a second."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 1.0  # seconds before a bar appears: most answers are there by then


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Show a moving bar and the seconds gone by until the block ends; nothing when nobody watches."""
    if not sys.stderr.isatty():
        yield
        return
    shown: list[Progress] = []
    timer = Timer(PATIENCE, lambda: shown.append(_bar(words)))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for bar in shown:
            bar.stop()


def _bar(words: str) -> Progress:
    """A bar that moves without knowing the end; on the error stream, so that answers can be piped."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False,
    )
    bar.add_task(words, total=None)
    bar.start()
    return bar
