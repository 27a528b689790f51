"""Counts by category or by interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Mechanism, Relation
from tightrope.mechanisms.running.intervals import deviation
from tightrope.noise.recorder import source_name
from tightrope.numerics.exact import Number, exact
from tightrope.queries.budgets import Change, additive, budget, neighbours
from tightrope.queries.release import Release
from tightrope.queries.sums import numbers


def histogram(
    values: Any,
    categories: Sequence[Any] | None = None,
    *,
    bins: Sequence[Number] | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    mechanism: Mechanism | None = None,
    relation: Relation = "add-remove",
) -> Release:
    """How many values fall in each category, or between each two neighbouring ``bins`` (the last one closed).

    Categories and bins are fixed beforehand, without a look at the data; values outside of them are not counted.
    """
    neighbours(relation)
    spent = budget(epsilon, delta, rho, mechanism)
    if (categories is None) == (bins is None):
        raise BadParameter("categories", categories, "give either categories or bins")
    counts = _by_category(values, list(categories or [])) if bins is None else _by_bin(values, bins)
    m = additive(spent, Change(Fraction(1), 1 if relation == "add-remove" else 2, whole=True))
    source = source_name()
    released = m.release(counts)

    def ends(confidence: Number) -> tuple[Any, Any]:
        half = m.interval(confidence)
        return released - half, released + half

    return Release(released, m, relation, deviation(m), source, ends)


def _by_category(values: Any, categories: list[Any]) -> NDArray[np.int64]:
    places = {category: i for i, category in enumerate(categories)}
    if not categories or len(places) != len(categories):
        raise BadParameter("categories", categories, "must be different and at least one")
    counts = np.zeros(len(categories), np.int64)
    if not hasattr(values, "__iter__") or isinstance(values, str | bytes):
        raise BadParameter("values", "…", "must be a list or an array, one entry for each record")
    for value, times in _tallied(values):
        place = places.get(value)
        if place is not None:
            counts[place] += times
    return counts


def _tallied(values: Any) -> list[tuple[Any, int]]:
    """Each different value with how often it occurs."""
    if hasattr(values, "__array__"):
        array = np.asarray(values).reshape(-1)
        if array.dtype.kind in "biuU":
            found, times = np.unique(array, return_counts=True)
            return list(zip(found.tolist(), times.tolist(), strict=True))
        values = array.tolist()
    try:
        return list(Counter(values).items())
    except TypeError:
        raise BadParameter("values", "…", "must be hashable, like the categories") from None


def _by_bin(values: Any, bins: Sequence[Number]) -> NDArray[np.int64]:
    edges = [exact(f"bins[{i}]", b) for i, b in enumerate(bins)]
    if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)):
        raise BadParameter("bins", bins, "must be at least two increasing edges")
    found = numbers(values)
    # Each record is placed by itself, so rounding here can move a record at an edge but not the sensitivity.
    counts, _ = np.histogram(found.flat.astype(np.float64), bins=[float(e) for e in edges])
    return counts.astype(np.int64)
