"""The online accountant says of the steps it counted what the library says of them together."""

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightrope as tr
from laws.registered import QUICK

STEP = tr.Gaussian(1).poisson("0.01")
FIXED = "steps and their number fixed in advance"
KINDS = [tr.Gaussian(5), tr.Laplace(3), tr.RandomizedResponse("0.1"), tr.Pure("0.01"), tr.Approx("0.02", "1e-9")]


def counted(*steps):
    accountant = tr.Accountant()
    for mechanism, count in steps:
        accountant.step(mechanism, count)
    return accountant


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", QUICK, ids=str)
def test_it_costs_what_the_composition_costs(m):
    accountant = counted((m, 1), (m, 2))
    assert accountant.epsilon(1e-6).bound == tr.epsilon(m * 3, 1e-6).bound
    assert accountant.delta(0.5).bound == tr.delta(m * 3, 0.5).bound


def test_one_by_one_is_all_at_once():
    slowly = tr.Accountant()
    for _ in range(300):
        slowly.step(tr.Gaussian(1).poisson("0.01"))  # equal, but another object each time
    at_once = counted((STEP, 300))
    assert slowly.mechanism == at_once.mechanism == STEP * 300
    assert slowly.epsilon(1e-5) == at_once.epsilon(1e-5)
    assert len(slowly) == slowly.steps == 300


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 4)), max_size=12))
def test_equal_steps_are_merged_across_calls(steps):
    accountant = counted(*steps)
    counts: dict = {}
    for mechanism, count in steps:
        if count:
            counts[mechanism] = counts.get(mechanism, 0) + count
    assert accountant.steps == sum(counts.values())
    assert json.loads(accountant.to_json())["accountant"] == [[str(m), n] for m, n in counts.items()]
    assert tr.Accountant.from_json(accountant.to_json()).mechanism == accountant.mechanism


def test_the_order_of_steps_does_not_matter():
    steps = [(KINDS[0], 3), (KINDS[2], 2), (KINDS[0], 1), (KINDS[3], 4)]
    one, other = counted(*steps), counted(*reversed(steps))
    assert one.mechanism != other.mechanism  # each keeps the order in which its kinds came
    assert one.epsilon(1e-6).upper == pytest.approx(other.epsilon(1e-6).upper, rel=1e-12)


def test_a_composition_is_counted_part_by_part():
    run = (STEP * 10 + tr.Laplace(2)) * 3
    accountant = counted((run, 2), (STEP, 5))
    assert accountant.mechanism == STEP * 65 + tr.Laplace(2) * 6
    assert len(accountant) == 71


def test_nothing_costs_nothing():
    accountant = tr.Accountant()
    accountant.step(STEP * 0)
    accountant.step(STEP, 0)
    assert accountant.epsilon(0).upper == accountant.delta(0).upper == len(accountant) == 0
    assert accountant  # an empty one is still one
    assert repr(accountant) == "<Accountant of nothing>"


def test_each_claim_states_the_assumption_and_proves_itself():
    for accountant in (tr.Accountant(), counted((tr.Laplace(1), 1)), counted((STEP, 200), (tr.Laplace(5), 1))):
        for claim in (accountant.epsilon(1e-6), accountant.delta(1)):
            assert claim.assumptions.count(FIXED) == 1
            assert tr.check(claim.to_json())


def test_the_state_survives():
    accountant = counted((STEP, 1000), (tr.Laplace(2), 3))
    saved = accountant.to_json()
    copies = [
        tr.Accountant.from_json(saved),
        tr.Accountant.from_json(json.loads(saved)),
        pickle.loads(pickle.dumps(accountant)),
        copy.deepcopy(accountant),
    ]
    accountant.step(STEP)
    for other in copies:
        assert other.to_json() == saved
        other.step(STEP)
        assert other.mechanism == accountant.mechanism
    assert repr(copies[0]) == "<Accountant of gaussian(sigma=1).poisson(0.01) * 1001 + laplace(scale=2) * 3>"
    long = counted(*((tr.Laplace(i), 1) for i in range(1, 9)))
    assert repr(long).endswith("...>")
    assert len(repr(long)) < 100


def test_a_conflict_is_refused_where_it_happens_and_changes_nothing():
    accountant = counted((tr.Laplace(2), 1), (STEP, 4))
    before = accountant.to_json()
    with pytest.raises(tr.RelationMismatch):
        accountant.step(tr.Gaussian(1).poisson("0.01", relation="replace"))
    with pytest.raises(tr.RelationMismatch):
        accountant.step(tr.Laplace(2) + tr.Gaussian(1).without_replacement(1, 10))
    with pytest.raises(tr.BadParameter, match=r"10\*\*18"):
        accountant.step(STEP, 10**18)
    with pytest.raises(tr.BadParameter, match=r"10\*\*18"):
        accountant.step(tr.Laplace(3), 10**18)
    assert accountant.to_json() == before
    accountant.step(tr.Laplace(2))
    assert len(accountant) == 6


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_memory_does_not_grow_with_the_number_of_steps():
    accountant = tr.Accountant()
    short = tr.Laplace(1)
    for _ in range(20_000):
        accountant.step(STEP)
        accountant.step(short, 2)
    assert len(accountant) == 60_000
    assert len(accountant.to_json()) < 120


def test_threads_lose_no_step():
    accountant = tr.Accountant()
    kinds = [STEP, tr.Laplace(1)]

    def work(i):
        for k in range(2000):
            accountant.step(kinds[(i + k // 7) % 2])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len(accountant) == 16_000
    assert sum(n for _, n in json.loads(accountant.to_json())["accountant"]) == 16_000


@pytest.mark.parametrize(
    "state",
    [
        "",
        "{}",
        "[]",
        "7",
        '{"tightrope": 1}',
        '{"tightrope": 2, "accountant": []}',
        '{"tightrope": 1, "accountant": [["gaussian(sigma=1)"]]}',
        '{"tightrope": 1, "accountant": [["gaussian(sigma=1)", "1"]]}',
        '{"tightrope": 1, "accountant": [["gaussian(sigma=1)", true]]}',
        '{"tightrope": 1, "accountant": [[1, 1]]}',
        '{"tightrope": 1, "accountant": [["gaussian(sigma=", 1]]}',
        "[" * 100_000,
    ],
)
def test_a_broken_state_is_refused(state):
    with pytest.raises(tr.BadText):
        tr.Accountant.from_json(state)


def test_a_state_of_two_relations_is_refused():
    steps = [["gaussian(sigma=1).poisson(0.1)", 1], ["gaussian(sigma=1).poisson(0.1, relation=replace)", 1]]
    with pytest.raises(tr.RelationMismatch):
        tr.Accountant.from_json({"tightrope": 1, "accountant": steps})
    with pytest.raises(tr.BadParameter):
        tr.Accountant.from_json(b"{}")
