"""Few sampled steps: the windowed contour against quadrature of the definition, and against the plain contour."""

import math
import random
from dataclasses import replace
from fractions import Fraction as F

import mpmath as mp
import pytest
import windowed_truth as truth

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.contour_profile import contour_profile
from tightrope.curves.loss import Loss
from tightrope.curves.windowed_profile import WindowedProfile, rare, windowed_profile
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.windowed import WindowProof
from tightrope.numerics.windowed_plan import window_plan
from tightrope.numerics.windowed_start import near_call, near_reverse_call, near_root
from tightrope.numerics.windowed_sum import WindowedSum


def steps(sigma, rate, number):
    return WindowedSum(Real(1 / F(sigma)), F(rate), number)


def proved(sigma, rate, number, x, adding=False):
    """The call, by a plan made at x."""
    total = steps(sigma, rate, number)
    floats = (1 / float(F(sigma)), float(F(rate)), number)
    at = float(F(x))
    level = near_reverse_call(*floats, at) if adding else near_call(*floats, at)[0]
    with precision(160):
        return total.call(ball(F(x)), window_plan(floats, (at, at), level, 1e-10, adding), adding)


def ends(value):
    with precision(160):
        return mp.mpf(value.lower().str(30, radius=False)), mp.mpf(value.upper().str(30, radius=False))


def curve(sigma, rate, number):
    return fact(tr.Gaussian(sigma).poisson(rate) * number, Loss).curve


def profile(sigma, rate, number):
    found = windowed_profile(curve(sigma, rate, number))
    assert isinstance(found, WindowedProfile)
    return found


def test_a_known_value():
    """Two steps, σ = 1, q = 0.1, ε = 1.5: a quadrature to 18 digits."""
    low, high = ends(proved("1", "0.1", 2, "1.5"))
    assert low <= mp.mpf("6.11304935242823951e-5") <= high
    assert high - low < low * 1e-9


@pytest.mark.parametrize(("sigma", "rate", "x"), [
    ("0.5", "0.0001", "0.05"), ("0.5", "0.001", "0.0013"), ("1", "0.0001", "0.0012"), ("1", "0.01", "0.4"),
    ("2", "0.3", "0.7"), ("5", "0.0001", "0.00005"), ("0.4", "0.3", "9"), ("20", "0.9", "0.2"), ("1", "0.02", "0.01"),
])  # fmt: skip
def test_two_steps(sigma, rate, x):
    with mp.workdps(30):
        mu, q, at = 1 / mp.mpf(sigma), mp.mpf(rate), mp.mpf(x)
        removed, added = truth.removing_two(mu, q, at), truth.adding_two(mu, q, at)
    low, high = ends(proved(sigma, rate, 2, x))
    assert low <= removed * (1 + mp.mpf(10) ** -13) and high >= removed * (1 - mp.mpf(10) ** -13)
    assert high - low < removed * 1e-8
    if added > removed / 100:
        low, high = ends(proved(sigma, rate, 2, x, adding=True))
        assert low <= added * (1 + mp.mpf(10) ** -13) and high >= added * (1 - mp.mpf(10) ** -13)
        assert high - low < added * 1e-8


def test_random_settings_of_two_and_three_steps():
    rng = random.Random(20240817)
    for _ in range(12):
        sigma, rate = round(math.exp(rng.uniform(-0.7, 2)), 2), round(math.exp(rng.uniform(-6, -1)), 4)
        number, log_delta = rng.choice((2, 3)), rng.uniform(-18, -5)
        found = near_root(1 / sigma, rate, number, log_delta)
        assert found is not None
        x = F(round(found[0], 8))
        if x <= 0:
            continue
        value = truth.removing(1 / sigma, rate, number, float(x))
        low, high = ends(proved(str(sigma), str(rate), number, str(x)))
        assert low <= value * (1 + 1e-9) and high >= value * (1 - 1e-9), (sigma, rate, number, x)
        assert high - low < value * 1e-8


