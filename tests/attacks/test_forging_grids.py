"""Certificates proved on a grid of losses, forged: no plan proves a falsehood, and honest ones hold."""

import copy
import json

import pytest

import tightrope as tr
from attacks.certificates import Found, changed, confirmed, plain, understated, with_witness

MIXED = tr.DiscreteGaussian(3).poisson("0.1") + tr.DiscreteGaussian(4).poisson("0.05")
CLAIMS = Found(
    {
        "one direction": lambda: tr.epsilon(tr.Gaussian(1).without_replacement(10, 1000) * 10, delta="1e-6"),
        "δ": lambda: tr.delta(tr.Gaussian(2).without_replacement(20, 100) * 3, epsilon="0.5"),
        "two directions": lambda: tr.delta(MIXED, epsilon="0.05"),
        "mixed": lambda: tr.epsilon(MIXED, delta="1e-4"),
    }
)
DATA = plain(CLAIMS)


def below(name):
    return understated(CLAIMS[name])


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_these_are_grids():
    for name, data in DATA.items():
        assert data["witness"]["way"] == "grid", name
        assert confirmed(data)
        assert not confirmed(below(name))


SILLY = [
    {"tilt": "1/1024"},
    {"tilt": "1/1"},
    {"tilt": "64/1"},
    {"tilt": "512/1"},
    {"tilt": "0/1"},
    {"tilt": "-1/1"},
    {"tilt": "1/3"},
    {"tilt": "nan"},
    {"tilt": "1/0"},
    {"tilt": None},
    {"above": "1/1000"},
    {"above": "1000000/1"},
    {"above": "1" + "0" * 400 + "/1"},
    {"below": "1/1"},
    {"below": "-1000000/1"},
    {"below": []},
    {"start": 0},
    {"start": -(10**6)},
    {"start": 10**6},
    {"start": 2**80},
    {"start": "abc"},
    {"length": 2},
    {"length": 2**12},
    {"length": 2**40},
    {"length": 0},
    {"length": -8},
    {"length": True},
    {"step": "1/8"},
    {"step": "1/1"},
    {"step": "0/1"},
    {"step": "-1/65536"},
    {"step": "1/3"},
    {"step": "1/" + str(2**1100)},
    {"step": str(2**1100) + "/1"},
    {"ranges": []},
    {"ranges": [[0, 0]]},
    {"ranges": [[-10, 10]]},
    {"ranges": [[-100000, -90000]]},
    {"ranges": [[2000, 2100]]},
    {"ranges": [[10, -10]]},
    {"ranges": [[0, 2**60]]},
    {"ranges": [[0, 10], [0, 10]]},
    {"ranges": [[0]]},
    {"ranges": "ab"},
    {"split": True},
    {"split": "no"},
    {"direction": 1},
    {"direction": -1},
    {"direction": 7},
    {"other": None},
    {"other": {"step": "1/1"}},
    {"way": "contour"},
    {"way": "nothing"},
    {"way": ["grid"]},
]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("change", SILLY, ids=str)
def test_no_plan_proves_a_falsehood(change):
    for name in ("two directions", "mixed"):
        assert not confirmed(with_witness(below(name), **change)), name


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("key", ["step", "ranges", "tilt", "start", "length", "above", "below", "split", "way"])
def test_every_part_of_a_plan_is_needed(name, key):
    data = copy.deepcopy(DATA[name])
    del data["witness"][key]
    assert not confirmed(data)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("name", CLAIMS)
def test_another_plan_proves_the_same(name):
    """A coarser statement is proved by other plans, too: the plan is no part of the truth."""
    claim, data = CLAIMS[name], DATA[name]
    weaker = changed(data, upper=claim.upper * 1.01, lower=0.0, tight=False)
    wider = [[first - 2, last + 2] for first, last in data["witness"]["ranges"]]
    for change in ({"start": data["witness"]["start"] - 7}, {"ranges": wider}, {"split": True}):
        assert confirmed(with_witness(weaker, **change)), change


@pytest.mark.parametrize(
    ("old", "new", "dearer"),
    [
        ("* 10", "* 11", True),
        ("sigma=1)", "sigma=0.99)", True),
        ("(10, 1000)", "(11, 1000)", True),
        ("* 10", "* 9", False),
        ("sigma=1)", "sigma=1.01)", False),
    ],
)
def test_no_other_mechanism(old, new, dearer):
    """The plan of one mechanism is a plan for others, but what it proves is about them."""
    text = json.dumps(changed(DATA["one direction"], lower=0.0)).replace(old, new)
    if old == "* 10":
        text = text.replace('"count": 10', f'"count": {new[2:]}')
    assert confirmed(json.loads(text)) != dearer
