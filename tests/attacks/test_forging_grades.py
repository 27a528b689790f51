"""Certificates proved on graded grids of losses, forged: no plan proves a falsehood, and none asks for gigabytes."""

import copy

import pytest

import tightrope as tr
from attacks.certificates import Found, changed, confirmed, plain, understated, with_witness

CLAIMS = Found(
    {
        "graded": lambda: tr.epsilon(tr.Gaussian(1).without_replacement(1, 2000) * 60, delta="1e-12"),
        "climbing": lambda: tr.epsilon(tr.Gaussian(1).without_replacement(1, 10_000) * 2000, delta="1e-10"),
    }
)
DATA = plain(CLAIMS)


def below(name):
    return understated(CLAIMS[name])


def with_grade(data, place, **fields):
    new = copy.deepcopy(data)
    new["witness"]["grades"][place].update(fields)
    return new


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_these_are_graded():
    for name, data in DATA.items():
        assert data["witness"]["way"] == "grid", name
        assert data["witness"]["grades"], name
        assert confirmed(data)
        assert not confirmed(below(name))
    assert any("streams" in grade for grade in DATA["climbing"]["witness"]["grades"])


@pytest.mark.parametrize(
    "change",
    [
        {"degree": 0},
        {"degree": 2},
        {"degree": 10**9},
        {"degree": -1},
        {"degree": "many"},
        {"grades": []},
        {"grades": "ab"},
        {"borders": []},
        {"borders": [[]]},
        {"borders": [["-1/1", "1/1"]]},
        {"borders": [["1/1", "-1/1"]]},
        {"borders": [["-1/1024", "1/1024"]]},
        {"borders": [["-400/1", "400/1"]]},
        {"borders": [["-1/1", "1/3"]]},
        {"borders": [["-1/1", "nan"]]},
        {"borders": [["0/1", "1/1"]] * 2},
        {"borders": None},
        {"way": "contour"},
    ],
    ids=lambda change: str(change)[:40],
)
def test_no_graded_plan_proves_a_falsehood(change):
    assert not confirmed(with_witness(below("graded"), **change))


def test_no_other_grades_prove_a_falsehood():
    grades = DATA["graded"]["witness"]["grades"]
    for number, others in enumerate((grades[:1], grades[1:], grades[::-1], grades * 1000, [{}] * len(grades))):
        assert not confirmed(with_witness(below("graded"), grades=others)), number


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    "change",
    [
        {"tilt": "1/1024"},
        {"tilt": "64/1"},
        {"start": 10**6},
        {"start": -(10**6)},
        {"length": 2},
        {"length": 2**19},
        {"length": 2**40},
        {"step": "1/8"},
        {"ranges": [[0, 0], [0, 0]]},
        {"ranges": [[0, 2**60], [0, 2**60]]},
        {"streams": [[{"rungs": [], "copies": 60}]]},
        {"streams": [[{"rungs": [[4, 10**9, 0, "9/1", "1/9"]], "copies": 15}]]},
        {"streams": [[{"rungs": [[4, -3, 0, "9/1", "1/9"]], "copies": 15}]]},
        {"streams": [[{"rungs": [[4]], "copies": 15}]]},
        {"streams": "ab"},
    ],
    ids=str,
)
def test_no_grade_proves_a_falsehood(change):
    for place in (0, 1):
        assert not confirmed(with_grade(below("graded"), place, **change))


@pytest.mark.parametrize("copies", [0, -1, 1, 10**30])
@pytest.mark.parametrize("power", [0, 1, -4, 10**18])
def test_no_climb_of_other_steps_proves_a_falsehood(copies, power):
    name = "climbing"
    place = next(i for i, grade in enumerate(DATA[name]["witness"]["grades"]) if "streams" in grade)
    streams = copy.deepcopy(DATA[name]["witness"]["grades"][place]["streams"])
    streams[0][0]["copies"] = copies
    streams[0][0]["rungs"][0][0] = power
    assert not confirmed(with_grade(DATA[name], place, streams=streams))


@pytest.mark.parametrize("key", ["borders", "degree", "grades", "way"])
def test_every_part_of_a_plan_is_needed(key):
    for data in DATA.values():
        lacking = copy.deepcopy(data)
        del lacking["witness"][key]
        assert not confirmed(lacking)


def test_another_plan_proves_the_same():
    """A coarser statement is proved by other plans, too: the plan is no part of the truth."""
    data = DATA["graded"]
    weaker = changed(data, upper=CLAIMS["graded"].upper * 1.01, lower=0.0, tight=False)
    assert confirmed(with_grade(weaker, 1, start=data["witness"]["grades"][1]["start"] - 7))
    low, high = data["witness"]["borders"][0]
    assert confirmed(
        with_witness(weaker, borders=[[f"{2 * int(low.split('/')[0]) - 1}/{2 * int(low.split('/')[1])}", high]])
    )
