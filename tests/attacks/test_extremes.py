"""Extremes: 10⁹ runs, tiny and huge noise, δ down to 1e-1999 and up to the last float below 1. Sound, and at once."""

import math

import mpmath as mp
import pytest

import tightrope as tr
from attacks.hostile import shown, sound, timed
from laws.registered import COMBINED, FIRST

MOST_SECONDS = 10.0  # the goal is one second; the machine may be shared, and slow
LAST = math.nextafter(1.0, 0.0)


def answered(call):
    claim, seconds = timed(call)
    sound(claim)
    assert seconds < MOST_SECONDS, f"{seconds:.1f} s"
    return claim


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", FIRST, ids=str)
def test_a_thousand_million_runs(m):
    many = m * 10**9
    claim = answered(lambda: tr.epsilon(many, delta=1e-6))
    assert claim.upper >= tr.epsilon(m, delta=1e-6).lower
    found = answered(lambda: tr.delta(many, epsilon=1))
    assert found.upper >= tr.delta(m, epsilon=1).lower


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", FIRST, ids=str)
def test_a_thousand_million_runs_in_the_other_notions(m):
    for question in (lambda x: tr.renyi(x, 2), tr.pure, tr.zcdp, tr.gdp):
        try:
            one = question(m)
        except tr.Unsupported:
            continue
        assert answered(lambda question=question: question(m * 10**9)).upper >= one.lower


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("delta", ["1e-300", "1e-1999", LAST, "0.99999999999999999999999999999999999", "1e-17"])
@pytest.mark.parametrize("m", FIRST, ids=str)
def test_extreme_deltas(m, delta):
    claim = answered(lambda: tr.epsilon(m, delta=delta))
    if delta in ("1e-300", "1e-1999"):
        assert claim.upper >= tr.epsilon(m, delta=1e-6).lower
    elif delta != "1e-17":
        assert claim.lower <= tr.epsilon(m, delta=0.5).upper


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("epsilon", ["1e-300", "1e-20", 700, 1e5, 1e300, 10**400])
@pytest.mark.parametrize("m", FIRST, ids=str)
def test_extreme_epsilons(m, epsilon):
    answered(lambda: tr.delta(m, epsilon=epsilon))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", COMBINED, ids=str)
def test_combined_mechanisms_at_the_extremes(m):
    for delta in ("1e-300", LAST):
        answered(lambda delta=delta: tr.epsilon(m, delta=delta))
    answered(lambda: tr.epsilon(m * 10**6, delta=1e-6))
    answered(lambda: tr.delta(m, epsilon=1e5))


NOISE = [
    tr.Gaussian,
    tr.Laplace,
    tr.DiscreteGaussian,
    tr.DiscreteLaplace,
    lambda s: tr.GaussianPair(1, s, 0, s),
    lambda s: tr.GaussianPair(1, s, 0, 1),
    lambda s: tr.Gaussian(s).poisson("1/2"),
    lambda s: tr.Laplace(s) * 7,
]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    "make",
    NOISE,
    ids=["gaussian", "laplace", "discrete gaussian", "discrete laplace", "pair", "unequal pair", "poisson", "seven"],
)
@pytest.mark.parametrize("sigma", ["1e-300", "1e-20", "1e20", "1e300"])
def test_extreme_noise(make, sigma):
    m = make(sigma)
    claim = answered(lambda: tr.epsilon(m, delta=1e-6))
    if sigma == "1e-300":
        assert claim.upper >= 1e299
    answered(lambda: tr.delta(m, epsilon=1))
    answered(lambda: tr.advantage(m))
    answered(lambda: tr.renyi(m, 2))
    answered(lambda: tr.tradeoff(m, fpr=0.1))


def test_no_noise_is_no_privacy():
    claim = tr.epsilon(tr.Gaussian("1e-300"), delta=1e-6)
    assert claim.upper == math.inf
    assert claim.lower >= 1.7e308
    assert tr.advantage(tr.Gaussian("1e-300")).lower >= 1 - 1e-15
    assert tr.tradeoff(tr.Gaussian("1e-300"), fpr=0.1).upper <= 1e-15


