"""Group privacy: each rule's number, and its inequality on random chains of laws that keep the premise."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import definitions as d
import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.optimize import linprog

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.approximate import Approximate, approximate_for_groups
from tightrope.curves.concentrated import ZeroConcentrated, concentrated_for_groups
from tightrope.curves.gaussian import GaussianDP, gaussian_for_groups
from tightrope.curves.pure import Pure, pure_for_groups
from tightrope.curves.renyi import KnownOrders, LinearRenyi, Renyi, renyi_for_groups
from tightrope.curves.truncated import TruncatedConcentrated, truncated_for_groups
from tightrope.numerics.balls import Ball, lower_float, precision, upper_float
from tightrope.numerics.bound import Bound
from tightrope.numerics.real import Real, real

F = Fraction


def bounded(value) -> Bound:
    return Bound(lower_float(value), upper_float(value))


def chain(rng, outcomes: int, length: int) -> list[list[mpf]]:
    """Laws of neighbours of neighbours of …, each near the last."""
    laws = [[mpf(rng.uniform(0.2, 1)) for _ in range(outcomes)]]
    for _ in range(length):
        laws.append([w * mp.exp(rng.uniform(-0.6, 0.6)) for w in laws[-1]])
    return [[w / mp.fsum(law) for w in law] for law in laws]


def steps(laws):
    """Every ordered pair of direct neighbours."""
    pairs = [d.Atoms(a, b) for a, b in itertools.pairwise(laws)]
    return pairs + [p.reverse() for p in pairs]


def ends(laws) -> list[d.Atoms]:
    whole = d.Atoms(laws[0], laws[-1])
    return [whole, whole.reverse()]


CHAINS = [chain(random.Random(seed), 2 + seed % 3, 2 + seed % 2) for seed in range(14)]
each_chain = pytest.mark.parametrize("laws", CHAINS)


def test_pure_number():
    assert pure_for_groups(Pure(real(F(1, 2))), 3).epsilon.rational == F(3, 2)
    assert tr.pure(tr.Pure("0.5").group(3)).upper == 1.5
    assert tr.pure(tr.RandomizedResponse(1).group(4)).upper == 4.0


@each_chain
def test_pure_and_approximate_on_chains(laws):
    k = len(laws) - 1
    epsilon = max(p.largest() for p in steps(laws))
    assert max(p.largest() for p in ends(laws)) <= k * epsilon
    for e in (F(1, 10), F(3, 10)):
        delta = max(p.hockey(e) for p in steps(laws))
        rational = F(mp.nstr(delta * (1 + mpf(10) ** -20), 40))
        with precision(128):
            grown = approximate_for_groups(Approximate(real(e), real(rational)), k)
            claimed = upper_float(grown.delta.ball())
        assert grown.epsilon.rational == k * e
        assert max(p.hockey(k * e) for p in ends(laws)) <= claimed + mpf(10) ** -15


def test_approximate_number():
    with precision(128):
        found = bounded(approximate_for_groups(Approximate(real(F(1, 2)), real(F(1, 10**6))), 3).delta.ball())
    assert d.encloses(found, mpf("5.3670030991591733822e-6"), 1e-15)
    with precision(128):
        zero = approximate_for_groups(Approximate(real(0), real(F(1, 100))), 4)
    assert (zero.epsilon.rational, zero.delta.rational) == (0, F(4, 100))


@each_chain
@pytest.mark.parametrize("order", ["1.5", "3"])
def test_renyi_on_chains(laws, order):
    """The base curve is known at the orders the rule reads; the grouped curve is above the truth."""
    k = len(laws) - 1

    class Known(LinearRenyi):
        def divergence(self, a):
            return Ball(float(max(p.renyi(a) for p in steps(laws)))) * (1 + Ball(2) ** -40)

    with precision(96):
        claimed = upper_float(renyi_for_groups(Known(real(0)), k).divergence(F(order)))
    assert max(p.renyi(order) for p in ends(laws)) <= claimed


def test_renyi_numbers():
    """k = 2 at order α: 2α/(2α−1)·D_{2α−1} + D_{2α}, and Mironov's powers of two follow."""
    curve = renyi_for_groups(LinearRenyi(real(F(1, 10))), 2)
    with precision(128):
        assert d.encloses(bounded(curve.divergence(F(3))), mpf(6) / 5 * mpf("0.5") + mpf("0.6"), 1e-15)
        mironov = 3 * mpf("0.1") * 8  # order 4 from the value at order 8
        assert upper_float(curve.divergence(F(4))) <= mironov
    known = renyi_for_groups(KnownOrders((F(8),), (F(1, 2),)), 2)
    assert known.top == 4
    with precision(64):
        assert not known.divergence(F(5)).is_finite()
        assert upper_float(known.divergence(F(4))) <= 1.5  # Mironov, Prop. 2: 3·ε(8)


