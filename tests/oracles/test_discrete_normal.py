"""The discrete Gaussian's sums against term-by-term sums in mpmath, and against laws between them."""

import random
from fractions import Fraction
from functools import lru_cache

import mpmath
import pytest
from flint import arb, ctx
from mpmath import mpf
from quick_numbers import flint, to_mpmath

from tightrope.numerics.balls import Ball, ball, certain, precision
from tightrope.numerics.discrete_normal import call, log_mass_ratio, mass, tail, upper_probability
from tightrope.numerics.gaussian_tails import _direct_call, _direct_tail, _smooth_tail, law

BITS = 100
VARIANCES = [
    Fraction(1, 1000),
    Fraction(1, 10),
    Fraction(4, 25),
    Fraction(1),
    Fraction(7, 3),
    Fraction(30),
    Fraction(301, 2),
    Fraction(400),
]


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workprec(500):
        yield


def number(x):
    return mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mpmath.make_mpf(x._mpf_)


def holds(b, truth):
    """Whether the ball contains the truth, which is known to some 150 digits less what cancels."""
    slack = abs(truth) * mpf(2) ** -300
    return number(b.lower()) - slack <= truth <= number(b.upper()) + slack


def near(b, text):
    return bool(abs(b / ball(Fraction(text)) - 1) < ball(Fraction(1, 10**19)))


def weight(v, k):
    return mpmath.exp(-(mpf(k) ** 2) / (2 * number(v)))


def quick_weight(v, k):
    """The same in flint's arithmetic."""
    return (flint(-Fraction(k * k) / (2 * v))).exp()


@lru_cache(64)
def brute_tail(v, start):
    reach = int(mpmath.sqrt(start * start * (start > 0) + 2 * number(v) * 300)) + 3
    with ctx.workprec(510):
        return to_mpmath(sum((quick_weight(v, k) for k in range(max(start, -reach), reach)), arb(0)))


def brute_call(v, shift, x):
    """The definition: the mean of (1 − e^{x−L})₊, in no clever order."""
    spread = int(mpmath.sqrt(2 * number(v) * 300)) + 3
    first = int(mpmath.floor(number(x * v / shift - Fraction(shift, 2)))) - 1
    last = max(first, 0) + spread
    total = arb(0)
    with ctx.workprec(510):
        for k in range(max(first, -spread), last):
            below = x - Fraction(shift * (2 * k + shift)) / (2 * v)
            if below < 0:
                total -= flint(below).expm1() * quick_weight(v, k)
        return to_mpmath(total) / brute_tail(v, -(10**9))


def test_published_values():
    with precision(BITS):
        assert near(mass(Fraction(4), Ball(0)), "5.01325654926200100480")
        value = call(Fraction(4), 1, Ball(0.5))
        assert near(value, "0.054007223694154420918")
        assert not near(value, "0.052440323287669661712")  # the continuous Gaussian's
        renyi = 5 + log_mass_ratio(Fraction(1, 4), Fraction(-3, 2)) / ball(Fraction(3, 2))
        assert near(renyi, "4.98082032170201272880")


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("variance", VARIANCES)
def test_sums_contain_brute_force(variance):
    rng = random.Random(str(variance))
    sigma = float(variance) ** 0.5
    total = brute_tail(variance, -(10**9))
    with precision(BITS):
        for _ in range(4):
            start = int(rng.uniform(-5, 20) * sigma) + rng.randint(-1, 1)
            value = tail(variance, start)
            assert certain(value, BITS - 8)
            assert holds(value, brute_tail(variance, start))
        reach = int(30 * sigma) + 3
        for centre in (Fraction(0), Fraction(1, 2), Fraction(rng.randint(-5000, 5000), 1000)):
            c = number(centre)
            middle = round(centre)
            truth = mpmath.fsum(
                mpmath.exp(-((k - c) ** 2) / (2 * number(variance))) for k in range(middle - reach, middle + reach)
            )
            assert holds(mass(variance, centre), truth)
            assert holds(mass(variance, ball(centre)), truth)
            if centre and variance <= 2:  # beyond, the ratio of two sums cannot be told from 1 in 500 bits
                ratio = log_mass_ratio(variance, centre)
                assert certain(ratio, BITS - 4)
                assert abs(number(ratio.mid()) / mpmath.log(truth / total) - 1) < mpf(10) ** -25


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("variance", VARIANCES)
def test_calls_contain_brute_force(variance):
    rng = random.Random(str(variance))
    sigma = float(variance) ** 0.5
    with precision(BITS):
        for shift in (1, 2, max(3, int(2 * sigma)), max(5, int(7 * sigma))):
            for y in (0.0, rng.uniform(-3, 0), rng.uniform(0, 4), rng.uniform(0, 20)):
                x = Fraction(y * shift / max(sigma, 0.1)).limit_denominator(9999)
                truth = brute_call(variance, shift, x)
                value = call(variance, shift, ball(x))
                assert holds(value, truth), (shift, x)
                assert certain(value, BITS - 20), (shift, x)


