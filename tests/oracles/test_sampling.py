"""Sampled mechanisms against brute-force mixtures, in both directions; general bounds on random finite mechanisms."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import definitions as d
import pytest
from mpmath import mp, mpf

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.loss import Loss
from tightrope.curves.renyi import Renyi
from tightrope.numerics.balls import Ball, ball, lower_float, precision, upper_float
from tightrope.numerics.bound import Bound
from tightrope.numerics.moments import sampled as sampled_moments

F = Fraction
P, Q = ["0.6", "0.3", "0.1"], ["0.25", "0.35", "0.4"]
HOLES = (["0.5", "0.3", "0.2", "0"], ["0.45", "0.35", "0", "0.2"])

BASES = [
    (tr.Gaussian(1), d.normals(1, 1, 0, 1)),
    (tr.Laplace(1), d.laplaces(1)),
    (tr.RandomizedResponse(1), d.response(1)),
    (tr.RandomizedResponse("0.8", k=5), d.response("0.8", 5)),
    (tr.DiscreteLaplace(2, 3), d.discrete_laplaces(2, 3).merged()),
    (tr.Table(P, Q), d.Atoms(P, Q)),
    (tr.Table(*HOLES), d.Atoms(*HOLES)),
    (tr.LeakyRandomizedResponse(1, "0.05"), d.leaky(1, "0.05")),
    (tr.Staircase(1), d.staircase(1).merged()),
]
IDS = [m.text_name + str(i) for i, (m, _) in enumerate(BASES)]


def bounded(value) -> Bound:
    return Bound(lower_float(value), upper_float(value))


def pairs(mechanism):
    """The pair of each direction; a symmetric loss has one for both."""
    directions = fact(mechanism, Loss).curve.directions
    assert all(len(parts) == 1 and parts[0][1] == 1 for parts in directions)
    found = [parts[0][0] for parts in directions]
    return found if len(found) == 2 else found * 2


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("base", "truth"), BASES, ids=IDS)
@pytest.mark.parametrize("rate", ["0.1", "0.7"])
def test_poisson_profile_in_both_directions(base, truth, rate):
    remove = truth.sampled(rate)
    sides = [remove, remove.reverse()]
    m = base.poisson(rate)
    for pair, side in zip(pairs(m), sides, strict=True):
        for x in (F(-1, 20), F(3, 100), F(2, 5)):
            with precision(160):
                found = bounded(pair.call(ball(x)))
            assert d.encloses(found, side.hockey(x), 1e-12)
    for x in ("0", "0.2"):
        claim = tr.delta(m, x)
        assert d.encloses(claim, max(s.hockey(x) for s in sides), 1e-12)
        assert claim.tight
        assert d.tight(claim)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("base", "truth"), BASES, ids=IDS)
def test_poisson_tail_in_both_directions(base, truth):
    remove = truth.sampled("0.3")
    for pair, side in zip(pairs(base.poisson("0.3")), (remove, remove.reverse()), strict=True):
        for x in (F(-11, 100), F(7, 100), F(17, 100)):
            with precision(160):
                found = bounded(pair.tail(ball(x)))
            assert d.encloses(found, side.tail(x), 1e-12)
            assert found.upper - found.lower < 1e-12


RENYI = [(m, t) for m, t in BASES if not isinstance(m, tr.LeakyRandomizedResponse)]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("base", "truth"), RENYI, ids=[m.text_name for m, _ in RENYI])
@pytest.mark.parametrize("order", ["1.4", "2", "7"])
def test_poisson_renyi_in_both_directions(base, truth, order):
    remove, m = truth.sampled("0.25"), base.poisson("0.25")
    sides = [_renyi(base, s, order) for s in (remove, remove.reverse())]
    for pair, side in zip(pairs(m), sides, strict=True):
        with precision(160):
            cumulant = pair.cumulant(F(order) - 1)
            found = bounded(cumulant / ball(F(order) - 1))
        assert d.encloses(found, side, 1e-12)
    claim = tr.renyi(m, order)
    assert d.encloses(claim, max(sides), 1e-12)
    assert claim.tight


def _renyi(base, truth, order):
    if not isinstance(base, tr.Gaussian):
        return truth.renyi(order)
    return d.Densities(truth.p, truth.q, [-14, -7, -2, 0, 3, 7, 12, 17, 22]).renyi(
        order
    )  # the tilted mean is at most α


@pytest.mark.parametrize(("base", "truth"), BASES, ids=IDS)
def test_poisson_pure(base, truth):
    remove = truth.sampled("0.2")
    claim = tr.pure(base.poisson("0.2"))
    if isinstance(base, tr.Gaussian):
        assert claim.upper == float("inf")
    elif isinstance(base, tr.Laplace):
        assert d.encloses(claim, mp.log1p(mpf("0.2") * mp.expm1(1)))
    elif not isinstance(base, tr.Staircase | tr.DiscreteLaplace):  # truncated tails
        assert d.encloses(claim, max(remove.largest(), remove.reverse().largest()))


SYMMETRIC = [(m, t) for m, t in BASES if not isinstance(m, tr.Table)]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("base", "truth"), SYMMETRIC, ids=[m.text_name for m, _ in SYMMETRIC])
@pytest.mark.parametrize("size", [1, 6])
def test_without_replacement_profile(base, truth, size):
    m = base.without_replacement(size, 10)
    hockey = _glued(truth, F(size, 10))
    with precision(160):
        for x in (F(-1, 5), F(-1, 100), F(1, 20), F(1, 2)):
            assert d.encloses(bounded(pairs(m)[0].call(ball(x))), hockey(x), 1e-12)
    claim = tr.delta(m, "0.1")
    assert d.encloses(claim, hockey(F(1, 10)), 1e-12)
    assert claim.tight


def _glued(truth, rate):
    if isinstance(truth, d.Atoms):
        return d.without_replacement(truth, rate)
    r = d.number(rate)

    def hockey(x):
        other = truth.q if x >= 0 else truth.p
        return d.Densities(
            lambda z: (1 - r) * other(z) + r * truth.p(z), lambda z: (1 - r) * other(z) + r * truth.q(z), truth.points
        ).hockey(x)

    return hockey


BOUNDED = [(m, t) for m, t in SYMMETRIC if not isinstance(m, tr.Gaussian | tr.LeakyRandomizedResponse)]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("base", "truth"), BOUNDED, ids=[m.text_name for m, _ in BOUNDED])
def test_without_replacement_renyi_from_the_profile(base, truth):
    """E[e^{(α−1)L}] = 1 + α(α−1)∫₀^∞ [e^{(α−1)x} + e^{−αx}]δ(x)dx for the symmetric pair: a check that needs no law."""
    order, hockey = mpf(3), _glued(truth, F(3, 10))
    top, cells = mp.log1p(mpf("0.3") * mp.expm1(mpf("1.5"))), 3
    kinks = {mpf(0), top, *(top * k / cells for k in range(cells))}
    if isinstance(truth, d.Atoms):
        ratios = {mp.log(p / q) for p, q in zip(truth.p, truth.q, strict=True) if p > mpf(10) ** -18 < q}
        kinks |= {mp.log1p(mpf("0.3") * mp.expm1(v)) for v in ratios if v > 0}
    points = sorted(k for k in kinks if k <= top)

    def integrand(x):
        return (mp.exp((order - 1) * x) + mp.exp(-order * x)) * hockey(x)

    with mp.workdps(16):
        nodes = _nodes() if isinstance(truth, d.Densities) else d._gauss(16)
        total = mp.fsum(
            (b - a) / 2 * mp.fsum(w * integrand(a + (b - a) / 2 * (1 + t)) for t, w in nodes)
            for a, b in itertools.pairwise(points)
            if b - a > mpf(10) ** -12
        )
        expected = mp.log1p(order * (order - 1) * total) / (order - 1)
    assert d.encloses(tr.renyi(base.without_replacement(3, 10), 3), expected, 1e-7)


def _nodes():
    return d._gauss(8)


def test_without_replacement_add_remove():
    """n ↔ n+1 records, m = 10 of n = 100: the record is in the batch with chance 10/101."""
    m = tr.Gaussian(1).without_replacement(10, 100, relation="add-remove")
    truth = d.normals(1, 1, 0, 1).sampled(F(10, 101))
    remove, add = pairs(m)
    with precision(160):
        assert d.encloses(bounded(remove.call(ball(F(3, 10)))), truth.hockey("0.3"))
        assert d.encloses(bounded(add.call(ball(F(1, 20)))), truth.reverse().hockey("0.05"))
        assert d.encloses(bounded(remove.call(ball(F(3, 10)))), mpf("0.0054982057422368314777"))
        assert d.encloses(bounded(add.call(ball(F(1, 20)))), mpf("0.010249072280797942125"))
    assert m.relation == "add-remove"


def test_subsets_drawn_one_by_one():
    """Randomized response on a batch of 2 of 4 records, every batch enumerated: add up the chances of each output."""
    base = {0: d.response(1).p, 1: d.response(1).q}  # the batch's output law depends on whether it holds the odd record
    batches = list(itertools.combinations(range(4), 2))
    with_record = [mp.fsum(base[0 if 0 in b else 1][o] for b in batches) / len(batches) for o in range(2)]
    truth = d.Atoms(with_record, base[1])
    for x in ("0", "0.2", "0.35"):
        assert d.encloses(tr.delta(tr.RandomizedResponse(1).without_replacement(2, 4), x), truth.hockey(x))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_poisson_replace_is_covered_by_the_claim():
    """Mixtures with means +C and −C: attained, so no claim may be below."""
    for sigma, rate, x in ((1, "0.3", "0.5"), (2, "0.1", "0.1")):
        low, high = d.normals(-1, sigma, 0, sigma), d.normals(1, sigma, 0, sigma)
        up, down = high.sampled(rate), low.sampled(rate)
        truth = d.Densities(up.p, down.p, [-30, -14, -7, -1, 0, 1, 7, 14, 30])
        claim = tr.delta(tr.Gaussian(sigma).poisson(rate, relation="replace"), x)
        assert claim.upper >= truth.hockey(x) * (1 - mpf(10) ** -14)
        assert claim.lower <= truth.hockey(x) * (1 + mpf(10) ** -14)
        if claim.tight:
            assert d.encloses(claim, truth.hockey(x))
    laplace = tr.delta(tr.Laplace(1).poisson("0.3", relation="replace"), "0.5")
    assert laplace.upper >= mpf("0.035050060752962587086")
    assert laplace.lower <= mpf("0.035050060752962587086")


def random_table(rng):
    rows = [[rng.randint(1, 30) for _ in range(3)] for _ in range(2)]
    return [[F(v, sum(row)) for v in row] for row in rows]


def test_general_bounds_are_never_below_the_truth():
    """Zhu–Wang (both directions) and Wang–Balle–Kasiviswanathan, on random bases known only by their Rényi curve."""
    rng = random.Random(11)
    for _ in range(25):
        p, q = random_table(rng)
        truth, rate = d.Atoms(p, q), F(rng.randint(1, 9), 10)
        order = rng.randint(2, 6)

        def curve(k, truth=truth):
            return Ball(float(max(truth.renyi(k), truth.reverse().renyi(k)))) * (1 + Ball(2) ** -45)

        sampled = truth.sampled(rate)
        with precision(96):
            general = upper_float(sampled_moments.poisson_general(rate, order, curve) / (order - 1))
            one_sided = upper_float(sampled_moments.poisson_general(rate, order, curve, 1) / (order - 1))
            exact = Ball(float(max(truth.largest(), truth.reverse().largest()))) * (1 + Ball(2) ** -45)
            fixed = [sampled_moments.without_replacement_general(rate, order, curve, e) for e in (None, exact)]
        assert max(sampled.renyi(order), sampled.reverse().renyi(order)) <= general
        assert sampled.renyi(order) <= one_sided
        mixed = [
            [d.number(1 - rate) * o + d.number(rate) * v for o, v in zip(other, row, strict=True)]
            for other in (truth.p, truth.q)
            for row in (truth.p, truth.q)
        ]
        worst = max(d.Atoms(mixed[2 * i], mixed[2 * i + 1]).renyi(order) for i in range(2))
        for bound in fixed:
            assert worst <= upper_float(bound / (order - 1))


def test_amplified_guarantees_on_random_bases():
    rng = random.Random(4)
    for _ in range(20):
        p, q = random_table(rng)
        truth, rate = d.Atoms(p, q), F(rng.randint(1, 9), 10)
        e = F(rng.randint(0, 100), 100)
        delta = max(truth.hockey(e), truth.reverse().hockey(e))
        m = tr.Approx(e, F(mp.nstr(delta * (1 + mpf(10) ** -20), 40))).poisson(rate)
        x = F(mp.nstr(mp.log1p(d.number(rate) * mp.expm1(d.number(e))) * (1 + mpf(10) ** -25), 40))
        sampled = truth.sampled(rate)
        assert max(sampled.hockey(x), sampled.reverse().hockey(x)) <= tr.delta(m, x).upper + mpf(10) ** -15
        stated = tr.Pure(F(mp.nstr(max(truth.largest(), truth.reverse().largest()) * (1 + mpf(10) ** -20), 40)))
        assert max(sampled.largest(), sampled.reverse().largest()) <= tr.pure(stated.poisson(rate)).upper


def test_a_sample_of_a_guarantee_is_a_sample_of_its_worst_mechanism():
    truth = d.leaky(1, "0.05").sampled("0.2")
    m = tr.Approx(1, "0.05").poisson("0.2")
    for x in ("0", "0.1", "0.3"):
        claim = tr.delta(m, x)
        assert claim.upper >= max(truth.hockey(x), truth.reverse().hockey(x)) - mpf(10) ** -15
        assert claim.lower <= max(truth.hockey(x), truth.reverse().hockey(x)) + mpf(10) ** -15
    assert d.encloses(tr.pure(tr.Pure(1).poisson("0.2")), mp.log1p(mpf("0.2") * mp.expm1(1)))


def bounded_range(eta, t):
    e = mp.exp(mpf(eta))
    p = (e - mp.exp(t)) / (e - 1)
    return d.Atoms([p, 1 - p], [p * mp.exp(-t), (1 - p) * mp.exp(eta - t)])


@pytest.mark.parametrize("sampler", ["poisson", "without replacement"])
def test_a_sampled_exponential_mechanism_composes_only_from_above(sampler):
    """Each ε has its own worst t, so a composition attains less than the composed envelope: the lower end must know."""
    base = tr.Exponential(1).poisson("0.5") if sampler == "poisson" else tr.Exponential(1).without_replacement(1, 2)
    rr = d.response("0.3")
    for x in ("0.05", "0.15"):
        seen = []
        for k in range(1, 60):
            one = bounded_range(1, mpf(k) / 60)
            laws = [
                one.sampled("0.5"),
                one.sampled("0.5").reverse(),
                one.reverse().sampled("0.5"),
                one.reverse().sampled("0.5").reverse(),
            ]
            seen += [law.times(rr).hockey(x) for law in laws]
        claim = tr.delta(base + tr.RandomizedResponse("0.3"), x)
        assert claim.upper >= max(seen)
        assert claim.lower <= max(seen) * (1 + mpf(10) ** -3)


def test_sampling_all_or_nothing():
    for m in (tr.Gaussian(1), tr.Laplace(1), tr.Table(P, Q)):
        whole, none = tr.delta(m.poisson(1), "0.3"), tr.delta(m.poisson(0), "0.3")
        assert (whole.lower, whole.upper) == (tr.delta(m, "0.3").lower, tr.delta(m, "0.3").upper)
        assert none.upper == 0.0
        assert tr.epsilon(m.without_replacement(0, 5), "1e-9").upper == 0.0


def test_composed_finite_samples_by_enumeration():
    truth = d.Atoms(P, Q).sampled("0.25").power(4)
    m = tr.Table(P, Q).poisson("0.25") * 4
    for x in ("0", "0.3", "0.8"):
        claim = tr.delta(m, x)
        assert d.encloses(claim, max(truth.hockey(x), truth.reverse().hockey(x)))
        assert claim.tight
    assert d.encloses(tr.renyi(m, 5), max(truth.renyi(5), truth.reverse().renyi(5)))


def test_composed_samples_never_claim_less_than_a_part_costs():
    m = tr.Gaussian(1).poisson("0.1")
    truth = d.normals(1, 1, 0, 1).sampled("0.1")
    claim = tr.delta(m * 30, "0.5")
    assert claim.upper >= truth.hockey("0.5")
    assert fact(m * 30, Renyi).curve.approximate(4.0) == pytest.approx(
        30 * float(_renyi(tr.Gaussian(1), truth, 4)), rel=1e-9
    )


@pytest.mark.parametrize(
    ("steps", "epsilon", "truth"), [(100, "1", "6.6713989155493057e-7"), (1000, "2", "2.6655719247617912e-6")]
)
def test_many_sampled_gaussians_enclose_the_inverted_transform(steps, epsilon, truth):
    """Bromwich inversion in long double, bracketed by optimistic and pessimistic discretisations."""
    claim = tr.delta(tr.Gaussian(1).poisson("0.01") * steps, epsilon)
    assert d.encloses(claim, mpf(truth), 1e-14)
    if claim.tight:
        assert d.tight(claim)
