"""Few sampled steps: the windowed contour against quadrature of the definition, and against the plain contour."""

import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import pytest
import windowed_truth as truth

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.contour_profile import contour_profile
from tightrope.curves.engines.rarity import rare
from tightrope.curves.engines.windowed_profile import WindowedProfile, windowed_profile
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.windowed.integral import WindowProof
from tightrope.numerics.windowed.outcomes import log_one_call
from tightrope.numerics.windowed.parts import Sampler, WindowLaw
from tightrope.numerics.windowed.search import window_plan
from tightrope.numerics.windowed.start import near_call, near_reverse_call, near_root
from tightrope.numerics.windowed.total import WindowedSum


def law(sigma, rate, number):
    return WindowLaw.of([Sampler(Real(1 / Fraction(sigma)), Fraction(rate), number)])


def steps(sigma, rate, number):
    return WindowedSum(law(sigma, rate, number), law(sigma, rate, number))


def proved(sigma, rate, number, x, adding=False):
    """The call, by a plan made at x."""
    total = steps(sigma, rate, number)
    floats = (1 / float(Fraction(sigma)), float(Fraction(rate)), number)
    at = float(Fraction(x))
    level = near_reverse_call(*floats, at) if adding else near_call(*floats, at)[0]
    with precision(160):
        plan = window_plan(law(sigma, rate, number).floats, (at, at), level, 1e-4 if adding else 1e-10, adding)
        return total.call(ball(Fraction(x)), plan, adding)


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


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("sigma", "rate", "x"),
    [
        ("0.5", "0.0001", "0.05"),
        ("0.5", "0.001", "0.0013"),
        ("1", "0.0001", "0.0012"),
        ("1", "0.01", "0.4"),
        ("2", "0.3", "0.7"),
        ("5", "0.0001", "0.00005"),
        ("0.4", "0.3", "9"),
        ("20", "0.9", "0.2"),
        ("1", "0.02", "0.01"),
    ],
)
def test_two_steps(sigma, rate, x):
    with mp.workdps(30):
        mu, q, at = 1 / mp.mpf(sigma), mp.mpf(rate), mp.mpf(x)
        removed, added = truth.removing_two(mu, q, at), truth.adding_two(mu, q, at)
    low, high = ends(proved(sigma, rate, 2, x))
    assert low <= removed * (1 + mp.mpf(10) ** -13)
    assert high >= removed * (1 - mp.mpf(10) ** -13)
    assert high - low < removed * 1e-8
    if added > removed / 10:
        low, high = ends(proved(sigma, rate, 2, x, adding=True))
        assert low <= added * (1 + mp.mpf(10) ** -13)
        assert high >= added * (1 - mp.mpf(10) ** -13)
        assert high - low < added * 1e-3


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_random_settings():
    rng = random.Random(20240817)
    for _ in range(15):
        sigma, rate = round(math.exp(rng.uniform(-0.7, 2)), 2), round(math.exp(rng.uniform(-6, -1)), 4)
        log_delta = rng.uniform(-18, -5)
        found = near_root(1 / sigma, rate, 2, log_delta)
        assert found is not None
        x = Fraction(round(found[0], 8))
        if x <= 0:
            continue
        value = truth.removing(1 / sigma, rate, float(x))
        low, high = ends(proved(str(sigma), str(rate), 2, str(x)))
        assert low <= value * (1 + 2e-8), (sigma, rate, x)
        assert high >= value * (1 - 2e-8), (sigma, rate, x)
        assert high - low < value * 1e-8


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("sigma", "rate", "number", "delta"),
    [
        ("1", "0.01", 100, "1e-6"),
        ("3", "0.001", 1000, "1e-6"),
        ("0.8", "0.02", 200, "1e-9"),
        ("1", "0.5", 3, "1e-6"),
    ],
)
def test_it_agrees_with_the_contour_of_the_whole_loss(sigma, rate, number, delta):
    whole = curve(sigma, rate, number)
    mine, other = (found(whole).epsilon(Fraction(delta))[0] for found in (windowed_profile, contour_profile))
    assert mine.lower <= other.upper
    assert other.lower <= mine.upper
    assert mine.upper - mine.lower < 1e-9 * mine.upper


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("sigma", "rate", "number", "delta"),
    [
        ("1", "0.001", 50, "1e-6"),
        ("1", "0.01", 10, "1e-2"),
        ("0.5", "0.0001", 1000, "1e-6"),
        ("1", "0.01", 10, "1e-100"),
        ("20", "0.01", 10, "1e-300"),
        ("1", "0.00001", 10000, "1e-6"),
        ("3", "0.0001", 100, "1e-6"),
    ],
)
def test_claims_are_tight_and_proved_again(sigma, rate, number, delta):
    claim = tr.epsilon(tr.Gaussian(sigma).poisson(rate) * number, delta)
    assert claim.tight
    assert claim.route == "exact"
    assert claim.witness["way"] == "windowed"
    assert 0 < claim.lower <= claim.upper <= claim.lower * (1 + 1e-6)
    assert tr.check(claim.to_json())