def test_zcdp_numbers():
    grown = concentrated_for_groups(ZeroConcentrated(real(F(1, 10)), real(F(1, 100))), 4)
    assert grown.rho.rational == F(16, 10)
    assert grown.xi.rational == F(1, 100) * 4 * F(25, 12)
    below = concentrated_for_groups(ZeroConcentrated(real(F(1, 10)), real(F(-1, 100))), 4)
    assert below.xi.rational == F(-4, 100)
    assert tr.zcdp(tr.ZCDP("0.1").group(3)).upper == pytest.approx(0.9, abs=1e-15)
    assert concentrated_for_groups(ZeroConcentrated(real(1), real(0), real(F(1, 10))), 2) is None  # use (ε, δ) instead


@pytest.mark.parametrize("size", [2, 3, 7])
@pytest.mark.parametrize("offset", [F(-1, 3), F(1, 3)])
def test_zcdp_offset_of_unknown_sign_is_never_understated(size, offset):
    """An irrational ξ may be negative: ξ·k·H_k would then be below the valid kξ."""
    computed = Real(None, lambda: Ball(offset.numerator) / offset.denominator)
    grown = concentrated_for_groups(ZeroConcentrated(real(1), computed), size)
    harmonic = sum(F(1, i) for i in range(1, size + 1))
    valid = offset * size * (harmonic if offset > 0 else 1)
    with precision(96):
        assert upper_float(grown.xi.ball()) >= float(valid) - 1e-15


def test_a_negative_offset_counter_example():
    """Poisson-sampled Gaussian, q = 0.1, σ = 0.3: D_α ≤ −ln 10 + α/0.18. Two records, order 20, by quadrature."""
    q, s = mpf("0.1"), mpf("0.3")
    weights = [(1 - q) ** 2, 2 * q * (1 - q), q**2]

    def log_power(z):
        # ln of p^20 q^{-19} for the mixture of means 0, 1, 2 against N(0, s²)
        inner = [mp.log(w) + (2 * z * j - j * j) / (2 * s * s) for j, w in enumerate(weights)]
        top = max(inner)
        return (
            20 * (top + mp.log(mp.fsum(mp.exp(v - top) for v in inner)))
            - z * z / (2 * s * s)
            - mp.log(s * mp.sqrt(2 * mp.pi))
        )

    peak = log_power(mpf(40))
    total = mp.fsum(d._integral(lambda z: mp.exp(log_power(z) - peak), mpf(a), mpf(a + 1)) for a in range(35, 45))
    divergence = (mp.log(total) + peak) / 19
    assert mp.nstr(divergence, 6) == "439.597"
    false_rule = -mp.log(10) * 2 * mpf("1.5") + 4 * 20 / mpf("0.18")
    right_rule = -mp.log(10) * 2 + 4 * 20 / mpf("0.18")
    assert false_rule < divergence < right_rule


def test_tcdp():
    grown = truncated_for_groups(TruncatedConcentrated(real(F(1, 10)), F(20)), 4)
    assert (grown.rho.rational, grown.omega) == (F(16, 10), F(5))
    assert truncated_for_groups(TruncatedConcentrated(real(F(1, 10)), F(4)), 4) is None
    assert truncated_for_groups(TruncatedConcentrated(real(F(1, 10)), F(3)), 4) is None
    assert tr.renyi(tr.TCDP("0.1", 20).group(4), 4).upper <= 6.4 * (1 + 1e-15)
    assert tr.renyi(tr.TCDP("0.1", 20).group(4), 6).upper == math.inf
    assert tr.renyi(tr.TCDP("0.1", 4).group(4), 2).upper == math.inf
    assert tr.epsilon(tr.TCDP("0.1", 4).group(4), "1e-6").upper == math.inf


