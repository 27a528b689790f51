"""Grids of losses against what is known by other methods: both ends enclose it, and closely where they were planned."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from grid_cases import CASES, atoms, delta_around_atoms, normal, truth
from mpmath import mpf

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, lower_float, upper_float
from tightrope.numerics.grid.cells import Atom, Atoms, CellLaw
from tightrope.numerics.grid.grid_plan import GridPlan
from tightrope.numerics.grid.lattice_laws import Lattice, greater_law, merged_law, on_points, split_law
from tightrope.numerics.grid.normal_exchanges import GluedNormalCells
from tightrope.numerics.grid.readings import Readings
from tightrope.numerics.grid.search import GridDirection
from tightrope.numerics.grid.total import GridSum
from tightrope.numerics.real import Real, real


def ends(grid, x):
    return mpf(lower_float(grid.lower(x))), mpf(upper_float(grid.upper(x)))


@cache
def planned(name):
    """The laws of a case and the plan for them."""
    parts, x, _, _ = CASES[name]
    direction = GridDirection(tuple(parts))
    return direction, direction.planned(x)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("name", CASES)
def test_a_planned_grid_encloses_what_is_known(name):
    _, x, _, gap = CASES[name]
    delta, known = truth(name)
    direction, plan = planned(name)
    low, high = ends(direction.grid(plan), x)
    assert low <= delta * (1 + known)
    assert high >= delta * (1 - known)
    assert high - low <= gap * max(1, x) * delta, float((high - low) / delta)


@pytest.mark.parametrize("name", ["normal", "normal, far", "atoms on the lattice", "laplace", "glued normal"])
def test_a_solved_grid_encloses_epsilon(name):
    """ε from δ: the two ε found are around the one that was put in."""
    parts, x, _, gap = CASES[name]
    delta, _ = truth(name)
    found = GridDirection(tuple(parts)).located(float(np.log(float(delta))))
    assert found.lower <= x * (1 + 1e-9) + 1e-9
    assert found.upper >= x * (1 - 1e-9)
    assert found.upper - found.lower <= 20 * gap * max(x, 1)


class Scaled(CellLaw):
    """A law with its masses multiplied: wrong, by as much as the tests must see."""

    def __init__(self, law, p=1.0, q=1.0):
        self.law, self.p, self.q = law, p, q

    def cells(self, edges):
        found = self.law.cells(edges)
        p, q = self.p, self.q
        return replace(
            found, p_low=found.p_low * p, p_high=found.p_high * p, q_low=found.q_low * q, q_high=found.q_high * q
        )


@pytest.mark.parametrize(("p", "q"), [(1 + 1e-6, 1), (1 - 1e-6, 1), (1, 1 + 1e-6), (1, 1 - 1e-6)])
@pytest.mark.parametrize("name", ["normal", "two normals"])
def test_a_millionth_of_a_mass_is_seen(name, p, q):
    parts, x, _, _ = CASES[name]
    delta, _ = truth(name)
    direction = GridDirection(tuple((Scaled(law, p, q), copies) for law, copies in parts))
    low, high = ends(direction.grid(planned(name)[1]), x)
    assert not low <= delta <= high


def test_a_forgotten_step_is_seen():
    parts, x, _, _ = CASES["normal"]
    delta, _ = truth("normal")
    fewer = GridDirection(((parts[0][0], 19),))
    assert ends(fewer.grid(fewer.planned(x)), x)[1] < delta


PLAN = GridPlan((Lattice(Fraction(1, 64), -200, 300),), Fraction(3, 2), -400, 2048, Fraction(2), Fraction(1))
PARTS = ((normal(1), 3),)


@pytest.mark.parametrize(
    "change",
    [
        {"tilt": Fraction(0)},
        {"tilt": Fraction(-1)},
        {"tilt": Fraction(1, 3)},
        {"tilt": Fraction(3)},  # above the tilt above
        {"above": Fraction(3, 2)},
        {"below": Fraction(3, 2)},
        {"length": 1000},
        {"length": 1},
        {"length": 2**20},
        {"length": 256},  # shorter than a law
        {"start": 2**30},
        {"lattices": ()},
        {"lattices": PLAN.lattices * 2},
        {"lattices": (Lattice(Fraction(1, 63), -200, 300),)},
        {"lattices": (Lattice(Fraction(0), -200, 300),)},
        {"lattices": (Lattice(Fraction(-1, 64), -200, 300),)},
        {"lattices": (Lattice(Fraction(1, 64), 5, 4),)},
        {"lattices": (Lattice(Fraction(1, 64), 2**52, 2**52 + 5),)},
        {"lattices": (Lattice(Fraction(2**52 + 1, 2**58), -200, 300),)},
        {"lattices": (Lattice(Fraction(1, 2**1100), 0, 5),)},
        {"lattices": (Lattice(Fraction(2**1100), 0, 5),)},
    ],
)
def test_plans_that_do_not_fit_are_refused(change):
    with pytest.raises(NotCertified):
        GridSum(PARTS, replace(PLAN, **change))


def test_laws_of_one_plan_share_a_step():
    with pytest.raises(NotCertified):
        GridSum(PARTS * 2, replace(PLAN, lattices=(*PLAN.lattices, Lattice(Fraction(1, 32), 0, 5))))


@pytest.mark.parametrize(
    "change",
    [
        {"lattices": (Lattice(Fraction(1, 64), 60000, 60300),)},  # e^x is no float
        {"lattices": (Lattice(Fraction(1, 64), -6400, -6300),)},  # nothing is there
        {"tilt": Fraction(2**12), "above": Fraction(2**13)},
        {"above": Fraction(10**6)},
        {"below": Fraction(-(10**6))},
        {"above": Fraction(10) ** 400},
    ],
)
def test_grids_beyond_floats_are_refused(change):
    with pytest.raises(NotCertified):
        GridDirection(PARTS).grid(replace(PLAN, **change))


def test_too_many_copies_for_floats():
    with pytest.raises(NotCertified, match="too many"):
        GridSum([(normal("0.01"), 10**13)], PLAN)


def test_sums_below_the_window_count():
    """An atom just above a point moves all points; a window above the sums must not forget how far."""
    law = atoms(["1.0099"], [1])
    delta = delta_around_atoms([(law, 100)], [])(100.5)
    for tilt in (1, 3, 10, 30):
        plan = GridPlan(
            (Lattice(Fraction(1), 1, 2),), Fraction(tilt), 101, 64, Fraction(tilt + 1), Fraction(tilt - 1, 2)
        )
        low, high = ends(GridSum([(law, 100)], plan), 100.5)
        assert low <= delta <= high


def test_laws_above_all_points_are_certain_loss():
    law = atoms([-2, 3], ["1/50", "49/50"])
    delta = delta_around_atoms([(law, 2)], [])
    plan = GridPlan((Lattice(Fraction(1), -3, -1),), Fraction(1), -6, 8, Fraction(2), Fraction(1, 2))
    for split in (False, True):
        grid = GridSum([(law, 2)], replace(plan, split=split))
        for x in (0.0, 0.5, 2.0, 10.0):
            low, high = ends(grid, x)
            assert low <= delta(x) <= high
    assert low == 0


def test_sums_that_were_cut_count():
    """Where e^−x would be no float the sums are cut; here nearly all of them are there."""
    parts = [(normal(3), 200)]
    delta = delta_around_atoms([], parts)
    grid = GridSum(
        parts, GridPlan((Lattice(Fraction(1), -30, 60),), Fraction(1, 8), 0, 2048, Fraction(1, 4), Fraction(0))
    )
    for x in (0.0, 300.0, 500.0, 595.0, 700.0, 1000.0):
        low, high = ends(grid, x)
        assert low <= delta(x) <= high


class Blurred(CellLaw):
    """A law that does not know where its edges are."""

    def __init__(self, law, slack, edges=None):
        self.law, self.slack, self.edges = law, slack, edges

    def cells(self, edges):
        known = self.edges is not None and np.array_equal(edges, self.edges)
        return replace(self.law.cells(edges), slack=0.0 if known else self.slack)


@pytest.mark.parametrize("slack", [1.0, math.inf, math.nan])
def test_laws_that_do_not_know_their_edges_are_refused(slack):
    lattice = PLAN.lattices[0]
    for law in (Blurred(normal(1), slack), Blurred(normal(1), slack, lattice.points())):
        with pytest.raises(NotCertified, match="edges"):
            GridDirection(((law, 3),)).grid(PLAN)
    with pytest.raises(ArithmeticError):
        split_law(Blurred(normal(1), slack), lattice)


def test_a_slack_is_paid_by_both_sides():
    delta, _ = truth("normal")
    direction, plan = planned("normal")
    ((law, copies),) = direction.parts
    x = CASES["normal"][1]
    low, high = ends(GridSum([(Blurred(law, 1e-4), copies)], plan), x)
    assert low < delta * (1 - 1e-4)
    assert high > delta * (1 + 1e-4)


def test_an_atom_whose_place_is_not_known_is_refused():
    loss = Real(None, lambda: Ball(0).union(Ball(1)))
    law = Atoms((Atom(loss, real(Fraction(1))),))
    with pytest.raises(NotCertified, match="place"):
        GridDirection(((law, 2),)).grid(PLAN)


def test_which_laws_are_on_points():
    lattice = Lattice(Fraction(1, 8), -8, 8)
    assert on_points(atoms(["1/2", "-1/4"], ["1/2", "1/2"]), lattice)
    assert on_points(atoms(["1/2", "7.77", "-3.33"], ["1/2", "1/4", "1/4"]), lattice)  # others are beyond
    assert not on_points(atoms(["0.5001"], [1]), lattice)
    assert not on_points(normal(1), lattice)


def hockey_stick(law, x):
    """δ of one step on a lattice, in floats."""
    losses = law.places / 8 + law.offset
    above = max(law.infinite - math.exp(x) * law.under_q, 0)
    return above + float((law.masses * np.maximum(-np.expm1(x - losses), 0)).sum())


@pytest.mark.parametrize("x", [0.0, 0.3, 1.0, 1.7, 2.5, 4.0])
@pytest.mark.parametrize(("first", "last"), [(-40, 60), (-8, 8), (3, 5), (0, 0)])
def test_one_step_on_both_sides(x, first, last):
    """The laws of one step, atoms at, near, above and below the points: more, less, and less but for splitting."""
    laws = [
        (normal(1), delta_around_atoms([], [(normal(1), 1)])),
        *(
            (law, delta_around_atoms([(law, 1)], []))
            for law in (
                atoms(["1/2", "0.6263", "0.6238"], ["1/2", "1/4", "1/4"]),
                atoms([-9, "0.99", 7], ["1/1000000", "899999/1000000", "1/20"], "1/20"),
                atoms(["0.5001", "0.5002", "0.4999"], ["1/3", "1/3", "1/3"]),
                atoms(["0.4999"], [1]),
                atoms(["0.9999", "1.0001"], ["9/10", "1/10"]),
            )
        ),
    ]
    lattice = Lattice(Fraction(1, 8), first, last)
    for law, delta in laws:
        value = float(delta(x))
        assert hockey_stick(greater_law(law, lattice), x) >= value * (1 - 1e-12)
        assert hockey_stick(merged_law(law, lattice, 1.0), x) <= value * (1 + 1e-12)
        assert hockey_stick(split_law(law, lattice), x) <= value * (1 + 1e-12) + math.tanh(1 / 32)


def bernoulli_call(up, chance, down, copies, x):
    """E[(1 − e^{x−L})₊] of a sum of two-point losses, one term after the other."""
    losses = [k * up + (copies - k) * down for k in range(copies + 1)]
    return sum(
        mpf(math.comb(copies, k)) * mpf(chance) ** k * mpf(1 - chance) ** (copies - k) * (1 - mpf(math.e) ** (x - loss))
        for k, loss in enumerate(losses)
        if loss > x
    )


@pytest.mark.parametrize("copies", [2, 60])
def test_what_splitting_adds_is_subtracted_and_had_to_be(copies):
    """An atom half-way between points: in its cell the split law gives more than the law."""
    up, chance, down = 72.5 / 256, 0.55, -0.25
    law = atoms([str(up), str(down)], ["11/20", "9/20"])
    lattice = Lattice(Fraction(1, 256), -80, 80)
    plan = GridPlan((lattice,), Fraction(1, 2), -4096, 16384, Fraction(1), Fraction(0), split=True)
    grid = GridSum([(law, copies)], plan)
    passed = 0
    sums = [k * up + (copies - k) * down for k in range(copies + 1)]
    for x in [one + part / 1024 for one in sums if 0.02 < one < 5 for part in (-1, 0, 1)]:
        delta = bernoulli_call(up, chance, down, copies, float(x))
        low, high = ends(grid, float(x))
        assert low <= delta * (1 + 1e-12) <= high * (1 + 2e-12)
        added = mpf(upper_float(grid._added(float(x))))
        passed += low > 0 and low + added > delta * (1 + 1e-9)
    assert passed > 1
    if copies > 2:  # away from the sums far less than if each step could move them by a whole step of the lattice
        x = sums[33] + 30 / 256
        every = grid._near(x, (copies + 2) * lattice.step, exact=False)
        assert upper_float(grid._added(x)) < copies * math.tanh(1 / 1024) * float(every.mid()) / 20


def test_masses_that_rounding_moves_up_are_known():
    """The exact split of a law has at most ``missing`` more on each point than the greater law."""
    law, lattice = normal(1), Lattice(Fraction(1, 64), -200, 200)
    found = greater_law(law, lattice)
    less = split_law(law, lattice)
    assert found.missing is not None
    assert (found.missing >= 0).all()
    assert found.missing[-1] == 0
    assert 0 < found.missing.sum() < 1e-10
    assert (less.masses <= found.masses + found.missing).all()
    near = greater_law(atoms(["0.5000000000001", "-0.5"], ["1/2", "1/2"]), Lattice(Fraction(1, 2), -4, 4))
    assert 0 < near.missing[6] < 1e-12
    assert near.missing.sum() == near.missing[6]


def test_an_atom_at_zero_keeps_its_cell():
    """The density of a glued law has a kink at 0, where the atom is: no offset pays for it."""
    law = GluedNormalCells(real(Fraction(1)), Fraction(1, 1000))
    step = Fraction(1, 2**16)
    found = merged_law(law, Lattice(step, -1600, 4000), 100.0)
    assert 0 < -found.offset < float(step) ** 2 / 10
    delta = sum(float(atom.mass.ball().mid()) for atom in law.atoms())
    assert found.masses[1600] > delta


ABOVE = [
    (atoms([5, "-1/4"], ["3/10", "7/10"]), Lattice(Fraction(1, 8), -8, 16)),
    (atoms(["1/2", "3/2", "-1/4"], ["8/20", "1/20", "11/20"]), Lattice(Fraction(1, 8), -8, 8)),
    (atoms(["9/2", "1/8", "-1/8"], ["1/100", "59/100", "40/100"]), Lattice(Fraction(1, 8), -8, 24)),
]


@pytest.mark.parametrize("whole", [True, False])
def test_a_law_that_ends_below_epsilon_spoils_no_other(whole):
    """Losses above the points of one law are large, those above another's are far below ε: e^ε·Q of that event is huge,
    and the first law's counts without it."""
    lattices = tuple(lattice for _, lattice in ABOVE)
    plan = GridPlan(lattices, Fraction(1), -64, 256, Fraction(2), Fraction(1, 2))
    parts = [(law, copies) for (law, _), copies in zip(ABOVE, (1, 2, 1), strict=True)]
    delta, grid = delta_around_atoms(parts, []), GridSum(parts, plan, whole)
    for x in np.arange(0.0, 6.0, 0.25):
        low, high = ends(grid, x)
        assert low <= delta(x) * (1 + mpf(10) ** -12)
        assert high >= delta(x) * (1 - mpf(10) ** -12)
        read = Readings(grid).lower(np.array([x]))[0]
        assert low - 1e-8 <= read <= delta(x)
    alone = 0.3 * (1 - math.exp(4 - 5))  # the first law's event at ε = 4
    seen = 1.0 if whole else 0.95**2 * 0.99
    assert ends(grid, 4.0)[0] > 0.9 * alone * seen


@pytest.mark.parametrize("place", [0, 1])
def test_events_above_the_points_are_chances(place):
    lattices = tuple(lattice for _, lattice in ABOVE)
    plan = GridPlan(lattices, Fraction(1), -64, 256, Fraction(2), Fraction(1, 2))
    grid = GridSum([(law, 2) for law, _ in ABOVE], plan)
    lost = [(0.3, 5.0), (0.01, 4.5), (0.05, 1.5)]  # those with the largest losses first
    masses = [mass * (math.exp(-loss) if place else 1) for mass, loss in lost]
    found = [float(event[place].mid()) for event in grid.lesser.above]
    expected = [1 - math.prod((1 - mass) ** 2 for mass in masses[:n]) for n in (1, 2, 3)]
    assert found == pytest.approx(expected, rel=1e-9)
