"""Exactness, not fit: every threshold and every shortcut of the tables against balls and mpmath."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from tightrope.noise import blocks, selection, uniform
from tightrope.noise.blocks import BITS, COIN, Lazy, laplace_shape, magnitudes, normal_shape
from tightrope.noise.integers import discrete_laplace, discrete_normal, in_blocks
from tightrope.noise.laws import Coin, DiscreteLaplace, DiscreteNormal, Geometric, HalfNormal, Rational
from tightrope.noise.rehearsal import Seeded
from tightrope.noise.rounded import nearest_whole, on_grid, steps
from tightrope.noise.table import TableSampler, _floor, thresholds
from tightrope.noise.uniform import Uniform
from tightrope.numerics.balls import Ball, ball, precision

F = Fraction


def as_mpf(x):
    return mp.mpf(x.numerator) / x.denominator


# Distribution functions in mpmath, by sums of their own.


def normal_cdf(variance, half):
    v = as_mpf(variance)
    reach = int(mp.sqrt(2 * v * 300)) + 5
    masses = {k: mp.exp(-(mp.mpf(k) ** 2) / (2 * v)) for k in range(0 if half else -reach, reach + 1)}
    total = mp.fsum(masses.values())
    return lambda k: mp.fsum(m for i, m in masses.items() if i <= k) / total


def laplace_cdf(scale, half):
    r = mp.exp(-1 / as_mpf(scale))
    if half:
        return lambda k: 1 - r ** (k + 1)
    return lambda k: r ** (-k) / (1 + r) if k < 0 else 1 - r ** (k + 1) / (1 + r)


LAWS = [
    (DiscreteNormal(F(1)), lambda: normal_cdf(F(1), False)),
    (DiscreteNormal(F(7, 3)), lambda: normal_cdf(F(7, 3), False)),
    (DiscreteNormal(F(1, 5)), lambda: normal_cdf(F(1, 5), False)),
    (DiscreteNormal(F(100)), lambda: normal_cdf(F(100), False)),
    (HalfNormal(F(400)), lambda: normal_cdf(F(400), True)),
    (DiscreteLaplace(F(1, 3)), lambda: laplace_cdf(F(1, 3), False)),
    (DiscreteLaplace(F(10)), lambda: laplace_cdf(F(10), False)),
    (Geometric(F(5, 2)), lambda: laplace_cdf(F(5, 2), True)),
    (Rational((F(1, 3), F(1, 2), F(1, 6))), lambda: [mp.mpf(1) / 3, mp.mpf(5) / 6, mp.mpf(1)].__getitem__),
    (Coin(F(1), 3), lambda: [3 / (mp.e + 3), mp.mpf(1)].__getitem__),
]


@pytest.mark.parametrize(("law", "built"), LAWS, ids=lambda x: str(x)[:40] if not callable(x) else "")
def test_thresholds_are_the_floors_of_the_distribution_function(law, built):
    low, high = law.span()
    found = thresholds(law)
    assert len(found) == high - low + 1 - law.finite_above
    with mp.workdps(140):
        cdf = built()
        for k, t in zip(range(low, high + 1), found, strict=False):
            scaled = cdf(k) * 2**64
            assert t <= scaled + mp.mpf(10) ** -60
            assert scaled < t + 1 + mp.mpf(10) ** -60
    assert thresholds(law, 384) == found


def test_a_wide_table_is_the_same_at_twice_the_bits():
    law = DiscreteNormal(F(1000) ** 2)
    assert thresholds(law) == thresholds(law, 384)


def test_floors_near_the_ends_and_undecided_ones():
    with precision(90):
        assert _floor(Ball(2) ** -100) == 0
        assert _floor(1 - Ball(2) ** -100) == 2**64 - 1
        assert _floor(Ball("0.5 +/- 1e-30")) is None
    assert _floor(F(1, 2)) == 2**63
    assert _floor(F(1)) == 2**64 - 1
    assert Coin(F(1), 3).cumulative(1) == 1
    assert Coin(F(0), 3).cumulative(0) == F(3, 4)


@pytest.mark.parametrize(("law", "built"), LAWS[:6] + LAWS[7:], ids=lambda x: str(x)[:40] if not callable(x) else "")
def test_all_words_of_sixteen_bits_give_each_value_its_chance(law, built):
    sampler = TableSampler(law)
    assert sampler.guide_bits == 16
    low, high = law.span()
    sure = sampler.guide[sampler.guide != sampler._unsure]
    counts = dict(zip(*np.unique(sure, return_counts=True), strict=True))
    open_words = 2**16 - len(sure)
    assert open_words <= len(sampler.thresholds) + 2
    with mp.workdps(50):
        cdf = built()
        for k in range(low, high + 1):
            truth = (cdf(k) - (cdf(k - 1) if k > low or not law.finite_below else 0)) * 2**16
            # At most the two words at its ends are open for one value.
            assert counts.get(k, 0) <= truth <= counts.get(k, 0) + 2


def test_refined_words_follow_the_thresholds_and_ties_go_on():
    law = DiscreteNormal(F(2))
    sampler = TableSampler(law)
    low, _ = law.span()
    for i, t in enumerate(sampler.thresholds.tolist()):
        if not 2**40 < t < 2**64 - 2**40:
            continue
        for u in (t - 1, t, t + 1):
            words = np.array([u >> 48], np.uint16)
            rest = (u & ((1 << 48) - 1)) << 16

            class Fixed(Seeded):
                def words(self, count, _bits, rest=rest):
                    return np.array([rest] * count, np.uint64)

            value = sampler._refined(Fixed(1), words)[0]
            expected = low + i if u < t else low + i + 1
            assert value == expected if u != t else value in (low + i, low + i + 1)


def test_values_beyond_the_table_are_found():
    sampler = TableSampler(DiscreteLaplace(F(1)))
    source = Seeded(5)
    far = sampler.exact(Uniform(source, 2**300 - 1, 300), 47)
    assert abs(far - 300 * np.log(2)) < 12
    near = sampler.exact(Uniform(source, 0, 300), -48)
    assert near < -300 * np.log(2) + 2
    half = TableSampler(Geometric(F(1)))
    assert half.exact(Uniform(source, 0, 300), 0) == 0
    assert TableSampler(DiscreteNormal(F(1))).exact(Uniform(source, 2**200 - 1, 200), 11) in range(15, 20)
    assert TableSampler(HalfNormal(F(1))).exact(Uniform(source, 2**200 - 1, 200), 11) in range(15, 20)


@pytest.mark.parametrize("shape", [normal_shape(F(1000)), laplace_shape(F(1000))], ids=["normal", "laplace"])
def test_block_and_acceptance_multiply_to_the_density(shape):
    """P(block)·e^{−t} is proportional to the density at every point: the identity behind the block sampler."""
    gaussian = shape.linear == 0
    with precision(200):
        constants = []
        for block in (0, 1, 7, 40):
            mass = shape.law.cumulative(block)() - (shape.law.cumulative(block - 1)() if block else 0)
            for offset in (F(0), F(1, 3), F(99, 100)):
                x = (block + offset) * shape.width / 1000
                density = -ball(x**2) / 2 if gaussian else -ball(x)
                constants.append((mass * (-ball(shape.falls(block, offset))).exp() / density.exp()).log())
        assert all(abs(c - constants[0]) < Ball(2) ** -150 for c in constants)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("shape", [normal_shape(F(3000)), laplace_shape(F(50, 3))], ids=["normal", "laplace"])
def test_float_decisions_agree_with_exact_ones_next_to_the_edge(shape, whole):
    """Coins a hair above and below e^{−t}: whatever the floats decide is what balls decide."""
    rng = np.random.default_rng(1)
    blocks_at = rng.integers(0, 300, 400)
    bits = rng.integers(0, 2**BITS, 400) if not whole else rng.integers(0, 2**10, 400) << (BITS - 10)
    decided = 0
    for block, known in zip(blocks_at.tolist(), bits.tolist(), strict=True):
        t = shape.falls(block, F(known, 2**BITS))
        edge = int(float(mp.exp(-as_mpf(t))) * 2 ** (COIN + BITS))
        for coin_bits in (edge - 2**26, edge - 2**10, edge + 2**10, edge + 2**26):
            coin_bits = min(coin_bits, 2 ** (COIN + BITS) - 1)
            arrays = [np.array([x]) for x in (0, block, known, 0, coin_bits >> BITS, float(t))]

            class Fixed(Seeded):
                def words(self, count, _bits, low=coin_bits & (2**BITS - 1)):
                    return np.array([low << (64 - BITS)] * count, np.uint64)

            special = {}
            fast = blocks._coins_tossed(shape, Fixed(1), tuple(arrays), special, whole)[0]
            lazy = Lazy(shape, False, block, Uniform(Seeded(2), known, BITS))
            exact = blocks._tossed(lazy, Uniform(Seeded(2), coin_bits, BITS + COIN), whole)
            if not special:
                decided += 1
                assert fast == exact
    assert decided > 700


def test_the_polynomial_keeps_its_promise():
    with mp.workdps(40):
        t = np.linspace(0, 0.5, 2001)
        off = [
            abs(mp.mpf(float(v)) - mp.exp(-mp.mpf(float(x))))
            for x, v in zip(t, blocks.falling_exponential(t), strict=True)
        ]
    assert max(off) < mp.mpf(2) ** -44


@pytest.mark.parametrize("shape", [normal_shape(F(3)), laplace_shape(F(7, 5))], ids=["normal", "laplace"])
@pytest.mark.parametrize("bits", [-35, -15, -2, 0, 3])
def test_rounding_in_arrays_is_the_exact_rounding(shape, bits):
    grid = F(2) ** bits
    rng = np.random.default_rng(2)
    x = rng.normal(size=400) * 10
    x[:6] = [0.0, -0.5, 1e300, 5e-324, 2.0**60, -1.7976931348623157e308]
    fast = on_grid(Seeded(4), shape, x, grid)
    source = Seeded(4)
    drawn = magnitudes(shape, source, len(x))
    for i, centre in enumerate(x.tolist()):
        point = nearest_whole(drawn.lazy(shape, source, i), F(centre), grid)
        if i not in (2, 5):
            assert fast[i] == float(point * grid)
    assert (fast[2], fast[5]) == (1e300, -1.7976931348623157e308)


def test_special_draws_take_the_exact_way(monkeypatch):
    """With every draw forced to the exact tests, the values are those of the quick way."""
    shape, grid = normal_shape(F(3)), F(1, 4)
    centres = np.zeros(300)
    usual = steps(Seeded(9), shape, centres, lambda _: F(0), grid)
    monkeypatch.setattr(blocks, "MOST_BLOCKS", 0)
    special = steps(Seeded(9), shape, centres, lambda _: F(0), grid)
    assert len(special) == 300
    assert abs(special.std() - usual.std()) < 3


def test_ties_of_noisy_sums_are_refined(monkeypatch):
    """With only a few known bits the contenders overlap, and more bits decide."""
    monkeypatch.setattr(uniform, "STEP", 2)
    shape = laplace_shape(F(1))
    source = Seeded(31)

    def noise(block):
        return Lazy(shape, False, block, Uniform(source, 1, 2))

    monkeypatch.setattr(blocks.Magnitudes, "lazy", lambda *_: noise(20))
    drawn = {selection.noisy_max(source, [F(0), F(0)], F(1)) for _ in range(40)}
    assert drawn == {0, 1}
    told = {tuple(selection.above_threshold(source, [F(0)], F(0), (F(1), F(1)), 1)) for _ in range(40)}
    assert told == {(True,), (False,)}


def test_special_whole_draws_keep_their_value(monkeypatch):
    """Blocks beyond the arrays' limit go through the exact test and come back whole."""
    monkeypatch.setattr(blocks, "MOST_BLOCKS", 10)
    drawn = in_blocks(Seeded(32), normal_shape(F(200)), 2000)
    assert 180 < drawn.std() < 220
    assert np.abs(drawn).max() > 400


def test_draws_are_topped_up_until_there_are_enough(monkeypatch):
    """If too few candidates are accepted, more are drawn, and places of special ones move along."""
    accepted = blocks._accepted
    monkeypatch.setattr(blocks, "MOST_BLOCKS", 30)
    monkeypatch.setattr(
        blocks, "_accepted", lambda shape, source, size, whole: accepted(shape, source, size // 3 + 1, whole)
    )
    shape, source = normal_shape(F(1)), Seeded(33)
    drawn = magnitudes(shape, source, 3000)
    assert len(drawn.blocks) == len(drawn.bits) == len(drawn.negative) == 3000
    for i, lazy in drawn.special.items():
        assert lazy.offset.prefix >> (lazy.offset.known - BITS) == drawn.bits[i]
        assert lazy.negative == drawn.negative[i]
    assert len(drawn.special) > 500


@pytest.mark.parametrize("width", ["1e-1000", "1e-20", "1e-3"])
def test_very_narrow_noise_is_almost_always_zero(width):
    assert (discrete_normal(Seeded(34), F(width), 1000) == 0).all()
    assert (discrete_laplace(Seeded(34), F(width), 1000) == 0).all()
