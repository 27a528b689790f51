"""Reading the Markdown documents: their fenced blocks and their words."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(path, language):
    """The fenced blocks of one language, each with its first line's number."""
    text = path.read_text(encoding="utf-8")
    for found in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.M | re.S):
        yield text[: found.start()].count("\n") + 2, found.group(1)


def everything():
    """All documents as one text."""
    return "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
