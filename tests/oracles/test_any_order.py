"""Rényi divergences of sampled noise at any order, against sums and quadratures of the definition in mpmath."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import pytest

import tightrope as tr
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, lower_float, sharp, upper_float
from tightrope.numerics.moments.sampled import sampled_laplace
from tightrope.numerics.moments.sampled_noise import discrete_noise_mean, normal_noise_mean
from tightrope.numerics.moments.sampled_noise_floats import discrete_noise_means
from tightrope.numerics.real import Real

F = Fraction
DIGITS = 40


def exact(x: F) -> mp.mpf:
    return mp.mpf(x.numerator) / x.denominator


def exponent(x: mp.mpf, mu: mp.mpf, q: mp.mpf, a: mp.mpf, b: mp.mpf) -> mp.mpf:
    """−x²/2 + a·ln w(x) + b·ln w(−x) for a standard normal x."""
    return -x * x / 2 + a * mp.log1p(q * mp.expm1(mu * x - mu * mu / 2)) + b * mp.log1p(
        q * mp.expm1(-mu * x - mu * mu / 2)
    )


def discrete_truth(variance: F, shift: int, rate: F, up: F, down: F) -> mp.mpf:
    """All values between both modes, and thirty deviations more."""
    with mp.workdps(DIGITS):
        sigma, a, b, q = mp.sqrt(exact(variance)), exact(up), exact(down), exact(rate)
        mu = shift / sigma
        low = -30 * sigma - (mp.sqrt(-2 * a * -mp.log1p(-q)) * sigma if up < 0 else 0) - 3
        high = 30 * sigma + max(a, 0) * shift * 1.2 + 3
        ks = range(int(low), int(high) + 1)
        values = [exponent(k / sigma, mu, q, a, b) for k in ks]
        top = max(values)
        whole = mp.nsum(lambda k: mp.exp(-k * k / (2 * exact(variance))), [-mp.inf, mp.inf])
        return top + mp.log(mp.fsum(mp.exp(v - top) for v in values) / whole)


def normal_truth(mu: F, rate: F, up: F, down: F) -> mp.mpf:
    """The trapezoidal rule with far finer steps than are needed, twice."""
    with mp.workdps(DIGITS):
        m, a, b, q = exact(mu), exact(up), exact(down), exact(rate)
        found = []
        for step in (mp.mpf(1) / 64, mp.mpf(1) / 96):
            n = int((16 + a * m * 1.3) / step)
            values = [exponent(j * step, m, q, a, b) for j in range(-int(16 / step), n + 1)]
            top = max(values)
            found.append(top + mp.log(mp.fsum(mp.exp(v - top) for v in values) * step / mp.sqrt(2 * mp.pi)))
        assert abs(found[0] - found[1]) < mp.mpf(10) ** -25 * max(1, abs(found[0]))
        return found[1]


def meets(value: Ball, truth: mp.mpf, relative: float = 1e-12) -> bool:
    """The ball holds the truth, known to 25 digits, and is narrow."""
    low, high, slack = lower_float(value), upper_float(value), abs(truth) * mp.mpf(10) ** -20
    return bool(low - slack <= truth <= high + slack and high - low <= relative * abs(high))


@pytest.mark.parametrize("seed", range(12))
def test_sums_over_discrete_noise(seed: int) -> None:
    """All powers that are used, records removed, added and exchanged."""
    draw = random.Random(seed)
    variance, shift = F(draw.choice([1, 9, 40, 200, 900]), draw.choice([1, 4, 100])), draw.choice([1, 1, 2, 5])
    rate = F(1, draw.choice([2, 10, 1000, 10**5]))
    s = F(draw.randint(1, 4000), draw.choice([1, 10, 10**4, 10**7]))
    for up, down in ((s + 1, F(0)), (-s, F(0)), (s + 1, -s)):
        value = sharp(lambda up=up, down=down: discrete_noise_mean(variance, shift, rate, up, down), limit=1500)
        assert meets(value, discrete_truth(variance, shift, rate, up, down)), (variance, shift, rate, up, down)


@pytest.mark.parametrize("seed", range(8))
def test_rules_for_exchanged_normals(seed: int) -> None:
    """From hardly any order to where the peak is far out."""
    draw = random.Random(100 + seed)
    mu, rate = F(draw.choice([1, 3, 20, 100]), 100), F(1, draw.choice([2, 10, 1000]))
    s = F(draw.randint(1, 300), draw.choice([1, 10, 10**5]))
    value = sharp(lambda: normal_noise_mean(Real(mu * mu), rate, s + 1, -s), limit=1500)
    assert meets(value, normal_truth(mu, rate, s + 1, -s)), (mu, rate, s)


@pytest.mark.parametrize(("variance", "shift"), [(F(10**6), 3), (F(4 * 10**6), 40)])
def test_wide_noise_is_normal_noise_nearly(variance: F, shift: int) -> None:
    """A sum over whole numbers that are many."""
    for up, down in ((F(5, 2), F(0)), (F(-3, 2), F(0)), (F(40), F(-39))):
        value = sharp(lambda up=up, down=down: discrete_noise_mean(variance, shift, F(1, 10), up, down), limit=1500)
        with mp.workdps(DIGITS):
            mu = F(shift, 1000 if variance == 10**6 else 2000)
        assert meets(value, normal_truth(mu, F(1, 10), up, down))  # they differ by e^{−2π²v}


@pytest.mark.parametrize("power", [F(10**6), F(-(10**6)), F(3, 2) * 10**5, F(-(10**5), 3), F(10**9)])
@pytest.mark.parametrize(("epsilon", "rate"), [(F(1), F(1, 10)), (F(7, 2), F(1, 10**4)), (F(150), F(1, 100))])
def test_far_moments_of_laplace_noise(epsilon: F, rate: F, power: F) -> None:
    """The definition, cut where w^a has fallen."""
    value = sharp(lambda: sampled_laplace(epsilon, rate, power), limit=1500)
    with mp.workdps(60):
        e, q, a = exact(epsilon), exact(rate), exact(power)

        def log(x: mp.mpf) -> mp.mpf:
            return mp.log1p(q * mp.expm1(x))

        end = e if a > 0 else -e
        top = a * log(end)
        slope = abs(a) * q * mp.exp(end) / mp.exp(log(end))
        edges = [min(2 * e, t / slope) for t in (0, 1, 4, 16, 50, 120, 300)] + [2 * e]
        places = sorted({end - t if a > 0 else end + t for t in edges})
        inside = mp.quad(lambda x: mp.exp(-(e + x) / 2 + a * log(x) - top) / 4, places)
        atoms = mp.exp(-e + a * log(e) - top) / 2 + mp.exp(a * log(-e) - top) / 2
        assert meets(value, top + mp.log(inside + atoms), 1e-10)


def test_floats_are_near() -> None:
    """Searches use them."""
    powers = [1.5, 2.0, 30.0, 700.0, 4000.0, 1e7, -0.5, -20.0, -3000.0]
    for variance, shift, rate in ((F(4), 1, F(1, 10)), (F(1, 5), 2, F(1, 100)), (F(100), 3, F(1, 1000))):
        for power, found in zip(powers, discrete_noise_means(variance, shift, rate, powers), strict=True):
            truth = sharp(lambda p=power, v=variance, d=shift, q=rate: discrete_noise_mean(v, d, q, F(p), F(0)))
            assert found == pytest.approx(float(truth.mid()), rel=1e-6)


ORDERS = ["1.0000001", "1.5", 2, "2.5", 32, 1000, 10**6, 10**9]
NOISES: list[Callable[[], Mechanism]] = [lambda: tr.DiscreteGaussian(2), lambda: tr.DiscreteGaussian(50),
                                         lambda: tr.Laplace(1), lambda: tr.Gaussian(1), lambda: tr.DiscreteLaplace(2)]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_every_order_is_known_closely(noise: Callable[[], Mechanism], relation: str) -> None:
    """On Poisson samples; and D never falls, while D_α/α stays below ρ."""
    m = noise().poisson("0.01", relation=relation) * 10
    claims = [tr.renyi(m, order=order) for order in ORDERS]
    assert all(c.lower > 0 and c.bound.gap < 1e-9 and c.tight and tr.check(c) for c in claims)
    assert all(one.lower <= other.upper for one, other in pairwise(claims))
    rho = tr.zcdp(m).upper
    assert all(c.lower <= rho * float(Fraction(str(order))) for c, order in zip(claims, ORDERS, strict=True))


@pytest.mark.parametrize("noise", NOISES)
def test_samples_of_a_fixed_size_have_both_ends(noise: Callable[[], Mechanism]) -> None:
    """What is attained is known, and no order is without an upper end."""
    m = noise().without_replacement(10, 1000) * 10
    for order in ORDERS:
        found = tr.renyi(m, order=order)
        assert 0 < found.lower <= found.upper < 3 * found.lower
        assert order != 10**6 or found.bound.gap < 1e-9


def test_no_answer_is_worse_than_what_another_question_proves() -> None:
    """ρ, D_∞ and smaller orders bound D."""
    for m in (
        tr.Gaussian(1).poisson("0.01", relation="replace") * 10,
        tr.Laplace("0.002").poisson("0.01", relation="replace") * 10,
        tr.Laplace("0.002").without_replacement(10, 1000) * 10,
        tr.DiscreteGaussian(700).without_replacement(10, 1000) * 10,
    ):
        top, rho = tr.pure(m).upper, tr.zcdp(m).upper
        for order in (2, 100, 10**6, 10**12):
            found = tr.renyi(m, order=order)
            assert found.upper <= min(top, rho * order) * (1 + 1e-12)
            assert found.lower >= 0.9 * tr.renyi(m, order=2).lower
    m = tr.Gaussian(1).poisson("0.01", relation="replace") * 10
    assert tr.tcdp(m, omega=1000).bound.gap < 1e-6


def test_wide_noise_takes_few_values() -> None:
    """σ = 310 has nodes as coarse as a normal variable's: not 6000 values at each of hundreds of orders."""
    m = tr.DiscreteGaussian(310).poisson("0.01", relation="replace") * 30
    with effort.allowed(2e6):
        found = tr.tcdp(m, omega=1000)
    assert found.bound.gap < 1e-3
