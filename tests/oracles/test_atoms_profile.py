"""Sums around atoms against quadrature in many digits, closed forms, and the other engines."""

import math
from fractions import Fraction
from functools import partial
from itertools import pairwise

import mpmath
import pytest
from flint import arb, ctx
from quick_numbers import density, flint, to_mpmath, to_the_ends

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.composed_loss import evaluator
from tightrope.curves.engines.atoms_profile import atoms_profile
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.mechanisms.discrete_laplace import DiscreteLaplacePair
from tightrope.numerics.balls import Ball, ball, precision


def loss_of(mechanism):
    return fact(mechanism, Loss).curve


def upper(z):
    return (z / arb(2).sqrt()).erfc() / 2


def one_step(mu, q, adding, x):
    """The call of one sampled Gaussian step at any real x: E(w − e^x)₊, or E(1 − e^x·w)₊, in closed form."""
    edge = (-x if adding else x).exp()
    if edge <= 1 - q:
        return arb(0) if adding else 1 - edge
    z = ((edge - 1 + q) / q).log() / mu + mu / 2
    if adding:
        return upper(-z) - ((1 - q) * upper(-z) + q * upper(mu - z)) / edge
    return (1 - q) * upper(z) + q * upper(z - mu) - edge * upper(z)


def two_steps(mu, q, adding, x):
    def integrand(z):
        w = 1 - q + q * (mu * z - mu * mu / 2).exp()
        share = density(z) * (1 if adding else w)
        return share * one_step(mu, q, adding, x + (1 if adding else -1) * w.log())

    kink = (-x if adding else x).exp() / (1 - q) - 1 + q  # of ρ, where one step more is certain, or worthless
    kinks = [arb(((kink / q).log() / mu + mu / 2).mid())] if kink > 0 else []
    points = [*map(arb, (-16, -5, 0, 5, 16)), *(k + d for k in kinks for d in (-1, -0.05, 0, 0.05, 1))]
    return to_the_ends(integrand, sorted(points, key=float), 45)


def truth(sigma, q, steps, epsilon, copies, x):
    """δ of sampled steps beside randomized responses, the larger of both directions."""
    with mpmath.workdps(45), ctx.workdps(50):  # of a rare step nearly all cancels
        mu, q, e, x = 1 / flint(Fraction(sigma)), flint(Fraction(q)), flint(Fraction(epsilon)), flint(x)
        call = one_step if steps == 1 else two_steps
        p = e.exp() / (1 + e.exp())
        weights = [math.comb(copies, k) * p**k * (1 - p) ** (copies - k) for k in range(copies + 1)]
        return max(
            to_mpmath(sum(m * call(mu, q, adding, x - (2 * k - copies) * e) for k, m in enumerate(weights)))
            for adding in (False, True)
        )


def within(value, exact):
    """Whether the ball holds the number, up to the truth's own rounding."""
    low, high = (mpmath.mpf(end.str(30, radius=False)) for end in (value.lower(), value.upper()))
    return low <= exact * (1 + mpmath.mpf("1e-18")) and exact <= high * (1 + mpmath.mpf("1e-18"))


def width(value):
    return float(value.rad() / value.mid())


SETTINGS = [  # σ, rate, steps, ε₀, copies, the ε asked about: above, between, and just below the atoms
    ("1", "0.001", 1, "0.3", 3, ["0.05", "0.7", "0.899", "0.9001", "1.5"]),
    ("0.7", "0.01", 1, "1", 2, ["0.3", "1.9999", "2.001", "4"]),
    ("1.88", "0.0000154", 2, "0.223", 1, ["0.2229", "0.226"]),
    ("0.5", "0.004", 2, "0.2", 2, ["0.41", "6"]),
]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("sigma", "q", "steps", "e", "copies", "places"), SETTINGS)
def test_sampled_steps_against_quadrature(sigma, q, steps, e, copies, places):
    m = tr.Gaussian(sigma).poisson(q) * steps + tr.RandomizedResponse(epsilon=e) * copies
    profile = atoms_profile(loss_of(m))
    for x in map(Fraction, places):
        value = profile.prove(x, profile.find(x))
        exact = truth(sigma, q, steps, e, copies, x)
        assert within(value, exact), x
        assert width(value) < 1e-6, x


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_epsilon_is_enclosed_by_quadrature():
    m = tr.Gaussian("1.88").poisson("0.0000154") * 2 + tr.RandomizedResponse(epsilon="0.223")
    delta = Fraction(1, 10**24)
    bound, _ = atoms_profile(loss_of(m)).epsilon(delta)
    assert 0.223 < bound.lower < bound.upper < bound.lower * (1 + 1e-9)
    for end, more in ((bound.lower, True), (bound.upper, False)):
        found = truth("1.88", "0.0000154", 2, "0.223", 1, Fraction(end))
        assert (found * delta.denominator > 1) == more


