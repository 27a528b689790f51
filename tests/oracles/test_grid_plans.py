"""Any plan at all: what a grid proves holds, however silly the plan is. Certificates of strangers rely on this."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from grid_cases import atoms, delta_around_atoms, no_falsehood, normal

import tightrope as tr
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.grid.grid_plan import GridPlan
from tightrope.numerics.grid.lattice_laws import Lattice
from tightrope.numerics.grid.normal_cells import SampledNormalCells
from tightrope.numerics.grid.normal_exchanges import GluedNormalCells
from tightrope.numerics.grid.pictures import picture
from tightrope.numerics.grid.plan import grid_plan, low_for
from tightrope.numerics.grid.search import SMALL, GridDirection, OnOneGrid
from tightrope.numerics.real import real

SEEDS = range(30)
PLANS = 8


def random_law(rng):
    """Up to three atoms, some with a leak; losses are raised until Q has no more than 1."""
    count, leak = rng.randint(1, 3), rng.choice([0, 0, rng.randint(1, 30)])
    losses = [Fraction(rng.randint(-400, 400), rng.choice([100, 101, 128])) for _ in range(count)]
    weights = [rng.randint(1, 100) for _ in range(count)]
    masses = [Fraction(weight, sum(weights) + leak) for weight in weights]
    under_q = sum(float(mass) * math.exp(-loss) for mass, loss in zip(masses, losses, strict=True))
    raised = Fraction(math.ceil(max(math.log(under_q), 0) * 64) + 1, 64)
    return atoms([loss + raised for loss in losses], masses, 1 - sum(masses))


def random_product(rng):
    """Parts, δ as a function of ε, and about the largest sum."""
    finite = [(random_law(rng), rng.choice([1, 2, 4])) for _ in range(rng.choice([0, 1, 1, 2]))]
    number = rng.choice([0, 1, 2]) if finite else rng.choice([1, 2])
    smooth = [(normal(Fraction(rng.randint(1, 300), 100)), rng.choice([1, 2, 7, 40])) for _ in range(number)]
    width = sum(k * max(abs(float(atom.loss.rational)) for atom in law.listed) for law, k in finite)
    variance = sum(k * float(law.mu.rational) ** 2 for law, k in smooth)
    return [*finite, *smooth], delta_around_atoms(finite, smooth), width + variance / 2 + 6 * math.sqrt(variance)


def dyadic(x, bits):
    mantissa, exponent = math.frexp(x)
    return Fraction(max(1, int(mantissa * 2**bits))) * Fraction(2) ** (exponent - bits)


def random_plan(rng, parts, width):
    length = 2 ** rng.randint(1, 10)
    factor = rng.choice([0.02, 0.1, 0.5, 1, 1, 2, 5, 20, 100])
    step = dyadic(width / length * factor, rng.randint(1, 12))
    lattices = []
    for _ in parts:
        middle = rng.choice([0, 0, rng.randint(-length, length)])
        first = middle - rng.choice([length // 2, rng.randint(0, length - 1)])
        lattices.append(Lattice(step, first, first + rng.choice([length - 1, rng.randint(0, length - 1)])))
    tilt = dyadic(math.exp(rng.choice([rng.uniform(-5, 5), rng.uniform(-1, 2)])), rng.randint(1, 6))
    least = sum(lattice.first * copies for lattice, (_, copies) in zip(lattices, parts, strict=True))
    start = rng.choice([least, rng.randint(-2 * length, 2 * length), int(rng.uniform(-1, 1) * width / step)])
    above = tilt * (1 + Fraction(rng.randint(1, 3000), 997))
    below = tilt - Fraction(rng.randint(1, 3000), 997) * rng.choice([1, tilt])
    return GridPlan(tuple(lattices), tilt, start, length, above, below, rng.random() < 0.5)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("seed", SEEDS)
def test_no_plan_proves_a_falsehood(seed):
    rng = random.Random(seed)
    parts, delta, width = random_product(rng)
    direction = GridDirection(tuple(parts))
    for _ in range(PLANS):
        plan = random_plan(rng, parts, width)
        try:
            grid = direction.grid(plan)
        except NotCertified:
            continue
        end = float((plan.start + rng.randint(0, plan.length)) * plan.lattices[0].step)
        no_falsehood(grid, (0.0, rng.uniform(0, 1) * width, max(end, 0.0)), delta)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_many_plans_are_answered():
    """The test above would pass if every plan were refused, or if nothing were proved."""
    answered = close = 0
    for seed in SEEDS:
        rng = random.Random(seed)
        parts, _, width = random_product(rng)
        for _ in range(PLANS):
            plan = random_plan(rng, parts, width)
            try:
                grid = GridDirection(tuple(parts)).grid(plan)
            except NotCertified:
                continue
            answered += 1
            x = width / 10
            close += float(grid.upper(x)) - float(grid.lower(x)) < 0.5
    assert answered > 0.3 * PLANS * len(SEEDS)
    assert close > 0.1 * answered


class Told(GridDirection):
    """A direction whose grids say what the test wants: the share of the ends by length, and where the upper one is."""

    def solved(self, at, _, length, split=False):
        step = Fraction(1, 8) if self.drift == 1 else Fraction(1, length)
        plan = GridPlan((Lattice(step, -4, 4),), Fraction(1), -8, length, Fraction(2), Fraction(1, 2), split)
        upper = at * self.drift
        return OnOneGrid(plan, upper * self.shares.get(length, 0.5), upper, at)


def told(shares, drift=1.0):
    found = Told(((normal(1), 1),))
    object.__setattr__(found, "shares", shares)
    object.__setattr__(found, "drift", drift)
    return found


def test_longer_grids_that_say_less_are_not_used():
    found = told({SMALL: 0.9}).located(-5.0)
    assert (found.plan.length, found.share) == (SMALL, pytest.approx(0.9))
    found = told({SMALL: 0.9}, drift=1.01).located(-5.0)  # nor one for the ε of the first
    assert (found.plan.length, found.share) == (SMALL, pytest.approx(0.9))
    found = told({SMALL: 0.9, 8 * SMALL: 0.999}).located(-5.0)
    assert (found.plan.length, found.share) == (8 * SMALL, pytest.approx(0.999))


def test_a_search_that_does_not_settle_ends():
    found = told({SMALL: 0.9}, drift=2.0).located(-5.0)
    assert found.share == pytest.approx(0.9)


def test_an_estimate_without_a_finer_step_is_the_last_one():
    direction = told({SMALL: 0.9})
    assert direction.estimated(-5.0) == direction.located(-5.0, longest=SMALL).upper
    moved = told({SMALL: 0.9}, drift=1.001)
    assert moved.estimated(-5.0) == pytest.approx(moved.located(-5.0, longest=SMALL).upper * 1.001, rel=1e-3)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_near_the_largest_sum_the_window_ends_there():
    """No tilt is steep enough for Chernoff's bound, as the atoms of Laplace noise all but reach ε."""
    run = tr.parse("laplace(scale=1.56) * 29 + laplace(scale=1.21) + gaussian(sigma=1.52).poisson(0.00371)")
    claim = tr.epsilon(run, delta="6.42e-15")
    assert claim.witness["way"] == "grid"
    assert claim.upper - claim.lower < 1e-6 * claim.upper
    assert tr.check(claim.to_json())
    without = tr.epsilon(tr.parse("laplace(scale=1.56) * 29 + laplace(scale=1.21)"), delta="6.42e-15")
    assert without.upper < claim.lower


