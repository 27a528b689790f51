"""Oracles with teeth for the equalities about shuffled reports and allocated records."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from mpmath import exp, log, mpf
from theorem_checks import F, T, delta_of, equals, one_normal, oracle

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


def mean_of_lognormals(mu, steps, cells=2**17, top=3.5):
    """The law of the mean of t lognormal variables on a fine grid, by a power of its Fourier transform."""
    width = top * steps / cells
    edges = (np.arange(cells) + 0.5) * width
    below = 1 - ndtr_upper((np.log(edges) + mu**2 / 2) / mu)
    masses = np.diff(np.concatenate([[0.0], below]))
    return np.arange(cells) * width / steps, np.fft.irfft(np.fft.rfft(masses) ** steps, cells)


def ndtr_upper(x):
    return np.array([math.erfc(v / math.sqrt(2)) / 2 for v in x])


@oracle("loss_of_allocation")
def sixteen_places_of_a_half_shift():
    """μ = ½ in one of 16 places: both hockey-sticks from the law of the mean density."""
    value, mass = mean_of_lognormals(0.5, 16)
    loss = T["loss_of_allocation"](one_normal(F(1, 4)), 16)
    for x in ("0.1", "0.3"):
        gamma = math.exp(float(x))
        equals(delta_of(loss, x, 0), (mass * np.maximum(value - gamma, 0)).sum(), slack=1e-6)
        equals(delta_of(loss, x, 1), (mass * np.maximum(1 - gamma * value, 0)).sum(), slack=1e-6)