NEIGHBOURS = [
    tr.Gaussian("0.7").without_replacement(1, 100) + tr.RandomizedResponse(epsilon="0.2") * 5,
    tr.Gaussian("1.5").poisson("0.02", relation="replace") + tr.RandomizedResponse(epsilon="0.4") * 3,
    tr.Laplace(2).poisson("0.01") + tr.RandomizedResponse(epsilon="0.4") * 3,
    tr.Gaussian(1).poisson("0.02") + tr.Approx("0.2", "1e-7") * 3,
    tr.Gaussian("0.7").without_replacement(1, 100) + tr.Pure("0.5").without_replacement(3, 100) * 20,
]


@pytest.mark.parametrize("m", NEIGHBOURS, ids=str)
def test_one_step_against_closed_forms(m):
    loss = loss_of(m)
    profile = atoms_profile(loss)
    calls = [evaluator(parts).call for parts in loss.directions]
    for x in (Fraction(1, 20), Fraction(2, 5), Fraction(1)):
        value = profile.prove(x, profile.find(x))
        with precision(400):
            closed = [call(ball(x)) for call in calls]
            exact = closed[0] if len(closed) == 1 else closed[0].max(closed[1])
            assert value.overlaps(exact)
        assert width(value) < 2e-5


SYMMETRIC = [
    tr.Gaussian(2),
    tr.Laplace(2),
    tr.DiscreteGaussian(2),
    tr.Gaussian(1).without_replacement(3, 100),
    tr.Gaussian(1).poisson("0.1", relation="replace"),
    tr.Laplace(1).poisson("0.1", relation="replace"),
    tr.DiscreteGaussian(2).poisson("0.1", relation="replace"),
]


@pytest.mark.parametrize(
    "pair",
    [DiscreteLaplacePair(Fraction(3), 500), *(loss_of(m).remove[0][0] for m in SYMMETRIC)],
    ids=lambda pair: type(pair).__name__,
)
def test_symmetric_pairs_are_their_own_reverse(pair):
    assert pair.symmetric
    with precision(200):
        for x in (Ball("0.01"), Ball("0.3"), Ball("1.7")):
            back = 1 - (-x).exp() + (-x).exp() * pair.call(x)
            assert back.overlaps(pair.call(-x))
            assert abs(back - pair.call(-x)) < 1e-30


def test_mass_at_infinity():
    m = tr.Gaussian(1).poisson("0.001") * 3 + tr.Approx("0.1", "1e-6") * 2
    profile = atoms_profile(loss_of(m))
    leak = 1 - (1 - Fraction(1, 10**6)) ** 2
    assert profile.epsilon(Fraction(1, 10**6))[0].upper == math.inf
    assert profile.epsilon(leak)[0].upper == math.inf
    bound, _ = profile.epsilon(2 * leak)
    other = tr.epsilon(m, delta=2 * leak).computed
    assert bound.lower <= other.upper
    assert other.lower <= bound.upper
    assert bound.upper < bound.lower * (1 + 1e-7)


def test_large_delta_costs_nothing():
    m = tr.Gaussian(4).poisson("0.0001") * 3 + tr.RandomizedResponse(epsilon="0.01")
    free, dear, none = atoms_profile(loss_of(m)).epsilons([Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**3000)])
    assert free.upper == 0
    assert 0 < dear.lower <= dear.upper < 0.01
    assert none is None


def test_steps_by_a_contour():
    """A thousand samples have a contour of their own, which another way confirms."""
    m = tr.Gaussian("1.87").without_replacement(1, 100) * 1000 + tr.RandomizedResponse(epsilon="0.196") * 10
    bound, witness = atoms_profile(loss_of(m)).epsilon(Fraction(1, 10**6))
    assert {one.get("by") for one in witness["sides"][0]} <= {"contour", None}
    other = tr.epsilon(m, delta="1e-6").computed
    assert bound.lower <= other.upper
    assert other.lower <= bound.upper
    assert bound.upper < bound.lower * (1 + 1e-9)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_the_direction_that_floats_mistake():
    """Of many rare steps floats see noise where a record is added."""
    m = tr.Gaussian("3.41").poisson("0.0000143") * 23725 + tr.RandomizedResponse(epsilon="0.405") * 4
    bound, witness = atoms_profile(loss_of(m)).epsilon(Fraction("2.19e-22"))
    assert witness["direction"] == 0
    assert bound.upper < bound.lower * (1 + 1e-9)
    other = tr.epsilon(m, delta="2.19e-22")
    assert other.witness["way"] == "windowed"
    assert max(bound.lower, other.lower) <= min(bound.upper, other.upper)


