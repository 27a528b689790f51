"""Filters and odometers against the worst adaptive adversary, printed numbers, and rules that are known to be false."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import pytest
from adversaries import admitted_by, crossing_chance, worst_delta
from mpmath import mp, mpf

import tightrope as tr
from tightrope.budget.filters import (
    basic_filter,
    concentrated_filter,
    gaussian_filter,
    pure_filter,
    renyi_filter,
    squares_filter,
)
from tightrope.budget.limits import largest_divergence, largest_rho, largest_squares
from tightrope.budget.odometer import time_uniform
from tightrope.numerics.balls import sharp

F = Fraction
SIZES, UNIT = (1, 2, 4), F(1, 5)
RULES = {
    "zcdp": {"epsilon": 1, "delta": "0.05"},
    "gdp": {"epsilon": 1, "delta": "0.05", "rule": "gdp"},
    "renyi": {"epsilon": 1, "delta": "0.05", "rule": "renyi", "orders": [2, 3, 5, 9, 17]},
    "one order": {"epsilon": 1, "delta": "0.05", "rule": "renyi", "orders": [6]},
    "approx": {"epsilon": 1, "delta": "0.05", "rule": "approx", "leak": 0},
    "rho": {"rho": "0.3"},
    "mu": {"mu": "0.8"},
    "curve": {"renyi": {2: "0.5", 8: "1.5"}},
}


def promised(budget):
    """The (ε, δ) the filter's guarantee implies, at ε = 1."""
    stated = dict(budget.terms.stated)
    if "delta" in stated:
        return float(F(stated["delta"]))
    if "rho" in stated:
        return tr.delta(tr.ZCDP(stated["rho"]), epsilon=1).upper
    if "mu" in stated:
        return tr.delta(tr.GDP(stated["mu"]), epsilon=1).upper
    return tr.delta(tr.RDP({2: "0.5", 8: "1.5"}), epsilon=1).upper


@pytest.mark.parametrize("name", RULES)
def test_no_adaptive_adversary_exceeds_a_filter(name):
    budget = tr.Filter(**RULES[name])
    sizes, unit, steps = ((2, 3), F(1, 20), 30) if name == "approx" else (SIZES, UNIT, 14)
    reached = worst_delta(admitted_by(budget, sizes, unit), sizes, float(unit), 1.0, steps)
    assert 0 < reached <= promised(budget)


@pytest.mark.parametrize("name", ["zcdp", "gdp", "renyi", "rho", "mu"])
def test_the_adversary_has_teeth(name):
    """It reaches more than is promised as soon as the limits are stretched enough, so it is no straw man."""
    budget = tr.Filter(**RULES[name])
    stretched = admitted_by(budget, SIZES, UNIT, stretch=F(7, 2))
    assert worst_delta(stretched, SIZES, float(UNIT), 1.0, steps=18) > promised(budget)


def test_the_basic_filter_lets_nothing_through():
    budget = tr.Filter(pure=1)
    assert worst_delta(admitted_by(budget, SIZES, UNIT), SIZES, float(UNIT), 1.0) <= 1e-15
    assert worst_delta(admitted_by(budget, SIZES, UNIT, F(7, 5)), SIZES, float(UNIT), 1.0) > 0.07


def composed_delta(counts, sizes, unit, epsilon):
    """δ(ε) of the optimal composition of randomized responses, exactly by their joint law."""
    law = {0: 1.0}
    for n, size in zip(counts, sizes, strict=True):
        up = 1 / (1 + math.exp(-size * unit))
        for _ in range(n):
            spread = {}
            for loss, p in law.items():
                spread[loss + size] = spread.get(loss + size, 0.0) + p * up
                spread[loss - size] = spread.get(loss - size, 0.0) + p * (1 - up)
            law = spread
    return sum(p * max(0.0, 1 - math.exp(epsilon - loss * unit)) for loss, p in law.items())


def test_exact_composition_is_no_filter_and_is_refused():
    """Continue while the optimal composition of what was used has δ(1) ≤ 0.05: an adversary reaches 0.07."""
    admits = cache(lambda counts: composed_delta(counts, SIZES, 0.2, 1.0) <= 0.05)
    assert worst_delta(admits, SIZES, 0.2, 1.0, steps=8) == pytest.approx(0.0703, abs=5e-5)
    budget = tr.Filter(epsilon=1, delta="0.05", rule="exact")
    with pytest.raises(tr.Unsupported, match="adaptive adversary"):
        budget.charge(tr.RandomizedResponse(epsilon="0.2"))


