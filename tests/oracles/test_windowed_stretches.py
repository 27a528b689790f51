"""Stretches of a windowed profile: many points by few plans, against each point alone."""

import itertools
from fractions import Fraction

import pytest

from tightrope.accounting.ask import epsilon
from tightrope.accounting.facts import fact
from tightrope.curves.engines.windowed_profile import windowed_profile
from tightrope.curves.engines.windowed_stretches import Stretch, WindowedStretches
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.mechanisms.gaussian import Gaussian
from tightrope.mechanisms.response import RandomizedResponse


def profile(sigma, rate, number):
    found = windowed_profile(fact(Gaussian(sigma).poisson(rate) * number, Loss).curve)
    assert found is not None
    return found


def stretches(found):
    return WindowedStretches(found.steps, found.adding, found._beyond)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
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


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_points_of_one_stretch_share_its_plans():
    found = profile("1", "0.01", 10)
    shared = stretches(found)
    first = Fraction("0.4")
    assert shared.delta(first) is not None
    last = Fraction(shared.kept[0].last)
    assert shared.delta((first + last) / 2) is not None
    assert len(shared.kept) == 1
    assert shared.delta(last * 2) is not None
    assert len(shared.kept) == 2


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_stretches_cover_what_is_between():
    found = profile("1", "0.01", 10)
    shared = stretches(found)
    shared.cover(0.1, 1.0)
    number = len(shared.kept)
    assert shared.kept[0].first == 0.1
    assert shared.kept[-1].last >= 1.0
    assert all(one.last == following.first for one, following in itertools.pairwise(shared.kept))
    for x in (Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)):
        value = shared.needed(x)
        assert value.overlaps(found.prove(x, found.find(x)))
        assert value.rad() < value.mid() / 2**20
    assert len(shared.kept) == number


def test_no_value_where_nothing_bounds_the_other_direction():
    found = profile("1", "0.001", 50)
    shared = stretches(found)
    alone = Stretch(0.0019, 0.0022, found.steps.wide_plan(0.0019, 0.0022), None)
    assert shared._value(Fraction("0.002"), alone) is None
    assert shared._value(Fraction(3), alone) is None


def test_what_is_out_of_reach_is_none():
    found = profile("1", "0.001", 50)
    assert stretches(found).delta(Fraction(0)) is None
    assert stretches(found).delta(Fraction(10**6)) is None
    with pytest.raises(NotCertified):
        stretches(found).needed(Fraction(10**6))


def test_stretches_that_fail_are_not_tried_at_every_point(monkeypatch):
    found = profile("1", "0.001", 50)
    shared, asked = stretches(found), []

    def refuse(first, last, adding=False):
        asked.append((first, last, adding))
        raise NotCertified("a plan", "refused")

    monkeypatch.setattr(found.steps, "wide_plan", refuse)
    for k in range(200, 240):
        assert shared.delta(Fraction(k, 1000)) is None
    assert len(asked) <= 6  # two, and then one for every twentieth
    shared.cover(0.2, 0.3)  # ends, whatever fails
    assert not shared.kept


def test_a_cliff_ends_a_stretch():
    """Beside atoms δ falls by many nats where they end."""
    few = Gaussian(1).poisson("0.001") * 100 + RandomizedResponse(epsilon="0.3") * 10
    found = windowed_profile(fact(few, Loss).curve)
    shared = stretches(found)
    first = shared._begun(2.5)
    levels = [found.steps.estimate(x)[0] for x in (first.first, first.last)]
    assert levels[0] - levels[1] < 14
    assert first.last < 3.4 < 1.6 * first.first


def test_adding_a_record_counts():
    found = profile("1", "0.001", 50)
    shared = stretches(found)
    value = shared.delta(Fraction("0.002"))
    assert shared.kept[0].lesser is not None
    alone = found.prove(Fraction("0.002"), found.find(Fraction("0.002")))
    assert value is not None
    assert value.overlaps(alone)


def test_epsilons_that_no_stretch_has_are_asked_alone():
    found = profile("0.54", "0.000012", 29)
    assert found.epsilons([Fraction("1.1e-4")])[0].upper == 0
    with pytest.raises(NotCertified):
        found.epsilon(Fraction(1, 10) ** 30000)
    assert found.epsilons([Fraction(1, 10) ** 30000]) == [None]


def test_where_one_epsilon_is_0_all_at_larger_deltas_are():
    found = profile("1", "0.01", 10)
    bounds = found.epsilons([Fraction(1, 2), Fraction(1, 3), Fraction(1, 4), Fraction("1e-3"), Fraction("1e-4")])
    assert [bound.upper for bound in bounds[:3]] == [0.0] * 3
    assert 0 < bounds[3].lower < bounds[4].lower


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_deltas_beyond_the_stretches_are_asked_alone(monkeypatch):
    found = profile("1", "0.001", 50)
    monkeypatch.setattr(WindowedStretches, "delta", lambda *_: None)
    points = [Fraction(k, 100) for k in range(1, 8)]
    assert None not in found.deltas(points[:5])
    assert found.deltas(points) == [None] * 7  # another way may be quicker for so many


def test_stretches_that_fail_are_followed_by_none(monkeypatch):
    found = profile("1", "0.001", 50)
    tried = []

    def fails(*places, **_):
        tried.append(places)
        raise NotCertified("a stretch", "it was told so")

    monkeypatch.setattr(found.steps, "wide_plan", fails)
    assert found.deltas([Fraction(k, 10) for k in range(1, 40)]) == [None] * 39
    number = len(tried)
    assert number < 12
    assert set(found.epsilons([Fraction(1, 10**k) for k in range(4, 14)])) == {None}
    assert len(tried) - number < 12


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_epsilons_of_many_deltas_are_those_of_each():
    found = profile("1", "0.001", 50)
    deltas = [Fraction(1, 10**k) for k in range(2, 12)]
    for delta, bound in zip(deltas, found.epsilons(deltas), strict=True):
        own = found.epsilon(delta)[0]
        assert bound.lower <= own.upper
        assert own.lower <= bound.upper
        assert bound.upper - bound.lower <= 1e-8 * bound.upper


def test_many_points_that_atoms_reach_are_left_to_another_way(monkeypatch):
    few = Gaussian(1).poisson("0.001") * 100 + RandomizedResponse(epsilon="0.3") * 2
    found = windowed_profile(fact(few, Loss).curve)
    assert 0.6 <= found.reach < 0.6001
    monkeypatch.setattr("tightrope.curves.engines.windowed_profile._FEW", 0)  # points that are asked alone
    epsilons = [Fraction(k, 10) for k in range(2, 9)]
    assert [value is None for value in found.deltas(epsilons)] == [x < found.reach for x in epsilons]
    deltas = [Fraction("0.02"), Fraction("0.01"), Fraction("1e-5"), Fraction("1e-6"), Fraction("1e-7")]
    bounds = found.epsilons(deltas)
    assert bounds[0] is None
    own = epsilon(few, deltas[3])
    assert own.lower > found.reach
    assert bounds[3].lower <= own.upper
    assert own.lower <= bounds[3].upper
    assert windowed_profile(fact(Gaussian(1).poisson("0.001") * 100, Loss).curve).reach == 0
