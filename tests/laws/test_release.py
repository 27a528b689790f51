"""Releasing: types in and out, the grid changes no claim, intervals cover, bad input is refused before a draw."""

import tracemalloc
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import tightrope as tr
from laws.registered import EVERYTHING
from tightrope.mechanisms.running.release import RUNS
from tightrope.noise.rehearsal import NotPrivate, recorded, rehearsed

ADDITIVE = [tr.Gaussian(2), tr.Laplace(2), tr.DiscreteGaussian(2), tr.DiscreteLaplace(2)]
REAL = ADDITIVE[:2]


@pytest.fixture(autouse=True)
def _same_bits_in_every_run():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivate)
        with rehearsed(seed=4):
            yield


@pytest.mark.parametrize("m", ADDITIVE, ids=str)
def test_forms_are_kept(m):
    whole = m not in REAL
    assert type(m.release(5)) is (int if whole else float)
    assert m.release(np.int8(5)) is not None
    assert m.release([1, 2, 3]).shape == (3,)
    assert m.release(np.ones((2, 3), np.int16)).shape == (2, 3)
    assert m.release(((1, 2), (3, 4))).shape == (2, 2)
    assert m.release([]).shape == (0,)
    assert m.release(np.zeros((0, 4), int)).shape == (0, 4)
    assert m.release(np.ones(4, int)).dtype == (np.int64 if whole else np.float64)
    assert type(m.release(np.array(7))) is (int if whole else float)


def test_real_mechanisms_keep_exact_types():
    m = tr.Laplace(1)
    assert type(m.release(Fraction(1, 3))) is Fraction
    assert type(m.release(Decimal("0.1"))) is Fraction
    assert type(m.release(np.float32(0.5))) is float
    assert m.release([1, 0.5]).dtype == np.float64
    assert m.release([2**80, 0.5]).dtype == np.float64
    assert m.release([2**80, Fraction(1, 2)]).dtype == object
    assert m.release(np.array([2**63 + 9], np.uint64)).dtype == np.float64
    assert m.on_grid(1).release(np.array([2**63 + 9], np.uint64))[0] > 2**63 - 10**4
    assert type(m.on_grid(4).release(10)) is int
    assert m.on_grid(4).release(10) % 4 == 0
    assert m.on_grid(2**70).release(2**71 + 5) == 2**71
    assert m.on_grid(2**-60).release([1, 2]).shape == (2,)
    assert m.on_grid(2**63).release(np.array([1, 2])).tolist() == [0, 0]


def test_whole_numbers_never_overflow():
    for m in (tr.DiscreteLaplace(5), tr.DiscreteGaussian(1e6), tr.Gaussian(3, grid=1), tr.Laplace(3, grid=8)):
        top = m.release(np.full(2000, 2**63 - 1))
        assert all(abs(int(x) - 2**63) < 10**8 for x in top)
        assert any(int(x) >= 2**63 for x in top)
        low = m.release(np.full(2000, -(2**63)))
        assert any(int(x) < -(2**63) for x in low)
        assert abs(m.release(10**50) - 10**50) < 10**8
    wide = tr.DiscreteGaussian("1e30").release(np.arange(3))
    assert wide.dtype == object
    assert isinstance(tr.DiscreteLaplace("1e25").release(1), int)


def test_floats_at_the_ends_of_their_range():
    values = np.array([1.7976931348623157e308, -1.7976931348623157e308, 5e-324, 0.0, -0.0, 2.0**53 + 2])
    for m in (tr.Laplace(1), tr.Gaussian("1e-300"), tr.Gaussian("1e300"), tr.Laplace("1e-320"), tr.Gaussian("1e400")):
        out = m.release(values)
        assert np.isfinite(out).all()
    assert tr.Gaussian(1).release(values)[0] == values[0]


