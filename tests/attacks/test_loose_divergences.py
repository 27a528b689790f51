"""Answers from Rényi divergences that are not known sharply: their own certificates hold."""

import tightrope as tr


def test_such_an_answer_is_confirmed():
    claim = tr.epsilon(tr.Laplace("0.02").poisson("0.9999999") * 4000, delta="1e-100")
    assert claim.route == "rdp"
    assert claim.witness["order"] > 1
    assert bool(tr.check(claim.to_json()))
