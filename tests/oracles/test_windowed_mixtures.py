"""Different samplers, Laplace noise and answers beside sampled steps: windowed contours against quadrature."""

import math
from fractions import Fraction

import mpmath as mp
import pytest
from mixture_truth import (
    added,
    beside_answers,
    beside_laplace,
    brute,
    contains,
    ends,
    loss_of,
    profile,
    removed,
    steps,
    two_steps,
)

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.contour_profile import contour_profile
from tightrope.curves.engines.grid_profile import grid_profile
from tightrope.curves.engines.windowed_profile import windowed_profile
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision

pytestmark = pytest.mark.no_cover  # long, and shorter ones come by the same lines


@pytest.mark.parametrize(
    ("first", "second", "x"),
    [
        (("1", "0.01"), ("2", "0.1"), "0.7"),
        (("0.7", "0.001"), ("3", "0.0004"), "4"),
        (("5", "0.0001"), ("1", "0.00003"), "0.002"),
        (("1.3", "0.002"), ("0.9", "0.0007"), "5"),
    ],
)
def test_two_different_steps(first, second, x):
    text = " + ".join(f"gaussian(sigma={sigma}).poisson({rate})" for sigma, rate in (first, second))
    found = profile(text)
    value = found.prove(Fraction(x), found.find(Fraction(x)))
    with mp.workdps(22):
        parts = [(1 / mp.mpf(sigma), mp.mpf(rate)) for sigma, rate in (first, second)]
        truth = two_steps(*parts, mp.mpf(x))
        assert contains(value, truth)
        low, high = ends(value)
        assert high - low < truth * mp.mpf("1e-7")


@pytest.mark.parametrize(
    ("sigma", "rate", "scale", "x"),
    [
        ("1.57", "0.000381", "1.81", "2.5"),
        ("1", "0.01", "2", "0.9"),
        ("6", "0.001", "10", "0.108"),
        ("2", "0.3", "1", "3"),
    ],
)
def test_a_step_beside_laplace_noise(sigma, rate, scale, x):
    found = profile(f"gaussian(sigma={sigma}).poisson({rate}) + laplace(scale={scale})")
    value = found.prove(Fraction(x), found.find(Fraction(x)))
    with mp.workdps(22):
        mu, q, e0, at = 1 / mp.mpf(sigma), mp.mpf(rate), 1 / mp.mpf(scale), mp.mpf(x)
        truth = max(
            beside_laplace(lambda y: removed(mu, q, y), e0, at), beside_laplace(lambda y: added(mu, q, y), e0, at)
        )
        assert contains(value, truth)
        low, high = ends(value)
        assert high - low < truth * mp.mpf("1e-6")


@pytest.mark.parametrize(
    ("sigma", "rate", "epsilon", "number", "x"),
    [("1.09", "0.0000891", "0.583", 24, "14.3"), ("0.5", "0.01", "0.3", 5, "4"), ("5", "0.2", "0.2", 3, "0.9")],
)
def test_a_step_beside_answers(sigma, rate, epsilon, number, x):
    found = profile(f"gaussian(sigma={sigma}).poisson({rate}) + randomized_response(epsilon={epsilon}) * {number}")
    value = found.prove(Fraction(x), found.find(Fraction(x)))
    with mp.workdps(22):
        mu, q, e0, at = 1 / mp.mpf(sigma), mp.mpf(rate), mp.mpf(epsilon), mp.mpf(x)
        truth = beside_answers(lambda y: removed(mu, q, y), e0, number, at)
        assert contains(value, truth)
        low, high = ends(value)
        assert high - low < truth * mp.mpf("1e-6")


def test_adding_a_record_beside_laplace_noise():
    """Nearly the same law in both directions: the lesser one is integrated, too."""
    found = profile("gaussian(sigma=3).poisson(0.1) + laplace(scale=5)")
    plan = found.steps.rough_plan(0.22, math.log(1e-3))
    with precision(plan.bits + 64):
        value = found.steps.call(ball(Fraction("0.22")), plan, adding=True)
    with mp.workdps(22):
        mu, q = mp.mpf(1) / 3, mp.mpf("0.1")
        assert contains(value, beside_laplace(lambda y: added(mu, q, y), mp.mpf("0.2"), mp.mpf("0.22")))


