"""The report as a page for people: HTML that needs nothing else, and Markdown."""

from __future__ import annotations

from html import escape

from tightrope.reports.sections import Block, Code, Picture, Table, sections
from tightrope.reports.statement import Statement

STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; width: 100%; }
td, th { border: 1px solid #ddd; padding: .3rem .6rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
pre { background: #f6f6f6; padding: .7rem; white-space: pre-wrap;
overflow-wrap: anywhere; font-size: .8rem; } figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; }
.sign td { height: 2.5rem; } @media print { pre { font-size: .65rem; } }
"""
SIGNATURE = Table(("checked by", "date", "signature"), (("", "", ""),))


def html(s: Statement) -> str:
    """One self-contained page: no script, no font, no image is fetched."""
    title = escape(f"Privacy statement: {s.name}")
    body = [f"<h1>{title}</h1>"]
    for heading, blocks in sections(s):
        body.append(f"<h2>{escape(heading)}</h2>")
        body += [_html(block) for block in blocks]
    body.append('<h2>Signed</h2><div class="sign">' + _html(SIGNATURE) + "</div>")
    head = f'<meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(body) + "\n</body></html>\n"


def markdown(s: Statement) -> str:
    """The same in Markdown; pictures are left to the other formats."""
    parts = [f"# Privacy statement: {s.name}"]
    for heading, blocks in sections(s, drawn=False):
        parts.append(f"## {heading}")
        parts += [_markdown(block) for block in blocks]
    parts += ["## Signed", _markdown(SIGNATURE)]
    return "\n\n".join(parts) + "\n"


def _html(block: Block) -> str:
    match block:
        case Table(heads, rows):
            top = "<tr>" + "".join(f"<th>{escape(h)}</th>" for h in heads) + "</tr>" if any(heads) else ""
            lines = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows)
            return f"<table>{top}{lines}</table>"
        case Code(text):
            return f"<pre>{escape(text)}</pre>"
        case Picture(svg, says):
            return f"<figure>{svg}<figcaption>{escape(says)}</figcaption></figure>"
        case str(text) if text.startswith("- "):
            return "<ul>" + "".join(f"<li>{escape(line[2:])}</li>" for line in text.splitlines()) + "</ul>"
    return f"<p>{escape(str(block))}</p>"


def _markdown(block: Block) -> str:
    match block:
        case Table(heads, rows):
            lines = [heads, tuple("---" for _ in heads), *rows]
            return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        case Code(text):
            return f"```\n{text}\n```"
    return str(block)
