"""Writes the pages of the tour from the lessons in the package, and draws their figures.

Run from anywhere: python docs/tour/make.py. Each figure carries a digest of what it shows, to three digits, so that a
test can tell whether it is current without drawing it again: how it looks depends on the machine's fonts.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from tightrope.plotting import Figure
from tightrope.tour import lessons
from tightrope.tour.figures import FIGURES

HERE = Path(__file__).parent


def digest(figure: Figure) -> str:
    """Of the title and the points, rounded to three digits."""
    text = json.dumps([figure.title, _rounded(figure.spec["data"])], ensure_ascii=False, sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner) for inner in value]
    return f"{value:.3g}" if isinstance(value, float) else value


def pages() -> dict[str, str]:
    """File name → text of every page."""
    return {lesson.file: lesson.text for lesson in lessons()}


def svg(figure: Figure) -> str:
    """The drawing with its digest in a comment at the end."""
    return f"{figure.to_svg()}\n<!-- shows {digest(figure)} -->\n"


if __name__ == "__main__":
    for file, text in pages().items():
        (HERE / file).write_text(text, encoding="utf-8")
    for name, drawn in FIGURES.items():
        (HERE / "figures" / f"{name}.svg").write_text(svg(drawn()), encoding="utf-8")