def test_on_an_atom_the_call_is_known_and_the_probability_is_not():
    v, shift, k = Fraction(11, 10), 3, 2  # x = 105/11 is not dyadic: no ball can tell it from the atom
    x = Fraction(shift * (2 * k + shift)) / (2 * v)
    with precision(BITS):
        value = call(v, shift, ball(x))
        assert certain(value, BITS - 10)
        assert holds(value, brute_call(v, shift, x))
        above, at = brute_tail(v, k + 1), brute_tail(v, k)
        both = upper_probability(v, shift, ball(x))
        total = brute_tail(v, -(10**9))
        assert holds(both, above / total)
        assert holds(both, at / total)
        exactly = upper_probability(Fraction(4), 1, Ball(0.125))  # here x is exact and lies on the atom k = 0
        assert certain(exactly, BITS - 10)
        assert holds(exactly, brute_tail(Fraction(4), 1) / brute_tail(Fraction(4), -(10**9)))


def test_wide_balls_contain_the_values_inside():
    v = Fraction(30)
    with precision(BITS):
        wide = Ball(0.25).union(Ball(0.75))
        value, chance = call(v, 2, wide), upper_probability(v, 2, wide)
        for x in (Fraction(1, 4), Fraction(2, 5), Fraction(3, 4)):
            assert holds(value, brute_call(v, 2, x))
            first = int(mpmath.floor(number(x * v / 2 - 1))) + 1
            assert holds(chance, brute_tail(v, first) / brute_tail(v, -(10**9)))
        narrow = call(v, 2, ball(Fraction(2, 5)))
        assert narrow.rad() < value.rad()


