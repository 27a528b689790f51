"""Costs of mechanisms that hardly differ share a contour: the same ends, proved, or a search of their own."""

from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.accounting import ask
from tightrope.accounting.calibrate_search import _crossing
from tightrope.accounting.solve import Estimates, epsilon_beside
from tightrope.numerics.many_roots import through

DELTA = Fraction("1e-6")
RUNS = [
    lambda x: tr.Gaussian(x).poisson("0.01") * 1000,
    lambda x: tr.Gaussian(x).poisson("0.01", relation="replace") * 1000,
    lambda x: tr.Laplace(x).poisson("0.05") * 2000 + tr.Gaussian(5) * 3,
    lambda x: tr.DiscreteGaussian(x).poisson("0.1") * 500,
    lambda x: tr.Gaussian(x) * 7,
    lambda x: tr.Pure(1 / Fraction(x)) * 30,
    lambda x: tr.Approx("0.1", "1e-9") * 30 + tr.Gaussian(x).poisson("0.02") * 200,
    lambda x: tr.Laplace(x).without_replacement(10, 1000) * 30,
]


@pytest.mark.parametrize("make", RUNS)
@pytest.mark.parametrize("apart", ["1e-8", "1e-5", "-1e-3", "0.3"])
def test_a_claim_beside_another_is_as_true_and_as_close(make, apart):
    here, there = make(Fraction(2)), make(2 * (1 + Fraction(apart)))
    first, alone = ask.epsilon(here, DELTA), ask.epsilon(there, DELTA)
    beside = ask.epsilon_beside(there, DELTA, first)
    assert beside.question == alone.question
    assert beside.kind == alone.kind
    assert beside.lower <= alone.upper
    assert alone.lower <= beside.upper
    assert beside.upper - beside.lower <= max(2 * (alone.upper - alone.lower), 1e-6 * alone.upper)
    assert tr.check(beside.to_json())


@pytest.mark.parametrize("make", RUNS)
def test_estimates_follow_one_another_to_the_same_place(make):
    chain = Estimates(DELTA)
    for x in (Fraction(2), Fraction("2.001"), Fraction("2.3"), Fraction(9), Fraction("2.0001")):
        followed, alone = chain(make(x)), Estimates(DELTA)(make(x))
        assert followed == pytest.approx(alone, rel=1e-7)


def test_nothing_is_carried_over_where_the_proof_was_another_one():
    m = tr.Gaussian(2).poisson("0.01") * 1000
    known = ask.epsilon(m, DELTA)
    assert epsilon_beside(m, DELTA, "rdp", known.witness, known.upper) is None
    assert epsilon_beside(m, Fraction(1), known.route, known.witness, known.upper) is None
    assert epsilon_beside(m, DELTA, known.route, {**known.witness, "way": "none"}, known.upper) is None
    assert epsilon_beside(m, DELTA, known.route, known.witness, 40 * known.upper) is None


@pytest.mark.parametrize("slope", [1.0, -2.0])
def test_a_curve_through_few_points_finds_where_it_crosses(slope):
    points = [(u, slope * (u - 0.3) * (1 + 0.1 * u)) for u in (-1.0, 0.0, 1.0, 2.0, 40.0)]
    assert _crossing(points) == pytest.approx(0.3, abs=2e-3)
    assert _crossing(points[:1]) is None
    assert _crossing([(0.0, 1.0), (1.0, 1.0)]) is None
    assert _crossing([(0.0, 1.0), (1.0, -0.4), (2.0, 0.5)]) == pytest.approx(13 / 9)  # the nearest two


def test_a_polynomial_goes_through_its_points():
    points = [(u, u**2 - u) for u in (0.0, 1.0, 3.0)]
    assert through(points, 5.0) == pytest.approx(20.0)
