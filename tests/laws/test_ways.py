"""Which ways are tried for an answer, how close an answer is sought, and what is kept for later."""

from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr
from tightrope.accounting.aims import aim
from tightrope.accounting.facts import fact
from tightrope.accounting.routes import exact_route, route_named
from tightrope.accounting.solve import Estimates
from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.engines.blurred_profile import blurred_profile
from tightrope.curves.loss import Loss
from tightrope.curves.profile import DirectProfile, Profile
from tightrope.curves.profile_renyi import profile_has_renyi
from tightrope.curves.shared_proofs import SharedProofs
from tightrope.curves.ways import CLOSE, FAIR, ROUGH, Ways
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball
from tightrope.numerics.bound import Bound

F = Fraction
MANY = tr.RandomizedResponse(epsilon="1.14").poisson("0.0172") * 2009 + tr.Gaussian(14).poisson("0.000634") * 40
DRAWN = tr.Laplace(1).with_replacement(9, 590) * 5 + tr.Gaussian("2.27") * 25


class Told(Profile):
    """Ends that far apart, and which of these were asked."""

    may_be_wide = True

    def __init__(self, width, asked, name="", units=0.0):
        self.width, self.asked, self.name, self.units = width, asked, name, units

    def find(self, _):
        self.asked.append(self.name)
        return {}

    def prove(self, *_):
        return Ball(1, self.width / 2)

    def epsilon(self, _):
        self.asked.append(self.name)
        effort.spend(self.units, "a test")
        return Bound(1 - self.width, 1.0), {}

    def deltas(self, _):
        raise NotCertified("a test", "no point is known")


def ways(asked, widths, **options):
    made = [(name, lambda name=name, width=width: Told(width, asked, name)) for name, width in widths.items()]
    return Ways(tuple(made), **options)


@pytest.mark.parametrize(
    ("m", "sought"),
    [
        (MANY, CLOSE),
        (tr.RandomizedResponse(epsilon=1).poisson("0.1") * 199, FAIR),
        (tr.RandomizedResponse(epsilon=1).poisson("0.1") * 200, CLOSE),
        (tr.Laplace(1).without_replacement(1, 50) * 1000, CLOSE),
        (tr.Laplace(1).with_replacement(1, 50) * 999, FAIR),
        (DRAWN, CLOSE),
        (tr.Gaussian(10) * 9 + tr.Laplace(1), FAIR),
        (tr.Gaussian(10) * 10 + tr.Laplace(1), CLOSE),
    ],
)
def test_how_close_an_answer_is_sought(m, sought):
    assert aim(m, fact(m, Loss).curve) == exact_route(m).width == sought


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("m", "delta"), [(MANY, "1.09e-9"), (DRAWN, "3.6e-12")])
def test_ways_that_are_closer_than_a_grid_come_first(m, delta):
    claim = tr.epsilon(m, delta)
    assert 0 < claim.computed.upper - claim.computed.lower < CLOSE * claim.upper
    assert claim.witness["way"] != "grid"
    with effort.allowed(1.2e6):  # a part of a longer search
        fair = tr.epsilon(m, delta)
    assert fair.computed.lower <= claim.computed.upper
    assert fair.computed.upper >= claim.computed.lower


def test_the_grid_is_the_last_way_to_close_ends():
    asked = []
    some = ways(asked, {"grid": 5e-7, "blurred": 2e-8, "sum": 0.0})
    assert some.epsilon(F(1, 10))[1]["way"] == "grid"
    assert some.aiming(ROUGH).epsilon(F(1, 10))[1]["way"] == "grid"
    asked.clear()
    assert some.aiming(CLOSE).epsilon(F(1, 10))[1]["way"] == "sum"
    assert asked == ["blurred", "sum"]  # a grid does not reach 2e-8
    assert some.aiming(CLOSE).without("sum").find(F(1))["way"] == "blurred"


def test_beside_sampled_discrete_noise_a_grid_comes_before_sums_around_atoms():
    finite, smooth = tr.DiscreteLaplace("0.952").poisson("0.000102") * 6, tr.Gaussian("1.96").poisson("0.000112") * 34
    noisy = finite + smooth + tr.DiscreteGaussian("0.945").poisson("2.8e-5") * 5
    for m, first in ((finite + smooth, "atoms"), (noisy, "grid")):
        names = [name for name, _ in loss_has_profile(fact(m, Loss).curve).ways]
        assert next(name for name in names if name in ("atoms", "grid")) == first


