"""A calibrated value keeps the budget, and one just past it does not."""

from fractions import Fraction

import pytest

import tightrope as tr

NEAR = Fraction(1, 500_000)

NOISE = [
    (tr.Gaussian, {"epsilon": 1, "delta": 1e-5}),
    (tr.Gaussian, {"epsilon": "0.01", "delta": "1e-12"}),
    (lambda s: tr.Gaussian(s) * 100 + tr.RandomizedResponse("0.1") * 3, {"epsilon": 2, "delta": 1e-6}),
    (tr.Gaussian, {"rho": "0.125"}),
    (tr.Gaussian, {"mu": "1/3"}),
    (tr.Laplace, {"epsilon": "0.7"}),
    (tr.Laplace, {"epsilon": 1, "delta": 1e-3}),
    (tr.Laplace, {"rho": "0.2"}),
    (lambda s: tr.DiscreteLaplace(s, 2), {"epsilon": "0.5"}),
    (lambda s: tr.Laplace(s) * 5, {"epsilon": 1, "delta": 1e-6}),
]

COST = [
    (tr.Pure, {"epsilon": 1}),
    (lambda e: tr.Approx(e, "1e-9") * 20, {"epsilon": 1, "delta": 1e-6}),
    (lambda e: tr.RandomizedResponse(e, k=4) * 10, {"epsilon": 2, "delta": 1e-5}),
    (tr.ZCDP, {"epsilon": 1, "delta": 1e-6}),
    (lambda q: tr.Gaussian(1).poisson(q), {"epsilon": "0.5", "delta": 1e-6}),
    (lambda q: tr.RandomizedResponse(2).poisson(q) * 4, {"epsilon": 1, "delta": 1e-6}),
]


def cost(m, target):
    if "rho" in target:
        return tr.zcdp(m), Fraction(str(target["rho"]))
    if "mu" in target:
        return tr.gdp(m), Fraction(str(target["mu"]))
    return tr.epsilon(m, delta=target.get("delta", 0)), Fraction(str(target["epsilon"]))


@pytest.mark.parametrize(("make", "target"), NOISE)
def test_the_least_noise(make, target):
    found = tr.calibrate(make, **target)
    claim, budget = cost(make(found.exact), target)
    assert Fraction(claim.upper) <= budget
    assert claim.bound == found.claim.bound
    assert float(found) == found.value == float(found.exact)
    assert 0 <= found.slack <= 1e-6
    past, _ = cost(make(found.exact * (1 - NEAR)), target)
    assert not Fraction(past.upper) <= budget


@pytest.mark.parametrize(("make", "target"), COST)
def test_the_greatest_cost_or_rate(make, target):
    found = tr.calibrate(make, **target)
    claim, budget = cost(make(found.exact), target)
    assert Fraction(claim.upper) <= budget
    past, _ = cost(make(found.exact * (1 + NEAR)), target)
    assert not Fraction(past.upper) <= budget


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("gaussian(sigma=20) * ?", {"epsilon": 1, "delta": 1e-6}),
        ("laplace(scale=100) * ?", {"epsilon": "0.5"}),
        ("approx(epsilon=0.1, delta=1e-9) * ?", {"epsilon": 2, "delta": 1e-6}),
        ("gaussian(sigma=10) * ?", {"rho": "1/2"}),
    ],
)
def test_the_greatest_number_of_runs(text, target):
    found = tr.calibrate(text, **target)
    assert isinstance(found.value, int)
    here, budget = cost(tr.parse(text.replace("?", str(found.value))), target)
    past, _ = cost(tr.parse(text.replace("?", str(found.value + 1))), target)
    assert Fraction(here.upper) <= budget < Fraction(past.upper)


def test_exact_boundaries_are_found_exactly_on_the_feasible_side():
    """1/2 is filled by exactly fifty charges of 1/100: nothing is lost to rounding."""
    assert tr.calibrate("laplace(scale=100) * ?", epsilon="0.5").value == 50
    assert tr.calibrate("gaussian(sigma=10) * ?", rho="1/2").value == 100
    found = tr.calibrate(tr.Laplace, epsilon="0.5")
    assert found.exact >= 2
    assert found.exact <= 2 * (1 + NEAR)


@pytest.mark.parametrize("target", [{"epsilon": 1, "delta": 1e-5}, {"epsilon": "0.3", "delta": "1e-20"}])
def test_text_and_function_agree(target):
    assert tr.calibrate("gaussian(sigma=?)", **target).exact == tr.calibrate(tr.Gaussian, **target).exact
