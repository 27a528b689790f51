"""Choices fit their laws: randomized response, noisy max, above threshold, staircase."""

from fractions import Fraction

import numpy as np
import pytest
from fits import ALARM, MANY_DRAWS, chi_square
from scipy import stats

from tightrope.noise import selection
from tightrope.noise.laws import Coin, Rational
from tightrope.noise.rehearsal import Seeded
from tightrope.noise.response import responses
from tightrope.noise.staircase import Stairs, on_stairs
from tightrope.numerics.balls import ball

F = Fraction


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("law", "p", "k"), [
    (Rational((F(1, 4), F(3, 4))), 0.75, 2),
    (Coin(F(1), 1), np.e / (np.e + 1), 2),
    (Coin(F(2), 4), np.exp(2) / (np.exp(2) + 4), 5),
    (Rational((F(2, 3), F(1, 3))), 1 / 3, 3),
])  # fmt: skip
def test_randomized_response(law, p, k):
    n = MANY_DRAWS
    given = responses(Seeded(20), law, np.full(n, 1), k)
    due = np.full(k, (1 - p) / (k - 1) * n)
    due[1] = p * n
    assert chi_square(np.bincount(given, minlength=k), due) > ALARM


def test_very_many_answers():
    given = responses(Seeded(21), Rational((F(1), F(0))), np.zeros(1000, np.int64), 10**15)
    assert (given != 0).all()
    assert abs(given.mean() / 10**15 - 0.5) < 0.05


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_noisy_max_against_the_integral():
    scores, scale, n = [F(0), F(1), F(2)], F(3, 2), 6000
    source = Seeded(22)
    cells = np.bincount([selection.noisy_max(source, scores, scale) for _ in range(n)], minlength=3)
    x = np.linspace(-60, 60, 240_001)
    s = 1.5
    density = [np.exp(-np.abs(x - float(c)) / s) / (2 * s) for c in scores]
    below = [stats.laplace.cdf(x, float(c), s) for c in scores]
    due = [np.trapezoid(density[i] * np.prod([below[j] for j in range(3) if j != i], axis=0), x) * n for i in range(3)]
    assert chi_square(cells, due) > ALARM


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_above_threshold_stops_and_is_calibrated():
    n, source, firsts = 3000, Seeded(23), 0
    for _ in range(n):
        told = selection.above_threshold(source, iter([F(1)] * 5), F(0), (F(1), F(2)), 1)
        assert sum(told) == (told[-1])
        firsts += told[0]
    x = np.linspace(-80, 80, 320_001)  # P[1 + Lap(2) ≥ Lap(1)]
    truth = np.trapezoid(stats.laplace.pdf(x, 0, 1) * stats.laplace.sf(x, 1, 2), x)
    assert abs(firsts / n - truth) < 5.5 * np.sqrt(truth * (1 - truth) / n)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("epsilon", "gamma"), [(F(1), None), (F(2), F(1, 4)), (F(1, 2), F(1)), (F(1), F(0))])
def test_staircase(epsilon, gamma):
    e = float(epsilon)
    g = 1 / (1 + np.exp(e / 2)) if gamma is None else float(gamma)
    stairs = Stairs(
        epsilon, (lambda: 1 / (1 + (ball(epsilon) / 2).exp())) if gamma is None else (lambda: ball(gamma)), F(2)
    )
    source, n = Seeded(24), 4000
    drawn = np.array([on_stairs(source, stairs, F(0), F(1, 2**20)) for _ in range(n)]) / 2.0**20 / 2

    def cdf(x):
        size = np.abs(x)
        unit, inside = np.floor(size), size - np.floor(size)
        b = np.exp(-e)
        part = np.where(inside <= g, inside, g + b * (inside - g)) / (g + b * (1 - g))
        upper = b**unit * (1 - (1 - b) * part) / 2
        return np.where(x < 0, upper, 1 - upper)

    assert stats.kstest(drawn, cdf).pvalue > ALARM
