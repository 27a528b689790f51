"""Several mechanisms on one sample: finite laws multiplied out, and tables above and below any other law."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.curves.sampled.tabled import (
    loss_dominates_lines,
    loss_is_dominated_by_dots,
    loss_is_dominated_by_even_dots,
)
from tightrope.numerics.balls import Ball, between, precision
from tightrope.numerics.sums.supporting_lines import _least, supporting_lines


def law_of(m):
    return fact(m, Loss).curve


def product(*rows):
    return [Fraction(math.prod(one)) for one in itertools.product(*rows)]


def response(p):
    p = Fraction(p)
    return [p, 1 - p], [1 - p, p]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_finite_parts_on_one_sample_are_one_table():
    rows = [response("3/4"), response("3/4"), response("3/5")]
    p, q = (product(*(pair[side] for pair in rows)) for side in (0, 1))
    whole = tr.Table(p, q)
    parts = tr.RandomizedResponse(p="3/4") * 2 + tr.RandomizedResponse(p="3/5")
    for sampled in (lambda m: m.poisson("0.1") * 30, lambda m: m.without_replacement(2, 30, relation="add-remove") * 9):
        one, other = tr.epsilon(sampled(parts), delta=1e-5), tr.epsilon(sampled(whole), delta=1e-5)
        assert one.tight
        assert one.lower == pytest.approx(other.lower, rel=1e-9)
        assert one.upper == pytest.approx(other.upper, rel=1e-9)
        assert tr.check(one.to_json())
    assert tr.epsilon(parts.poisson(1), delta=1e-5).upper == tr.epsilon(parts, delta=1e-5).upper


def test_unlike_units_and_leaks_are_kept():
    rows = [([Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)], [Fraction(1, 5), Fraction(3, 10), Fraction(1, 2)])]
    rows.append(([Fraction(1, 10), Fraction(9, 10)], [Fraction(0), Fraction(1)]))  # leaks one way
    p, q = (product(*(pair[side] for pair in rows)) for side in (0, 1))
    parts = tr.Table(*rows[0]) + tr.Table(*rows[1])
    for epsilon in (0, 0.01, 0.5):
        one = tr.delta(parts.poisson("0.2") * 3, epsilon=epsilon)
        other = tr.delta(tr.Table(p, q).poisson("0.2") * 3, epsilon=epsilon)
        assert one.upper == pytest.approx(other.upper, rel=1e-12)
        assert one.lower == pytest.approx(other.lower, rel=1e-12)


def test_few_outcomes_on_a_long_lattice_are_listed():
    parts = tr.RandomizedResponse(epsilon="0.812") * 3 + tr.RandomizedResponse(epsilon="3.31")
    assert tr.epsilon(parts.poisson("0.5") * 2, delta=1e-4).tight


def test_slopes_that_may_be_zero_cost_their_error():
    unsure = between(Ball("-0.001"), Ball("0.001"))
    assert _least(Ball(1), unsure, Ball(1), unsure, Ball(1)) <= 0.9995


def test_too_many_outcomes_are_left_to_moments():
    many = (tr.RandomizedResponse(epsilon=0.01) * 10_000).poisson(0.01) * 10
    assert 0 < tr.epsilon(many, delta=1e-6).upper < 10


LAWS = ["gaussian(sigma=2) + laplace(scale=3)", "laplace(scale=3) * 2"]
LAWS.append("gaussian(sigma=1) + randomized_response(p=3/4)")
LAWS.append("gaussian(sigma=3) + gaussian_pair(mean=1, sigma=1.1, other_mean=0, other_sigma=1)")


@pytest.mark.parametrize(
    "text", [text if n % 2 else pytest.param(text, marks=pytest.mark.no_cover) for n, text in enumerate(LAWS)]
)
def test_a_profile_lies_between_its_tables(text):
    law = law_of(tr.parse(text))
    above, below = loss_is_dominated_by_dots(law), loss_dominates_lines(law)
    for side in (0, 1):
        profile = loss_has_profile(Loss(law.directions[side % len(law.directions)]))
        places = [Fraction(k, 97) for k in range(0, 300, 7)]
        with precision(128):
            for x, truth in zip(places, profile.deltas(places), strict=True):
                at = Ball(x.numerator) / x.denominator
                high, low = (table.directions[side][0][0].call(at) for table in (above, below))
                assert not high < truth.lower()  # on a dot both are the same number
                assert not low > truth.upper()
                if truth > 1e-12:
                    assert high < truth * 1.02 + 1e-12
                    assert low > truth * 0.98 - 1e-12


@pytest.mark.parametrize("table", [loss_is_dominated_by_dots, loss_dominates_lines])
def test_tables_are_pairs(table):
    """P and Q have the mass 1, and the second direction is the first one reversed."""
    forward, backward = (parts[0][0] for parts in table(law_of(tr.parse(LAWS[3]))).directions)
    assert isinstance(forward, FinitePair)
    with precision(200):
        for one, other in ((forward, backward), (backward, forward)):
            masses = [mass.ball() for mass in one.law.masses]
            assert sum(masses, one.law.infinite.ball()).overlaps(Ball(1))
            atoms = zip(one.law.values, one.law.masses, strict=True)
            reverse = [mass.ball() * (-value.ball()).exp() for value, mass in atoms]
            assert sum(reverse, other.law.infinite.ball()).overlaps(Ball(1))


UNEVEN = ["gaussian_pair(0, 1, 0.3, 0.7)", "gaussian_pair(1, 1, 0, 1.2)", "table([0.2, 0.3, 0.5], [0.3, 0.3, 0.4])"]


@pytest.mark.parametrize("text", UNEVEN)
def test_an_even_table_dominates_both_ways(text):
    """And hardly more than that; of a sample of a fixed size as well, whose δ is q times that of the worse way."""
    law, rate = law_of(tr.parse(text)), Fraction(1, 20)
    even = loss_is_dominated_by_even_dots(law)
    assert even.add is None
    table = even.remove[0][0]
    sampled = law_of(tr.parse(text).without_replacement(50, 1000)).remove[0][0]
    with precision(160):
        masses = [mass.ball() for mass in table.law.masses]
        turned = [mass * (-value.ball()).exp() for value, mass in zip(table.law.values, masses, strict=True)]
        assert sum(masses, table.law.infinite.ball()).overlaps(Ball(1))
        assert abs(sum(turned, table.law.infinite.ball()) - 1) < 1e-20  # its own reverse, but for what is rounded up
        for k in range(-40, 300, 7):
            at = Ball(k) / 97
            truth = law.remove[0][0].call(at).max(law.add[0][0].call(at))
            assert not table.call(at) < truth.lower()
            assert table.call(at) < truth * 1.001 + 1e-9
            drawn = (Ball(rate.numerator) / rate.denominator * at.expm1()).log1p()
            if k > 0:
                assert not sampled.call(drawn) < (truth / 20).lower()
                assert sampled.call(drawn) < truth / 20 * 1.001 + 1e-9


@pytest.mark.parametrize(("text", "delta"), list(zip(UNEVEN, ["1e-4", "1e-5", "1e-3"], strict=True)))
def test_samples_of_a_fixed_size_cost_what_the_worse_way_does(text, delta):
    """The equal records may be of either kind; one sample attains the bound, many come near it."""
    one = tr.epsilon(tr.parse(text).without_replacement(50, 1000), delta=delta)
    assert one.upper * (1 - 2e-4) <= one.lower <= one.upper
    many = tr.epsilon(tr.parse(text).without_replacement(50, 1000) * 40, delta=delta)
    others = [tr.epsilon(tr.parse(text).poisson("1/20") * 40, delta=delta), tr.epsilon(turned(text) * 40, delta=delta)]
    assert many.lower >= max(claim.lower for claim in others) * (1 - 1e-4)
    assert many.lower <= many.upper <= 1.2 * many.lower
    assert tr.check(many.to_json())


def turned(text):
    """A Poisson sample of the same pair the other way round."""
    name, values = text.split("(", 1)
    rows = values.rstrip(")").split("], [") if name == "table" else values.rstrip(")").split(", ")
    half = len(rows) // 2
    swapped = [f"[{rows[1]}", f"{rows[0]}]"] if name == "table" else [*rows[half:], *rows[:half]]
    return tr.parse(f"{name}({', '.join(swapped)})").poisson("1/20")


def test_an_exchange_whose_ratios_are_huge_has_a_finite_cost():
    """Masses of narrow cells, e^600 times as likely one way as the other, were not known well enough: [2800, ∞]."""
    pair = tr.parse("gaussian_pair(0, 1, 0.164, 0.473)")
    claim = tr.epsilon(pair.poisson("0.631", relation="replace") * 4570, delta="0.048")
    assert 2800 < claim.lower < 4019 < claim.upper < 4021.5


def test_a_table_beyond_floats_is_put_on_a_grid():
    """It took 12 s and gave [1e-4, 4.47]: some masses under Q are below 1e-290."""
    claim = tr.epsilon(tr.parse("gaussian_pair(0, 1, 0.318, 1.25).without_replacement(10, 1000000) * 100"), delta=1e-9)
    assert claim.witness["way"] == "grid"
    assert 0.0174 < claim.lower < claim.upper < 0.01826


def test_lines_stay_below_whatever_the_balls_hide():
    """A profile with kinks, known to a part in a thousand only."""
    atoms = [(-0.7, 0.25), (0.1, 0.35), (0.9, 0.4)]
    total = sum(mass * math.exp(-loss) for loss, mass in atoms)
    atoms = [(loss + math.log(total), mass) for loss, mass in atoms]  # so that Q has the mass 1

    def height(x):
        return sum(mass * max(-math.expm1(x - loss), 0.0) for loss, mass in atoms)

    rng = np.random.default_rng(3)
    for number in (12, 60, 400):
        unit = Fraction(2, number)
        steps = sorted({int(s) for s in rng.integers(-number, number, number)} | {-number, number})
        points = []
        for step in steps:
            truth = height(float(unit * step))
            low, high = truth * (1 - 1e-3 * rng.random()), truth * (1 + 1e-3 * rng.random())
            points.append((step, between(Ball(low), Ball(high))))
        below = supporting_lines(unit, points, Fraction(0))
        for x in np.linspace(-3, 3, 301):
            low = sum(float(p) * max(-math.expm1(x - math.log(p / q)), 0.0) for p, q in below.masses)
            assert low <= height(x) * (1 + 1e-9) + 1e-12
    assert sum(float(p) for p, _ in below.masses) == pytest.approx(1)


def convolved(pairs, copies, epsilon, size=2**16):
    """δ of a composition, the losses of each outcome split onto a lattice: slightly too large."""
    p, q = (np.array(row) for row in pairs)
    loss = np.log(p / q)
    period = 2 * (9 * math.sqrt(copies * float((p * loss**2).sum())) + epsilon + 2 * np.abs(loss).max())
    h = period / size
    place = np.floor(loss / h)
    stays = np.clip(np.expm1(-(loss - (place + 1) * h)) / math.expm1(h), 0, 1)
    lattice = np.zeros(size)
    np.add.at(lattice, place.astype(int) % size, p * stays)
    np.add.at(lattice, (place.astype(int) + 1) % size, p * (1 - stays))
    total = np.fft.irfft(np.fft.rfft(lattice) ** copies, size)
    losses = h * ((np.arange(size) + size // 2) % size - size // 2)
    return float((total * np.maximum(-np.expm1(epsilon - losses), 0)).sum())


@pytest.mark.parametrize(("rate", "copies"), [("0.1", 20), ("0.01", 1000)])
def test_noise_and_a_response_on_one_sample(rate, copies):
    m = (tr.Gaussian(2) + tr.RandomizedResponse(p="3/4")).poisson(rate) * copies
    claim = tr.epsilon(m, delta=1e-4)
    assert 0 < claim.upper - claim.lower < 2e-3 * claim.upper
    z = np.linspace(-9, 9.5, 20_001)
    grid = [np.exp(-((z - shift) ** 2) / 2) * (z[1] - z[0]) / math.sqrt(2 * math.pi) for shift in (0.5, 0.0)]
    first = np.concatenate([grid[0] * 0.75, grid[0] * 0.25])
    second = np.concatenate([grid[1] * 0.25, grid[1] * 0.75])
    mixed = (1 - float(rate)) * second + float(rate) * first
    for end, sense in ((claim.upper, 1), (claim.lower, -1)):
        truth = max(convolved((mixed, second), copies, end), convolved((second, mixed), copies, end))
        assert sense * truth <= sense * 1e-4 * (1 + sense * 2e-4)
    assert tr.check(claim.to_json())
