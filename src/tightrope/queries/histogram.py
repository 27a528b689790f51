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
from tightrope.mechanisms.running.categories import listed, placed, places
from tightrope.mechanisms.running.intervals import deviation
from tightrope.noise.recorder import source_name
from tightrope.numerics.exact import Number, exact, near
from tightrope.queries.budgets import Change, additive, budget, neighbours
from tightrope.queries.release import Release
from tightrope.queries.sums import as_floats, numbers


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
    """Release how many values fall in each category, or between neighbouring edges in ``bins`` (the last bin closed).

    Fix the categories or bins beforehand, without looking at the data; values outside them are not counted.

    Returns a Release: ``.value`` (an array), ``.claim``, ``.interval(0.95)``. State one budget: ``epsilon`` (Laplace
    noise), ``epsilon`` with ``delta`` or ``rho`` (Gaussian noise), or a ``mechanism``.

    >>> answer = histogram(["tea", "tea", "coffee"], categories=["tea", "coffee"], epsilon=0.5)
    >>> answer.value.shape, str(answer.mechanism)
    ((2,), 'discrete_laplace(scale=2)')
    """
    neighbours(relation)
    spent = budget(epsilon, delta, rho, mechanism)
    if (categories is None) == (bins is None):
        raise BadParameter("categories", categories, "give either categories or bins")
    counts = _by_category(values, categories) if bins is None else _by_bin(values, bins)
    m = additive(spent, Change(Fraction(1), 1 if relation == "add-remove" else 2, whole=True))
    source = source_name()
    released = m.release(counts)

    def ends(confidence: Number) -> tuple[Any, Any]:
        half = m.interval(confidence)
        return released - half, released + half

    return Release(released, m, relation, deviation(m), source, ends)


def _by_category(values: Any, categories: Any) -> NDArray[np.int64]:
    among = places("categories", categories)
    counts = np.zeros(len(among), np.int64)
    seen = _tallied(values)
    for place, times in zip(placed("values", list(seen), among), seen.values(), strict=True):
        if place is not None:
            counts[place] += times
    return counts


def _tallied(values: Any) -> dict[Any, int]:
    """How often each different value occurs."""
    if isinstance(values, str):
        raise BadParameter("values", "…", "must be a list, one entry for each record")
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuU" and values.ndim == 1:
        found, times = np.unique(values, return_counts=True)
        return dict(zip(found.tolist(), times.tolist(), strict=True))
    try:
        return Counter(listed("values", values))
    except TypeError:
        raise BadParameter("values", "…", "must be hashable, like the categories") from None


def _by_bin(values: Any, bins: Sequence[Number]) -> NDArray[np.int64]:
    edges = [exact(f"bins[{i}]", b) for i, b in enumerate(listed("bins", bins))]
    if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)):
        raise BadParameter("bins", bins, "must be at least two increasing edges")
    found = numbers(values)
    # Each record is placed by itself, so rounding here can move a record at an edge but not the sensitivity.
    counts, _ = np.histogram(as_floats(found), bins=[near(e) for e in edges])
    return counts.astype(np.int64)
