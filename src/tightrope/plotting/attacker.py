"""What an attacker can do: the privacy profile δ(ε) and the trade-off of error rates, with their enclosures shaded."""

from __future__ import annotations

import math

from tightrope.accounting import ask
from tightrope.accounting.claim import rounded
from tightrope.accounting.profiles import profile as whole_profile
from tightrope.accounting.tradeoff import tradeoff as tradeoff_at
from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.exact import Number, near, nonnegative, probability
from tightrope.plotting.figure import Figure
from tightrope.plotting.layers import Row, axis, band, coloured, line, note, picture, reference_line
from tightrope.plotting.subjects import relation, subjects

SMALLEST = 1e-12  # the least δ a profile shows
FAR = 20.0  # the last ε of a picture in which no curve ends
BELOW = 1e-13  # drawn for zero, which a logarithmic axis does not have: just under the picture's edge


def profile(
    *mechanisms: Mechanism | str, delta: Number | None = None, epsilon: Number | None = None, points: int = 80
) -> Figure:
    """δ against ε on a logarithmic scale; the ε at ``delta``, or the δ at ``epsilon``, is marked on each curve."""
    many(points)
    if delta is not None and epsilon is not None:
        raise BadParameter("epsilon", epsilon, "cannot be marked together with a delta")
    curves = subjects(mechanisms)
    at = None if epsilon is None else near(nonnegative("epsilon", epsilon))
    reach = {name: ask.epsilon(m, delta=str(SMALLEST)).upper for name, m in curves.items()}
    finite = [e for e in reach.values() if math.isfinite(e)]
    end = max([*finite, *([] if finite else [FAR]), 1.1 * (at or 0.0)]) or 1.0
    if len(finite) < len(reach):
        end *= 1.25  # so that one sees a curve that never falls go on
    rows: list[Row] = []
    marks: list[Row] = []
    for name, mechanism in curves.items():
        grid = _grid(reach[name], end, points)
        lower, upper = whole_profile(mechanism).delta(grid)
        for e, low, high in zip(grid, lower.tolist(), upper.tolist(), strict=True):
            rows.append({"epsilon": e, "lower": max(low, BELOW), "upper": max(high, BELOW), "curve": name})
        marks += _mark(mechanism, delta, epsilon)
    colour, dash = coloured(list(curves), "mechanism")
    x = axis("epsilon", "ε", domain=[0, end])
    y = axis("upper", "δ", log=True, domain=[SMALLEST, 1])
    different = {mark["words"]: mark for mark in marks}
    layers = [band(x, y, colour), line(x, y, colour, dash)] + ([note([*different.values()], x, y)] if marks else [])
    under = relation(curves)
    under += "" if delta is None else f"; marked at δ = {delta}"
    under += "" if epsilon is None else f"; marked at ε = {epsilon}"
    return picture("Privacy profile", under, rows, layers)


def _grid(reach: float, end: float, points: int) -> list[float]:
    """ε from 0 to ``end``, denser before the curve's own end, where δ falls steeply."""
    own = min(reach, end)
    before = {own * (1 - (1 - i / (points - 1)) ** 3) for i in range(points)}
    evenly = {end * i / (points - 1) for i in range(points)}
    return sorted({0.0, own, end} | before | evenly)


def _mark(mechanism: Mechanism, delta: Number | None, epsilon: Number | None) -> list[Row]:
    """The point asked about, with its number rounded up, if the picture shows it."""
    if epsilon is not None:
        found = ask.delta(mechanism, epsilon=epsilon).upper
        words = f"δ ≤ {rounded(found, '.4g', up=True)}"
        point = {"epsilon": near(nonnegative("epsilon", epsilon)), "upper": found, "words": words}
        return [point] if found >= SMALLEST else []
    if delta is None or not SMALLEST <= near(probability("delta", delta)) <= 1:
        return []
    found = ask.epsilon(mechanism, delta=delta).upper
    words = f"ε ≤ {rounded(found, '.4g', up=True)}"
    point = {"epsilon": found, "upper": near(probability("delta", delta)), "words": words}
    return [point] if math.isfinite(found) else []


def tradeoff(*mechanisms: Mechanism | str, fpr: Number | None = None, points: int = 60) -> Figure:
    """The least false-negative rate at each false-positive rate; the dashed line is perfect privacy.

    With ``fpr``, the point at that rate is marked on each curve.
    """
    many(points)
    curves = subjects(mechanisms)
    marks: list[Row] = []
    grid = sorted({0.0, 1.0, *((i / (points - 1)) ** 2 for i in range(points))})  # denser where curves bend
    rows: list[Row] = []
    for name, mechanism in curves.items():
        lower, upper = whole_profile(mechanism).tradeoff([f"{a:.12g}" for a in grid])
        for a, low, high in zip(grid, lower.tolist(), upper.tolist(), strict=True):
            rows.append({"fpr": a, "lower": low, "upper": high, "curve": name})
        if fpr is not None:
            at = tradeoff_at(mechanism, fpr=fpr).lower
            words = f"≥ {rounded(at, '.4g', up=False)}"
            marks.append({"fpr": near(probability("fpr", fpr)), "lower": at, "words": words})
    colour, dash = coloured(list(curves), "mechanism")
    x = axis("fpr", "false-positive rate", domain=[0, 1])
    y = axis("lower", "least false-negative rate", domain=[0, 1])
    ideal = reference_line([{"fpr": 0, "lower": 1}, {"fpr": 1, "lower": 0}], x, y)
    layers = [ideal, band(x, y, colour), line(x, y, colour, dash)] + ([note(marks, x, y)] if marks else [])
    under = relation(curves) + "; grey: perfect privacy" + (f"; marked at rate {fpr}" if fpr is not None else "")
    return picture("Trade-off curve", under, rows, layers)


def many(points: int) -> None:
    """A curve has at least two points."""
    if isinstance(points, bool) or not isinstance(points, int) or not 2 <= points <= 5000:
        raise BadParameter("points", points, "must be a whole number from 2 to 5000")
