"""Many points of schedules of very many kinds: narrow where contours are afforded, bracketed elsewhere, never wrong."""

import math
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

import tightrope as tr
from tightrope.accounting import profiles, tradeoff
from tightrope.accounting.facts import fact
from tightrope.accounting.routes import renyi_route
from tightrope.curves.engines.contour_chart import ContourChart, ProfileChart
from tightrope.curves.engines.contour_profile import contour_profile
from tightrope.curves.engines.reverses import each_others_reverse
from tightrope.curves.ladders import fewer_for_many_points, fewest, kinds
from tightrope.curves.loss import Loss
from tightrope.curves.renyi_units import value_units
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import precision

F = Fraction


def schedule(steps):
    return reduce(lambda a, b: a + b, steps)


NOISE = schedule([tr.Gaussian(F(80 + i, 100)).poisson("0.02") for i in range(120)])  # one family
MIXED = schedule([tr.Gaussian(F(80 + i, 100)).poisson(F(10 + i, 1000)) * 4 for i in range(45)])  # none
RARE = schedule([tr.Gaussian(1).poisson(F(100 + i, 10**5)) * 3 for i in range(45)])
TAILS = schedule([tr.Gaussian(F(10 + i, 10)).poisson("0.01") * 10 for i in range(20)])  # of a few, in the end
SCHEDULES = {"noise": NOISE, "mixed": MIXED, "rare": RARE}
EPSILONS = [F(k, 12) for k in range(61)]
DELTAS = [F(1, 10**k) for k in range(1, 14)]
RATES = [F(k, 40) for k in range(1, 40)]


def spent(question):
    with effort.allowed(1e12):
        question()
        return 1e12 - effort.left()


def chart_of(m):
    loss = fact(m, Loss).curve
    return ProfileChart(contour_profile(loss).sums, each_others_reverse(loss))


@pytest.mark.no_cover  # long
@pytest.mark.parametrize("name", SCHEDULES)
def test_points_together_agree_with_each_alone(name):
    m = SCHEDULES[name]
    for many, points, one in (
        (tr.profile(m).delta, EPSILONS, tr.delta),
        (tr.profile(m).epsilon, DELTAS, tr.epsilon),
    ):
        lower, upper = many(points)
        assert np.all(lower <= upper)
        assert np.all(upper[1:] <= upper[:-1]) or points is DELTAS
        for i in (0, 6, 10):
            alone = one(m, points[i])
            assert lower[i] <= alone.upper
            assert alone.lower <= upper[i]
            if name != "rare":
                assert upper[i] <= alone.upper * (1 + 1e-6)
                assert lower[i] >= alone.lower * (1 - 1e-6)


@pytest.mark.no_cover
@pytest.mark.parametrize("name", SCHEDULES)
def test_trade_offs_are_duals_of_the_profile(name):
    m = SCHEDULES[name]
    lower, upper = tr.profile(m).tradeoff(RATES)
    advantage = tr.delta(m, 0)
    for a, low, high in zip(RATES, lower, upper, strict=True):
        assert 0 <= low <= high
        assert low >= 1 - advantage.upper - float(a) - 1e-3  # never worse than what the advantage says
        assert high - low < (1e-6 if name != "rare" else 5e-3)
    for epsilon in (F(0), F(1, 2), F(1)):
        delta = tr.delta(m, epsilon)
        for a, high in zip(RATES, upper, strict=True):
            assert 1 - high - math.exp(epsilon) * float(a) <= delta.upper + 1e-12
    alone = tr.tradeoff(m, RATES[3])
    assert alone.lower <= upper[3]
    assert lower[3] <= alone.upper


@pytest.mark.no_cover
@pytest.mark.parametrize("work", [3e4, 5e5])
@pytest.mark.parametrize("name", SCHEDULES)
def test_with_little_work_ends_hold(monkeypatch, name, work):
    m = SCHEDULES[name]
    truths = [tr.delta(m, e) for e in EPSILONS[::30]]
    exact = tr.profile(m).tradeoff(RATES)
    monkeypatch.setattr(profiles, "_WORK", work)
    monkeypatch.setattr(tradeoff, "_WORK", work)
    lower, upper = tr.profile(m).delta(EPSILONS)
    for truth, low, high in zip(truths, lower[::30], upper[::30], strict=True):
        assert low <= truth.upper
        assert truth.lower <= high
    found = tr.profile(m).tradeoff(RATES)
    assert np.all(found[0] <= exact[1])
    assert np.all(exact[0] <= found[1])
    epsilons = tr.profile(m).epsilon(DELTAS)
    alone = tr.epsilon(m, DELTAS[5])
    assert epsilons[0][5] <= alone.upper
    assert alone.lower <= epsilons[1][5]


