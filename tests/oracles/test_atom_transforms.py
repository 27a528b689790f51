"""Transforms of discrete and unequal laws against sums and quadratures of their definitions."""

from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import pytest

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.sums.unequal import noncentral
from tightrope.numerics.transforms.discrete_laplace import DiscreteLaplaceTransform
from tightrope.numerics.transforms.discrete_normal import DiscreteNormalTransform
from tightrope.numerics.transforms.sampled_discrete import SampledDiscreteNormalTransform
from tightrope.numerics.transforms.sampled_laplace import SampledLaplaceTransform
from tightrope.numerics.transforms.sampled_laplace_nodes import FarLaplace
from tightrope.numerics.transforms.transform import whole_power
from tightrope.numerics.transforms.unequal import UnequalTransform

F = Fraction
mp.mp.dps = 25


def number(x):
    return mp.mpf(F(x).numerator) / F(x).denominator


def complex_of(b):
    return complex(float(b.real.mid()), float(b.imag.mid()))


def agrees(transform, truth, t, eta, count, marks, floor=-6):
    """Every form of the transform against truth(s), on the line through t."""
    mp.mp.dps = 25
    base = truth(number(t))
    with precision(100):
        assert abs(transform.log_real(t) - Ball(mp.nstr(mp.log(base), 22))) < 1e-17 * (1 + abs(mp.log(base)))
        log, phi = transform.line(t, eta, max(marks))
        assert abs(log - transform.log_real(t)) < 1e-20
        alone = transform.at(t, eta, marks)
    assert transform.log_floats([float(t)])[0] == pytest.approx(float(mp.log(base)), rel=1e-11, abs=1e-13)
    floats = transform.float_line(float(t), float(eta), max(marks))[1]
    doubles = transform.float_nodes(t, eta, count, Ball(floor))
    for k, value in zip(marks, alone, strict=True):
        exact = complex(truth(number(t) + 1j * number(eta) * k) / base)
        assert abs(complex_of(value) - exact) < 1e-14
        assert abs(complex_of(phi[k]) - exact) < 1e-14
        assert abs(complex(mp.exp(complex(floats[k]))) - exact) < 1e-7
        if doubles is not None and doubles.alive[k]:
            assert abs(doubles.values[k] - exact) <= float(doubles.error) < 1e-10
        elif doubles is not None:
            assert abs(exact) <= float(mp.exp(floor))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("variance", "shift", "t", "eta"),
    [
        (F(4), 1, F(1, 2), F(3, 4)),
        (F(1, 9), 2, F(5, 4), F(1, 8)),
        (F(50), 3, F(1, 2), F(5)),
        (F(20), 1, F(3), F(7)),
        (F(20), 3, F(1, 4), F(9)),
    ],
)
def test_discrete_normal(variance, shift, t, eta):
    v = number(variance)

    def truth(s):
        reach = range(-160, 161)
        total = sum(mp.exp(-(mp.mpf(k) ** 2) / (2 * v)) for k in reach)
        return sum(mp.exp(-(mp.mpf(k) ** 2) / (2 * v) + s * shift * (2 * k + shift) / (2 * v)) for k in reach) / total

    transform = DiscreteNormalTransform(variance, shift)
    agrees(transform, truth, t, eta, 60, [0, 1, 2, 9, 35])
    assert transform.largest() is None
    with precision(60):
        assert transform.decay(t, F(1)) == 1  # it comes back after a period
        period = float(2 * Ball.pi() * ball(variance / shift))
        places = [Ball(period * i / 41) for i in range(21)]
        sizes = [float(abs(value)) for value in transform.on_line(t, places)]
    assert all(a > b for a, b in pairwise(sizes))


def test_wide_noise_is_listed_where_its_curves_overlap_or_refused():
    near = DiscreteNormalTransform(F(25), 1).float_nodes(F(1), F(1), 100, Ball(-400))
    assert near.alive.all()
    assert DiscreteNormalTransform(F(10**6), 1).float_nodes(F(1), F(1), 100, Ball(-(10**9))) is None
    for variance, shift in ((F(1, 10**9), 1), (F(10**40), 1), (F(4), 10**16)):
        with pytest.raises(NotCertified):
            DiscreteNormalTransform(variance, shift)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("adding", [False, True])
@pytest.mark.parametrize(
    ("variance", "shift", "rate"), [(F(4), 1, F(1, 10)), (F(1, 9), 2, F(1, 3)), (F(30), 3, F(9, 10))]
)
def test_sampled_discrete_normal(variance, shift, rate, adding):
    v, q = number(variance), number(rate)

    def truth(s):
        power = -s if adding else s + 1
        reach = range(-160, 161)
        total = sum(mp.exp(-(mp.mpf(k) ** 2) / (2 * v)) for k in reach)
        terms = (
            mp.exp(-(mp.mpf(k) ** 2) / (2 * v))
            * mp.power(1 - q + q * mp.exp(mp.mpf(shift) * (2 * k - shift) / (2 * v)), power)
            for k in reach
        )
        return sum(terms) / total

    transform = SampledDiscreteNormalTransform(variance, shift, rate, adding)
    agrees(transform, truth, F(3, 4), F(7, 8), 50, [0, 1, 2, 30])
    with precision(100):
        for t in (F(-7, 2), F(-1), F(0), F(-1, 3), F(6)):
            expected = mp.log(truth(number(t)))
            assert abs(transform.log_real(t) - Ball(mp.nstr(expected, 22))) < 1e-17 * (1 + abs(expected))
        top = transform.largest()
        assert (top is not None) == adding
    with pytest.raises(NotCertified):
        SampledDiscreteNormalTransform(F(10**6), 1, rate, adding)


