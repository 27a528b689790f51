"""Sums of discrete and unequal losses against their exact sums and printed numbers."""

from fractions import Fraction

import mpmath as mp
import pytest

import tightrope as tr
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.contour.discrete_normal import discrete_normal_sum_call
from tightrope.numerics.discrete_normal import call as one_call
from tightrope.numerics.sums.unequal import noncentral, summable, unequal_sum_call

F = Fraction
mp.mp.dps = 25


def number(x):
    return mp.mpf(F(x).numerator) / F(x).denominator


def test_sums_of_unequal_losses():
    """numerics 6.4: the exact tails, the contour, and the printed vectors."""
    first, second = (F(1), F("1.1"), F(0), F(1)), (F(0), F(1), F(1), F("1.1"))
    with precision(128):
        value = unequal_sum_call(*first, 10, Ball(12))
        assert abs(value - Ball("0.0181402437243465801")) < 1e-19
        assert abs(unequal_sum_call(*second, 10, Ball(10)) - Ball("0.00424349131345663428")) < 1e-20
        assert unequal_sum_call(*first, 10, Ball(12, 1e-6)).contains(value)
        assert unequal_sum_call(*first, 10, Ball("inf")) == 0
        assert unequal_sum_call(*first, 10, Ball("-inf")) == 1
        assert unequal_sum_call(*second, 10, Ball(50)) == 0  # beyond the largest loss
    mp.mp.dps = 20
    for degrees, centrality, level in ((3, F(7, 2), 5), (10, F(0), 12), (4, F(300), 250)):
        half = number(centrality) / 2
        truth = mp.mpf(0)
        for j in range(900 if centrality else 1):
            tail = mp.gammainc(mp.mpf(degrees) / 2 + j, mp.mpf(level) / 2, mp.inf, regularized=True)
            truth += mp.exp(-half) * half**j / mp.factorial(j) * tail
        with precision(100):
            assert abs(noncentral(degrees, centrality, Ball(level), above=True) - Ball(mp.nstr(truth, 18))) < 1e-15
            below = noncentral(degrees, centrality, Ball(level), above=False)
            assert abs(below - Ball(mp.nstr(1 - truth, 18))) < 1e-15
    assert not summable(*first, 1000)
    assert not noncentral(3, F(1), Ball(0, 1), above=True).is_exact()
    few, many = (tr.delta(tr.GaussianPair(1, 2, 0, "1.9") * n, epsilon=12) for n in (64, 65))
    assert few.tight
    assert many.tight
    assert few.upper < many.upper < 1.2 * few.lower


def test_sums_of_discrete_gaussians():
    """By the definition for two, by numerics 6.1 for ten; any number of copies, any width, both signs of x."""
    with precision(128):
        value = discrete_normal_sum_call(F(4), 1, 10, Ball("4.1").mid())
        assert abs(value - Ball("0.014254464486647560076")) < 1e-20
        total = Ball(0)
        weight = sum((ball(F(-k * k, 8)).exp() for k in range(-60, 61)), Ball(0))
        for k in range(-60, 61):
            total += ball(F(-k * k, 8)).exp() / weight * one_call(F(4), 1, Ball(1.25) - ball(F(2 * k + 1, 8)))
        two = discrete_normal_sum_call(F(4), 1, 2, Ball(1.25))
        assert abs(two - total) < 1e-30
        minus = discrete_normal_sum_call(F(4), 1, 2, Ball(-1.25))
        assert abs(minus - (1 - Ball(-1.25).exp() + Ball(-1.25).exp() * two)) < 1e-30
        assert discrete_normal_sum_call(F(4), 1, 2, Ball(1.25, 0.01)).contains(two)
        on_atom = discrete_normal_sum_call(F(4), 1, 2, Ball(1.25) - Ball(2) ** -200)
        assert abs(on_atom - two) < 1e-30
        assert discrete_normal_sum_call(F(1), 1, 10**9, Ball(4e8)).upper() >= 1
        assert discrete_normal_sum_call(F(1), 1, 100, Ball(5000)) > 0
        for x, truth in (("inf", 0), ("-inf", 1)):
            assert discrete_normal_sum_call(F(4), 1, 2, Ball(x)) == truth
        assert discrete_normal_sum_call(F(4), 1, 2, Ball("nan")).contains(0.5)


