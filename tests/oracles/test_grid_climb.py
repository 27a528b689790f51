"""Sums that climb from fine lattices to coarse ones: no plan proves a falsehood, and good ones prove more."""

import math
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from grid_cases import atoms, delta_around_atoms, no_falsehood, normal
from mpmath import mpf
from test_grid_plans import random_plan, random_product

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, lower_float, upper_float
from tightrope.numerics.grid import climb
from tightrope.numerics.grid.cells import UNIT
from tightrope.numerics.grid.climb import Climb, growth, squares
from tightrope.numerics.grid.convolution import Circle
from tightrope.numerics.grid.grid_plan import GridPlan, Rung, Stream
from tightrope.numerics.grid.lattice_laws import Lattice
from tightrope.numerics.grid.pictures import picture
from tightrope.numerics.grid.plan import grid_plan
from tightrope.numerics.grid.search import GridDirection
from tightrope.numerics.grid.total import GridSum

SEEDS = range(40)
PLANS = 5


def ends(grid, x):
    return mpf(lower_float(grid.lower(x))), mpf(upper_float(grid.upper(x)))


def random_streams(rng, copies, tilt, length, deep):
    """Some steps climb one or two rungs, the rest go up at once."""
    rungs, left = [], copies
    for doublings in [deep] if deep < 2 or rng.random() < 0.5 else [1, deep - 1]:
        power = rng.randint(1, max(left, 1))
        left //= power
        coarse = 2**doublings
        start = rng.choice([-length // 2, -length, 0, rng.randint(-length, length)]) // coarse * coarse
        above = tilt * (1 + Fraction(rng.randint(1, 3000), 997))
        rungs.append(Rung(power, doublings, start, above, tilt - Fraction(rng.randint(1, 3000), 997)))
    found = [Stream(tuple(rungs), left)]
    over = copies - found[0].steps
    return (*found, Stream((replace(rungs[0], power=over, doublings=deep, start=0),), 1)) if over else tuple(found)


def climbing_plan(rng, parts, width):
    plan = random_plan(rng, parts, width)
    lattices, streams = [], []
    for lattice, (_, copies) in zip(plan.lattices, parts, strict=True):
        deep = rng.choice([1, 1, 2, 3])
        lattices.append(replace(lattice, step=lattice.step / 2**deep))
        streams.append(random_streams(rng, copies, plan.tilt, plan.length, deep))
    return replace(plan, lattices=tuple(lattices), streams=tuple(streams), split=True)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("seed", SEEDS)
def test_no_climb_proves_a_falsehood(seed):
    rng = random.Random(seed)
    parts, delta, width = random_product(rng)
    for _ in range(PLANS):
        plan = climbing_plan(rng, parts, width)
        try:
            grid = GridDirection(tuple(parts)).grid(plan)
        except NotCertified:
            continue
        no_falsehood(grid, (0.0, rng.uniform(0, 1) * width), delta)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_many_climbs_are_answered():
    answered = 0
    for seed in SEEDS:
        rng = random.Random(seed)
        parts, _, width = random_product(rng)
        for _ in range(PLANS):
            try:
                GridDirection(tuple(parts)).grid(climbing_plan(rng, parts, width))
            except NotCertified:
                continue
            answered += 1
    assert answered > 0.2 * PLANS * len(SEEDS)


def planned(law, copies, x, level, length):
    return grid_plan([picture(law, copies)], x, level, length, climb=True)


@pytest.mark.parametrize("copies", [4096, 9999])
def test_many_steps_are_closer_after_a_climb(copies):
    law, x = normal("0.01"), 2.5
    delta = delta_around_atoms([], [(law, copies)])(x)
    level = math.log(float(delta))
    plan = planned(law, copies, x, level, 2048)
    assert plan.streams
    assert sum(stream.steps for stream in plan.streams[0]) == copies
    low, high = ends(GridSum([(law, copies)], plan), x)
    assert low <= delta <= high
    merged = grid_plan([picture(law, copies)], x, level, 2048)
    below, above = ends(GridSum([(law, copies)], merged), x)
    assert below <= delta <= above
    assert high - low < (above - below) / 2


def test_few_steps_do_not_climb():
    assert not planned(normal(1), 4, 1.0, -1.0, 1024).streams


def test_sums_outside_the_windows_of_rungs_count():
    """A rung's window too far down: what wraps around would be lost."""
    law, copies, x = normal("0.01"), 4096, 2.0
    delta = delta_around_atoms([], [(law, copies)])(x)
    good = planned(law, copies, x, math.log(float(delta)), 1024)
    assert good.streams
    for shift in (-768, 768):
        rungs = tuple(replace(rung, start=rung.start + shift) for rung in good.streams[0][0].rungs)
        streams = (replace(good.streams[0][0], rungs=rungs), *good.streams[0][1:])
        grid = GridSum([(law, copies)], replace(good, streams=(streams,)))
        low, high = ends(grid, x)
        assert low <= delta <= high
        assert float(grid.greater.strayed.mid()) > 0.1


def test_what_rungs_add_is_subtracted_and_had_to_be():
    law, copies = atoms(["1/4", "-1/4"], ["9/16", "7/16"]), 6
    lattice = Lattice(Fraction(1, 32), -8, 8)
    stream = Stream((Rung(6, 2, -1024, Fraction(8), Fraction(-8)),), 1)  # onto 1/8
    odd = Stream((replace(stream.rungs[0], power=5),), 1)
    off = atoms(["1/32"], ["1"])
    plan = GridPlan((lattice,) * 2, Fraction(1), -2048, 4096, Fraction(8), Fraction(-8), True, ((stream,), (odd,)))
    grid = GridSum([(law, copies), (off, 5)], plan)
    passed = 0
    for x in (0.15625, 0.65625, 1.15625):
        delta = delta_around_atoms([(law, copies), (off, 5)], [])(x)
        low, high = ends(grid, x)
        assert low <= delta <= high
        passed += low > 0 and low + mpf(upper_float(grid._added(x))) > delta * (1 + mpf(10) ** -6)
    assert passed


def test_splitting_keeps_both_masses():
    rng = np.random.default_rng(1)
    n, step, tilt = 64, Fraction(1, 32), Fraction(3)
    masses = rng.random(n) * (rng.random(n) < 0.5)
    for doublings in (1, 2, 3):
        for start in (-16, 0, 24):
            places = np.arange(start, start + n)
            numbers = np.zeros(n, complex)
            numbers[places % n] = masses * np.exp(float(tilt * step) * places)
            rung = Rung(1, doublings, start, Fraction(4), Fraction(1))
            found = Climb(Circle(numbers), step, tilt)._split(Circle(numbers), rung, step)
            wide = 2**doublings
            coarse = np.arange(start // wide, start // wide + n // wide + 1)
            points = coarse * float(step) * wide
            back = found.numbers.real[coarse % n] * np.exp(-float(tilt) * points)
            back *= math.exp(float(growth(tilt, step * wide).mid()))
            assert np.isclose(back.sum(), masses.sum(), rtol=1e-12)
            fine = np.exp(-float(step) * places)
            assert np.isclose((back * np.exp(-points)).sum(), (masses * fine).sum(), rtol=1e-12)
            for x in (-0.3, 0.1, 0.5):
                call = (back * np.maximum(1 - np.exp(x - points), 0)).sum()
                assert call >= (masses * np.maximum(1 - np.exp(x - float(step) * places), 0)).sum() * (1 - 1e-12)
            assert found.numbers.real.sum() <= np.abs(numbers).sum() * (1 + 1e-12)
            assert 0 < found.error < 1e-14 * np.linalg.norm(numbers) * wide


def test_squares_of_a_stream():
    rungs = (Rung(4, 1, 0, Fraction(2), Fraction(0)), Rung(2, 2, 0, Fraction(2), Fraction(0)))
    assert squares(Stream(rungs, 3), Fraction(1)) == 6 * 2**2 + 3 * 8**2
    assert squares(Stream((), 3), Fraction(1)) == 0


RUNG = Rung(4, 1, -512, Fraction(2), Fraction(1))
PLAN = GridPlan(
    (Lattice(Fraction(1, 128), -300, 300),),
    Fraction(3, 2),
    -400,
    1024,
    Fraction(2),
    Fraction(1),
    True,
    ((Stream((RUNG,), 2), Stream((replace(RUNG, power=1),), 1)),),
)


def test_this_plan_is_good():
    low, high = ends(GridSum([(normal("0.1"), 9)], PLAN), 0.5)
    assert low <= delta_around_atoms([], [(normal("0.1"), 9)])(0.5) <= high


@pytest.mark.parametrize(
    "change",
    [
        {"split": False},
        {"streams": ((Stream((RUNG,), 2),),)},  # not all steps
        {"streams": ((Stream((RUNG,), 2), Stream((), 1)),)},  # on another lattice
        {"streams": ((),)},
        {"streams": PLAN.streams * 2},
        {"streams": ((Stream((replace(RUNG, power=9), replace(RUNG, power=0)), 1),),)},
        {"streams": ((Stream((replace(RUNG, power=-9),), -1),),)},
        {"streams": ((Stream((replace(RUNG, power=9, start=-511),), 1),),)},
        {"streams": ((Stream((replace(RUNG, power=9, start=2**40),), 1),),)},
        {"streams": ((Stream((replace(RUNG, power=9, above=Fraction(1)),), 1),),)},
        {"streams": ((Stream((replace(RUNG, power=9, below=Fraction(2)),), 1),),)},
        {"streams": ((Stream((replace(RUNG, power=9, doublings=30),), 1),),)},
        {"streams": ((Stream((replace(RUNG, power=9), *[replace(RUNG, power=1)] * 60), 1),),)},
    ],
)
def test_streams_that_do_not_fit_are_refused(change):
    with pytest.raises(NotCertified):
        GridSum([(normal("0.1"), 9)], replace(PLAN, **change))


def test_too_many_rungs_are_refused():
    lattice = Lattice(Fraction(1, 2**40), -300, 300)
    rungs = (replace(RUNG, power=1),) * 20
    long = replace(PLAN, lattices=(lattice,), length=2**19, streams=((Stream(rungs, 9),),))
    with pytest.raises(NotCertified, match="fit"):
        GridSum([(normal("0.1"), 9)], long)
    many = replace(PLAN, length=2**18, streams=((Stream((replace(RUNG, power=1),), 1),) * 99,))
    with pytest.raises(NotCertified, match="fit"):
        GridSum([(normal("0.1"), 99)], many)


@pytest.mark.parametrize("doublings", [0, -1, 41, 10**9])
def test_no_rung_is_higher_than_floats_bear(doublings):
    with pytest.raises(NotCertified):
        Rung(1, doublings, 0, Fraction(2), Fraction(1))


@pytest.mark.parametrize("seed", range(12))
def test_shares_of_many_points_are_those_of_balls(seed, monkeypatch):
    """Floats are off by no more than they say."""
    rng = random.Random(seed)
    step, tilt = Fraction(rng.randint(2**10, 2**20), 2**36), rng.randint(1, 31) * Fraction(2) ** rng.randint(-6, 6)
    one, wide = Climb(Circle(np.zeros(8, complex)), step, rng.choice([tilt, -tilt])), 2 ** rng.randint(7, 10)
    *found, off = one._shares(step, wide)
    monkeypatch.setattr(climb, "_FEW", wide)
    *known, none = one._shares(step, wide)
    assert none == 0 < off
    for floats, balls in zip(found, known, strict=True):
        assert np.all(np.abs(floats - balls) <= (off + 2) * UNIT * np.abs(balls))


def test_a_rung_too_long_for_its_tilt_is_refused():
    with pytest.raises(NotCertified):
        Climb(Circle(np.zeros(8, complex)), Fraction(1), Fraction(9))._shares(Fraction(1), 256)


def test_rounding_is_counted_in_steps_of_its_own_lattice():
    """What shares may be off by, law by law; the finer lattice of a law that climbs counts with its own step."""
    plain, fine = Lattice(Fraction(1, 64), -400, 400), Lattice(Fraction(1, 1024), -400, 400)
    rungs = (Rung(4, 4, -256, Fraction(3), Fraction(-1)),)
    climbs = ((Stream((), 2),), (Stream(rungs, 2),))
    laws = [(normal("0.9"), 2), (normal("0.02"), 8)]
    plan = GridPlan((plain, fine), Fraction(1), -512, 1024, Fraction(3), Fraction(-1), True, climbs)
    both = GridSum(laws, plan).greater
    alone = [
        GridSum(laws[:1], replace(plan, lattices=(plain,), streams=())).greater,
        GridSum(laws[1:], replace(plan, lattices=(fine,), streams=climbs[1:])).greater,
    ]
    steps = [float(plain.step), float(fine.step)]
    shares = [float(one.missing.mid()) for one in alone]
    assert min(shares) > 0
    assert float(both.missing.mid()) == pytest.approx(sum(shares), rel=1e-9, abs=0)
    assert float(both.misplaced.mid()) == pytest.approx(np.dot(shares, steps), rel=1e-9, abs=0)


def test_what_is_misplaced_is_paid_for_near_epsilon():
    """Four times as far as it may be moved, at the height of sums within reach of ε."""
    law, x = (normal("0.3"), 40), 1.5
    plan = GridPlan((Lattice(Fraction(1, 512), -900, 900),), Fraction(1), -2048, 8192, Fraction(3), Fraction(-1), True)
    grid = GridSum([law], plan)
    kernel = grid.layers.kernel
    reach = kernel.reach + 2 * grid.step
    before, more = grid._near(x, reach, exact=True, kernel=kernel), 1e-6
    grid.greater = replace(grid.greater, misplaced=grid.greater.misplaced + more)
    del grid._fixed  # made from the law as it was
    added = float((grid._near(x, reach, exact=True, kernel=kernel) - before).mid())
    height = math.exp(float(grid.greater.scale.mid()) + float(reach) - x)
    assert added == pytest.approx(4 * more * height, rel=1e-6)


def test_strayed_counts_every_split_below():
    """The bound of each rung has the growth of all splits below it, one by one."""
    rungs = (Rung(4, 1, -64, Fraction(4), Fraction(-2)),) * 3
    stream, step, tilt = Stream(rungs, 2), Fraction(1, 16), Fraction(1)
    found = climb.strayed(stream, step, tilt, 128, lambda a: Ball(float(abs(a - tilt)) * 7 / 32))
    known, steps, reach, below = 0.0, 1, float(step), 0.0
    for place, rung in enumerate(rungs):
        steps, below = steps * rung.power, below * rung.power
        left = math.prod(one.power for one in rungs[place + 1 :]) * stream.copies
        for a, edge in ((4.0, -reach * (-64 + 128)), (-2.0, reach * -64)):
            grown = (a * a + max(a, 0.0)) / 8 * below
            known += left * min(1.0, math.exp(steps * abs(a - 1) * 7 / 32 + grown + abs(a - 1) * edge))
        reach *= 2
        below += reach * reach
    assert 1e-4 < known < 0.5
    assert float(found.mid()) == pytest.approx(known, rel=1e-9)
