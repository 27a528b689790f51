"""Samples of a fixed size with Gaussian noise, cut off at some place: transforms and profiles against the whole law."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from mpmath import erfc, exp, log, mp, mpc, mpf, pi, quad, sqrt

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.accounting.routes import law_route
from tightrope.curves.engines.contour_profile import contour_profile
from tightrope.curves.engines.cut_profile import cut_profile
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, lower_float, precision, upper_float
from tightrope.numerics.real import real
from tightrope.numerics.transforms.glued import GluedNormalTransform

F = Fraction
CASES = [(F(1), F(1, 10), F(3)), (F(1, 2), F(1, 100), F(9, 2)), (F(2), F(1, 1000), F(2))]
CASES.append((F(3, 10), F(1, 10**5), F(11)))


def moment(mu, q, cut, s):
    """M(s) of the law up to μ/2 + cut, by quadrature of the definition."""
    m, rate, end = (mpf(x.numerator) / x.denominator for x in (mu, q, cut))
    start = m / 2

    def f(z):
        w = 1 - rate + rate * exp(m * z - m * m / 2)
        return exp(-z * z / 2) * (w ** (s + 1) + w ** (-s)) / sqrt(2 * pi)

    atom = (1 - rate) * (1 - erfc(m / (2 * sqrt(mpf(2)))))
    return atom + quad(f, [start + end * k / 12 for k in range(13)])


@pytest.mark.parametrize(("mu", "q", "cut"), CASES)
def test_moments_end_at_the_cut(mu, q, cut):
    law = GluedNormalTransform(real(mu), q, cut)
    t, eta = F(5, 2), F(3, 4)
    with mp.workdps(30), precision(90):
        log_moment, phi = law.line(t, eta, 6)
        whole = moment(mu, q, cut, mpf("2.5"))
        assert abs(mpf(float(log_moment.mid())) - log(whole)) < mpf("1e-15") * (1 + abs(log(whole)))
        for k in (1, 6):
            truth = moment(mu, q, cut, mpc("2.5", 0.75 * k)) / whole
            assert abs(float(phi[k].real.mid()) - float(truth.real)) < 1e-14
            assert abs(float(phi[k].imag.mid()) - float(truth.imag)) < 1e-14
        assert float((law.mass() - Ball(float(moment(mu, q, cut, mpf(0))))).abs_upper()) < 1e-15
        assert float(law.log_floats([2.5])[0]) == pytest.approx(float(log(whole)), rel=1e-9, abs=1e-14)
        for y in (1, 30, 1000):
            size = abs(moment(mu, q, cut, mpc("2.5", y)) / whole)
            assert float(law.decay(t, F(y)).upper()) >= float(size) * (1 - 1e-12)


@pytest.mark.parametrize(("mu", "q", "cut"), CASES[:1])
def test_far_out_nothing_is_left_but_the_jump_at_the_cut(mu, q, cut):
    """Integrated by parts it is φ(z)(w^{t+1} − w^{−t})/(y·(ln w)′) or more there, and the bound is no less."""
    law, t, y = GluedNormalTransform(real(mu), q, cut), F(5, 2), F(10**4)
    m, rate = float(mu), float(q)
    z = m / 2 + float(cut)
    rise = rate * np.exp(m * z - m * m / 2)
    w = 1 - rate + rise
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    jump = density * (w**3.5 - w**-2.5) / (float(y) * m * rise / w)
    with precision(90):
        bound = float(law.smooth_decay(t, y, law.log_real(t)).upper())
    assert bound >= 0.9 * jump > 0


def test_what_is_beyond_the_cut():
    law = GluedNormalTransform(real(F(1)), F(1, 10), F(3))
    with precision(100):
        above, below = law.beyond()
        tail = lambda z: float(erfc(mpf(z) / sqrt(mpf(2))) / 2)  # noqa: E731 - short
        assert float(below.mid()) == pytest.approx(tail(3.5), rel=1e-12)
        assert float(above.mid()) == pytest.approx(0.9 * tail(3.5) + 0.1 * tail(2.5), rel=1e-12)
        assert law.infinite().overlaps(above + below)
        assert float(law.largest().mid()) == pytest.approx(np.log(0.9 + 0.1 * np.exp(3.0)), rel=1e-14)
    assert GluedNormalTransform(real(F(1)), F(1, 10)).largest() is None


def profiles(text):
    loss = fact(tr.parse(text), Loss).curve
    return cut_profile(loss), contour_profile(loss)


MANY = "gaussian(sigma=1).without_replacement(10, 1000) * 1000"


@pytest.mark.parametrize("text", [MANY, "gaussian(sigma=2).without_replacement(3, 50) * 200 + laplace(scale=4)"])
def test_any_cut_is_valid(text):
    """However near it is: what it costs is counted. A far one costs nothing."""
    cut, whole = profiles(text)
    for epsilon in (F(1, 2), F(2), F(4)):
        truth = whole.prove(epsilon, whole.find(epsilon))
        found = cut.find(epsilon)
        for place in (F(1, 2), F(2), F(3), F(4), F(6), found["cuts"][0]):
            with precision(200):
                inner = cut._within((place,))[0]
                try:
                    witness = {**inner.find(epsilon), "cuts": [place]}
                except NotCertified:
                    continue
                value = cut.prove(epsilon, witness)
                assert value.overlaps(truth)
                assert value.upper() >= truth.lower()
                assert value.lower() <= truth.upper()
        value = cut.prove(epsilon, found)
        assert upper_float(value) <= lower_float(value) * (1 + 1e-9)


RARE = [
    ("gaussian(sigma=6.61).without_replacement(15, 1000000) * 326000", "9.29e-40", 0.0171523477, 0.0171531100),
    ("gaussian(sigma=1.5).without_replacement(1, 100000) * 9720000", "4.18e-14", 0.1920190533, 0.1920574610),
    ("gaussian(sigma=3.82).without_replacement(58, 100000) * 200000", "1.43e-28", 0.8051325664, 0.8051336270),
]


@pytest.mark.parametrize(("text", "delta", "low", "high"), RARE)
def test_rare_samples_without_their_heavy_tails(text, delta, low, high):
    """Contours and grids left 1e-6 to 2e-4; between their ends this one is sharp."""
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert claim.witness["way"] == "cut"
    assert low <= claim.computed.lower
    assert claim.computed.upper <= min(high, claim.computed.lower * (1 + 1e-9))
    assert tr.check(claim.to_json())


def test_delta_beside_a_response():
    text = "gaussian(sigma=1.46).without_replacement(13, 1000000) * 4910000 + approx(epsilon=0.742, delta=0) * 19"
    claim = tr.epsilon(tr.parse(text), delta="1.2e-29")
    assert claim.computed.lower > 14.37258
    assert claim.computed.upper < 14.372809
    at = tr.delta(tr.parse(text), epsilon=claim.computed.upper)
    assert at.upper == pytest.approx(1.2e-29, rel=1e-9)
    assert tr.check(at.to_json())


def test_a_cut_that_is_too_near_cannot_be_forged():
    """A forged witness: a near cut makes the ends wide, and cuts that do not fit are refused."""
    cut, _ = profiles(MANY)
    epsilon = F(2)
    witness = cut.find(epsilon)
    for wrong in ([], [F(1), F(2)], [F(0)], [F(-3)], [F(1000)]):
        with pytest.raises(NotCertified):
            cut.prove(epsilon, {**witness, "cuts": wrong})
    far = cut.prove(epsilon, witness)
    near = cut.prove(epsilon, {**cut._within((F(3),))[0].find(epsilon), "cuts": [F(3)]})
    assert near.upper() > far.upper()  # steps beyond it count as certain loss
    assert near.lower() < far.lower()


def test_others_have_none():
    assert cut_profile(fact(tr.Gaussian(1).poisson("0.01") * 10, Loss).curve) is None
    assert cut_profile(fact(tr.Laplace(1).without_replacement(1, 10) * 10, Loss).curve) is None
    assert "cut" not in dict(law_route(tr.Gaussian(1).poisson("0.01") * 10).build().ways)
