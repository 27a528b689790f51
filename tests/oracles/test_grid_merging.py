"""Outcomes merged at random: never more than the law, no offset for all, and close beside a spike."""

import math
import random
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from grid_cases import CASES, truth
from mpmath import mpf
from test_grid_drawn_cells import Drawn
from test_grid_plans import random_plan

from tightrope.errors import NotCertified
from tightrope.numerics.balls import lower_float, upper_float
from tightrope.numerics.grid.graded import GradedPlan, grades, pieces
from tightrope.numerics.grid.lattice_laws import Lattice, _raised, _reflected, merged_law
from tightrope.numerics.grid.normal_exchanges import GluedNormalCells
from tightrope.numerics.grid.search import GridDirection
from tightrope.numerics.real import real

STEPS = [Fraction(1, 4), Fraction(1, 64), Fraction(1, 1024)]


def hockey(p, q, ratio):
    """Σ(p − ratio·q)₊ without rounding."""
    terms = zip(map(Fraction, p.tolist()), map(Fraction, q.tolist()), strict=True)
    return sum(max(a - ratio * b, Fraction(0)) for a, b in terms)


def random_outcomes(rng, count):
    """Outcomes around points, their losses off by a share of the step."""
    points = np.arange(-3, count - 3) * 0.125
    q = rng.random(count) * np.exp(rng.normal(0, 0.5, count)) + 0.1
    return points, q * np.exp(points + rng.uniform(-0.06, 0.06, count)), q


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("seed", range(12))
def test_raised_outcomes_never_give_more(seed):
    points, p, q = random_outcomes(np.random.default_rng(seed), 40)
    more_p, more_q = _raised(p, q, points)
    ratios = [Fraction(float(math.exp(x))) for x in np.linspace(-1, 6, 60)]
    lost = [hockey(p, q, ratio) - hockey(more_p, more_q, ratio) for ratio in ratios]
    assert min(lost) >= 0
    assert max(lost) > 0
    # With the plain Q the same P would give more.
    assert any(hockey(more_p, q, ratio) > hockey(p, q, ratio) for ratio in ratios)
    before, after = (a - np.exp(points) * b for a, b in ((p, q), (more_p, more_q)))
    assert np.count_nonzero(before < 0) > 10
    assert np.count_nonzero(after < -1e-13 * more_p) < np.count_nonzero(before < 0) / 3
    assert sum(more_p) == pytest.approx(sum(p), rel=1e-13)


def test_an_outcome_far_too_low_is_left():
    points, q = np.array([0.0, 0.1, 0.2]), np.ones(3)
    p = np.array([1e-3, math.exp(0.1), math.exp(0.2)])
    more_p, _ = _raised(p, q, points)
    assert more_p[0] == pytest.approx(1e-3)


@pytest.mark.parametrize("step", STEPS)
def test_merging_beside_a_spike(step):
    """A rare step: nearly all losses are below the step, and only those that fall short are paid for."""
    rate = Fraction(1, 1000)
    law, lattice = GluedNormalCells(real(1), rate), Lattice(step, -int(1 / step) * 4, int(1 / step) * 8)
    found = merged_law(law, lattice, 1.0)
    assert -1e-12 < found.offset < 0
    with mp.workdps(40):
        exact = Drawn(mpf(1), rate, [Fraction(1)])
        close = 0
        for x in (0.0001, 0.02, 0.3, 1.0, 2.5):
            p, q = exact.above(mpf(x), mp.inf)
            value = p - mp.exp(x) * q
            points = found.places * float(step) + found.offset
            above = np.maximum(1 - np.exp(x - points), 0.0) * found.masses
            given = float(above.sum()) + max(found.infinite - math.exp(x) * found.under_q, 0.0)
            assert given <= float(value) * (1 + 1e-9)
            close += given >= float(value) * (1 - 2 * float(step))
        assert close == {4: 0, 64: 3, 1024: 4}[step.denominator]


def test_edges_are_reflected():
    """Where a density falls by much in a cell the edge is close to the upper point; where it is flat, in the middle."""
    law, lattice = GluedNormalCells(real(1), Fraction(1, 1000)), Lattice(Fraction(1, 64), -128, 256)
    points = lattice.points()
    edges = _reflected(law.cells(points), points, 1 / 64)
    shares = (edges[:-1] - points[:-1]) * 64
    assert shares[128] > 0.9
    assert shares[127] < 0.1
    assert abs(shares[-1] - 0.5) < 0.05
    assert np.all(np.diff(edges) > 0)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("name", ["drawn", "glued normal", "exchanged normal", "sampled normal", "glued laplace"])
def test_no_plan_of_rare_steps_proves_a_falsehood(name):
    """Any plan, of one grid or of grades, encloses δ where it is known by quadrature."""
    parts, x, _, _ = CASES[name]
    delta, known = truth(name)
    rng, answered, said = random.Random(name), 0, 0
    for _ in range(60):
        plan = random_plan(rng, parts, 3.0)
        if rng.random() < 0.5:
            border = Fraction(rng.randint(1, 200), 128)
            borders = [(-border, border * rng.choice([1, 1, 2]))] * len(parts)
            listed = grades([count for _, count in parts], borders, 2)
            plans = [random_plan(rng, pieces(parts, borders, grade), 3.0) for grade in listed]
            plan = GradedPlan(tuple(borders), 2, tuple(plans))
        try:
            grid = GridDirection(tuple(parts)).grid(plan)
        except NotCertified:
            continue
        low, high = mpf(lower_float(grid.lower(x))), mpf(upper_float(grid.upper(x)))
        assert low <= delta * (1 + known)
        assert high >= delta * (1 - known)
        answered, said = answered + 1, said + (low > delta / 2)
    assert answered > 20
    assert said > 0
