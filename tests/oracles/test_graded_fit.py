"""Finer grids for the widest grades: which kind serves, and when to stop."""

import math
from fractions import Fraction

import pytest
from grid_cases import atoms, delta_around_atoms, normal
from mpmath import mpf

from tightrope.numerics import effort
from tightrope.numerics.balls import lower_float, upper_float
from tightrope.numerics.grid import graded_fit
from tightrope.numerics.grid.discrete_normal_exchanges import ExchangedDiscreteNormalCells
from tightrope.numerics.grid.graded_direction import GradedDirection
from tightrope.numerics.grid.graded_fit import GradeFit
from tightrope.numerics.grid.graded_search import KINDS, SMOOTH, best_sketch, smooth
from tightrope.numerics.grid.grid_plan import LONGEST
from tightrope.numerics.grid.normal_cells import SampledNormalCells
from tightrope.numerics.grid.normal_exchanges import ExchangedNormalCells, GluedNormalCells
from tightrope.numerics.grid.pictures import picture
from tightrope.numerics.grid.search import grid_units
from tightrope.numerics.real import real

RARE = [(GluedNormalCells(real(1), Fraction(1, 1000)), 50)]
SCATTERED = [(ExchangedDiscreteNormalCells(Fraction(2), 1, Fraction(1, 500), glued=True), 40)]


def fitted(parts, delta=1e-9):
    """A fit that has seen small grids, its direction, their gaps and ε."""
    direction, level = GradedDirection(tuple(parts)), math.log(delta)
    at = direction.started(level).upper
    sketch = best_sketch(parts, direction.pictures(), at, level, 5.0)
    small = sketch.plan(at, level, sketch.small())
    gaps = [gap / delta for gap in direction.grid(small).gaps(at)]
    return GradeFit(parts, sketch, small, gaps, grid_units, (at, level)), direction, gaps, at


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("parts", [RARE, SCATTERED])
def test_grades_become_as_narrow_as_is_wanted(parts):
    fit, direction, gaps, at = fitted(parts)
    delta = 1e-9
    before = fit.plan
    fit.narrow(1e-5)
    assert sum(gaps) > 1e-3
    value = direction.grid(fit.plan)
    assert sum(value.gaps(at)) <= 1e-5 * delta * 1.001
    longer = [new.length > old.length for new, old in zip(fit.plan.plans, before.plans, strict=True)]
    assert any(longer)
    assert not all(longer)  # grades that do not count stay small
    assert all((place, fit.plan.plans[place]) in fit.grids for place, one in enumerate(longer) if one)
    assert len(fit.grids) == sum(longer)  # those that lost are not kept


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_atoms_are_split_and_densities_are_merged():
    for parts, split in ((RARE, False), (SCATTERED, True)):
        fit, _, gaps, _ = fitted(parts)
        fit.narrow(1e-5)
        widest = max(range(len(gaps)), key=lambda i: gaps[i])
        assert fit.plan.plans[widest].split == split
    assert smooth(RARE)
    assert not smooth(SCATTERED)
    assert set(SMOOTH) < set(KINDS)


def test_the_work_allowed_is_the_end():
    fit, _, gaps, _ = fitted(RARE)
    before = fit.plan
    with effort.allowed(100.0):
        fit.narrow(1e-9)
    assert fit.plan == before
    with effort.allowed(2e5):
        fit.narrow(1e-12)
        assert effort.left() >= 0
    lengths = [one.length for one in fit.plan.plans]
    assert max(lengths) > max(one.length for one in before.plans)
    assert sum(lengths) < LONGEST
    assert sum(one.gap for one in fit._found) < sum(gaps)


def test_a_grade_that_does_not_become_narrower_is_left(monkeypatch):
    fit, _, _, _ = fitted(RARE)
    tried = []

    def stubborn(self, place, plan):
        tried.append((place, plan.length))
        self.grids[place, plan] = None
        return 1.0, False

    monkeypatch.setattr(GradeFit, "_gap", stubborn)
    before = fit.plan
    fit.narrow(1e-30)
    assert fit.plan == before
    assert not fit.grids
    assert len({place for place, _ in tried}) > 1
    assert max(length for _, length in tried) <= 8 * graded_fit._BLIND  # longer ones would say the same


def test_all_points_are_used_and_no_more(monkeypatch):
    fit, _, _, _ = fitted(RARE)

    def falling(self, place, plan):
        self.grids[place, plan] = None
        return 1e3 / plan.length**2, False

    monkeypatch.setattr(GradeFit, "_gap", falling)
    fit.narrow(1e-30)
    lengths = [one.length for one in fit.plan.plans]
    assert LONGEST <= sum(lengths) <= 3 * LONGEST // 2


def test_a_grade_without_sums_above_epsilon_has_a_plan():
    """Light steps of a law whose atoms are far apart never reach ε, and no tilt bounds what climbs."""
    parts = [
        (GluedNormalCells(real(Fraction(1, 3)), Fraction(1, 600)), 2),
        (atoms(["1/1153", "-1/1153", 0], ["0.4878", "0.4874", "0.0248"]), 22),
    ]
    sketch = best_sketch(parts, [picture(*one) for one in parts], 0.56, math.log(1e-12), 5.0)
    plan = sketch.plan(0.56, math.log(1e-12), sketch.small())
    grid = GradedDirection(tuple(parts)).grid(plan)
    assert upper_float(grid.grids[0].upper(0.56)) < 1e-30


def test_fine_lattices_hold_the_smallest_losses():
    """However coarsely the spike of tiny losses is pictured: below the first point all would be lost."""
    rate = Fraction(313, 10**7)
    rare = SampledNormalCells(real("1.51"), rate, adding=False)
    parts = [(atoms(["1/3", "-1/3"], ["58/100", "415/1000"]), 24), (rare, 12606)]
    sketch = best_sketch(parts, [picture(*one) for one in parts], 8.2, math.log(1e-12), 50.0)
    for length in (2**11, 2**15, 2**18):
        for place, pictures in enumerate(sketch.pictures):
            plan = sketch.grade_plan(place, KINDS[1], 8.2, math.log(1e-12), length)
            many = next(i for i, one in enumerate(pictures) if one.copies > 12000)
            assert plan.lattices[many].first * plan.lattices[many].step <= math.log1p(-rate), (place, length)


def test_graded_grids_of_normals_and_atoms_enclose_the_truth():
    law, other = atoms(["1/2", "-1/2", 3], ["6/10", "39/100", "1/1000"], "9/1000"), normal("0.4")
    parts = [(law, 3), (other, 5)]
    delta = delta_around_atoms([parts[0]], [parts[1]])
    fit, direction, _, at = fitted(parts, 0.05)
    fit.narrow(1e-4)
    grid, value = direction.grid(fit.plan), delta(at)
    assert mpf(lower_float(grid.lower(at))) <= value <= mpf(upper_float(grid.upper(at)))
    assert upper_float(grid.upper(at)) - lower_float(grid.lower(at)) < 1e-3 * value


def test_exchanged_steps_cost_more():
    glued, exchanged = RARE[0][0], ExchangedNormalCells(real(1), Fraction(1, 1000))
    fit, _, _, _ = fitted(RARE)
    plan = fit.plan.plans[0]
    assert grid_units([(exchanged, 50)], plan) > grid_units([(glued, 50)], plan) > grid_units([(glued, 50)], plan, 0.5)
