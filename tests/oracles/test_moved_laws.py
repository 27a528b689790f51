"""Losses counted from another origin: cells, plans that prove no falsehood, and answers just above the largest loss."""

import math
import random
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from grid_cases import atoms, delta_around_atoms, exact, no_falsehood, normal
from mpmath import mpf
from test_grid_climb import climbing_plan
from test_grid_plans import random_plan
from test_listed_direction import LAWS, paths
from test_listed_grids import rare_law

import tightrope as tr
from tightrope.errors import NotCertified
from tightrope.numerics.balls import lower_float, upper_float
from tightrope.numerics.grid.cells import Atoms
from tightrope.numerics.grid.graded import GradedPlan, GradedSum, checked_grades
from tightrope.numerics.grid.graded_direction import GradedDirection
from tightrope.numerics.grid.laplace_cells import LaplaceCells
from tightrope.numerics.grid.listed import ALL, ListedPlan, heavy_grades
from tightrope.numerics.grid.listed_borders import listed_sketch
from tightrope.numerics.grid.listed_direction import ListedDirection
from tightrope.numerics.grid.listed_fit import ListedFit
from tightrope.numerics.grid.moved import Moved, moved
from tightrope.numerics.grid.normal_cells import NormalCells
from tightrope.numerics.grid.readings import Readings
from tightrope.numerics.grid.stream_plan import Reach, climbing
from tightrope.numerics.grid.total import GridSum
from tightrope.numerics.real import real

F = Fraction
BORDER = F(33, 1024)  # no loss is there


def laplace_cell(scale, low, high):
    """P and Q of Laplace noise between two losses, atoms left out."""
    low, high = max(low, -scale), min(high, scale)
    if high <= low:
        return mpf(0), mpf(0)
    fall = mp.exp(-scale / 2) / 2 * (mp.exp(-low / 2) - mp.exp(-high / 2))
    rise = mp.exp(-scale / 2) / 2 * (mp.exp(high / 2) - mp.exp(low / 2))
    return rise, fall


@pytest.mark.parametrize("by", [F(1, 3), F(-2), F(7, 10), F(99)])
def test_moved_cells_are_the_old_ones(by):
    scale = F(1, 3)
    law = Moved(LaplaceCells(real(scale)), by)
    rng = np.random.default_rng(1)
    edges = np.sort(np.append(rng.uniform(-0.4, 0.4, 40), [-1e-9, 0.0, 1e-9])) + float(F(1, 3) - by)
    found = law.cells(edges)
    assert found.slack < 1e-13
    with mp.workdps(40):
        ends = [mpf("-inf"), *(mpf(float(x)) + exact(by) for x in edges), mpf("inf")]
        for i, (low, high) in enumerate(pairwise(ends)):
            for sign, p, q in ((1, found.p_high, found.q_high), (-1, found.p_low, found.q_low)):
                # the cell with its edges further apart, or closer
                slack = -sign * mpf(found.slack)
                under_p, under_q = laplace_cell(exact(scale), low - slack, high + slack)
                assert sign * (mpf(p[i]) - under_p) >= -(mpf(10) ** -30)
                assert sign * (mpf(q[i]) - mp.exp(exact(by)) * under_q) >= -(mpf(10) ** -30) * mp.exp(exact(by))
    assert [atom.loss.rational for atom in law.atoms()] == [scale - by, -scale - by]
    assert (law.scattered, law.effort, law.infinite().rational) == (False, 1.0, 0)


def test_what_cannot_be_moved():
    with pytest.raises(NotCertified, match="at most 100"):
        Moved(normal(1), F(101))
    with pytest.raises(NotCertified, match="too narrow"):
        Moved(normal(1), F(50)).cells(np.array([0.0, 1e-16]))
    some = atoms([1, 2], ["1/2", "1/4"], "1/4")
    assert moved(some, F(0)) is some
    other = moved(some, F(3, 2))
    assert isinstance(other, Atoms)
    assert [one.loss.rational for one in other.listed] == [F(-1, 2), F(1, 2)]
    assert other.infinite().rational == F(1, 4)


