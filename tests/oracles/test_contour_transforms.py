"""Transforms and their decays against quadrature in mpmath, and sums of them against published numbers."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from contour_values import holds, proved, relative_width

from tightrope.numerics.balls import ball, precision
from tightrope.numerics.contour.integral import ContourSum, Plan
from tightrope.numerics.real import real
from tightrope.numerics.transforms.replace import ReplaceSampledNormalTransform
from tightrope.numerics.transforms.sampled import SampledNormalTransform
from tightrope.numerics.transforms.sampled_laplace import SampledLaplaceTransform

F = Fraction


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("adding", [False, True])
def test_sampled_nodes_against_quadrature(adding: bool) -> None:
    transform = SampledNormalTransform(real(F(10, 7)), F(1, 5), adding)
    with precision(70):
        log, nodes = transform.line(F(5, 2), F(3, 4), 40)
        decays = [transform.decay(F(5, 2), F(3 * k, 4)) for k in (4, 15, 40)]
    with mp.workdps(30):
        q, mu = mp.mpf(1) / 5, 10 / mp.mpf(7)

        def moment(s: mp.mpc) -> mp.mpc:
            a = -s if adding else s + 1
            return mp.quad(
                lambda z: mp.npdf(z) * (1 - q + q * mp.exp(mu * z - mu * mu / 2)) ** a, list(range(-16, 26, 2))
            )

        real_value = moment(mp.mpf(5) / 2)
        assert abs(mp.log(real_value) - mp.mpf(log.str(25, radius=False))) < 1e-20
        for k, decay in zip((4, 15, 40), decays, strict=True):
            truth = moment(mp.mpc(2.5, 0.75 * k)) / real_value
            assert abs(truth.real - mp.mpf(nodes[k].real.str(25, radius=False))) < 1e-19
            assert abs(truth.imag - mp.mpf(nodes[k].imag.str(25, radius=False))) < 1e-19
            assert abs(truth) <= float(decay) < 1
    assert decays[0] > decays[1] > decays[2]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_exchanged_sampled_normal() -> None:
    transform = ReplaceSampledNormalTransform(real(1), F(1, 10))
    value = proved([(transform, 10)], F(3, 2))
    assert holds(value, "0.006266826739238355", "0.006266826739238365")
    assert relative_width(value) < 1e-11
    assert holds(proved([(transform, 2)], F(1, 2)), "0.009221951924509135", "0.009221951924509145")
    with precision(60):
        log, nodes = transform.line(F(-5, 2), F(1, 2), 20)
        decay = transform.decay(F(3, 2), F(10))
    with mp.workdps(30):

        def moment(s: mp.mpc) -> mp.mpc:
            def w(x: mp.mpf) -> mp.mpf:
                return mp.mpf(9) / 10 + mp.exp(x - mp.mpf(1) / 2) / 10

            return mp.quad(lambda x: mp.npdf(x) * w(x) ** (s + 1) * w(-x) ** -s, list(range(-20, 22, 2)))

        still = moment(mp.mpf(-5) / 2)
        truth = moment(mp.mpc(-2.5, 10)) / still
        assert abs(mp.log(still) - mp.mpf(log.str(20, radius=False))) < 1e-15
        assert abs(truth.imag - mp.mpf(nodes[20].imag.str(20, radius=False))) < 1e-15
        assert abs(truth) <= float(decay) < 0.6  # M(−1−s) = M(s): the two tilts have equal sizes


@pytest.mark.parametrize("adding", [False, True])
def test_sampled_laplace(adding: bool) -> None:
    transform = SampledLaplaceTransform(F(1), F(1, 10), adding)
    # Two copies keep atoms, so that the node tail is long: the plan by hand proves few digits, but they must be right.
    total = ContourSum([(transform, 2)])
    x, low, high = ("0.15", "0.01121247542188325", "0.01121247542188335")
    if adding:
        x, low, high = "0.1", "0.0098324553574105", "0.0098324553574115"
    value = total.call(ball(F(x)), Plan(F(8), F(1), 2000, 60))
    assert holds(value, low, high)
    assert relative_width(value) < 0.05
    with precision(60):
        log, nodes = transform.line(F(5), F(10), 8)
        decay = transform.decay(F(5), F(80))
    with mp.workdps(25):

        def w(at: mp.mpf) -> mp.mpf:
            return mp.mpf(9) / 10 + mp.exp(at) / 10

        def moment(s: mp.mpc) -> mp.mpc:
            a = -s if adding else s + 1
            rest = mp.quad(lambda at: mp.exp(-at / 2) * w(at) ** a, [-1, 0, 1])
            return mp.exp(-1) / 2 * w(1) ** a + w(-1) ** a / 2 + mp.exp(-mp.mpf(1) / 2) / 4 * rest

        truth = moment(mp.mpc(5, 80)) / moment(mp.mpf(5))
        assert abs(mp.log(moment(mp.mpf(5))) - mp.mpf(log.str(20, radius=False))) < 1e-15
        assert abs(truth.imag - mp.mpf(nodes[8].imag.str(20, radius=False))) < 1e-15
        assert abs(truth) <= float(decay) < 1
