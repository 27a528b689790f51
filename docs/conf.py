"""Sphinx settings: Markdown through MyST, and a reference made of docstrings. It is built without a network."""

from __future__ import annotations

from typing import Any

import tightrope as tr

project = "tightrope"
author = "The tightrope authors"
version = release = tr.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "tightrope"
html_extra_path = ["certificate.schema.json"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures stay short; types are in the source
autodoc_class_signature = "mixed"

MARK = "<!-- every public name is put here when the site is built -->"
KINDS = {"errors": "Errors", "mechanisms": "Mechanisms", "budget": "Budgets", "queries": "Releases and queries"}


def public_names() -> str:
    """A section for each kind of public name, with its docstring."""
    sections: dict[str, list[str]] = {"Questions and answers": []}
    for name, home in tr._HOMES.items():
        sections.setdefault(KINDS.get(home.split(".")[0], "Questions and answers"), []).append(name)
    parts = []
    for title, names in sections.items():
        lines = [f"## {title}", "", "```{eval-rst}"]
        for name in names:
            value = getattr(tr, name)
            if isinstance(value, type):
                lines += [f".. autoclass:: tightrope.{name}", "   :members:", ""]
            else:
                lines += [f".. autofunction:: tightrope.{name}", ""]
        parts.append("\n".join([*lines, "```", ""]))
    return "\n".join(parts)


def expanded(_: Any, page: str, source: list[str]) -> None:
    """Put the public names where the reference wants them."""
    if page == "reference":
        source[0] = source[0].replace(MARK, public_names())


def plain(*event: Any) -> None:
    """A bar in a docstring is an absolute value, not a substitution of reStructuredText."""
    lines = event[-1]
    lines[:] = [line.replace("|", "\\|") for line in lines]


def setup(app: Any) -> None:
    """What Sphinx calls first."""
    app.connect("autodoc-process-docstring", plain)
    app.connect("source-read", expanded)
