"""Repeating, composing, grouping: what must hold between the costs of a whole and of its parts."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightrope as tr
from laws.registered import COMBINED, FIRST, QUICK, answers, near, overlap, sane
from laws.trees import leaves

CHEAP = ("epsilon", "delta", "pure", "renyi", "zcdp", "gdp")


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", QUICK, ids=str)
def test_repeating_is_composing_copies(m):
    """Counts have one home: three copies cost exactly what * 3 costs, question by question."""
    for (name, repeated), (_, composed) in zip(answers(m * 3, *CHEAP), answers(m + m + m, *CHEAP), strict=True):
        assert repeated.bound == composed.bound, name
        assert repeated.tight == composed.tight, name


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", QUICK, ids=str)
def test_running_nothing_costs_nothing(m):
    for name, claim in answers(m * 0, *CHEAP, "advantage", "tcdp"):
        assert (claim.lower, claim.upper) == (0, 0), name
    assert tr.tradeoff(m * 0, fpr=0.25).lower == 0.75


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", FIRST, ids=str)
def test_a_free_part_changes_nothing(m):
    for (name, alone), (_, both) in zip(answers(m, *CHEAP), answers(m + tr.Laplace(1) * 0, *CHEAP), strict=True):
        assert overlap(alone, both), name
        assert near(alone.upper, both.upper), name


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("pair", list(itertools.combinations(FIRST, 2))[::5], ids=lambda p: f"{p[0]} + {p[1]}")
def test_order_does_not_matter_and_a_part_costs_at_most_the_whole(pair):
    a, b = pair
    for question in ("epsilon", "delta", "renyi"):
        one, other = dict(answers(a + b, question)), dict(answers(b + a, question))
        assert one.keys() == other.keys()
        if not one:
            continue
        whole, swapped = one[question], other[question]
        sane(whole)
        assert overlap(whole, swapped), question
        assert near(whole.upper, swapped.upper), question
        assert near(whole.lower, swapped.lower), question
        for part in (a, b):
            for _, alone in answers(part, question):
                assert whole.upper >= alone.lower, question


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", QUICK, ids=str)
def test_more_runs_never_cost_less(m):
    for name in ("epsilon", "delta", "renyi", "pure"):
        costs = [dict(answers(m * n, name)).get(name) for n in (1, 4)]
        for less, more in itertools.pairwise(c for c in costs if c is not None):
            assert less.lower <= more.upper, name
            assert less.upper <= more.upper * (1 + 1e-9), name


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@settings(max_examples=30)
@given(leaves(), leaves(), st.integers(2, 6))
def test_random_parts_cost_at_most_the_whole(a, b, n):
    whole, part = tr.epsilon(a * n + b, delta=1e-4), tr.epsilon(a, delta=1e-4)
    sane(whole)
    sane(part)
    assert whole.upper >= part.lower
    assert tr.delta(a * n + b, epsilon=0.5).upper >= tr.delta(b, epsilon=0.5).lower


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", [*FIRST, *COMBINED[:4], tr.Gaussian(1).poisson(0.05)], ids=str)
def test_larger_groups_cost_more(m):
    for name in ("epsilon", "delta", "pure", "renyi"):
        costs = [dict(answers(m.group(k), name)).get(name) for k in (1, 2, 5)]
        present = [c for c in costs if c is not None]
        for one in present:
            sane(one)
        for less, more in itertools.pairwise(present):
            assert less.lower <= more.upper, name
            assert less.upper <= more.upper * (1 + 1e-9), name


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", [m for m in FIRST if m.relation is None], ids=str)
def test_the_worst_block_is_what_disjoint_blocks_cost(m):
    """Under add-remove the cost is that of the worst block; under replace at most that of two records."""
    other = tr.Laplace(100)
    both = tr.Parallel(m, other)
    swapped = tr.Parallel(other, m)
    alone, small = tr.epsilon(m, delta=1e-3), tr.epsilon(other, delta=1e-3)
    for whole in (tr.epsilon(both, delta=1e-3), tr.epsilon(swapped, delta=1e-3)):
        assert whole.upper >= max(alone.lower, small.lower)
        assert whole.lower <= max(alone.upper, small.upper)
        assert near(whole.upper, max(alone.upper, small.upper), 1e-6)
    doubled = tr.epsilon(tr.Parallel(m, other, relation="replace"), delta=1e-3)
    sane(doubled)
    assert doubled.upper >= alone.lower


def test_relations_are_never_mixed():
    added, replaced = tr.Gaussian(1).poisson(0.1), tr.Gaussian(1).without_replacement(1, 10)
    for make in (
        lambda: added + replaced,
        lambda: replaced + tr.Laplace(1) + added,
        lambda: tr.Parallel(added, relation="replace") + added,
    ):
        with pytest.raises(tr.RelationMismatch) as caught:
            make()
        assert {caught.value.first, caught.value.second} == {"add-remove", "replace"}
    assert (added + tr.Laplace(1)).relation == "add-remove"
    assert (tr.Laplace(1) + replaced).relation == "replace"
