"""Running a lesson: what is shown is what was just computed, and whether it is what the lesson says."""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from doctest import DocTestParser, Example
from typing import Any

from tightrope.tour.reading import Lesson


@dataclass(frozen=True)
class Shown:
    """One example: its source, what it printed just now, and what the lesson says it prints."""

    source: str
    got: str
    want: str

    @property
    def holds(self) -> bool:
        """Whether every character is as the lesson says."""
        return self.got == self.want

    def __str__(self) -> str:
        first, *rest = self.source.splitlines()
        return "\n".join([f">>> {first}", *(f"... {line}" for line in rest)]) + f"\n{self.got}"


def run(lesson: Lesson) -> Iterator[str | tuple[Shown, ...]]:
    """The lesson's parts in turn, each computed when it is asked for: Markdown, or examples that were just run."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for kind, text in lesson.parts():
        if kind == "prose":
            yield text
        else:
            yield tuple(_shown(example, names) for example in DocTestParser().get_examples(text))


def _shown(example: Example, names: dict[str, Any]) -> Shown:
    """Run one example as an interactive session would; an error is shown by its last line."""
    told = io.StringIO()
    hook, sys.displayhook = sys.displayhook, sys.__displayhook__
    try:
        with redirect_stdout(told):
            exec(compile(example.source, "<lesson>", "single"), names)
    except Exception as wrong:
        told.write("".join(traceback.format_exception_only(wrong)))
    finally:
        sys.displayhook = hook
    return Shown(example.source, told.getvalue(), example.want)
