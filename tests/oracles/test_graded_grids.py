"""Grades of paths on grids of their own: no plan proves a falsehood, their sum is the whole, and searches serve."""

import copy
import math
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from grid_cases import CASES, atoms, delta_around_atoms, no_falsehood, normal, truth
from mpmath import mpf
from test_grid_climb import climbing_plan
from test_grid_plans import random_plan, random_product

from tightrope.errors import NotCertified
from tightrope.numerics.balls import lower_float, upper_float
from tightrope.numerics.grid import graded_direction
from tightrope.numerics.grid.graded import GradedPlan, GradedSum, grades, heavier, multiplicity, pieces
from tightrope.numerics.grid.graded_direction import GradedDirection
from tightrope.numerics.grid.graded_search import Sketch, best_sketch
from tightrope.numerics.grid.normal_exchanges import ExchangedNormalCells, GluedNormalCells
from tightrope.numerics.grid.pictures import picture
from tightrope.numerics.grid.pieces import Piece
from tightrope.numerics.grid.plan import grid_plan
from tightrope.numerics.real import real

SEEDS = range(40)
PLANS = 3
ONE = Fraction(1)


def ends(grid, x):
    return mpf(lower_float(grid.lower(x))), mpf(upper_float(grid.upper(x)))


def random_borders(rng, parts):
    low = [Fraction(-rng.randint(1, 300), 64) for _ in parts]
    return tuple(rng.choice([None, (a, a + Fraction(rng.randint(1, 600), 128))]) for a in low)


def random_graded(rng, parts, width):
    borders, degree = random_borders(rng, parts), rng.choice([0, 1, 1, 2, 3])
    by = [Fraction(rng.randint(-30, 30), rng.choice([7, 16])) if border is None else Fraction(0) for border in borders]
    moves, found = rng.choice([(), tuple(by)]), []
    for grade in grades([count for _, count in parts], borders, degree):
        laws = pieces(parts, borders, grade, moves)
        found.append(rng.choice([random_plan, climbing_plan])(rng, laws, width))
    return GradedPlan(borders, degree, tuple(found), moves)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_graded_plan_proves_a_falsehood(seed):
    rng = random.Random(seed)
    parts, delta, width = random_product(rng)
    for _ in range(PLANS):
        plan = random_graded(rng, parts, width)
        try:
            grid = GradedDirection(tuple(parts)).grid(plan)
        except NotCertified:
            continue
        no_falsehood(grid, (0.0, rng.uniform(0, 1) * width), delta)


def planned(parts, borders, degree, x, level, length, split=False):
    plans = []
    copies = [count for _, count in parts]
    for grade in grades(copies, borders, degree):
        pictures = [picture(law, count) for law, count in pieces(parts, borders, grade)]
        plans.append(grid_plan(pictures, x, level - math.log(multiplicity(copies, grade)), length, split))
    return GradedPlan(tuple(borders), degree, tuple(plans))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    "name",
    ["normal", "two normals", "atoms and a normal", "glued normal", "exchanged normal", "ten exchanged", "drawn"],
)
@pytest.mark.parametrize("border", [Fraction(1, 8), Fraction(9, 16)])
def test_grades_add_up_to_the_whole(name, border):
    parts, x, _, _ = CASES[name]
    delta, known = truth(name)
    borders = [(-border, border)] * len(parts)
    degree = 9 if len(parts) == 1 else 3
    plan = planned(parts, borders, degree, x, math.log(float(delta)), 2048)
    low, high = ends(GradedSum(parts, plan), x)
    assert low <= delta * (1 + known)
    rest = mpf(upper_float(heavier(parts, borders, degree)))
    assert high >= delta * (1 - known)
    assert high - low <= rest + delta * mpf("0.02"), float((high - low - rest) / delta)


@pytest.mark.parametrize("high", [Fraction(n, 128) for n in range(5, 12)])
def test_light_steps_are_seen_up_to_their_borders(high):
    """Cells of a picture are coarse: what lies between the last of them and a border is not left above the lattice."""
    whole = picture(ExchangedNormalCells(real(ONE), Fraction(1, 500)), 20)
    part = whole.between(-high, high, 19)
    assert (part.copies, part.top, part.floors[0]) == (19, float(high), -float(high))
    beyond = whole.between(Fraction(-500), Fraction(500), 20)  # there are no such losses
    assert beyond.top == whole.top
    assert beyond.floors[0] == whole.floors[0]
    plan = grid_plan([part], 0.2, math.log(1e-4), 2**15, split=True)
    lattice = plan.lattices[0]
    assert lattice.last * lattice.step >= high


def test_a_forgotten_grade_is_seen():
    parts, x, _, _ = CASES["ten exchanged"]
    delta, _ = truth("ten exchanged")
    whole = planned(parts, [(Fraction(-1, 8), Fraction(1, 8))], 9, x, math.log(float(delta)), 2048)
    grid = GradedSum(parts, whole)
    seen = 0
    for place in range(len(grid._terms)):
        kept = [term for i, term in enumerate(grid._terms) if i != place]
        lacking = copy.copy(grid)
        lacking._terms, lacking._rest = kept, 0
        seen += ends(lacking, x)[1] < delta
    assert seen >= 2


