"""ε near 0, where δ(0) is hardly more than δ: against what the definition says there, and what forged witnesses say."""

import math
from fractions import Fraction

import mpmath
import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.windowed_profile import windowed_profile
from tightrope.curves.engines.windowed_zero import FarFromZero, mirrored, root_near_zero
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.real import real
from tightrope.numerics.windowed.bounds import Split
from tightrope.numerics.windowed.law import Step


def windowed(text):
    known = fact(tr.parse(text), Loss)
    assert known is not None
    found = windowed_profile(known.curve)
    assert found is not None
    return found


def one_step(sigma, rate, epsilon, adding=False):
    """δ of one sampled step, by mpmath: where w = e^ε is crossed both laws are normal tails."""
    with mpmath.workdps(40):
        mu, q, x = 1 / mpmath.mpf(sigma), mpmath.mpf(rate), mpmath.mpf(epsilon)

        def above(level):
            place = (mpmath.log((mpmath.exp(level) - 1 + q) / q) + mu**2 / 2) / mu
            return mpmath.ncdf(mu - place), mpmath.ncdf(-place)

        if not adding:
            moved, plain = above(x)
            return q * moved + (1 - q) * plain - mpmath.exp(x) * plain
        if mpmath.exp(-x) <= 1 - q:
            return mpmath.mpf(0)
        moved, plain = above(-x)
        return (1 - plain) - mpmath.exp(x) * (1 - q * moved - (1 - q) * plain)


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("gaussian(sigma=0.469).poisson(0.000107) * 167", "0.00304"),
        ("gaussian(sigma=0.674).poisson(1.43e-5) * 129855", "0.00580905"),
        ("gaussian(sigma=0.439).poisson(1.91e-5) * 153", "0.000591147"),
        ("gaussian(sigma=2.12).poisson(1.5e-5) * 80", "2.66516e-05"),
        ("gaussian(sigma=2.4).poisson(0.00368) + gaussian(sigma=2.12).poisson(0.00363) * 6", "0.00185851"),
    ],
)
def test_small_epsilons_are_close_and_confirmed(text, delta):
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert 0 < claim.upper < 1e-3
    assert claim.upper - claim.lower <= 1e-6 * claim.upper
    assert tr.check(claim.to_json())
    slope = (tr.delta(tr.parse(text), epsilon=0).lower - float(delta)) / claim.upper
    assert 0 < slope < 1  # −dδ/dε = e^ε Q[L > ε]


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("gaussian(sigma=0.486).poisson(1e-5) * 735", "0.000673675"),
        ("gaussian(sigma=0.372).poisson(8.58e-5) * 4424", "0.040624"),
        ("gaussian(sigma=0.757).poisson(0.0331) + gaussian(sigma=3.78).poisson(2.64e-5) * 16", "0.0162544"),
    ],
)
def test_zero_is_seen(text, delta):
    """δ is a little more than the total variation, and the sum of the parts' is more than δ."""
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert claim.upper == 0
    assert tr.delta(tr.parse(text), epsilon=0).upper <= float(delta)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("epsilon", ["0", "1e-9", "1e-4", "0.001"])
@pytest.mark.parametrize(("sigma", "rate"), [("0.7", "0.01"), ("2", "0.003")])
def test_adding_a_record_is_read_in_the_mirror(sigma, rate, epsilon):
    steps = windowed(f"gaussian(sigma={sigma}).poisson({rate})").steps
    plan = steps.plan_to(0.0, float(epsilon), math.log(1e-9))
    truth = one_step(sigma, rate, epsilon, adding=True)
    with precision(200):
        value = mirrored(steps, Fraction(epsilon), plan)
        assert float(value.lower()) - 1e-18 <= float(truth) <= float(value.upper()) + 1e-18
        assert value.rad() < 1e-7
        assert steps.call(Ball(Fraction(epsilon).numerator) / Fraction(epsilon).denominator, plan).overlaps(
            Ball(str(one_step(sigma, rate, epsilon)))
        )


def test_a_mirror_needs_directions_that_reverse_each_other():
    beside = windowed("gaussian(sigma=1).poisson(0.01) * 3 + laplace(scale=4)")
    plan = beside.steps.plan_to(0.5, 0.5, math.log(1e-6))
    with pytest.raises(NotCertified, match="reverse"):
        mirrored(beside.steps, Fraction(1, 2), plan)


def test_far_from_zero_is_told_from_near():
    steps = windowed("gaussian(sigma=0.7).poisson(0.01) * 20").steps
    with pytest.raises(FarFromZero):
        root_near_zero(steps, Fraction("1e-6"))


def test_what_no_plan_tells_from_zero_is_bounded(monkeypatch):
    """If finer plans are refused, the upper end is as small as the last one shows, and the lower end is 0."""
    found = windowed("gaussian(sigma=0.433).poisson(0.000108) * 388")
    plan_to, asked = type(found.steps).plan_to, []

    def one(self, first, last, log_error, adding=False):
        asked.append(log_error)
        if len(asked) > 1:
            raise NotCertified("a windowed contour", "no more")
        return plan_to(self, first, last, log_error, adding)

    monkeypatch.setattr(type(found.steps), "plan_to", one)
    bound, witness = found._near_zero(Fraction("0.00678692"))
    assert bound == Bound(0.0, bound.upper)
    assert 3.8e-8 < bound.upper < 1e-3
    assert len(asked) == 2
    assert found.meets(Fraction(bound.upper), Fraction("0.00678692"), witness)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("power", [-50, -1000, -7000])
def test_moments_of_very_negative_powers(power):
    """ln ∫φ w^A is bounded piece by piece where one rule would be long."""
    mu, q = Fraction(1000, 486), Fraction(1, 100_000)
    split = Split(Fraction(35, 512), None, Fraction(4), Fraction(9, 2), Fraction(9, 2))
    with precision(80):
        found = Step(real(mu), q, split).log_whole(Fraction(power))
    with mpmath.workdps(30):
        rise = mpmath.mpf(1) / 100_000
        shift = mpmath.mpf(1000) / 486
        mean = mpmath.quad(
            lambda z: mpmath.npdf(z) * (1 - rise + rise * mpmath.exp(shift * z - shift**2 / 2)) ** power,
            [-15, -6, -3, 0, 2, 3, 4, 5, 6, 8, 12],
        )
    assert float(mpmath.log(mean)) * (1 - 1e-9) <= float(found.upper()) <= float(mpmath.log(mean)) * (1 + 1e-3)