def test_small_losses_are_pictured_more_coarsely():
    """Masses and means stay; the atom at 0 and what is above stay as they are."""
    one = picture(GluedNormalCells(real(1), Fraction(1, 1000)), 5)
    found = one.thinned(0.01)
    assert found.losses.size < one.losses.size / 2
    assert np.all(np.diff(found.losses) >= 0)
    assert found.masses.sum() == pytest.approx(one.masses.sum(), rel=1e-12)
    assert (found.masses * found.losses).sum() == pytest.approx((one.masses * one.losses).sum(), rel=1e-9)
    for keep in (lambda x: x == 0, lambda x: x >= 0.01, lambda x: x <= -0.01):
        assert np.array_equal(found.losses[keep(found.losses)], one.losses[keep(one.losses)])
        assert np.array_equal(found.masses[keep(found.losses)], one.masses[keep(one.losses)])
    assert one.thinned(0.0) is one


def test_a_coarse_picture_reaches_further_than_its_last_mean():
    """The losses of a record added end at −ln(1 − q), where many are: a lattice below that would make them certain."""
    rate = Fraction(1, 100)
    one = picture(SampledNormalCells(real(1), rate, adding=True), 3)
    assert one.losses[-1] < -math.log1p(-float(rate)) <= one.top
    assert picture(atoms(["1/3", "-1/3"], ["1/2", "1/2"]), 1).top == pytest.approx(1 / 3, rel=1e-12)
    assert picture(atoms(["-1/3"], ["1/2"]), 1).top < 0


def test_plans_are_counted():
    pictures = [picture(GluedNormalCells(real(1), Fraction(1, 1000)), 5)]
    with effort.allowed(1e6):
        grid_plan(pictures, 1.0, -10.0, 1024)
        assert 5e5 < effort.left() < 1e6
    with effort.allowed(10.0), pytest.raises(NotCertified, match="work"):
        grid_plan(pictures, 1.0, -10.0, 1024)


@pytest.mark.parametrize("tilt", [1.0, 20.0, 124.0, 3000.0])
@pytest.mark.parametrize("law", [atoms(["0.326", "-0.326"], ["58/100", "41/100"]), normal("0.3")])
def test_losses_that_are_raised_hardly_matter(law, tilt):
    """A lattice begins so low that whatever lies below it may be raised to its beginning."""
    one = picture(law, 24)
    low = low_for(one, tilt, 9.0)
    whole, raised = (24 * float(one.log_moments(np.array([tilt]), at)[0]) for at in (-math.inf, low))
    assert raised - whole < 1e-7
    assert tilt < 100 or low > one.floors[0] / 2
