"""Poisson batches cut to a largest size: the chance of a cut, and what a cut may cost, batch by batch."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import definitions as d
import pytest
from mpmath import mp, mpf

import tightrope as tr
from tightrope.curves.engines.coupled_profile import CoupledProfile
from tightrope.curves.profile import Profile
from tightrope.curves.sampled.attained import loss_attained_by_cut_batches
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.real import real
from tightrope.numerics.sums.binomial_tail import binomial_excess
from tightrope.theorems import REGISTRY as T

F = Fraction


def excess(number, rate, most):
    return sum(math.comb(number, k) * rate**k * (1 - rate) ** (number - k) for k in range(most + 1, number + 1))


@pytest.mark.parametrize(
    ("number", "rate", "most"),
    [
        (1000, F(1, 100), 30), (50, F(1, 7), 20), (12, F(1, 2), 11), (9, F(1, 3), 3), (3, F(1, 5), 0),
        (100, F(1, 2), 30), (9, F(1, 3), 2), (5, F(4, 5), 0),
    ],
)
def test_binomial_excess(number, rate, most):
    with precision(120):
        found = binomial_excess(number, rate, most)
        assert found.overlaps(ball(excess(number, rate, most)))
        assert found.rad() < found * Ball(2) ** -90


def test_binomial_ends():
    assert binomial_excess(10, F(1, 2), 10) == 0
    assert binomial_excess(10, F(0), 0) == 0
    assert binomial_excess(10, F(1), 5) == 1
    huge = binomial_excess(10**15, F(1, 10**6), 10**9 + 10**6)
    assert 0 < huge < Ball(10) ** -200
    with mp.workdps(25):
        assert abs(mpf(float(binomial_excess(1000, F(1, 100), 30).mid())) / mpf("6.4199286031376638781e-8") - 1) < 1e-15


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_vector():
    """n = 1000, q = 0.01, b = 30: a hundred steps add 2.3871103865051237017e-5 at ε = 1."""
    plain, cut = (tr.Gaussian(1).poisson("0.01", **more) * 100 for more in ({}, {"max_batch": 30, "population": 1000}))
    assert tr.delta(cut, 1).upper < tr.delta(plain, 1).upper + 2.3871103865051237e-5  # a smaller ε proves more
    more, added = tr.delta(cut, "0.05").computed, 2.3871103865051237e-5 * (1 + math.exp(0.05)) / (1 + math.e)
    assert more.lower <= tr.delta(plain, "0.05").upper + added <= more.upper * (1 + 1e-12)
    claim = tr.delta(cut, 1)
    assert not claim.tight
    assert claim.upper == pytest.approx(2.384849878e-5, rel=1e-6)  # that at ε = 0.9, of all places the least
    assert claim.upper < 2.3871103865051237017e-5 + 6.6713989155493057e-7
    assert tr.check(claim.to_json())


def cut_run(records, rate, most):
    """Output laws of: draw a Poisson batch, keep at most ``most`` of it (the first ones), answer whether record 0 and
    whether record 1 is in it, each through randomized response. Exactly, over all batches and answers."""
    truth = d.response(1).p[0]
    found = dict.fromkeys(itertools.product((0, 1), repeat=2), mpf(0))
    for taken in itertools.product((0, 1), repeat=len(records)):
        chance = mp.fprod(d.number(rate) if t else 1 - d.number(rate) for t in taken)
        batch = [r for r, t in zip(records, taken, strict=True) if t][:most]
        for answer in found:
            said = mp.fprod(truth if answer[i] == (i in batch) else 1 - truth for i in (0, 1))
            found[answer] += chance * said
    return list(found.values())


@pytest.mark.parametrize(("rate", "most"), [(F(1, 10), 1), (F(1, 5), 2), (F(1, 10), 3)])
def test_never_below_a_cut_run(rate, most):
    """A record that takes part may push another out of the batch, which plain accounting does not see."""
    base = tr.RandomizedResponse(1)
    with_record, without = cut_run([0, 1, 2, 3, 4], rate, most), cut_run([1, 2, 3, 4], rate, most)
    truth = d.Atoms(with_record, without)
    for x in ("0", "0.05", "0.3"):
        claim = tr.delta(base.poisson(rate, max_batch=most, population=5), x)
        worst = max(truth.hockey(x), truth.reverse().hockey(x))
        assert claim.upper >= worst
        places = [float(x) * k / 40 for k in range(41)]  # the bound at any of them holds
        plain = [tr.delta(base.poisson(rate), y).upper for y in places]
        costs = [(1 + math.exp(y)) * float(excess(5, rate, most)) for y in places]
        least = min(min(p + cost, 1) for p, cost in zip(plain, costs, strict=True))
        assert least * (1 - 1e-2) < claim.upper <= least * (1 + 1e-9)
    pair = d.Atoms(with_record, cut_run([2, 3, 4], rate, most))
    for x in ("0", "0.3"):
        claim = tr.delta(base.poisson(rate, max_batch=most, population=5).group(2), x)
        assert claim.upper >= max(pair.hockey(x), pair.reverse().hockey(x))


RULES = {
    "the first stay": lambda batch, most: [batch[:most]],
    "the last stay": lambda batch, most: [batch[len(batch) - min(most, len(batch)) :]],
    "any stay": lambda batch, most: list(itertools.combinations(batch, min(most, len(batch)))),
}


def stays(others, rate, most, rule):
    """The chance that record 0 is in the batch after the cut, over all batches."""
    found = F(0)
    for taken in itertools.product((0, 1), repeat=others + 1):
        batch = [r for r, t in enumerate(taken) if t]
        kept = RULES[rule](batch, most)
        chance = math.prod(rate if t else 1 - rate for t in taken)
        found += chance * sum(F(0 in b, len(kept)) for b in kept)
    return found


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("rate", "most"), [(F(1, 10), 1), (F(1, 3), 2), (F(1, 2), 3)])
def test_never_above_what_small_data_sets_cost(rate, most):
    """Every data set of at most five records and three ways to cut, where only record 0 counts: the lower end is the
    cost of the worst, which is met where nothing is cut, and is hardly below it."""
    kept = {stays(others, rate, most, rule) for others in range(5) for rule in RULES}
    assert max(kept) == rate
    base = d.Atoms(["0.7", "0.2", "0.1"], ["0.4", "0.35", "0.25"])
    cut = tr.Table(["0.7", "0.2", "0.1"], ["0.4", "0.35", "0.25"]).poisson(rate, max_batch=most, population=5)
    response = d.response(1)
    for m, copies, beside in ((cut, 1, None), (cut * 2 + tr.RandomizedResponse(1), 2, response)):
        truths = [base.sampled(share).power(copies) for share in kept if share]
        truths = [t if beside is None else t.times(beside) for t in truths]
        for x in ("0", "0.05", "0.3"):
            claim = tr.delta(m, x)
            worst = max(max(t.hockey(x), t.reverse().hockey(x)) for t in truths)
            assert claim.lower <= worst <= claim.upper
            assert claim.lower * 1.01 > worst or worst == 0
        worst = max(max(t.renyi(3), t.reverse().renyi(3)) for t in truths)
        assert worst * (1 - mpf(10) ** -12) <= tr.renyi(m, 3).lower <= worst * (1 + mpf(10) ** -15)
        worst = max(max(t.largest(), t.reverse().largest()) for t in truths)
        assert worst * (1 - mpf(10) ** -12) <= tr.pure(m).lower <= worst * (1 + mpf(10) ** -15)
        worst = min(min(t.missed("0.1"), t.reverse().missed("0.1")) for t in truths)
        assert worst * (1 - mpf(10) ** -15) <= tr.tradeoff(m, "0.1").upper <= worst * (1 + mpf(10) ** -9)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_cut_run_costs_at_least_what_the_run_without_cuts_does(relation):
    plain = tr.Gaussian(1).poisson("0.01", relation=relation)
    cut = tr.Gaussian(1).poisson("0.01", relation=relation, max_batch=45, population=1000)
    one, other = tr.epsilon(plain * 1000, "1e-6"), tr.epsilon(cut * 1000, "1e-6")
    assert one.lower * (1 - 1e-4) <= other.lower <= one.upper <= other.upper
    assert tr.check(other.to_json())
    lower, _ = tr.profile(cut * 1000).epsilon(["1e-6", "1e-4"])
    assert lower[0] == pytest.approx(one.lower, rel=1e-4)
    assert lower[0] <= one.upper
    assert tr.zcdp(cut * 10).lower > 0
    assert tr.tcdp(cut * 10, 5).lower == pytest.approx(tr.tcdp(plain * 10, 5).lower, rel=0.05)


def test_an_empty_batch_tells_nothing():
    """Cut to nothing, every batch is the same on all data sets."""
    nothing = tr.Gaussian(1).poisson("0.5", max_batch=0, population=3) * 4
    assert (tr.epsilon(nothing, "1e-5").upper, tr.pure(nothing).upper, tr.delta(nothing.group(2), 0).upper) == (0, 0, 0)
    beside = tr.delta(nothing + tr.Laplace(2), "0.1")
    assert (beside.lower, beside.upper) == (tr.delta(tr.Laplace(2), "0.1").lower, tr.delta(tr.Laplace(2), "0.1").upper)
    law = loss_attained_by_cut_batches(T["laplace_mechanism_loss"](tr.Laplace(2)), 0)
    assert law.directions == ((),)


def test_epsilon_at_the_least():
    """δ at the ε found is kept, and just below it is not."""
    m = tr.Gaussian(1).poisson("0.01", max_batch=35, population=1000) * 200 + tr.Laplace(3)
    claim = tr.epsilon(m, "1e-5")
    assert tr.delta(m, claim.upper).upper <= 1e-5 * (1 + 1e-12)
    assert tr.delta(m, claim.upper * (1 - 1e-6)).computed.lower > 1e-5
    assert claim.computed.upper - claim.computed.lower < 1e-8 * claim.upper
    assert tr.epsilon(m, "1e-4").upper < claim.upper
    assert tr.check(claim.to_json())


def test_more_room_costs_less_and_too_little_room_proves_nothing():
    base = tr.Gaussian(1)
    runs = [base.poisson("0.01", max_batch=b, population=1000) * 100 for b in (60, 40, 36, 20)]
    found = [tr.epsilon(run, "1e-5").upper for run in runs]
    assert found == sorted(found)
    assert found[0] == pytest.approx(tr.epsilon(base.poisson("0.01") * 100, "1e-5").upper, rel=1e-6)
    assert found[-1] == math.inf
    assert tr.delta(base.poisson("0.5", max_batch=1, population=10), 1).upper == 1.0


def test_only_the_profile_is_known():
    m = tr.Gaussian(1).poisson("0.01", max_batch=40, population=1000)
    assert tr.pure(m).upper == math.inf
    plain, cut = tr.delta(tr.Gaussian(1).poisson("0.01").group(2), 1), tr.delta(m.group(2), 1)
    assert plain.lower * (1 - 1e-4) <= cut.lower <= plain.upper
    assert cut.upper == pytest.approx(plain.upper + (1 + math.e) * float(excess(1000, F(1, 100), 40)), rel=1e-9)
    assert tr.renyi(m.group(2), 2).upper == math.inf
    assert tr.delta(tr.Parallel(m, tr.Laplace(1), relation="replace"), 1).upper == 1.0
    assert tr.renyi(m, 2).upper == math.inf
    other = tr.ZCDP("0.1").poisson("0.01", max_batch=40, population=1000)
    assert 0 < tr.epsilon(other, "1e-4").upper < 10
    swapped = tr.Gaussian(1).poisson("0.01", relation="replace", max_batch=40, population=1000)
    assert tr.epsilon(m, "1e-5").upper < tr.epsilon(swapped, "1e-5").upper


def test_text_and_refusals():
    m = tr.Gaussian(1).poisson("0.01", max_batch=40, population=1000) * 3
    assert str(m) == "gaussian(sigma=1).poisson(0.01, max_batch=40, population=1000) * 3"
    assert tr.parse(str(m)) == m
    assert any("population" in line for line in tr.epsilon(m, "1e-5").assumptions)
    for most, population in ((3, None), (None, 3), (10, 10), (-1, 5)):
        with pytest.raises(tr.BadParameter):
            tr.Gaussian(1).poisson("0.1", max_batch=most, population=population)
    for wrong in ((1, 0), (-1, 5), ("1/2", 5), (True, 5)):
        with pytest.raises(tr.BadParameter):
            tr.Gaussian(1).with_replacement(*wrong)
    with pytest.raises(tr.Unsupported):
        tr.Gaussian(1).group(2).with_replacement(1, 5)


def test_a_profile_that_proves_nothing_near_gives_way():
    class Vague(Profile):
        """ε is found at once, and no δ is proved anywhere."""

        def find(self, _epsilon):
            return {}

        def prove(self, _epsilon, _witness):
            return Ball(0).union(Ball(1))

        def epsilon(self, _delta):
            return Bound(1.0, 1.0), {}

    class Endless(Vague):
        def epsilon(self, _delta):
            return Bound(0.0, math.inf), {}

    for profile in (Vague(), Endless()):
        with pytest.raises(tr.NotCertified):
            CoupledProfile(profile, real(F(1, 10**9))).epsilon(F(1, 1000))


def test_a_cut_near_where_nothing_is_left():
    """The cost of cutting, (1 + e^ε)τ, takes most of δ: what is left for the base falls as ε rises, and there is an ε
    all the same. One record less in a batch, and there is none."""
    found = tr.epsilon(tr.Gaussian(1).poisson("0.1", max_batch=28, population=100) * 5, delta="1e-5")
    base = tr.Gaussian(1).poisson("0.1") * 5
    tau = 5 * float(excess(100, F(1, 10), 28))
    whole = [tr.delta(base, x).upper + (1 + math.exp(x)) * tau for x in (found.upper, found.upper - 1e-6)]
    assert whole[0] <= 1e-5 * (1 + 1e-9)
    assert whole[1] > 1e-5
    assert tr.epsilon(tr.Gaussian(1).poisson("0.1", max_batch=27, population=100) * 5, delta="1e-5").upper == math.inf


def test_more_epsilon_never_costs_more():
    """What is proved at some ε holds at every larger one, and the witness says where that is."""
    m = tr.Gaussian(1).poisson("0.01", max_batch=20, population=1000) * 50
    points = (0, "0.1", "0.5", 1, 3, 10, 100)
    claims = [tr.delta(m, epsilon=e) for e in points]
    assert all(one.upper >= other.upper for one, other in itertools.pairwise(claims))
    assert all(tr.check(c.to_json()) for c in claims)
    best = claims[-1]
    assert 0 < best.witness["place"] < 0.5
    for e in ("0.05", "0.12", "0.14", "0.2"):  # the least of all places
        assert tr.delta(m, epsilon=e).upper >= best.upper * (1 - 1e-6)
    for place in (-1.0, 1e300, best.witness["place"] + 0.3, float("nan")):
        told = dataclasses.replace(best, witness={**best.witness, "place": place})
        assert not tr.check(told)
    upper = tr.profile(m).delta(points)[1]
    assert all(u <= c.upper * (1 + 1e-3) for u, c in zip(upper, claims, strict=True))
