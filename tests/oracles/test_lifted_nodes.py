"""Nodes far out of sampled normal losses, on a path above the axis: held to the definition, and to the error bound."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, ctx
from quick_numbers import flint, integral
from random_laws import verdict
from reference_laws import Law

import tightrope as tr
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.float_lines import FloatNodes
from tightrope.numerics.transforms.lifted_nodes import Lifted, height_and_step, lift_error, lifted_sums
from tightrope.numerics.transforms.replace import ReplaceSampledNormalTransform
from tightrope.numerics.transforms.sampled import SampledNormalTransform

F = Fraction
ALL = Ball(-200)  # a floor that no node is below


def moment(mu, q, first, second):
    """∫ φ(z)·w(z)^first·w(−z)^second dz, on a path of its own height."""
    height = min(0.6, 1.1 / float(mu))
    with ctx.workdps(40):
        mu, q, up = flint(mu), flint(q), acb(0, height if first.imag - second.imag >= 0 else -height)
        first, second = (acb(flint(F(p.real)), flint(F(p.imag))) for p in (first, second))

        def f(x, analytic):
            z = x + up
            w, other = ((1 + q * (mu * side - mu * mu / 2).expm1()).log(analytic) for side in (z, -z))
            return (first * w + second * other - z * z / 2).exp() / (2 * acb.pi()).sqrt()

        return complex(integral(f, [-14, -7, -3, 0, 2, 4, 6, 9, 14, 22]))


CASES = [
    (F("2.27"), F("4.11e-5"), F(5, 4)),
    (F(1, 10), F(1, 100), F(3)),
    (F(4), F("1e-3"), F(1, 2)),
    (F(1), F("0.9"), F(4)),
]


@pytest.mark.parametrize(("mu", "q", "t"), CASES)
@pytest.mark.parametrize("kind", ["remove", "add", "replace"])
def test_nodes_however_far_against_the_definition(mu, q, t, kind):
    replaced = ReplaceSampledNormalTransform(Real(mu), q)
    transform = replaced if kind == "replace" else SampledNormalTransform(Real(mu), q, kind == "add")
    powers = {
        "remove": lambda y: (complex(t + 1, y), 0j),
        "add": lambda y: (complex(-t, -y), 0j),
        "replace": lambda y: (complex(t + 1, y), complex(-t, -y)),
    }[kind]
    indices = np.array([0, 1, 3, 200, 201, 5000, 70001, 10**6])
    with precision(128):
        rule = transform.lifted(t, F(10**6))
        values, error = lifted_sums(rule, F(1, 4), indices)
    assert error < 1e-12
    whole = moment(mu, q, *powers(0))
    for k, value in zip(indices[:6], values, strict=False):  # the reference's own path sees no further
        assert abs(value - moment(mu, q, *powers(float(k) / 4)) / whole) <= float(error) + 1e-15
    assert len(rule.shares) < 700


def test_far_sums_in_balls():
    """At a million, term by term at a higher precision."""
    rule = Lifted(
        [ComplexBall(0.5, 0.1), ComplexBall(0.7, -0.2), ComplexBall(-0.2, 0.1)],
        [ComplexBall(0.3, 0), ComplexBall(1.7, 1e-6), ComplexBall(-2.5, 3e-5)],
        Ball("1e-20"),
    )
    for indices in (np.arange(999_000, 1_000_300), np.array([0, 5, 77, 4096, 123_457, 1_048_575]), np.array([0])):
        values, error = lifted_sums(rule, F(3, 7), indices)
        with precision(200):
            for i in {0, len(indices) // 2, len(indices) - 1}:
                y = ball(F(3, 7) * int(indices[i]))
                terms = zip(rule.shares, rule.losses, strict=True)
                total = sum((share * (loss * ComplexBall(0, y)).exp() for share, loss in terms), ComplexBall(0))
                assert abs(complex(total) - values[i]) <= float(error) < 2e-13
    mirrored = Lifted(rule.shares, rule.losses, rule.error, mirrored=True)
    indices = np.array([3, 9])
    assert (lifted_sums(mirrored, F(1), indices)[0] == lifted_sums(rule, F(1), indices)[0].conj()).all()


@pytest.mark.parametrize(("mu", "inverse", "height"), [(1.0, 0.0, 1.2), (2.0, 3.0, 0.6), (0.3, 0.0, 1.5)])
def test_the_error_is_that_of_the_formula(mu, inverse, height):
    step = 0.5
    edge = 1 + math.exp(2 * height**2) * math.cos(height * mu) ** -inverse
    beyond = 1e-9 * math.exp(height**2 / 2) * math.cos(height * mu / 2) ** -inverse
    by_hand = edge / math.expm1(2 * math.pi * height / step) + beyond
    with precision(80):
        found = lift_error(ball(F(mu)), ball(F(inverse)), F(height), F(step), Ball(1e-9))
        assert float(found) == pytest.approx(by_hand, rel=1e-9)
        with pytest.raises(NotCertified):
            lift_error(Ball(2), Ball(0), F(4, 5), F(step), Ball(0))  # the strip would pass a zero of w


@pytest.mark.parametrize(("power", "y"), [(2.25, 900), (-3.0, 40)])
def test_too_few_terms_are_off_by_no_more_than_the_bound(power, y):
    """A rule that is far too coarse: its error shows, and the bound is above it and not far away."""
    mu, q, d = 1.5, 0.02, 0.6
    whole = moment(F(mu), F("0.02"), complex(power, 0), 0j).real
    truth = moment(F(mu), F("0.02"), complex(power, y), 0j)
    for h in (0.6, 0.45, 0.3):
        worst = 0.0
        for shift in np.linspace(0, 1, 7, endpoint=False):
            z = (np.arange(-60, 60) + shift) * h + 1j * d
            w = np.log(1 - q + q * np.exp(mu * z - mu * mu / 2))
            found = np.sum(np.exp(complex(power, y) * w - z * z / 2)) * h / math.sqrt(2 * math.pi)
            worst = max(worst, abs(found - truth) / whole)
        with precision(80):
            bound = float(lift_error(ball(F(mu)), ball(F(max(-power, 0))), F(d), F(h), Ball(0)))
        assert 1e-12 < worst <= bound


def test_a_height_is_chosen_within_the_strip():
    for mu in (1e-3, 0.1, 1.0, 5.0, 50.0):
        for inverse in (0.0, 2.0, 300.0):
            height, step = height_and_step(mu, inverse, 40.0)
            assert 0 < 2 * float(height) * mu < math.pi
            with precision(80):
                assert lift_error(ball(F(mu)), ball(F(inverse)), height, step, Ball(0)) < 1e-17
    with pytest.raises(NotCertified):
        height_and_step(1e3, 1e9, 40.0)


def test_far_nodes_are_lifted_where_a_rule_on_the_axis_is_long():
    transform = SampledNormalTransform(Real(F("2.27")), F("4.11e-5"), False)
    with pytest.raises(NotCertified):
        transform.quadrature(F(5, 4), F(240_000))
    found = transform.few_nodes(F(5, 4), F(1, 2), np.array([0, 1, 470_000]), ALL, 480_000)
    assert isinstance(found, FloatNodes)
    assert found.error < 1e-12
    with pytest.raises(NotCertified):  # every one of them
        lifted_sums(transform.lifted(F(5, 4), F(1)), F(1, 2), np.arange(5_000_000))


def test_rare_steps_with_large_losses_beside_millions_of_responses():
    """[0.30, 1.05] before: the sum of the responses' atoms comes back at a few far nodes."""
    run = tr.DiscreteLaplace(scale="1.71").poisson("0.00023") * 1_720_000 + tr.Gaussian("0.441").poisson("4.11e-5") * 43
    claim = tr.epsilon(run, delta="0.0038")
    assert claim.tight
    assert claim.witness["way"] == "blurred"
    assert claim.upper - claim.lower < 1e-9 * claim.upper
    assert bool(tr.check(claim.to_json()))
    laws = [
        Law("discrete_laplace", 1.71, 1_720_000, "poisson", 0.00023),
        Law("gaussian", 0.441, 43, "poisson", 4.11e-5),
    ]
    assert not verdict(laws, 0.0038, 2**17).missed
