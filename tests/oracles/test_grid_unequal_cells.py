"""Cells of losses between normal laws of unequal variance, sampled or not, against their definition in many digits."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from cell_truths import is_wrong
from unequal_truth import Pair, exact, normal

from tightrope.numerics.grid.normal_cells import NormalCells
from tightrope.numerics.grid.unequal_cells import SampledUnequalCells, UnequalCells
from tightrope.numerics.grid.unequal_chart import UnequalChart
from tightrope.numerics.real import real


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


def law_of(m1, s1, m2, s2, rate=None, adding=False):
    pair = Fraction(m1), Fraction(s1), Fraction(m2), Fraction(s2)
    return UnequalCells(*pair) if rate is None else SampledUnequalCells(*pair, Fraction(rate), adding)


def truth_of(m1, s1, m2, s2, rate=None, adding=False):
    return Pair(
        Fraction(m1), Fraction(s1), Fraction(m2), Fraction(s2), None if rate is None else Fraction(rate), adding
    )


def rounded(x, digits):
    return Fraction(x).limit_denominator(10**digits)


def settings(count, seed):
    """Ratios of the standard deviations from 0.01 to 100, and very close ones; rates from 10⁻¹² to 1 − 10⁻¹²."""
    draw = random.Random(seed)
    for _ in range(count):
        ratio = rounded(10 ** draw.choice([draw.uniform(-2, 2), draw.uniform(-0.3, 0.3)]), 6)
        if draw.random() < 0.25:
            ratio = 1 + Fraction(draw.choice([1, -1]), 10 ** draw.randint(2, 11))
        s2 = rounded(10 ** draw.uniform(-1, 1), 3)
        s1 = s2 * ratio
        m2 = rounded(draw.uniform(-3, 3), 2)
        far = draw.choice([0, rounded(10 ** draw.uniform(-3, 1.2), 3)]) * draw.choice([s1, s2, -s1, -s2])
        small = rounded(10 ** draw.uniform(-12, -0.01), 14)
        rate = draw.choice([None, small, 1 - small, Fraction(1, 2)])
        yield m2 + far, s1, m2, s2, rate, rate is not None and draw.random() < 0.5


KNOWN = [
    (1, "1.2", 0, 1),
    (1, 1, 0, "1.2"),
    (0, 3, 0, 1, "0.1"),
    ("0.5", 1, 0, 2, "0.01", True),
    (1, "1.2", 0, 1, "1e-9"),
    (2, 1, 0, "1.05", Fraction(1) - Fraction(1, 10**9), True),
    (1, 1 + Fraction(1, 10**9), 0, 1, "0.3"),
]
#: ln P/Q is a difference of thousands where it is 0.
FAR_APART = (75, "1.5", 0, 1, Fraction(1, 2))


def edges_of(truth, rng, count=8):
    """Where the laws have their mass, and far out; at the border and next to it; close together."""
    laws = ((truth.m1, truth.s1), (truth.m2, truth.s2))
    z = np.concatenate((rng.uniform(-4, 4, count), rng.uniform(-30, 30, count // 2)))
    found = [float(truth.loss(m + s * mp.mpf(x))) for m, s in laws for x in z]
    borders = [float(x) for x in (truth.loss(truth.turn), *truth.ends())]
    found += [y for x in borders for y in (x, np.nextafter(x, 1e9), np.nextafter(x, -1e9), x + 1e-12, x * (1 - 1e-9))]
    found += [found[0] * (1 + 1e-6), found[0] * (1 + 2e-6), -400.0, -1e-9, 0.0, 1e-9, 400.0]
    return np.unique([x for x in found if abs(x) < 500])


def moved(cells, by):
    return replace(
        cells,
        p_low=cells.p_low * by,
        p_high=cells.p_high * by,
        q_low=cells.q_low * by,
        q_high=cells.q_high * by,
    )


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("seed", range(4))
def test_every_cell_encloses_its_masses_up_to_the_slack(seed):
    rng = np.random.default_rng(seed)
    given = [*settings(12, seed), *(KNOWN if seed == 0 else ())]
    for setting in given:
        truth, law = truth_of(*setting), law_of(*setting)
        edges = edges_of(truth, rng)
        cells = law.cells(edges)
        every = range(edges.size + 1)
        assert not is_wrong(cells, edges, truth.masses, every), setting
        size = float(abs(truth.base(truth.turn))) if abs(float(truth.turn)) < 1e3 else 20.0
        assert cells.slack <= 5e-13 * (1 + min(size, np.abs(edges).max())), setting
        for low, high in ((cells.p_low, cells.p_high), (cells.q_low, cells.q_high)):
            heavy = high > 1e-280
            assert np.all((high - low)[heavy] <= 2e-10 * high[heavy]), setting
        assert is_wrong(moved(cells, 1 + 1e-8), edges, truth.masses, every)
        assert is_wrong(moved(cells, 1 - 1e-8), edges, truth.masses, every)
        assert is_wrong(cells, edges + (edges[1] - edges[0]) / 4, truth.masses, every)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("setting", [*KNOWN, FAR_APART])
def test_the_slack_is_true_small_and_not_idle(setting):
    truth, law = truth_of(*setting), law_of(*setting)
    if truth.adding:  # cut as a removal
        law, truth.adding = replace(law, adding=False), False
    rng = np.random.default_rng(3)
    edges = np.unique([float(truth.loss(truth.m2 + truth.s2 * mp.mpf(z))) for z in rng.uniform(-4, 4, 300)])
    edges = np.linspace(-0.3, 0.3, 300) if setting is FAR_APART else edges
    t, slack = law._edges(edges[:: law._turn])
    chart, narrow = law._chart, min(truth.s1, truth.s2)
    places = [truth.turn + narrow * (mp.mpf(one) + exact(chart._origin)) for one in t]
    inside = [(x, edge) for one, x, edge in zip(t, places, edges[:: law._turn], strict=True) if abs(one) < chart.far]
    off = max(float(abs(truth.loss(x) - edge)) for x, edge in inside)
    assert off <= slack <= 400 * off
    assert slack <= 1e-13 * np.abs(edges).max() or setting is FAR_APART


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("rate", ["0.5", "1e-9", 1 - Fraction(1, 10**9)])
def test_an_error_of_the_base_loss_is_paid(rate):
    law, rng = law_of(1, 2, 0, 1, rate), np.random.default_rng(6)
    q = exact(Fraction(rate))
    base = np.append(rng.uniform(-30, 30, 200), [-700.0, -599.0])
    for size in (1e-14, 1e-6, 8e-3):
        error = np.full(base.size, size)
        wanted = np.array([float(mp.log1p(q * mp.expm1(mp.mpf(b)))) for b in base])
        found = law._gaps(wanted, base, error)
        for b, x, gap in zip(base, wanted, found, strict=True):
            ends = [abs(mp.log1p(q * mp.expm1(mp.mpf(b) + sign * mp.mpf(size))) - mp.mpf(x)) for sign in (1, -1)]
            assert max(ends) <= gap <= 1.1 * max(ends) + 1e-13
    assert np.all(law._gaps(wanted, base, np.full(base.size, 0.01)) == np.inf)


#: Its reciprocal is as far from floats as can be.
UNROUND = 64 / (1 + Fraction(1, 2**53)) / (1 + Fraction(1, 2**30))


def charts():
    """Ratios, shifts: the turn in the middle, far out, and out of sight."""
    near = [(Fraction(6, 5), 1), (3, Fraction(1, 10)), (Fraction(11, 10), 6), (50, 40), (2, 0), (UNROUND, 245_700)]
    return [*near, (Fraction(101, 100), 1), (1 + Fraction(1, 10**8), 2)]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("ratio", "shift"), charts())
def test_masses_belong_to_the_places_that_were_found(ratio, shift):
    """Exactly, however narrow the cells are: what rounding does to scaled edges is nothing that a slack pays for."""
    wide, narrow, distance = Fraction(ratio) * Fraction(7, 9), Fraction(7, 9), Fraction(shift) * Fraction(7, 9)
    chart = UnequalChart(wide, narrow, distance)
    rng = np.random.default_rng(5)
    centre = exact(distance * narrow / (wide**2 - narrow**2))
    origin, scale = exact(chart._origin), exact(narrow / wide)
    middles = [float(centre - origin), float(centre * exact(Fraction(ratio)) ** 2 - origin)]
    wides = [1.0, float(ratio)]
    t = np.concatenate([m + w * rng.uniform(-6, 6, 30) for m, w in zip(middles, wides, strict=True)])
    t = np.concatenate(
        [
            t,
            t * (1 + 1e-9),
            t + 1e-12,
            t + 1e-4,
            *(m + 36 * w * rng.uniform(-1, 1, 9) for m, w in zip(middles, wides, strict=True)),
        ]
    )
    t = np.unique(t[t >= chart.start])
    found = chart.masses(t)
    ends = [mp.mpf(0), *(mp.mpf(x) + origin for x in t), mp.inf]
    for (low, high), middle, by in ((found[0], centre * exact(Fraction(ratio)), scale), (found[1], centre, mp.mpf(1))):
        tight = 0
        for i, (a, b) in enumerate(pairwise(ends)):
            mass = normal(a * by - middle, b * by - middle) + normal(a * by + middle, b * by + middle)
            assert low[i] <= mass <= high[i]
            tight += high[i] > 1e-250 and high[i] - low[i] <= 1e-10 * high[i]
        assert tight > len(t) / 3  # the other half may be out of sight


@pytest.mark.parametrize("setting", KNOWN)
def test_all_cells_together_have_mass_one(setting):
    edges = np.linspace(-3, 5, 20_001)  # many in every block
    cells = law_of(*setting).cells(edges)
    for low, high in ((cells.p_low, cells.p_high), (cells.q_low, cells.q_high)):
        assert low.size == edges.size + 1
        assert low.sum() == pytest.approx(1, abs=3e-13)
        assert high.sum() == pytest.approx(1, abs=3e-13)


@pytest.mark.parametrize("rate", [None, "0.1"])
def test_beyond_the_border_cells_are_empty(rate):
    for wide, sign in (((1, 2, 0, 1), 1), ((0, 1, 1, 2), -1)):  # the least loss, and the largest
        for adding in (False, True) if rate else (False,):
            truth, law = truth_of(*wide, rate, adding), law_of(*wide, rate, adding)
            border = float(truth.loss(truth.turn))
            way = -sign if adding else sign
            edges = np.sort(border - way * np.array([2.0, 1.0, 1e-3, -1e-3, -1e-2]))
            cells = law.cells(edges)
            beyond = slice(0, 3) if way > 0 else slice(-3, None)
            assert not cells.p_high[beyond].any()
            assert not cells.q_high[beyond].any()
            assert np.all(cells.p_low[slice(3, None) if way > 0 else slice(0, -3)] > 0)


def test_no_loss_of_a_sample_is_below_that_of_no_record():
    law, end = law_of(1, 1, 0, 2, "0.1"), np.log(0.9)
    edges = np.array([end - 1, end - 1e-9, end + 1e-9, 0.0])
    cells = law.cells(edges)
    assert not cells.p_high[:2].any()
    assert 0 < cells.q_low[2] < cells.q_low[3]
    mirrored = law_of(1, 1, 0, 2, "0.1", True).cells(-edges[::-1])
    assert np.array_equal(mirrored.p_high, cells.q_high[::-1])
    assert mirrored.slack == cells.slack


@pytest.mark.parametrize("setting", KNOWN)
def test_edges_out_of_sight_leave_light_cells(setting):
    law = law_of(*setting)
    high = 5e8 if setting[4:] == () else 300.0
    cells = law.cells(np.array([-high, -high / 2, 0.0, high]))
    for low, most in ((cells.p_low, cells.p_high), (cells.q_low, cells.q_high)):
        assert list(low[[0, 1]]) == [0.0] * 2
        assert np.all(most[[0, 1]] <= 3e-290)
        assert np.all(low[[2, 3]] > 0)
    assert law.cells(np.array([-1e9])).slack == 0


def test_close_variances_are_nearly_one():
    edges = np.linspace(-6, 6, 4001)
    equal = NormalCells(real(1)).cells(edges)
    for power in (6, 9, 11):
        cells = law_of(1, 1 + Fraction(1, 10**power), 0, 1).cells(edges)
        assert cells.slack < 1e-13
        assert np.max(np.abs(cells.p_low - equal.p_low)) < 10.0 ** (1 - power) * 0.01 + 1e-15
        assert np.max(cells.p_high - cells.p_low) < 1e-16


@pytest.mark.parametrize(
    "pair", [(0, 1, 0, 1 + Fraction(1, 10**13)), (0, 1, 0, 10**6), (10**7, 1, 0, 2), (1, "1e-400", 0, 1)]
)
def test_laws_out_of_reach_are_refused(pair):
    for law in (law_of(*pair), law_of(*pair, "0.1")):
        with pytest.raises(ArithmeticError):
            law.cells(np.array([-0.1, 0.1]))


@pytest.mark.parametrize("rate", [0, 1, Fraction(1, 10**20), 1 - Fraction(1, 10**20), -1, 2])
def test_rates_out_of_reach_are_refused(rate):
    with pytest.raises(ArithmeticError):
        law_of(1, 2, 0, 1, rate).cells(np.array([0.01, 0.1]))


def test_losses_beyond_the_exponentials_are_refused():
    with pytest.raises(ArithmeticError, match="exponent"):
        law_of(1, 20, 0, 1, "0.1").cells(np.array([1.0, 620.0]))
    assert law_of(1, 20, 0, 1).cells(np.array([1.0, 620.0])).slack < 1e-11


@pytest.mark.parametrize("setting", KNOWN)
def test_edges_one_float_apart_never_turn_back(setting):
    edges = 0.05 + np.arange(3000) * 2.0**-57
    cells = law_of(*setting).cells(edges)
    for low, high in ((cells.p_low, cells.p_high), (cells.q_low, cells.q_high)):
        assert np.all(low >= 0)
        assert np.all(high >= low)
        assert high[1:-1].sum() < 1e-11


@pytest.mark.parametrize("setting", [KNOWN[0], KNOWN[1], KNOWN[2]])
def test_edges_found_carelessly_only_cost_slack(setting, monkeypatch):
    truth, law = truth_of(*setting), law_of(*setting)
    edges = np.linspace(-0.05, 0.6, 14)
    careful, found = law.cells(edges), UnequalChart.places
    turned = np.tile([1e-3, -1e-3], 7)
    monkeypatch.setattr(UnequalChart, "places", lambda chart, x: np.maximum(found(chart, x) + turned[: x.size], 0.0))
    cells = law.cells(edges)
    assert careful.slack < 1e-13 < 1e-5 < cells.slack < 1e-2
    assert not is_wrong(cells, edges, truth.masses, range(15))
    assert is_wrong(replace(cells, slack=careful.slack), edges, truth.masses, range(15))


def test_where_splitting_is_tried():
    assert law_of(1, 2, 0, 1).steep
    assert not law_of(1, "1.01", 0, 1).steep  # nothing is seen of the turn
    assert law_of(1, "1.01", 0, 1, "0.1").steep
    assert law_of(1, 2, 0, 1).atoms() == []
    assert law_of(1, 2, 0, 1).effort > 1
