"""The lessons: Markdown files beside this one, numbered in the order they are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from tightrope.errors import BadParameter

FENCE = re.compile(r"^```python\n(.*?)^```$\n?", re.M | re.S)
IMAGE = re.compile(r"!\[([^\]]*)\]\(figures/([\w-]+)\.svg\)")


@dataclass(frozen=True)
class Lesson:
    """One page: its number, its short name and its Markdown text."""

    number: int
    name: str
    text: str

    @property
    def file(self) -> str:
        """The name of its file, here and in the documentation."""
        return f"{self.number}-{self.name}.md"

    @property
    def title(self) -> str:
        """The first heading, without its number."""
        return self.text.partition("\n")[0].lstrip("# ").partition(" ")[2]

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the pictures it shows, in order."""
        return tuple(name for _, name in IMAGE.findall(self.text))

    def parts(self) -> Iterator[tuple[str, str]]:
        """("prose", Markdown) and ("code", examples) in turn; the two together are the whole text."""
        end = 0
        for block in FENCE.finditer(self.text):
            yield "prose", self.text[end : block.start()]
            yield "code", block.group(1)
            end = block.end()
        yield "prose", self.text[end:]


@cache
def lessons() -> tuple[Lesson, ...]:
    """All lessons in order."""
    found = []
    for page in files("tightrope.tour").joinpath("pages").iterdir():
        number, _, name = page.name.removesuffix(".md").partition("-")
        found.append(Lesson(int(number), name, page.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda lesson: lesson.number))


def lesson(which: str) -> Lesson:
    """The lesson of that number or name.

    >>> lesson("3").name
    'testing'
    """
    asked = which.strip().lower()
    for known in lessons():
        if asked in (str(known.number), known.name):
            return known
    listed = ", ".join(f"{known.number} {known.name}" for known in lessons())
    raise BadParameter("LESSON", which, "is no lesson", hint=f"There are: {listed}.")
