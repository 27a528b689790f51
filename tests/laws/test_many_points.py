"""Hundreds of points in one call: as good as each point alone, nearly, and never a contradiction of it."""

from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr
from tightrope.accounting.routes import renyi_route
from tightrope.curves.profile import LeakyProfile
from tightrope.curves.renyi import LinearRenyi
from tightrope.curves.renyi_profile import renyi_to_profile, renyi_to_profile_classic
from tightrope.numerics import effort
from tightrope.numerics.balls import ball, precision
from tightrope.numerics.real import Real

F = Fraction
RUNS = {  # text, and how much further up an upper end may lie than alone
    "drawn with replacement": ("gaussian(1).with_replacement(10, 1000) * 500", 1e-3),
    "cut batches": ("gaussian(1).poisson(0.01, max_batch=45, population=1000) * 500", 1e-3),
    "a group of fixed-size samples": ("(gaussian(2).without_replacement(10, 1000) * 100).group(2)", 0.1),
    "a group, Laplace noise": ("(laplace(1).poisson(0.01) * 100).group(3)", 0.02),
    "allocated Laplace noise": ("laplace(1).allocated(100) * 2", 0.05),
    "a sampled guarantee": ("zcdp(0.1).poisson(0.01) * 10", 0.02),
    "a few orders": ("rdp({2: 0.1, 8: 0.5})", 0.1),
    "plain DP-SGD": ("gaussian(1).poisson(0.01) * 500", 1e-9),
}
EPSILONS, DELTAS = np.linspace(0, 6, 120), np.logspace(-10, -0.3, 120)


@pytest.mark.no_cover  # long
@pytest.mark.parametrize("name", RUNS)
def test_points_together_are_as_good_as_alone(name):
    text, more = RUNS[name]
    m = tr.parse(text)
    asked = ((tr.profile(m).delta, EPSILONS, tr.delta), (tr.profile(m).epsilon, DELTAS, tr.epsilon))
    for many, points, one in asked:
        lower, upper = many(points)
        assert np.all(lower <= upper)
        assert np.all(np.diff(upper) <= 0)
        for i in (10, 60, 90):
            alone = one(m, float(points[i]))
            assert lower[i] <= alone.upper
            assert alone.lower <= upper[i] <= alone.upper * (1 + more) + 1e-12


@pytest.mark.no_cover
def test_many_rates_of_a_run_with_cut_batches():
    m = tr.parse("gaussian(1).poisson(0.01, max_batch=45, population=1000) * 500")
    rates = np.linspace(0.001, 0.999, 60)
    lower, upper = tr.profile(m).tradeoff(rates)
    assert np.all((lower >= 0) & (lower <= upper))
    for i in (5, 30, 50):
        alone = tr.tradeoff(m, float(rates[i]))
        assert alone.lower - 1e-4 <= lower[i] <= alone.upper


def test_one_layout_of_orders_serves_all_points():
    """ε = ρ + 2√(ρ ln(1/δ)) is the classic answer at the best order; orders some per cent apart lose a 10⁻⁴th of it."""
    profile = renyi_to_profile_classic(LinearRenyi(Real(F(1, 2)), Real(F(0))))
    deltas = [F(10) ** -k for k in range(1, 40)]
    for delta, found in zip(deltas, profile.epsilons(deltas), strict=True):
        exact = 0.5 + 2 * (0.5 * np.log(float(1 / delta))) ** 0.5
        assert found is not None
        assert exact * (1 - 1e-12) <= found.upper <= exact * (1 + 1e-3)


def test_points_of_a_rényi_curve_are_proofs():
    curve = renyi_route(tr.parse("laplace(3).poisson(0.1) * 20")).build().curve
    profile = renyi_to_profile(curve)
    places = [F(k, 20) for k in range(1, 60)]
    with precision(256):
        for x, value in zip(places, profile.deltas(places), strict=True):
            alone = profile.prove(x, profile.find(x))
            assert value is not None
            assert value >= alone * ball(1 - F(1, 10**6))  # the best order is no worse
            assert value <= alone * ball(F(21, 20))


def test_points_behind_a_leak():
    inner = renyi_to_profile(LinearRenyi(Real(F(1, 10)), Real(F(0))))
    profile = LeakyProfile(inner, Real(F(1, 10**6)))
    deltas = [F(k, 10**6) for k in (1, 2, 5, 10, 100, 1000, 5000, 10**4, 10**5, 2 * 10**5)]
    for delta, found in zip(deltas, profile.epsilons(deltas), strict=True):
        alone = profile.epsilon(delta)[0]
        assert found is not None
        assert alone.upper * (1 - 1e-9) <= found.upper <= alone.upper * (1 + 1e-3)


def test_with_little_work_points_are_wide_and_sound():
    m = tr.parse("laplace(1).poisson(0.01) * 50 + zcdp(0.001)")
    full = [tr.epsilon(m, float(d)) for d in DELTAS[::30]]
    with effort.allowed(3e4):
        lower, upper = tr.profile(m).epsilon(DELTAS)
    assert np.all(lower <= upper)
    for claim, low, high in zip(full, lower[::30], upper[::30], strict=True):
        assert low <= claim.upper
        assert claim.lower <= high
