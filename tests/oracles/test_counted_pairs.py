"""Sampled pairs of unequal variance count their work, remembered or not, and do not do more than is allowed."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

import tightrope as tr
from tightrope.errors import NotCertified
from tightrope.mechanisms.pair import UnequalPair
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.ellipses import float_places, nodes, panels
from tightrope.numerics.transforms import memory
from tightrope.numerics.transforms.quadratic_decay import best_path, log_path_decays, path_decay
from tightrope.numerics.transforms.quadratic_loss import QuadraticLoss
from tightrope.numerics.transforms.sampled_unequal import SampledUnequalTransform

F = Fraction
LAW = QuadraticLoss(F(1), F(6, 5), F(0), F(1), F(1, 100))


def spent(function):
    """The units that are counted."""
    with effort.allowed(1e9):
        function()
        return 1e9 - effort.left()


def test_a_search_for_low_nodes_is_counted_remembered_or_not():
    transform = SampledUnequalTransform(LAW, adding=True)
    y = 50 * 1.08 ** np.arange(13)
    once, again = (spent(lambda: memory.log_decay_floats(transform, 2.0, y)) for _ in range(2))
    assert once == again == transform.fall_cost > 0
    assert spent(lambda: transform.log_decay_floats(2.0, y)) == transform.fall_cost
    with effort.allowed(transform.fall_cost / 2), pytest.raises(NotCertified):
        memory.log_decay_floats(transform, 2.0, y)


def test_a_line_of_doubles_counts_its_rule_and_its_decay():
    transform = SampledUnequalTransform(LAW, adding=False)
    t, eta, indices = F(1, 4), F(1, 8), np.arange(0, 40_000, 40)

    def asked():
        return transform.few_nodes(t, eta, indices, Ball(-1) / 20, int(indices[-1]))

    once, again = spent(asked), spent(asked)
    assert once == again > transform.decay_cost
    with effort.allowed(transform.decay_cost / 2):
        assert asked() is None


def test_panels_are_as_floats_lay_them():
    transform = SampledUnequalTransform(LAW, adding=False)
    rule = transform._rule(F(5, 4), F(50), 30.0)
    number = nodes(*rule, 3000)
    with precision(80):
        proved = panels(*rule, 3000)
    places, weights = float_places(*rule, 3000)
    assert len(places) == number <= sum(panel.number for panel in proved.panels) < 2 * number
    assert math.log(float(proved.error)) < rule[2] + 5
    assert weights.sum() == pytest.approx(float(proved.ends[1] - proved.ends[0]), rel=1e-12)
    for most in (10, number - 1):
        with pytest.raises(NotCertified):
            nodes(*rule, most)
    with effort.allowed(1e3), pytest.raises(NotCertified):
        panels(*rule, 3000)


@pytest.mark.parametrize("adding", [False, True])
def test_one_lifted_path_is_as_good_as_one_for_each_place(adding):
    transform = SampledUnequalTransform(LAW, adding)
    power = F(-3) if adding else F(5, 4)
    window, log = transform._window(float(power), 42.0), transform._log_float(float(power))
    y = 60 * 1.08 ** np.arange(13)
    told = log_path_decays(LAW, float(power), y, window, log)
    each = [float(log_path_decays(LAW, float(power), y[i : i + 1], window, log)[0]) for i in range(len(y))]
    assert told == pytest.approx(each, rel=0.03)
    path = best_path(LAW, float(power), float(y[5]), window)
    with precision(64):
        exact = transform.log_real(power * -1 if adding else power - 1)
        bound = path_decay(LAW, power, F(float(y[5])), path, lambda nats: transform._window(float(power), nats), exact)
    assert float(bound.log()) == pytest.approx(each[5], rel=0.02)


@pytest.mark.parametrize("power", ["1.00001", "1.00005", "-1", "-3"])
def test_moments_out_of_the_rules_reach_are_bounded_by_convexity(power):
    wide, q, a = UnequalPair(F(1), F(100), F(0), F(1)), F(1, 10**6), F(power)
    u = np.linspace(-math.asinh(4e4), math.asinh(4e4), 200_001)
    z = np.sinh(u)
    loss = z * z * (1 - 1e-4) / 2 + z * 1e-4 - math.log(100) - 0.5e-4
    moved = np.where(loss < 500, np.log1p(1e-6 * np.expm1(np.minimum(loss, 500))), loss - 6 * math.log(10))
    rise = np.expm1(float(a) * moved - z * z / 2) - np.expm1(-z * z / 2)
    truth = math.log1p(float((rise * np.cosh(u)).sum() * (u[1] - u[0])) / math.sqrt(2 * math.pi))
    with precision(64):
        found = wide.sampled_cumulant(q, a)
        assert found is not None
        assert found.lower() <= truth * (1 + 1e-6) + 1e-15
        assert found.upper() >= truth * (1 - 1e-6)
        assert found.upper() < 3 * truth + 1e-15
        assert wide._convex(q, a).upper() >= truth * (1 - 1e-6)
    floats = wide.approximate_sampled_cumulants(q, [float(a)])[0]
    assert floats == pytest.approx(float(found.upper()), rel=1e-3)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("power", ["-2", "-0.5", "1.25", "3"])
def test_the_bound_by_convexity_is_its_formula(power):
    """ln(1 − q + q·E_Q[e^{aL}]), or a·ln(1 − q) for a ≤ 0 if that is less: to nine digits, by quadrature; and the
    moment itself is no larger."""
    q, a = F(1, 10), F(power)
    law = UnequalPair(F(1), F(3, 2) if a < 2 else F(4, 5), F(0), F(1))
    (m1, s1, m2, s2) = (float(x) for x in (law.m1, law.s1, law.m2, law.s2))

    def ratio(z):
        return mp.npdf(z, m1, s1) / mp.npdf(z, m2, s2)

    ends = [-40, -12, -5, -2, 0, 2, 5, 12, 40]
    tilted = mp.quad(lambda z: mp.npdf(z, m2, s2) * ratio(z) ** float(a), ends)
    moment = mp.log(mp.quad(lambda z: mp.npdf(z, m2, s2) * (0.9 + 0.1 * ratio(z)) ** float(a), ends))
    formula = mp.log(0.9 + 0.1 * tilted)
    formula = min(formula, float(a) * mp.log(0.9)) if a <= 0 else formula
    with precision(80):
        found = law._convex(q, a)
    assert float(found.upper()) == pytest.approx(float(formula), rel=1e-9)
    assert moment <= float(found.upper()) * (1 + 1e-9)


def test_a_law_that_is_a_hundred_times_wider_has_a_finite_cost():
    claim = tr.epsilon(tr.GaussianPair(1, 100, 0, 1).poisson("1e-6") * 30, delta=1e-6)
    assert claim.upper < 2e5
    assert bool(tr.check(claim.to_json()))


@pytest.mark.parametrize(
    ("mechanism", "delta", "units", "gap"),
    [
        # bounded losses, rarely sampled: a contour is far quicker than a grid
        (tr.GaussianPair(0, 1, 2, 1.5).poisson("1e-5") * 100_000, "1e-12", 5e5, 1e-9),
        # many steps whose tail a steeper tilt finds
        (tr.GaussianPair(1, 2, 0, 1).poisson("0.01") * 5000, "1e-20", 8e5, 1e-9),
        (tr.GaussianPair(1, 1.2, 0, 1).poisson("0.01") * 1000, "1e-6", 5e5, 1e-9),
        # beside sampled records of equal variance
        (
            tr.GaussianPair(1, 1.2, 0, 1).poisson("1e-4") * 100 + tr.Gaussian(1).poisson("0.01") * 2000,
            "1e-10",
            1.6e6,
            1e-9,
        ),
    ],
)
def test_what_contours_find_is_found_within_what_a_question_may_be(mechanism, delta, units, gap):
    found = []
    assert spent(lambda: found.append(tr.epsilon(mechanism, delta=delta))) < units
    assert found[0].upper <= found[0].lower * (1 + gap)


def test_a_rényi_curve_answers_after_all_others_gave_up():
    claim = tr.epsilon(tr.GaussianPair(1, 1.2, 0, 1).poisson("1e-6") * 10**9, delta=1e-6)
    assert claim.upper < 6.4


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_mixtures_are_smoothed_before_a_grid_is_made():
    drawn, found = tr.Laplace(scale=1).with_replacement(10, 1000) * 1000, []
    assert spent(lambda: found.append(tr.epsilon(drawn, delta=1e-6))) < 4e5
    assert found[0].computed.upper <= found[0].computed.lower * (1 + 1e-6)