def test_much_noise_is_full_privacy():
    claim = tr.epsilon(tr.Gaussian("1e300"), delta=1e-6)
    assert claim.upper <= 1e-290
    assert tr.advantage(tr.Gaussian("1e300")).upper <= 1e-299
    assert tr.tradeoff(tr.Gaussian("1e300"), fpr=0.25).lower >= 0.7499999


def gaussian_delta(mu, eps):
    mu, eps = mp.mpf(mu), mp.mpf(eps)
    return mp.ncdf(mu / 2 - eps / mu) - mp.e**eps * mp.ncdf(-mu / 2 - eps / mu)


@pytest.mark.parametrize("delta", ["1e-300", "1e-1999", "0.5", "1e-17"])
def test_the_gaussian_at_extreme_deltas_is_true(delta):
    """An independent evaluation of Balle and Wang's formula in 2000 digits' worth of exponent range."""
    claim = tr.epsilon(tr.Gaussian(1), delta=delta)
    with mp.workdps(60):
        target = mp.mpf(delta)
        assert gaussian_delta(1, claim.upper) <= target * (1 + mp.mpf("1e-30"))
        assert claim.lower == 0 or gaussian_delta(1, claim.lower) >= target * (1 - mp.mpf("1e-30"))
    assert claim.upper - claim.lower <= 1e-9 * claim.upper


def test_a_thousand_million_gaussians_are_one():
    claim = tr.epsilon(tr.Gaussian(10**5) * 10**9, delta=1e-6)
    with mp.workdps(40):
        mu = mp.sqrt(mp.mpf(10) ** 9) / 10**5
        assert gaussian_delta(mu, claim.upper) <= mp.mpf("1e-6")
        assert gaussian_delta(mu, claim.lower) >= mp.mpf("1e-6") * (1 - mp.mpf("1e-12"))


def test_a_thousand_million_leaks_are_certain():
    """1 − (1 − 1e-6)^(10⁹) is 1 to every digit, so no ε is enough below it."""
    assert tr.epsilon(tr.LeakyInput(1e-6) * 10**9, delta=0.5).upper == math.inf
    assert tr.delta(tr.LeakyInput(1e-6) * 10**9, epsilon=100).lower >= 1 - 1e-12
    claim = tr.delta(tr.LeakyInput("1e-12") * 10**9, epsilon=5)
    with mp.workdps(40):
        truth = -mp.expm1(10**9 * mp.log1p(-mp.mpf("1e-12")))
    assert claim.lower <= truth <= claim.upper


@pytest.mark.parametrize("number", ["1e-5000", "1e5000", "1e99999999", "1" * 5000, 10**5000], ids=shown)
def test_numbers_beyond_all_use_are_refused_not_computed(number):
    for ask in (
        lambda x: tr.epsilon(tr.Gaussian(1), delta=x),
        lambda x: tr.delta(tr.Gaussian(1), epsilon=x),
        tr.Gaussian,
        lambda x: tr.Laplace(1, x),
    ):
        with pytest.raises(tr.BadParameter):
            ask(number)


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "leak"),
    [
        (tr.Pure("1.35"), "1.35", 0),
        (tr.Pure("1.35") * 30, "40.5", 0),
        (tr.RandomizedResponse(epsilon="1.58") * 26, "41.08", 0),
        (tr.Approx("0.5", "0.25"), "0.5", 0.25),
    ],
)
def test_at_the_largest_loss_delta_is_exactly_the_leak(mechanism, epsilon, leak):
    claim = tr.delta(mechanism, epsilon=epsilon)
    assert claim.lower == claim.upper == leak
    assert tr.delta(mechanism, epsilon=str(float(epsilon) - 1e-6)).lower > leak


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    "claim",
    [
        lambda: tr.delta(tr.Staircase("1.66") * 5, epsilon="8.3"),
        lambda: tr.epsilon(tr.DiscreteGaussian("4.93").with_replacement(1, 190) * 11, delta="5.78e-18"),
    ],
    ids=["at the largest loss", "a direction that coarse grids overrate"],
)
def test_a_claim_that_is_hard_to_find_again_holds(claim):
    assert tr.check(claim().to_json())