@each_chain
def test_tcdp_and_zcdp_on_chains(laws):
    k = len(laws) - 1
    for omega in (F(5), F(12)):
        orders = [1 + (omega - 1) * F(i, 40) for i in range(1, 41)]
        rho = max(p.renyi(a) / d.number(a) for p in steps(laws) for a in orders) * mpf("1.02")  # the grid misses little
        for a in orders:
            if a * k < omega:
                assert max(p.renyi(a) for p in ends(laws)) <= k * k * rho * d.number(a)


def test_gdp():
    assert gaussian_for_groups(GaussianDP(real(F(1, 4))), 3).mu_squared.rational == F(9, 4)
    assert tr.gdp(tr.GDP("0.5").group(3)).upper == 1.5
    assert d.encloses(tr.delta(tr.GDP("0.5").group(2), 1), d.normals(1, 1, 0, 1).hockey(1))


NOISES = [
    (tr.Gaussian(2), 3, d.normals(3, 2, 0, 2)),
    (tr.Laplace(2), 4, d.laplaces(2)),
    (tr.DiscreteLaplace(2, 2), 3, d.discrete_laplaces(2, 6)),
]


@pytest.mark.parametrize(("leaf", "size", "truth"), NOISES, ids=["gaussian", "laplace", "discrete laplace"])
def test_log_concave_noise_is_read_at_the_larger_distance(leaf, size, truth):
    for x in ("0", "0.5", "1.4"):
        claim = tr.delta(leaf.group(size), x)
        assert d.encloses(claim, truth.hockey(x))
        assert claim.tight
    assert d.encloses(tr.renyi(leaf.group(size), 3), truth.renyi(3))


def test_the_profile_rule_for_two_is_met_by_gaussians():
    """inf over a split of δ(ε₁) + e^{ε₁}δ(3 − ε₁) for μ = 1 is the profile of μ = 2."""
    one = d.normals(1, 1, 0, 1)
    split = min(one.hockey(e) + mp.exp(e) * one.hockey(3 - e) for e in (mpf("0.9"), mpf(1), mpf("1.1")))
    claim = tr.delta(tr.Gaussian(1).group(2), 3)
    assert d.encloses(claim, split, 1e-12)
    assert d.encloses(claim, mpf("0.18381307654447215597"), 1e-14)


def test_staircase_noise_is_not_read_at_the_larger_distance():
    """Its density is not log-concave: at distance 2Δ the loss is not the worst, so the general rules are used."""
    group = tr.Staircase(1).group(2)
    naive, inside = d.staircase(1, None, 2), d.staircase(1, None, "1.5")
    claim = tr.delta(group, "0.4")
    assert claim.upper >= max(naive.hockey("0.4"), inside.hockey("0.4"))
    assert not claim.tight
    assert fact(group, GaussianDP) is not None
    assert d.encloses(Bound(0.0, claim.upper), d.response(2).hockey("0.4"))  # ε-DP for one is 2ε-DP for two
    for shift in ("0.3", "0.8", "1.2", "1.7", "2"):
        for x in ("0", "0.9", "1.6"):
            assert tr.delta(group, x).upper >= d.staircase(1, None, shift).hockey(x) - mpf(10) ** -15


def test_groups_of_compositions_and_of_groups():
    m = tr.Gaussian(3) * 2 + tr.Laplace(5)
    larger = tr.Gaussian(3, sensitivity=4) * 2 + tr.Laplace(5, sensitivity=4)
    one, other = tr.delta(m.group(2).group(2), 1), tr.delta(larger, 1)
    assert (one.lower, one.upper) == (other.lower, other.upper)


def test_groups_of_samples_apply_to_the_sampled_mechanism():
    """Two records, each sampled on its own: the truth is the mixture over how many were taken."""
    q, m = mpf("0.3"), tr.RandomizedResponse(1).poisson("0.3").group(2)
    base = d.response(1)
    one_step = d.Atoms([(1 - q) * b + q * a for a, b in zip(base.p, base.q, strict=True)], base.q)
    assert tr.pure(m).upper >= 2 * one_step.largest() * (1 - mpf(10) ** -14)
    gaussian = tr.Gaussian(2).poisson("0.3").group(2)
    weights = [(1 - q) ** 2, 2 * q * (1 - q), q * q]
    density = d.normals(0, 2, 0, 2).q
    truth = d.Densities(
        lambda z: mp.fsum(w * density(z - j) for j, w in enumerate(weights)), density, [-28, -14, 0, 1, 15, 30]
    )
    for x in ("0.1", "0.5"):
        claim = tr.delta(gaussian, x)
        assert claim.upper >= truth.hockey(x)
        assert claim.upper >= truth.reverse().hockey(x)
        assert claim.lower <= max(truth.hockey(x), truth.reverse().hockey(x))


