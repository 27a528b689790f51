"""Sampled pairs of unequal variance: their transform, its decay and their compositions, against the definition."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from flint import arb, ctx
from quick_numbers import flint, integral

import tightrope as tr
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.transforms import quadratic_decay
from tightrope.numerics.transforms.quadratic_decay import Path, best_path, path_decay
from tightrope.numerics.transforms.quadratic_loss import QuadraticLoss
from tightrope.numerics.transforms.sampled_unequal import SampledUnequalTransform

LAWS = [
    QuadraticLoss(Fraction(0), Fraction(1), Fraction(1), Fraction(6, 5), Fraction(1, 100)),
    QuadraticLoss(Fraction(1), Fraction(6, 5), Fraction(0), Fraction(1), Fraction(1, 10)),
    QuadraticLoss(Fraction(0), Fraction(1), Fraction(0), Fraction(2), Fraction(1, 2)),
    QuadraticLoss(Fraction(-3), Fraction(21, 20), Fraction(0), Fraction(1), Fraction(1, 1000)),
    QuadraticLoss(Fraction(0), Fraction(1, 10), Fraction(0), Fraction(1), Fraction(9, 10)),
]


@cache
def masses(law):
    """Q's masses of points close to each other, and ln w there: the densities as they stand, in long floats."""
    m1, s1, m2, s2, q = (np.longdouble(float(x)) for x in (law.m1, law.s1, law.m2, law.s2, law.rate))
    x = np.linspace(min(m1, m2) - 30 * max(s1, s2), max(m1, m2) + 30 * max(s1, s2), 40_001, dtype=np.longdouble)
    log = (x - m2) ** 2 / (2 * s2**2) - (x - m1) ** 2 / (2 * s1**2) + np.log(s2 / s1)
    density = np.exp(-((x - m2) ** 2) / (2 * s2**2)) / (s2 * np.sqrt(2 * np.longdouble(np.pi)))
    return density * (x[1] - x[0]), np.log1p(q * np.expm1(log))


@cache
def mean(law, power):
    """E_Q[w^power] by the trapezoidal rule."""
    mass, log = masses(law)
    return (mass * np.exp(power * log)).sum()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("adding", [False, True])
def test_the_transform_is_the_mean_of_a_power(law, adding):
    transform = SampledUnequalTransform(law, adding)
    t, eta, count = Fraction(1, 4), Fraction(3), 6
    power = -float(t) if adding else float(t) + 1
    with precision(70):
        log, phi = transform.line(t, eta, count)
        still = mean(law, power)
        assert abs(float(log.mid()) - float(np.log(still))) <= float(log.rad()) + 1e-14
        assert log.rad() < 1e-15
        for k in (1, count):
            truth = mean(law, complex(power, (-1 if adding else 1) * k * float(eta))) / still
            assert abs(complex(phi[k].mid()) - complex(truth)) < 1e-13
            assert max(phi[k].real.rad(), phi[k].imag.rad()) < 1e-13
    floats, line = transform.float_line(float(t), float(eta), count)
    assert floats == pytest.approx(float(log.mid()), rel=1e-9)
    assert np.exp(line[count]) == pytest.approx(complex(phi[count].mid()), rel=1e-9)
    rule = transform.quadrature(t, eta * count)
    with precision(128):
        total = sum((complex(s * (loss * (eta * count).numerator).cos(), s * (loss * (eta * count).numerator).sin())
                     for s, loss in zip(rule.shares, rule.losses, strict=True)), 0j)
    assert abs(total - complex(phi[count].mid())) < 1e-12 + float(rule.error)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("adding", [False, True])
def test_nothing_beyond_a_place_exceeds_the_decay_there(law, adding):
    transform = SampledUnequalTransform(law, adding)
    t = Fraction(1, 4)
    told = 0
    for y in (Fraction(4), Fraction(30), Fraction(150)):
        with precision(64):
            bound = float(transform.decay(t, y).upper())
        told += bound < 0.999
        power = -float(t) if adding else float(t) + 1
        for further in (1.0, 1.03, 1.3, 2.0, 5.0):
            size = abs(mean(law, complex(power, float(y) * further))) / mean(law, power)
            assert size <= bound * (1 + 1e-9)
    assert told >= 2


def test_any_path_bounds_and_one_with_too_little_said_of_its_ends_would_not():
    law = LAWS[2]
    transform = SampledUnequalTransform(law, False)
    power, y = Fraction(5, 4), Fraction(40)
    log = transform.log_real(Fraction(1, 4))
    size = float(abs(mean(law, 1.25 + 40j)) / mean(law, 1.25))
    window = lambda nats: transform._window(float(power), nats)  # noqa: E731
    chosen = best_path(law, float(power), float(y), window(40.0))
    rng = np.random.default_rng(5)
    for _ in range(12):
        path = Path(
            Fraction(int(rng.integers(1, 24)), 8),
            chosen.rounding * Fraction(int(rng.integers(4, 40)), 16),
            chosen.lift * Fraction(int(rng.integers(1, 40)), 16),
            chosen.bend * Fraction(int(rng.integers(4, 30)), 16),
            Fraction(int(rng.integers(-8, 9)), 16),
        )
        bound = path_decay(law, power, y, path, window, log)
        assert bound >= size * (1 - 1e-9)
    assert path_decay(law, power, y, chosen, window, log) < 1
    assert path_decay(law, power, y, replace(chosen, angle=Fraction(22, 7)), window, log) == 1  # above π
    assert path_decay(law, power, y, replace(chosen, rounding=Fraction(0)), window, log) == 1


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("law", LAWS[:4])
def test_paths_are_no_higher_and_no_steeper_than_said(law):
    transform = SampledUnequalTransform(law, False)
    for y in (5.0, 60.0):
        path = best_path(law, 1.25, y, transform._window(1.25, 40.0))
        bent = quadratic_decay._Bent(law, Fraction(5, 4), Fraction(y), path)
        x = np.linspace(-30, 30, 20001) + 0j
        height, slope, _ = quadratic_decay._heights(law, path, x)
        high, steep = (float(one.upper()) for one in bent._limits())
        assert np.abs(height.real).max() <= high * (1 + 1e-12)
        assert np.abs(slope.real).max() <= steep * (1 + 1e-12)
        assert np.gradient(height.real, x.real)[1:-1] == pytest.approx(slope.real[1:-1], abs=1e-3 * (1 + steep))
        at = x + 1j * height.real
        bend, lean, top, _ = law.floats
        turned = ((bend * at + lean) * at + top).imag
        assert turned.min() >= -1e-12
        assert turned.max() <= float(path.angle) * (1 + 1e-12)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("power", [Fraction(-2), Fraction(1, 2), Fraction(5, 4)])
