"""Poisson samples under replace: pairs against densities, and against every way to lay two records side by side."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import definitions as d
import pytest
from mpmath import mp, mpf
from quick_numbers import to_mpmath

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.curves.sampled.antithetic import antithetic
from tightrope.curves.sampled.exchanged import loss_of_poisson_replacement, loss_of_poisson_replacement_by_quantiles
from tightrope.mechanisms.laplace_exchange import LaplaceExchange
from tightrope.numerics.balls import Ball, ball, certain, lower_float, precision, upper_float
from tightrope.numerics.bound import Bound
from tightrope.numerics.real import ZERO, Real, real
from tightrope.numerics.sums.finite import scattered

F = Fraction

POINTS = ("-0.3", "0", "0.05", "0.2", "0.5", "1.2")


def bounded(value):
    return Bound(lower_float(value), upper_float(value))


def only(mechanism):
    ((pair, n),) = fact(mechanism, Loss).curve.remove
    assert n == 1
    return pair


def laplaces(e, q):
    e, r = d.lifted(e), d.lifted(q)

    def density(at):
        return lambda z: (1 - r) * (-abs(z)).exp() / 2 + r * (-abs(z - at)).exp() / 2

    ends = [-50, -to_mpmath(e), 0, to_mpmath(e), 50]
    return d.Densities(density(e), density(-e), ends, quick=True)


@pytest.mark.parametrize(("epsilon", "rate"), [("1", "0.3"), ("3", "0.02"), ("0.25", "0.9")])
def test_laplace_noise(epsilon, rate):
    truth, pair = laplaces(epsilon, rate), only(tr.Laplace(1, epsilon).poisson(rate, relation="replace"))
    top = mp.log1p(d.number(rate) * mp.expm1(d.number(epsilon))) - mp.log1p(
        d.number(rate) * mp.expm1(-d.number(epsilon))
    )
    for x in POINTS:
        with precision(120):
            call, tail = bounded(pair.call(ball(F(x)))), bounded(pair.tail(ball(F(x))))
        assert d.encloses(call, truth.hockey(x) if mpf(x) < top else mpf(0), 1e-12)
        if abs(mpf(x)) < top and mpf(x) != 0:
            assert d.encloses(tail, truth.tail(x), 1e-11)
    with precision(120):
        assert pair.tail(Ball(100)) == 0
        assert pair.tail(Ball(-100)) == 1
        wide = Ball(-0.001).union(Ball(0.001))
        assert pair.call(wide).contains(pair.call(Ball(0)))
        assert pair.tail(wide).contains(pair.tail(Ball(0)))
        edge = pair.largest().ball()
        assert pair.call(edge).contains(0)
        assert pair.tail(edge).contains(0)
        assert pair.tail(-edge).contains(1)
    claim = tr.delta(tr.Laplace(1, epsilon).poisson(rate, relation="replace"), "0.05")
    assert claim.tight
    assert d.encloses(tr.pure(tr.Laplace(1, epsilon).poisson(rate, relation="replace")), top)


def test_laplace_vector_and_moments():
    m = tr.Laplace(1).poisson("0.3", relation="replace")
    assert d.encloses(tr.delta(m, "0.5"), mpf("0.035050060752962587086"))
    truth = laplaces(1, "0.3")
    for order in ("1.5", "4"):
        assert d.encloses(tr.renyi(m, order), truth.renyi(order), 1e-10)
        assert tr.renyi(m, order).tight
    pair = only(m)
    assert pair.mean() is None
    assert pair.approximate_cumulants([3.0])[0] == pytest.approx(3 * float(truth.renyi(4)), rel=1e-12)
    assert only(tr.Laplace(1).poisson(1, relation="replace")) == only(tr.Laplace(1, 2))
    assert LaplaceExchange(F(1), F(1, 2)).effort == 1
    far = LaplaceExchange(F(1000), F(1, 2)).cumulant(F(1))  # out of the transform's reach
    assert 998 < far < 1001
    far = LaplaceExchange(F(90), F(1, 2)).cumulant(F(10) ** 9)  # out of its rule's reach
    assert 90 * 10**9 - 200 < far < 90 * 10**9 + 1  # the largest loss, seldom
    for s in (F(1, 2), F(3), F(40)):  # the rule, and what the moments of a sampled record say
        assert pair.cumulant(s).overlaps(pair.from_samples(s))
        assert certain(pair.from_samples(s), 30)


def test_gaussian_moments():
    """σ = 1, clip 1, q = 0.01: quadrature of the definition."""
    m = tr.Gaussian(1).poisson("0.01", relation="replace")
    for order, value in ((2, "4.5755438253754162995e-4"), (8, "0.0019844545230564625262")):
        claim = tr.renyi(m, order)
        assert d.encloses(claim, mpf(value), 1e-12)
        assert claim.tight
    pair = only(m)
    assert pair.approximate_cumulants([1.0])[0] == pytest.approx(4.5755438253754162995e-4, rel=1e-10)
    whole = only(tr.Gaussian(1).poisson(1, relation="replace"))
    assert whole.cumulant(F(1)) is None
    assert whole.approximate_cumulants([1.0]) == [float("inf")]


@pytest.mark.parametrize(("scale", "shift", "rate"), [(2, 3, "0.3"), (1, 1, "0.05")])
def test_discrete_laplace_noise(scale, shift, rate):
    """Sums over the integers, the record at +Δ against −Δ."""
    r, s = mp.exp(-mpf(1) / scale), d.number(rate)

    def noise(k):
        return (1 - r) / (1 + r) * r ** abs(k)

    span = range(-140 * scale, 140 * scale + 1)
    up, down = ([(1 - s) * noise(k) + s * noise(k - at) for k in span] for at in (shift, -shift))
    truth = d.Atoms(up, down)
    m = tr.DiscreteLaplace(scale, shift).poisson(rate, relation="replace")
    for x in ("0", "0.1", "0.3"):
        claim = tr.delta(m, x)
        assert d.encloses(claim, truth.hockey(x), 1e-12)
        assert claim.tight
    two = truth.merged()
    assert d.encloses(tr.delta(m * 2, "0.2"), two.times(two).hockey("0.2"), 1e-9)


def every_way(ratios, rate):
    """With N equally likely outcomes and a record that may permute its likelihood ratios: all pairs of two records."""
    n, q = len(ratios), d.number(rate)
    first = [(1 - q + q * d.number(a)) / n for a in ratios]
    for other in set(itertools.permutations(ratios)):
        yield d.Atoms(first, [(1 - q + q * d.number(b)) / n for b in other])


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("rate", [F(3, 10), F(9, 10), F(1)])
def test_quantiles_against_every_permutation(rate):
    """The bound is the largest cost over all ways to lay two records with one law of ratios beside each other."""
    rng = random.Random(3)
    for _ in range(4):
        weights = [rng.randint(1, 9) for _ in range(5)]
        ratios = [F(5 * w, sum(weights)) for w in weights]
        table = tr.Table([a / 5 for a in ratios], [F(1, 5)] * 5)
        m, ways = table.poisson(rate, relation="replace"), list(every_way(ratios, rate))
        for x in ("0", "0.1", "0.4"):
            claim = tr.delta(m, x)
            worst = max(way.hockey(x) for way in ways)
            assert d.encloses(claim.computed, worst, 1e-12)
            assert claim.upper >= worst * (1 - mpf(10) ** -14)
            assert claim.lower <= worst
            assert not claim.tight
        composed = tr.delta(m * 2, "0.3")
        assert composed.upper >= max(way.times(way).hockey("0.3") for way in ways) * (1 - mpf(10) ** -12)


def test_quantiles_where_one_law_has_outcomes_the_other_has_not():
    """Two records that each may leave their own trace: the first's is a certain loss, at any rate."""
    table = tr.Table(["0.5", "0.3", "0.2", 0], ["0.4", "0.4", 0, "0.2"])
    for rate in ("0.3", "1"):
        q = mpf(rate)
        # Without the record: a 0.4, b 0.4, c 0.2. With it 0.5, 0.3, 0, and 0.2 on a trace of its own.
        rows = {"a": ("0.4", "0.5"), "b": ("0.4", "0.3"), "c": ("0.2", "0")}
        cells = list(_cells([(mpf(w), mpf(p) / mpf(w)) for w, p in rows.values()]))
        p = [w * (1 - q + q * up) for w, up, _ in cells] + [q * mpf("0.2"), 0]
        o = [w * (1 - q + q * down) for w, _, down in cells] + [0, q * mpf("0.2")]
        for x in ("0", "0.2"):
            claim = tr.delta(table.poisson(rate, relation="replace"), x)
            assert d.encloses(claim.computed, d.Atoms(p, o).hockey(x), 1e-12)


