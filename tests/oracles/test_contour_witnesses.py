"""Witnesses of contour proofs: good ones prove, strangers' prove nothing, and never a falsehood."""

from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.contour_profile import ContourProfile, contour_profile
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics.balls import ball, precision

RUN = tr.Gaussian(1).poisson("0.01") * 1000
PROFILE = contour_profile(fact(RUN, Loss).curve)
TRUTH = Fraction("2.6655719247617912e-6")  # δ(2), by an independent inversion


def test_the_witness_proves_at_any_precision_asked_of_it():
    assert isinstance(PROFILE, ContourProfile)
    witness = PROFILE.find(Fraction(2))
    value = PROFILE.prove(Fraction(2), witness)
    with precision(200):
        assert abs(value - ball(TRUTH)) < ball(TRUTH) / 10**10


@pytest.mark.parametrize("direction", [7, -1, 2])
def test_there_are_two_directions(direction):
    witness = {**PROFILE.find(Fraction(2)), "direction": direction}
    with pytest.raises(NotCertified):
        PROFILE.prove(Fraction(2), witness)


@pytest.mark.parametrize("t", [0, -1, Fraction(-1, 100)])
def test_chernoff_needs_a_positive_tilt(t):
    witness = {**PROFILE.find(Fraction(2)), "other": {"t": Fraction(t)}}
    with pytest.raises(NotCertified):
        PROFILE.prove(Fraction(2), witness)


def test_the_other_direction_may_be_integrated_too():
    witness = PROFILE.find(Fraction(2))
    lesser = PROFILE.sums[1 - witness["direction"]].plan(0.05, 1e-8)
    plan = {"t": lesser.t, "eta": lesser.eta, "count": lesser.count, "bits": lesser.bits}
    value = PROFILE.prove(Fraction(2), {**witness, "other": plan})
    with precision(200):
        assert value.upper() >= ball(TRUTH) * (1 - ball(Fraction(1, 10**9)))


@pytest.mark.parametrize("factor", [Fraction(1, 2), Fraction(3, 4), Fraction(5, 4), Fraction(2)])
def test_a_shifted_contour_is_still_a_contour(factor):
    """Any t and any step give a valid, perhaps wide, enclosure."""
    witness = PROFILE.find(Fraction(2))
    for changed in ({"t": witness["t"] * factor}, {"eta": witness["eta"] * factor}, {"count": 5}):
        try:
            value = PROFILE.prove(Fraction(2), {**witness, **changed})
        except NotCertified:
            continue
        with precision(200):
            assert value.lower() <= ball(TRUTH) * (1 + ball(Fraction(1, 10**12)))
            assert value.upper() >= ball(TRUTH) * (1 - ball(Fraction(1, 10**12)))


def test_near_the_total_variation_epsilon_is_zero():
    variation = tr.advantage(RUN)
    assert tr.epsilon(RUN, Fraction(variation.upper) + Fraction(1, 1000)).upper == 0
    assert tr.epsilon(RUN, Fraction(variation.lower) - Fraction(1, 1000)).lower > 0


def test_tiny_rates_are_settled_by_their_distance():
    found = tr.epsilon(tr.Gaussian(1).poisson("1e-12") * 1000, "1e-6")
    assert found.upper == 0
    assert tr.check(found.to_json())


def test_parts_without_a_transform_have_no_contour():
    law = fact(tr.Exponential(1).poisson("0.1") * 3, Loss).curve
    assert contour_profile(law) is None


def test_leaks_are_infinite_at_small_delta():
    mixed = tr.Gaussian(3) + tr.Laplace(10) * 3 + tr.LeakyInput("1e-7")
    profile = contour_profile(fact(mixed, Loss).curve)
    assert isinstance(profile, ContourProfile)
    assert profile.epsilon(Fraction("1e-8"))[0].upper == float("inf")
