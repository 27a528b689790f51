"""Queries: exact before the noise, within their budget, and the same randomness on neighbours meets the same laws."""

import math
import random
import warnings
from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr
from tightrope.noise.rehearsal import NotPrivate, rehearsed
from tightrope.queries.budgets import root_above
from tightrope.queries.quantile import _cells, _runs
from tightrope.queries.sums import clamped_sum, exact_sum, numbers

BUDGETS = [{"epsilon": 1}, {"epsilon": "0.1", "delta": 1e-6}, {"rho": "0.05"}]


def seeded(run, seed=3):
    """(result, what was drawn) with the bits of a seed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivate)
        with rehearsed(seed=seed) as tape:
            return run(), tape.draws


AGES = np.array([39, 50, 38, 53, 28, 37, 49, 52, 31, 42, 37, 30, 23, 32, 40, 34, 25, 32, 38, 43] * 50)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("spent", BUDGETS, ids=str)
def test_what_is_spent_is_what_was_stated(spent, relation):
    queries = [
        lambda **b: tr.count(AGES > 40, relation=relation, **b),
        lambda **b: tr.sum(AGES, 0, 90, relation=relation, **b),
        lambda **b: tr.sum(AGES / 7, "0.1", 12.5, relation=relation, **b),
        lambda **b: tr.histogram(AGES, [23, 37, 50], relation=relation, **b),
        lambda **b: tr.histogram(AGES / 2, bins=[0, 20, 30], relation=relation, **b),
    ]
    if "delta" not in spent:
        queries += [
            lambda **b: tr.mean(AGES, 0, 90, relation=relation, **b),
            lambda **b: tr.quantile(AGES, 0.5, 0, 90, relation=relation, **b),
        ]
    for query in queries:
        found, _ = seeded(lambda query=query: query(**spent))
        m = found.mechanism
        assert found.relation == relation
        if "delta" in spent:
            assert tr.epsilon(m, delta=1e-6).upper <= 0.1
        elif "rho" in spent:
            assert tr.zcdp(m).upper <= 0.05 * (1 + 1e-15)
            assert tr.zcdp(m).lower >= 0.05 * (0.99 if isinstance(m, tr.Exponential) else 1 - 1e-9)
        else:
            assert (tr.pure(m).lower, tr.pure(m).upper) == (1, 1)
        assert found.claim.upper <= 1 + 1e-12
        assert found.source == "seed 3 (not private)"


def test_answers_are_near_the_truth():
    assert abs(seeded(lambda: tr.count(AGES, epsilon=1))[0].value - 1000) < 30
    assert abs(seeded(lambda: tr.count([True, False, True], epsilon=1))[0].value - 2) < 30
    assert abs(float(seeded(lambda: tr.sum(AGES, 0, 90, epsilon=1))[0]) - AGES.sum()) < 3000
    assert abs(seeded(lambda: tr.mean(AGES, 0, 90, epsilon=1))[0].value - AGES.mean()) < 3
    assert abs(seeded(lambda: tr.mean(AGES, 0, 90, rho=1, relation="replace"))[0].value - AGES.mean()) < 3
    assert abs(seeded(lambda: tr.quantile(AGES, 0.5, 0, 120, epsilon=1))[0].value - np.median(AGES)) <= 2
    assert abs(seeded(lambda: tr.quantile(AGES / 1.0, "0.9", 0, 120, epsilon=1))[0].value - 52) <= 2
    counts = seeded(lambda: tr.histogram(AGES, [23, 37, 99], epsilon=1))[0].value
    assert np.abs(counts - [50, 100, 0]).max() < 30
    named = seeded(lambda: tr.histogram(["a", "b", "b", None], ["a", "b"], rho=1))[0].value
    assert np.abs(named - [1, 2]).max() < 20
    arrays = seeded(lambda: tr.histogram(np.array(["a", "b", "b"]), ["a", "b"], rho=1))[0].value
    assert np.abs(arrays - [1, 2]).max() < 20
    objects = seeded(lambda: tr.histogram(np.array(["a", 2.5], object), ["a", 2.5], rho=1))[0].value
    assert np.abs(objects - [1, 1]).max() < 20
    mixed = seeded(lambda: tr.histogram([(1,), "b"], [(1,), "b"], rho=1))[0].value
    assert np.abs(mixed - [1, 1]).max() < 20
    assert seeded(lambda: tr.argmax({"a": 5, "b": 900}, epsilon=1))[0].value == "b"
    for method in ("exponential", "noisy_max"):
        assert tr.argmax([0, 10**6], epsilon=1, method=method).value == 1
    assert tr.argmax([0, 10**6], mechanism=tr.NoisyMax(1)).value == 1


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("spent", BUDGETS, ids=str)
def test_intervals_hold_the_exact_answer(spent):
    misses = 0
    for seed in range(60):
        found, _ = seeded(lambda: tr.sum(AGES, 0, 90, **spent), seed)
        low, high = found.interval(0.9)
        misses += not low <= AGES.sum() <= high
        assert found.std > 0
    assert misses <= 6 + 5.5 * math.sqrt(60 * 0.09)
    assert misses > 0 or "delta" in spent


def test_intervals_of_means_and_counts():
    inside = 0
    for seed in range(60):
        found, _ = seeded(lambda: tr.mean(AGES, 0, 90, epsilon=1), seed)
        low, high = found.interval(0.9)
        inside += low <= AGES.mean() <= high
        assert 0 <= low <= found.value <= high <= 90
    assert inside >= 50
    found, _ = seeded(lambda: tr.mean(AGES, 0, 90, rho=1, relation="replace"))
    assert found.interval()[0] < AGES.mean() < found.interval()[1]
    few, _ = seeded(lambda: tr.mean([5], 0, 90, epsilon="0.01"), 1)
    assert few.interval(0.99) == (0, 90)
    assert few.std > 0
    empty, _ = seeded(lambda: tr.mean([], 0, 90, epsilon=1), 2)
    assert 0 <= empty.value <= 90
    lows, highs = seeded(lambda: tr.histogram(AGES, [1, 2], epsilon=1))[0].interval(0.5)
    assert (lows < highs).all()
    with pytest.raises(tr.Unsupported):
        tr.argmax([1, 2], epsilon=1).interval()


def test_sums_are_exact_whatever_the_order():
    rng = random.Random(1)
    values = [rng.uniform(0, 1e6) for _ in range(3000)] + [rng.uniform(0, 1e-6) for _ in range(3000)] + [5e-324, 1e300]
    truth = sum(map(Fraction, values))
    for _ in range(3):
        rng.shuffle(values)
        assert exact_sum(np.array(values)) == truth
    assert exact_sum(np.array([])) == 0
    for low, high in ((Fraction(1, 3), Fraction(1000, 7)), (Fraction(0), Fraction(10**6))):
        clamped = sum(min(max(Fraction(v), low), high) for v in values)
        assert clamped_sum(numbers(values), low, high) == clamped
        assert clamped_sum(numbers([Fraction(v) for v in values[:50]]), low, high) == sum(
            min(max(Fraction(v), low), high) for v in values[:50]
        )


def test_integer_sums_do_not_overflow():
    top = np.full(1000, 2**63 - 1)
    assert clamped_sum(numbers(top), Fraction(0), Fraction(2**70)) == 1000 * (2**63 - 1)
    assert clamped_sum(numbers(top), Fraction(-5), Fraction(5)) == 5000
    assert clamped_sum(numbers([2**100, -(2**100)]), Fraction(-(2**99)), Fraction(2**101)) == 2**100 - 2**99
    assert clamped_sum(numbers(np.array([-(2**63)])), Fraction(-(2**70)), Fraction(0)) == -(2**63)
    assert clamped_sum(numbers(np.array([3, 9], np.uint8)), Fraction(1, 2), Fraction(11, 2)) == Fraction(17, 2)


# Record and replay: neighbours, the same bits.

QUERIES = {
    "count": lambda x, r: tr.count(x, epsilon=1, relation=r),
    "sum": lambda x, r: tr.sum(x, -3, 50, epsilon=1, relation=r),
    "sum of floats": lambda x, r: tr.sum(x / 7, "-0.3", "6.1", rho=1, relation=r),
    "mean": lambda x, r: tr.mean(x, 0, 60, epsilon=1, relation=r),
    "histogram": lambda x, r: tr.histogram(x, list(range(0, 60, 2)), rho=1, relation=r),
    "bins": lambda x, r: tr.histogram(x, bins=[0, 10, 20, 60], epsilon=1, relation=r),
    "quantile": lambda x, r: tr.quantile(x, "0.3", 0, 60, epsilon=1, relation=r),
}


def distances(one, two):
    """(ℓ1, ℓ2², largest number of entries) between two exact centres."""
    gaps = [
        abs(Fraction(a) - Fraction(b))
        for a, b in zip(np.atleast_1d(one).tolist(), np.atleast_1d(two).tolist(), strict=True)
    ]
    return sum(gaps), sum(g * g for g in gaps), sum(g > 0 for g in gaps), max(gaps)


def replayed(query, one, two, relation):
    """What is wrong when the same bits meet two neighbours; '' if nothing."""
    (_, first), (_, second) = seeded(lambda: query(one, relation)), seeded(lambda: query(two, relation))
    if [(d.law, d.size) for d in first] != [(d.law, d.size) for d in second]:
        return "control flow"
    for a, b in zip(first, second, strict=True):
        if a.centre is None:
            continue
        m = tr.parse(a.law)
        l1, l2, entries, largest = distances(a.centre, b.centre)
        if isinstance(m, tr.Gaussian):
            good = l2 <= m.sensitivity**2
        elif isinstance(m, tr.DiscreteGaussian):
            good = largest <= m.sensitivity and entries <= m.coordinates
        else:
            good = l1 <= m.sensitivity
        if not good:
            return f"distance {l1}"
    return ""


def neighbours(rng, relation):
    data = np.array([rng.choice([rng.randrange(-10, 70), 0, 60, 10**9, -(10**9)]) for _ in range(rng.randrange(2, 12))])
    place = rng.randrange(len(data))
    if relation == "add-remove":
        return data, np.delete(data, place)
    other = data.copy()
    other[place] = rng.randrange(-100, 100)
    order = list(range(len(data)))
    rng.shuffle(order)
    return data, other[order]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("name", QUERIES)
def test_neighbours_meet_the_same_laws_within_their_sensitivity(name, relation):
    rng = random.Random(f"{name}{relation}")
    for _ in range(150):
        assert replayed(QUERIES[name], *neighbours(rng, relation), relation) == ""


def test_replaying_has_teeth():
    def unclamped(x, _):
        return tr.Laplace(1).release(float(x.sum()))

    def peeking(x, _):
        return tr.Laplace(1).release(0.0) if len(x) % 2 else tr.Laplace(2).release(0.0)

    rng = random.Random(5)
    for broken, words in ((unclamped, "distance"), (peeking, "control flow")):
        found = [replayed(broken, *neighbours(rng, "add-remove"), "add-remove") for _ in range(20)]
        assert any(words in f for f in found)


# Refusals.


@pytest.mark.parametrize(
    "call",
    [
        lambda: tr.count([1]),
        lambda: tr.count([1], epsilon=1, rho=1),
        lambda: tr.count([1], delta=1e-6, rho=1),
        lambda: tr.count([1], epsilon=0),
        lambda: tr.count([1], epsilon=1, delta=0),
        lambda: tr.count([1], epsilon=1, delta=1),
        lambda: tr.count([1], epsilon=float("nan")),
        lambda: tr.count([1], epsilon=1, relation="swap"),
        lambda: tr.count([1], mechanism=5),
        lambda: tr.count([1], mechanism=tr.Pure(1)),
        lambda: tr.count(5, epsilon=1),
        lambda: tr.count("abc", epsilon=1),
        lambda: tr.count([True, 2], epsilon=1),
        lambda: tr.sum([1], 5, 5, epsilon=1),
        lambda: tr.sum([1], 0, float("inf"), epsilon=1),
        lambda: tr.sum([float("nan")], 0, 1, epsilon=1),
        lambda: tr.sum([True], 0, 1, epsilon=1),
        lambda: tr.sum(3, 0, 1, epsilon=1),
        lambda: tr.sum([1], 0, 90, mechanism=tr.Laplace(90)),
        lambda: tr.sum([1], 0, 90, mechanism=tr.Gaussian(90)),
        lambda: tr.sum([1], 0, 90, mechanism=tr.DiscreteGaussian(90)),
        lambda: tr.mean([1], 0, 1, epsilon=1, count_share=1),
        lambda: tr.mean([], 0, 1, epsilon=1, relation="replace"),
        lambda: tr.histogram([1], epsilon=1),
        lambda: tr.histogram([1], [1], bins=[0, 1], epsilon=1),
        lambda: tr.histogram([1], [], epsilon=1),
        lambda: tr.histogram([1], [1, 1], epsilon=1),
        lambda: tr.histogram("abc", ["a"], epsilon=1),
        lambda: tr.histogram([[1]], ["a"], epsilon=1),
        lambda: tr.histogram([1], bins=[1], epsilon=1),
        lambda: tr.histogram([1], bins=[1, 0], epsilon=1),
        lambda: tr.quantile([1], 2, 0, 1, epsilon=1),
        lambda: tr.quantile([1], 0.5, 0, 1, step=0, epsilon=1),
        lambda: tr.quantile([1], 0.5, 0, 1, step="1e-20", epsilon=1),
        lambda: tr.quantile([1], 0.5, 0, 1, mechanism=tr.Laplace(1)),
        lambda: tr.quantile([1], 0.5, 0, 1, mechanism=tr.Exponential(1, monotone=True)),
        lambda: tr.argmax([1], epsilon=1, method="best"),
        lambda: tr.argmax([1], mechanism=tr.Laplace(1)),
        lambda: tr.argmax([1]),
        lambda: tr.split(1, 0),
        lambda: tr.split(1, []),
        lambda: tr.split(1, [1, 0]),
        lambda: tr.split(0, 2),
        lambda: tr.split(1, "ab"),
        lambda: tr.split(1, 2.5),
        lambda: tr.frequencies([0, 1], tr.Laplace(1)),
        lambda: tr.frequencies([0.5], tr.RandomizedResponse(1)),
        lambda: tr.frequencies([2], tr.RandomizedResponse(1)),
    ],
)
def test_refusals(call):
    with pytest.raises(tr.BadParameter):
        call()


def test_own_mechanisms_and_more():
    assert tr.sum([1, 2], 0, 90, mechanism=tr.Laplace(90, sensitivity=90)).mechanism == tr.Laplace(90, 90)
    assert tr.count([1, 2], mechanism=tr.DiscreteGaussian(3)).mechanism == tr.DiscreteGaussian(3)
    assert str(tr.count([1, 2], mechanism=tr.Gaussian(3)).claim).startswith("ρ")
    assert tr.quantile([1, 2], 0.5, 0, 3, mechanism=tr.Exponential(1)).value in range(4)
    with pytest.raises(tr.Unsupported):
        tr.frequencies([0], tr.RandomizedResponse(0))


def test_a_budget_is_divided_exactly():
    assert sum(tr.split("0.1", [1, 2, 4])) == Fraction(1, 10)
    assert tr.split(1, 4) == (Fraction(1, 4),) * 4
    assert all(tr.count([1], epsilon=part).claim.upper <= 0.3334 for part in tr.split(1, 3))


def test_roots_are_rounded_up():
    for square in (Fraction(2), Fraction(1, 3), Fraction(10**30, 7), Fraction(1, 10**30)):
        root = root_above(square)
        assert root**2 >= square
        assert (root / Fraction(math.sqrt(square)) - 1) < 1e-11


@pytest.mark.parametrize(
    "m", [tr.RandomizedResponse(1), tr.RandomizedResponse(2, k=4), tr.RandomizedResponse(p="0.2", k=3)], ids=str
)
def test_frequencies_are_unbiased(m):
    truth = np.repeat(np.arange(m.k), [400 + 300 * i for i in range(m.k)])
    held = np.bincount(truth, minlength=m.k)
    estimates = []
    for seed in range(200):
        answers, _ = seeded(lambda: m.release(truth), seed)
        estimates.append(tr.frequencies(answers, m))
    counts = np.array([e.counts for e in estimates])
    std = estimates[0].std
    assert (np.abs(counts.mean(axis=0) - held) < 5.5 * std / math.sqrt(200)).all()
    assert (np.abs(counts.std(axis=0) / std - 1) < 0.3).all()
    low, high = estimates[0].interval(0.99)
    assert ((low <= held) & (held <= high)).all()
    with pytest.raises(tr.BadParameter):
        estimates[0].interval(1)


def test_quantile_runs_are_the_ranks_of_every_candidate():
    """Candidate by candidate: how many records lie below it, and how far that misses q·n."""
    rng = random.Random(8)
    for _ in range(60):
        data = [rng.randrange(-3, 14) for _ in range(rng.randrange(0, 12))]
        low, points, level = Fraction(0), 11, Fraction(rng.randrange(0, 5), 4)
        edges, misses = _runs(_cells(numbers(np.array(data, int)), low, Fraction(1), points), points, level)
        assert edges[0] == 0
        assert edges[-1] == points
        for place in range(points):
            run = int(np.searchsorted(edges, place, side="right")) - 1
            truth = abs(sum(x < place for x in data) - level * len(data))
            assert Fraction(int(misses[run]), level.denominator) == truth


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_quantiles_have_the_chances_of_the_exponential_mechanism():
    data, n, counts = [2, 3, 3, 7], 3000, np.zeros(10)
    for seed in range(n):
        counts[seeded(lambda: tr.quantile(data, 0.5, 0, 9, epsilon=2), seed)[0].value] += 1
    weights = np.array([math.exp(-2 * abs(sum(x < y for x in data) - 2)) for y in range(10)])
    due = n * weights / weights.sum()
    assert ((counts - due) ** 2 / due).sum() < 50  # one in a million for nine degrees of freedom
