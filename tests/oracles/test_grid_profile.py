"""The profile on grids: both directions, many ε at once, the ends of ε, and what it refuses."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import pytest
from grid_cases import atoms, delta_around_atoms, normal

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.grid_profile import GridProfile, grid_profile
from tightrope.curves.engines.rarity import few
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, lower_float, precision, upper_float
from tightrope.numerics.grid.pictures import picture
from tightrope.numerics.grid.plan import grid_plan, rough_epsilon, rough_level
from tightrope.numerics.grid.search import GridDirection, falling_root
from tightrope.numerics.real import UNBOUNDED, ZERO, real

MIXED = tr.Gaussian(1).poisson("0.1") + tr.Gaussian(2).poisson("0.05")
TOP = -math.log(0.9) - math.log(0.95)  # the largest loss of a record added


def profile_of(mechanism):
    found = grid_profile(fact(mechanism, Loss).curve)
    assert isinstance(found, GridProfile)
    return found


def proved(profile, epsilon):
    return profile.prove(epsilon, profile.find(epsilon))


def test_it_agrees_with_the_contour():
    """Ten sampled Gaussian steps, which a contour integral gives to the last digits."""
    run = tr.Gaussian(1).poisson("0.2") * 10
    exact = tr.epsilon(run, "1e-5")
    assert exact.witness["way"] != "grid"
    bound, witness = profile_of(run).epsilon(Fraction("1e-5"))
    assert bound.lower <= exact.lower <= exact.upper <= bound.upper
    assert bound.upper - bound.lower < 5e-6 * bound.upper
    assert witness["direction"] == 0


def test_both_directions_are_proved():
    profile = profile_of(MIXED)
    witness = profile.find(Fraction(1, 20))
    assert witness["other"]
    value = profile.prove(Fraction(1, 20), witness)
    without = profile.prove(Fraction(1, 20), {**witness, "other": {}})
    swapped = {**witness["other"], "direction": 1, "other": {k: witness[k] for k in witness["other"]}}
    other = profile.prove(Fraction(1, 20), swapped)
    assert upper_float(without) >= 1
    assert lower_float(value) * (1 - 1e-6) < lower_float(without) <= lower_float(value)
    with precision(80):
        assert abs(other - value) <= value * Fraction(1, 10**6).numerator / 10**6


def test_the_lesser_direction_may_be_bounded_by_chernoff():
    """Any tilt will do for a proof; one that bounds it by what the worse direction costs is found at once."""
    profile, at = profile_of(MIXED), Fraction(1, 20)
    witness = profile.find(at)
    fine = profile.prove(at, {**witness, "direction": 1, "other": {}, **witness["other"]})
    for t in (Fraction(1, 8), Fraction(3), Fraction(40)):
        assert upper_float(profile._value(1, at, {"t": t})) >= lower_float(fine)
    with pytest.raises(NotCertified):
        profile.prove(at, {**witness, "other": {"t": Fraction(0)}})
    with pytest.raises(NotCertified):
        replace(profile, sums=(lambda: None,) * 2).prove(at, {**witness, "other": {"t": Fraction(3)}})
    coarse = profile.directions[1].planned(0.1, fine=False)
    assert profile._other(1, 0.1, Ball(0.5), coarse).keys() == {"t"}
    assert "t" not in profile._other(1, 0.1, Ball(1e-300), coarse)


def test_beyond_the_largest_loss_a_direction_costs_nothing():
    profile = profile_of(MIXED)
    witness = profile.find(Fraction(1))
    assert witness["other"] == {}
    assert 0 < lower_float(profile.prove(Fraction(1), witness)) < upper_float(profile.prove(Fraction(1), witness)) < 1
    adding = GridProfile((profile.directions[1],), (profile.tops[1],), ZERO, real(Fraction(1)), (lambda: None,))
    above = Fraction(TOP) + Fraction(1, 10**6)
    assert adding.find(above) == {"direction": 0, "other": {}}
    assert adding.prove(above, adding.find(above)) == 0
    assert adding.deltas([above, above + 1, Fraction(1, 10)])[:2] == [Ball(0), Ball(0)]


@pytest.mark.parametrize("direction", [-1, 2, 7])
def test_there_are_two_directions(direction):
    with pytest.raises(NotCertified):
        profile_of(MIXED).prove(Fraction(1), {"direction": direction, "other": {}})


def test_a_negative_epsilon_is_refused():
    profile = profile_of(MIXED)
    for ask in (profile.find, lambda x: profile.prove(x, profile.find(Fraction(1)))):
        with pytest.raises(NotCertified):
            ask(Fraction(-1, 2))
    with pytest.raises((NotCertified, KeyError)):
        profile.prove(Fraction(-1), {"distance": ""})


def test_a_witness_that_is_no_plan_is_refused():
    profile = profile_of(MIXED)
    with pytest.raises(NotCertified):
        profile.prove(Fraction(1, 20), {**profile.find(Fraction(1, 20)), "other": {"length": 4}})


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_many_points_agree_with_each_alone():
    profile, alone = profile_of(MIXED), profile_of(MIXED)
    points = [Fraction(i, 40) for i in range(12, -1, -3)] + [Fraction(2), Fraction(-1)]
    found = profile.deltas(points)
    assert found[-1] is None
    for x, value in zip(points[:-1], found, strict=False):
        wanted = alone.prove(x, alone.find(x))
        assert lower_float(value) <= upper_float(wanted)
        assert upper_float(value) >= lower_float(wanted)
        assert upper_float(value) - lower_float(value) <= 1e-5 * upper_float(value)


def test_epsilon_of_every_size():
    """Down to δ where one direction has no losses left, and up to where ε is 0."""
    profile = profile_of(MIXED)
    before = math.inf
    for delta in ("1e-25", "1e-4", "0.035"):
        bound, witness = profile.epsilon(Fraction(delta))
        assert 0 < bound.lower < bound.upper < before
        assert bound.upper - bound.lower < 1e-5 * bound.upper
        assert profile.meets(Fraction(bound.upper), Fraction(delta), witness)
        assert profile.needs(Fraction(bound.lower), Fraction(delta), witness)
        assert not profile.meets(Fraction(bound.lower), Fraction(delta), witness)
        before = bound.upper
    bound, witness = profile.epsilon(Fraction("0.0399"))
    assert (bound.lower, bound.upper) == (0, 0)
    assert profile.meets(Fraction(0), Fraction("0.0399"), witness)
    bound, witness = profile.epsilon(Fraction("0.9"))
    assert bound.upper == 0
    assert "distance" in witness
    assert profile.meets(Fraction(0), Fraction("0.9"), witness)
    assert not profile.meets(Fraction(0), Fraction("0.01"), witness)


@pytest.mark.parametrize(("guess", "word"), [(0.0, "too close to 0"), (0.01, "no grid proved")])
def test_a_guess_is_not_a_proof(guess, word):
    """A search in floats that goes wrong is seen."""

    class Misled(GridDirection):
        def located(self, goal, longest=None, graded=True):
            return replace(super().located(goal, longest, graded), lower=guess, upper=guess)

    whole = profile_of(MIXED)
    directions = (Misled(whole.directions[0].parts),)
    profile = GridProfile(directions, whole.tops[:1], ZERO, real(Fraction(1)), (lambda: None,))
    with pytest.raises(NotCertified, match=word):
        profile.epsilon(Fraction("1e-4"))


def leaky(leak, laws):
    directions = (GridDirection(tuple(laws)),)
    return GridProfile(directions, (UNBOUNDED,), real(Fraction(leak)), real(Fraction(1)), (lambda: None,))


def test_leaks():
    law = atoms([1, -1], ["7/10", "2/10"], "1/10")
    profile = leaky("1/10", [(law, 1), (normal(1), 1)])
    delta = delta_around_atoms([(law, 1)], [(normal(1), 1)])
    assert profile.epsilon(Fraction(1, 20))[0].lower == math.inf
    bound = profile.epsilon(Fraction(1, 10))[0]
    assert (bound.lower, bound.upper) == (0, math.inf)
    bound, _ = profile.epsilon(Fraction(2, 10))
    assert delta(bound.lower) >= 0.2 >= delta(bound.upper)
    value = profile.prove(Fraction(5), profile.find(Fraction(5)))
    assert lower_float(value) <= delta(5) <= upper_float(value)


def test_only_few_steps_and_known_laws():
    assert grid_profile(fact(tr.Gaussian(1).poisson("0.01") * 20_000_001, Loss).curve) is None
    assert grid_profile(fact(tr.Gaussian(1).allocated(10) * 3, Loss).curve) is None
    assert few(fact(tr.Gaussian(1).poisson("0.01") * 3, Loss).curve)
    assert not few(fact(tr.Gaussian(1).poisson("0.01") * 300, Loss).curve)
    assert few(fact(tr.Laplace(1).poisson("0.01") * 3, Loss).curve)
    assert not few(fact(tr.DiscreteGaussian(3).poisson("0.01") * 3, Loss).curve)  # many atoms
    assert not few(fact(tr.Laplace(1) * 3, Loss).curve)


@pytest.mark.parametrize("epsilon", [Fraction(10) ** 400, Fraction(10**7), Fraction(500)])
def test_an_epsilon_far_away_is_refused(epsilon):
    with pytest.raises(NotCertified):
        proved(profile_of(MIXED), epsilon)


def test_laws_out_of_reach_are_refused():
    profile = profile_of(tr.Gaussian("1e-6").poisson("0.1") * 2)
    with pytest.raises(NotCertified):
        profile.find(Fraction(1))
    with pytest.raises(NotCertified):
        profile.epsilon(Fraction(1, 1000))


def test_the_rough_guesses():
    """Chernoff's bound in floats is above the truth, and both guesses are of one function."""
    pictures = [picture(normal("0.5"), 4)]
    at = rough_epsilon(pictures, math.log(1e-5))
    delta = delta_around_atoms([], [(normal("0.5"), 4)])
    assert delta(at) < 1e-5 < delta(at / 2)
    assert rough_level(pictures, at) == pytest.approx(math.log(1e-5), abs=1e-3)
    found = profile_of(MIXED).directions[1].located(math.log(1e-25))  # nearly the largest loss, where no tilt is steep
    assert 0.1 < found.lower < found.upper < -math.log(0.9 * 0.95) + 1e-3


