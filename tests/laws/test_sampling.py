"""Sampling: never raises the cost, changes nothing at rate 1 and is free at rate 0."""

import itertools

import pytest

import tightrope as tr
from laws.registered import ALL_LEAVES, answers, near, overlap, sane

BASES = [*ALL_LEAVES, tr.Gaussian(2) * 3]
CHEAP = ("epsilon", "delta", "advantage", "renyi", "pure", "zcdp", "gdp")


def sampled(m, rate):
    """Both samplings that never hurt, at a rate given as n out of 1000."""
    return [m.poisson(f"{rate}/1000"), m.without_replacement(rate, 1000)]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", BASES, ids=str)
def test_sampling_never_raises_the_cost(m):
    for part in sampled(m, 300):
        for name, claim in answers(part, "epsilon", "delta", "renyi", "pure"):
            sane(claim)
            for _, whole in answers(m, name):
                assert claim.lower <= whole.upper, (name, part)
                assert claim.upper <= whole.upper * (1 + 1e-9), (name, part)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", BASES, ids=str)
def test_rate_one_changes_nothing(m):
    for part in sampled(m, 1000):
        for name, claim in answers(part, *CHEAP):
            for _, whole in answers(m, name):
                assert overlap(claim, whole), (name, part)
                assert near(claim.upper, whole.upper), (name, part)


@pytest.mark.parametrize("m", BASES, ids=str)
def test_rate_zero_is_free(m):
    for part in [*sampled(m, 0), m.poisson(0, relation="replace"), m.without_replacement(0, 10, relation="add-remove")]:
        for name, claim in answers(part, *CHEAP):
            assert (claim.lower, claim.upper) == (0, 0), (name, part)


@pytest.mark.parametrize(
    "m", [tr.Gaussian(1), tr.RandomizedResponse(1, k=3), tr.Pure(1), tr.Approx(0.5, 1e-6)], ids=str
)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_cost_grows_with_the_rate(m, relation):
    for question in (lambda x: tr.epsilon(x, delta=1e-4), lambda x: tr.delta(x, epsilon=0.2)):
        found = [question(m.poisson(q, relation=relation)) for q in (0.01, 0.5)]
        found += [question(m.poisson(1, relation=relation))]
        for less, more in itertools.pairwise(found):
            assert less.lower <= more.upper
            assert less.upper <= more.upper * (1 + 1e-9)


@pytest.mark.parametrize("m", [tr.Gaussian(1), tr.Laplace(1), tr.Pure(0.7)], ids=str)
def test_replacing_costs_at_least_as_much_as_adding(m):
    """Exchanging a record for one that contributes nothing is removing it."""
    added, replaced = m.poisson("0.05"), m.poisson("0.05", relation="replace")
    assert tr.epsilon(added, delta=1e-3).lower <= tr.epsilon(replaced, delta=1e-3).upper
    assert tr.delta(added, epsilon=0.1).lower <= tr.delta(replaced, epsilon=0.1).upper


def test_groups_come_last():
    for make in (lambda m: m.poisson(0.1), lambda m: m.without_replacement(1, 10), tr.Parallel):
        with pytest.raises(tr.Unsupported) as caught:
            make(tr.Gaussian(1).group(2))
        assert "group" in str(caught.value)
    with pytest.raises(tr.Unsupported):
        tr.Gaussian(1).poisson(0.1).poisson(0.1)
