"""Schedules of noise or of rates: moments that are interpolated, held to each member's own and to the definition."""

import math
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from reference_grid import Part, reference

import tightrope as tr
from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.families import with_families
from tightrope.numerics.transforms.family_discs import NoiseAxis, RateAxis
from tightrope.numerics.transforms.interpolation import Disc, chebyshev, nodes_needed
from tightrope.numerics.transforms.products import Products
from tightrope.numerics.transforms.sampled import SampledNormalTransform
from tightrope.numerics.transforms.sampled_decay import shifted_angle, shifted_moment
from tightrope.numerics.transforms.sampled_family import SampledNormalFamily, _Stretch

F = Fraction
AXES = [
    (NoiseAxis(F(1, 100), False), (0.5, 1.0)),
    (NoiseAxis(F(1, 5), True), (0.6, 1.5)),
    (RateAxis(F(1), False), (0.01, 0.02)),
    (RateAxis(F(3, 2), True), (0.3, 0.6)),
]


def members(low: float, high: float, number: int) -> list[F]:
    return [F(str(round(float(x), 6))) for x in np.geomspace(low, high, number)]


@pytest.mark.parametrize(("axis", "span"), AXES)
@pytest.mark.parametrize(("t", "eta"), [(F(1, 16), F(1, 2)), (F(3), F(1, 4)), (F(9), F(1, 8))])
def test_a_line_is_the_product_of_the_members(axis, span, t, eta):
    places = members(*span, 260)
    family = SampledNormalFamily(axis, [(x, 1 + i % 3) for i, x in enumerate(places)])
    with precision(64):
        log, phi = family.line(t, eta, 12)
        own = [axis.transform(x).line(t, eta, 12) for x in places]
        whole = sum((one * (1 + i % 3) for i, (one, _) in enumerate(own)), Ball(0))
        assert any(stretch.rule is not None for stretch in family._layout(*family._key(t, eta * 12, 80)))
        assert log.overlaps(whole)
        assert float(log.rad()) < 1e-15 * max(1.0, float(abs(log).mid()))
        for k, value in enumerate(phi):
            product = reduce(lambda a, b: a * b, (nodes[k] ** (1 + i % 3) for i, (_, nodes) in enumerate(own)))
            assert value.overlaps(product)
            assert float(value.rad()) < 1e-13


@pytest.mark.parametrize(("axis", "span"), AXES)
def test_a_decay_bounds_all_that_follows_and_not_by_much(axis, span):
    family = SampledNormalFamily(axis, [(x, 1) for x in members(*span, 260)])
    t, y = F(2), F(3)
    with precision(60):
        bound = family.decay(t, y)
        sizes = [value.abs_upper() for value in family.line(t, F(1), 12)[1]]
    assert all(float(size) <= float(bound) for size in sizes[3:])
    assert float(bound.log()) < 0.3 * float(sizes[3].log())  # a decay, and not 1


