"""Trade-offs of few steps: against quadrature of two steps, the profile, and each other."""

import math
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.accounting.law_tradeoff import tradeoffs_of
from tightrope.curves.directions import _few
from tightrope.curves.engines.even_direction import EvenDirection
from tightrope.curves.engines.windowed_direction import WindowedDirection
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.real import real
from tightrope.numerics.windowed.parts import Sampler, WindowLaw
from tightrope.numerics.windowed.total import WindowedSum

NORMAL = NormalDist()
PANELS = 150
FPRS = ["0.001", "0.05", "0.3", "0.8", "0.99"]


def ratio(z, mu, q):
    return 1 - q + q * np.exp(mu * z - mu * mu / 2)


def least_missed(mu, q, a):
    """Two sampled steps in z₁, z₂: the least of both directions by Neyman and Pearson, on Gauss-Legendre panels for z₁
    and in closed form for z₂."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = 9.5 / PANELS
    z = np.concatenate([(2 * i + 1 - PANELS) * half + half * nodes for i in range(PANELS)])
    weights = np.tile(half * weights, PANELS)
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * weights
    w = ratio(z, mu, q)
    cdf = np.vectorize(NORMAL.cdf)

    def place(u):
        """Where the second step's ratio reaches u/w."""
        rise = (u / w - 1 + q) / q
        return np.where(rise > 0, np.log(np.maximum(rise, 1e-300)) / mu + mu / 2, -40.0)

    def removing(u):
        """P[W > u] − u·Q[W > u]."""
        b = place(u)
        under_q = density @ cdf(-b)
        under_p = density @ (w * ((1 - q) * cdf(-b) + q * cdf(mu - b)))
        return under_p - u * under_q

    def adding(u):
        """Q[W < 1/u] − u·P[W < 1/u]."""
        b = place(1 / u)
        return density @ cdf(b) - u * (density @ (w * ((1 - q) * cdf(b) + q * cdf(b - mu))))

    found = []
    for call in (removing, adding):
        places = np.linspace(-1, 2, 41)
        values = [call(math.exp(x)) + a * math.exp(x) for x in places]
        i = int(np.argmin(values))
        low, high = places[max(i - 1, 0)], places[min(i + 1, 40)]
        for _ in range(24):  # golden sections
            one, two = high - 0.618034 * (high - low), low + 0.618034 * (high - low)
            fits = call(math.exp(one)) + a * math.exp(one) <= call(math.exp(two)) + a * math.exp(two)
            low, high = (low, two) if fits else (one, high)
        middle = math.exp((low + high) / 2)
        found.append(1 - call(middle) - a * middle)
    return min(found)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("sigma", "rate"), [(1, "0.1"), (1, "0.01"), (2, "0.5")])
def test_two_steps_by_quadrature(sigma, rate):
    lower, upper = tr.profile(tr.Gaussian(sigma).poisson(rate) * 2).tradeoff(["0.02", "0.3", "0.9"])
    for low, high, a in zip(lower, upper, (0.02, 0.3, 0.9), strict=True):
        truth = least_missed(1 / sigma, float(rate), a)
        assert low - 2e-9 <= truth <= high + 2e-9
        assert high - low < 1e-7


FEW = [
    "gaussian(sigma=1).poisson(0.01) * 20",
    "laplace(scale=1).poisson(0.1) * 12",
    "gaussian(sigma=1, sensitivity=2).without_replacement(256, 60000) * 234",
    "gaussian(sigma=1).poisson(0.001) * 10",
    "laplace(scale=1).poisson(0.1, relation=replace) * 5",
]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("text", FEW)
def test_it_is_the_dual_of_the_profile(text):
    """1 − f(a) − e^ε·a ≤ δ(ε) everywhere, and nearly equal somewhere."""
    mechanism = tr.parse(text)
    lower, upper = tr.profile(mechanism).tradeoff(FPRS)
    assert all(0 <= low <= high <= 1 - float(a) + 1e-15 for low, high, a in zip(lower, upper, FPRS, strict=True))
    assert all(np.diff(lower) < 0)
    for epsilon in ("0", "0.1", "0.5"):
        delta = tr.delta(mechanism, epsilon)
        rise = math.exp(float(epsilon))
        for high, a in zip(upper, FPRS, strict=True):
            assert 1 - high - rise * float(a) <= delta.upper + 1e-15
            assert 1 - float(a) - rise * high <= delta.upper + 1e-15  # the test with both kinds of error exchanged
    computed = tr.tradeoff(mechanism, "0.05").computed
    assert computed.upper - computed.lower < 1e-6


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("text", FEW[:2])
def test_one_rate_alone_agrees_with_many(text):
    mechanism = tr.parse(text)
    rates = ["0.001", "0.3", "0.99", "0", "1"]
    lower, upper = tr.profile(mechanism).tradeoff(rates)
    for low, high, a in zip(lower, upper, rates, strict=True):
        alone = tr.tradeoff(mechanism, a)
        assert alone.lower <= high
        assert low <= alone.upper
    assert (lower[-1], upper[-1]) == (0.0, 0.0)
    assert upper[-2] == 1.0


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_more_steps_miss_less():
    step = tr.Gaussian(1).poisson("0.01")
    found = [tr.tradeoff(step * n, "0.05") for n in (1, 2, 5, 20)]
    assert all(after.upper < before.lower for before, after in pairwise(found))


