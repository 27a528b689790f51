"""The worst adaptive adversary against a filter, by dynamic programming over what it may run and what it has seen."""

from __future__ import annotations

import math
from functools import cache

import tightrope as tr


def worst_delta(admits, sizes, unit, epsilon, steps=40):
    """The largest E[(1 − e^{ε−L})₊] that adaptively chosen randomized responses of these sizes (in units) can reach.

    ``admits(counts)`` says whether the filter lets this many of each size through. The loss L under P moves up by the
    step's ε with chance e^ε/(1 + e^ε), else down; the adversary sees it and chooses the next step, or stops.
    """

    @cache
    def value(loss, counts):
        best = max(0.0, 1 - math.exp(epsilon - loss * unit))
        if sum(counts) >= steps:
            return best
        for k, size in enumerate(sizes):
            more = (*counts[:k], counts[k] + 1, *counts[k + 1 :])
            if admits(more):
                up = 1 / (1 + math.exp(-size * unit))
                best = max(best, up * value(loss + size, more) + (1 - up) * value(loss - size, more))
        return best

    return value(0, (0,) * len(sizes))


def admitted_by(budget, sizes, unit, stretch=1):
    """Whether a filter's terms admit counts of these randomized responses, with limits stretched for tests."""
    costs = [budget.terms.cost(tr.RandomizedResponse(epsilon=size * unit)) for size in sizes]
    limits = [stretch * limit for limit in budget.terms.limits]

    @cache
    def admits(counts):
        spent = [sum(n * c[u] for n, c in zip(counts, costs, strict=True)) for u in range(len(limits))]
        within = [s <= limit for s, limit in zip(spent, limits, strict=True)]
        return any(within) if budget.terms.any_unit else all(within)

    return admits


def crossing_chance(level, sizes, unit, steps):
    """The largest chance that the loss of adaptively chosen randomized responses ever exceeds ``level(counts)``."""

    @cache
    def value(loss, counts):
        if sum(counts) and loss * unit > level(counts):
            return 1.0
        if sum(counts) >= steps:
            return 0.0
        best = 0.0
        for k, size in enumerate(sizes):
            more = (*counts[:k], counts[k] + 1, *counts[k + 1 :])
            up = 1 / (1 + math.exp(-size * unit))
            best = max(best, up * value(loss + size, more) + (1 - up) * value(loss - size, more))
        return best

    return value(0, (0,) * len(sizes))