@pytest.mark.parametrize(("t", "y"), [(F(5), F(20)), (F(20), F(20)), (F(20), F(60))])
def test_aliases_of_shifted_moments_are_counted_beside_the_moment(t, y):
    """A bound of aliases relative to E[w^A] was taken for an absolute one, 10²⁹ times too small at large powers."""
    axis = NoiseAxis(F(1, 10), False)
    family = SampledNormalFamily(axis, [(F(100 + i, 100), 1) for i in range(45)])
    with precision(64):
        bound, least = family.decay(t, y).log(), Ball(0)
        for stretch in family._layout(*family._key(t, F(0), 64)):
            mu, rate = axis.law(stretch.members[len(stretch.members) // 2][0])
            angle = shifted_angle(float(mu), float(rate), float(t + 1), float(y))
            for x, _ in stretch.members:
                log = axis.transform(x).log_real(t)
                least += shifted_moment(Real(x), rate, t + 1, y, angle, log).upper().min(Ball(1)).log()
    assert float(bound.mid()) >= float(least.mid()) - 0.01 * abs(float(least.mid()))


def log_mean(mu: float, rate: float, power: float) -> float:
    """ln E[w^A] by a sum."""
    z = np.linspace(-12, 12 + abs(power) * mu, 40001)
    w = 1 - rate + rate * np.exp(mu * z - mu * mu / 2)
    return math.log(np.sum(np.exp(-z * z / 2) * w**power) * (z[1] - z[0]) / math.sqrt(2 * math.pi))


def bound_by_hand(axis, disc, power, y, shift):
    """The bounds of the docstring of family_discs, in floats."""
    c, radius, psi = float(disc.centre), float(disc.radius), float(shift or 0)
    if isinstance(axis, NoiseAxis):
        r = radius / c
        kappa = 1 - 2 * r**2
        m2 = c**2 * (1 + r) ** 2 / kappa
        theta = c**2 * (1 + r) ** 2 * r * math.sqrt(1 - r**2)
        log = max(log_mean(math.sqrt(m2), float(axis.rate), power), 0) - math.log(kappa) / 2
        log += power * m2 * (1 - kappa**2) / 2 if power >= 0 else power * math.log(math.cos((psi + theta) / 2))
        if shift is None:
            return log + y * theta
        return log + psi**2 / 2 / (c - radius) ** 2 + y * max(theta - psi, 0)
    alpha, beta = math.asin(radius / c), math.atan(radius / (1 - c - radius))
    log = max(log_mean(float(axis.mu), c + radius, power), 0)
    if shift is None:
        return log + math.log(2) + y * max(alpha, beta)
    size = 1 + 2 * radius if power >= 0 else (1 - 2 * radius) * math.cos((psi + alpha + beta) / 2)
    return log + power * math.log(size) + psi**2 / 2 / float(axis.mu) ** 2 + y * max(beta, alpha - psi)


@pytest.mark.parametrize(("axis", "span"), AXES)
@pytest.mark.parametrize("power", [F(-3), F(1, 2), F(4)])
@pytest.mark.parametrize("shift", [None, F(1, 8), F(1, 2)])
def test_moments_on_a_disc_are_below_their_bound(axis, span, power, shift):
    """The definition, with a complex μ or rate, by a sum over the axis; and the bound is the one that is proved."""
    centre = F(str(round((span[0] + span[1]) / 2, 3)))
    disc = Disc(centre, axis.largest_radius(centre) / 3)
    y = 4.0
    with precision(60):
        bound = float(axis.log_most(disc, power, F(y), shift).mid())
    assert bound == pytest.approx(bound_by_hand(axis, disc, float(power), y, shift), rel=1e-6, abs=1e-6)
    u = np.linspace(-30, 30, 12001)
    psi = float(shift or 0)
    for turn in np.exp(1j * np.linspace(0, 2 * np.pi, 24, endpoint=False)):
        x = complex(float(disc.centre)) + float(disc.radius) * turn
        mu, q = (x, float(axis.rate)) if isinstance(axis, NoiseAxis) else (complex(float(axis.mu)), x)
        density = np.exp(-u * u / (2 * mu * mu) + psi**2 / (2 * mu * mu)) / (mu * np.sqrt(2 * np.pi))
        a = float(power) + 1j * y
        up, down = (np.log(1 - q + q * np.exp(u - mu * mu / 2 + sign * 1j * psi)) for sign in (1, -1))
        values = density * (np.exp(a * up) if shift is None else np.exp(a / 2 * up + np.conj(a) / 2 * down))
        assert math.log(abs(values.sum() * (u[1] - u[0]))) <= bound + 1e-9


@pytest.mark.parametrize(("axis", "span"), AXES)
def test_what_the_bounds_say_of_w_holds_at_every_place(axis, span):
    """|w| and arg w on the circle, at any outcome: each inequality of the proof; none could be much smaller."""
    c = (span[0] + span[1]) / 2
    radius = float(axis.largest_radius(F(str(round(c, 6))))) / 2
    x = c + radius * np.exp(1j * np.linspace(0, 2 * np.pi, 721))[:, None]
    if isinstance(axis, NoiseAxis):
        u, q, r = np.linspace(-12, 12, 2001), float(axis.rate), radius / c
        kappa, far = 1 - 2 * r * r, c**2 * (1 + r) ** 2
        theta, angle = far * r * math.sqrt(1 - r * r), np.angle(x)
        w = 1 - q + q * np.exp(u - x * x / 2)
        m2 = abs(x) ** 2 / np.cos(2 * angle)
        plain = 1 - q + q * np.exp(u - m2 / 2)
        assert (m2 <= far / kappa * (1 + 1e-12)).all()
        most = np.exp(far / kappa * (1 - kappa**2) / 2) * plain
        least = math.cos(theta / 2) * plain
    else:
        growth = np.exp(np.linspace(-12, 12, 2001))
        theta = max(math.asin(radius / c), math.atan(radius / (1 - c - radius)))
        w = 1 - x + x * growth
        low, high = (1 - rate + rate * growth for rate in (c - radius, c + radius))
        most, least = np.maximum(low, high), np.minimum(low, high)
    assert (abs(np.angle(w)) <= theta + 1e-12).all()
    assert (abs(w) <= most * (1 + 1e-12)).all()
    assert (abs(w) >= least * (1 - 1e-12)).all()
    assert abs(np.angle(w)).max() > theta / 3


@pytest.mark.parametrize(("axis", "span"), AXES)
@pytest.mark.parametrize("shift", [None, F(1, 4)])
def test_few_places_make_wide_balls_that_hold_the_truth(axis, span, shift):
    """With far too few places the error shows, and the balls grow with it."""
    centre = F(str(round((span[0] + span[1]) / 2, 3)))
    disc = Disc(centre, axis.largest_radius(centre) / 2)
    places = [centre + disc.radius * k / 16 for k in (-7, -3, 1, 5, 7)]
    family = SampledNormalFamily(axis, [(x, 1) for x in places])
    stretch = _Stretch(tuple((x, 1) for x in places), chebyshev(disc, disc.radius / 2, 3))
    t, eta = F(2), F(3, 2)

    def find(x):
        mu, rate = axis.law(x)
        if shift is not None:
            return [ComplexBall(shifted_moment(_real(mu), rate, axis.power(t), 6 * eta, shift, Ball(0)))]
        log, phi = axis.transform(x).line(t, eta, 6)
        return [ComplexBall(log.exp()) * one for one in phi]

    with precision(90):
        rows = family._values(stretch, find, lambda d: axis.log_most(d, axis.power(t), 6 * eta, shift))
        own = [find(x) for x in places]
    both = [pair for row, truth in zip(rows, own, strict=True) for pair in zip(row, truth, strict=True)]
    assert all(found.contains(true.mid()) for found, true in both)
    assert max(float(abs(found.mid() - true.mid()).mid()) for found, true in both) > 1e-9  # not right by chance


def test_bounds_are_asked_for_the_last_node(monkeypatch):
    asked = []
    known = NoiseAxis.log_most

    def recorded(self, disc, power, y, shift):
        asked.append((y, shift is None))
        return known(self, disc, power, y, shift)

    monkeypatch.setattr(NoiseAxis, "log_most", recorded)
    family = SampledNormalFamily(NoiseAxis(F(1, 100), False), [(x, 1) for x in members(0.5, 1, 200)])
    with precision(40):
        stretches = family._layout(*family._key(F(2), F(1, 4) * 24, 60))
        asked.clear()
        family.line(F(2), F(1, 4), 24)
        assert asked == [(F(6), True)] * sum(stretch.rule is not None for stretch in stretches)
        asked.clear()
        family.decay(F(2), F(6))
        assert (F(6), False) in asked


def test_an_interpolation_errs_by_no_more_than_it_says():
    """Of a function with a pole just outside of the disc; and what it says is Hermite's formula."""
    disc, pole = Disc(F(1), F(1, 2)), F(193, 128)  # 1/(ζ − pole) is at most 128 on the disc
    rule = chebyshev(disc, F(1, 4), nodes_needed(0.5, 12.0))
    with precision(100):
        points = [F(4, 5), F(31, 30), F(21, 20), F(6, 5)]
        for x, (counts, share) in zip(points, rule.weights(points), strict=True):
            value = sum((c / ball(place - pole) for c, place in zip(counts, rule.places, strict=True)), Ball(0))
            error = abs(value - 1 / ball(x - pole))
            assert error <= 128 * share
            assert error > 0
            by_hand = math.prod(abs(x - place) / (F(1, 2) - abs(place - 1)) for place in rule.places)
            assert float(share) == pytest.approx(float(by_hand / 2 / (F(1, 2) - abs(x - 1))))


def test_products_of_many_turning_numbers_stay_sharp():
    with precision(80):
        turn = ComplexBall(Ball(1).cos(), Ball(1).sin())
        products = Products(2)
        for k in range(1001):
            products.take([turn, -turn if k % 2 else turn])
        for value, sign in zip(products.values(), (1, 1), strict=True):
            assert value.overlaps(ComplexBall(Ball(1001).cos(), Ball(1001).sin()) * sign)
            assert float(value.rad()) < 1e-19


def test_only_losses_of_one_kind_are_taken_together():
    rates = [(SampledNormalTransform(_real(1), x, False), 1) for x in members(0.01, 0.1, 50)]
    noises = [(SampledNormalTransform(_real(x), F(1, 7), True), 2) for x in members(0.5, 1, 60)]
    found = with_families([*rates, *noises])
    assert [type(one).__name__ for one, _ in found] == ["SampledNormalFamily"] * 2
    assert with_families(rates[:10]) == rates[:10]


def _real(x):
    return Real(F(x))


def schedule(steps):
    return reduce(lambda a, b: a + b, steps)


@pytest.mark.parametrize("delta", ["1e-3", "1e-9"])
def test_a_schedule_against_convolution(delta):
    sigmas = [round(float(s), 4) for s in np.geomspace(0.8, 2, 44)]
    claim = tr.epsilon(schedule([tr.Gaussian(s).poisson("0.05") * 4 for s in sigmas]), delta=delta)
    assert claim.tight
    assert claim.upper / claim.lower < 1 + 1e-9
    value, error = reference([Part(4, sigma=s, rate=0.05) for s in sigmas], float(delta), 2**15)
    assert error < 1e-3 * value
    assert claim.lower - error <= value <= claim.upper + error


@pytest.mark.parametrize("number", [400, 1500])
def test_hundreds_of_steps_with_a_number_of_their_own(number):
    """Between what two schedules of few kinds cost, one with more and one with less noise; and close."""
    sigmas = [F(str(round(float(s), 6))) for s in np.linspace(1, 1.5, number)]
    claim = tr.epsilon(schedule([tr.Gaussian(s).poisson("0.02") for s in sigmas]), delta="1e-6")
    assert claim.tight
    assert claim.upper / claim.lower < 1 + 1e-9
    assert bool(tr.check(claim.to_json()))
    ends = []
    for side in (0, -1):
        blocks = [sigmas[i : i + number // 20] for i in range(0, number, number // 20)]
        ends.append(tr.epsilon(schedule([tr.Gaussian(b[side]).poisson("0.02") * len(b) for b in blocks]), delta="1e-6"))
    assert ends[1].lower <= claim.lower <= claim.upper <= ends[0].upper
    assert ends[0].upper < 1.1 * ends[1].lower
