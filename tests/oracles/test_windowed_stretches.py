"""Stretches of a windowed profile: many points by few plans, against each point alone."""

import itertools
from fractions import Fraction

import pytest

from tightrope.accounting.facts import fact
from tightrope.curves.engines.windowed_profile import windowed_profile
from tightrope.curves.engines.windowed_stretches import WindowedStretches
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.mechanisms.gaussian import Gaussian


def profile(sigma, rate, number):
    found = windowed_profile(fact(Gaussian(sigma).poisson(rate) * number, Loss).curve)
    assert found is not None
    return found


def stretches(found):
    return WindowedStretches(found.steps, found.adding, found._beyond)


def test_many_epsilons_agree_with_each_alone():
    found = profile("1", "0.01", 10)
    deltas = [Fraction(1, 10) ** k / 3 for k in range(3, 13)]
    bounds = found.epsilons(deltas[::-1])[::-1]
    for bound, following in itertools.pairwise(bounds):
        assert bound.upper < following.lower
    for delta, bound in list(zip(deltas, bounds, strict=True))[::4]:
        alone = found.epsilon(delta)[0]
        assert bound.upper / bound.lower < 1 + 1e-7
        assert alone.lower <= bound.upper
        assert bound.lower <= alone.upper


def test_points_of_one_stretch_share_its_plans():
    found = profile("1", "0.01", 10)
    shared = stretches(found)
    assert shared.epsilon(Fraction("1e-6")) is not None
    plan = shared._plan
    assert shared.epsilon(Fraction("9e-7")) is not None
    assert shared._plan is plan
    assert shared.epsilon(Fraction("1e-12")) is not None
    assert shared._plan is not plan


def test_no_value_where_nothing_bounds_the_other_direction():
    found = profile("1", "0.001", 50)
    shared = stretches(found)
    shared._plan = found.steps.wide_plan(0.0019, 0.0022)
    assert shared._value(Fraction("0.002")) is None
    assert shared._value(Fraction(3)) is None
    assert shared._compares(0.002, Fraction("1e-3"), below=True) is False


def test_what_is_out_of_reach_is_none():
    found = profile("1", "0.001", 50)
    assert stretches(found).epsilon(Fraction(1, 10) ** 30000) is None  # floats see no such call
    assert stretches(found).epsilon(Fraction(1, 2)) is None  # ε is 0
    assert stretches(found).delta(Fraction(0)) is None
    assert stretches(found).delta(Fraction(10**6)) is None


def test_a_root_that_does_not_settle_is_none():
    found = profile("1", "0.001", 50)
    shared = stretches(found)
    assert shared._root(-10.0) is None  # no plan yet
    shared._begin(0.05)
    shared._near = -3.0, 1.0  # δ does not rise
    assert shared._root(-10.0) is None


def test_adding_a_record_counts():
    found = profile("1", "0.001", 50)
    shared = stretches(found)
    value = shared.delta(Fraction("0.002"))
    assert shared._lesser is not None
    alone = found.prove(Fraction("0.002"), found.find(Fraction("0.002")))
    assert value is not None
    assert value.overlaps(alone)


def test_epsilons_that_no_stretch_has_are_asked_alone():
    found = profile("0.54", "0.000012", 29)
    assert found.epsilons([Fraction("1.1e-4")])[0].upper == 0
    with pytest.raises(NotCertified):
        found.epsilon(Fraction(1, 10) ** 30000)
    assert found.epsilons([Fraction(1, 10) ** 30000]) == [None]