def test_a_deep_search_is_only_for_what_the_contour_does_not_see():
    asked = []
    assert ways(asked, {"contour": 1e-5, "deep": 1e-5, "blurred": 1e-12}).find(F(1))["way"] == "blurred"
    assert asked == ["contour", "blurred"]


def test_a_way_without_points_leaves_them_to_the_next():
    exact = DirectProfile((lambda x: Ball(1) / (x + 2),))
    both = Ways((("first", lambda: Told(0.0, [])), ("second", lambda: exact)))
    assert both.deltas([F(0), F(2)])[1].overlaps(Ball(1) / 4)
    assert not exact.may_be_wide
    assert DirectProfile(exact.calls, exact=False).may_be_wide


def test_a_proof_may_use_what_any_search_may_not():
    with effort.allowed(10), effort.allowed(6, searching=True), effort.allowed(9), effort.allowed(2, searching=True):
        assert effort.left() == 2
        with effort.proving():
            assert effort.left() == 9
            effort.spend(8, "the proof")
            assert effort.left() == 1
        assert effort.left() == 1


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_many_points_of_atoms_are_known_well():
    """As many proofs as are needed are remembered; the points between them cost next to nothing."""
    m = tr.DiscreteLaplace("5.03").poisson("0.0415", relation="replace") * 3230
    points = [float(x) for x in np.linspace(2, 12, 40)]
    lower, upper = tr.profile(m).delta(points)
    assert np.all(upper - lower <= 2e-6 * upper)
    for i in (0, 20):
        alone = tr.delta(m, points[i])
        assert lower[i] <= alone.upper
        assert alone.lower <= upper[i]


def test_without_work_points_are_read_from_the_proofs_at_hand():
    profile = blurred_profile(fact(tr.RandomizedResponse(epsilon=1).poisson("0.1") * 200, Loss).curve)
    shared = SharedProofs(profile)
    assert shared.read(F(1)) is None
    value = shared.delta(F(2))
    with effort.allowed(0):
        assert shared.read(F(2)).overlaps(value)
        assert shared.read(F(21, 10)) < value
    assert not Told(0.0, []).at_hand({})
    profile.sums[0]._proofs.clear()
    assert shared.read(F(2)) is None


def test_where_much_work_is_left_a_blurred_contour_is_finer(monkeypatch):
    """Of few copies a proof takes a tenth of a second, or more where that says little."""
    m = tr.DiscreteLaplace("2.1").poisson("0.3") * 25 + tr.RandomizedResponse(epsilon="0.7", k=3).poisson("0.2") * 20
    profile = blurred_profile(fact(m, Loss).curve)
    monkeypatch.setattr("tightrope.numerics.contour.blurred._FAIR", 1e-13)
    plans = []
    for work in (2e5, 4e6):
        with effort.allowed(work):
            plans.append(profile.sums[0]._plan(6.0, -8.0, 1e-16, quick=False))
    assert plans[1].points > 1.5 * plans[0].points


def test_estimates_are_those_of_the_law_even_where_another_route_may_be_better():
    m = tr.Staircase("0.5").poisson("0.02", relation="replace") * 300
    route = exact_route(m)
    assert route.kind == "upper"
    assert Estimates(F("1e-4"))(m) == pytest.approx(tr.epsilon(m, "1e-4").computed.upper, rel=0.1)
    assert not loss_has_profile(fact(tr.Gaussian(1), Loss).curve).misses(F("1e-5"), F(10))
    rdp = route_named(m, "rdp").build()
    found = rdp.epsilon(F("1e-4"))[0].upper
    assert rdp.misses(F("1e-4"), F(found) * F(99, 100))
    assert not rdp.misses(F("1e-4"), F(found) * F(101, 100))


def test_a_curve_that_costs_too_much_is_left_out():
    m = tr.Laplace(1).with_replacement(795, 21189)
    curve = fact(m, Loss).curve
    renyi = profile_has_renyi(curve)
    with effort.allowed(1e5), pytest.raises(NotCertified, match="too little work"):
        renyi.approximate(3.0)
    with effort.allowed(1e12):
        assert 0 < renyi.approximate(3.0) < 40
        assert effort.left() < 1e12
