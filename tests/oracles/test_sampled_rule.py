"""The trapezoidal rule of the sampled normal transform: its error bound against its error, at coarse steps."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import mpmath as mp
import pytest

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.moments.sampled_normal_floats import window
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.sampled import SampledNormalTransform
from tightrope.numerics.transforms.sampled_rule import Rule, right_end, rule

F = Fraction
SETTINGS = [
    (mu, q, power, y)
    for mu in (F(1, 2), F(1))
    for q in (F(1, 10), F(1, 100))
    for power in (F(3), F(-2))
    for y in (F(2), F(12))
]
STEPS = [(F(1), F(5, 2)), (F(1, 2), F(2)), (F(2, 5), F(5, 2))]  # with the depth of their strip
CUTS = [(), (F(3),), (F(4),), (F(6),), (F(3), F(6)), (F(4), F(5), F(7))]


@lru_cache
def summed(mu: F, q: F, power: F, y: F, step: F) -> mp.mpc:
    """h Σ φ(z) w(z)^{A+iy}."""
    m, rate, h = mp.mpf(mu.numerator) / mu.denominator, mp.mpf(1) / q.denominator, mp.mpf(1) * step.numerator
    h /= step.denominator
    total = mp.mpc(0)
    for j in range(int(-14 / h), int(19 / h) + 1):
        z = h * j
        total += mp.exp(-z * z / 2 + mp.mpc(int(power), int(y)) * mp.log1p(rate * mp.expm1(m * z - m * m / 2)))
    return total * h / mp.sqrt(2 * mp.pi)


def error_and_bounds(
    setting: tuple[F, F, F, F], step: F, depth: F
) -> tuple[mp.mpf, dict[tuple[F, ...], mp.mpf], mp.mpf]:
    """The rule's error, its bound for all cuts that are allowed, and the bound at y = 0."""
    mu, q, power, y = setting
    with mp.workdps(25):
        error = abs(summed(mu, q, power, y, step) - summed(mu, q, power, y, F(1, 16)))
        most = summed(mu, q, power, F(0), F(1, 16)).real
        bounds = {}
        with precision(80):
            still = Rule(step, -60, 60, depth).alias(ball(mu), power)
            for cuts in CUTS:
                chosen = Rule(step, -60, 60, depth, cuts)
                try:
                    bound = chosen.moving(ball(mu), ball(q), power, ball(y), still, Ball(mp.nstr(most, 20)))
                except NotCertified:
                    continue
                bounds[cuts] = mp.mpf(bound.upper().str(15, radius=False))
            return error, bounds, mp.mpf(still.str(15, radius=False)) * most


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_error_is_within_its_bound_however_the_strip_is_cut(setting):
    for step, depth in STEPS:
        error, bounds, _ = error_and_bounds(setting, step, depth)
        assert () in bounds
        assert all(error <= bound for bound in bounds.values())


def test_the_angle_is_needed_and_a_cut_strip_says_more():
    error, bounds, still = error_and_bounds((F(1), F(1, 10), F(3), F(12)), F(2, 5), F(5, 2))
    assert error > 1e9 * still  # so much more than at y = 0
    assert error > 1e-3 * bounds[F(3),]
    assert bounds[F(3),] < 0.1 * bounds[()]
    assert bounds[F(3), F(6)] < bounds[F(3),]


def test_a_strip_that_is_cut_before_its_peak_is_refused():
    with precision(80), pytest.raises(NotCertified, match="before its peak"):
        Rule(F(1, 4), -60, 60, F(1), (F(1),)).moving(Ball(1), ball(F(1, 10)), F(3), Ball(1), Ball(1), Ball(1))


def test_cuts_must_rise():
    with precision(80), pytest.raises(NotCertified, match="before its peak"):
        Rule(F(1, 4), -60, 60, F(1), (F(5), F(4))).moving(Ball(1), ball(F(1, 10)), F(3), Ball(1), Ball(1), Ball(1))


def test_rules_for_very_rare_steps_are_short_however_far_out():
    left, right = window(0.17, 10.0, -2e-5, -10.8, 110.0, 0.0)
    chosen = rule(0.17, 2e-5, 10.0, 8000.0, 110.0, left, right_end(0.17, 2e-5, 10.0, 110.0, right))
    assert len(chosen.cuts) > 1
    assert chosen.last - chosen.first < 500  # with one cut, it would be thousands


def test_rules_for_rare_steps_cut_their_strip_and_need_fewer_nodes():
    left, right = window(1.0, 4.75, -0.001, -6.9, 49.0, 0.0)
    near = right_end(1.0, 0.001, 4.75, 49.0, right)
    chosen = rule(1.0, 0.001, 4.75, 8.3, 49.0, left, near)
    assert near < right - 2
    assert chosen.cuts
    assert chosen.last - chosen.first < 70  # an uncut strip would need a hundred
    assert rule(1.0, 0.5, 4.75, 0.1, 49.0, left, right).cuts == ()


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("adding", [False, True])
def test_a_line_with_a_cut_strip_holds_the_transform(adding):
    transform = SampledNormalTransform(Real(F(1)), F(1, 1000), adding)
    t, eta, count = F(15, 4), F(19, 32), 14
    with precision(68):
        log, phi = transform.line(t, eta, count)
    power = -t if adding else t + 1
    with mp.workdps(40):
        def moment(y: F) -> mp.mpc:
            sign, m = (-1 if adding else 1), mp.mpf(1)
            exponent = mp.mpc(mp.mpf(power.numerator) / power.denominator, sign * mp.mpf(y.numerator) / y.denominator)
            h, total = mp.mpf(1) / 24, mp.mpc(0)
            for j in range(-14 * 24, 20 * 24):
                z = h * j
                total += mp.exp(-z * z / 2 + exponent * mp.log1p(mp.expm1(m * z - m * m / 2) / 1000))
            return total * h / mp.sqrt(2 * mp.pi)

        still = moment(F(0))
        assert abs(mp.mpf(log.mid().str(25, radius=False)) - mp.log(still.real)) < mp.mpf(2) ** -64
        for k in (1, 7, 14):
            want = moment(eta * k) / still
            got = mp.mpc(phi[k].real.mid().str(25, radius=False), phi[k].imag.mid().str(25, radius=False))
            radius = mp.mpf(phi[k].real.rad().str(10, radius=False)) + mp.mpf(phi[k].imag.rad().str(10, radius=False))
            assert abs(got - want) <= radius + mp.mpf(10) ** -24
            assert radius < mp.mpf(2) ** -60