def random_moved(rng, listed):
    """A grid or two for the light steps of every grade, of those that can be made."""
    plans = []
    for one in listed:
        made, found = rng.choice([random_plan, climbing_plan]), []
        for _ in range(3):
            plan = made(rng, one.light, rng.choice([1, 6]))
            with suppress(NotCertified, ArithmeticError):
                Readings(GridSum(one.light, plan, whole=False))
                found.append(plan)
        plans.append(tuple(found))
    return tuple(plans)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_no_moved_plan_proves_a_falsehood():
    """Against sums over all atoms around a normal loss; laws are moved up and down, so that Q has any mass."""
    told = 0
    for seed in range(8):
        rng = random.Random(seed)
        finite = [(rare_law(rng), rng.choice([1, 2, 3])) for _ in range(2)]
        smooth = [(normal(F(rng.randint(1, 100), 100)), rng.choice([1, 2]))]
        delta, parts = delta_around_atoms(finite, smooth), [*finite, *smooth]
        borders = (rng.choice([None, ALL]), (-BORDER, BORDER), None)
        moves = tuple(F(rng.randint(-30, 30), rng.choice([7, 16])) if at is None else F(0) for at in borders)
        listed, _ = heavy_grades(parts, borders, 3, 1e-9, -math.inf, moves)
        assert all(sum(isinstance(law, Moved) for law, _ in one.light) == bool(moves[2]) for one in listed)
        plan = ListedPlan(borders, 3, 1e-9, random_moved(rng, listed), moves=moves)
        grid = ListedDirection(tuple(parts)).grid(plan)
        places = (0.0, rng.uniform(0, 0.1), rng.uniform(0, 4))
        no_falsehood(grid, places, delta)
        told += sum(lower_float(grid.lower(x)) > delta(x) / 10 or grid.upper(x) < 3 * delta(x) for x in places)
    assert told >= 8


def test_moves_that_do_not_fit():
    law = atoms(["1/100", "-1/100", "7/10"], ["49/100", "1/2", "1/100"])
    for moves in ((F(1),), (F(1), F(1), F(0)), (F(0), F(1))):
        with pytest.raises(NotCertified, match="does not fit"):
            heavy_grades([(law, 4), (law, 4)], (None, (F(-1, 8), F(1, 8))), 2, 1e-9, moves=moves)


def laplace_delta(scale, x):
    """E[(1 − e^{x−L})₊] of one Laplace step, at any x."""
    if x >= scale:
        return mpf(0)
    if x <= -scale:
        return 1 - mp.exp(x)
    return 1 - mp.exp((x - scale) / 2)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("goal", [math.log(1e-13), math.log(1e-20)])
def test_just_above_the_largest_loss(goal):
    """One Laplace step and two of discrete noise: ε is the Laplace noise's largest loss and little more."""
    top = F(17, 10)
    parts = ((LAWS["exchanged"], 2), (LaplaceCells(real(top)), 1))

    def delta(x):
        with mp.workdps(40):
            return mp.fsum(p * laplace_delta(exact(top), mpf(x) - loss) for loss, p in paths("exchanged", 2))

    direction = ListedDirection(parts)
    found = direction._listed(direction.started(goal), goal)
    assert found.plan.moves[1] == F(float(top))
    assert 1 < found.upper / float(top) < 1.1
    assert 1 - found.share < 1e-8
    with mp.workdps(40):
        assert delta(found.upper * (1 - 1e-7)) > mp.exp(goal) > delta(found.upper * (1 + 1e-7))
        grid = direction.grid(found.plan)
        for x in (found.upper, found.upper * (1 + 1e-3)):
            assert lower_float(grid.lower(x)) <= delta(x) <= upper_float(grid.upper(x))
        assert lower_float(grid.lower(found.upper)) > 0.99 * delta(found.upper)


def normal_delta(mu, x):
    """E[(1 − e^{x−L})₊] of a normal loss, at any x."""
    return mp.ncdf(mu / 2 - x / mu) - mp.exp(x) * mp.ncdf(-mu / 2 - x / mu)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_grades_just_above_the_largest_loss():
    """One Laplace step and a tiny normal loss: tilts are as steep as that one is narrow, far beyond the range of floats
    at the Laplace loss itself."""
    top, mu, goal = F(17, 10), F(1, 50_000), math.log(1e-9)
    direction = GradedDirection(((LaplaceCells(real(top)), 1), (normal(mu), 1)))

    def delta(x):
        # Laplace noise: half of the mass of P at the top, and a density e^{(l − top)/2}/4 below it, of which
        # what is far below does not matter
        with mp.workdps(40):
            x, wide = mpf(x) - exact(top), exact(mu)
            parts = [-40 * wide, -10 * wide, -5 * wide, -2 * wide, 0]
            below = mp.quad(lambda z: mp.exp(z / 2) / 4 * normal_delta(wide, x - z), parts)
            return normal_delta(wide, x) / 2 + below

    found = direction._located(direction.started(goal), goal)
    assert found.plan.moves == (F(float(top)), 0)
    assert 0 < found.upper / float(top) - 1 < 1e-4
    assert 1 - found.share < 1e-7
    assert delta(found.upper * (1 - 1e-8)) > mpf(10) ** -9 > delta(found.upper * (1 + 1e-8))
    grid = direction.grid(found.plan)
    assert lower_float(grid.lower(found.upper)) <= delta(found.upper) <= upper_float(grid.upper(found.upper))


