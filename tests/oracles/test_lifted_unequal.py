"""Sampled losses between laws of unequal variance, on a path on which w^{iy} does not grow: against the definition."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import acb, ctx
from quick_numbers import flint, integral

import tightrope as tr
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.transforms.lifted_nodes import lifted_sums
from tightrope.numerics.transforms.lifted_unequal import LiftedPowers, _way_back, lifted_unequal
from tightrope.numerics.transforms.quadratic_loss import QuadraticLoss
from tightrope.numerics.transforms.sampled_unequal import SampledUnequalTransform

F = Fraction
LAWS = [
    (QuadraticLoss(F(1), F(6, 5), F(0), F(1), F(1, 100)), F(1)),
    (QuadraticLoss(F(0), F(1), F("0.0763"), F("0.59"), F("0.00686")), F("0.25")),
    (QuadraticLoss(F(0), F(1), F("1.29"), F("0.989"), F("6.57e-5")), F("1.7")),
]


def moment(law, power, y):
    """E[w^{A+iy}] along the axis."""
    with ctx.workdps(40):
        bend, slope, q = (flint(x) for x in (law.bend, law.slope, law.rate))
        height = (flint(law.s2) / flint(law.s1)).log() - flint((law.m1 - law.m2) ** 2 / (2 * law.s1**2))
        a = acb(flint(power), flint(F(y)))

        def f(z, analytic):
            w = (1 + q * ((bend * z + slope) * z + height).expm1()).log(analytic)
            return (a * w - z * z / 2).exp() / (2 * acb.pi()).sqrt()

        return complex(integral(f, [-30, -16, -9, -5, -2, 0, 2, 5, 9, 16, 30]))


@pytest.mark.parametrize(("law", "t"), LAWS)
@pytest.mark.parametrize("adding", [False, True])
def test_nodes_against_the_definition(law, t, adding):
    transform, eta, indices = SampledUnequalTransform(law, adding), F(1, 2), np.array([0, 1, 9, 120, 121])
    power = -t if adding else t + 1
    with precision(128):
        rule = transform.lifted(t, F(64))
        values, error = lifted_sums(rule, eta, indices)
    assert error < 2e-12
    whole = moment(law, power, 0).real
    for k, value in zip(indices, values, strict=True):
        y = -float(k) / 2 if adding else float(k) / 2
        assert abs(value - moment(law, power, y) / whole) <= float(error) + 1e-15


def continued(law, z):
    """ln w where q·e^l outweighs what is left, whatever the angle."""
    bend, slope, height, q = law.coefficients()
    rise = (bend * z + slope) * z + height
    return rise + q.log() + ((1 - q) / q * (-rise).exp()).log1p()


@pytest.mark.parametrize(("law", "t"), LAWS)
def test_the_size_of_what_is_integrated_is_bounded_on_balls(law, t):
    """At any place of the ball, and at its conjugate, for any y' up to y, both branches."""
    y = F(40)
    shape = LiftedPowers(law, t + 1, y, F(3, 2), F(1))
    rng = np.random.default_rng(1)
    bounded = 0
    with precision(80):
        for _ in range(60):
            middle, radius = complex(rng.uniform(-9, 9), rng.uniform(0, 0.6)), rng.uniform(0.01, 0.15)
            around = ComplexBall(Ball(middle.real, radius), Ball(middle.imag, radius))
            for branch in range(shape.branches):
                size = shape.log_size(around, branch)
                if size is None:
                    continue
                bounded += 1
                for _ in range(20):
                    x = middle + radius * complex(*rng.uniform(-1, 1, 2))
                    for at in (x, x.conjugate()):
                        z, slope = shape.place(ComplexBall(at.real, at.imag))
                        log = continued(law, z) if branch >= 3 else law.ratio(z).log()
                        for up in (0, 11, 40):
                            value = (log * ComplexBall(ball(t + 1), up) - z * z / 2).real + abs(slope).log()
                            assert value.lower() <= size.upper()
    assert bounded > 40


@pytest.mark.parametrize(("law", "t"), LAWS)
@pytest.mark.parametrize("adding", [False, True])
def test_on_the_path_and_on_the_way_back_it_is_no_larger_than_said(law, t, adding):
    power = -t if adding else t + 1
    shape = LiftedPowers(law, power, F(10), F(12, 5), F(round(200 / math.sqrt(law.bend)), 100))
    bend, slope, height, q = law.floats
    for x in np.linspace(-12, 12, 97):
        with precision(80):
            away = complex(shape.place(ComplexBall(x))[0]).imag
            bound = float(_way_back(shape, Ball(x)))
        most = 0.0
        for eta in np.linspace(0, away, 9):
            z = complex(x, eta)
            rise = (bend * z + slope) * z + height
            w = 1 - q + q * np.exp(rise)
            assert -1e-12 <= math.atan2(w.imag, w.real) <= 2.4 + 1e-12  # so |w^{iy}| ≤ 1
            most = max(most, abs(w) ** float(power) * math.exp((eta * eta - x * x) / 2) / math.sqrt(2 * math.pi))
        assert abs(away) * most <= bound * (1 + 1e-9)


def test_a_law_that_falls_both_ways_has_no_such_path():
    law = QuadraticLoss(F(0), F(1), F(1), F(6, 5), F(1, 100))
    with pytest.raises(NotCertified), precision(80):
        lifted_unequal(law, F(2), F(9), (-9.0, 9.0), 40.0, Ball(0), False)
    assert SampledUnequalTransform(law, False).lifted(F(1), F(9)) is None


def test_as_many_terms_serve_any_y():
    law, t = LAWS[0]
    transform = SampledUnequalTransform(law, False)
    with precision(128):
        numbers = [len(transform.lifted(t, F(end)).shares) for end in (10, 10**3, 10**5)]
    assert all(b < 1.5 * a for a, b in pairwise(numbers))


@pytest.mark.parametrize(
    ("text", "delta", "low", "high"),
    [
        # the contour's decay was not proved: [0.6586, 1.8891]
        (
            "discrete_gaussian(sigma=2.02).poisson(0.000881) * 81500 + gaussian(sigma=16.1).poisson(0.00114) * 4"
            " + gaussian_pair(0, 1, 1.29, 0.989).poisson(6.57e-5) * 258000", "1.32e-8", 0.759129878, 0.759129879,
        ),
        # its blurred contour had no nodes: [20.3165, 20.3568]
        ("gaussian_pair(0, 1, 0.0763, 0.59).poisson(0.00686) * 607", "6.55e-7", 20.35578, 20.35580),
    ],
)
def test_rare_heavy_steps(text, delta, low, high):
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert low < claim.lower <= claim.upper < high
    assert claim.upper - claim.lower < 1e-6 * claim.upper
    assert bool(tr.check(claim.to_json()))