def _cells(pieces):
    """Widths with the rising ratio and the falling one."""
    rising = sorted(pieces, key=lambda piece: piece[1])
    orders = (rising, rising[::-1])
    sums = {mp.nstr(mp.fsum(w for w, _ in some[:i]), 20) for some in orders for i in range(len(rising) + 1)}
    ends = sorted(sums, key=mpf)

    def at(some, u):
        total = mpf(0)
        for w, ratio in some:
            total += w
            if u < total:
                return ratio
        return some[-1][1]

    for a, b in itertools.pairwise([mpf(e) for e in ends]):
        yield b - a, at(rising, (a + b) / 2), at(rising[::-1], (a + b) / 2)


def test_pure_guarantees_under_replace():
    """RR(1): the antithetic law has losses ±2ε at rate 1 and never above ln w(ε)/w(−ε) below it."""
    m = tr.RandomizedResponse(1).poisson(1, relation="replace")
    assert d.encloses(tr.delta(m, "0").computed, 1 - mp.exp(-1), 1e-12)
    assert d.encloses(tr.delta(m, "1").computed, mpf("0.462117157260009759"), 1e-12)
    assert tr.delta(tr.Pure(1).poisson(1, relation="replace"), "2").upper == 0


def test_a_record_that_counts_as_none_is_attained():
    p, q = ["0.7", "0.3"], ["0.2", "0.8"]
    for m, law in ((tr.RandomizedResponse(1), d.response(1)), (tr.Table(p, q), d.Atoms(p, q))):
        one = law.sampled("0.3")
        claim = tr.delta(m.poisson("0.3", relation="replace"), "0.1")
        assert claim.lower == pytest.approx(float(max(one.hockey("0.1"), one.reverse().hockey("0.1"))), rel=1e-12)