@pytest.mark.parametrize(("sigma", "rate", "number", "delta"), [
    ("1", "0.01", 100, "1e-6"), ("3", "0.001", 1000, "1e-6"), ("0.8", "0.02", 200, "1e-9"), ("1", "0.5", 3, "1e-6"),
])  # fmt: skip
def test_it_agrees_with_the_contour_of_the_whole_loss(sigma, rate, number, delta):
    law = curve(sigma, rate, number)
    mine, other = windowed_profile(law).epsilon(F(delta))[0], contour_profile(law).epsilon(F(delta))[0]
    assert mine.lower <= other.upper and other.lower <= mine.upper
    assert mine.upper - mine.lower < 1e-9 * mine.upper


@pytest.mark.parametrize(("sigma", "rate", "number", "delta"), [
    ("1", "0.001", 50, "1e-6"), ("1", "0.01", 10, "1e-2"), ("0.5", "0.0001", 1000, "1e-6"), ("1", "0.01", 10, "1e-100"),
    ("20", "0.01", 10, "1e-300"), ("1", "0.00001", 10000, "1e-6"), ("3", "0.0001", 100, "1e-6"),
])  # fmt: skip
def test_claims_are_tight_and_proved_again(sigma, rate, number, delta):
    claim = tr.epsilon(tr.Gaussian(sigma).poisson(rate) * number, delta)
    assert claim.tight and claim.route == "exact" and claim.witness["way"] == "windowed"
    assert 0 < claim.lower <= claim.upper <= claim.lower * (1 + 1e-6)
    assert tr.check(claim.to_json())


def test_delta_at_epsilon_and_back():
    run = tr.Gaussian(1).poisson("0.001") * 50
    claim = tr.delta(run, "0.02")  # adding is nearly as dear here, and integrated too
    assert claim.tight and claim.upper <= claim.lower * (1 + 1e-6) and "eta" in claim.witness["other"]
    assert tr.check(claim.to_json())
    again = tr.epsilon(run, F(claim.upper))
    assert again.lower <= 0.02 <= again.upper * (1 + 1e-6)


def test_the_total_variation_has_no_direction():
    claim = tr.delta(tr.Gaussian(1).poisson("0.001") * 50, 0)
    with mp.workdps(20):
        pair = truth.removing_two(mp.mpf(1), mp.mpf("0.001"), mp.mpf(0))
    low, high = ends(proved("1", "0.001", 2, "0"))
    assert low <= pair * (1 + mp.mpf(10) ** -12) and high >= pair * (1 - mp.mpf(10) ** -12)
    assert claim.upper <= claim.lower * (1 + 1e-6) and tr.check(claim.to_json())


def test_small_deltas_near_the_total_variation():
    variation = profile("0.54", "0.000012", 29).prove(F(0), {"distance": ""})
    found = profile("0.54", "0.000012", 29)
    assert found.epsilon(F(float(variation.upper())))[0].upper == 0  # by the distance alone
    bound, witness = found.epsilon(F("1.1e-4"))
    assert bound.upper == 0 and "t" in witness
    with precision(200):
        assert found.prove(F(0), witness) <= ball(F("1.1e-4"))


def test_many_points_share_plans():
    found = profile("1", "0.001", 50)
    places = [F(1, 200) * F(21, 20) ** n for n in range(40)] + [F(0)]
    values = found.deltas(places)
    alone = found.prove(places[17], found.find(places[17]))
    for value, following in zip(values[:-1], values[1:-1], strict=False):
        assert value is not None and following is not None and value > following
    assert values[17] is not None and values[17].overlaps(alone)
    assert values[-1] is not None and values[-1] > values[0]


def test_estimates_are_close():
    found = profile("1", "0.001", 50)
    assert abs(found.estimate(F("1e-6")) / 0.06891422711 - 1) < 1e-3


