"""Coins, whole numbers and choices by all bit strings to a depth: each outcome has its chance."""

from fractions import Fraction
from itertools import permutations

import mpmath as mp
import numpy as np
import pytest
from enumerated import chances

from tightrope.noise import selection, uniform
from tightrope.noise.rehearsal import Seeded
from tightrope.noise.uniform import coin, decaying_coin, whole_below, wholes_below

F = Fraction


def as_mpf(x):
    return mp.mpf(x.numerator) / x.denominator


@pytest.fixture
def short_steps(monkeypatch):
    monkeypatch.setattr(uniform, "STEP", 4)


@pytest.mark.parametrize("p", [F(1, 3), F(1, 2), F(5, 7), F(0), F(1), F(1, 1000)])
@pytest.mark.usefixtures("short_steps")
def test_coins_by_all_strings(p):
    found, undecided = chances(lambda source: coin(source, p), 20)
    assert undecided <= F(1, 2**20)
    assert found.get(True, 0) <= p <= found.get(True, 0) + undecided
    assert found.get(False, 0) <= 1 - p <= found.get(False, 0) + undecided


@pytest.mark.parametrize("g", [F(1, 2), F(1), F(3), F(1, 100), F(12)])
@pytest.mark.usefixtures("short_steps")
def test_decaying_coins_by_all_strings(g):
    found, undecided = chances(lambda source: decaying_coin(source, g), 20)
    truth = mp.exp(-as_mpf(g))
    assert undecided <= F(1, 2**20)
    assert as_mpf(found.get(True, F(0))) <= truth <= as_mpf(found.get(True, F(0)) + undecided)
    assert chances(lambda source: decaying_coin(source, F(0)), 0) == ({True: 1}, 0)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 11])
def test_whole_numbers_by_all_strings(n):
    found, undecided = chances(lambda source: whole_below(source, n), 18)
    assert set(found) == set(range(n))
    assert len(set(found.values())) == 1
    assert sum(found.values()) + undecided == 1
    assert undecided < F(1, 20)


def test_whole_numbers_in_arrays_are_uniform():
    drawn = wholes_below(Seeded(3), 60_000, 6)
    counts = np.bincount(drawn, minlength=6)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 45
    assert len(wholes_below(Seeded(3), 0, 6)) == 0


@pytest.mark.parametrize("scores", [[0, 1], [3, 3, 1], [5, 0, 0, 4]])
@pytest.mark.usefixtures("short_steps")
def test_exponential_mechanism_by_all_strings(scores):
    found, undecided = chances(lambda source: selection.exponential(source, [F(s) for s in scores], F(1, 2)), 14)
    weights = [mp.exp(mp.mpf(s) / 2) for s in scores]
    for i, w in enumerate(weights):
        truth = w / mp.fsum(weights)
        assert as_mpf(found[i]) <= truth <= as_mpf(found[i] + undecided)
    assert undecided < F(1, 100)


def flips_of(scores, rate):
    """Permute-and-flip by all orders."""
    truth, best = [mp.mpf(0)] * len(scores), max(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = mp.mpf(1) / len(orders)
        for i in order:
            chance = mp.exp(-rate * (best - scores[i]))
            truth[i] += left * chance
            left *= 1 - chance
    return truth


@pytest.mark.parametrize("scores", [[0, 1], [2, 0, 1], [1, 1, 0]])
def test_permute_and_flip_by_all_strings(scores, monkeypatch):
    monkeypatch.setattr(uniform, "STEP", 3)
    found, undecided = chances(lambda source: selection.permute_and_flip(source, [F(s) for s in scores], F(1, 2)), 15)
    assert undecided < F(1, 10)
    for i, truth in enumerate(flips_of(scores, mp.mpf(1) / 2)):
        assert as_mpf(found[i]) <= truth <= as_mpf(found[i] + undecided)


def test_weights_far_down_are_only_bounded_until_they_are_needed():
    """U in the last of many weights: all are looked at in the end."""
    counts = [1] * 3000

    class Top(Seeded):
        def bits(self, count):
            return (1 << count) - 1

    class Middle(Seeded):
        def bits(self, count):
            return 1 << (count - 1)

    assert selection.weighted(Top(1), counts, lambda _: F(0)) == 2999
    assert selection.weighted(Middle(1), counts, lambda _: F(0)) == 1500
    assert selection.weighted(Middle(1), counts, lambda i: F(i, 10)) == 6