def test_one_order_of_several_without_splitting_is_false_and_not_what_is_done():
    """The counter-example: orders 4 and 64 with their full budgets, one of which must be left, spend 0.0135 > 0.01."""
    full = {a: largest_divergence(F(2), F(1, 100), F(a)) for a in (4, 64)}
    assert float(full[4]) == pytest.approx(1.21472346416238)
    assert float(full[64]) == pytest.approx(2.00866443470420)
    first, plus, minus = mpf("0.05"), ("0.8777524896674913", "0.12224750945782965"), (
        "0.03319864281638142",
        "0.003207761049396486",
    )
    up = mp.exp(first) / (1 + mp.exp(first))
    reached = mpf(0)
    for chance, loss, (p, q) in ((up, first, plus), (1 - up, -first, minus)):
        for a, b in ((mpf(p), mpf(q)), (1 - mpf(p), 1 - mpf(q))):
            reached += chance * a * max(0, 1 - mp.exp(2 - loss - mp.log(a / b)))
    assert float(reached) == pytest.approx(0.0135, abs=5e-5)
    budget = tr.Filter(epsilon=2, delta="0.01", rule="renyi", orders=[4, 64])
    assert all(mine < full[int(a)] for a, mine in zip(budget.terms.orders, budget.terms.limits, strict=True))
    budget.charge(tr.RandomizedResponse(epsilon="0.05"))
    assert not budget.admits(tr.Table(p=[plus[0], 1 - F(plus[0])], q=[plus[1], 1 - F(plus[1])]))


def test_printed_numbers():
    # Whitehouse et al. Thm 2: twenty steps of ε = 0.1 at δ′ = 1e-6.
    squares = F(20, 100)
    value = squares / 2 + F(mp.nstr(mp.sqrt(2 * mp.log(10**6) * mpf("0.2")), 30))
    assert float(value) == pytest.approx(2.45078800047679961810, rel=1e-15)
    assert largest_squares(value, F(1, 10**6)) == pytest.approx(squares, rel=1e-14)
    assert largest_squares(value, F(1, 10**6)) <= squares * (1 + F(1, 10**25))
    # The odometer with its slope tuned at V = 1/4 and δ = 1e-6, read at V = 1/10.
    read = sharp(lambda: time_uniform(F(1, 10), F(1, 4), F(1, 10**6)))
    assert float(read.mid()) == pytest.approx(2.70184553219488691290, rel=1e-15)
    spent = tr.Odometer(delta="1e-6", rho="1/4", slopes=1)
    spent.step(tr.ZCDP("0.1"))
    assert spent.bound.lower <= 2.70184553219488691290 <= spent.bound.upper


def test_the_odometer_is_rarely_crossed():
    sizes, unit = (1, 3), 0.25
    costs = [tr.zcdp(tr.RandomizedResponse(epsilon=F(s, 4))).upper for s in sizes]

    @cache
    def level(counts):
        spent = tr.Odometer(delta="0.05", rho="0.5", slopes=3)
        for n, size in zip(counts, sizes, strict=True):
            for _ in range(n):
                spent.step(tr.RandomizedResponse(epsilon=F(size, 4)))
        assert float(spent.rho) >= sum(n * c for n, c in zip(counts, costs, strict=True)) * (1 - 1e-12)
        return spent.bound.upper

    crossed = crossing_chance(level, sizes, unit, steps=12)
    assert 0 < crossed <= 0.05
    assert crossing_chance(lambda counts: level(counts) / 2, sizes, unit, steps=12) > 0.05


def test_limits_are_the_largest_that_keep_the_promise():
    rho = largest_rho(F(1), F(1, 10**6), F(0))
    assert tr.epsilon(tr.ZCDP(rho), delta=1e-6).upper <= 1
    assert tr.epsilon(tr.ZCDP(rho * F(100001, 100000)), delta=1e-6).upper > 1
    for order in (2, 5, 40):
        limit = largest_divergence(F(2), F(1, 100), F(order))
        with mp.workdps(40):
            lam = mpf(order - 1)
            log = lam * (mpf(limit.numerator) / limit.denominator - 2)
            delta = mp.exp(log) * lam**lam / (1 + lam) ** (1 + lam)
        assert mpf("0.01") * (1 - mpf(10) ** -12) <= delta <= mpf("0.01") if limit else delta >= mpf("0.01")


def test_the_stated_conclusions():
    assert pure_filter(F(1, 3)).epsilon.rational == F(1, 3)
    assert basic_filter(F(1, 3), F(1, 9)).delta.rational == F(1, 9)
    assert concentrated_filter(F(1, 3), F(1, 9)).rho.rational == F(1, 3)
    assert gaussian_filter(F(4)).mu_squared.rational == 4
    assert squares_filter(F(1, 5), F(1, 9)).rho.rational == F(1, 10)
    assert renyi_filter({F(2): F(1, 3)}).values == (F(1, 3),)