@pytest.mark.parametrize(
    ("samplers", "x"),
    [
        ([("0.974", "0.000632", 3), ("0.765", "0.000116", 2)], 4.0),
        ([("0.5", "0.01", 2), ("4", "0.2", 3)], 6.0),
        ([("2", "0.05", 4), ("1", "0.01", 1), ("3", "0.3", 2)], 2.0),
    ],
)
def test_several_steps_lie_between_two_lattice_laws(samplers, x):
    text = " + ".join(f"gaussian(sigma={sigma}).poisson({rate}) * {copies}" for sigma, rate, copies in samplers)
    found = profile(text)
    value = found.prove(Fraction(x), found.find(Fraction(x)))
    most, least = brute([(1 / float(sigma), float(rate), copies) for sigma, rate, copies in samplers], x)
    low, high = (float(end) for end in ends(value))
    assert low <= most * (1 + 1e-9)
    assert high >= least * (1 - 1e-9)
    assert most < 1.2 * least
    assert high - low < low * 1e-7


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("gaussian(sigma=1).poisson(0.01) * 300 + gaussian(sigma=3).poisson(0.02) * 100", "1e-6"),
        ("gaussian(sigma=2).poisson(0.05) * 100 + laplace(scale=5) * 3", "1e-7"),
        ("gaussian(sigma=2).poisson(0.05) * 100 + gaussian(sigma=5)", "1e-9"),
    ],
)
def test_it_agrees_with_the_contour_of_the_whole_loss(text, delta):
    law = loss_of(text)
    mine, other = (found(law).epsilon(Fraction(delta))[0] for found in (windowed_profile, contour_profile))
    assert mine.lower <= other.upper
    assert other.lower <= mine.upper
    assert mine.upper - mine.lower < 1e-9 * mine.upper


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("gaussian(sigma=10.8).poisson(4.84e-5) * 165051", "1.5e-32"),
        ("gaussian(sigma=8.37).poisson(2.38e-5) * 21 + gaussian(sigma=4.35).poisson(3.93e-5) * 21", "1.44e-32"),
    ],
)
def test_it_agrees_with_a_grid(text, delta):
    law = loss_of(text)
    mine, other = (found(law).epsilon(Fraction(delta))[0] for found in (windowed_profile, grid_profile))
    assert mine.lower <= other.upper
    assert other.lower <= mine.upper
    assert mine.upper - mine.lower < 1e-9 * mine.upper


@pytest.mark.parametrize(
    ("parts", "delta", "gap"),
    [
        ([steps("19.8", "3.34e-5", 253936), steps("3.36", "5.46e-5", 893)], "7.99e-28", 1e-9),
        ([steps("1.58", "0.000525", 7226), steps(9, "0.0018", 1164), "laplace(scale=2.68)"], "2.3e-34", 1e-9),
        (["laplace(scale=10.2) * 2", steps("6.89", "0.00106", 172)], "6.28e-26", 1e-9),
        ([steps("1.09", "8.91e-5", 23556), "randomized_response(epsilon=0.583) * 24"], "3.4e-24", 1e-9),
        ([steps("0.938", "1.21e-5", 1659641)], "4.32e-19", 1e-9),
        (
            ["laplace(scale=14.4) * 24", steps("3.1", "0.000111", 476), steps("14.3", "2.7e-5", 2832353)],
            "2.19e-09",
            1e-9,
        ),
    ],
)
def test_rare_mixtures_are_tight_and_proved_again(parts, delta, gap):
    claim = tr.epsilon(tr.parse(" + ".join(parts)), delta)
    assert claim.tight
    assert claim.witness["way"] in ("windowed", "contour")
    assert 0 < claim.lower <= claim.upper <= claim.lower * (1 + gap)
    assert tr.check(claim.to_json())


def test_a_narrow_window_beats_a_contour_that_is_not():
    """On some machines the contour is narrow, too: floats hardly see the call."""
    claim = tr.epsilon(tr.parse("gaussian(sigma=1.39).poisson(0.000334) * 442731"), "9.64e-40")
    assert claim.upper <= claim.lower * (1 + 1e-9)
    assert claim.lower <= 2.3930088233955  # where both overlap
    assert claim.upper >= 2.3930088232950


def test_mass_at_infinity_is_added():
    run = tr.Gaussian(1).poisson("0.001") * 3 + tr.Approx(0, "1e-9")
    found = windowed_profile(fact(run, Loss).curve)
    assert found is not None
    plain = profile("gaussian(sigma=1).poisson(0.001) * 3")
    at = Fraction("0.3")
    value, other = found.prove(at, found.find(at)), plain.prove(at, plain.find(at))
    with precision(120):
        leak = ball(Fraction("1e-9"))
        assert value.overlaps(leak + (1 - leak) * other)
        assert value.rad() < value.mid() * Ball(1e-6)
    bound = found.epsilon(Fraction("2e-9"))[0]
    assert 0 < bound.lower < bound.upper < bound.lower * (1 + 1e-6)
    assert bound.lower < found.estimate(Fraction("2e-9")) * 1.1 < 1.2 * bound.upper
    with pytest.raises(NotCertified):
        found.epsilon(Fraction("1e-9"))


@pytest.mark.parametrize(
    ("parts", "delta", "gap"),
    [
        ([steps("10.4", "0.352"), steps("1.05", "5.55e-5", 527)], "8e-23", 1e-9),
        ([steps("4.41", "1.62e-5", 235), "laplace(scale=14.5) * 13"], "7.73e-8", 1e-9),
        (["randomized_response(epsilon=0.08) * 9", steps("2.9", "3.2e-5", 4), "laplace(scale=4) * 9"], "2.5e-24", 1e-7),
        (
            ["randomized_response(epsilon=0.247) * 2", steps("0.998", "0.000489", 706), steps("0.354", "0.1")],
            "2.64e-40",
            1e-9,
        ),
    ],
)
def test_corners_of_the_search(parts, delta, gap):
    """A start that is far off and a dear plan; directions that saddles do not tell apart; a plan that cannot be fine; a
    low part that vanishes at some nodes."""
    found = profile(" + ".join(parts))
    bound, witness = found.epsilon(Fraction(delta))
    assert 0 < bound.lower < bound.upper < bound.lower * (1 + gap)
    with precision(200):
        assert found.prove(Fraction(bound.upper), witness) <= ball(Fraction(delta))
        assert found.prove(Fraction(bound.lower), witness) > ball(Fraction(delta))