def test_what_lies_beyond_the_ends_is_bounded(law, power):
    left, right = -2, 3
    with ctx.workdps(30):
        m1, s1, m2, s2, q, a = map(flint, (law.m1, law.s1, law.m2, law.s2, law.rate, power))

        def weight(z, analytic):
            log = z * z / 2 - ((m2 + s2 * z - m1) / s1) ** 2 / 2
            w = 1 - q + q * s2 / s1 * log.exp()
            return (a * w.log(analytic) - z * z / 2).exp() / (2 * arb.pi()).sqrt()

        truth = float((integral(weight, [-40, -8, left], 20) + integral(weight, [right, 9, 40], 20)).real)
    bound = float(law.tails(power, Ball(left), Ball(right)).upper())
    assert truth <= bound
    assert bound < 10 * truth + 1e-3


def convolved(mechanism, copies, epsilon, size=2**16):
    """δ of one direction on a lattice of losses, split so that P- and Q-mass stay: slightly too large."""
    p, q = mechanism
    z = np.linspace(-14, 14, 400_001)
    step = z[1] - z[0]
    first, second = p(z) * step, q(z) * step
    first, second = first / first.sum(), second / second.sum()
    loss = np.log(first / second)
    period = 2 * (8 * math.sqrt(copies * float((first * loss**2).sum())) + abs(epsilon) + 2 * np.abs(loss).max())
    h = period / size
    place = np.floor(loss / h)
    share = -np.expm1(loss - (place + 1) * h) / -math.expm1(-h)
    lattice = np.zeros(size)
    stays = np.clip(share * np.exp(place * h - loss), 0, 1)
    np.add.at(lattice, place.astype(int) % size, first * stays)
    np.add.at(lattice, (place.astype(int) + 1) % size, first * (1 - stays))
    total = np.fft.irfft(np.fft.rfft(lattice) ** copies, size)
    losses = h * ((np.arange(size) + size // 2) % size - size // 2)
    return float((total * np.maximum(-np.expm1(epsilon - losses), 0)).sum())


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("first", "second", "rate", "copies"),
    [((0, 1), (1, 1.2), 0.01, 1000), ((1, 1.2), (0, 1), 0.1, 100), ((0, 1), (0, 2), 0.05, 300)],
)
def test_compositions_agree_with_a_convolution(first, second, rate, copies):
    m = tr.GaussianPair(*first, *second).poisson(rate) * copies
    claim = tr.epsilon(m, delta=1e-4)
    assert claim.tight
    assert claim.upper - claim.lower < 1e-9 * claim.upper
    assert tr.check(claim.to_json())

    def normal(m, s):
        return lambda z: np.exp(-((z - m) ** 2) / (2 * s * s)) / s

    p, q = normal(*first), normal(*second)

    def mixed(z):
        return (1 - rate) * q(z) + rate * p(z)

    truth = max(convolved((mixed, q), copies, claim.upper), convolved((q, mixed), copies, claim.upper))
    assert truth == pytest.approx(1e-4, rel=2e-3)


def test_renyi_divergences_are_moments():
    m = tr.GaussianPair(1, 1.2, 0, 1).poisson(0.1)
    law = LAWS[1]
    for order in (Fraction(2), Fraction(5, 2)):
        a = float(order)
        truth = max(np.log(mean(law, a)), np.log(mean(law, 1 - a))) / (a - 1)
        claim = tr.renyi(m, order=order)
        assert claim.lower <= float(truth) * (1 + 1e-9)
        assert claim.upper >= float(truth) * (1 - 1e-9)
        assert claim.upper - claim.lower < 1e-12
    assert tr.renyi(m, order=4).upper == math.inf  # 2·4·α > 1


def test_what_is_out_of_reach_is_refused():
    close = QuadraticLoss(Fraction(0), 1 + Fraction(1, 10**9), Fraction(1), Fraction(1), Fraction(1, 2))
    with pytest.raises(NotCertified):
        SampledUnequalTransform(close, False)
    wide = SampledUnequalTransform(LAWS[1], False)
    with pytest.raises(NotCertified):
        wide.line(Fraction(3), Fraction(1), 1)  # infinite
    assert wide.log_real(Fraction(3)) == Ball("inf")
    assert wide.log_floats([3.0, 1e300])[0] == math.inf
    assert wide.decay(Fraction(3), Fraction(1)) == 1
    with pytest.raises(NotCertified):
        wide.line(Fraction(1, 4), Fraction(10) ** 6, 1)
    assert tr.epsilon(tr.GaussianPair(1, 1.0000001, 0, 1).poisson(0.01) * 10, delta=1e-3).upper < 1
