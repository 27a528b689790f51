"""Answers from Rényi divergences that are not known sharply: their own certificates hold."""

import pytest

import tightrope as tr


@pytest.mark.parametrize("delta", ["1e-5", "1e-20", "1e-100"])
def test_such_an_answer_is_confirmed(delta):
    claim = tr.epsilon(tr.Laplace("0.02").poisson("0.9999999") * 4000, delta=delta)
    assert claim.route == "rdp"
    assert claim.witness["order"] > 1
    assert bool(tr.check(claim.to_json()))
