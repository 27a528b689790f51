"""Moments of sampled laws against mpmath: quadrature of the definition, nothing centred, nothing shared."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from flint import ctx
from quick_numbers import density, flint, integral, to_mpmath

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, certain, lower_float, precision, upper_float
from tightrope.numerics.moments.sampled import (
    finite_power_mean,
    poisson_general,
    sampled_laplace,
    without_replacement_general,
    without_replacement_lower,
    without_replacement_normal,
)
from tightrope.numerics.moments.sampled_laplace_floats import sampled_laplace_floats
from tightrope.numerics.moments.sampled_normal import log_power_mean, log_power_means, log_power_means_certified
from tightrope.numerics.real import UNBOUNDED, Real, real

F = Fraction


def number(x: F | Ball) -> mp.mpf:
    with mp.workdps(80):
        if isinstance(x, F):
            return mp.mpf(x.numerator) / x.denominator
        man, exp = x.man_exp()
        return mp.ldexp(mp.mpf(int(man)), int(exp))


def holds(value: Ball, truth: mp.mpf, bits: int = 60) -> bool:
    """The ball meets the truth (known to 1e-22 relative) and is known to so many bits."""
    with mp.workdps(80):
        slack = abs(truth) * mp.mpf(10) ** -22
        return certain(value, bits) and abs(number(value.mid()) - truth) <= number(value.rad()) + slack


def at(bits: int, evaluate: Callable[[], Ball]) -> Ball:
    with precision(bits):
        return evaluate()


def normal_truth(mu: F, rate: F, power: F) -> mp.mpf:
    with mp.workdps(34), ctx.workdps(45):
        m, q, a, edges = flint(mu), flint(rate), flint(power), {-14, -5, 0, 5, 14}
        edges |= {power * mu + d for d in (-5, 5, 14)} | {power * mu - 14 if power < 0 else power * mu}

        def f(z, analytic):
            return density(z) * (a * (1 - q + q * (m * z - m * m / 2).exp()).log(analytic)).exp()

        return to_mpmath(integral(f, sorted(edges), 40).real.log())


PRINTED = [  # μ, q, power, divisor, value
    ("1", "0.01", "2", "1", "1.7181342207454793099e-4"),
    ("1", "0.01", "8", "7", "8.9364390760603184735e-4"),
    ("1", "0.01", "2.5", "1.5", "2.1757533228188045261e-4"),
    ("1", "0.01", "1.5", "0.5", "1.2725374332744983354e-4"),
    ("1", "0.01", "1.1", "0.1", "9.2414710846869574886e-5"),
    ("0.25", "0.01", "32", "31", "1.0526360659081726215e-4"),
    ("1", "0.01", "-7", "7", "5.7238889490204333966e-4"),
]


def printed(value: Ball, divisor: F, text: str, digits: int) -> bool:
    with mp.workdps(40):
        truth = mp.mpf(text) * number(divisor)
        return abs(number(value.mid()) - truth) <= abs(truth) * mp.mpf(10) ** -digits


@pytest.mark.parametrize(("mu", "rate", "power", "divisor", "value"), PRINTED)
def test_normal_values(mu: str, rate: str, power: str, divisor: str, value: str) -> None:
    found = at(70, lambda: log_power_mean(real(F(mu)), F(rate), F(power)))
    assert certain(found, 66)
    assert printed(found, F(divisor), value, 19)


def random_cases() -> list[tuple[F, F, F]]:
    rng = random.Random(20)
    cases = [(F(3), F("0.9"), F("4.5")), (F("0.05"), F("0.3"), F("-20")), (F(3), F("0.001"), F("-2.5"))]
    cases += [(F("0.05"), F("1e-6"), F("40.25")), (F(1), F("0.01"), F("1.000001"))]
    cases += [(F(1), F("0.2"), F("0.5"))]
    while len(cases) < 24:
        mu = F(rng.choice(["0.05", "0.2", "0.7", "1.3", "3"]))
        rate = F(rng.choice(["0.9", "0.5", "0.03", "0.001", "1e-5"]))
        cases.append((mu, rate, F(rng.randint(-400, 400) * 2 + 1, 64)))
    return cases


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("mu", "rate", "power"), random_cases())
def test_normal_is_the_integral(mu: F, rate: F, power: F) -> None:
    truth = normal_truth(mu, rate, power)
    assert holds(at(80, lambda: log_power_mean(real(mu), rate, power)), truth)
    float_value = log_power_means(float(mu), float(rate), np.array([float(power)]))[0]
    assert abs(float_value - truth) <= abs(truth) * mp.mpf(10) ** -9


def test_whole_powers_by_quadrature_agree_with_the_binomial_sum() -> None:
    with mp.workdps(50):
        q, total = mp.mpf(1) / 50, mp.mpf(0)
        for k in range(101):
            total += mp.binomial(100, k) * q**k * (1 - q) ** (100 - k) * mp.exp(mp.mpf(k * (k - 1)) / 32)
        assert holds(at(90, lambda: log_power_mean(real(F(1, 4)), F(1, 50), F(100))), mp.log(total), 80)


def test_many_powers_share_nodes_and_agree_with_one() -> None:
    powers = [F(105 + 37 * i, 100) for i in range(60)] + [F(-3, 2), F(0), F(1), F(7)]
    with precision(70):
        many = log_power_means_certified(real(1), F("0.01"), powers)
        single = [log_power_mean(real(1), F("0.01"), power) for power in powers]
    assert all(x.overlaps(y) for x, y in zip(many, single, strict=True))
    assert all(certain(x, 64) for x in many)
    floats = log_power_means(1.0, 0.01, np.array([float(p) for p in powers]))
    assert all(abs(f - float(x)) <= 1e-11 * abs(float(x)) for f, x in zip(floats, many, strict=True))


def test_more_precision_is_narrower_and_overlaps() -> None:
    for mu, rate, power in random_cases()[:8]:
        coarse, fine = (at(bits, lambda: log_power_mean(real(mu), rate, power)) for bits in (64, 256))  # noqa: B023
        assert coarse.overlaps(fine)
        assert certain(fine, 240)


EXTREME = ["1e-300", "1e-12", "0.5", "30", "1e300"]


@pytest.mark.parametrize("mu", EXTREME)
def test_extremes_are_sound_and_end(mu: str) -> None:
    for rate in ("0", "1e-300", "1e-9", "0.5", "0.999999999", "1"):
        for power in ("1.000000001", "3.7", "1e6", "1000000.5", "-7", "-1e6", "1e12"):
            found = at(80, lambda: log_power_mean(real(F(mu)), F(rate), F(power)))  # noqa: B023
            assert not found.is_nan()
            # Hand-made bounds: 0 (Jensen) and the mixture of q = 0 and q = 1.
            gain = number(F(power) * (F(power) - 1)) * number(F(mu)) ** 2 / 2
            q = number(F(rate))
            high = mp.log1p(q * mp.expm1(gain)) if gain < 1e4 else gain + (mp.log(q) if q else -gain)
            assert number(found.lower()) <= high * (1 + mp.mpf(10) ** -15)
            assert upper_float(found) >= 0
            assert not np.isnan(log_power_means(float(F(mu)), float(F(rate)), np.array([float(F(power))]))[0])


def test_limits() -> None:
    with precision(80):
        assert log_power_mean(real(0), F(1, 2), F(3)).is_zero()
        assert log_power_mean(real(2), F(0), F(3)).is_zero()
        assert log_power_mean(real(2), F(1), F(5, 2)).overlaps(ball(F(15, 2)))
        assert upper_float(log_power_mean(UNBOUNDED, F(1, 2), F(3))) == float("inf")
        assert upper_float(log_power_mean(UNBOUNDED, F(1, 2), F(-3))) >= 2.079
        for middle, radius in ((0, 1e-3), (1, 0.4), (20, 15), (1e6, 1e5)):  # a μ that is hardly known
            blurred = Real(None, lambda: Ball(middle, radius))  # noqa: B023
            for power in (F(3), F(5, 2), F(-40)):
                wide, exact = (log_power_mean(x, F(1, 2), power) for x in (blurred, real(F(middle))))
                assert wide.overlaps(exact)
                fixed = without_replacement_normal(blurred, F(1, 2), power)
                assert fixed.overlaps(without_replacement_normal(real(F(middle)), F(1, 2), power))
        dominated = log_power_mean(real(F("1e300")), F("0.01"), F(2))
        assert certain(dominated, 70)


def normal_base(order: int) -> Ball:
    return Ball(order) / 2


def laplace_base(epsilon: F) -> Callable[[int], Ball]:
    def renyi(order: int) -> Ball:
        e = ball(epsilon)
        top = order * ((order - 1) * e).exp() + (order - 1) * (-order * e).exp()
        return (top / (2 * order - 1)).log() / (order - 1)

    return renyi


GENERAL: list[tuple[Callable[[], Ball], int, str]] = [
    (lambda: poisson_general(F("0.01"), 8, normal_base), 7, "0.0014036430743949063669"),
    (lambda: poisson_general(F("0.01"), 8, normal_base, factor=1), 7, "8.9364390760603184735e-4"),
    (lambda: poisson_general(F("0.05"), 5, laplace_base(F(1))), 4, "0.0081992397009400467225"),
    (lambda: poisson_general(F("0.05"), 5, laplace_base(F(1)), 1), 4, "0.0055851305578181425924"),
    (lambda: without_replacement_general(F("0.01"), 8, normal_base, None), 7, "0.0026841650126889322871"),
    (lambda: without_replacement_general(F("0.01"), 2, normal_base, None), 1, "5.4350863810943246336e-4"),
    (
        lambda: without_replacement_general(F("0.01"), 8, laplace_base(F(1, 2)), ball(F(1, 2))),
        7,
        "2.0931860461694008585e-4",
    ),
    (lambda: without_replacement_lower(F("0.01"), 8, normal_base), 7, "8.9364390760603184735e-4"),
    (lambda: without_replacement_normal(real(1), F("0.01"), F(7)), 7, "0.0012588277121999245939"),
    (lambda: without_replacement_normal(real(1), F("0.01"), F(1)), 1, "2.8063929134273910815e-4"),
]


@pytest.mark.parametrize(("evaluate", "divisor", "value"), GENERAL)
def test_general_values(evaluate: Callable[[], Ball], divisor: int, value: str) -> None:
    found = at(90, evaluate)
    assert certain(found, 70)
    assert printed(found, F(divisor), value, 19)


@pytest.mark.parametrize("rate", ["1e-12", "0.03", "0.7", "1"])
def test_general_sums_are_the_theorems_as_printed(rate: str) -> None:
    with mp.workdps(80):
        q, n = number(F(rate)), 12
        mass = [mp.binomial(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]
        weight = [mp.exp(mp.mpf(k * (k - 1)) / 2) for k in range(n + 1)]
        poisson = (1 - q) ** (n - 1) * (n * q - q + 1) + mass[2] * weight[2]
        poisson += 3 * sum(mass[k] * weight[k] for k in range(3, n + 1))
        pure = mp.expm1(mp.mpf(1) / 5)
        fixed = 1 + q**2 * mp.binomial(n, 2) * min(4 * (weight[2] - 1), weight[2] * min(2, pure**2))
        fixed += sum(q**k * mp.binomial(n, k) * weight[k] * min(2, pure**k) for k in range(3, n + 1))
        assert holds(at(80, lambda: poisson_general(F(rate), n, normal_base)), mp.log(poisson))
        found = at(80, lambda: without_replacement_general(F(rate), n, normal_base, ball(F(1, 5))))
        assert holds(found, mp.log(fixed))


def test_general_extremes() -> None:
    with precision(80):
        assert upper_float(poisson_general(F(1, 2), 2001, normal_base)) == float("inf")
        assert without_replacement_lower(F(1, 2), 2001, normal_base).is_zero()
        assert lower_float(without_replacement_lower(F(1, 2), 8, lambda _: Ball("nan"))) <= 0
        assert upper_float(poisson_general(F(1, 2), 8, lambda _: Ball("inf"))) == float("inf")
        assert poisson_general(F(0), 8, lambda _: Ball("inf")).is_zero()
        huge = poisson_general(F(1, 2), 8, lambda k: k * Ball("1e300"))
        assert certain(huge, 60)
        assert abs(float(huge) / 56e300 - 1) < 1e-12
        assert certain(poisson_general(F("0.01"), 2000, normal_base), 60)


def fixed_size_truth(mu: F, rate: F, s: F) -> mp.mpf:
    with mp.workdps(32):
        m, q, t = number(mu), number(rate), number(s)
        atom = (1 - q) * (2 * mp.ncdf(m / 2) - 1)

        def density(z: mp.mpf) -> mp.mpf:
            w = 1 - q + q * mp.exp(m * z - m * m / 2)
            return mp.npdf(z) * (w ** (t + 1) + w**-t)

        top = max(t + 1, -t, mp.mpf(1)) * m
        edges = {m / 2, m / 2 + 2, m / 2 + 6, top - 6, top, top + 6, top + 18}
        return mp.log(atom + mp.quad(density, sorted(e for e in edges if e >= m / 2)))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("mu", "rate", "s"),
    [
        ("1", "0.01", "7"),
        ("3", "0.9", "2.25"),
        ("0.05", "0.3", "30.5"),
        ("2", "0.001", "-0.25"),
        ("0.5", "0.5", "-9"),
        ("3", "0.02", "0.001"),
        ("1.5", "0.2", "9.5"),
    ],
)
def test_fixed_size_sampling_is_the_integral(mu: str, rate: str, s: str) -> None:
    truth = fixed_size_truth(F(mu), F(rate), F(s))
    assert holds(at(80, lambda: without_replacement_normal(real(F(mu)), F(rate), F(s))), truth)


def test_fixed_size_sampling_limits() -> None:
    with precision(80):
        assert without_replacement_normal(real(1), F(1, 3), F(0)).is_zero()
        assert without_replacement_normal(real(1), F(1, 3), F(-1)).is_zero()
        assert without_replacement_normal(real(2), F(1), F(3)).overlaps(Ball(24))
        tiny = without_replacement_normal(real(1), F("1e-300"), F(3))  # s(s+1) q² E[(e^ξ − 1)²; z > μ/2]
        with mp.workdps(30):
            part = mp.e * mp.ncdf(mp.mpf(3) / 2) - 2 * mp.ncdf(mp.mpf(1) / 2) + mp.ncdf(-mp.mpf(1) / 2)
            assert holds(tiny, 12 * part * mp.mpf("1e-600"))
        for mu in EXTREME:
            found = without_replacement_normal(real(F(mu)), F(1, 2), F("1e6"))
            assert not found.is_nan()
            assert upper_float(found) >= 0


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("epsilon", "rate", "power"),
    [
        ("1", "0.05", "5"),
        ("1", "0.05", "-4"),
        ("0.1", "0.001", "2.5"),
        ("3", "0.9", "8.25"),
        ("2", "0.3", "-30.5"),
        ("0.01", "1e-9", "1.01"),
        ("0.7", "0.6", "0.5"),
        ("2", "1", "3.5"),
        ("1e-9", "1", "3.5"),
    ],
)
def test_sampled_laplace_is_the_integral(epsilon: str, rate: str, power: str) -> None:
    with mp.workdps(50):
        e, q, a = number(F(epsilon)), number(F(rate)), number(F(power))

        def density(x: mp.mpf) -> mp.mpf:  # of the noise itself: centres 0 and e
            return mp.exp(-abs(x)) / 2 * (1 - q + q * mp.exp(abs(x) - abs(x - e))) ** a

        sides = mp.quad(density, [-mp.inf, 0]) + mp.quad(density, [e, mp.inf])
        truth = mp.log(sides + mp.quad(density, [0, e]))
    assert holds(at(80, lambda: sampled_laplace(F(epsilon), F(rate), F(power))), truth)


def test_sampled_laplace_extremes() -> None:
    for epsilon in ("0", *EXTREME):
        for rate in ("0", "1e-300", "0.5", "1"):
            for power in ("1.000000001", "1e6", "-1e6", "0.5"):
                found = at(80, lambda: sampled_laplace(F(epsilon), F(rate), F(power)))  # noqa: B023
                assert not found.is_nan()
                assert upper_float(found) >= 0 if power != "0.5" else lower_float(found) <= 0


@pytest.mark.parametrize("power", ["8", "-7", "2.5"])
@pytest.mark.parametrize("rate", ["1e-20", "0.3", "1"])
def test_finite_law(rate: str, power: str) -> None:
    p, q_law = [F(1, 2), F(1, 3), F(1, 6), F(0)], [F(1, 5), F(1, 5), F(2, 5), F(1, 5)]
    with mp.workdps(80):
        q, a = number(F(rate)), number(F(power))
        ws = [1 - q + q * number(x / y) for x, y in zip(p, q_law, strict=True)]
        if any(w == 0 for w in ws) and a < 0:
            ws, truth = [], mp.inf
        else:
            truth = mp.log(sum(number(y) * w**a for y, w in zip(q_law, ws, strict=True)))
    with precision(300):
        losses = [ball(x / y).log() if x else Ball("-inf") for x, y in zip(p, q_law, strict=True)]
        masses = [ball(y) for y in q_law]
        plain = finite_power_mean(losses, masses, F(rate), F(power))
    with precision(80):
        centred = finite_power_mean(losses, masses, F(rate), F(power), missing=Ball(0))
    if truth == mp.inf:
        assert upper_float(plain) == upper_float(centred) == float("inf")
    else:
        assert holds(plain, truth)
        assert holds(centred, truth)


def test_finite_law_with_missing_mass_and_huge_losses() -> None:
    with precision(120):
        losses, masses = [Ball(0), Ball(2).log()], [Ball(3) / 4, Ball(1) / 4]  # P has 5/4 there: not a law
        found = finite_power_mean(losses, masses, F(1, 2), F(3))
        assert found.overlaps((ball(F(3, 4)) + ball(F(27, 32))).log())
        halves = [Ball(0), Ball(1).log() - Ball(2).log()]  # P = 1/2 + 1/4, so a quarter is missing
        centred = finite_power_mean(halves, [Ball(1) / 2] * 2, F(1, 3), F(4), missing=ball(F(1, 4)))
        assert centred.overlaps((ball(F(1, 2)) * (1 + ball(F(5, 6)) ** 4)).log())
        huge = finite_power_mean([Ball("1e300")], [Ball(1)], F(1, 2), F(3))
        assert abs(float(huge) / 3e300 - 1) < 1e-12


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("epsilon", "rate"), [("0.01", "1e-6"), ("1", "0.3"), ("50", "0.9999999"), ("90", "1e-5")])
def test_sampled_laplace_in_floats(epsilon: str, rate: str) -> None:
    """Near both powers of which nothing is known, 0 and 1, too, and far out."""
    powers = [-30.0, -0.3, -1e-7, 1 + 2.0**-20, 1.5, 7.0, 90.0]
    found = sampled_laplace_floats(float(epsilon), float(rate), powers)
    with precision(64):
        truths = [sampled_laplace(F(epsilon), F(float(rate)), F(power)) for power in powers]
    assert found == pytest.approx([float(truth.mid()) for truth in truths], rel=2e-7)


def test_more_bits_of_an_integral_do_not_meet_its_limit() -> None:
    """A goal of 500 bits would take more evaluations than are allowed, and end in a rough bound."""
    for bits in (64, 500, 2000):
        with precision(bits):
            assert certain(sampled_laplace(F(50), F("1e-5"), F("1.1")), 100)


def test_integrals_are_counted() -> None:
    with precision(64), effort.allowed(500.0), pytest.raises(NotCertified, match="work"):
        sampled_laplace(F(5), F("0.1"), F("2.5"))
    with precision(64), effort.allowed(1e6):
        sampled_laplace(F(5), F("0.1"), F("2.5"))
        short = 1e6 - effort.left()
        sampled_laplace(F(50), F("0.1"), F("2.5"))
        assert 1e6 - effort.left() > 3 * short > 0
