"""Heavy steps listed one by one: no plan proves a falsehood, and readings say what grids say, below 0 too."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from grid_cases import atoms, delta_around_atoms, no_falsehood, normal
from mpmath import mpf
from test_grid_climb import climbing_plan
from test_grid_plans import random_plan, random_product

from tightrope.errors import NotCertified
from tightrope.numerics.balls import lower_float, upper_float
from tightrope.numerics.grid.grid_plan import GridPlan
from tightrope.numerics.grid.lattice_laws import Lattice
from tightrope.numerics.grid.listed import ALL, ListedPlan, ListedSum, heavy_grades
from tightrope.numerics.grid.listed_direction import ListedDirection
from tightrope.numerics.grid.normal_cells import SampledNormalCells
from tightrope.numerics.grid.pictures import picture
from tightrope.numerics.grid.plan import grid_plan
from tightrope.numerics.grid.readings import NoSteps, Readings
from tightrope.numerics.grid.total import GridSum
from tightrope.numerics.real import real

F = Fraction
SEEDS = range(45)


def rare_law(rng):
    """Small losses of nearly all of the mass, and rare large ones, some with a leak."""
    small = [F(rng.randint(-20, 20), 640) for _ in range(rng.choice([1, 2, 3]))]
    large = [F(rng.randint(-300, 300), 100) for _ in range(rng.choice([1, 2, 4]))]
    masses = [F(1, rng.randint(40, 4000)) for _ in large]
    leak = rng.choice([F(0), F(0), F(1, 1000)])
    left = 1 - sum(masses) - leak
    return atoms([*small, *large], [*(left / len(small) for _ in small), *masses], leak)


def random_listed(rng, parts, width):
    border = F(rng.choice([1, 3, 30]), 32)
    borders = tuple(rng.choice([(-border, border), (-border, border), None, ALL]) for _ in parts)
    degree, least = rng.choice([0, 1, 2, 3]), rng.choice([1e-3, 1e-6, 1e-12])
    floor = rng.choice([-math.inf, rng.uniform(-1, 2)])
    listed, _ = heavy_grades(parts, borders, degree, least, floor)
    plans = []
    for one in listed:
        number = rng.choice([0, 1, 1, 2]) if one.light else 0
        made = (rng.choice([random_plan, climbing_plan])(rng, one.light, rng.choice([1, width])) for _ in range(number))
        plans.append(tuple(made))
    return ListedPlan(borders, degree, least, tuple(plans), floor)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("seed", SEEDS)
def test_no_listed_plan_proves_a_falsehood(seed):
    rng = random.Random(seed)
    parts = [(rare_law(rng), rng.choice([1, 2, 3, 5])) for _ in range(rng.choice([1, 1, 2]))]
    delta = delta_around_atoms(parts, [])
    proved = 0
    for _ in range(4):
        try:
            plan = random_listed(rng, parts, 4.0)
            grid = ListedDirection(tuple(parts)).grid(plan)
        except NotCertified:
            continue
        no_falsehood(grid, (0.0, rng.uniform(0, 0.1), rng.uniform(0, 4)), delta)
        proved += 1
    assert proved or seed not in (0, 1, 2, 3)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("seed", range(25))
def test_readings_are_bounds_everywhere(seed):
    """Below 0, too: against sums over all atoms, with and without a normal loss beside them."""
    rng = random.Random(seed)
    finite = [(rare_law(rng), rng.choice([1, 2, 4])) for _ in range(rng.choice([1, 2]))]
    smooth = [(normal(F(rng.randint(1, 100), 100)), rng.choice([1, 5]))] if rng.random() < 0.5 else []
    delta, parts = delta_around_atoms(finite, smooth), [*finite, *smooth]
    for _ in range(4):
        plan = rng.choice([random_plan, climbing_plan])(rng, parts, rng.choice([1, 5]))
        try:
            readings = Readings(GridSum(parts, plan, whole=False))
        except (NotCertified, ArithmeticError):
            continue
        x = np.array([-300.0, -3.0, -1e-3, *(rng.uniform(-2, 4) for _ in range(5)), float(plan.step * plan.start), 50])
        for at, low, high in zip(x, readings.lower(x), readings.upper(x), strict=True):
            truth = delta(F(float(at)))
            assert low <= truth * (1 + mpf(10) ** -20), (at, low, float(truth))
            assert high >= truth * (1 - mpf(10) ** -20), (at, high, float(truth))


def test_readings_say_as_much_as_the_grid():
    compared = 0
    for seed in range(150):
        rng = random.Random(seed)
        parts, _, width = random_product(rng)
        plan = rng.choice([random_plan, climbing_plan])(rng, parts, width)
        try:
            grid = GridSum(parts, plan)
            readings = Readings(grid)
        except (NotCertified, ArithmeticError):
            continue
        x = np.array([rng.uniform(0, 1) * width for _ in range(4)])
        for at, low, high in zip(x, readings.lower(x), readings.upper(x), strict=True):
            least, most = lower_float(grid.lower(float(at))), upper_float(grid.upper(float(at)))
            compared += least > 0
            assert low >= least * (1 - 2e-2), (seed, at)
            inside = plan.step * plan.start + plan.step < F(float(at))
            assert not inside or min(high, 1) <= most * (1 + 1e-6) + 1e-280, (seed, at, high, most)
    assert compared >= 30


def test_readings_of_many_steps_on_a_fine_lattice():
    """Rounding leaves much of so many steps one point further up, which hardly changes what splitting adds."""
    law, copies, x = SampledNormalCells(real(F(4, 15)), F(121, 10**7), adding=False), 140_000, 0.01
    plan = grid_plan([picture(law, copies)], x, -30.0, 2**13, split=True, climb=True)
    grid = GridSum([(law, copies)], plan)
    assert grid.greater.missing > 0.05
    low, high = lower_float(grid.lower(x)), upper_float(grid.upper(x))
    assert low > 0.98 * high
    assert low * (1 + 1e-9) >= Readings(grid).lower(np.array([x]))[0] > 0.998 * low


def test_above_all_points_nothing_is_read():
    """No noise of a convolution counts where no sum can be."""
    parts = [(atoms(["1/2", "-1/2"], ["6/10", "36/100"]), 3)]
    plan = GridPlan((Lattice(F(1, 64), -40, 40),), F(1), -120, 256, F(2), F(1, 2))
    readings = Readings(GridSum(parts, plan))
    assert readings.upper(np.array([1.49, 1.9, 3.0]))[0] > 0
    assert np.array_equal(readings.upper(np.array([1.9, 3.0])), [0.0, 0.0])


def test_up_to_the_last_point_everything_is_read():
    """The largest sum lies on the highest point of all: just below it the truth is known."""
    parts = [(atoms(["40/64", "-40/64"], ["6/10", "3/10"]), 3)]
    plan = GridPlan((Lattice(F(1, 64), -41, 40),), F(1), -123, 256, F(2), F(1, 2))
    x = np.array([119.2 / 64, 119.9 / 64])
    readings = Readings(GridSum(parts, plan))
    for at, high in zip(x, readings.upper(x), strict=True):
        assert high >= 0.6**3 * -math.expm1(at - 120 / 64) * (1 - 1e-9)
    assert readings.upper(np.array([120.1 / 64]))[0] == 0


def test_no_steps_at_all():
    x = np.array([-700.0, -1.0, -1e-9, 0.0, 2.0])
    truth = [1.0, -math.expm1(-1), 1e-9, 0.0, 0.0]
    assert NoSteps().upper(x) == pytest.approx(truth, rel=1e-8)
    assert NoSteps().lower(x) == pytest.approx(truth, rel=1e-8)
    assert all(NoSteps().lower(x)[:3] < NoSteps().upper(x)[:3])


def test_light_steps_of_loss_0_need_no_grid():
    law = atoms([0, "3/10", "-3/10"], ["97/100", "2/100", "1/100"])
    delta = delta_around_atoms([(law, 6)], [])
    plan = ListedPlan(((F(-1, 8), F(1, 8)),), 6, 1e-30, ((),) * 7)
    grid = ListedSum([(law, 6)], plan)
    no_falsehood(grid, (0.0, 0.5, 1.7), delta)
    assert upper_float(grid.upper(0.5) - grid.lower(0.5)) < 1e-8 * float(delta(0.5))


def test_plans_that_do_not_fit():
    law = atoms(["1/100", "-1/100", "7/10"], ["49/100", "1/2", "1/100"])
    border, parts = (F(-1, 8), F(1, 8)), [(law, 40), (law, 40)]
    light = heavy_grades([(law, 40)], (border,), 0, 1e-9)[0][0].light
    grid = random_plan(random.Random(1), light, 1.0)
    wrong = [
        (parts, ListedPlan((border,), 2, 1e-9, ((),))),
        (parts, ListedPlan((border, None), 1, 1e-9, ((),))),
        (parts, ListedPlan((border, border), 30, 1e-300, ())),
        ([(law, 40)], ListedPlan((border,), 0, 1e-9, ((grid,) * 101,))),
        ([(normal(1), 2)], ListedPlan((border,), 0, 1e-9, ((),))),
        ([(normal(1), 2)], ListedPlan((ALL,), 0, 1e-9, ((),))),
    ]
    for some, plan in wrong:
        with pytest.raises(NotCertified):
            ListedSum(some, plan)
    many = atoms([F(k, 7) for k in range(31)], [F(97, 100), *[F(1, 1000)] * 30])
    with pytest.raises(NotCertified, match="too many"):
        heavy_grades([(many, 12), (many, 12)], ((F(-1, 16), F(1, 16)),) * 2, 3, 1e-14)
