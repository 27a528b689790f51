"""The noise a target needs: against ε, and against the number of queries by each way of accounting."""

from __future__ import annotations

import math
from functools import cache

from tightrope.accounting.ask import epsilon as epsilon_of
from tightrope.accounting.calibrate import calibrate
from tightrope.accounting.compare import compare
from tightrope.accounting.text import parse
from tightrope.errors import BadParameter, NotCertified, TightropeError
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.exact import Number, near, positive
from tightrope.numerics.exact import count as counted
from tightrope.plotting.against_steps import WORDS, counts
from tightrope.plotting.attacker import many
from tightrope.plotting.figure import Figure
from tightrope.plotting.layers import Row, axis, coloured, line, picture
from tightrope.plotting.subjects import parameter, relation, shortened, template

BEST = "the best of all, certified"
OTHERS = ("basic", "advanced", "zcdp-classic", "rdp")


def calibration(mechanism: str, *, delta: Number = "1e-5", points: int = 20) -> Figure:
    """The parameter a target ε needs, for ε from 0.1 to 10; ``mechanism`` is text, its ``?`` (or noise) varies."""
    many(points)
    asked = template(mechanism)
    rows: list[Row] = []
    for i in range(points):
        target = f"{0.1 * 100 ** (i / (points - 1)):.4g}"
        try:
            rows.append({"epsilon": float(target), "value": float(calibrate(asked, epsilon=target, delta=delta))})
        except (BadParameter, NotCertified):
            continue  # out of reach at this ε
    if not rows:
        raise TightropeError(f"No value of {parameter(asked)} in {asked} reaches any ε from 0.1 to 10 at δ = {delta}.")
    for row in rows:
        row["curve"] = asked
    colour, dash = coloured([asked], "mechanism")
    x, y = axis("epsilon", "ε", log=True), axis("value", f"{parameter(asked)} needed", log=True)
    one = parse(asked.replace("?", str(max(1, round(rows[-1]["value"])))))
    under = f"{shortened(asked)}; δ = {delta}; {relation({'': one})}"
    return picture(f"{parameter(asked)} against ε", under, rows, [line(x, y, colour, dash, points=True)])


def noise(
    mechanism: str, *, epsilon: Number | None = None, delta: Number = "1e-5", most: int = 500, points: int = 7
) -> Figure:
    """The noise that keeps ε where it is as queries multiply, by each way of accounting.

    ``epsilon`` defaults to the ε of one query as given. Every point meets the target; those of the other routes are
    found to within 3 %, on the safe side.
    """
    many(points)
    asked = template(mechanism)
    if epsilon is None and "?" in mechanism:
        raise BadParameter("epsilon", None, "is needed when the mechanism has a ?", hint="Say which ε is to be kept.")
    target = epsilon_of(parse(mechanism), delta=delta).upper if epsilon is None else near(positive("epsilon", epsilon))
    if not math.isfinite(target):
        raise BadParameter("epsilon", target, "must be finite", hint="Say which ε is to be kept.")
    rows: list[Row] = []
    for n in counts(counted("most", most, least=2), points):
        text = f"({asked}) * {n}"
        best = float(calibrate(text, epsilon=repr(target), delta=delta))
        rows.append({"steps": n, "value": best, "curve": BEST})
        rows += [
            {"steps": n, "value": value, "curve": WORDS[route]}
            for route, value in _by_routes(text, best, target, delta).items()
        ]
    names = list(dict.fromkeys(str(r["curve"]) for r in sorted(rows, key=lambda r: -float(r["value"]))))
    colour, dash = coloured(names, "accounted by")
    x, y = axis("steps", "queries", log=True), axis("value", f"{parameter(asked)} needed", log=True)
    under = f"{shortened(asked)}; ε = {target:.4g}, δ = {delta}; {relation({'': parse(asked.replace('?', '1'))})}"
    return picture("Noise needed against the number of queries", under, rows, [line(x, y, colour, dash)])


def _by_routes(text: str, best: float, target: float, delta: Number) -> dict[str, float]:
    """The parameter at which each other route meets the target, if it does within a factor of 64 of the best."""

    @cache
    def rows(value: float) -> dict[str, float]:
        made: Mechanism = parse(text.replace("?", f"{value:.9g}"))
        return {row.route: row.value for row in compare(made, delta=delta).rows}

    def meets(route: str, value: float) -> bool:
        return rows(value).get(route, math.inf) <= target

    found = {}
    for route in OTHERS:
        low, high = 0.0, 6.0  # powers of two above the best
        if not meets(route, best * 2**high):
            continue
        for _ in range(7):
            middle = (low + high) / 2
            low, high = (low, middle) if meets(route, best * 2**middle) else (middle, high)
        found[route] = best * 2**high
    return found
