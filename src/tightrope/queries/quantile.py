"""Quantiles by the exponential mechanism over a grid of possible answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Mechanism, Relation
from tightrope.mechanisms.running.values import Values
from tightrope.mechanisms.selection import Exponential
from tightrope.noise.recorder import drawing, source_name
from tightrope.noise.rounded import default_grid
from tightrope.noise.selection import weighted
from tightrope.noise.uniform import whole_below
from tightrope.numerics.exact import Number, near, positive, probability
from tightrope.queries.budgets import Budget, budget, neighbours, root_above
from tightrope.queries.release import Release
from tightrope.queries.sums import as_floats, bounds, numbers

_MOST_POINTS = 1 << 40


def quantile(
    values: Any,
    q: Number,
    lower: Number,
    upper: Number,
    *,
    step: Number | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    mechanism: Mechanism | None = None,
    relation: Relation = "add-remove",
) -> Release:
    """Release a value with about a share ``q`` of the records below it; 0.5 asks for the median.

    The candidates are lower, lower + step, … up to upper. A candidate is less likely the further the number of records
    below it is from q·n (the exponential mechanism). Returns a Release with ``.value`` and ``.claim``, but no interval.
    State one budget: ``epsilon``, ``rho``, or ``mechanism=Exponential(...)``.

    >>> answer = quantile([39, 50, 38, 53], 0.5, lower=0, upper=100, epsilon=1)
    >>> answer.value in range(101), str(answer.mechanism)
    (True, 'exponential(epsilon=1)')
    """
    neighbours(relation)
    m = _selection(budget(epsilon, None, rho, mechanism))
    low, high = bounds(lower, upper)
    level = probability("q", q)
    found = numbers(values)
    whole = found.whole and low.denominator == high.denominator == 1
    width = positive("step", step) if step is not None else Fraction(1) if whole else default_grid(high - low)
    points = int((high - low) / width) + 1
    if points > _MOST_POINTS:
        raise BadParameter("step", step, "makes more than 2**40 candidates", "Use a larger step.")
    sensitivity = max(level, 1 - level) if relation == "add-remove" else Fraction(1)
    rate = m.epsilon / (2 * sensitivity)
    runs, misses = _runs(_cells(found, low, width, points), points, level)
    source = source_name()
    bits = drawing(f"{m}, quantile {level}", 1)
    order = np.argsort(misses, kind="stable")
    best = int(misses[order[0]])
    lengths = np.diff(runs)
    unit = rate / level.denominator
    found_at = weighted(bits, lengths[order].tolist(), lambda i: unit * (int(misses[order[i]]) - best))
    chosen = int(order[found_at])
    place = int(runs[chosen]) + whole_below(bits, int(lengths[chosen]))
    answer = low + place * width
    return Release(int(answer) if answer.denominator == 1 and whole else near(answer), m, relation, None, source)


def _selection(spent: Budget) -> Exponential:
    if spent.mechanism is not None:
        if not isinstance(spent.mechanism, Exponential) or spent.mechanism.monotone:
            hint = "A record moves some ranks up and others down, so monotone=True would not hold."
            raise BadParameter("mechanism", spent.mechanism, "must be Exponential(epsilon)", hint)
        return spent.mechanism
    if spent.rho is not None:  # ε-bounded range is ε²/8-zCDP
        return Exponential(1 / root_above(1 / (8 * spent.rho)))
    assert spent.epsilon is not None
    return Exponential(spent.epsilon)


def _cells(found: Values, low: Fraction, width: Fraction, points: int) -> NDArray[np.int64]:
    """The first candidate above each record, 0 to ``points``. Each record is placed by itself, so float rounding
    may move a record to the next candidate, but not the sensitivity."""
    if near(width) < 1e-300:
        exactly = [((Fraction(x) - low) / width).__floor__() + 1 for x in found.flat.tolist()]
        return np.array([min(max(cell, 0), points) for cell in exactly], np.int64)
    with np.errstate(over="ignore"):
        scaled = (as_floats(found) - near(low)) / near(width)
    cells: NDArray[np.int64] = np.clip(np.floor(scaled) + 1, 0, points).astype(np.int64)
    return cells


def _runs(cells: NDArray[np.int64], points: int, level: Fraction) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Edges of the runs of candidates that see the same number of records below, and |below − q·n| in units of
    1/q's denominator, run by run."""
    places, times = np.unique(cells, return_counts=True)
    edges = np.concatenate([[0], places[(places > 0) & (places < points)], [points]]).astype(np.int64)
    totals = np.concatenate([[0], np.cumsum(times)])
    below = totals[np.searchsorted(places, edges[:-1], side="right")]
    kind: Any = np.int64 if level.denominator * (len(cells) + 1) < 1 << 62 else object
    misses = np.abs(below.astype(kind) * level.denominator - len(cells) * level.numerator)
    return edges, misses
