"""Searches with heavy steps listed one by one: against every path, beside other laws, with little work."""

import copy
import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import mpmath as mp
import numpy as np
import pytest
from flint import arb, ctx
from grid_cases import atoms, delta_around_atoms, no_falsehood, normal, normal_delta
from mpmath import mpf
from quick_numbers import of_mpmath, to_mpmath

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.grid_profile import grid_profile
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import lower_float, upper_float
from tightrope.numerics.grid.discrete_normal_cells import DiscreteNormalCells
from tightrope.numerics.grid.discrete_normal_exchanges import ExchangedDiscreteNormalCells
from tightrope.numerics.grid.listed import ALL, ListedPlan
from tightrope.numerics.grid.listed_borders import listed_sketch
from tightrope.numerics.grid.listed_direction import ListedDirection
from tightrope.numerics.real import real

F = Fraction


LAWS = {
    "removing": DiscreteNormalCells(F(4), 1, F(1, 1000)),
    "adding": DiscreteNormalCells(F(4), 1, F(1, 1000), adding=True),
    "wide shift": DiscreteNormalCells(F(9, 4), 3, F(1, 50)),
    "exchanged": ExchangedDiscreteNormalCells(F(4), 1, F(1, 1000), glued=False),
    "glued": ExchangedDiscreteNormalCells(F(9, 4), 2, F(1, 100), glued=True),
}


def true_atoms(law, reach=60):
    """(loss, mass) of every noise, in 40 digits."""
    v, d, q = mpf(law.variance.numerator) / law.variance.denominator, law.shift, mpf(law.rate.numerator)
    q /= law.rate.denominator
    whole = mp.fsum(mp.exp(-mpf(k * k) / (2 * v)) for k in range(-90, 91))
    plain = {k: mp.exp(-mpf(k * k) / (2 * v)) / whole for k in range(-reach - d, reach + d + 1)}
    growth = {k: 1 + q * mp.expm1(d * (2 * k - d) / (2 * v)) for k in plain}
    if isinstance(law, DiscreteNormalCells):
        return [(mp.log(w) * (-1 if law.adding else 1), plain[k] * (1 if law.adding else w)) for k, w in growth.items()]
    if not law.glued:
        return [(mp.log(growth[k] / growth[-k]), plain[k] * growth[k]) for k in plain if -k in plain]
    found = [(mp.log(growth[k]), plain[k] * growth[k]) for k in plain if 2 * k > d]
    found += [(-loss, mass * mp.exp(-loss)) for loss, mass in found]
    return [*found, (mpf(0), 1 - mp.fsum(mass for _, mass in found))]


@pytest.mark.parametrize("name", LAWS)
def test_discrete_noise_is_parted(name):
    law, border, least = LAWS[name], 2.0**-9, 1e-40
    with mp.workdps(50):
        truth = true_atoms(law)
        listed = law.parted(-border, border, least)
        heavy = [(loss, mass) for loss, mass in truth if abs(loss) > border and mass > 10 * least]
        assert listed.p_high.tolist() == sorted(listed.p_high, reverse=True)
        for loss, mass in heavy:
            at = np.flatnonzero((listed.low <= float(loss) * (1 + 1e-12)) & (listed.high >= float(loss) * (1 - 1e-12)))
            at = at if loss > 0 else np.flatnonzero(np.abs(listed.low / float(loss) - 1) < 1e-12)
            assert any(listed.low[i] <= loss <= listed.high[i] for i in at), (loss, mass)
            assert any(listed.p_low[i] <= mass <= listed.p_high[i] for i in at), (loss, mass)
        assert len(heavy) <= listed.p_high.size <= len(heavy) + 4
        assert 0 < listed.rest < 100 * least
        light = mp.fsum(mass for loss, mass in truth if abs(loss) < border)
        low, high = (mp.fsum(mpf(end(mass)) for _, mass in listed.light) for end in (lower_float, upper_float))
        assert low <= light <= high < light * (1 + mpf(10) ** -14) + mpf(10) ** -38
        found = [float(loss.mid()) for loss, _ in listed.light]
        near = [loss for loss, mass in truth if abs(loss) < border and mass > 1e-30]
        assert all(min(abs(float(loss) - one) for one in found) <= 1e-14 * abs(float(loss)) for loss in near)


def test_wide_noise_is_not_listed():
    assert DiscreteNormalCells(F(10**6), 1, F(1, 100)).parted(-1e-3, 1e-3, 1e-20) is None
    assert ExchangedDiscreteNormalCells(F(10**6), 1, F(1, 100), glued=False).parted(-1e-3, 1e-3, 1e-20) is None


