"""Families in which a larger number dominates, and what few kinds say of very many."""

import itertools
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.ladders import (
    MANY,
    kinds,
    loss_dominates_fewer_kinds,
    loss_is_dominated_by_fewer_kinds,
)
from tightrope.curves.loss import Loss
from tightrope.numerics.balls import Ball, precision

F = Fraction
FAMILIES = {
    "normal": lambda x: tr.Gaussian(1 / x),
    "laplace": lambda x: tr.Laplace(1 / x),
    "discrete laplace": lambda x: tr.DiscreteLaplace(1 / x, 2),
    "long discrete laplace": lambda x: tr.DiscreteLaplace(300 / x, 300),
    "response": lambda x: tr.RandomizedResponse(x, k=5),
    "pure": tr.Pure,
    "approx": lambda x: tr.Approx(x, 1e-3),
    "poisson": lambda x: tr.Gaussian(1 / x).poisson("1/7"),
    "rates": lambda x: tr.Gaussian(1).poisson(x / 3),
    "laplace rates": lambda x: tr.Laplace(1).poisson(x / 8),
    "response rates": lambda x: tr.RandomizedResponse(1, k=3).poisson(x / 8),
    "sampled responses": lambda x: tr.RandomizedResponse(x, k=3).poisson("1/3"),
    "sampled discrete laplace": lambda x: tr.DiscreteLaplace(1 / x).poisson("1/3"),
    "replace": lambda x: tr.Gaussian(1 / x).poisson("1/7", relation="replace"),
    "replace rates": lambda x: tr.Gaussian(1).poisson(x / 8, relation="replace"),
    "laplace replace": lambda x: tr.Laplace(1 / x).poisson("1/7", relation="replace"),
    "laplace replace rates": lambda x: tr.Laplace(1).poisson(x / 8, relation="replace"),
    "fixed size": lambda x: tr.Gaussian(1 / x).without_replacement(3, 20),
    "fixed size laplace": lambda x: tr.Laplace(1 / x).without_replacement(3, 20),
    "fixed size response": lambda x: tr.RandomizedResponse(x).without_replacement(3, 20),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_larger_number_dominates(name):
    """At every ε of either sign, in every direction."""
    numbers = [F(1, 5), F(1, 2), F(11, 10), F(2)]
    laws = [fact(FAMILIES[name](x), Loss).curve for x in numbers]
    rungs = [[pair.rung() for parts in law.directions for pair, _ in parts] for law in laws]
    for one, other in itertools.pairwise(rungs):
        for low, high in zip(one, other, strict=True):
            assert low[0] == high[0]  # one family
            assert low[1] != high[1]
            assert all(a <= b for a, b in zip(low[1], high[1], strict=True))
    with precision(100):
        for small, large in itertools.pairwise(laws):
            for low, high in zip(small.directions, large.directions, strict=True):
                for x in np.linspace(-2.5, 2.5, 41):
                    at = Ball(float(x) + 1e-3)
                    assert low[0][0].call(at).lower() <= high[0][0].call(at).upper(), x


def of_many(make, low, high, number, copies=1):
    numbers = [F(str(round(float(x), 5))) for x in np.geomspace(low, high, number)]
    return reduce(lambda a, b: a + b, [make(x) * copies for x in numbers])


@pytest.mark.parametrize("name", ["response", "approx", "laplace", "rates"])
def test_few_kinds_bracket_what_is_known_of_all(name):
    """Where the law of all is known closely, it lies between both."""
    m = of_many(FAMILIES[name], 0.05, 0.2, 60)
    law = fact(m, Loss).curve
    above, below = loss_is_dominated_by_fewer_kinds(law), loss_dominates_fewer_kinds(law)
    assert kinds(law) > MANY >= max(kinds(above), kinds(below))
    for x in ("0.4", "0.8"):
        exact = tr.delta(m, epsilon=x)
        assert exact.tight
        with precision(80):
            high, low = (_delta(one, F(x)) for one in (above, below))
        assert low.lower() <= exact.upper
        assert high.upper() >= exact.lower
        assert 0.5 < float(low.mid()) / float(high.mid()) < 1


def _delta(law, epsilon):
    from tightrope.curves.composed_loss import loss_has_profile

    profile = loss_has_profile(law)
    return profile.prove(epsilon, profile.find(epsilon))


def test_noise_and_rate_may_both_vary():
    """The pairs that stand for others are made where none of these has both numbers."""
    parts = [tr.Gaussian(1 + F(i, 300)).poisson(F(1 + i % 7, 200)) for i in range(301)]
    law = fact(reduce(lambda a, b: a + b, parts), Loss).curve
    above, below = loss_is_dominated_by_fewer_kinds(law), loss_dominates_fewer_kinds(law)
    for few, larger in ((above, True), (below, False)):
        assert kinds(few) <= MANY
        for parts in few.directions:
            assert sum(n for _, n in parts) == 301
        standing = sorted((pair.rung()[1], n) for pair, n in few.remove)
        for number in range(2):  # no fewer are as bad as any number says, or no more
            for bar in {numbers[number] for numbers, _ in standing}:
                own = sum(n for numbers, n in standing if numbers[number] >= bar)
                all_of_them = sum(n for pair, n in law.remove if pair.rung()[1][number] >= bar)
                assert own >= all_of_them if larger else own <= all_of_them


@pytest.mark.parametrize("relation", ["poisson", "fixed"])
def test_a_schedule_of_exchanged_records_has_both_ends(relation):
    """80 kinds of which no law is computed: between a schedule of the most and one of the least noise."""
    make = FAMILIES["replace" if relation == "poisson" else "fixed size"]
    claim = tr.epsilon(of_many(make, 0.5, 0.7, 80), delta="1e-5")
    most, least = (tr.epsilon(make(F(x)) * 80, delta="1e-5") for x in ("0.7", "0.5"))
    assert claim.route == "fewer"
    assert not claim.tight
    assert least.lower <= claim.upper <= most.upper
    assert least.lower <= claim.lower <= claim.upper
    assert bool(tr.check(claim.to_json()))
    if relation == "poisson":
        assert claim.upper < 1.03 * claim.lower


def test_few_kinds_are_left_as_they_are():
    law = fact(of_many(FAMILIES["laplace"], 0.05, 0.2, MANY), Loss).curve
    assert loss_is_dominated_by_fewer_kinds(law) is None
    assert loss_dominates_fewer_kinds(law) is None
