"""The moments behind random allocation against closed forms and quadrature, and what their proofs refuse."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from mpmath import exp, log, mp, mpf, quad

import tightrope as tr
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.curves.sampled.allocated import allocated_profile, loss_of_allocation
from tightrope.mechanisms.gaussian import gaussian_mechanism_loss
from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.real import real
from tightrope.numerics.sums.finite import scattered
from tightrope.numerics.transforms.allocated import AllocatedTransform, aliases
from tightrope.numerics.transforms.allocated_rule import chosen_rule
from tightrope.numerics.transforms.fixed_point import FixedPoint, turned_sums

F = Fraction


def exact_moment(mu, steps, s):
    """E[Λ^{−s}]: one place in closed form; of two, half the sum is normal and half the difference enters by cosh."""
    if steps == 1:
        return exp(mu**2 * (s * s + s) / 2)
    scale = exp(s * mu**2 / 2 + s * s * mu**2 / 4)
    cuts = [-12, -6, -3, -1, 0, 1, 3, 6, 12]
    return scale * quad(lambda d: exp(-d * d) / mp.sqrt(mp.pi) * mp.cosh(mu * d) ** (-s), cuts)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("mu", "steps", "t"), [("1", 1, 3), ("0.5", 1, 40), ("3", 1, "0.25"), ("1", 2, 8), ("0.5", 2, 30)]
)
def test_complex_moments(mu, steps, t):
    eta, found = F(t) / 5 + F(1, 3), AllocatedTransform(real(F(mu)), steps)
    with mp.workdps(30):
        real_moment = exact_moment(mpf(mu), steps, mpf(t))
        with precision(80):
            log_moment, phi = found.line(F(t), eta, 12)
            assert abs(log_moment.mid() - Ball(str(log(real_moment)))) < Ball(2) ** -70
        for k in (1, 5, 12):
            truth = exact_moment(mpf(mu), steps, mp.mpc(t, k * mpf(eta.numerator) / eta.denominator)) / real_moment
            with precision(80):
                assert abs(phi[k].real.mid() - Ball(str(truth.real))) < Ball(2) ** -70
                assert abs(phi[k].imag.mid() - Ball(str(truth.imag))) < Ball(2) ** -70
            y = eta * k
            with precision(60):
                assert Ball(str(abs(truth))) <= found.decay(F(t), y) * (1 + Ball(2) ** -40)  # equal for one place


def test_moments_are_enclosed_everywhere():
    """Balls at few bits, at negative and at fractional tilts contain or bound what they stand for."""
    one = AllocatedTransform(real(1), 1)  # here ln E[W^{−t}] = t(t + 1)/2
    with precision(30):
        assert one.log_real(F(7, 3)).upper() >= ball(F(7, 3) * F(10, 3) / 2)
        assert one.log_real(F(-5, 2)).contains(ball(F(5, 2) * F(3, 2) / 2))
        assert one.log_real(F(-1, 2)).contains(ball(F(-1, 8)))
        assert one.log_real(F(-3)).contains(ball(F(3)))
        assert not one.log_real(F(-100)).is_finite()
    with pytest.raises(tr.NotCertified):
        one.line(F(0), F(1), 3)
    few = AllocatedTransform(real(1), 10)
    with precision(80):
        log_moment, phases = few.float_line(3.0, 1.0, 4)
        assert math.isclose(log_moment, float(few.line(F(3), F(0), 0)[0].mid()), rel_tol=1e-12)
        assert phases[0] == 0
        assert phases[4].real < 0
    assert few.cost(3.0, 1.0, 40, 80) > 0
    for wrong in ((real(F(1, 10**8)), 10), (real(100), 10), (real(1), 10**16)):
        with pytest.raises(tr.NotCertified):
            AllocatedTransform(*wrong)


def test_rounded_sums_of_products():
    """Whole numbers over a power of 2 against plain sums, and sums along a circle."""
    with precision(100):
        numbers = [ComplexBall(Ball(1) / (3 + i), Ball(-1) / (7 + i)) for i in range(5)]
        row = [ComplexBall(0, Ball(i) / 3).exp() for i in range(9)]
        for j, found in enumerate(FixedPoint(numbers).correlated(row)):
            plain = sum((n * row[i + j] for i, n in enumerate(numbers)), ComplexBall(0))
            assert found.overlaps(plain)
            assert found.real.rad() < 1e-27
        for k, found in enumerate(turned_sums(numbers, Ball(1) / 3, 6)):
            assert found.overlaps(
                sum((n * ComplexBall(0, Ball(i * k) / 3).exp() for i, n in enumerate(numbers)), ComplexBall(0))
            )


def test_false_witnesses_and_rules_prove_nothing():
    """Whatever a certificate says: a moment of order 0, angles beyond a right one, tails without a bound."""
    law = loss_of_allocation(gaussian_mechanism_loss(tr.Gaussian(1)), 20)
    profile = allocated_profile(law)
    with pytest.raises(tr.NotCertified):
        profile.prove(F(1), {"orders": [0, 0]})
    with pytest.raises(tr.NotCertified):
        profile.sides[0].total.plan(1e4, -50.0)
    transform = AllocatedTransform(real(1), 20)
    rule = chosen_rule(transform.floats, 5.0, 10.0, 20.0, 60.0)
    with precision(rule.bits):
        step = ball(rule.fine * rule.wide)
        assert aliases(rule, F(5), F(15), step) > 0
        for wrong in ({"up": F(2)}, {"down": F(4)}):
            with pytest.raises(tr.NotCertified):
                aliases(replace(rule, **wrong), F(5), F(15), step)
        with pytest.raises(tr.NotCertified):
            transform._beyond(replace(rule, power=F(5)), F(5), rule.fine)
        with pytest.raises(tr.NotCertified):
            transform._inner_error(replace(rule, lowered=F(4)), step)
        with pytest.raises(tr.NotCertified):
            chosen_rule(transform.floats, 1e6, 1e7, 1e8, 60.0)
    leaky = Loss((*law.remove, (FinitePair("leak", scattered([real(0)], [real(F(1, 2))], real(F(1, 2)))), 1)))
    with pytest.raises(tr.NotCertified):
        allocated_profile(leaky)
    lonely = Loss((*law.remove, (FinitePair("lonely", scattered([real(0)], [real(1)])), 1)))  # not known reversed
    with pytest.raises(tr.NotCertified):
        allocated_profile(lonely)