def test_the_root_of_a_falling_function():
    assert falling_root(lambda x: 3 - x, 1.0, 2.0, 100.0) == pytest.approx(3, rel=1e-12)
    assert falling_root(lambda x: 3 - x**3 if x < 5 else -math.inf, 50.0, 1.0, 100.0) == pytest.approx(3 ** (1 / 3))
    assert falling_root(lambda x: -1 - x, 1.0, 1.0, 100.0) == 0
    assert falling_root(lambda x: 1 - x, 1.0, 1.0, 100.0) == 1
    assert falling_root(lambda x: 1 + x, 1.0, 1.0, 100.0) == pytest.approx(100)
    jump = falling_root(lambda x: math.inf if x < 1e-6 else -math.inf, 1.0, 1.0, 100.0)
    assert jump == pytest.approx(1e-6)


def test_threads_share_grids():
    """More plans than are remembered, asked by several threads at once."""
    direction = GridDirection(((normal(1), 3),))
    pictures = direction.pictures()
    plans = [grid_plan(pictures, x / 4, -x, 2**8) for x in range(1, 9)] * 4
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda plan: upper_float(direction.grid(plan).upper(1.0)), plans))
    assert found[:8] == found[8:16] == found[16:24] == found[24:]


def test_an_epsilon_just_below_the_largest_loss_has_a_lower_end():
    """The last atom has some mass, so that ε is within some δ of four times the largest loss."""
    rate, steep = 0.61, math.exp(1 / 1.48)
    top = 4 * math.log((1 - rate + rate * steep) / (1 - rate + rate / steep))
    claim = tr.epsilon(tr.Laplace("1.48").poisson("0.61", relation="replace") * 4, delta="1.47e-14")
    assert claim.tight
    assert top * (1 - 1e-10) < claim.lower < claim.upper < top * (1 + 1e-10)
