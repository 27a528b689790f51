"""Laws of filters, whatever is charged: sums are exact, order does not matter, and nothing is let through that the
accountant refuses."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightrope as tr
from tightrope.budget import costs
from tightrope.budget.spending import root
from tightrope.budget.stating import terms
from tightrope.budget.terms import Terms

F = Fraction
RULES = [
    {"epsilon": 1, "delta": 1e-5},
    {"epsilon": 1, "delta": 1e-5, "leak": 1e-6},
    {"epsilon": 1, "delta": 1e-5, "rule": "gdp"},
    {"epsilon": 1, "delta": 1e-5, "rule": "renyi"},
    {"epsilon": 1, "delta": 1e-5, "rule": "approx"},
    {"epsilon": 1, "delta": 1e-5, "rule": "basic"},
    {"epsilon": 1},
    {"rho": "0.02"},
    {"mu": "0.2"},
    {"pure": 1},
    {"renyi": {4: "0.1", 20: "0.6"}},
]
LEAVES = [
    tr.Laplace(scale=30),
    tr.RandomizedResponse(epsilon="0.05"),
    tr.Pure("1/17"),
    tr.Exponential(epsilon="0.03"),
    tr.DiscreteLaplace(scale=40),
    tr.Gaussian(sigma=40),
    tr.DiscreteGaussian(sigma=50),
    tr.Laplace(scale=10).poisson(0.1),
]


def filled(stated, parts):
    """A filter with as many of the parts, in order, as it lets through."""
    budget, taken = tr.Filter(**stated), []
    for part in parts:
        try:
            if budget.admits(part):
                budget.charge(part)
                taken.append(part)
            else:
                with pytest.raises(tr.BudgetExceeded):
                    budget.charge(part)
        except tr.Unsupported:
            continue
    return budget, taken


def whole(parts):
    result = parts[0]
    for part in parts[1:]:
        result = result + part
    return result


@pytest.mark.parametrize("stated", RULES, ids=str)
@given(parts=st.lists(st.sampled_from(LEAVES), min_size=1, max_size=12))
@settings(max_examples=5)
def test_a_filter_never_admits_what_the_accountant_refuses(stated, parts):
    """What was let through, had it been fixed in advance, costs no more than the budget."""
    _, taken = filled(stated, parts)
    if not taken:
        return
    if "epsilon" in stated:
        assert tr.epsilon(whole(taken), delta=stated.get("delta", 0)).lower <= 1
    elif "rho" in stated:
        assert tr.zcdp(whole(taken)).lower <= 0.02
    elif "mu" in stated:
        assert tr.gdp(whole(taken)).lower <= 0.2
    elif "pure" in stated:
        assert tr.pure(whole(taken)).lower <= 1
    else:
        assert tr.renyi(whole(taken), order=20).lower <= 0.6


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("stated", RULES, ids=str)
@given(parts=st.lists(st.sampled_from(LEAVES), min_size=1, max_size=6), seed=st.randoms())
@settings(max_examples=4)
def test_order_does_not_matter_and_repeating_is_adding(stated, parts, seed):
    one, taken = filled(stated, parts)
    again = list(taken)
    seed.shuffle(again)
    other, _ = filled(stated, again)
    assert one._total == other._total
    together = tr.Filter(**stated)
    for part in dict.fromkeys(taken):
        together.charge(part * taken.count(part))
    for mine, theirs in zip(one._total, together._total, strict=True):
        assert theirs <= mine * (1 + F(1, 10**12))


@pytest.mark.parametrize("stated", RULES, ids=str)
@pytest.mark.parametrize("part", LEAVES[:4], ids=str)
def test_as_many_fit_as_are_let_through(stated, part):
    budget = tr.Filter(**stated)
    n = budget.fits(part)
    assert 0 < n < math.inf
    cost = budget.terms.cost(part)
    assert budget.terms.fits(tuple((n - 1) * c for c in cost), cost)
    assert not budget.terms.fits(tuple(n * c for c in cost), cost)


@pytest.mark.parametrize("stated", [*RULES, {"epsilon": 1, "delta": 1e-5, "rule": "exact"}], ids=str)
def test_terms_are_stored_as_they_are(stated):
    fixed = terms(**stated)
    assert Terms.from_json(fixed.to_json()) == fixed
    assert f"rule {fixed.rule}" in str(fixed)


@given(st.fractions(min_value=0, max_value=10, max_denominator=10**30), st.booleans())
def test_roots_are_on_the_side_asked_for(x, up):
    found = root(x, up)
    assert found**2 >= x if up else found**2 <= x
    assert abs(found**2 - x) <= F(1, 10**15)
    assert root(x**2, up) == x


@given(st.integers(1, 10**6), st.integers(4000, 5000))
def test_huge_denominators_are_rounded_up_a_little(top, bits):
    exact = F(top, (1 << bits) - 1)
    kept = costs.tidy(exact)
    assert exact <= kept <= exact + F(1, 1 << 2048)
    assert kept == exact or kept.denominator.bit_length() <= 2049
    assert costs.read(costs.written((kept, F(0)))) == (kept, 0)


@given(st.floats(min_value=0, max_value=1e308))
def test_decimals_above(x):
    kept = costs.decimal_above(x)
    assert F(x) <= kept <= F(x) * (1 + F(1, 10**15)) + F(1, 10**320)
    assert costs.decimal_above(math.inf) is None


def test_one_million_small_charges_are_exact():
    total, each = F(0), costs.pure_cost(tr.Pure(1e-9))
    for _ in range(10**4):
        total = costs.tidy(total + each)
    assert total == F(1, 10**5)


def test_filters_refuse():
    budget = tr.Filter(rho=1, relation="replace")
    with pytest.raises(tr.RelationMismatch):
        budget.charge(tr.Gaussian(sigma=1).poisson(0.1))
    with pytest.raises(tr.BadParameter):
        budget.charge("gaussian(sigma=1)")
    with pytest.raises(tr.BadParameter):
        tr.Filter(rho=1, relation="none")
    assert "zcdp" in repr(budget)
    assert budget.remaining.upper == 1
    with pytest.raises(tr.Unsupported):
        tr.Odometer(delta=0.1, rho=1).step(tr.Approx(1, 1e-6))
    for wrong in ({"delta": 0, "rho": 1}, {"delta": 0.1, "rho": 0}, {"delta": 0.1, "rho": 1, "slopes": 100}):
        with pytest.raises(tr.BadParameter):
            tr.Odometer(**wrong)
    spent = tr.Odometer(delta=0.1, rho=1)
    assert spent.bound.upper == 0
    assert "ρ = 0" in repr(spent)
