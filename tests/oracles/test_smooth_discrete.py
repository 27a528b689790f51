"""The sampled discrete Gaussian with wide noise: near the normal transform, and provably small further on."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

import tightrope as tr
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.contour.blurred import BlurredSum
from tightrope.numerics.transforms.block_sums import stretch_bound
from tightrope.numerics.transforms.sampled_discrete import SampledDiscreteNormalTransform
from tightrope.numerics.transforms.smooth_discrete import SmoothDiscreteNormalTransform, sampled_discrete_transform
from tightrope.numerics.transforms.tilted_noise import TiltedNoise

F = Fraction


def number(x):
    return mp.mpf(F(x).numerator) / F(x).denominator


def exact(variance, shift, rate, adding):
    """M(s) as the sum that defines it."""
    reach = math.isqrt(int(200 * variance)) + 30 * shift

    def moment(s):
        v, q = number(variance), number(rate)  # at the precision asked for
        power = -s if adding else s + 1
        top = total = mp.mpf(0)
        for k in range(-reach, reach + 1):
            mass = mp.exp(-(mp.mpf(k) ** 2) / (2 * v))
            total += mass
            top += mass * mp.power(1 - q + q * mp.exp(mp.mpf(shift) * (2 * k - shift) / (2 * v)), power)
        return top / total

    return moment


def sizes(sigma, shift, rate, power, y):
    """|φ| of the tilted noise at many y, in floats."""
    k = np.arange(-12 * sigma, 12 * sigma + int(abs(power) * shift) + 1)
    losses = np.log1p(rate * np.expm1(shift * (2 * k - shift) / (2 * sigma**2)))
    logs = -(k * k) / (2 * sigma**2) + power * losses
    shares = np.exp(logs - logs.max())
    return np.abs(np.exp(1j * np.multiply.outer(y, losses)) @ (shares / shares.sum()))


@pytest.mark.parametrize("adding", [False, True])
@pytest.mark.parametrize(
    ("variance", "shift", "rate", "t", "eta"),
    [(F(16), 4, F(1, 10), F(3, 4), F(1, 8)), (F(73, 3), 1, F(9, 10), F(5), F(3)), (F(30), 9, F(1, 100), F(2), F(1, 4))],
)
def test_near_the_axis_it_is_the_normal_transform(variance, shift, rate, adding, t, eta):
    law = variance, shift, rate, adding
    transform, truth = SmoothDiscreteNormalTransform(*law), exact(*law)
    with mp.workdps(30), precision(90):
        base = truth(number(t))
        log, phi = transform.line(t, eta, 12)
        for value in (log, transform.log_real(t)):
            assert abs(value - Ball(mp.nstr(mp.log(base), 28))) < value.rad() + 1e-24
        assert log.rad() < 1e-12
        for k in (0, 1, 7, 12):
            other = truth(number(t) + 1j * number(eta) * k) / base
            for part, expected in ((phi[k].real, other.real), (phi[k].imag, other.imag)):
                assert abs(part - Ball(mp.nstr(expected, 28))) < part.rad() + 1e-24
                assert part.rad() < 1e-11
        assert [transform.log_real(s) for s in (F(0), F(-1))] == [0, 0]
        far = transform.log_real(F(-3))
        assert abs(far - Ball(mp.nstr(mp.log(truth(mp.mpf(-3))), 28))) < far.rad() + 1e-22
    assert transform.log_floats([float(t)])[0] == pytest.approx(float(mp.log(base)), rel=1e-10)
    assert transform.float_line(float(t), float(eta), 3)[0] == pytest.approx(float(mp.log(base)), rel=1e-10)
    assert (transform.largest() is not None) == adding
    assert transform.reverse_mass() == 1


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_aliases_are_bounded_and_not_forgotten():
    """At σ = 4 and y near 2πσ/μ the discrete transform is no longer the normal one, and the bound says so."""
    transform = SmoothDiscreteNormalTransform(F(16), 4, F(9, 10), False)
    truth = exact(F(16), 4, F(9, 10), False)
    seen = []
    with mp.workdps(30), precision(90):
        base = truth(mp.mpf(1))
        for y in (F(2), F(8), F(12), F(16), F(20), F(22)):
            true = truth(1 + 1j * number(y)) / base
            near = transform._normal.line(F(1), y / 4, 4)[1][4]
            off = abs(complex(true) - complex(float(near.real), float(near.imag)))
            assert off <= float(transform._alias(F(1), y)) + 1e-14
            seen.append(off)
        assert max(seen) > 1e-6
        far, true = transform.line(F(1), F(1), 24)[1][24], truth(mp.mpc(1, 24)) / base  # value by value
        assert abs(far.real - Ball(mp.nstr(true.real, 28))) < 1e-24
        assert abs(far.imag - Ball(mp.nstr(true.imag, 28))) < 1e-24
        with pytest.raises(NotCertified):  # of so many that is out of the question
            SmoothDiscreteNormalTransform(F(10**6), 1000, F(9, 10), False).line(F(1), F(1000), 10)


@pytest.mark.parametrize(("sigma", "rate", "power"), [(20, 0.1, 3.0), (60, 0.01, 4.0), (9, 0.5, -2.0)])
def test_a_stretch_is_bounded_everywhere(sigma, rate, power):
    k = range(-4 * sigma, 4 * sigma + int(max(power, 0)) * sigma)
    with precision(128):
        q = ball(F(rate).limit_denominator(1000))
        losses = [(q * (ball(F(2 * j - sigma, 2 * sigma))).expm1()).log1p() for j in k]
        raw = [(ball(F(-j * j, 2 * sigma**2)) + ball(F(power)) * loss).exp() for j, loss in zip(k, losses, strict=True)]
        total = sum(raw, Ball(0))
        shares = [p / total for p in raw]
    low, high = F(30 * sigma), F(200 * sigma)
    bound = stretch_bound(shares, losses, low, high, 0.95)
    y = np.linspace(float(low), float(high), 4000)
    values = np.array([float(loss.mid()) for loss in losses])
    weights = np.array([float(p.mid()) for p in shares])
    assert np.abs(np.exp(1j * np.multiply.outer(y, values)) @ weights).max() <= float(bound) <= 0.95
    assert stretch_bound(shares, losses, low, high, 0.01) == 1  # not as small as that
    assert stretch_bound(shares, losses, low, high, -1.0) == 1
    assert stretch_bound(shares, losses, low, F(10) ** 12, 0.95) == 1  # too long


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("way", ["_one_by_one", "_in_bins"])
@pytest.mark.parametrize(("sigma", "rate", "t"), [(300, F(1, 10), F(2)), (500, F(1, 100), F(7, 2))])
def test_the_noise_is_low_where_it_is_said_to_be(sigma, rate, t, way):
    with precision(90):
        log = SmoothDiscreteNormalTransform(F(sigma) ** 2, sigma, rate, False).log_real(t)
        noise = TiltedNoise(F(sigma) ** 2, sigma, rate, t + 1, log)
        low, high = F(20 * sigma), F(400 * sigma)
        bound = getattr(noise, way)(*noise._middle(0.003), low, high, 0.97)
        assert noise.low(low, high, ball(F(97, 100)))
        assert not noise.low(low, high, ball(F(1, 1000)))
        assert not noise.low(F(1, 10), F(1), ball(F(97, 100)))  # near the axis it is not low
    seen = sizes(sigma, sigma, float(rate), float(t) + 1, np.linspace(float(low), float(high), 700)).max()
    assert seen <= float(bound) <= 0.97
    assert seen > 0.01


def test_the_nodes_kept_are_true_and_those_dropped_small():
    transform = SmoothDiscreteNormalTransform(F(144), 12, F(1, 20), False)
    listed = SampledDiscreteNormalTransform(F(144), 12, F(1, 20), False)
    t, eta, count, floor = F(3), F(1, 2), 4000, Ball(-50) / 2000
    ours, theirs = transform.float_nodes(t, eta, count, floor), listed.float_nodes(t, eta, count, Ball(-200))
    with precision(64):
        allowed, limit = float(ours.error + theirs.error), float(floor.exp() + theirs.error)
    assert np.abs((ours.values - theirs.values)[ours.alive]).max() <= allowed
    assert np.abs(theirs.values[~ours.alive]).max() <= limit
    assert 5 < ours.alive.sum() < 200
    few = transform.float_nodes(t, eta, 20, floor)  # all nodes are near the axis
    assert few.alive[:21].any()
    steep = transform.float_nodes(t, eta, count, Ball(-20))  # a floor that is never reached: value by value
    assert np.abs(steep.values - theirs.values)[steep.alive].max() < 1e-12
    more = transform.float_nodes(t, eta, 4100, Ball(-20))  # so many that none is in balls
    assert np.abs(more.values[:4001] - theirs.values)[more.alive[:4001]].max() < 1e-12
    wide = SmoothDiscreteNormalTransform(F(10**8), 10**4, F(1, 20), False)
    assert wide.float_nodes(t, eta, 10**6, Ball(-20)) is None
    with pytest.raises(NotCertified, match="too wide"):  # neither near the normal one nor value by value
        wide.float_nodes(t, F(10**5), 20, Ball(-200))


def test_the_sum_is_that_of_the_values():
    """The blurred sum at σ = 12, where the values can be listed."""
    for adding in (False, True):
        smooth = BlurredSum([(SmoothDiscreteNormalTransform(F(144), 12, F(1, 20), adding), 2000)])
        listed = BlurredSum([(SampledDiscreteNormalTransform(F(144), 12, F(1, 20), adding), 2000)])
        x = smooth.root(math.log(1e-5))
        plans = [total.plan(x, 1e-7) for total in (smooth, listed)]
        one, two = (total.call(Ball(x), plan) for total, plan in zip((smooth, listed), plans, strict=True))
        assert one.overlaps(two)
        assert float(one.rad() / one.mid()) < 1e-6


@pytest.mark.parametrize("sigma", [20, 300, 5000, 10**6])
def test_wide_noise_is_as_good_as_normal_noise_and_as_sharp(sigma):
    claim = tr.epsilon(tr.DiscreteGaussian(sigma=sigma, sensitivity=sigma).poisson(0.01) * 10_000, delta=1e-6)
    normal = tr.epsilon(tr.Gaussian(sigma=1).poisson(0.01) * 10_000, delta=1e-6)
    assert claim.upper - claim.lower < 1e-8
    assert claim.lower <= normal.upper
    assert claim.upper >= normal.lower
    assert tr.check(claim.to_json())


def test_what_is_not_low_is_not_said_to_be():
    transform = SmoothDiscreteNormalTransform(F(144), 12, F(1, 20), False)
    with precision(80):
        assert not transform._low(F(3), F(1, 100), F(100), ball(F(99, 100)))  # near the axis
        assert transform._low(F(3), F(20), F(40), ball(F(99, 100)))
        assert not transform._low(F(3), F(300), F(10**5), ball(F(1, 10**6)))  # further out there are aliases
    assert transform.cost(1.0, 0.1, 10, 60) > 0


def test_narrow_noise_is_listed():
    assert isinstance(sampled_discrete_transform(F(4), 1, F(1, 2), False), SampledDiscreteNormalTransform)
    assert isinstance(sampled_discrete_transform(F(16), 1, F(1, 2), False), SmoothDiscreteNormalTransform)
    with pytest.raises(NotCertified):  # a tilt for which the strip is too narrow
        SmoothDiscreteNormalTransform(F(10**6), 10**4, F(1, 2), True).log_real(F(4000))


@pytest.mark.parametrize(("adding", "t"), [(True, F(3000)), (False, F(-3000)), (True, F(40)), (False, F(12))])
def test_far_tilts_are_exact_where_the_normal_transform_is_far_off(adding, t):
    """At σ = 4 and w^{−3000} aliases are 10⁻⁴, and a hundred thousand copies would multiply them."""
    law = F(17), 1, F(1, 40_000), adding
    transform, truth = SmoothDiscreteNormalTransform(*law), exact(*law)
    with mp.workdps(40), precision(100):
        true = mp.log(truth(number(t)))
        value = transform.log_real(t)
        assert value.overlaps(Ball(mp.nstr(true, 38)))
        assert value.rad() < abs(value) * Ball("1e-18")
        steep = abs(transform._power(t)) > 1000
        assert transform._listed(t, F(0)) == (steep and transform._power(t) < 0)


def test_tilts_out_of_reach_of_the_normal_transform_are_not_out_of_reach():
    transform = SmoothDiscreteNormalTransform(F("4.18") ** 2, 1, F("0.0000526"), False)
    with precision(80):
        with pytest.raises(NotCertified, match="too far apart"):
            transform._alias(F(-20_000), F(0))
        assert transform._listed(F(-20_000), F(0))
        listed = transform._value_by_value().log_real(F(-20_000))
        assert transform.log_real(F(-20_000)).overlaps(listed)
        assert 0.01 < float(listed.mid()) < 1
        # so few nodes are not worth a proof that others are low: all of them, value by value
        nodes = transform.float_nodes(F(5), F(400), 50, Ball(-200))
        truth = transform._value_by_value().float_nodes(F(5), F(400), 50, Ball(-200))
    assert np.abs(nodes.values - truth.values).max() <= float(nodes.error + truth.error)


def test_nodes_far_out_are_those_of_the_values():
    transform, listed = (kind(F(20), 1, F(1, 50), False) for kind in (SmoothDiscreteNormalTransform,
                                                                      SampledDiscreteNormalTransform))
    indices = [*range(5000, 5020), 9000]
    with precision(80):
        for one, two in zip(transform.at(F(3), F(7), indices), listed.at(F(3), F(7), indices), strict=True):
            assert abs(one.real - two.real) + abs(one.imag - two.imag) < 1e-22
        terms = transform.terms_of(F(3))
        sums = sum((p * (loss * 7 * 9000).cos() for p, loss in zip(terms.shares, terms.losses, strict=True)), Ball(0))
        assert abs(sums - listed.at(F(3), F(7), [9000])[0].real) < terms.error + Ball("1e-18")
    assert transform.at_cost(F(3), F(7), indices) == listed.at_cost(F(3), F(7), indices)
    wide = SmoothDiscreteNormalTransform(F(10**6), 1000, F(1, 50), False)
    assert wide.terms_of(F(3)) is None
    assert wide.at_cost(F(3), F(1, 8), [1, 2]) > 0
    with precision(60):
        near = wide.at(F(3), F(1, 8), [1, 2])[1]
        assert near.overlaps(wide.line(F(3), F(1, 8), 2)[1][2])
        with pytest.raises(NotCertified, match="too many others"):
            wide.at(F(3), F(1, 8), [5000])


def test_the_quicker_line_is_taken():
    transform = SmoothDiscreteNormalTransform(F(20), 1, F(1, 50), False)
    normal, listed = transform._costs(700.0, 9000.0, 30, 100)
    assert listed < normal == math.inf  # that many nodes the normal one refuses
    assert transform.cost(700.0, 9000.0, 30, 100) == listed
    near = transform._costs(20.0, 0.1, 200, 150)
    assert transform.cost(20.0, 0.1, 200, 150) == min(near) < math.inf
    with precision(100):
        assert transform.line(F(700), F(90), 3)[1][3].overlaps(transform._value_by_value().line(F(700), F(90), 3)[1][3])
