"""Certificates whose heavy steps are listed, forged: no plan proves a falsehood, and none asks for gigabytes."""

import copy
import json

import pytest

import tightrope as tr
from attacks.certificates import changed, confirmed, understated, with_witness

pytestmark = pytest.mark.no_cover  # long, and shorter ones come by the same lines

CLAIM = tr.epsilon(tr.DiscreteGaussian("0.431").poisson("1.51e-5") * 95, delta="3.38e-12")
DATA = json.loads(CLAIM.to_json())
LISTS = DATA["witness"]["lists"]


def below():
    return understated(CLAIM)


def above():
    """Another one: a lower end above what is proved."""
    false = CLAIM.computed.upper * (1 + 1e-4)
    return changed(DATA, upper=false * 2, lower=false, tight=False, computed=[false, false * 2])


def with_grid(data, place, **fields):
    new = copy.deepcopy(data)
    new["witness"]["lists"][place][0].update(fields)
    return new


def test_this_is_listed():
    assert DATA["witness"]["way"] == "grid"
    assert len(LISTS) > 4
    assert confirmed(DATA)
    assert not confirmed(below())
    assert not confirmed(above())


@pytest.mark.parametrize(
    "change",
    [
        {"degree": 0},
        {"degree": 2},
        {"degree": 10**9},
        {"degree": -1},
        {"degree": "many"},
        {"least": 0.5},
        {"least": 0.0},
        {"least": -1.0},
        {"least": 1e-300},
        {"least": "nan"},
        {"least": 1e-20},
        {"floor": 1.0},
        {"floor": 1e300},
        {"floor": "nan"},
        {"floor": "inf"},
        {"lists": []},
        {"lists": LISTS[:1]},
        {"lists": LISTS[1:]},
        {"lists": LISTS[::-1]},
        {"lists": [[] for _ in LISTS]},
        {"lists": [one * 40 for one in LISTS]},
        {"lists": "ab"},
        {"lists": [[{}]] * len(LISTS)},
        {"borders": []},
        {"borders": [[]]},
        {"borders": [["0/1", "0/1"]]},
        {"borders": [["-1/1", "1/1"]]},
        {"borders": [["1/1", "-1/1"]]},
        {"borders": [["-1/1024000", "1/1024000"]]},
        {"borders": [["0/1", "1/1048576"]]},
        {"borders": [["-1/1", "1/3"]]},
        {"borders": [["-1/1", "nan"]]},
        {"borders": [["0/1", "1/1"]] * 2},
        {"borders": None},
        {"way": "contour"},
    ],
    ids=lambda change: str(change)[:40],
)
def test_no_list_proves_a_falsehood(change):
    assert not confirmed(with_witness(below(), **change))
    assert not confirmed(with_witness(above(), **change))


@pytest.mark.parametrize(
    "change",
    [
        {"tilt": "1/1024"},
        {"tilt": "1048576/1"},
        {"start": 10**6},
        {"start": -(10**6)},
        {"length": 2},
        {"length": 2**19},
        {"length": 2**40},
        {"step": "1/8"},
        {"step": "1/1267650600228229401496703205376"},
        {"ranges": [[0, 0]]},
        {"ranges": [[0, 2**60]]},
        {"split": False},
        {"streams": [[{"rungs": [], "copies": 95}]]},
        {"streams": [[{"rungs": [[4, 10**9, 0, "9/1", "1/9"]], "copies": 15}]]},
        {"streams": "ab"},
    ],
    ids=str,
)
def test_no_grid_of_light_steps_proves_a_falsehood(change):
    assert not confirmed(with_grid(below(), 1, **change))
    assert not confirmed(with_grid(above(), 1, **change))


@pytest.mark.parametrize("key", ["borders", "degree", "least", "lists", "way"])
def test_every_part_of_a_plan_is_needed(key):
    lacking = copy.deepcopy(DATA)
    del lacking["witness"][key]
    assert not confirmed(lacking)


def test_another_plan_proves_the_same():
    """A coarser statement is proved by other plans, too: the plan is no part of the truth."""
    weaker = changed(DATA, upper=CLAIM.upper * 1.01, lower=0.0, tight=False)
    assert confirmed(with_witness(weaker, least=DATA["witness"]["least"] * 8))
    assert confirmed(with_grid(weaker, 1, start=LISTS[1][0]["start"] - 3))


def test_no_floor_proves_a_falsehood():
    """Finite laws whose steps are all listed: sums below the floor count as there."""
    rare = tr.DiscreteGaussian("1.3").poisson("0.0001") * 50
    claim = tr.epsilon(tr.RandomizedResponse("0.5") * 20 + rare, delta="1e-18")
    data = json.loads(claim.to_json())
    assert data["witness"]["floor"] > 0
    assert confirmed(data)
    false = claim.computed.lower * (1 - 1e-6)
    low = changed(data, upper=false, lower=0.0, tight=False, computed=[0.0, false])
    for floor in (-1e9, data["witness"]["floor"] + 0.5, 10.02):  # each takes seconds
        assert not confirmed(with_witness(low, floor=floor)), floor
        assert not confirmed(with_witness(data, floor=floor)) or floor < 9.6, floor


def test_masses_below_all_floats_are_not_forgotten():
    """The sums that count here have masses whose factors underflow: no plan proves less than there is."""
    many = tr.Table(["0.2", "0.8"], ["0.1", "0.9"]) * 1020 + tr.DiscreteGaussian("0.4").poisson("1e-9")
    claim = tr.delta(many, epsilon="252.48373798189192")
    plan = {"route": "exact", "way": "grid", "direction": 0, "other": {"t": "4"}}
    plan |= {"borders": [["0", "0"]] * 2, "degree": 0, "lists": [[]]}
    for least in (1e-85, 1e-100, 1e-290, 5e-324):
        forged = understated(claim, 0.08)
        forged["witness"] = {**plan, "least": least}
        assert not confirmed(forged), least


@pytest.mark.parametrize("delta", ["1e-310", "1e-1000"])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_tiny_delta_is_answered(delta, relation):
    claim = tr.epsilon(tr.DiscreteGaussian("0.35").poisson("0.8", relation=relation) * 6, delta=delta)
    assert claim.upper < float("inf")
    assert confirmed(json.loads(claim.to_json()))


MOVED_TEXT = "laplace(scale=6.9) * 2 + discrete_gaussian(sigma=4.31).poisson(3.45e-5, relation=replace) * 17"
MOVED = tr.epsilon(tr.parse(MOVED_TEXT), delta="1.88e-19")
MOVED_DATA = json.loads(MOVED.to_json())
MOVES = MOVED_DATA["witness"]["moves"]


def test_these_are_moved():
    assert any(move != "0/1" for move in MOVES)
    assert confirmed(MOVED_DATA)


@pytest.mark.parametrize(
    "moves",
    [
        [],
        MOVES[:1],
        MOVES[::-1],
        MOVES * 2,
        [MOVES[0], "1/1024"],
        ["1/7", "0/1"],
        ["-1/8", "0/1"],
        ["200/1", "0/1"],
        [f"{10**400}/1", "0/1"],
        ["nan", "0/1"],
        "ab",
        None,
    ],
    ids=str,
)
def test_no_other_origin_proves_a_falsehood(moves):
    false = MOVED.computed.upper * (1 + 1e-4)
    over = changed(MOVED_DATA, upper=false * 2, lower=false, tight=False, computed=[false, false * 2])
    assert not confirmed(with_witness(understated(MOVED), moves=moves))
    assert not confirmed(with_witness(over, moves=moves))