@pytest.mark.parametrize("sigma", [10**3, 10**6, 10**9, 10**300])
def test_large_sigma_by_differences(sigma):
    """Two tails differ by the terms between them: only the right Euler–Maclaurin series gives that."""
    v = Fraction(sigma) ** 2
    with precision(2300 if sigma > 10**10 else 200):
        for start in (1, sigma // 3, 9 * sigma, 30 * sigma):
            between_them = tail(v, start) - tail(v, start + 20)
            truth = sum(((-ball(Fraction(k * k) / (2 * v))).exp() for k in range(start, start + 20)), Ball(0))
            assert between_them.overlaps(truth)
            assert certain(between_them, 60)
            assert not between_them.overlaps(truth + (-ball(Fraction(start * start) / (2 * v))).exp() / 1000)
        assert (2 * tail(v, 1) + 1).overlaps(mass(v, Fraction(0)))
        assert (tail(v, -sigma) + tail(v, sigma + 1)).overlaps(mass(v, Fraction(0)))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_call_at_sigma_1000():
    v, shift, x = Fraction(10**6), 3, Fraction(1, 100)
    with mpmath.workprec(160), precision(BITS):
        value = call(v, shift, ball(x))
        first = int(x * v / shift - Fraction(shift, 2)) + 1
        gains = (
            -mpmath.expm1(number(x) - mpf(shift * (2 * k + shift)) / 2000000) * weight(v, k)
            for k in range(first, first + 9000)
        )
        truth = mpmath.fsum(gains) / (mpmath.sqrt(2 * mpmath.pi) * 1000)
        assert abs(number(value.mid()) / truth - 1) < mpf(10) ** -14
        assert certain(value, BITS - 20)


def test_the_ratio_of_masses_far_below_one():
    """For large v only the first term of the theta series counts: ln ratio = −4 e^{−2π²v} sin²(πc)."""
    v, c = Fraction(10), Fraction(1, 3)
    with precision(BITS):
        value = log_mass_ratio(v, c)
        first = -3 * mpmath.exp(-20 * mpmath.pi**2)
        assert certain(value, BITS - 4)
        assert abs(number(value.mid()) / first - 1) < mpf(10) ** -28
        assert log_mass_ratio(v, Fraction(-12)).is_zero()
        assert certain(log_mass_ratio(Fraction(10) ** 600, c), BITS - 4)
        assert certain(log_mass_ratio(Fraction(1, 10**600), Fraction(1, 2)), BITS - 4)


@pytest.mark.parametrize("variance", [Fraction(1, 10**600), Fraction(1), Fraction(10) ** 600])
@pytest.mark.parametrize("shift", [1, 2, 10**18])
def test_extreme_arguments_are_sound_and_end(variance, shift):
    with precision(BITS):
        for x in (
            Ball(2) ** 10**9,
            Ball(10) ** 300,
            Ball("inf"),
            Ball(2) ** -(10**9),
            Ball(0),
            -(Ball(10) ** 300),
            Ball("-inf"),
            Ball("nan"),
            Ball("0 +/- 1e400"),
        ):
            for value in (call(variance, shift, x), upper_probability(variance, shift, x)):
                assert value.is_finite()
                assert value <= 2
                assert value >= -2
                assert not value > 1
                assert not value < 0
        for start in (-(10**1000), 0, 1, 10**1000):
            assert tail(variance, start).is_finite()
        assert mass(variance, Ball("nan")).is_finite()
        assert mass(variance, Ball(10) ** 400).is_finite()


def test_more_bits_narrow_the_ball():
    for v in (Fraction(1, 50), Fraction(9), Fraction(10**12)):
        x = Fraction(1) if v < 10 else Fraction(4, 10**6)
        coarse, fine = [], []
        for bits, into in ((80, coarse), (400, fine)):
            with precision(bits):
                third = Fraction(1, 3)
                into += [call(v, 1, ball(x)), tail(v, 3), mass(v, third), log_mass_ratio(v, third)]
        for rough, sharp in zip(coarse, fine, strict=True):
            assert rough.overlaps(sharp)
            assert sharp.rad() < rough.rad() * Ball(2) ** -200


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("terms", [1, 2, 3, 5, 9, 20])
def test_the_proved_remainder_covers_a_series_cut_too_early(terms):
    """Few corrections at a small variance: the remainder is large, must be enclosed, and is not overdone."""
    loosest = mpf(0)
    for variance in (Fraction(1, 2), Fraction(1), Fraction(3), Fraction(10), Fraction(60)):
        for start in (0, 1, 2, 5, 12, 40):
            with precision(300):
                value = _smooth_tail(law(variance, 300), start, terms)
            truth = brute_tail(variance, start) / weight(variance, start)
            assert holds(value, truth), (variance, start)
            loosest = max(loosest, abs(number(value.mid()) - truth) / number(value.rad()))
    assert loosest > mpf(1) / 10**5 / 4**terms  # the error is real: without the remainder the ball would miss


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("terms", [1, 2, 6])
def test_a_direct_sum_cut_too_early_encloses_the_rest(terms):
    for variance in (Fraction(1, 2), Fraction(3), Fraction(60)):
        for start in (0, 2, 40):
            with precision(300):
                of = law(variance, 300)
                value = _direct_tail(of, start, terms)
                assert value.rad() > Ball(2) ** -280 * (-of.inverse * (start + 50) * 50).exp()
                gain, above = _direct_call(of, start, terms, of.inverse, Ball(-0.0625))
            truth = brute_tail(variance, start) / weight(variance, start)
            assert holds(value, truth)
            assert number(above.upper()) >= truth
            moved = brute_tail(variance, start + 1) / weight(variance, start + 1)
            assert holds(gain, truth - mpmath.exp(mpf(-1) / 16) * moved)