BAD = [
    float("nan"), float("inf"), -float("inf"), True, "7", None, {1: 2}, object(), [1, None], [1, float("nan")], [True],
    np.array([1, np.nan]), np.array([True]), np.array(["a"]), np.array([1j]), np.array([1], np.longdouble),
    [[1], [1, 2]], Decimal("NaN"), np.float32("inf"), {1, 2},
    np.ma.masked_array([1, 2], [True, False]), np.array([None, 1], object),
    np.array(["2020-01-01"], "datetime64[D]"), b"1", np.longdouble(1),
]  # fmt: skip


@pytest.mark.parametrize("m", ADDITIVE, ids=str)
@pytest.mark.parametrize("bad", BAD, ids=lambda b: f"{type(b).__name__}-{str(b)[:12]}")
def test_bad_values_are_refused_before_anything_is_drawn(m, bad):
    with recorded() as tape, pytest.raises(tr.BadParameter) as told:
        m.release(bad)
    assert tape.draws == []
    assert told.value.hint or told.value.problem
    assert "…" in str(told.value) or "dtype" in str(told.value) or told.value.name == "values"


@pytest.mark.parametrize("m", ADDITIVE[2:], ids=str)
@pytest.mark.parametrize("bad", [0.5, [1.0], Fraction(1, 2), np.array([1.0])], ids=str)
def test_discrete_mechanisms_take_whole_numbers(m, bad):
    with pytest.raises(tr.BadParameter, match="whole"):
        m.release(bad)


def test_errors_show_no_data():
    for bad in (["SECRET"], np.array(["SECRET"], object), ["SECRET", 1]):
        with pytest.raises(tr.BadParameter) as told:
            tr.Gaussian(1).release(bad)
        assert "SECRET" not in str(told.value)


@pytest.mark.parametrize("m", EVERYTHING, ids=str)
def test_what_cannot_run_says_what_to_do(m):
    if type(m) in RUNS or isinstance(m, tr.mechanisms.composed.Grouped):
        return
    with pytest.raises(tr.Unsupported) as told:
        m.release(1)
    assert told.value.hint
    with pytest.raises(tr.Unsupported):
        m.interval(0.9)


def test_groups_run_as_their_part():
    assert isinstance(tr.DiscreteLaplace(1).group(3).release(4), int)
    assert tr.Laplace(1).group(3).interval(0.9) == tr.Laplace(1).interval(0.9)


# The grid.


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("leaf", [tr.Gaussian(3), tr.Laplace(3), tr.Staircase(1)], ids=str)
def test_the_grid_travels_and_changes_no_claim(leaf):
    for step in (2**-10, 1, 2**40, 2**-40, "0.25", Fraction(1, 8)):
        m = leaf.on_grid(step)
        assert tr.parse(str(m)) == m
        assert m != leaf
        assert m.on_grid(step) == m
        for ask in (lambda x: tr.epsilon(x * 3, delta=1e-6), tr.zcdp, lambda x: tr.epsilon(x.group(2), delta=1e-6)):
            one, two = ask(leaf), ask(m)
            assert (one.lower, one.upper) == (two.lower, two.upper)
        claim = tr.epsilon(m, delta=1e-6)
        assert tr.Claim.from_json(claim.to_json()).mechanism == m
    assert tr.parse(f"{leaf}.on_grid(0.5)") == leaf.on_grid(0.5)


@pytest.mark.parametrize(
    "bad", [0, -1, 3, 0.1, "1/3", float("nan"), float("inf"), True, 2**1001, Fraction(1, 2**1001), "x"]
)
def test_other_grids_are_refused(bad):
    with pytest.raises(tr.BadParameter):
        tr.Gaussian(1).on_grid(bad)


@pytest.mark.parametrize(
    "m", [tr.DiscreteLaplace(1), tr.Gaussian(1) * 2, tr.Pure(1), tr.Gaussian(1).poisson(0.1)], ids=str
)
def test_only_real_noise_has_a_grid(m):
    with pytest.raises(tr.Unsupported, match="grid"):
        m.on_grid(1)


# Intervals.