@pytest.mark.parametrize(
    ("sigma", "copies", "delta"),
    [(1, 10**9, "1e-6"), (1000, 10**5, "1e-9"), ("0.3", 100, "1e-6"), (10, 10**6, "1e-20")],
)
def test_long_discrete_gaussians_are_sharp_and_near_the_gaussian(sigma, copies, delta):
    claim = tr.epsilon(tr.DiscreteGaussian(sigma) * copies, delta)
    assert claim.tight
    assert claim.upper - claim.lower < 1e-13 * claim.upper
    assert tr.check(claim.to_json())
    smooth = tr.epsilon(tr.Gaussian(sigma) * copies, delta)
    assert abs(claim.upper - smooth.upper) < (0.05 if F(sigma) >= 1 else 0.2) * smooth.upper


VECTORS = [
    (tr.DiscreteGaussian(2).poisson("0.1") * 2, "0.25", 3.85184125580089144e-4),
    (tr.DiscreteGaussian(2).poisson("0.1") * 20, "0.9", 7.0187e-5),
    (tr.Laplace(1).poisson("0.1") * 2, "0.15", 0.0112124754218833),
    (tr.RandomizedResponse(1, k=4).poisson("0.1") * 10, "0.5", 0.00552160353587479132),
    (tr.DiscreteLaplace(2, 3).poisson("0.1") * 2, "0.2", 0.0237129332370984046),
    (tr.DiscreteLaplace(2, 3) * 10, "4.2", 0.74958385642138966615),
]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("mechanism", "epsilon", "truth"), VECTORS)
def test_printed_vectors(mechanism, epsilon, truth):
    found = tr.delta(mechanism, epsilon)
    assert found.tight
    assert found.upper - found.lower < 1e-6 * found.upper
    digits = 1e-4 if truth == 7.0187e-5 else 1e-13
    assert found.lower * (1 - digits) <= truth <= found.upper * (1 + digits)


@pytest.mark.parametrize(
    "mechanism",
    [
        tr.DiscreteGaussian(2).poisson("0.1") * 20 + tr.Gaussian(5),
        tr.DiscreteGaussian(2) * 50 + tr.RandomizedResponse("0.1") * 7,
        tr.RandomizedResponse("0.1", k=4).poisson("0.999") * 800,
        tr.DiscreteGaussian(3) * 5 + tr.Gaussian(2) * 2 + tr.DiscreteLaplace(4, 2) * 9,
    ],
)
def test_mixtures_of_discrete_noise_are_narrow(mechanism):
    claim = tr.epsilon(mechanism, "1e-6")
    assert claim.tight
    assert claim.upper - claim.lower < 1e-6 * claim.upper
    assert tr.check(claim.to_json())
    assert tr.delta(mechanism, claim.upper).lower < 1e-6 < tr.delta(mechanism, claim.lower).upper * (1 + 1e-6)


@pytest.mark.parametrize(("sigma", "copies"), [(10**6, 2), (10**6, 5), ("0.1", 2)])
def test_far_beyond_all_losses_chernoff_bounds_the_sum(sigma, copies):
    """It took minutes: a search began at 1, where ln of the call is −10¹¹, and kept as many bits."""
    m = tr.DiscreteGaussian(sigma) * copies
    assert tr.delta(m, epsilon=10**4).upper == 5e-324
    claim = tr.epsilon(m, delta=1e-9)
    assert claim.upper / claim.lower < 1 + 1e-9
    if sigma == 10**6:  # as good as the Gaussian
        assert claim.upper == pytest.approx(tr.epsilon(tr.Gaussian(sigma) * copies, delta=1e-9).upper, rel=1e-9)
