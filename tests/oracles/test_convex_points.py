"""Convex functions known at points: the enclosure of a tilted minimum against closed forms, and how it is closed."""

import math
import random
from fractions import Fraction
from statistics import NormalDist

import pytest

from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.convex_points import ConvexPoints
from tightrope.numerics.convex_search import enough, first_places, next_places

NORMAL = NormalDist()


def below(z):
    """Φ(z) with a small relative error in the tail, too, which NormalDist.cdf has not."""
    return math.erfc(-z / math.sqrt(2)) / 2


def profile(mu):
    """The hockey-stick of N(0, 1) against N(μ, 1) at every real ε."""
    return lambda x: below(-x / mu + mu / 2) - math.exp(x) * below(-x / mu - mu / 2)


def response(x):
    """Randomized response at e^ε = 3: a polygon in e^x with corners at 1/3 and 3."""
    u = math.exp(x)
    return max(1 - u, 0.75 - u / 4, 0.0)


def added(points, height, x, radius, shift=0.0):
    with precision(80):
        points.add(x, Ball(height(x) + shift, radius + 1e-15))


def ends(points, a):
    low, high = points.least(a)
    return float(low), float(high)


def missed_by_normals(mu, a):
    return below(NORMAL.inv_cdf(a) + mu)


@pytest.mark.parametrize("seed", range(40))
def test_points_anywhere_enclose_the_minimum(seed):
    draw = random.Random(seed)
    mu, radius = draw.choice([0.1, 0.5, 1, 3]), draw.choice([0.0, 1e-9, 1e-4])
    points = ConvexPoints()
    for _ in range(draw.randint(0, 8)):
        added(points, profile(mu), draw.gauss(0, mu), radius, draw.uniform(-0.99, 0.99) * radius)
    for a in (1e-4, 0.01, 0.3, 0.5, 0.9, 0.99):
        low, high = ends(points, Fraction(a))
        assert low - 1e-14 <= missed_by_normals(mu, a) <= high + 1e-14


def test_it_has_teeth():
    """One point that is too low by more than its ball makes the enclosure miss."""
    points = ConvexPoints()
    for i in range(-20, 21):
        added(points, profile(1), i / 5, 1e-9, shift=-1e-3 if i == 8 else 0.0)
    x = 8 / 5
    a = below(-x - 0.5)  # the share whose minimum is there
    assert ends(points, Fraction(a))[1] < missed_by_normals(1, a)


def test_no_points_leave_what_is_always_true():
    low, high = ends(ConvexPoints(), Fraction(1, 4))
    assert high == 1.0
    assert low == 0.25  # where 1 − u(1 − a) and a·u meet


@pytest.mark.parametrize(("mu", "radius"), [(0.05, 1e-12), (1.0, 1e-12), (1.0, 1e-8), (4.0, 1e-12)])
@pytest.mark.parametrize("a", [1e-6, 0.05, 0.5, 0.999])
def test_a_few_points_close_the_gap(mu, radius, a):
    points, height = ConvexPoints(), profile(mu)
    added(points, height, 0.0, radius)
    top = points.heights[0]
    wanted = first_places(top, [a])
    for turn in range(9):
        for x in wanted:
            added(points, height, x, radius)
        low, high = ends(points, Fraction(a))
        if enough(points, a, high - low):
            break
        wanted = next_places(points, top, a, late=turn > 2)
    assert high - low < 10 * radius + 1e-12
    assert low - 1e-14 <= missed_by_normals(mu, a) <= high + 1e-14
    assert len(points.places) < 40


@pytest.mark.parametrize("a", [0.1, 0.25, 0.4, 0.8])
def test_corners_are_found(a):
    points = ConvexPoints()
    added(points, response, 0.0, 1e-13)
    top = points.heights[0]
    wanted = first_places(top, [a])
    for turn in range(12):
        for x in wanted:
            added(points, response, x, 1e-13)
        low, high = ends(points, Fraction(a))
        if enough(points, a, high - low):
            break
        wanted = next_places(points, top, a, late=turn > 2)
    truth = min(response(math.log(u)) + a * u for u in (1 / 3, 3)) if a < 1 else 0.0
    assert low - 1e-13 <= truth <= high + 1e-13
    assert high - low < 1e-6


def test_many_shares_begin_apart():
    many = first_places(0.3, [i / 50 for i in range(1, 50)])
    assert len(many) < 50
    gaps = [abs(x - y) for i, x in enumerate(many) for y in many[:i]]
    assert min(gaps) > 0.05


def test_a_place_is_kept_once():
    points = ConvexPoints()
    added(points, profile(1), 0.5, 1e-3)
    added(points, profile(1), 0.5, 1e-9)
    assert points.places == [0.5]
    assert points.radii[0] > 1e-4
    assert next_places(points, 0.3, 0.2, late=False)  # one point alone asks for both sides


def test_a_curve_that_only_falls_is_followed():
    """All points on one side: the last line and a·u still enclose the minimum, and the next place is further out."""
    points = ConvexPoints()
    for x in (-3.0, -2.5, -2.0):
        added(points, profile(1), x, 1e-12)
    low, high = ends(points, Fraction(1, 100))
    assert low <= missed_by_normals(1, 0.01) <= high
    further = next_places(points, points.heights[-1], 0.01, late=False)
    assert further
    assert all(x > -2.0 for x in further)