@pytest.mark.parametrize(
    "m",
    [tr.Gaussian(2), tr.Laplace(3), tr.Gaussian(1, grid=4), tr.DiscreteGaussian(5), tr.DiscreteLaplace(2),
     tr.DiscreteGaussian(5000), tr.DiscreteGaussian("0.1"), tr.DiscreteLaplace("0.01")],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("level", [0.5, 0.95, "0.999"])
def test_intervals_cover_and_are_not_wasteful(m, level):
    n, half = 200_000, m.interval(level)
    off = np.abs(np.asarray(m.release(np.zeros(n, np.int64)), float))
    inside, level = (off <= half).mean(), float(level)
    assert inside >= level - 5.5 * np.sqrt(level * (1 - level) / n)
    if getattr(m, "grid", None) is None and m in (tr.Gaussian(2), tr.Laplace(3)):
        assert inside <= level + 5.5 * np.sqrt(level * (1 - level) / n)
    assert isinstance(half, float)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_interval_of_the_staircase():
    for m in (tr.Staircase(1), tr.Staircase(2, gamma="0.9"), tr.Staircase("0.5", gamma=0)):
        half = m.interval(0.9)
        off = np.abs([m.release(0.0) for _ in range(3000)])
        assert abs((off <= half).mean() - 0.9) < 5.5 * np.sqrt(0.09 / 3000)
    assert tr.Staircase(0).interval(0.9) == float("inf")
    assert tr.Staircase(1).interval("0.6321205588285576784") <= 1.0001


def test_intervals_at_extreme_confidence():
    level = 1 - Fraction(1, 10**100)
    assert 21 < tr.Gaussian(1).interval(level) < 22
    assert tr.DiscreteGaussian(1).interval(level) in (20, 21, 22)
    assert 230 < tr.Laplace(1).interval(level) < 231
    assert tr.DiscreteLaplace(1).interval(level) == 230
    assert 225 < tr.Staircase(1).interval(level) < 232
    assert tr.DiscreteGaussian(5).interval(Fraction(1, 10**100)) == 0


@pytest.mark.parametrize("bad", [0, 1, -1, 2, float("nan"), True, None, "x"])
def test_bad_confidence(bad):
    with pytest.raises(tr.BadParameter):
        tr.Gaussian(1).interval(bad)


# Long vectors.


def test_long_vectors_go_in_pieces_with_bounded_memory():
    values, out, told = np.ones(5_000_000, np.int8), np.empty(5_000_000), []
    tracemalloc.start()
    back = tr.Gaussian(3).release(values, out=out, progress=lambda done, total: told.append((done, total)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert back is out
    assert peak < 60_000_000
    assert told[-1] == (5_000_000, 5_000_000)
    assert len(told) == 5
    assert stats.kstest((out[:100_000] - 1) / 3, "norm").pvalue > 1e-6
    assert len(tr.DiscreteLaplace(2).release(np.ones(3_000_000, np.int8), progress=True)) == 3_000_000


def test_results_must_fit_where_they_are_put():
    for out in (np.empty(3), np.empty(2, np.int8), np.empty(2, np.int64), [0, 0], np.empty((2, 2))[:, 0]):
        with pytest.raises(tr.BadParameter):
            tr.Gaussian(1).release([1.0, 2.0], out=out)
    with pytest.raises(tr.BadParameter, match="progress"):
        tr.Gaussian(1).release([1.0], progress=7)
    with pytest.raises(tr.BadParameter, match="62 bits"):
        tr.DiscreteLaplace(1).release([2**80, 1], out=np.empty(2, np.int64))


def test_types_of_results_depend_on_the_results_alone():
    """The same released values have the same type, whatever the data was: both ways of adding agree at 2^62."""
    for x in (2**62 - 40, 2**62 + 40):
        for _ in range(300):
            for m in (tr.DiscreteLaplace(20), tr.Laplace(20, grid=1)):
                out = m.release(np.array([x]))
                assert (out.dtype == object) == (abs(int(out[0])) >= 2**62)


# Choices.


def test_randomized_response_keeps_types():
    m, four = tr.RandomizedResponse(2), tr.RandomizedResponse(p="0.9", k=4)
    assert type(m.release(True)) is bool
    assert type(m.release(1)) is int
    assert m.release(np.array([True, False])).dtype == bool
    assert set(four.release(np.full(1000, 3)).tolist()) == {0, 1, 2, 3}
    assert four.release([0, 1, 2]).shape == (3,)
    assert set(four.release(["b"] * 300, categories="abcd")) <= set("abcd")
    assert four.release("b", categories=list("abcd")) in "abcd"
    for bad in (2, -1, "x", 0.5, None, [0, 2]):
        with pytest.raises(tr.BadParameter):
            m.release(bad)
    for options in ({"categories": "abc"}, {"categories": "abca"}):
        with pytest.raises(tr.BadParameter):
            four.release("b", **options)
    with pytest.raises(tr.BadParameter):
        four.release("z", categories="abcd")
    with pytest.raises(tr.BadParameter):
        four.release(True)


@pytest.mark.parametrize("kind", [tr.Exponential, tr.NoisyMax, tr.PermuteAndFlip])
def test_selections(kind):
    m = kind(epsilon=10)
    assert m.release([0, 10**30, 5]) == 1
    assert m.release({"a": 0, "b": 10**30}) == "b"
    assert m.release([1.5, 1e300], candidates=["x", "y"]) == "y"
    assert m.release([7]) == 0
    assert {kind(0).release([1, 10**6]) for _ in range(60)} == {0, 1}
    assert {m.release([0, 1], sensitivity=1000) for _ in range(60)} == {0, 1}
    for bad in ([], 5, "ab", [[1, 2]], [float("nan")]):
        with pytest.raises(tr.BadParameter):
            m.release(bad)
    with pytest.raises(tr.BadParameter):
        m.release([1, 2], candidates=["a"])
    for sensitivity in (0, -1, float("nan")):
        with pytest.raises(tr.BadParameter):
            m.release([1, 2], sensitivity=sensitivity)


def test_above_threshold():
    m = tr.AboveThreshold(50, 50, count=2)
    assert m.release([0, 100, 0, 100, 100], threshold=50) == [False, True, False, True]
    assert m.release(iter([0, 0]), threshold=50.5) == [False, False]
    with pytest.raises(tr.BadParameter):
        m.release([1])
    with pytest.raises(tr.Unsupported):
        tr.AboveThreshold(0, 1).release([1], threshold=0)


def test_tables_pairs_and_leaks():
    assert tr.Table([1, 0], [0, 1]).release(True) == 0
    assert tr.Table([1, 0], [0, 1]).release(False) == 1
    assert abs(tr.GaussianPair(1000, 1, 0, 2).release(True) - 1000) < 50
    assert abs(tr.GaussianPair(1000, 1, 0, 2).release(np.bool_(False))) < 50
    assert tr.LeakyInput(1).release("x") == "x"
    assert tr.LeakyInput(0).release("x") is None
    assert tr.LeakyRandomizedResponse(1, 1).release(True) == (True, True)
    assert {tr.LeakyRandomizedResponse(0, 0).release(True) for _ in range(60)} == {(True, False), (False, False)}
    for m in (tr.Table([1], [1]), tr.GaussianPair(0, 1, 0, 1), tr.LeakyRandomizedResponse(1, 0)):
        with pytest.raises(tr.BadParameter):
            m.release(1)


def test_staircase_takes_one_number():
    assert type(tr.Staircase(1).release(0.5)) is float
    assert type(tr.Staircase(1).on_grid(1).release(5)) is int
    assert type(tr.Staircase(1).release(Fraction(1, 3), sensitivity=3)) is Fraction
    with pytest.raises(tr.Unsupported, match="vector"):
        tr.Staircase(1).release([1.0])
    with pytest.raises(tr.Unsupported):
        tr.Staircase(0).release(1.0)
