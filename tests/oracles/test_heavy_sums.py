"""Sums of heavy losses, one by one: all choices are there, or counted as left out."""

import math
from fractions import Fraction
from itertools import product as all_tuples

import numpy as np
import pytest
from grid_cases import atoms, normal

from tightrope.errors import NotCertified
from tightrope.numerics.grid.heavy_sums import NONE, composed, heavy_sums, number_composed, product

F = Fraction
LAW = atoms(["1/100", "7/10", "9/10", "-2"], ["193/200", "1/50", "1/100", "1/200"])


@pytest.mark.parametrize("copies", [1, 2, 4, 9])
def test_heavy_sums_are_all_choices(copies):
    listed = LAW.parted(-0.1, 0.1, 1e-9)
    found, lost = heavy_sums(listed, copies, 4, 1e-30)
    assert lost < 1e-30
    heavy = [(F(7, 10), F(1, 50)), (F(9, 10), F(1, 100)), (F(-2), F(1, 200))]
    for n, sums in enumerate(found):
        truth = {}
        for chosen in all_tuples(heavy, repeat=n):
            key = sum((loss for loss, _ in chosen), F(0))
            truth[key] = truth.get(key, 0) + math.comb(copies, n) * math.prod(p for _, p in chosen)
        got = {}
        for low, high, p_low, p_high in zip(sums.low, sums.high, sums.p_low, sums.p_high, strict=True):
            key = next(loss for loss in truth if low <= loss <= high)
            assert high - low < 1e-14
            before = got.get(key, (0, 0))
            got[key] = (before[0] + F(p_low), before[1] + F(p_high))
        assert got.keys() == truth.keys()
        for key, (p_low, p_high) in got.items():
            assert p_low <= truth[key] <= p_high <= p_low * (1 + F(1, 10**13))
    assert len(found) == min(copies, 4) + 1


@pytest.mark.parametrize("least", [1e-3, 1e-5, 1e-8])
def test_what_is_left_out_is_bounded(least):
    listed = LAW.parted(-0.1, 0.1, 1e-9)
    whole, _ = heavy_sums(listed, 12, 6, 1e-60)
    some, lost = heavy_sums(listed, 12, 6, least)
    missing = sum(float(a.p_high.sum()) - float(b.p_high.sum()) for a, b in zip(whole, some, strict=True))
    assert 0 < missing <= lost < 400 * least
    both, left = product(whole[2], whole[1], least)
    every = float(whole[2].p_high.sum() * whole[1].p_high.sum())
    assert every - float(both.p_high.sum()) <= left * (1 + 1e-9) + 1e-15
    assert product(NONE, whole[2], 1e-60)[0].size == whole[2].size


def test_too_many_are_refused():
    many = atoms([F(k, 7) for k in range(1, 41)], [F(1, 10**4)] * 40)
    listed = many.parted(-0.1, 0.1, 1e-12)
    with pytest.raises(NotCertified):
        heavy_sums(listed, 10**5, 3, 1e-12)
    with pytest.raises(NotCertified):
        heavy_sums(listed, 100, 6, 1e-60)
    sums, _ = heavy_sums(listed, 100, 2, 1e-60)
    with pytest.raises(NotCertified):
        product(sums[2], sums[2], 1e-60)
    with pytest.raises(NotCertified):
        atoms([0, "1/4"], ["9/10", "1/10"]).parted(-0.25, 0.25, 1e-9)
    assert atoms([F(k, 1000) for k in range(700)], [F(1, 700)] * 700).parted(-0.1, 0.1, 1e-9) is None
    assert normal(1).parted(-0.1, 0.1, 1e-9) is None


@pytest.mark.parametrize("copies", [1, 2, 3, 6])
def test_all_steps_composed(copies):
    found, lost = composed(LAW.parted(math.inf, -math.inf, 1e-300), copies, 1e-60)
    assert lost == 0
    listed = [(atom.loss.rational, atom.mass.rational) for atom in LAW.listed]
    truth = {}
    for chosen in all_tuples(listed, repeat=copies):
        key = sum(loss for loss, _ in chosen)
        truth[key] = truth.get(key, 0) + math.prod(p for _, p in chosen)
    assert found.size == len(truth)
    assert number_composed(4, copies) >= len(truth)
    for low, high, p_low, p_high in zip(found.low, found.high, found.p_low, found.p_high, strict=True):
        (mass,) = (p for loss, p in truth.items() if low <= loss <= high)
        assert p_low <= mass <= p_high <= p_low * (1 + 1e-11)


def test_sums_that_meet_are_one():
    """±1/10 and 0: hundreds of choices, few sums."""
    law = atoms(["1/10", 0, "-1/10"], ["3/10", "4/10", "3/10"])
    found, _ = composed(law.parted(math.inf, -math.inf, 1e-300), 20, 1e-60)
    assert found.size == 41
    assert found.p_low.sum() <= 1 <= found.p_high.sum() < 1 + 1e-9
    assert np.all(found.high - found.low < 1e-13)


def test_light_compositions_are_counted():
    listed = LAW.parted(math.inf, -math.inf, 1e-300)
    whole, none = composed(listed, 8, 1e-60)
    some, lost = composed(listed, 8, 1e-6)
    assert none == 0
    assert whole.p_low.sum() - some.p_high.sum() <= lost <= (whole.p_high.sum() - some.p_low.sum()) * (1 + 1e-9)
    with pytest.raises(NotCertified):
        composed(listed, 100, 1e-6)
    with pytest.raises(NotCertified):
        composed(LAW.parted(-9.0, 9.0, 1e-300), 3, 1e-6)


def test_what_is_below_a_floor_counts_there_or_not_at_all():
    found, _ = composed(LAW.parted(math.inf, -math.inf, 1e-300), 3, 1e-60)
    cut = found.above(0.5)
    assert cut.low[-1] == cut.high[-1] == 0.5
    assert cut.p_low[-1] == 0
    below = found.high < 0.5
    assert cut.p_high[-1] >= found.p_high[below].sum()
    assert cut.size == found.size - np.count_nonzero(below) + 1
    assert found.above(-math.inf) is found
    assert found.above(-50.0) is found
