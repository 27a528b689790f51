"""Cells of the sampled discrete Gaussian's loss against sums at 40 digits."""

from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from cell_truths import DIGITS, clipped, complaints, exact, whole

from tightrope.errors import NotCertified
from tightrope.numerics.grid.discrete_normal_cells import DiscreteNormalCells


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(DIGITS):
        yield


class Discrete:
    """Atoms over the noise, as sums."""

    def __init__(self, variance, shift, rate, adding):
        self.v, self.d, self.q, self.adding = exact(variance), shift, exact(rate), adding
        self.whole = mp.jtheta(3, 0, mp.exp(-1 / (2 * self.v))) if variance < 40 else mp.sqrt(2 * mp.pi * self.v)
        self.reach = int(mp.sqrt(self.v) * 20) + shift

    def first(self, x):
        """The least k with a loss of at least x."""
        inner = 1 + mp.expm1(x) / self.q
        if inner <= 0:
            return -self.reach
        k = mp.log(inner) * self.v / self.d + mp.mpf(self.d) / 2
        return int(clipped(mp.ceil(k), -self.reach, self.reach + self.d))

    def masses(self, a, b):
        if self.adding:
            a, b = -b, -a
        start = -self.reach if a == -mp.inf else self.first(a)
        stop = self.reach + self.d if b == mp.inf else self.first(b)
        plain = sum((mp.exp(-mp.mpf(k * k) / (2 * self.v)) for k in range(start, stop)), mp.mpf(0)) / self.whole
        moved = sum((mp.exp(-mp.mpf((k - self.d) ** 2) / (2 * self.v)) for k in range(start, stop)), mp.mpf(0))
        mixed = (1 - self.q) * plain + self.q * moved / self.whole
        return (plain, mixed) if self.adding else (mixed, plain)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("sigma", "shift", "rate", "adding"),
    [
        (2, 1, Fraction(1, 10), False),
        (Fraction(1, 2), 1, Fraction(1, 10), False),
        (Fraction(3, 10), 1, Fraction(1, 1000), True),
        (1, 7, Fraction(1, 10), False),
        (50, 1, Fraction(1, 10), False),
        (50, 20, Fraction(1, 100), True),
        (Fraction(333, 10), 7, Fraction(1), False),
        (60, 60, Fraction(999, 1000), True),
        (3000, 1000, Fraction(1, 50), False),
        (20_000, 20_000, Fraction(1, 50), True),
    ],
)
def test_discrete_cells_enclose_the_truth(sigma, shift, rate, adding):
    variance = Fraction(sigma) ** 2
    law, truth = DiscreteNormalCells(variance, shift, rate, adding), Discrete(variance, shift, rate, adding)
    ratio = float(Fraction(shift) / Fraction(sigma))
    for count in (3, 4001):
        edges = np.linspace(-3.3 * ratio, 3.1 * ratio, count) * min(1, 5 * float(rate))
        found = law.cells(edges)
        assert found.slack < 2e-13
        indices = range(1, count) if count < 9 else np.random.default_rng(1).integers(1, count, 30)
        indices = [0, count, *indices] if sigma < 100 else indices if count > 9 else []
        assert complaints(found, edges, truth.masses, map(int, indices)) == 0
        for low, high in whole(law, found):
            assert low - 1e-13 < 1 < high + 1e-13
            assert high - low < 1e-11
    some = [int(i) for i in np.argsort(found.p_low)[-3:]]
    assert complaints(replace(found, p_low=found.p_low * (1 + 1e-9)), edges, truth.masses, some) == 3
    assert complaints(replace(found, q_high=found.q_high * (1 - 1e-9)), edges, truth.masses, some) == 3


def test_what_is_beyond_the_noise_seen_counts_where_it_may_be():
    law = DiscreteNormalCells(Fraction(2500), 5, Fraction(1, 10))
    found = law.cells(np.linspace(-2, 2, 401))
    assert found.p_high[-1] > 0
    assert found.p_low[-1] == 0
    reversed_ = DiscreteNormalCells(Fraction(2500), 5, Fraction(1, 10), True).cells(np.linspace(-2, 2, 401))
    assert np.array_equal(reversed_.p_low, found.q_low[::-1])
    assert np.array_equal(reversed_.q_high, found.p_high[::-1])


@pytest.mark.parametrize(
    ("variance", "shift", "why"), [(Fraction(1, 10**4), 1, "narrow"), (100, 10**4, "narrow"), (10**12, 1, "wide")]
)
def test_discrete_cells_refuse_what_floats_do_not_reach(variance, shift, why):
    with pytest.raises(NotCertified, match=why):
        DiscreteNormalCells(Fraction(variance), shift, Fraction(1, 2))
    with pytest.raises(AssertionError):
        DiscreteNormalCells(Fraction(variance), 0, Fraction(1, 2))
