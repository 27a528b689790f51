"""Oracles with teeth for the equalities about shuffled reports and allocated records."""

from __future__ import annotations

from itertools import product

from mpmath import exp, log, mpf
from theorem_checks import F, T, equals, oracle

from tightrope.curves.pure import Pure
from tightrope.numerics.real import real


def largest_loss(first, second):
    return max(abs(log(first[y] / second[y])) for y in first)


@oracle("shuffling_keeps_pure")
def shuffled_reports_of_three_users():
    """All histograms of three binary responses, for every datum of the other two."""
    stay = exp(mpf(1)) / (1 + exp(mpf(1)))

    def histogram(data):
        law = {}
        for reports in product((0, 1), repeat=3):
            chance = mpf(1)
            for report, datum in zip(reports, data, strict=True):
                chance *= stay if report == datum else 1 - stay
            law[sum(reports)] = law.get(sum(reports), mpf(0)) + chance
        return law

    others = list(product((0, 1), repeat=2))
    worst = max(largest_loss(histogram((0, *rest)), histogram((1, *rest))) for rest in others)
    equals(T["shuffling_keeps_pure"](Pure(real(F(1)))).epsilon, worst)


@oracle("allocation_keeps_pure")
def two_runs_of_a_response():
    """The record is in the first or the second of two binary responses; without it both answer the other way."""
    stay = exp(mpf(1)) / (1 + exp(mpf(1)))
    chance = {1: stay, 0: 1 - stay}
    answers = list(product((0, 1), repeat=2))
    absent = {(a, b): chance[1 - a] * chance[1 - b] for a, b in answers}
    present = {(a, b): (chance[a] * chance[1 - b] + chance[1 - a] * chance[b]) / 2 for a, b in answers}
    equals(T["allocation_keeps_pure"](Pure(real(F(1)))).epsilon, largest_loss(present, absent))
