"""Counts, sums and means."""

from __future__ import annotations

import builtins
from fractions import Fraction
from math import hypot, inf
from typing import Any

import numpy as np

from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Mechanism, Relation
from tightrope.mechanisms.running.intervals import deviation
from tightrope.noise.recorder import source_name
from tightrope.numerics.exact import Number, exact, near, probability
from tightrope.queries.budgets import Budget, Change, additive, budget, neighbours
from tightrope.queries.release import Release, around
from tightrope.queries.sums import bounds, clamped_sum, numbers

Budgeted = Number | None


def count(
    values: Any,
    *,
    epsilon: Budgeted = None,
    delta: Budgeted = None,
    rho: Budgeted = None,
    mechanism: Mechanism | None = None,
    relation: Relation = "add-remove",
) -> Release:
    """Release how many records there are; if they are truth values, how many are True.

    Returns a Release: ``.value``, ``.claim``, ``.interval(0.95)``. State one budget: ``epsilon`` (Laplace noise),
    ``epsilon`` with ``delta`` or ``rho`` (Gaussian noise), or a ``mechanism``.

    >>> answer = count([True, False, True], epsilon=0.5)
    >>> print(answer.mechanism, answer.claim)
    discrete_laplace(scale=2) ε ∈ [0.5, 0.5] (tight)
    """
    neighbours(relation)
    spent = budget(epsilon, delta, rho, mechanism)
    return noisy(_counted(values), spent, Change(Fraction(1), whole=True), relation)


def _counted(values: Any) -> int:
    if not hasattr(values, "__len__") or isinstance(values, str | bytes) or getattr(values, "shape", (0,)) == ():
        raise BadParameter("values", "…", "must be a list or an array, one entry for each record")
    if isinstance(values, list | tuple) and any(isinstance(v, bool) for v in values):
        if not all(isinstance(v, bool | np.bool_) for v in values):
            raise BadParameter("values", "…", "must not mix truth values with others")
        return builtins.sum(bool(v) for v in values)
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    return int(np.count_nonzero(np.asarray(values))) if kind == "b" else len(values)


def noisy(exactly: int | Fraction, spent: Budget, change: Change, relation: Relation) -> Release:
    """A number with the noise that spends the budget."""
    m = additive(spent, change)
    source = source_name()
    value = m.release(exactly)
    released = value if isinstance(value, int) else near(Fraction(value))
    return Release(released, m, relation, deviation(m), source, lambda level: around(released, m.interval(level)))


def sum(
    values: Any,
    lower: Number,
    upper: Number,
    *,
    epsilon: Budgeted = None,
    delta: Budgeted = None,
    rho: Budgeted = None,
    mechanism: Mechanism | None = None,
    relation: Relation = "add-remove",
) -> Release:
    """Release the sum of the values, each clamped to [lower, upper] first. The sum is exact before the noise is added.

    Returns a Release: ``.value``, ``.claim``, ``.interval(0.95)``. State one budget: ``epsilon`` (Laplace noise),
    ``epsilon`` with ``delta`` or ``rho`` (Gaussian noise), or a ``mechanism``.

    >>> answer = sum([39, 50, 38, 53], lower=0, upper=100, epsilon=0.5)
    >>> print(answer.mechanism, answer.claim)
    discrete_laplace(scale=200, sensitivity=100) ε ∈ [0.5, 0.5] (tight)
    """
    neighbours(relation)
    spent = budget(epsilon, delta, rho, mechanism)
    low, high = bounds(lower, upper)
    found = numbers(values)
    each = max(abs(low), abs(high)) if relation == "add-remove" else high - low
    whole = found.whole and low.denominator == high.denominator == 1
    total = clamped_sum(found, low, high)
    return noisy(int(total) if whole else total, spent, Change(each, whole=whole), relation)


def mean(
    values: Any,
    lower: Number,
    upper: Number,
    *,
    epsilon: Budgeted = None,
    rho: Budgeted = None,
    relation: Relation = "add-remove",
    count_share: Number = Fraction(1, 2),
) -> Release:
    """Release the mean of the values, each clamped to [lower, upper] first.

    Under "replace" the number of records is public and only the sum is noisy. Under "add-remove" a share of the
    budget (``count_share``) goes to a noisy count, the rest to the sum around the middle of the bounds.

    Returns a Release: ``.value``, ``.claim``, ``.interval(0.95)``. State one budget: ``epsilon`` (Laplace noise) or
    ``rho`` (Gaussian noise).

    >>> answer = mean([39, 50, 38, 53], lower=0, upper=100, epsilon=1)
    >>> print(answer.mechanism, answer.claim)
    discrete_laplace(scale=2) + laplace(scale=100, sensitivity=50) ε ∈ [1.0, 1.0] (tight)
    """
    neighbours(relation)
    spent = budget(epsilon, None, rho, None)
    low, high = bounds(lower, upper)
    found = numbers(values)
    n, total, middle = len(found.flat), clamped_sum(found, low, high), (low + high) / 2
    if relation == "replace":
        return _mean_of(n, total, spent, high - low)
    share = probability("count_share", count_share)
    if share in (0, 1):
        raise BadParameter("count_share", count_share, "must lie strictly between 0 and 1")
    size = noisy(n, spent.part(share), Change(Fraction(1), whole=True), relation)
    centred = noisy(total - n * middle, spent.part(1 - share), Change((high - low) / 2), relation)
    return _ratio(size, centred, (low, middle, high))


def _mean_of(n: int, total: Fraction, spent: Budget, width: Fraction) -> Release:
    if n == 0:
        raise BadParameter("values", "…", "must not be empty: the mean of nothing is not a number")
    summed = noisy(total, spent, Change(width), "replace")

    def ends(confidence: Number) -> tuple[float, float]:
        least, most = summed.interval(confidence)
        return least / n, most / n

    std = None if summed.std is None else summed.std / n
    return Release(summed.value / n, summed.mechanism, "replace", std, summed.source, ends)


def _ratio(size: Release, total: Release, levels: tuple[Fraction, Fraction, Fraction]) -> Release:
    """middle + sum/count, which lies in the bounds; its interval covers both errors at half the doubt each."""
    low, middle, high = (near(x) for x in levels)

    def ends(confidence: Number) -> tuple[float, float]:
        both = (1 + exact("confidence", confidence)) / 2
        (fewest, most), (least, largest) = size.interval(both), total.interval(both)
        if fewest < 1:
            return low, high
        corners = [s / c for s in (least, largest) for c in (fewest, most)]
        return max(low, middle + min(corners)), min(high, middle + max(corners))

    n = near(Fraction(max(size.value, 1)))
    off = total.value / n
    assert size.std is not None
    assert total.std is not None
    std = hypot(total.std, off * size.std) / n if size.value >= 1 else inf
    value = min(max(middle + off, low), high)
    return Release(value, size.mechanism + total.mechanism, "add-remove", std, size.source, ends)
