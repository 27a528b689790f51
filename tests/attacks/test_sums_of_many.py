"""Sums of many kinds, and corners of them, which crashed or gave no end: typed answers, finite where they can be."""

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


def rare_schedule(rate, records, number):
    steps = [tr.Gaussian(round(0.75 ** (i / number), 6)).poisson(rate) for i in range(number)]
    return total(step * round(records / float(rate) / number) for step in steps)


def test_twelve_kinds_of_rare_steps_are_split_one_by_one():
    claim = tr.epsilon(rare_schedule("1e-5", 5, 12), delta="1e-5")  # [0.0065, 0.647]
    assert claim.tight
    assert claim.upper - claim.lower < 1e-9


@pytest.mark.no_cover  # long
@pytest.mark.parametrize(("rate", "records", "number"), [("1e-5", 5, 16), ("1e-4", 3, 60), ("1e-5", 0.5, 30)])
def test_rare_schedules_of_many_kinds_are_bracketed_by_few(rate, records, number):
    """Their ends were 80 to 99 % apart; ε lies between those of steps that all have the most or the least noise."""
    m = rare_schedule(rate, records, number)
    claim = tr.epsilon(m, delta="1e-5")
    assert claim.route == "fewer"
    assert claim.lower > 0.9 * claim.upper
    copies = round(records / float(rate) / number) * number
    most, least = (tr.epsilon(tr.Gaussian(s).poisson(rate) * copies, delta="1e-5") for s in (1, "0.75"))
    assert most.lower <= claim.upper <= least.upper
    assert bool(tr.check(claim.to_json()))
