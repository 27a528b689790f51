"""Writes the table of all registered theorems into theorems.md, between its two marks.

Run from anywhere: python docs/make_theorems.py.
"""

from __future__ import annotations

from pathlib import Path

import tightrope  # noqa: F401 - importing the package registers every theorem
from tightrope.theorems import REGISTRY, Theorem

BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
ROLES = {
    "analysis": "What is known of a mechanism",
    "conversion": "From one notion to another",
    "composition": "Composition",
    "group": "Groups",
    "sampling": "Sampling",
    "parallel": "Disjoint blocks",
    "profile": "To δ(ε), ε and the trade-off curve",
    "filter": "Filters and odometers: parameters chosen on the way",
}


def row(theorem: Theorem[..., object]) -> str:
    """One line of the table."""
    says = theorem.says.replace("|", r"\|")
    if theorem.relation != "any one fixed relation":
        says += f" *{theorem.relation}*"
    if theorem.hypotheses:
        says += f" ({'; '.join(theorem.hypotheses)})".replace("|", r"\|")
    return f"| `{theorem.id}` | {theorem.kind} | {says} | {theorem.source} |"


def table() -> str:
    """All theorems by role, in the order they were registered."""
    parts = []
    for role, title in ROLES.items():
        found = [t for t in REGISTRY.values() if t.role == role]
        head = [f"### {title}", "", "| theorem | kind | statement | source |", "|---|---|---|---|"]
        parts.append("\n".join([*head, *(row(t) for t in found), ""]))
    return "\n".join(parts) + "\n"


def updated(page: str) -> str:
    """The page with a current table."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + "\n" + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    path = Path(__file__).with_name("theorems.md")
    path.write_text(updated(path.read_text(encoding="utf-8")), encoding="utf-8")