@cache
def paths(name, copies):
    """Every sum of few losses, and its chance."""
    listed = [(loss, mass) for loss, mass in true_atoms(LAWS[name], 24) if mass > mpf(10) ** -34]
    found = []
    for chosen in combinations_with_replacement(listed, copies):
        ways = math.factorial(copies) // math.prod(math.factorial(n) for n in Counter(chosen).values())
        found.append((mp.fsum(loss for loss, _ in chosen), ways * mp.fprod(mass for _, mass in chosen)))
    return found


@cache
def quick_paths(name, copies):
    """The same in flint's arithmetic."""
    return [(of_mpmath(loss), of_mpmath(p)) for loss, p in paths(name, copies)]


def true_delta(name, copies, x):
    with mp.workdps(40), ctx.workdps(45):
        at = of_mpmath(x)
        return to_mpmath(-sum((p * (at - loss).expm1() for loss, p in quick_paths(name, copies) if loss > at), arb(0)))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("name", ["removing", "exchanged", "glued"])
@pytest.mark.parametrize("goal", [math.log(1e-9), math.log(1e-17)])
def test_a_search_meets_every_path(name, goal):
    direction = ListedDirection(((LAWS[name], 3),))
    found = direction._listed(direction.started(goal), goal)
    assert isinstance(found.plan, ListedPlan)
    assert 1 - found.share < 1e-7
    with mp.workdps(40):
        at = mpf(found.upper)
        assert true_delta(name, 3, at * (1 - mpf(10) ** -6)) > mp.exp(mpf(goal))
        assert true_delta(name, 3, at * (1 + mpf(10) ** -6)) < mp.exp(mpf(goal))
        truth, grid = true_delta(name, 3, at), direction.grid(found.plan)
        assert lower_float(grid.lower(found.upper)) <= truth <= upper_float(grid.upper(found.upper))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_a_forgotten_grade_or_a_heavier_sum_is_seen():
    direction, goal = ListedDirection(((LAWS["removing"], 40),)), math.log(1e-13)
    found = direction._listed(direction.started(goal), goal)
    grid, x = direction.grid(found.plan), found.upper
    whole, width = float(grid.upper(x)), float(grid.upper(x) - grid.lower(x))
    assert width < 1e-4 * whole
    assert float(grid._rest) < 1e-8 * whole
    seen = 0
    for place in range(len(grid._terms)):
        lacking = copy.copy(grid)
        lacking._terms = [term for i, term in enumerate(grid._terms) if i != place]
        seen += float(lacking.upper(x)) < lower_float(grid.lower(x))
    assert seen >= 2


@pytest.mark.parametrize("closely", [False, True])
def test_a_plan_for_one_epsilon(closely):
    direction = ListedDirection(((LAWS["removing"], 3),))
    plan = direction.planned(0.05, closely=closely)
    assert isinstance(plan, ListedPlan)
    grid = direction.grid(plan)
    with mp.workdps(40):
        truth = true_delta("removing", 3, mpf(0.05))
    low, high = lower_float(grid.lower(0.05)), upper_float(grid.upper(0.05))
    assert low <= truth <= high < low * (1 + 1e-6)


def test_beside_a_smooth_law():
    """A normal law stays on the lattice whole."""
    law = atoms(["1/100", "-1/100", "7/10", "11/10"], ["49/100", "1/2", "1/200", "1/200"])
    parts = [(law, 5), (normal("0.3"), 2)]
    finite = delta_around_atoms([(law, 5)], [(normal("0.3"), 2)])
    direction = ListedDirection(tuple(parts))
    sketch = listed_sketch(direction.parts, direction.pictures(), 2.5, math.log(1e-8))
    assert sketch.borders[0] is not None
    assert sketch.borders[1] is None
    goal = mp.log(finite(2.5))
    found = direction._listed(direction.started(float(goal)), float(goal))
    assert abs(found.upper - 2.5) < 1e-5
    no_falsehood(direction.grid(found.plan), (2.5, 2.4), finite)
    assert normal_delta(mpf(0), mpf(1)) == 0


