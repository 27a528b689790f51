"""Normal tails and masses in floats against many digits, and the proof of the tails' error in balls."""

from itertools import pairwise

import mpmath
import numpy as np
import pytest

from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.grid.cells import UNIT
from tightrope.numerics.grid.normal_masses import BLOCK, FLOOR, Rounded, normal_masses, rounded
from tightrope.numerics.grid.tails import TAIL_ERROR, anchor_coefficients, anchor_table, upper_tails
from tightrope.numerics.real import Real

DEGREE, FURTHER = 15, 45
ROOT = Real(None, lambda: Ball(2).sqrt())


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(60):
        yield


def tail(z):
    return mpmath.erfc(mpmath.mpf(z) / mpmath.sqrt(2)) / 2


def between(a, b):
    return tail(a) - tail(b) if a + b > 0 else tail(-b) - tail(-a)


def test_the_roundings_and_the_rest_of_every_polynomial_stay_below_the_error_stated():
    worst = 0.0
    table = np.concatenate([anchor_table(unit) for unit in range(38)], axis=1)
    with precision(200):
        for i in range(37 * 32 + 1):
            anchor = Ball(i) / 32
            found = anchor_coefficients(anchor, FURTHER)
            for row, a in zip(table, found, strict=False):
                assert abs(Ball(float(row[i])) - a) <= abs(a) * UNIT  # rounded once
            terms = [abs(a) / Ball(64) ** k for k, a in enumerate(found)]
            roundings = sum((t * (2 * k + 2) for k, t in enumerate(terms[: DEGREE + 1])), Ball(0)) * UNIT * 1.01
            # |He_k(c)| ≤ (c + √k)^k: beyond, each term is less than half the one before it
            beyond = 2 * ((anchor + 7) / 64) ** FURTHER / (Ball(FURTHER) + 2).gamma()
            least = anchor_coefficients(anchor + Ball(1) / 64, 0)[0]
            worst = max(worst, float((roundings + sum(terms[DEGREE + 1 :], beyond * abs(found[1]))) / least))
    assert 9 * UNIT < worst < 12 * UNIT < TAIL_ERROR


def test_tails_are_within_their_error():
    rng = np.random.default_rng(5)
    z = np.concatenate((rng.uniform(-38, 37, 300), rng.uniform(33, 37, 100), [0.0, -0.0, 1 / 64, 37.0, -38.0, 1e-300]))
    off = [float(abs(mpmath.mpf(v) / tail(x) - 1)) for x, v in zip(z, upper_tails(z), strict=True)]
    assert TAIL_ERROR / 50 < max(off) <= TAIL_ERROR


def test_beyond_their_reach_tails_are_upper_bounds():
    assert list(upper_tails(np.array([37.5, 1e6, np.inf]))) == [upper_tails(np.array([37.0]))[0]] * 3
    assert list(upper_tails(np.array([-40.0, -np.inf]))) == [1.0, 1.0]


def misses(z, centre, low, high):
    """Cells whose mass is outside its bounds."""
    ends = [-mpmath.inf, *(mpmath.mpf(x) - centre for x in z), mpmath.inf]
    truth = [between(a, b) if a + b != 0 or a == b else 1 - 2 * tail(b) for a, b in pairwise(ends)]
    return [i for i, t in enumerate(truth) if not low[i] <= t <= high[i]]


def rows():
    """Edges of all kinds: wide, narrow, tiny, far, repeated."""
    rng = np.random.default_rng(6)
    yield np.sort(rng.uniform(-36, 36, 60))
    for middle, width in (
        (0.0, 1e-3),
        (5.0, 1e-6),
        (-20.0, 2e-3),
        (33.5, 1e-4),
        (36.0, 1e-2),
        (1.4, 1e-9),
        (0.7, 0.05),
    ):
        yield middle + np.sort(rng.uniform(-width, width, 20)) * 10
    yield np.array([1.0, 1.0, 1.5])
    yield np.array([0.25])


@pytest.mark.parametrize("centre", [ROOT, Real(None, lambda: Ball(2).sqrt() / -100)])
def test_masses_are_enclosed_closely_and_no_bound_is_idle(centre):
    near = rounded(centre)
    with precision(250):
        exact = mpmath.mpf(str(centre.ball().mid().str(60, radius=False)))
    for z in rows():
        low, high = normal_masses(z, near)
        assert misses(z, exact, low, high) == []
        heavy = high > 1e-250  # further out narrow cells are differences of tails
        assert np.all((high - low)[heavy] <= 1e-11 * high[heavy])
        assert misses(z, exact, low * (1 + 1e-9), high * (1 + 1e-9))
        assert misses(z, exact, low * (1 - 1e-9), high * (1 - 1e-9))


def test_a_hundredth_of_the_errors_would_not_do():
    rng = np.random.default_rng(7)
    near, exact = rounded(ROOT), mpmath.sqrt(2)
    for z in (np.sort(rng.uniform(2, 2.2, 200)), np.sort(rng.uniform(-8, 8, 40))):
        low, high = normal_masses(z, near)
        middle, radius = (low + high) / 2, (high - low) / 200
        assert misses(z, exact, middle - radius, middle + radius)


def test_an_uncertain_centre_is_paid_for():
    z = np.concatenate((np.linspace(1, 2, 200), [9.0, 9.001, 20.0]))
    low, high = normal_masses(z, Rounded(0.5, 1e-6))
    for exact in (0.5 - 0.999e-6, 0.5, 0.5 + 0.999e-6):
        assert misses(z, mpmath.mpf(exact), low, high) == []
    assert misses(z, mpmath.mpf(0.5 + 3e-6), low, high)


def test_far_edges_may_lie_anywhere_beyond():
    low, high = normal_masses(np.array([-np.inf, -1e9, -1e9, 0.5, 1e9, np.inf, np.inf]), Rounded(0.0, 0.0))
    assert list(low[[0, 1, 2, 5, 6, 7]]) == [0.0] * 6
    assert list(high) == [0.0, FLOOR, FLOOR, high[3], high[4], FLOOR, 0.0, 0.0]
    assert low[3] <= tail(-0.5) <= high[3] < low[3] * (1 + 1e-14)
    assert low[4] <= tail(0.5) <= high[4] < low[4] * (1 + 1e-14)


def test_many_edges_are_taken_block_by_block():
    z = np.linspace(-3, 3, 2 * BLOCK + 5)
    low, high = normal_masses(z, Rounded(0.0, 0.0))
    few = normal_masses(z[BLOCK - 3 : BLOCK + 3], Rounded(0.0, 0.0))
    assert np.array_equal(low[BLOCK - 2 : BLOCK + 3], few[0][1:-1])
    assert low.size == z.size + 1
    assert low.sum() * (1 - 1e-15) <= 1 <= high.sum() * (1 + 1e-15)


def test_no_edges_leave_one_cell():
    low, high = normal_masses(np.array([]), Rounded(1.0, 0.0))
    assert low.size == high.size == 1
    assert 1 - 1e-15 < low[0] <= 1 <= high[0] < 1 + 1e-15
