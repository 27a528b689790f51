"""What an attacker can do: the privacy profile δ(ε) and the trade-off of error rates, with their enclosures shaded."""

from __future__ import annotations

import math

from tightrope.accounting import ask
from tightrope.accounting.profiles import profile as whole_profile
from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.exact import Number, near, probability
from tightrope.plotting.figure import Figure
from tightrope.plotting.layers import Row, axis, band, coloured, line, note, picture, reference_line
from tightrope.plotting.subjects import relation, subjects

SMALLEST = 1e-12  # the least δ a profile shows
BELOW = 1e-13  # drawn for zero, which a logarithmic axis does not have: just under the picture's edge


def profile(*mechanisms: Mechanism | str, delta: Number | None = None, points: int = 80) -> Figure:
    """δ against ε on a logarithmic scale; with ``delta``, the ε at that δ is marked on each curve."""
    many(points)
    curves = subjects(mechanisms)
    rows: list[Row] = []
    marks: list[Row] = []
    ends = [ask.epsilon(mechanism, delta=str(SMALLEST)).upper for mechanism in curves.values()]
    finite = [e for e in ends if math.isfinite(e)]
    end = max([*finite, 20.0 if len(finite) < len(ends) else 0.0]) or 1.0
    grid = sorted({end * i / (points - 1) for i in range(points)} | set(finite))
    for name, mechanism in curves.items():
        lower, upper = whole_profile(mechanism).delta(grid)
        for e, low, high in zip(grid, lower.tolist(), upper.tolist(), strict=True):
            rows.append({"epsilon": e, "lower": max(low, BELOW), "upper": max(high, BELOW), "curve": name})
        if delta is not None:
            at = ask.epsilon(mechanism, delta=delta).upper
            if math.isfinite(at):
                marks.append({"epsilon": at, "upper": near(probability("delta", delta)), "words": f"ε ≤ {at:.4g}"})
    colour, dash = coloured(list(curves), "mechanism")
    x = axis("epsilon", "ε", domain=[0, end])
    y = axis("upper", "δ", log=True, domain=[SMALLEST, 1])
    layers = [band(x, y, colour), line(x, y, colour, dash)] + ([note(marks, x, y)] if marks else [])
    under = relation(curves) + ("" if delta is None else f"; marked at δ = {delta}")
    return picture("Privacy profile", under, rows, layers)


def tradeoff(*mechanisms: Mechanism | str, points: int = 60) -> Figure:
    """The least false-negative rate at each false-positive rate; the dashed line is perfect privacy."""
    many(points)
    curves = subjects(mechanisms)
    grid = sorted({0.0, 1.0, *((i / (points - 1)) ** 2 for i in range(points))})  # denser where curves bend
    rows: list[Row] = []
    for name, mechanism in curves.items():
        lower, upper = whole_profile(mechanism).tradeoff([f"{a:.12g}" for a in grid])
        for a, low, high in zip(grid, lower.tolist(), upper.tolist(), strict=True):
            rows.append({"fpr": a, "lower": low, "upper": high, "curve": name})
    colour, dash = coloured(list(curves), "mechanism")
    x = axis("fpr", "false-positive rate", domain=[0, 1])
    y = axis("lower", "least false-negative rate", domain=[0, 1])
    y["axis"] = {"labelOverlap": True}
    ideal = reference_line([{"fpr": 0, "lower": 1}, {"fpr": 1, "lower": 0}], x, y)
    return picture(
        "Trade-off curve", relation(curves) + "; grey: perfect privacy", rows,
        [ideal, band(x, y, colour), line(x, y, colour, dash)],
    )


def many(points: int) -> None:
    """A curve has at least two points."""
    if isinstance(points, bool) or not isinstance(points, int) or not 2 <= points <= 5000:
        raise BadParameter("points", points, "must be a whole number from 2 to 5000")