def test_what_cannot_be_told_apart_or_is_no_single_pair_gives_way():
    equal = Real(None, lambda: Ball(1) / 3)
    law = scattered([real(1), ZERO, real(-1)], [equal, equal, equal])
    pair = FinitePair("undecidable", law)
    assert antithetic(pair, pair, F(1, 2)) is None
    same = FinitePair("equal", scattered([Real(None, lambda: Ball(2).log())] * 2, [equal, equal]))
    assert antithetic(same, same, F(1, 2)) is None
    halves = Real(None, lambda: Ball(1) / 2)
    two = FinitePair("halves", scattered([real(1), real(-1)], [halves, halves]))
    assert len(antithetic(two, two, F(1, 2)).law.values) == 2
    one = FinitePair("one", scattered([ZERO], [real(1)]))
    assert antithetic(one, pair, F(1, 2)) is None
    two = fact(tr.Laplace(1) + tr.Gaussian(1), Loss).curve
    for rule in (loss_of_poisson_replacement, loss_of_poisson_replacement_by_quantiles):
        assert rule(two, F(1, 2)) is None
    assert loss_of_poisson_replacement_by_quantiles(fact(tr.Laplace(1), Loss).curve, F(1, 2)) is None
    assert loss_of_poisson_replacement(fact(tr.DiscreteGaussian(1, 1, 2), Loss).curve, F(1, 2)) is None
