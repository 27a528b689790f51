"""Certificates proved by windowed contours, forged: no plan proves a falsehood, or takes much time or memory."""

import copy
import tracemalloc

import pytest

import tightrope as tr
from attacks.certificates import Found, confirmed, plain, understated

pytestmark = pytest.mark.no_cover  # long, and shorter ones come by the same lines

CLAIMS = Found(
    {
        "alone": lambda: tr.epsilon(tr.Gaussian("3.41").poisson("0.0000143") * 2000, delta="1e-22"),
        "mixed": lambda: tr.epsilon(
            tr.Gaussian("6.89").poisson("0.00106") * 172 + tr.Laplace("10.2") * 2, delta="6.28e-26"
        ),
        "two kinds": lambda: tr.epsilon(
            tr.Gaussian("8.37").poisson("2.38e-5") * 21 + tr.Gaussian("4.35").poisson("3.93e-5") * 21, delta="1.44e-32"
        ),
        "exchanged": lambda: tr.epsilon(
            tr.Gaussian("3.41").poisson("0.0000143", relation="replace") * 2000, delta="1e-22"
        ),
    }
)
DATA = plain(CLAIMS)
NUMBERS = ["0/1", "-1/1", "3/1", "1000000/1", "1" + "0" * 30 + "/1", None, "1/0", []]
WHOLE = [0, -1, 1, 10**9, None]
MOST_BYTES = 60_000_000  # as Python sees it


def below(name):
    return understated(CLAIMS[name])


def leaves(value, path=()):
    """The places of all numbers in a witness."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in items:
            yield from leaves(one, (*path, key))
    elif path[-1] != "way":
        yield path, WHOLE if isinstance(value, int) else NUMBERS


def forged(data, path, value):
    new = copy.deepcopy(data)
    at = new["witness"]
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return new


def test_these_are_windowed():
    for name, data in DATA.items():
        assert data["witness"]["way"] == "windowed", name
        assert confirmed(data)
        assert not confirmed(below(name))


@pytest.mark.parametrize("name", DATA)
def test_no_field_proves_a_falsehood(name):
    for number, (path, values) in enumerate(leaves(DATA[name]["witness"])):
        for value in values[number % 3 :: 3] if name != "alone" else values:
            assert not confirmed(forged(below(name), path, value)), (path, value)


@pytest.mark.parametrize("value", ["1000000/1", "1000000000000/1", "-1000000/1"])
@pytest.mark.parametrize(
    "field", ["angle", "low_angle", "cut", "low_cut", "low_end", "high", "low", "blur", "start", "deep", "deep_tilt"]
)
def test_nothing_is_laid_out_that_is_out_of_reach(field, value):
    """Arrays are counted, too: numpy reports them."""
    data = forged(DATA["exchanged" if field in ("start", "deep", "deep_tilt") else "alone"], (field,), value)
    tracemalloc.start()
    try:
        confirmed(data)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < MOST_BYTES


def test_a_narrow_blur_and_a_wide_angle_are_out_of_reach_together():
    data = forged(forged(DATA["alone"], ("blur",), "1/1000000"), ("angle",), "3/1")
    assert not confirmed(data)
