"""Sums of many kinds, and corners of them, which crashed or gave no end: typed answers, and finite where they can be."""

from functools import reduce

import pytest

import tightrope as tr


def total(parts):
    return reduce(lambda a, b: a + b, parts)


def joint(sigma):
    return (tr.Gaussian(sigma) + tr.Laplace(30)).poisson("0.01")


@pytest.mark.parametrize(
    "m",
    [
        joint(2) * 1000 + joint(3) * 1000,
        total(tr.RandomizedResponse(0.5 + i / 400).poisson("0.01") * 100 for i in range(200)),
        total(tr.DiscreteLaplace(300 + i).poisson("0.2") * 10**6 for i in range(60)) + tr.Gaussian(2).poisson("0.01"),
    ],
    ids=["joint", "responses", "discrete"],
)
def test_numbers_of_atoms_beyond_floats(m):
    claim = tr.epsilon(m, delta="1e-5")
    assert 0 < claim.lower <= claim.upper < claim.lower * 1.01


def test_a_chance_below_delta_of_losses_beyond_all_floats():
    assert tr.epsilon(tr.Laplace("1e-60").poisson("0.0009") * 10, delta="0.5").upper == 0
    with pytest.raises(tr.NotCertified):  # every scale meets it
        tr.calibrate("laplace(scale=?).poisson(0.0009) * 10", epsilon="0.7", delta="0.5")