def test_moves_of_grades_that_do_not_fit():
    direction = GradedDirection(((LaplaceCells(real(F(1))), 2), (normal("0.01"), 1)))
    found = direction._located(direction.started(math.log(1e-4)), math.log(1e-4)).plan
    for moves in ((F(1),), (F(1), F(1), F(0))):
        with pytest.raises(NotCertified, match="does not fit"):
            GradedSum(direction.parts, GradedPlan(found.borders, found.degree, found.plans, moves))
    with pytest.raises(NotCertified, match="does not fit"):
        checked_grades(GradedPlan(((F(-1), F(1)),), 0, found.plans[:1], (F(1),)), [1])


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("gaussian(sigma=5.72).poisson(2.34e-5)*25 + laplace(scale=2.29)*7", "1.74e-8"),
        ("gaussian(sigma=0.844).poisson(1.45e-05)*13 + laplace(scale=5.07)*2", "9.96e-06"),
        ("gaussian(sigma=0.322).poisson(0.000168)*40 + laplace(scale=3.22)*5", "0.000397"),
        ("gaussian(sigma=2.14).poisson(1.01e-05)*1 + laplace(scale=1.6)*2", "3.98e-09"),
    ],
)
def test_rare_steps_beside_laplace_noise_at_its_largest_loss(text, delta):
    """Either direction may cost more, and small grids cannot tell which."""
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert claim.computed.upper / claim.computed.lower < 1 + 1e-6
    assert tr.check(claim.to_json())


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_a_witness_tells_what_was_moved():
    text = "laplace(scale=6.9) * 2 + discrete_gaussian(sigma=4.31).poisson(3.45e-5, relation=replace) * 17"
    claim = tr.epsilon(tr.parse(text), delta="1.88e-19")
    assert claim.upper / claim.lower < 1 + 1e-7
    assert any(claim.witness["moves"])
    assert tr.check(claim.to_json())


def test_atoms_far_below_the_largest_one():
    """What lies below the lattice of a moved law counts as raised to it, so the lattice ends further down."""
    wide, top = atoms(["0.36", 0, "-0.36"], ["0.58", "0.02", "0.4"]), F("0.36")
    parts = ((LAWS["exchanged"], 2), (wide, 3))
    goal = math.log(1e-17)
    direction = ListedDirection(parts)
    assert listed_sketch(parts, direction.pictures(), 1.1, goal).moves == ()  # so few atoms are listed whole
    many = ((LAWS["exchanged"], 2), (wide, 90))
    pictures = ListedDirection(many).pictures()
    at = 90 * float(top) + 0.03
    moved_sketch = listed_sketch(many, pictures, at, goal - 50)
    assert moved_sketch.moves == (0, F(float(top)))
    fit = ListedFit(many, moved_sketch, at, goal - 50)
    lattices = [grid.lattices[-1] for grid in fit.result()[0].grids if grid.tilt > 100]
    assert lattices
    for grid in fit.result()[0].grids:
        lifted = float(grid.lattices[-1].first * grid.lattices[-1].step)
        # the mass below, raised to the first point, is little beside the atom at the top
        assert lifted < -0.36 or 0.42 * math.exp(float(grid.tilt) * lifted) < 1e-9


def test_windows_of_rungs_are_where_the_sums_are():
    """Sums that end at 0 are not cut off by a window that is rounded to a coarse lattice."""
    step, length = F(1, 2**12), 2**9

    def reach(steps):
        return Reach(-steps * 0.3 * float(step), 0.0, F(4000), F(-4000))

    for stream in climbing(77, step, length, float(step), reach):
        wide, steps = step / 2**stream.doublings, 1
        for rung in stream.rungs:
            steps *= rung.power
            low, high = (float(wide * n) for n in (rung.start, rung.start + length))
            assert low <= reach(steps).bottom
            assert high > 0
            wide *= 2**rung.doublings


def test_masses_that_leave_the_floats_are_bounded():
    """Moved down, a tiny mass of Q is below all normal floats: it lies between 0 and more, and is never nothing."""
    law = NormalCells(real(F(3)))
    edges = np.linspace(95.0, 110.0, 40)
    before, found = law.cells(edges), Moved(law, F(-100)).cells(edges + 100)
    tiny = (before.q_high > 0) & (before.q_high < 1e-250)
    assert tiny.sum() > 10
    assert np.all(found.q_high[tiny] >= 1e-290)
    assert np.all(found.q_low[tiny] == 0)
    assert np.all(found.p_high >= before.p_low)
