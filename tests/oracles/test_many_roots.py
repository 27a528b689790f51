"""Roots that share their work: of closed forms, and of profiles whose ε is asked at each δ alone."""

import math
from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.engines.atoms_profile import atoms_profile
from tightrope.curves.engines.blurred_profile import blurred_profile
from tightrope.curves.engines.contour_profile import contour_profile
from tightrope.curves.engines.windowed_profile import windowed_profile
from tightrope.curves.loss import Loss
from tightrope.curves.profile import DirectProfile
from tightrope.curves.shared_proofs import SharedProofs, shared_deltas, shared_epsilons
from tightrope.curves.shared_roots import SharedRoots
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.effort import allowed, spend
from tightrope.numerics.many_roots import many_roots, spread


def falling(x):
    return -x * x / 2 - math.log1p(x)


def test_each_root_takes_a_few_values():
    asked = []

    def function(x):
        asked.append(x)
        return falling(x)

    values = [falling(k / 10) for k in range(1, 100)]
    found = many_roots(function, values, (0.01, falling(0.01)), (10.0, falling(10.0)))
    assert all(abs(falling(found[value]) - value) < 1e-11 for value in values)
    assert len(asked) < 4 * len(values)


def test_rough_roots_take_fewer():
    asked = []

    def function(x):
        asked.append(x)
        return falling(x)

    values = [falling(k / 10) for k in range(1, 100)]
    found = many_roots(function, values, (0.01, falling(0.01)), (10.0, falling(10.0)), close=1e-3)
    assert all(abs(falling(found[value]) - value) < 1e-3 for value in values)
    assert len(asked) < 1.5 * len(values)


def test_a_corner_is_closed_in_on():
    def function(x):
        return -x if x < 1 else -1 - 1e6 * (x - 1)

    found = many_roots(function, [-0.5, -1.5, -1e3], (0.0, 0.0), (2.0, function(2.0)))
    assert all(abs(function(found[value]) - value) < 1e-6 * abs(value) for value in found)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, 7.0])
def test_nothing_hangs_where_no_value_is_between(wrong):
    assert set(many_roots(lambda _: wrong, [-1.0, -2.0], (0.0, 0.0), (1.0, -3.0))) == {-1.0, -2.0}


def test_an_end_is_its_own_root():
    assert many_roots(falling, [-3.0, 0.0], (0.0, 0.0), (1.0, -3.0)) == {0.0: 0.0, -3.0: 1.0}
    assert math.isnan(many_roots(falling, [5.0], (0.0, 0.0), (1.0, -3.0))[5.0])


def test_the_middle_comes_first():
    assert spread([1, 2, 3, 4, 5, 6, 7]) == [4, 2, 6, 1, 3, 5, 7]
    assert spread([]) == []


def loss(m):
    return fact(m, Loss).curve


MIXED = tr.Gaussian(1).poisson("0.01") * 300 + tr.Laplace(3) * 2
PROFILES = {
    "contour": lambda: contour_profile(loss(MIXED)),
    "windowed": lambda: windowed_profile(loss(tr.Gaussian(1).poisson("0.01") * 10)),
    "blurred": lambda: blurred_profile(loss(tr.Table(["0.2", "0.3", "0.5"], ["0.21", "0.28", "0.51"]) * 300)),
    "atoms": lambda: atoms_profile(loss(tr.Gaussian(2).poisson("0.02") * 30 + tr.RandomizedResponse(p="0.6") * 4)),
    "direct": lambda: loss_has_profile(loss(tr.Gaussian(1))),
}
DELTAS = [Fraction("0.6"), *(Fraction(1, 10) ** k / 3 for k in range(1, 8))]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("name", PROFILES)
def test_shared_epsilons_agree_with_each_alone(name):
    profile, alone = PROFILES[name](), PROFILES[name]()
    bounds = profile.epsilons(DELTAS)
    for delta, bound in zip(DELTAS, bounds, strict=True):
        own = alone.epsilon(delta)[0]
        assert bound.lower <= own.upper
        assert own.lower <= bound.upper
        assert bound.upper - bound.lower <= 1e-7 * bound.upper
    for delta, bound in list(zip(DELTAS, bounds, strict=True))[2::2]:  # each end is on its side, by a proof of its own
        if bound.upper:
            above, below = (alone.prove(x, alone.find(x)) for x in map(Fraction, (bound.lower, bound.upper)))
            with precision(200):
                assert not above < ball(delta)
                assert not below > ball(delta)


def test_a_direct_profile_is_read_sharply():
    bounds = PROFILES["direct"]().epsilons(DELTAS)
    assert all(bound.upper - bound.lower <= 1e-13 * bound.upper for bound in bounds)
    assert isinstance(PROFILES["direct"](), DirectProfile)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_shared_deltas_agree_with_each_alone():
    profile, alone = PROFILES["blurred"](), PROFILES["blurred"]()
    points = [Fraction(k, 4) for k in range(12)]
    for x, value in zip(points, shared_deltas(profile, points), strict=True):
        assert value.overlaps(alone.prove(x, alone.find(x)))
        assert value.rad() < 1e-6 * value.mid()


class Dear:
    """δ = e^{−ε}, by proofs that say little away from their ε, and cost what is left of an allowance."""

    def __init__(self, units, refuse=False):
        self.units, self.refuse, self.found = units, refuse, 0

    def find(self, x):
        if self.refuse:
            raise NotCertified("a proof", "refused")
        spend(self.units, "a proof")
        self.found += 1
        return {"at": x}

    def prove(self, x, witness):
        off = 1e-9 + abs(float(x - witness["at"])) * 1e-5
        with precision(64):
            return (-ball(x)).exp() * (1 + Ball(off).union(Ball(-off)))

    def epsilon(self, delta):
        raise NotCertified("a proof", f"refused at {delta}")