def test_delta_at_epsilon_and_back():
    run = tr.Gaussian(1).poisson("0.001") * 50
    claim = tr.delta(run, "0.002")  # adding is nearly as dear here, and integrated too
    assert claim.tight
    assert claim.upper <= claim.lower * (1 + 1e-6)
    assert "eta" in claim.witness["other"]
    assert tr.check(claim.to_json())
    again = tr.epsilon(run, Fraction(claim.upper))
    assert again.lower <= 0.002 <= again.upper * (1 + 1e-6)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_the_total_variation_has_no_direction():
    claim = tr.delta(tr.Gaussian(1).poisson("0.001") * 50, 0)
    with mp.workdps(20):
        pair = truth.removing_two(mp.mpf(1), mp.mpf("0.001"), mp.mpf(0))
    low, high = ends(proved("1", "0.001", 2, "0"))
    assert low <= pair * (1 + mp.mpf(10) ** -12)
    assert high >= pair * (1 - mp.mpf(10) ** -12)
    assert claim.upper <= claim.lower * (1 + 1e-6)
    assert tr.check(claim.to_json())


def test_small_deltas_near_the_total_variation():
    variation = profile("0.54", "0.000012", 29).prove(Fraction(0), {"distance": ""})
    found = profile("0.54", "0.000012", 29)
    assert found.epsilon(Fraction(float(variation.upper())))[0].upper == 0  # by the distance alone
    bound, witness = found.epsilon(Fraction("1.1e-4"))
    assert bound.upper == 0
    assert "t" in witness
    with precision(200):
        assert found.prove(Fraction(0), witness) <= ball(Fraction("1.1e-4"))


def test_many_points_share_plans():
    found = profile("1", "0.001", 50)
    places = [Fraction(1, 200) * Fraction(21, 20) ** n for n in range(40)] + [Fraction(0)]
    values = found.deltas(places)
    alone = found.prove(places[17], found.find(places[17]))
    for value, following in itertools.pairwise(values[:-1]):
        assert value is not None
        assert following is not None
        assert value > following
    assert values[17] is not None
    assert values[17].overlaps(alone)
    assert values[-1] is not None
    assert values[-1] > values[0]


def test_estimates_are_close():
    found = profile("1", "0.001", 50)
    assert abs(found.estimate(Fraction("1e-6")) / 0.06891422711 - 1) < 1e-3


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    "changed",
    [
        {"t": 2},
        {"t": Fraction(1, 2)},
        {"eta": 2},
        {"eta": Fraction(1, 2)},
        {"count": Fraction(1, 2)},
        {"count": Fraction(1, 8)},
        {"above": Fraction(1, 2)},
        {"above": 3},
        {"put": Fraction(1, 3)},
        {"put": 2},
        {"all_low": Fraction(1, 3)},
        {"angle": Fraction(1, 3)},
        {"angle": 2},
        {"bits": Fraction(1, 2)},
        {"low": Fraction(19, 20)},
        {"low": Fraction(21, 20)},
        {"high": Fraction(19, 20)},
        {"high": Fraction(21, 20)},
        {"blur": Fraction(1, 2)},
        {"blur": 2},
        {"cut": Fraction(19, 20)},
        {"cut": Fraction(6, 5)},
        {"low_cut": Fraction(19, 20)},
        {"low_cut": 2},
        {"low_end": Fraction(9, 10)},
        {"low_angle": Fraction(1, 2)},
    ],
)
def test_any_plan_encloses_or_is_refused(changed):
    """Whatever a stranger's witness says, what it proves is true."""
    found = profile("1", "0.001", 2)
    at = Fraction("0.03")
    witness = found.find(at)
    assert witness["low"] is not None
    value = truth.removing(1.0, 0.001, 0.03)
    other = {
        k: (int(witness[k] * v) if k in ("count", "bits") else Fraction(witness[k]) * v) for k, v in changed.items()
    }
    try:
        low, high = ends(found.prove(at, {**witness, **other}))
    except NotCertified:
        return
    assert low <= value * (1 + 1e-9)
    assert high >= value * (1 - 1e-9)


