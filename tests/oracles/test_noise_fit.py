"""Fit: χ² and Kolmogorov–Smirnov on ten million draws a law, false alarms below one in a million, planted errors
caught. Bits come from a seed, so a run that passes passes again."""

from fractions import Fraction

import numpy as np
import pytest
from fits import ALARM, MANY_DRAWS, chi_square, kolmogorov
from scipy import special, stats

from tightrope.noise.blocks import laplace_shape, normal_shape
from tightrope.noise.integers import MANY, discrete_laplace, discrete_normal, in_blocks, tabled
from tightrope.noise.laws import DiscreteNormal
from tightrope.noise.rehearsal import Seeded
from tightrope.noise.rounded import on_grid
from tightrope.noise.table import TableSampler

F = Fraction


def whole_fit(drawn, log_mass, step=1):
    """Both p-values for whole numbers, in cells of ``step`` values."""
    reach = int(np.abs(drawn).max()) // step + 2
    cells = np.bincount((drawn // step + reach).astype(np.int64), minlength=2 * reach + 1)
    points = np.arange(-reach * step, (reach + 1) * step)
    masses = np.exp(log_mass(points))
    due = (masses / masses.sum()).reshape(-1, step).sum(axis=1) * len(drawn)
    return chi_square(cells, due), kolmogorov(cells, due)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("sigma", "step"), [(F(1, 2), 1), (1, 1), (10, 1), (F(1000, 3), 10), (1000, 25)])
def test_discrete_gaussian(sigma, step):
    drawn = discrete_normal(Seeded(11), F(sigma), MANY_DRAWS)
    p = whole_fit(drawn, lambda k: -(k**2) / (2 * float(sigma) ** 2), step)
    assert min(p) > ALARM


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("scale", "step"), [(F(1, 3), 1), (1, 1), (10, 1), (300, 20)])
def test_discrete_laplace(scale, step):
    drawn = discrete_laplace(Seeded(12), F(scale), MANY_DRAWS)
    p = whole_fit(drawn, lambda k: -np.abs(k) / float(scale), step)
    assert min(p) > ALARM


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("shape", "log_mass"), [
    (normal_shape(F(200)), lambda k: -(k**2) / 80_000),
    (laplace_shape(F(100)), lambda k: -np.abs(k) / 100),
], ids=["normal", "laplace"])  # fmt: skip
def test_whole_noise_by_blocks(shape, log_mass):
    assert min(whole_fit(in_blocks(Seeded(13), shape, MANY_DRAWS), log_mass, 5)) > ALARM


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("sigma", [10**6, 10**9])
def test_wide_discrete_gaussian(sigma):
    """Against the continuous law: for such widths they differ by less than rounding."""
    drawn = discrete_normal(Seeded(14), F(sigma), MANY_DRAWS)
    cells = np.bincount((special.ndtr((drawn + 0.5) / sigma) * 1000).astype(int), minlength=1000)
    due = np.full(1000, len(drawn) / 1000)
    assert min(chi_square(cells, due), kolmogorov(cells, due)) > ALARM


def test_wider_than_any_word():
    drawn = discrete_normal(Seeded(15), F(10**40), 3000)
    z = np.array([float(F(x) / 10**40) for x in drawn])
    assert stats.kstest(z, "norm").pvalue > ALARM
    assert any(abs(x) > 2**63 for x in drawn)


CONTINUOUS = [
    (normal_shape(F(3)), lambda x: special.ndtr(x / 3)),
    (
        laplace_shape(F(3)),
        lambda x: np.where(x < 0, np.exp(np.minimum(x, 0) / 3) / 2, 1 - np.exp(-np.maximum(x, 0) / 3) / 2),
    ),
]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("shape", "cdf"), CONTINUOUS, ids=["normal", "laplace"])
def test_rounded_noise_on_a_fine_grid(shape, cdf):
    grid, centre = F(1, 2**20), 0.3
    drawn = on_grid(Seeded(16), shape, np.full(MANY_DRAWS, centre), grid)
    assert (drawn * 2**20 == np.rint(drawn * 2**20)).all()
    cells = np.bincount((cdf(drawn - centre) * 1000).astype(int), minlength=1000)
    due = np.full(1000, MANY_DRAWS / 1000)
    assert min(chi_square(cells, due), kolmogorov(cells, due)) > ALARM


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("shape", "cdf"), CONTINUOUS, ids=["normal", "laplace"])
def test_rounded_noise_on_a_coarse_grid(shape, cdf):
    drawn = on_grid(Seeded(17), shape, np.full(MANY_DRAWS, 0.3), F(1)).astype(int)
    low, high = drawn.min() - 1, drawn.max() + 1
    cells = np.bincount(drawn - low, minlength=high - low + 1)
    edges = np.arange(low, high + 2) - 0.5
    due = np.diff(cdf(edges - 0.3)) * len(drawn)
    assert min(chi_square(cells, due), kolmogorov(cells, due)) > ALARM


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_a_table_off_by_one_in_ten_thousand_is_caught():
    sampler = TableSampler(DiscreteNormal(F(100)))
    place = 20 - sampler.low  # the threshold after 20, where a value has a chance of half a percent
    sampler.thresholds[place] += np.uint64(2**64 // 10_000)
    buckets = slice(
        int(sampler.thresholds[place] >> np.uint64(48)) - 12, int(sampler.thresholds[place] >> np.uint64(48)) + 3
    )
    sampler.guide[buckets] = sampler._unsure  # the guide is derived from the thresholds
    drawn = sampler.draw(Seeded(18), 4 * MANY_DRAWS)
    assert whole_fit(drawn, lambda k: -(k**2) / 200)[0] < ALARM


def test_a_scale_off_by_five_in_a_thousand_is_caught():
    drawn = discrete_laplace(Seeded(19), F(10050, 1000), MANY_DRAWS)
    assert whole_fit(drawn, lambda k: -np.abs(k) / 10)[0] < ALARM


def test_which_sampler_is_chosen_depends_on_public_numbers_alone():
    assert tabled(F(10), 64, 1)
    assert tabled(F(1000), 64, MANY)
    assert not tabled(F(1000), 64, MANY - 1)
    assert not tabled(F(10**6), 64, 10**9)