MEMBERS = [
    (tr.RandomizedResponse(1), d.response(1)),
    (tr.RandomizedResponse(1).poisson("0.3"), d.response(1).sampled("0.3")),
    (tr.Table(["0.7", "0.3"], ["0.2", "0.8"]).without_replacement(1, 4), d.Atoms(["0.325", "0.675"], ["0.2", "0.8"])),
    (tr.Approx("0.5", "0.01"), None),
]


@pytest.mark.parametrize(("m", "truth"), MEMBERS, ids=[str(m) for m, _ in MEMBERS])
def test_a_group_costs_at_least_what_one_member_does(m, truth):
    """Of three records one is looked at: neither more is claimed, nor one part in a hundred less."""
    group = m.group(3)
    for x in ("0", "0.1"):
        claim, one = tr.delta(group * 2, x), tr.delta(m * 2, x)
        least = one.lower if truth is None else max(t.power(2).hockey(x) for t in (truth, truth.reverse()))
        assert claim.lower <= least * (1 + mpf(10) ** -15)
        assert claim.lower * 1.01 > least
        assert tr.check(claim.to_json())
    if truth is not None:
        assert tr.pure(group).lower <= max(truth.largest(), truth.reverse().largest()) * (1 + mpf(10) ** -15)
        assert tr.renyi(group, 3).lower <= max(truth.renyi(3), truth.reverse().renyi(3)) * (1 + mpf(10) ** -15)


@pytest.mark.parametrize("size", [2, 3])
def test_a_pure_group_is_not_a_response_of_k_epsilon(size):
    """Three or four laws in a row, each within e^{±1} of the last: a linear program over them says what their ends cost
    at most. Randomized response with kε costs more, so it is an upper end only."""
    m, e = tr.Pure(1).group(size), math.e
    assert tr.pure(m).tight
    assert tr.pure(m).lower == size
    for x in (0.0, 0.5, 1.2):
        outcomes, laws = 2 ** (size + 1), size + 1
        gain = np.zeros((laws, outcomes))
        gain[0, : outcomes // 2], gain[-1, : outcomes // 2] = 1, -math.exp(x)  # an event, and what is told of it
        rows = []
        for i, o, (up, down) in itertools.product(range(size), range(outcomes), ((1, -e), (-e, 1))):
            row = np.zeros((laws, outcomes))
            row[i, o], row[i + 1, o] = up, down
            rows.append(row.ravel())
        ones = [np.kron(np.eye(laws)[i], np.ones(outcomes)) for i in range(laws)]
        best = linprog(-gain.ravel(), A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=ones, b_eq=np.ones(laws))
        claim = tr.delta(m, x)
        assert claim.lower <= -best.fun * (1 + 1e-9)
        assert claim.upper >= -best.fun * (1 - 1e-9)
        assert not claim.tight
        assert tr.check(claim.to_json())
    assert not tr.renyi(m, 3).tight


def test_stated_moments_of_a_group_are_kept_by_gaussians():
    """ρ-zCDP for one allows N(μ, 1) against N(0, 1) with μ² = 2ρ, and three records then differ by 3μ."""
    truth = d.normals(3 * mp.sqrt(mpf("0.2")), 1, 0, 1)
    claim = tr.delta(tr.ZCDP("0.1").group(3), 1)
    assert truth.hockey(1) * (1 - mpf(10) ** -4) <= claim.lower <= truth.hockey(1) * (1 + mpf(10) ** -15)
    assert tr.check(claim.to_json())


@pytest.mark.parametrize("size", [2, 3, 17])
def test_floats_of_a_group_are_those_of_its_balls(size):
    curve = fact((tr.DiscreteGaussian(40).poisson("0.01")).group(size) * 10, Renyi).curve
    orders = [1.25, 2.0, 7.5]
    with precision(128):
        exact = [float(curve.divergence(Fraction(order)).mid()) for order in orders]
    assert curve.approximations(orders) == pytest.approx(exact, rel=1e-9)
    assert curve.approximate(2.0) == pytest.approx(exact[1], rel=1e-9)