@pytest.mark.parametrize(
    "changed",
    [
        {"t": Fraction(0)},
        {"eta": Fraction(-1)},
        {"above": Fraction(0)},
        {"put": Fraction(1)},
        {"all_low": Fraction(0)},
        {"count": 10**7},
        {"bits": 1},
        {"below": Fraction(1, 2)},
        {"high": Fraction(-20)},
        {"cut": Fraction(0)},
    ],
)
def test_void_plans_are_refused(changed):
    found = profile("1", "0.001", 3)
    with pytest.raises(NotCertified):
        found.prove(Fraction("0.03"), {**found.find(Fraction("0.03")), **changed})


def test_nothing_is_low_when_adding():
    plan = window_plan(law(1, "0.001", 3).floats, (0.03, 0.03), math.log(1e-6), 1e-8)
    assert plan.has_low
    with pytest.raises(NotCertified):
        WindowProof(law(1, "0.001", 3), plan, adding=True)


def test_without_a_bound_for_the_aliases_from_below_there_is_still_a_proof():
    whole = law(1, "0.01", 300)
    plan = window_plan(whole.floats, (0.5, 0.5), near_call(1.0, 0.01, 300, 0.5)[0], 1e-8)
    assert plan.below is not None
    good = WindowProof(whole, plan).call(Ball(0.5))
    wide = WindowProof(whole, replace(plan, below=None)).call(Ball(0.5))
    with precision(100):
        assert wide.overlaps(good)
        assert wide.rad() > good.rad()


def test_what_it_is_not_for():
    assert windowed_profile(fact(tr.Gaussian(1) * 3, Loss).curve) is None
    assert windowed_profile(fact(tr.Laplace(1).poisson("0.01") * 3, Loss).curve) is None
    assert windowed_profile(fact(tr.Laplace(1).poisson("0.01", relation="replace") * 3, Loss).curve) is None
    found = profile("1", "0.001", 3)
    with pytest.raises(NotCertified):
        found.find(Fraction(-1))
    with pytest.raises(NotCertified):
        found.find(Fraction(10**6))
    with pytest.raises(NotCertified):
        found.epsilon(Fraction(1, 10**30000))


def test_when_it_is_tried_first():
    assert rare(curve("1", "0.001", 50))
    assert rare(curve("0.5", "0.01", 100))
    assert not rare(curve("1", "0.01", 10_000))
    assert not rare(fact(tr.Laplace(1).poisson("0.01") * 3, Loss).curve)


def test_starts_are_where_they_should_be():
    for mu, rate, number, log_target in ((1.0, 0.1, 2, -14.0), (0.5, 0.01, 50, -60.0), (0.3, 0.0004, 11, -330.0)):
        x, slope = near_root(mu, rate, number, log_target)
        assert slope > 0
        assert abs(near_call(mu, rate, number, x)[0] - log_target) < 0.05
    assert near_root(1.0, 0.1, 2, -800.0) is None
    assert near_root(1.0, 0.0001, 2, math.log(0.5)) == (0.0, 1.0)


def test_corners_of_the_search():
    """Rough plans where fine ones are too long; starts that fail; places that floats do not see."""
    assert steps("0.5", "0.01", 10).plan(0.001, -3.2, 0.01).count > 0
    alone = log_one_call(1.0, 0.001, 1e4) + math.log(3)  # so far out one step decides; e^1e4 is no float
    assert steps("1", "0.001", 3).estimate(1e4)[0] == pytest.approx(alone)
    with pytest.raises(NotCertified):
        window_plan(law(1, "0.001", 10**6).floats, (1e-9, 1e-9), -3000.0, 1e-10)
    with pytest.raises(NotCertified):
        steps("1", "0.001", 3).root(-90000.0)