def test_the_curve_is_convex():
    rates = [i / 10 for i in range(1, 10)]
    lower, upper = tr.profile(tr.Laplace(1).poisson("0.1") * 12).tradeoff(rates)
    for i in range(1, 8):
        assert lower[i] <= (upper[i - 1] + upper[i + 1]) / 2  # the lesser of two convex curves, here one of them


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("text", ["gaussian(sigma=1).poisson(0.01) * 20", "laplace(scale=1).poisson(0.1) * 12"])
@pytest.mark.parametrize("fpr", ["1e-12", "1e-300", "0.999999999999"])
def test_rates_at_the_ends(text, fpr):
    claim = tr.tradeoff(tr.parse(text), fpr)
    assert 0 <= claim.lower <= claim.upper <= 1
    assert claim.upper - claim.lower < 1e-6


def test_a_certificate_is_checked_again():
    claim = tr.tradeoff(tr.Gaussian(1).poisson("0.01") * 20, "0.05")
    assert tr.check(claim.to_json())


def test_heavy_and_mixed_steps_are_enclosed():
    """No engine is good at these; what is certain still holds."""
    mixed = tr.Gaussian(1).poisson("0.01") * 10 + tr.Laplace(1).poisson("0.02") * 3
    parts = [tr.Gaussian(1).poisson("0.01") * 10, tr.Laplace(1).poisson("0.02") * 3]
    whole = tr.tradeoff(mixed, "0.05")
    assert whole.lower <= min(tr.tradeoff(part, "0.05").upper for part in parts)
    assert 0.9 < whole.lower <= whole.upper <= 0.95


def test_allocation_beside_other_parts():
    """Both directions of each part are told apart: the whole misses no more than either part."""
    parts = [tr.Gaussian(2).allocated(10), tr.Gaussian(2).poisson("0.1") * 3]
    whole = parts[0] + parts[1]
    missed = tr.tradeoff(whole, "0.05")
    assert missed.lower <= min(tr.tradeoff(part, "0.05").upper for part in parts)
    assert 1 - missed.upper - 0.05 <= tr.delta(whole, 0).upper
    assert missed.upper - missed.lower < 1e-8
    other = tr.Gaussian(2).allocated(10) + tr.Laplace(2).poisson("0.1") * 3
    found = tr.tradeoff(other, "0.05")
    assert found.lower <= tr.tradeoff(parts[0], "0.05").upper
    assert found.lower < found.upper  # no contour takes both parts


def test_draws_with_replacement_cost_more_than_without():
    base = tr.Gaussian(4, sensitivity=2)
    drawn = tr.tradeoff(base.with_replacement(10, 1000) * 20, "0.05")
    assert 0 < drawn.lower <= drawn.upper <= 0.95
    assert drawn.computed.upper - drawn.computed.lower < 1e-3


def test_a_loss_out_of_reach_has_no_tradeoff():
    assert tradeoffs_of(Loss(()), []) == []


def test_the_slow_way_answers_a_few_points():
    deltas = _few(fact(tr.Gaussian(1), Loss).curve)
    first = deltas([Fraction(i, 10) for i in range(5)])
    assert None not in first
    assert sum(value is None for value in deltas([Fraction(i, 7) for i in range(1, 6)])) == 4
    assert deltas([Fraction(1)]) == [None]


def test_little_noise_needs_narrow_stretches():
    """Where a wide stretch is out of reach a narrow one may be had, and else nothing."""
    law = WindowLaw.of([Sampler(real(10), Fraction(1, 100), 20)])
    steps = WindowedSum(law, law)
    removing, adding = WindowedDirection(steps, False), WindowedDirection(steps, True)
    one = tr.delta(tr.Gaussian("0.1").poisson("0.01") * 20, 4)
    value = removing.deltas([Fraction(4)])[0]
    assert value.lower() <= one.upper
    assert value.upper() >= one.lower
    assert adding.deltas([Fraction(0)]) == [None]


class Contours:
    """A contour engine that fails, or counts what it makes."""

    def __init__(self, fails=(), radius=1e-12):
        self.fails, self.radius, self.made = fails, radius, []

    def __call__(self, x):
        self.made.append(x)
        if x in self.fails:
            raise NotCertified("a test", "it was told so")
        radius = self.radius

        def prove(epsilon):
            with precision(80):
                return Ball(math.exp(-10 * float(epsilon)), radius * math.exp(-10 * x))

        return prove


def test_contours_serve_until_the_value_is_small():
    contours = Contours()
    direction = EvenDirection(contours)
    values = direction.deltas([Fraction(i, 10) for i in range(21)])
    assert None not in values
    assert 1 < len(contours.made) < 5
    assert contours.made[0] == 0


def test_a_direction_that_fails_at_once_is_left():
    contours = Contours(fails=(0.0,))
    direction = EvenDirection(contours)
    assert direction.deltas([Fraction(0), Fraction(1)]) == [None, None]
    assert contours.made == [0.0]
    assert EvenDirection(Contours(radius=10.0)).deltas([Fraction(0)]) == [None]


def test_a_later_failure_leaves_a_wide_value():
    direction = EvenDirection(Contours(fails=(3.0,)))
    first, later = direction.deltas([Fraction(0), Fraction(3)])
    assert first is not None
    assert later is not None
    assert later.rel_accuracy_bits() < 10


def test_few_contours_are_made():
    contours = Contours()
    direction = EvenDirection(contours, most=1)
    assert None not in direction.deltas([Fraction(0), Fraction(3), Fraction(6)])
    assert contours.made == [0.0]