@pytest.mark.parametrize("changed", [
    {"t": 2}, {"t": F(1, 2)}, {"eta": 2}, {"eta": F(1, 2)}, {"count": F(1, 2)}, {"count": F(1, 8)}, {"above": F(1, 2)},
    {"above": 3}, {"put": F(1, 3)}, {"put": 2}, {"all_low": F(1, 3)}, {"angle": F(1, 3)}, {"angle": 2}, {"bits": F(1, 2)},
    {"low": F(19, 20)}, {"low": F(21, 20)}, {"high": F(19, 20)}, {"high": F(21, 20)}, {"blur": F(1, 2)}, {"blur": 2},
    {"cut": F(19, 20)}, {"cut": F(6, 5)}, {"low_cut": F(19, 20)}, {"low_cut": 2}, {"low_end": F(9, 10)},
    {"low_angle": F(1, 2)},
])  # fmt: skip
def test_any_plan_encloses_or_is_refused(changed):
    """Whatever a stranger's witness says, what it proves is true."""
    found = profile("1", "0.001", 3)
    at = F("0.03")
    witness = found.find(at)
    assert witness["low"] is not None
    value = truth.removing(1.0, 0.001, 3, 0.03)
    other = {k: (int(witness[k] * v) if k in ("count", "bits") else F(witness[k]) * v) for k, v in changed.items()}
    try:
        low, high = ends(found.prove(at, {**witness, **other}))
    except NotCertified:
        return
    assert low <= value * (1 + 1e-9) and high >= value * (1 - 1e-9)


@pytest.mark.parametrize("changed", [
    {"t": F(0)}, {"eta": F(-1)}, {"above": F(0)}, {"put": F(1)}, {"all_low": F(0)}, {"count": 10**7}, {"bits": 1},
    {"below": F(1, 2)}, {"high": F(-20)}, {"cut": F(0)},
])  # fmt: skip
def test_void_plans_are_refused(changed):
    found = profile("1", "0.001", 3)
    with pytest.raises(NotCertified):
        found.prove(F("0.03"), {**found.find(F("0.03")), **changed})


def test_nothing_is_low_when_adding():
    plan = window_plan((1.0, 0.001, 3), (0.03, 0.03), math.log(1e-6), 1e-8)
    assert plan.split.low is not None
    with pytest.raises(NotCertified):
        WindowProof(Real(F(1)), F(1, 1000), 3, plan, adding=True)


def test_without_a_bound_for_the_aliases_from_below_there_is_still_a_proof():
    floats = (1.0, 0.01, 300)
    plan = window_plan(floats, (0.5, 0.5), near_call(*floats, 0.5)[0], 1e-8)
    assert plan.below is not None
    good = WindowProof(Real(F(1)), F(1, 100), 300, plan).call(Ball(0.5))
    wide = WindowProof(Real(F(1)), F(1, 100), 300, replace(plan, below=None)).call(Ball(0.5))
    with precision(100):
        assert wide.overlaps(good) and wide.rad() > good.rad()


def test_what_it_is_not_for():
    assert windowed_profile(fact(tr.Gaussian(1) * 3, Loss).curve) is None
    assert windowed_profile(fact(tr.Laplace(1).poisson("0.01") * 3, Loss).curve) is None
    mixed = tr.Gaussian(1).poisson("0.01") * 3 + tr.Gaussian(2).poisson("0.01")
    assert windowed_profile(fact(mixed, Loss).curve) is None
    found = profile("1", "0.001", 3)
    with pytest.raises(NotCertified):
        found.find(F(-1))
    with pytest.raises(NotCertified):
        found.find(F(10**6))
    with pytest.raises(NotCertified):
        found.epsilon(F(1, 10**320))


def test_when_it_is_tried_first():
    assert rare(curve("1", "0.001", 50)) and rare(curve("0.5", "0.01", 100))
    assert not rare(curve("1", "0.01", 10_000)) and not rare(fact(tr.Laplace(1).poisson("0.01") * 3, Loss).curve)


def test_starts_are_where_they_should_be():
    for mu, rate, number, log_target in ((1.0, 0.1, 2, -14.0), (0.5, 0.01, 50, -60.0), (0.3, 0.0004, 11, -330.0)):
        x, slope = near_root(mu, rate, number, log_target)
        assert slope > 0 and abs(near_call(mu, rate, number, x)[0] - log_target) < 0.05
    assert near_root(1.0, 0.1, 2, -800.0) is None
    assert near_root(1.0, 0.0001, 2, math.log(0.5)) == (0.0, 1.0)