def test_the_chance_of_many_heavy_steps():
    law, borders = normal(1), [(Fraction(-1), Fraction(3, 2))]
    chance = sum(float(x) for x in Piece(law, -1.0, 1.5, inside=False).cells(np.zeros(1)).p_high)
    for copies, degree in ((5, 1), (5, 4), (40, 3), (3, 3)):
        more = range(degree + 1, copies + 1)
        exact = sum(math.comb(copies, n) * chance**n * (1 - chance) ** (copies - n) for n in more)
        assert upper_float(heavier([(law, copies)], borders, degree)) >= exact * (1 - 1e-9)
    assert upper_float(heavier([(normal("0.01"), 100)], borders, 3)) < 1e-60
    assert heavier([(law, 9)], [None], 0) == 0


def test_all_grades():
    borders = [(Fraction(-1), Fraction(1)), None, (Fraction(-1), Fraction(1))]
    found = list(grades([3, 5, 2], borders, 9))
    assert len(found) == len(set(found)) == 4 * 3
    assert sum(multiplicity([3, 5, 2], one) for one in found) == 2**5
    assert all(sum(one) <= 2 for one in grades([3, 5, 2], borders, 2))
    light = pieces([(normal(1), 3)], borders[:1], (3,))
    assert [(law.inside, count) for law, count in light] == [(False, 3)]


PARTS = [(normal("0.5"), 4)]
PLAN = planned(PARTS, [(-ONE, ONE)], 2, 1.0, math.log(0.1), 512)


def test_this_plan_is_good():
    low, high = ends(GradedSum(PARTS, PLAN), 1.0)
    assert low <= delta_around_atoms([], PARTS)(1.0) <= high <= low + mpf("0.02")


@pytest.mark.parametrize(
    "change",
    [
        {"degree": 1},
        {"degree": 3},
        {"degree": -1},
        {"degree": 10**9},
        {"plans": ()},
        {"plans": PLAN.plans[:2]},
        {"plans": PLAN.plans[::-1]},
        {"plans": PLAN.plans * 2},
        {"borders": ()},
        {"borders": PLAN.borders * 2},
        {"borders": (None,)},
        {"borders": ((ONE, -ONE),)},
        {"borders": ((-ONE, Fraction(1, 3)),)},
        {"borders": ((-ONE, Fraction(10**9)),)},
    ],
)
def test_plans_that_do_not_fit_are_refused(change):
    with pytest.raises(NotCertified):
        GradedDirection(tuple(PARTS)).grid(replace(PLAN, **change))


def test_long_grids_are_refused_in_all():
    long = tuple(replace(one, length=2**19) for one in PLAN.plans)
    many = GradedPlan(PLAN.borders, 3, (*long, long[-1]))
    with pytest.raises(NotCertified, match="fit"):
        GradedSum(PARTS, many)


RARE = [
    (ExchangedNormalCells(real(ONE), Fraction(1, 2000)), 60, 1e-6),
    (GluedNormalCells(real(ONE), Fraction(1, 1000)), 50, 1e-8),
]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("law", "copies", "delta"), RARE)
def test_rare_steps_are_close(law, copies, delta):
    """One grid for all is the other method here: it is sound, and far coarser."""
    direction = GradedDirection(((law, copies),))
    start = direction.started(math.log(delta))
    found = direction._located(start, math.log(delta))
    assert start.lower <= found.lower <= found.upper <= start.upper
    assert 1 - found.share < min(2e-6, (1 - start.share) / 100)
    value = direction.grid(found.plan)
    assert float(value.upper(found.upper)) == pytest.approx(delta, rel=1e-6)
    graded = direction._planned(direction.one_grid(found.upper, fine=False), found.upper)
    low, high = ends(direction.grid(graded), found.upper)
    assert low <= delta * (1 + 1e-6)
    assert high >= delta * (1 - 1e-6)
    assert high - low < 2e-5 * high


def test_leaks_and_several_laws_are_graded():
    law, other = atoms(["1/2", "-1/2", 3], ["5/10", "3/10", "1/10"], "1/10"), normal("0.4")
    parts = ((law, 3), (other, 5))
    delta = delta_around_atoms([parts[0]], [parts[1]])
    direction = GradedDirection(parts)
    start = direction.one_grid(2.0, fine=False)
    low, high = ends(direction.grid(direction._planned(start, 2.0)), 2.0)
    assert low <= delta(2.0) <= high
    assert high - low < mpf("1e-3") * high


def test_where_nothing_serves():
    with pytest.raises(NotCertified, match="small"):
        best_sketch(PARTS, [picture(*PARTS[0])], 1.0, -800.0, 1.0)
    with pytest.raises(NotCertified, match="small"):
        best_sketch(PARTS, [picture(*PARTS[0])], 0.0, -1.0, 1.0)


def test_a_law_without_losses_has_no_plan():
    law = Piece(atoms([1], [1]), -0.5, 0.5, inside=True)
    with pytest.raises(NotCertified, match="no loss"):
        grid_plan([picture(law, 2)], 1.0, -1.0, 512)


def test_what_cannot_be_made_is_left(monkeypatch):
    def never(*_):
        raise NotCertified("graded grids", "not today")

    direction = GradedDirection(tuple(PARTS))
    monkeypatch.setattr(graded_direction, "best_sketch", never)
    start = direction.started(-5.0)
    assert direction._located(start, -5.0) is None
    assert direction._planned(start.plan, start.upper) is None
    assert direction.located(-5.0).share > 0.99
    assert direction.planned(1.0).length >= 4096


def test_wide_grades_cost_points():
    sketch = Sketch((None,), 0, ((),), (1, 1, 1), (), (1.0, 1e-3, 1e-30))
    assert sketch.cost > 1
    assert sketch.cost > Sketch((None,), 0, ((),), (1, 1, 1), (), (0.5, 1e-3, 1e-30)).cost