def test_many_points_share_plans():
    m = tr.Gaussian("0.9").poisson("0.003") * 20 + tr.RandomizedResponse(epsilon="0.2") * 3
    profile = atoms_profile(loss_of(m))
    epsilons = [Fraction(k, 20) for k in range(8, 40, 8)] + [Fraction(-1)]
    found = profile.deltas(epsilons)
    assert found[-1] is None
    assert all(a.lower() > b.lower() for a, b in pairwise(found[:-1]))
    for x, value in zip(epsilons[:-1], found, strict=False):
        assert value.overlaps(profile.prove(x, profile.find(x)))
        assert width(value) < 2e-3  # on a slow machine neighbours share more
    deltas = [Fraction(1, 10**k) for k in (2, 6, 7, 12)]
    for delta, bound in zip(deltas, profile.epsilons(deltas), strict=True):
        single = profile.epsilon(delta)[0]
        assert bound.lower <= single.upper
        assert single.lower <= bound.upper
        assert profile.estimate(delta) == pytest.approx(single.upper, rel=0.02)


def test_a_claim_is_proved_again():
    m = tr.Gaussian("3.87").without_replacement(1, 100) * 30 + tr.RandomizedResponse(epsilon="1.94") * 25
    claim = tr.epsilon(m, delta="6.36e-35")
    assert claim.witness["way"] == "atoms"
    assert claim.computed.upper - claim.computed.lower < 1e-6 * claim.upper
    assert tr.check(claim.to_json())


def test_a_formula_is_used_where_there_is_one():
    profile = atoms_profile(loss_of(tr.DiscreteGaussian(5) * 10**6 + tr.RandomizedResponse(epsilon=1)))
    bound, witness = profile.epsilon(Fraction(1, 10**6))
    assert {stretch["by"] for side in witness["sides"] for stretch in side if "by" in stretch} == {"closed"}
    claim = tr.epsilon(tr.DiscreteGaussian(5) * 10**6 + tr.RandomizedResponse(epsilon=1), delta=1e-6)
    assert bound.lower <= claim.upper
    assert claim.lower <= bound.upper < bound.lower * (1 + 1e-9)


@pytest.mark.parametrize(
    "m",
    [
        tr.Gaussian(1).poisson("0.01") * 3,
        tr.RandomizedResponse(epsilon=1) * 3,
        tr.GaussianPair(0, 1, 1, 2) + tr.RandomizedResponse(epsilon=1),
        tr.Gaussian(1).poisson("0.01") * 3 + tr.RandomizedResponse(epsilon=1) * 2000,
        tr.GaussianPair(0, 1, 1, 2).poisson("0.1") + tr.RandomizedResponse(epsilon=1),
        tr.DiscreteGaussian(5) * 10**8 + tr.DiscreteGaussian(7) * 10**8 + tr.RandomizedResponse(epsilon=1),
    ],
    ids=str,
)
def test_other_losses_are_left_alone(m):
    assert atoms_profile(loss_of(m)) is None


def test_floats_that_see_nothing():
    profile = atoms_profile(loss_of(tr.Gaussian(1).poisson("0.01") * 3 + tr.RandomizedResponse(epsilon=1)))
    with pytest.raises(NotCertified, match="negative"):
        profile.find(Fraction(-1))
    with pytest.raises(NotCertified):
        profile.find(Fraction(10**6))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_the_two_directions_of_a_skewed_table():
    """The other direction of this table costs more than that of the steps saves."""
    table = tr.Table(["0.1", "0.9"], ["0.3", "0.7"])
    m = tr.Gaussian(1).poisson("0.01") * 2 + table
    profile = atoms_profile(loss_of(m))
    truths = [partial(table_truth, adding) for adding in (False, True)]
    for x in (Fraction(1), Fraction(3, 2)):
        value = profile.prove(x, profile.find(x))
        with mpmath.workdps(25):
            assert within(value, max(one(x) for one in truths))
        assert width(value) < 1e-6


def table_truth(adding, x):
    p, q = [Fraction("0.1"), Fraction("0.9")], [Fraction("0.3"), Fraction("0.7")]
    p, q = (q, p) if adding else (p, q)
    with ctx.workdps(50):
        rate, mu, at = flint(Fraction("0.01")), arb(1), flint(x)
        terms = (flint(a) * two_steps(mu, rate, adding, at - flint(a / b).log()) for a, b in zip(p, q, strict=True))
        return to_mpmath(sum(terms))