@pytest.mark.parametrize(("scale", "shift"), [(F(2), 3), (F(7, 3), 40), (F(90), 150)])
def test_discrete_laplace(scale, shift):
    b, r = number(scale), mp.exp(-1 / number(scale))

    def truth(s):
        ends = (mp.exp(s * shift / b) + r**shift * mp.exp(-s * shift / b)) / (1 + r)
        return ends + (1 - r) / (1 + r) * sum(r**j * mp.exp(s * (shift - 2 * j) / b) for j in range(1, shift))

    transform = DiscreteLaplaceTransform(scale, shift)
    agrees(transform, truth, F(1, 2), F(3, 4), 60, [0, 1, 7, 50])
    with precision(100):
        for t in (F(-1, 2), F(-3)):
            assert abs(transform.log_real(t) - Ball(mp.nstr(mp.log(truth(number(t))), 22))) < 1e-18
        assert abs(transform.largest() - ball(shift / scale)) < 1e-25
    assert transform.log_floats([-3.0])[0] == pytest.approx(float(mp.log(truth(mp.mpf(-3)))))
    with pytest.raises(NotCertified):
        DiscreteLaplaceTransform(F(1, 10**6), 5)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("m1", "s1", "m2", "s2", "t"), [(1, F(11, 10), 0, 1, F(1, 2)), (0, 1, 2, F(3, 2), F(4)), (0, 2, 1, 1, F(1, 20))]
)
def test_unequal_variances(m1, s1, m2, s2, t):
    a, b, c, d = (number(v) for v in (m1, s1, m2, s2))

    def truth(s):
        def inside(x):
            p, q = mp.npdf(x, a, b), mp.npdf(x, c, d)
            return mp.exp(mp.log(p) + s * (mp.log(p) - mp.log(q)))

        return mp.quad(inside, mp.linspace(-24, 24, 13))

    transform = UnequalTransform(F(m1), F(s1), F(m2), F(s2))
    agrees(transform, truth, t, F(1, 2), 20, [0, 1, 4])
    with precision(60):
        sizes = [transform.decay(t, F(k, 2)) for k in range(1, 30)]
        assert all(small < large for large, small in pairwise(sizes))
        assert (transform.largest() is None) == (s1 > s2)
        assert not transform.log_real(F(100)).is_finite() or s1 < s2


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("scale", "rate", "t", "adding"),
    [(1, F(1, 10), F(3), False), (F(1, 2), F(1, 2), F(1, 4), True), (1, F(1, 100), F(150), False)],
)
def test_sampled_laplace_far_up_the_line(scale, rate, t, adding):
    mp.mp.dps = 20
    e0, q = number(scale), number(rate)
    power, sign = (-number(t), -1) if adding else (number(t) + 1, 1)

    def truth(a):
        def w(v):
            return 1 - q + q * mp.exp(v)

        cells = max(2, int(abs(mp.im(a)) * 2 * e0 * q / 3) + 2)
        smooth = mp.quad(lambda v: mp.exp(-v / 2) * w(v) ** a, mp.linspace(-e0, e0, cells))
        return mp.exp(-e0) / 2 * w(e0) ** a + w(-e0) ** a / 2 + mp.exp(-e0 / 2) / 4 * smooth

    eta = 1 / rate / 4
    nodes = SampledLaplaceTransform(F(scale), rate, adding).float_nodes(t, eta, 3000, Ball(-20))
    base = truth(power)
    for k in (0, 1, 60, 300):
        exact = complex(truth(power + sign * 1j * k * number(eta)) / base)
        assert abs(nodes.values[k] - exact) <= float(nodes.error) < 1e-11
    with precision(128):
        steep = F(20_000) / rate
        log = SampledLaplaceTransform(F(scale), rate, adding).log_real(steep)  # out of the rule's reach
        peak = (
            -number(steep) * mp.log(1 - q + q * mp.exp(-e0))
            if adding
            else (number(steep) + 1) * mp.log(1 - q + q * mp.exp(e0))
        )
        assert abs(log - Ball(mp.nstr(peak, 25))) < 3
        far = FarLaplace(F(scale), rate, F(2), Ball(0))
        terms, left = far.best_terms(ball(400 / rate))
        assert 2 <= terms < 24
        assert left < far.best_terms(ball(100 / rate))[1]


def test_powers_keep_away_from_the_cut():
    from tightrope.numerics.balls import ComplexBall

    with precision(100):
        for phi in (
            ComplexBall(-0.99),
            ComplexBall(-0.99, Ball(0, 1e-25)),
            ComplexBall(0.2, 0.9),
            ComplexBall(0, 0.97),
        ):
            value = whole_power(phi, 101)
            direct = phi**101
            assert value.overlaps(direct)
            assert value.real.rad() < 1e-20


def test_what_is_out_of_reach_is_refused():
    with pytest.raises(NotCertified):
        SampledLaplaceTransform(F(200), F(1, 2), False)
    with pytest.raises(NotCertified):
        SampledDiscreteNormalTransform(F(4), 1, F(1, 2), False).log_real(F(10**5))
    transform = DiscreteNormalTransform(F(4), 1)
    with pytest.raises(NotCertified):
        transform._theta(transform._rows(F(1)), Ball(100))
    assert noncentral(3, F(1), Ball("nan"), above=True).contains(0.5)
    assert SampledLaplaceTransform(F(1), F(1, 2), False).log_real(F(-1)) == 0
