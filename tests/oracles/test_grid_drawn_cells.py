"""Cells of Gaussian draws with replacement, all multiplicities at once, against the definition in many digits."""

from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from cell_truths import DIGITS, complaints, exact, whole

from tightrope.numerics.balls import ball
from tightrope.numerics.grid.drawn_normal_cells import DrawnNormalCells
from tightrope.numerics.grid.mixture_cells import MixtureCells
from tightrope.numerics.grid.normal_exchanges import GluedNormalCells
from tightrope.numerics.grid.normal_masses import Centres, Rounded, masses_between, normal_masses
from tightrope.numerics.real import Real, real


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(DIGITS):
        yield


def tail(z):
    return mp.erfc(z / mp.sqrt(2)) / 2


def between(a, b):
    """The normal law between a and b."""
    return tail(a) - tail(b) if a > 0 else tail(-b) - tail(-a)


class Drawn:
    """P's and Q's masses of losses between x and y: the glued laws of shifts j·μ, each times its share."""

    def __init__(self, mu, rate, shares):
        self.mu, self.q, self.shares = mu, exact(rate), [exact(share) for share in shares]

    def above(self, x, y):
        """Of 0 ≤ x < y."""
        if not x < y:
            return mp.mpf(0), mp.mpf(0)
        p = q = mp.mpf(0)
        base = [mp.inf if mp.isinf(e) else mp.log1p(mp.expm1(e) / self.q) for e in (x, y)]
        for j, share in enumerate(self.shares, 1):
            mu = j * self.mu
            a, b = (e / mu + mu / 2 for e in base)
            rest = between(a, b)
            q += share * rest
            p += share * ((1 - self.q) * rest + self.q * between(a - mu, b - mu))
        return p, q

    def masses(self, x, y):
        zero = mp.mpf(0)
        up, down = self.above(max(x, zero), y), self.above(max(-y, zero), -x)
        return up[0] + down[1], up[1] + down[0]


def root(square):
    """The root of a number, which is no float."""
    return Real(None, lambda: ball(Fraction(square)).sqrt())


SHARES = [Fraction(3, 4), Fraction(1, 5), Fraction(1, 50), Fraction(1, 10**6), Fraction(1, 10**12)]
CASES = [(Fraction(1, 2), Fraction(1, 30)), (Fraction(4), Fraction(1, 1000)), (Fraction(1, 100), Fraction(1, 3))]


def laws(square, rate, shares=SHARES):
    return [(real(s), GluedNormalCells(root(square * j * j), rate)) for j, s in enumerate(shares, 1)]


def edges_of(rng, count, reach):
    found = np.sort(np.concatenate([rng.normal(0, reach, count), rng.normal(0, reach / 1000, count)]))
    return np.concatenate([found[found < 0], [0.0], found[found > 0]]) if rng.random() < 0.5 else found


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("square", "rate"), CASES)
def test_cells_of_draws_enclose_the_truth(square, rate):
    law, truth = DrawnNormalCells(laws(square, rate)), Drawn(mp.sqrt(exact(square)), rate, SHARES)
    rng = np.random.default_rng(5)
    for count, reach in ((2, 1.0), (40, 1.0), (3000, 9.0), (3000, 0.2)):
        edges = edges_of(rng, count, reach)
        found = law.cells(edges)
        assert found.slack < 1e-13
        indices = [0, edges.size, *map(int, rng.integers(1, edges.size, 12))]
        assert complaints(found, edges, truth.masses, indices) == 0
        some = [int(i) for i in np.argsort(found.p_low)[-3:]]
        assert complaints(replace(found, p_low=found.p_low * (1 + 1e-7)), edges, truth.masses, some) == 3
        assert complaints(replace(found, p_high=found.p_high * (1 - 1e-7)), edges, truth.masses, some) == 3
        assert complaints(replace(found, q_high=found.q_high * (1 - 1e-7)), edges, truth.masses, some) == 3
        assert complaints(replace(found, slack=0.0, q_low=found.q_low * (1 + 1e-7)), edges, truth.masses, some) == 3


def test_light_rows_are_not_cut_into_cells_but_counted():
    """Far out only the largest shift counts; a share so small that it is nothing there may be in any cell."""
    shares = [Fraction(1, 2), Fraction(1, 10**40)]
    parts = laws(Fraction(1, 4), Fraction(1, 10), shares)
    law, truth = DrawnNormalCells(parts), Drawn(mp.mpf(1) / 2, Fraction(1, 10), shares)
    edges = np.linspace(-0.01, 0.01, 201)
    found = law.cells(edges)
    assert complaints(found, edges, truth.masses, range(0, 202, 10)) == 0
    alone = DrawnNormalCells(parts[:1]).cells(edges)
    assert np.all(found.p_high >= alone.p_low)
    assert np.all(found.p_high - found.p_low <= 1e-12 * found.p_high)
    heavy = DrawnNormalCells([(real(Fraction(1, 10)), parts[1][1]), parts[0]])
    far = np.linspace(2.0, 8.0, 4001)
    again = Drawn(mp.mpf(1) / 2, Fraction(1, 10), [Fraction(1, 2), Fraction(1, 10)])
    assert complaints(heavy.cells(far), far, again.masses, range(0, 4002, 200)) == 0


def test_a_mixture_of_draws_is_the_sum_of_its_parts():
    square, rate = CASES[0]
    parts = laws(square, rate)
    law = MixtureCells(parts, real(Fraction(1, 10**6)))
    assert law._drawn is not None
    edges = np.linspace(-3.0, 6.0, 700)
    found, expected = law.cells(edges), [one.cells(edges) for _, one in parts]
    for name in ("p", "q"):
        low, high = getattr(found, f"{name}_low"), getattr(found, f"{name}_high")
        total = sum(float(share) * getattr(one, f"{name}_low") for share, one in zip(SHARES, expected, strict=True))
        middle = sum(float(share) * getattr(one, f"{name}_high") for share, one in zip(SHARES, expected, strict=True))
        large = total > 1e-250
        assert np.all(low[large] <= middle[large] * (1 + 1e-11))
        assert np.all(high[large] >= total[large] * (1 - 1e-11))
    low, high = whole(law, found)[0]
    assert low - 1e-13 < 1 < high + 1e-13
    assert MixtureCells([*parts, (real(Fraction(1, 100)), GluedNormalCells(real(1), Fraction(1, 7)))])._drawn is None


def test_rows_of_cells_are_single_ones():
    rng = np.random.default_rng(3)
    centres = np.array([[0.0], [1.5], [40.0]])
    errors = np.array([[0.0], [1e-17], [1e-15]])
    ends = np.sort(rng.normal(0, 20, (3, 400)), axis=1)
    low, high = masses_between(ends[:, :-1], ends[:, 1:], Centres(centres, errors))
    for row in range(3):
        one = normal_masses(ends[row], Rounded(float(centres[row, 0]), float(errors[row, 0])))
        assert np.array_equal(low[row], one[0][1:-1])
        assert np.array_equal(high[row], one[1][1:-1])


def test_a_base_loss_that_is_far_off_is_not_known():
    shift = Real(None, lambda: ball(Fraction(1)) + ball(Fraction(0)).union(ball(Fraction(1))))
    found = DrawnNormalCells([(real(1), GluedNormalCells(shift, Fraction(1, 9)))]).cells(np.array([0.5, 1.0]))
    assert found.slack == np.inf
