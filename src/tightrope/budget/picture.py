"""A picture of spending over time, as a self-contained SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from fractions import Fraction
from xml.sax.saxutils import escape

from tightrope.budget.costs import Amounts, read
from tightrope.budget.entries import Entry
from tightrope.budget.terms import Terms

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 360, 64, 24, 56, 48
MOST_POINTS = 2000
_STYLE = "font-family='sans-serif' font-size='12' fill='#333'"


def picture(name: str, terms: Terms, history: Iterable[Entry]) -> str:
    """How much of the budget was spent (line) and spent or held (area) at each time, in per cent of its limit."""
    points = [
        (datetime.fromisoformat(e.at), _share(terms, read(e.spent)), _share(terms, read(e.spent), read(e.held)))
        for e in history
    ]
    first, last = points[0][0], points[-1][0]
    span = (last - first).total_seconds() or 1.0
    kept = [*points[:: max(len(points) // MOST_POINTS, 1)], points[-1]]
    line = _steps([(_x((at - first).total_seconds() / span), _y(spent)) for at, spent, _ in kept])
    area = _steps([(_x((at - first).total_seconds() / span), _y(taken)) for at, _, taken in kept])
    end, spent = _x(1), points[-1][1]
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' role='img'>",
        f"<title>{escape(name)}: {spent * 100:.1f} % spent</title>",
        f"<rect width='{WIDTH}' height='{HEIGHT}' fill='white'/>",
        f"<text x='{LEFT}' y='22' {_STYLE} font-weight='bold'>{escape(name)}: {spent * 100:.1f} % spent</text>",
        f"<text x='{LEFT}' y='40' {_STYLE}>{escape(str(terms))}</text>",
        *_axis(first, last),
        f"<path d='{area} L{end:.1f},{_y(0):.1f} L{LEFT},{_y(0):.1f} Z' fill='#c6dbef'/>",
        f"<path d='{line}' fill='none' stroke='#08519c' stroke-width='2'/>",
        f"<line x1='{LEFT}' x2='{end:.1f}' y1='{_y(1):.1f}' y2='{_y(1):.1f}' stroke='#cb181d' stroke-dasharray='6 4'/>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _share(terms: Terms, *amounts: Amounts) -> float:
    """The part of the limit that is taken: of the fullest unit, or of the emptiest where one suffices."""
    taken = [sum(column, Fraction(0)) for column in zip(*amounts, strict=True)]
    shares = [float(x / limit) for x, limit in zip(taken, terms.limits, strict=True) if limit > 0]
    return min(min(shares) if terms.any_unit else max(shares), 1.0)


def _x(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _steps(points: Sequence[tuple[float, float]]) -> str:
    """Nothing is spent between two entries."""
    path = [f"M{points[0][0]:.1f},{points[0][1]:.1f}"]
    for x, y in points[1:]:
        path.append(f"H{x:.1f} V{y:.1f}")
    return " ".join(path)


def _axis(first: datetime, last: datetime) -> list[str]:
    lines = []
    for k in range(5):
        y = _y(k / 4)
        lines.append(f"<line x1='{LEFT}' x2='{_x(1):.1f}' y1='{y:.1f}' y2='{y:.1f}' stroke='#ddd'/>")
        lines.append(f"<text x='{LEFT - 8}' y='{y + 4:.1f}' {_STYLE} text-anchor='end'>{25 * k} %</text>")
    for at, x, anchor in ((first, LEFT, "start"), (last, _x(1), "end")):
        told = at.strftime("%Y-%m-%d %H:%M:%S")
        lines.append(f"<text x='{x:.1f}' y='{HEIGHT - 18}' {_STYLE} text-anchor='{anchor}'>{told}</text>")
    return lines
