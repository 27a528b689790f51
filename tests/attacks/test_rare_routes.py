"""Answers that few questions lead to: their certificates hold, and nothing warns."""

import tightrope as tr


def test_such_an_answer_is_confirmed():
    claim = tr.epsilon(tr.Laplace("0.02").poisson("0.9999999") * 4000, delta="1e-100")
    assert claim.route == "rdp"
    assert claim.witness["order"] > 1
    assert bool(tr.check(claim.to_json()))


def test_a_discrete_gaussian_that_is_not_sampled_needs_no_logarithm_of_zero():
    """Its cells are those of a rate of 1, and far below 0 a loss of rate 1 is itself. Warnings are errors here."""
    drawn = tr.Gaussian("6.68").with_replacement(38, 175) * 6 + tr.DiscreteGaussian("0.788") * 2
    assert bool(tr.check(tr.epsilon(drawn, delta="4.38e-18").to_json()))
