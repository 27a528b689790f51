"""ε at exactly the δ that a guarantee itself gives up: the largest finite loss, which no ball can tell by comparing."""

import json

import pytest

import tightrope as tr

CASES = [
    (tr.Approx(1, "1e-6"), "1e-6", 1.0),
    (tr.LeakyRandomizedResponse(1, "1e-6"), "1e-6", 1.0),
    (tr.LeakyInput("0.2"), "0.2", 0.0),
    (tr.Approx(1, "0.5") * 2, "3/4", 2.0),
    (tr.Approx(1, "1e-6") + tr.Approx(2, "1e-7"), "0.0000010999999", 3.0),
]


@pytest.mark.parametrize(("m", "delta", "truth"), CASES, ids=lambda value: str(value))
def test_the_rest_is_the_largest_finite_loss(m, delta, truth):
    claim = tr.epsilon(m, delta=delta)
    assert (claim.lower, claim.upper) == (truth, truth)
    assert tr.check(claim.to_json())


@pytest.mark.parametrize(("m", "delta", "truth"), [case for case in CASES if case[2] > 0], ids=lambda value: str(value))
def test_one_per_cent_off_is_refused(m, delta, truth):
    data = json.loads(tr.epsilon(m, delta=delta).to_json())
    assert not tr.check({**data, "upper": truth * 0.99, "lower": 0.0, "tight": False})
    assert not tr.check({**data, "lower": truth * 1.01, "upper": truth * 1.01})


def test_a_law_that_loses_everything_has_no_largest_finite_loss():
    assert tr.epsilon(tr.LeakyInput(1), delta="1e-5").lower == float("inf")