def test_proofs_serve_longer_where_work_is_short():
    points = [Fraction(k, 10) for k in range(100)]
    free, bound = Dear(1e5), Dear(1e5)
    with allowed(1e9):
        assert None not in shared_deltas(free, points)
    with allowed(8e5):
        assert None not in shared_deltas(bound, points)
    assert 2 < bound.found < free.found / 2
    with allowed(5e4):
        assert shared_deltas(Dear(1e5), points) == [None] * 100


def test_a_proof_nearby_is_better_than_none():
    profile = Dear(1.0)
    shared = SharedProofs(profile)
    shared.keep(0.0, {"at": Fraction(0)})
    profile.refuse = True
    assert shared.delta(Fraction(3)).contains(math.exp(-3))


def test_what_is_not_found_is_none():
    assert shared_epsilons(Dear(1.0), [Fraction(1, 3)]) == [None]


def test_roots_of_what_does_not_fall_are_refused():
    flat = SharedRoots(lambda _: Ball(1) / 2)
    with pytest.raises(NotCertified):
        flat.enclosed(1.0, Fraction(1, 2))
    assert flat.between([Fraction(1, 2)], 0.0, 1.0, 1e-9) == {}

    def refuse(_):
        raise NotCertified("δ", "refused")

    assert SharedRoots(refuse).between([Fraction(1, 2)], 0.0, 1.0, 1e-9) == {}


def test_roots_that_are_lost_leave_the_others():
    def delta(x):
        if Fraction(1, 2) < x < Fraction(2, 3):
            raise NotCertified("δ", "refused")
        with precision(128):
            return (-ball(x)).exp()

    goals = [Fraction(9, 10), Fraction(1, 3), Fraction(math.exp(-0.6))]
    found = SharedRoots(delta).between(goals, 0.0, 2.0, 1e-12)
    assert set(found) == set(goals[:2])
    for goal, bound in found.items():
        assert bound.lower - 1e-15 <= -math.log(goal) <= bound.upper + 1e-15
        assert bound.upper - bound.lower < 1e-11


def test_an_end_that_is_not_proved():
    def delta(x):
        return (-ball(x)).exp().union(Ball(0)) if x > 1 else (-ball(x)).exp()

    wide = SharedRoots(delta)
    with precision(128):
        bound = wide.enclosed(0.5, Fraction(math.exp(-0.5)))
    assert bound.lower <= 0.5 <= bound.upper
    with pytest.raises(NotCertified):
        SharedRoots(lambda x: (-ball(x)).exp().union(Ball(1))).enclosed(1.0, Fraction(1, 10**6))


def test_leaks_and_zeros_among_many():
    m = tr.Approx("0.2", "1e-6") * 5
    deltas = [Fraction(x) for x in ("1e-9", "1e-7", "4.9e-6", "1e-5", "1e-3", "0.1", "0.5", "0.9")]
    bounds = loss_has_profile(loss(m)).epsilons(deltas)
    alone = [tr.epsilon(m, delta=delta) for delta in deltas]
    assert [bound.upper for bound in bounds[:3]] == [math.inf] * 3
    assert [bound.upper for bound in bounds[-2:]] == [0.0] * 2
    for bound, claim in zip(bounds, alone, strict=True):
        assert bound.lower <= claim.upper
        assert claim.lower <= bound.upper
    assert all(bound.upper == 0 for bound in shared_epsilons(loss_has_profile(loss(m)), deltas[-2:]))


class Blind(Dear):
    """Nothing is known at ε = 0."""

    def find(self, x):
        if x == 0:
            raise NotCertified("a proof", "refused at 0")
        return super().find(x)

    def epsilon(self, delta):
        x = -math.log(delta)
        return Bound(x * (1 - 1e-9), x * (1 + 1e-9)), {"at": Fraction(x)}


def test_the_top_need_not_be_known():
    bounds = shared_epsilons(Blind(1.0), [Fraction(1, 10**k) for k in range(1, 9)])
    assert all(bound.upper - bound.lower < 1e-7 for bound in bounds)


def test_a_way_that_fails_is_not_asked_for_all():
    asked = []

    class Lost(Dear):
        def epsilon(self, delta):
            asked.append(delta)
            return super().epsilon(delta)

    assert shared_epsilons(Lost(1.0), [Fraction(1, 10**k) for k in range(1, 20)]) == [None] * 19
    assert len(asked) < 8


def test_proofs_that_fail_are_not_sought_for_ever():
    profile = Dear(1.0, refuse=True)
    shared = SharedProofs(profile)
    for _ in range(5):
        with pytest.raises(NotCertified):
            shared.epsilon(Fraction(1, 3), 1.0, (0.0, 2.0), 1e-9)
    profile.refuse = False
    with pytest.raises(NotCertified, match="other points"):
        shared.epsilon(Fraction(1, 3), 1.0, (0.0, 2.0), 1e-9)
    shared.keep(1.0, {"at": Fraction(1)})  # what is known still serves
    bound = shared.epsilon(Fraction(1, 3), 1.0, (0.0, 2.0), 1e-9)
    assert bound.lower <= math.log(3) <= bound.upper


def test_a_new_proof_is_made_where_the_old_one_leads():
    shared = SharedProofs(Dear(1.0))
    shared.keep(0.1, {"at": Fraction(1, 10)}, 1e-12)
    bound = shared.epsilon(Fraction(1, 1000), 3.0, (0.0, 20.0), 1e-9)
    assert bound.lower <= math.log(1000) <= bound.upper
    assert bound.upper - bound.lower < 1e-7
