"""Certificates proved by blurred contours, forged: no plan proves a falsehood, or takes much time or memory."""

import tracemalloc

import pytest

import tightrope as tr
from attacks.certificates import Found, changed, confirmed, plain, understated, with_witness

TABLE = tr.Table([0.2, 0.3, 0.1, 0.15, 0.25], [0.21, 0.28, 0.12, 0.14, 0.25])
CLAIMS = Found(
    {
        "atoms": lambda: tr.epsilon(TABLE * 1000, delta="1e-6"),
        "sampled": lambda: tr.epsilon(tr.DiscreteGaussian(2).poisson("0.1") * 60, delta="1e-9"),
        "shown": lambda: tr.delta(TABLE * 700, epsilon="9.5"),
    }
)
DATA = plain(CLAIMS)
MOST_BYTES = 400_000_000  # as Python and numpy see it
TINY, HUGE = "1/1" + "0" * 60, "1" + "0" * 60 + "/1"
CHANGES = [
    *({"t": value} for value in ("0/1", "-1/1", "1/3", "1/64", "500/1", TINY, HUGE, "1/0", None, [], "nan")),
    *({"eta": value} for value in ("0/1", "-1/1", "1/3", "40/1", TINY, HUGE, None)),
    *({"count": value} for value in (0, -1, 1, 2, 1000, 4_000_000, 10**9, 10**30, None, "x")),
    *({"points": value} for value in (0, -1, 1, 2, 64, 2**31, 2**32 - 1, 10**30, None)),
    {"count": 3_999_999, "points": 4_000_000},
    {"count": 63, "points": 64, "t": TINY},
    {"count": 1, "points": 2, "t": "1/1000", "eta": "7/1"},
    {"t": TINY, "eta": HUGE},
    {"t": TINY, "eta": TINY, "points": 10**12},
    {"other": {"t": HUGE}},
    {"other": {"t": "-1/1"}},
    {"other": None},
    {"direction": 1},
    {"direction": 2},
    {"direction": -1},
    {"way": "contour"},
    {"way": "windowed"},
]


def below(name):
    return understated(CLAIMS[name], 1e-5)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_these_are_blurred():
    for name, data in DATA.items():
        assert data["witness"]["way"] == "blurred", name
        assert confirmed(data), name
        assert not confirmed(below(name)), name


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("name", ["atoms", "shown"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: str(change)[:40])
def test_no_plan_proves_a_falsehood(name, change):
    assert not confirmed(with_witness(below(name), **change))


@pytest.mark.parametrize("change", CHANGES[::4], ids=lambda change: str(change)[:40])
def test_nor_does_one_of_sampled_noise(change):
    assert not confirmed(with_witness(below("sampled"), **change))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("factor", [1 + 1e-5, 2.0])
def test_no_lower_end_is_raised(factor):
    data = DATA["atoms"]
    raised = CLAIMS["atoms"].upper * factor
    more = changed(data, lower=raised, upper=raised * 1.01, computed=[raised, raised * 1.01])
    for change in ({}, {"count": 1000}, {"points": 2**31}, {"t": "1/64"}, {"eta": "1/1"}):
        assert not confirmed(with_witness(more, **change))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_the_longest_plan_is_no_burden():
    longest = with_witness(below("sampled"), count=4_000_000, points=4_000_001)
    tracemalloc.start()
    try:
        assert not confirmed(longest)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < MOST_BYTES


def test_a_plan_that_is_as_good_confirms_too():
    """The witness is a choice: finer points and other tilts prove the same statement, if a little room is left."""
    claim, data = CLAIMS["atoms"], DATA["atoms"]
    room = claim.upper * (1 + 1e-4)
    wider = changed(data, upper=room, lower=0.0, tight=False, computed=[0.0, room])
    plan = data["witness"]
    finer = {"points": 2 * plan["points"], "count": 2 * plan["points"] - 1}
    for change in ({}, finer, {"t": "3/2"}, {"t": "5/3"}):
        assert confirmed(with_witness(wider, **change)), change
    for count in (100, plan["points"], plan["points"] + 1000):  # too few nodes, and some beyond the last
        assert not confirmed(with_witness(wider, count=count))