def test_no_law_to_list():
    direction = ListedDirection(((normal(1), 3),))
    with pytest.raises(NotCertified):
        listed_sketch(direction.parts, direction.pictures(), 3.0, -20.0)
    assert direction._listed(direction.started(-20.0), -20.0) is None
    assert direction._listed_plan(direction.one_grid(3.0, fine=False), 3.0, closely=False) is None


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_little_work_is_enough_or_nothing():
    direction = ListedDirection(((LAWS["removing"], 186),))
    goal = math.log(1e-20)
    start = direction.started(goal)
    shares = []
    for units in (1e3, 3e4, 1e5, 1e7):
        with effort.allowed(units):
            found = direction._listed(start, goal)
        shares.append(0.0 if found is None else found.share)
    assert shares[0] == 0
    assert shares == sorted(shares)
    assert shares[-1] > 1 - 1e-6


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("discrete_gaussian(1.48).poisson(0.000323) * 10", "1.23e-22"),
        ("discrete_gaussian(0.431).poisson(1.51e-5) * 95", "3.38e-12"),
        ("discrete_gaussian(3.36).poisson(0.000209, relation=replace) * 131", "1.69e-38"),
        ("randomized_response(0.302, k=7).with_replacement(19, 15800) * 55", "1.56e-33"),
    ],
)
def test_rare_steps_of_atoms_are_answered_closely(text, delta):
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert claim.witness["way"] == "grid"
    assert claim.witness["lists"]
    assert claim.computed.lower > claim.computed.upper * (1 - 1e-6)
    assert tr.check(claim.to_json())


MIXED = [
    ("staircase(0.19) * 30 + discrete_gaussian(6.68).poisson(0.000221) * 451", "7.89e-20"),
    (
        "laplace(7.46).poisson(0.000107, relation=replace) * 2 + randomized_response(0.428) * 30"
        " + discrete_laplace(4.07).poisson(0.00167, relation=replace) * 65",
        "5.16e-38",
    ),
]


@pytest.mark.parametrize(("text", "delta"), MIXED)
def test_finite_laws_beside_rare_steps_are_listed_whole(text, delta):
    profile = grid_profile(fact(tr.parse(text), Loss).curve)
    bound, witness = profile.epsilon(Fraction(delta))
    assert [0, 0] in witness["borders"]
    assert witness["floor"] > 0
    assert bound.gap < 1e-8
    assert profile.meets(Fraction(bound.upper), Fraction(delta), witness)
    assert profile.needs(Fraction(bound.lower), Fraction(delta), witness)


def test_whole_lists_beside_a_normal_law():
    finite, smooth = [(atoms(["1/2", "-1/2", 0], ["3/10", "2/10", "5/10"]), 5)], [(normal("0.2"), 3)]
    delta = delta_around_atoms(finite, smooth)
    direction = ListedDirection((*finite, *smooth))
    plan = direction._listed_plan(direction.one_grid(2.6, fine=False), 2.6, closely=True)
    assert plan.borders == (ALL, None)
    assert plan.floor > -math.inf
    grid = direction.grid(plan)
    no_falsehood(grid, (2.6, 2.5, 0.3), delta)
    assert upper_float(grid.upper(2.6)) < lower_float(grid.lower(2.6)) * (1 + 1e-6)
    tiny = direction.bounding(2.6, delta_ball(delta(2.6) * 2))
    assert isinstance(tiny, ListedPlan)
    assert tiny.points < plan.points
    other = direction.bounding(2.6, delta_ball(mpf(0)))  # there is none, and a close one is made
    assert upper_float(direction.grid(other).upper(2.6)) < delta(2.6) * (1 + mpf(10) ** -5)
    other = direction.bounding(2.6, delta_ball(delta(2.6) / 2))  # there is none, and that is all that is asked
    assert lower_float(direction.grid(other).lower(2.6)) > delta(2.6) / 2


def delta_ball(x):
    return real(Fraction(str(mp.nstr(x, 20)))).ball()


def test_directions_that_have_nothing_to_list():
    smooth, goal = ListedDirection(((normal("0.1"), 3),)), math.log(1e-6)
    assert smooth.rough(goal) == smooth.refined(smooth.started(goal), goal, 2**12).upper
    assert smooth._planned(smooth.one_grid(1.0, fine=False), 1.0) is not None
    bounded = smooth.bounding(1.0, delta_ball(mpf(10) ** -3))
    assert upper_float(smooth.grid(bounded).upper(1.0)) < 1e-3
    wide = ListedDirection(((DiscreteNormalCells(F(10**6), 1, F(1, 100)), 3),))
    assert wide.rough(goal) > 0  # too many values
    assert wide._located(wide.started(goal), goal) is not None
    assert wide.bounding(0.1, delta_ball(mpf(10) ** -3)) is not None


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_more_heavy_steps_where_few_do_not_do():
    """Light sums of few values: only more sums bring the ends together."""
    law, goal = DiscreteNormalCells(F("0.266256"), 1, F("0.000199")), math.log(7.32e-33)
    direction = ListedDirection(((law, 2980),))
    found = direction._located(direction.started(goal), goal)
    assert isinstance(found.plan, ListedPlan)
    assert 1 - found.share < 1e-6
