"""When paths are graded, and when one grid serves: the choices of a direction, told what its grids say."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from grid_cases import atoms, delta_around_atoms, normal
from mpmath import mpf

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import lower_float, upper_float
from tightrope.numerics.grid import graded_direction, graded_search
from tightrope.numerics.grid.graded import GradedPlan
from tightrope.numerics.grid.graded_direction import GradedDirection
from tightrope.numerics.grid.graded_search import best_sketch
from tightrope.numerics.grid.grid_plan import GridPlan
from tightrope.numerics.grid.lattice_laws import Lattice
from tightrope.numerics.grid.normal_exchanges import ExchangedNormalCells
from tightrope.numerics.grid.pictures import picture
from tightrope.numerics.grid.search import SMALL, Located, OnOneGrid
from tightrope.numerics.real import real

LATTICE = Lattice(Fraction(1, 8), -4, 4)


def one(length):
    return GridPlan((LATTICE,), Fraction(1), -8, length, Fraction(2), Fraction(1, 2))


GRADED = GradedPlan((None,), 0, (one(64),))


class Told(GradedDirection):
    """What small, long and graded grids say is given: how far apart their ends are."""

    def tell(self, small, long, graded):
        for name, gap in (("small", small), ("long", long), ("graded", graded)):
            object.__setattr__(self, name, gap)
        return self

    def started(self, _):
        return OnOneGrid(one(SMALL), 1 - self.small, 1.0, 1.0)

    def refined(self, found, _, __):
        return OnOneGrid(one(8 * SMALL), 1 - self.long, 1.0, 1.0) if found.upper > 0 else found

    def _located(self, *_):
        return None if self.graded is None else Located(GRADED, 1 - self.graded, 1.0, 1.0)

    def one_grid(self, _, fine=True, closely=False):
        del closely
        return one(8 * SMALL if fine else SMALL)

    def _planned(self, *_):
        return None if self.graded is None else GRADED

    def _gap(self, plan, *_):
        return self.graded if plan is GRADED else self.small if plan.length == SMALL else self.long


@pytest.mark.parametrize(
    ("small", "long", "graded", "chosen"),
    [
        (1e-3, 1e-7, 0.0, "long"),  # one grid will do, and does
        (1e-3, 1e-5, 1e-7, "graded"),  # it does not
        (1e-3, 1e-5, 1e-4, "long"),
        (1e-3, 1e-5, None, "long"),
        (0.5, 1e-7, 1e-7, "graded"),  # one grid is not tried
        (0.5, 1e-4, 1e-3, "long"),  # but if grades do not serve
        (0.5, 1e-2, 1e-3, "graded"),
        (0.5, 1e-2, None, "long"),
    ],
)
def test_the_closer_ends_are_chosen(small, long, graded, chosen):
    direction = Told(((normal(1), 1),)).tell(small, long, graded)
    for plan in (direction.located(-5.0).plan, direction.planned(1.0)):
        assert plan == (GRADED if chosen == "graded" else one(8 * SMALL)), plan
    assert direction.located(-5.0, longest=SMALL).plan == one(8 * SMALL)
    assert direction.planned(1.0, fine=False) == one(SMALL)
    assert direction.located(-5.0, graded=False).plan == direction.planned(1.0, graded=False) == one(8 * SMALL)


def test_atoms_between_points():
    law = atoms(["0.1003", "-0.0907"], ["11/20", "9/20"])
    direction = GradedDirection(((law, 40),))
    delta = delta_around_atoms([(law, 40)], [])
    found = direction.located(math.log(1e-3))
    assert found.lower * (1 - 1e-9) <= found.upper
    assert delta(found.upper) <= 1e-3 * (1 + 1e-9)
    assert found.lower == 0 or delta(found.lower) >= 1e-3 * (1 - 1e-9)


RARE = GradedDirection(((ExchangedNormalCells(real(Fraction(1)), Fraction(1, 500)), 20),))
GOAL = math.log(1e-7)


def test_a_start_far_off_is_corrected():
    start = RARE.started(GOAL)
    wrong = replace(start, upper=start.upper * 1.5)
    found, same = RARE._located(wrong, GOAL), RARE._located(start, GOAL)
    assert found.upper == pytest.approx(same.upper, rel=1e-4)
    level = RARE._planned(RARE.one_grid(start.upper * 20, fine=False), start.upper)
    low, high = (side(start.upper) for side in (RARE.grid(level).lower, RARE.grid(level).upper))
    assert 0 < lower_float(low) <= upper_float(high) < math.exp(GOAL) * 1.1


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_grades_are_coarser_where_little_work_is_left():
    start = RARE.started(GOAL)
    whole = RARE._located(start, GOAL)
    with effort.allowed(100_000):
        little = RARE._located(start, GOAL)
    assert little.plan.points < whole.plan.points
    assert little.lower <= whole.upper
    assert whole.lower <= little.upper
    with effort.allowed(2_000):
        assert RARE._located(start, GOAL) is None


def test_nothing_is_graded_at_zero(monkeypatch):
    start = RARE.started(GOAL)
    monkeypatch.setattr(GradedDirection, "_upper_root", lambda *_: 0.0)
    assert RARE._located(start, GOAL) is None


def test_an_unknown_slope_is_one(monkeypatch):
    start = RARE.started(GOAL)
    monkeypatch.setattr(graded_direction, "log_float", lambda _: -math.inf)
    assert RARE._slope(start.plan, start.upper) == 1.0


PARTS = [(normal("0.5"), 40), (normal("0.4"), 40), (normal("0.3"), 40), (normal("0.2"), 40)]


def test_too_many_grades_and_steps(monkeypatch):
    pictures = [picture(*part) for part in PARTS]
    monkeypatch.setattr(graded_search, "_TARGETS", (3.0, 30.0, 100.0, 1000.0))
    monkeypatch.setattr(graded_search, "_MANY", 100)
    with pytest.raises(NotCertified, match="no borders"):
        best_sketch(PARTS, pictures, 5.0, -20.0, 5.0)


def test_several_laws_are_graded():
    parts = ((ExchangedNormalCells(real(Fraction(1)), Fraction(1, 500)), 3), (normal("0.01"), 4))
    direction = GradedDirection(parts)
    start = direction.started(GOAL)
    found = direction._located(start, GOAL)
    assert start.lower <= found.upper
    assert mpf(found.lower) <= start.upper
    assert 1 - found.share < 1e-4