@pytest.mark.parametrize("name", SCHEDULES)
def test_no_question_is_more_work_than_four_seconds(name):
    m = SCHEDULES[name]
    assert spent(lambda: tr.profile(m).delta(EPSILONS)) < 4.8e6
    assert spent(lambda: tr.profile(m).tradeoff(RATES)) < 4.2e6
    assert spent(lambda: tr.tradeoff(m, "0.01")) < 3.2e6


def test_far_out_where_floats_see_nothing():
    """Blind contours: what the call was before says about how small it is now."""
    chart = chart_of(TAILS)
    chart.end_at(9.0)
    values = [chart.delta(F(k, 4)) for k in range(37)]
    assert all(value.rel_accuracy_bits() > 18 for value in values)
    for k in (4, 24, 36):
        alone = tr.delta(TAILS, F(k, 4))
        assert float(values[k].lower()) <= alone.upper
        assert alone.lower <= float(values[k].upper())


def test_few_contours_are_afforded():
    total = contour_profile(fact(MIXED, Loss).curve).sums[0]
    fine = ContourChart(total)
    fine.last = 4.0
    fine.call(F(1))
    with effort.allowed(8e5):
        coarse = ContourChart(total)
        coarse.last = 4.0
        value = coarse.call(F(1))
    assert 18 < value.rel_accuracy_bits() < 50
    assert value.overlaps(fine.call(F(1)))


def test_bounds_where_no_contour_is_afforded():
    chart = chart_of(NOISE)
    for epsilon in (F(1), F(4)):
        bound, truth = chart.bound(epsilon), tr.delta(NOISE, epsilon)
        assert float(bound.lower()) <= truth.lower
        assert truth.upper <= float(bound.upper()) <= 1000 * truth.upper
    for delta in (F(1, 10**3), F(1, 10**9)):
        root, truth = chart.root_bound(delta), tr.epsilon(NOISE, delta)
        assert root.lower <= truth.lower
        assert truth.upper <= root.upper <= 2 * truth.upper
    assert chart.root_bound(F(1, 2)).upper == 0.0
    fresh = chart_of(NOISE)
    with effort.allowed(100.0):
        assert fresh.bound(F(1)) is None
        assert fresh.root_bound(F(1, 10**6)) is None


def test_directions_that_are_each_others_reverse():
    assert each_others_reverse(fact(NOISE, Loss).curve)
    assert not each_others_reverse(fact(tr.GaussianPair(1, "1.2", 0, 1).poisson("0.1"), Loss).curve)
    chart = chart_of(NOISE)
    both = ProfileChart([one.total for one in chart.charts])
    with precision(128):
        assert chart.delta(F(0)).overlaps(both.delta(F(0)))


def test_the_fewest_kinds():
    loss = fact(MIXED, Loss).curve
    above, below = fewest(loss)
    assert kinds(above) == kinds(below) == 1
    assert fewest(above) is None
    assert fewer_for_many_points(above) is None
    truth = tr.delta(MIXED, 1)
    highest = tr.delta(tr.Gaussian("0.8").poisson("0.054") * 180, 1)
    lowest = tr.delta(tr.Gaussian("1.24").poisson("0.01") * 180, 1)
    assert lowest.upper < truth.lower <= truth.upper < highest.lower


def test_values_of_a_rényi_curve_are_counted():
    profile = renyi_route(MIXED).build()
    units = value_units(profile.curve)
    witness = profile.find(F(2))
    assert spent(lambda: profile.prove(F(2), witness)) >= units > 5e4
    long = renyi_route(schedule([NOISE, MIXED])).build()
    with effort.allowed(1e4), pytest.raises(NotCertified):
        long.find(F(2))
    with effort.allowed(1e4), pytest.raises(NotCertified):
        long.deltas([F(k, 5) for k in range(20)])


@pytest.mark.no_cover
def test_a_certificate_by_fewer_kinds_is_checked_again():
    claim = tr.tradeoff(RARE, "0.05")
    assert 0.9 < claim.lower <= claim.upper <= 0.95
    assert tr.check(claim.to_json())


@pytest.mark.no_cover
def test_many_kinds_beside_a_part_of_another():
    """No contour takes both: one kind for all rare steps does better than the advantage."""
    m = schedule([tr.Gaussian(F(100 + i, 100)).poisson("0.01") for i in range(20)]) + tr.Laplace(3)
    lower, upper = tr.profile(m).tradeoff(RATES)
    assert np.max(upper - lower) < 0.02
    worst = tr.tradeoff(tr.Gaussian(1).poisson("0.01") * 20 + tr.Laplace(3), RATES[3])
    assert worst.lower <= upper[3]


@pytest.mark.no_cover
def test_sums_of_lattices_beyond_floats():
    m = schedule([tr.Laplace(F(30 + i, 10)) for i in range(150)])
    lower, upper = tr.profile(m).epsilon(DELTAS)
    assert np.all(upper < lower + 1e-3)
