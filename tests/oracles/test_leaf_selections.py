"""Mechanisms that choose: exponential, permute-and-flip, noisy max, sparse vector. Everything that fits is tried."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import definitions as d
import pytest
from mpmath import mp, mpf

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.loss import Loss
from tightrope.numerics.balls import ball, lower_float, precision, upper_float
from tightrope.numerics.bound import Bound

F = Fraction


def bounded(value):
    with precision(160):
        return Bound(lower_float(value), upper_float(value))


def bounded_range(eta, t):
    """The two-valued loss {t, t − η} that balances."""
    e, t = mp.exp(d.number(eta)), d.number(t)
    p = (e - mp.exp(t)) / (e - 1)
    return d.Atoms([p, 1 - p], [p * mp.exp(-t), (1 - p) * mp.exp(d.number(eta) - t)])


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("eta", ["0.5", "1", "3"])
@pytest.mark.parametrize("x", ["-0.2", "0.1", "0.45"])
def test_exponential_profile_is_the_worst_of_all_two_valued_losses(eta, x):
    with precision(160):
        found = bounded(fact(tr.Exponential(eta), Loss).curve.remove[0][0].call(ball(F(x))))
    n = 400
    seen = max(bounded_range(eta, d.number(eta) * k / n).hockey(x) for k in range(1, n))
    assert found.upper >= seen
    assert found.lower <= seen * (1 + mpf(10) ** -4)
    if x[0] != "-":
        assert d.encloses(tr.delta(tr.Exponential(eta), x), mpf(found.lower))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("eta", ["0.5", "1", "3"])
@pytest.mark.parametrize("order", ["1.5", "2", "20"])
def test_exponential_renyi_is_the_worst_of_all_two_valued_losses(eta, order):
    claim, n = tr.renyi(tr.Exponential(eta), order), 400
    seen = max(bounded_range(eta, d.number(eta) * k / n).renyi(order) for k in range(1, n))
    assert claim.upper >= seen
    assert claim.lower <= seen * (1 + mpf(10) ** -4)
    assert tr.zcdp(tr.Exponential(eta)).upper * d.number(order) >= seen


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_exponential_zcdp_is_the_largest_mean():
    n = 2000
    seen = max(bounded_range(1, mpf(k) / n).mean() for k in range(1, n))
    claim = tr.zcdp(tr.Exponential(1))
    assert claim.upper >= seen
    assert claim.lower <= seen * (1 + mpf(10) ** -6)


def test_nothing_more_than_an_exponential_mechanism():
    """Adding what is run zero times changes nothing."""
    alone, with_nothing = tr.renyi(tr.Exponential(1), 2), tr.renyi(tr.Exponential(1) + tr.Laplace(1) * 0, 2)
    assert (with_nothing.lower, with_nothing.upper) == (alone.lower, alone.upper)


SCORES = [(0, 0, 0), (1, -1, 2), (3, 1, 0), (-2, 5, 1), (0, -4, -4), (2, 2, -3)]
MOVES = [(1, -1, 1), (-1, 1, 1), (1, 1, -1), (-1, -1, 1), (1, 1, 1), (1, 0, -1)]


def exponential(epsilon, scores):
    w = [mp.exp(d.number(epsilon) * u / 2) for u in scores]
    return [x / mp.fsum(w) for x in w]


def permute_and_flip(epsilon, scores):
    top, n = max(scores), len(scores)
    accept = [mp.exp(d.number(epsilon) * (u - top) / 2) for u in scores]
    chance = [mpf(0)] * n
    for order in itertools.permutations(range(n)):
        alive = mpf(1)
        for r in order:
            chance[r] += alive * accept[r] / math.factorial(n)
            alive *= 1 - accept[r]
    return chance


def noisy_max(epsilon, scores):
    """Laplace noise of scale 2/ε; the chance that r is the largest, by quadrature over its value."""
    b, n = 2 / d.number(epsilon), len(scores)

    def cdf(x):
        return mp.exp(x / b) / 2 if x < 0 else 1 - mp.exp(-x / b) / 2

    found = []
    for r in range(n):
        others = [u for i, u in enumerate(scores) if i != r]

        def density(z, r=r, others=others):
            return mp.exp(-abs(z - scores[r]) / b) / (2 * b) * mp.fprod(cdf(z - u) for u in others)

        points = [min(scores) - 60 * b, *sorted(set(scores)), max(scores) + 60 * b]
        found.append(mp.fsum(d._integral(density, mpf(u), mpf(v)) for u, v in itertools.pairwise(points)))
    return found


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("leaf", "law", "epsilon"),
    [
        (tr.Exponential(1), exponential, 1),
        (tr.PermuteAndFlip("0.8"), permute_and_flip, "0.8"),
        (tr.NoisyMax(1), noisy_max, 1),
    ],
    ids=["exponential", "permute and flip", "noisy max"],
)
def test_selections_never_cost_more_than_claimed(leaf, law, epsilon):
    pure, delta, renyi = tr.pure(leaf).upper, tr.delta(leaf, "0.3").upper, tr.renyi(leaf, 3).upper
    pairs = list(zip(SCORES, MOVES, strict=True))
    for scores, move in pairs[:3] if law is noisy_max else itertools.product(SCORES, MOVES):
        truth = d.Atoms(law(epsilon, scores), law(epsilon, [u + v for u, v in zip(scores, move, strict=True)]))
        assert truth.largest() <= pure + mpf(10) ** -15
        assert truth.hockey("0.3") <= delta + mpf(10) ** -15
        assert truth.renyi(3) <= renyi + mpf(10) ** -15


def test_permute_and_flip_attains_its_pure_epsilon_and_exceeds_that_range():
    one, other = permute_and_flip(1, (0, -2)), permute_and_flip(1, (-1, -1))
    assert d.encloses(tr.pure(tr.PermuteAndFlip(1)), mp.log(other[1] / one[1]))
    ranges = []
    for scores, move in itertools.product(SCORES, MOVES):
        p, q = permute_and_flip(1, scores), permute_and_flip(1, [u + v for u, v in zip(scores, move, strict=True)])
        losses = [mp.log(a / b) for a, b in zip(p, q, strict=True)]
        ranges.append(max(losses) - min(losses))
    assert max(ranges) > 1  # so the exponential mechanism's ρ is not its due
    assert tr.zcdp(tr.PermuteAndFlip(1)).upper > tr.zcdp(tr.Exponential(1)).upper


def test_the_exponential_mechanism_attains_its_pure_epsilon_in_the_limit():
    one, other = exponential(1, (0, -80)), exponential(1, (-1, -79))
    assert abs(mp.log(other[1] / one[1]) - tr.pure(tr.Exponential(1)).upper) < mpf(10) ** -15


def above_threshold(epsilon1, epsilon2, answers, shift):
    """All outputs of the sparse vector technique with one positive: the first answer above, or none."""
    b, c = 1 / d.number(epsilon1), 2 / d.number(epsilon2)

    def below(x):
        return mp.exp(x / c) / 2 if x < 0 else 1 - mp.exp(-x / c) / 2

    def first(r):
        def density(t):
            noise = mp.exp(-abs(t) / b) / (2 * b)
            stays = mp.fprod(below(t - (u + s)) for u, s in zip(answers[:r], shift[:r], strict=True))
            return noise * stays * ((1 - below(t - (answers[r] + shift[r]))) if r < len(answers) else 1)

        points = sorted({-50 * b, mpf(0), *(mpf(u + s) for u, s in zip(answers, shift, strict=True)), 50 * b})
        return mp.fsum(d._integral(density, u, v) for u, v in itertools.pairwise(points))

    return [first(r) for r in range(len(answers) + 1)]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_above_threshold_never_costs_more_than_claimed():
    leaf = tr.AboveThreshold(1, 2)
    assert tr.pure(leaf).upper == 3.0
    for answers, shift in (((0, 0, 0), (1, -1, 1)), ((-2, -1, 1), (1, 1, -1)), ((-3, -3, 3), (1, 1, -1))):
        p, q = above_threshold(1, 2, answers, (0, 0, 0)), above_threshold(1, 2, answers, shift)
        truth = d.Atoms([x / mp.fsum(p) for x in p], [x / mp.fsum(q) for x in q])
        for one in (truth, truth.reverse()):
            assert one.largest() <= 3
            for order in ("1.5", "2", "8"):
                assert one.renyi(order) <= tr.renyi(leaf, order).upper
    low = tr.renyi(tr.AboveThreshold(1, 2), 3).computed
    assert d.encloses(low, d.laplaces(1).renyi(3) + 2)
