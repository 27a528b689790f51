"""What more queries cost: ε against their number, by every route."""

from __future__ import annotations

import math

from tightrope.accounting.compare import compare
from tightrope.errors import TightropeError
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.composed import Repeated
from tightrope.numerics.exact import Number
from tightrope.numerics.exact import count as counted
from tightrope.plotting.attacker import many
from tightrope.plotting.figure import Figure
from tightrope.plotting.layers import Row, axis, coloured, line, picture
from tightrope.plotting.subjects import relation, shortened, subjects

WORDS = {
    "basic": "basic composition",
    "advanced": "advanced composition",
    "advanced-sharp": "advanced composition, sharper",
    "optimal": "optimal composition of (ε, δ)",
    "zcdp-classic": "zCDP, classic conversion",
    "zcdp": "zCDP",
    "rdp-classic": "Rényi, classic conversion",
    "rdp": "Rényi",
    "rdp-optimal": "Rényi, whole curve",
    "gdp": "Gaussian DP",
    "group": "exact, each member sampled",
    "exact": "exact",
    "clt": "central limit (an estimate)",
}


def counts(most: int, points: int) -> list[int]:
    """Numbers of steps from 1 to ``most``, evenly spaced on a logarithmic axis."""
    return sorted({round(most ** (i / (points - 1))) for i in range(points)} | {1, most})


def merged(rows: list[Row]) -> list[Row]:
    """Routes that say the same everywhere as one curve with both names: one would hide the other."""
    seen: dict[tuple[tuple[int, str], ...], list[str]] = {}
    for name in dict.fromkeys(str(row["curve"]) for row in rows):
        points = tuple((int(row["steps"]), f"{row['value']:.4g}") for row in rows if row["curve"] == name)
        seen.setdefault(points, []).append(name)
    joined = {name: " = ".join(names) for names in seen.values() for name in names}
    first = {names[0] for names in seen.values()}
    return [{**row, "curve": joined[str(row["curve"])]} for row in rows if row["curve"] in first]


def steps(
    mechanism: Mechanism | str, *, delta: Number = "1e-5", most: int | None = None, points: int = 12
) -> Figure:
    """ε against the number of steps for every route; ``most`` defaults to the mechanism's own count, or 1000."""
    many(points)
    (whole,) = subjects((mechanism,)).values()
    part, own = (whole.part, whole.times) if isinstance(whole, Repeated) else (whole, 1000)
    last = own if most is None else counted("most", most, least=2)
    rows: list[Row] = []
    for n in counts(max(last, 2), points):
        for row in compare(part * n, delta=delta).rows:
            if math.isfinite(row.value) and row.value > 0:
                rows.append({"steps": n, "value": row.value, "curve": WORDS.get(row.route, row.route)})
    if not rows:
        raise TightropeError(f"No route gives a finite ε for {whole} at δ = {delta}, so there is nothing to draw.")
    rows = merged(rows)
    worst = {str(r["curve"]): float(r["value"]) for r in rows}
    names = sorted(worst, key=lambda name: -worst[name])
    colour, dash = coloured(names, "route")
    x, y = axis("steps", "steps", log=True), axis("value", "ε (upper end)", log=True)
    under = f"{shortened(str(part))}; δ = {delta}; {relation({'': whole})}"
    return picture("ε against the number of steps", under, rows, [line(x, y, colour, dash)])
