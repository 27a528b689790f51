"""Certified search on functions whose answer is known."""

import math
from fractions import Fraction

import pytest

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.minimum import minimum
from tightrope.numerics.search import crossing, least


def falling(scale):
    """f(x) = e^{−x/scale}: the crossing of t is scale·ln(1/t)."""

    def estimate(x):
        return -x / scale

    def prove(x):
        with precision(160):
            return (-ball(Fraction(x)) / ball(Fraction(scale))).exp()

    return estimate, prove


@pytest.mark.parametrize("scale", [1e-280, 1e-9, 0.3, 1.0, 57.0, 1e9, 1e280])
@pytest.mark.parametrize("target", ["0.5", "1e-9", "1e-300"])
def test_the_crossing_is_enclosed_and_narrow(scale, target):
    estimate, prove = falling(scale)
    found = crossing(estimate, prove, Fraction(target))
    truth = scale * -math.log(float(target))
    assert found.lower <= truth * (1 + 1e-15)
    assert found.upper >= truth * (1 - 1e-15)
    assert found.upper - found.lower <= 1e-14 * truth


def test_at_once_at_zero_and_beyond_floats():
    estimate, prove = falling(1.0)
    assert crossing(estimate, prove, Fraction(1)).upper == 0
    found = crossing(lambda x: 0.0 * x, lambda x: Ball(1) + 0 * ball(x), Fraction(1, 2))
    assert found.lower == 1.7976931348623157e308
    assert found.upper == math.inf


@pytest.mark.parametrize("start", [(3.0, -1.0), (3.0, 0.0), (3.0, 1.0), (1e-9, -1.0), (1e9, -1e-12), (700.0, -1e9)])
def test_a_bad_start_does_no_harm(start):
    estimate, prove = falling(1.0)
    found = crossing(estimate, prove, Fraction("1e-6"), start)
    assert found.lower <= -math.log(1e-6) * (1 + 1e-15)
    assert found.upper >= -math.log(1e-6) * (1 - 1e-15)
    assert found.upper - found.lower < 1e-10


def test_an_estimate_that_lies_only_widens():
    """The search is fooled by a factor of two, the proof is not."""
    _, prove = falling(1.0)
    found = crossing(lambda x: -x / 2, prove, Fraction("1e-3"))
    assert found.lower <= -math.log(1e-3) <= found.upper
    short = crossing(lambda x: -2 * x, prove, Fraction("1e-3"))
    assert short.lower <= -math.log(1e-3) <= short.upper


def test_what_cannot_be_proved_is_refused():
    with pytest.raises(NotCertified):
        crossing(lambda x: -x, lambda x: Ball(0).union(Ball(1)) + 0 * ball(x), Fraction("1e-3"))


def test_the_least_point():
    def one(xs):
        return [(math.log(x) - 2) ** 2 for x in xs]

    assert abs(math.log(least(one, 1e-6, 1e6)) - 2) < 1e-4
    assert least(lambda xs: list(xs), 1e-6, 1e6) == pytest.approx(1e-6)
    assert least(lambda xs: [math.inf for _ in xs], 1e-6, 1e6) > 0
    assert abs(least(lambda xs: [abs(x - 3) for x in xs], 1e-3, 1e3) - 3) < 1e-4


def test_a_minimum_at_a_kink_beside_infinity_at_an_end_and_from_a_start():
    assert abs(minimum(lambda x: abs(x - 0.3), -1, 2) - 0.3) < 1e-7
    assert abs(minimum(lambda x: math.inf if x < 0.5 else (x - 0.7) ** 2, 0, 1) - 0.7) < 1e-7
    assert minimum(lambda x: x, 0, 1) < 1e-7
    assert abs(minimum(lambda x: (x - 5) ** 2, 0, 10, start=(4.0, 1.0)) - 5) < 1e-7


def test_values_that_come_back_are_not_interpolated_through():
    """Steps: many places have one value."""
    steps = [0]

    def estimate(x):
        steps[0] += 1
        return -math.floor(8 * x) / 8

    bound = crossing(estimate, lambda x: (-ball(x)).exp(), Fraction(1, 100), (4.0, -1.0))
    assert bound.lower <= math.log(100) <= bound.upper
    assert steps[0] < 400
