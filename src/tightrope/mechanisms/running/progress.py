"""Telling how far a long release is: a bar on the terminal, or any function of (done, total)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tightrope.errors import BadParameter

Progress = bool | Callable[[int, int], object] | None


@contextmanager
def followed(progress: Progress, total: int) -> Iterator[Callable[[int], object]]:
    """A function that is told how many values are done."""
    if progress not in (None, True, False) and not callable(progress):
        raise BadParameter("progress", progress, "must be True, or a function of (done, total)")
    if not progress:
        yield lambda _done: None
    elif progress is True:
        from rich.progress import Progress as Bar

        with Bar(transient=True) as bar:
            task = bar.add_task("releasing", total=total)
            yield lambda done: bar.update(task, completed=done)
    else:
        told = progress
        yield lambda done: told(done, total)
