"""Certificates proved by smoothed contours, forged: no plan proves a falsehood, or takes much time."""

import pytest

import tightrope as tr
from attacks.certificates import Found, confirmed, plain, understated, with_witness

CLAIMS = Found(
    {
        "two": lambda: tr.epsilon(tr.DiscreteGaussian("3.26").poisson("1.57e-4") * 12_000, delta="1e-20"),
        "islands": lambda: tr.epsilon(tr.DiscreteGaussian(8).poisson("0.3", relation="replace") * 300, delta="1e-6"),
        "shown": lambda: tr.delta(tr.DiscreteGaussian(2).poisson("0.01") * 3000, epsilon=1),
    }
)
DATA = plain(CLAIMS)
TINY, HUGE = "1/1" + "0" * 60, "1" + "0" * 60 + "/1"
CHANGES = [
    *({"t": value} for value in ("0/1", "-1/1", "1/64", "5000/1", TINY, HUGE, "1/0", None)),
    *({"eta": value} for value in ("0/1", "-1/1", "400/1", TINY, HUGE)),
    *({"count": value} for value in (0, -1, 1, 3, 19_000, 10**30, "x")),
    *({"last": value} for value in (0, 1, 40, 10**30, None)),
    *({"width": value} for value in ("0/1", "-1/1", "1/1", "5/1", TINY, HUGE)),
    *({"nats": value} for value in (0, -1, 1, 2, 10**6)),
    *({"bits": value} for value in (0, 2, 3_999, 10**9)),
    *({"islands": value} for value in ([[1, 2]], [[-5, 5]], [[10**30, 10**30]], [[5000, 4000]], [[1]])),
    *({"islands": value} for value in ([1, 2], "x", None)),
    {"islands": [[200, 10**9]]},
    {"islands": []},
    {"islands": [[k, k] for k in range(400, 4000, 2)]},
    {"count": 3, "last": 3, "width": "100/1"},
    {"count": 2, "last": 4000, "nats": 1, "islands": []},
    {"direction": 1},
    {"direction": 2},
    {"other": {"t": HUGE}},
    {"other": {"t": "-1/1"}},
    {"other": None},
    {"way": "blurred"},
    {"way": "flat"},
]


def below(name):
    return understated(CLAIMS[name], 1e-5)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_these_are_smoothed():
    for name, data in DATA.items():
        assert data["witness"]["way"] == "smoothed", name
        assert confirmed(data), name
        assert not confirmed(below(name)), name
    assert "eta" in DATA["two"]["witness"]["other"]
    assert len(DATA["islands"]["witness"]["islands"]) > 3


COUNTED = [  # the others are long, and come by the same lines
    change if "t" in change else pytest.param(change, marks=pytest.mark.no_cover) for change in CHANGES
]


@pytest.mark.parametrize("change", COUNTED, ids=lambda change: str(change)[:40])
def test_no_plan_proves_a_falsehood(change):
    for name in ["islands"] if "islands" in change or change.get("bits") == 3_999 else CLAIMS:
        assert not confirmed(with_witness(below(name), **change))


def test_an_island_is_not_counted_twice_nor_forgotten():
    found = DATA["islands"]["witness"]["islands"]
    first, second = found[0], found[1]
    for islands in (
        found[1:],
        [first, *found],
        [first, [first[1], first[1] + 3], *found[1:]],
        [second, first, *found[2:]],
        [[first[0] + 5, first[1]], *found[1:]],
    ):
        assert not confirmed(with_witness(DATA["islands"], islands=islands))
    longer = [[start - 1, end + 1] for start, end in found]
    assert confirmed(with_witness(DATA["islands"], islands=longer))
