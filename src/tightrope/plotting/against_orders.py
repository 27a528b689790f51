"""The Rényi curve, with the order that gives the least ε marked."""

from __future__ import annotations

import math

from tightrope.accounting.least import renyi as at_order
from tightrope.errors import TightropeError
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.exact import Number, near, probability
from tightrope.plotting.attacker import many
from tightrope.plotting.figure import Figure
from tightrope.plotting.layers import Row, axis, coloured, line, note, picture
from tightrope.plotting.subjects import relation, subjects


def renyi(*mechanisms: Mechanism | str, delta: Number = "1e-5", points: int = 60) -> Figure:
    """Rényi divergence against the order; the dot is the best order at ``delta`` (Canonne, Kamath, Steinke)."""
    many(points)
    curves = subjects(mechanisms)
    log_delta = math.log(near(probability("delta", delta)) or 5e-324)
    grid = [1.05 * (512 / 1.05) ** (i / (points - 1)) for i in range(points)]
    rows: list[Row] = []
    marks: list[Row] = []
    for name, mechanism in curves.items():
        best = (math.inf, 0.0, 0.0)
        for order in grid:
            value = at_order(mechanism, order=f"{order:.6g}").upper
            if not math.isfinite(value) or value == 0:
                continue
            rows.append({"order": order, "value": value, "curve": name})
            # Only where the dot stands depends on this float formula; the value beside it is the certified one.
            epsilon = value + math.log1p(-1 / order) - (log_delta + math.log(order)) / (order - 1)
            best = min(best, (epsilon, order, value))
        if math.isfinite(best[0]) and best[1] < grid[-1]:  # at the end of the grid the best order lies beyond it
            marks.append({"order": best[1], "value": best[2], "words": f"order {best[1]:.3g}"})
    colour, dash = coloured(list(curves), "mechanism")
    x, y = axis("order", "order", log=True), axis("value", "Rényi divergence (upper end)", log=True)
    if not rows:
        raise TightropeError("No Rényi divergence of these mechanisms is finite and above 0: there is nothing to draw.")
    under = f"{relation(curves)}; dots: the best order at δ = {delta}"
    return picture("Rényi curve", under, rows, [line(x, y, colour, dash), note(marks, x, y)])
