"""Compositions against brute force: products of finite mechanisms, convolved Laplace losses, mixtures of normals."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import definitions as d
import pytest
from flint import arb, ctx
from mpmath import mp, mpf
from quick_numbers import to_mpmath

import tightrope as tr

F = Fraction

P1, Q1 = ["0.7", "0.2", "0.1"], ["0.4", "0.35", "0.25"]
P2, Q2 = ["0.5", "0.3", "0.2", "0"], ["0.45", "0.35", "0", "0.2"]
ONE, TWO = (tr.Table(P1, Q1), d.Atoms(P1, Q1)), (tr.Table(P2, Q2), d.Atoms(P2, Q2))
RR, LEAKY = (
    (tr.RandomizedResponse(1), d.response(1)),
    (tr.LeakyRandomizedResponse("0.5", "0.01"), d.leaky("0.5", "0.01")),
)
KARY, STAIRS = (tr.RandomizedResponse("0.7", k=4), d.response("0.7", 4)), (tr.Staircase(1), d.staircase(1).merged())
STATED, APPROX = (tr.Pure("0.3"), d.response("0.3")), (tr.Approx("0.2", "1e-3"), d.leaky("0.2", "1e-3"))
GEOMETRIC = (tr.DiscreteLaplace(2, 2), d.discrete_laplaces(2, 2).merged())

PRODUCTS = {
    "asymmetric table x4": [(ONE, 4)],
    "table with holes x3": [(TWO, 3)],
    "both tables": [(ONE, 2), (TWO, 2)],
    "table against its reverse": [(ONE, 2), ((tr.Table(Q1, P1), ONE[1].reverse()), 2)],
    "response x9": [(RR, 9)],
    "leaky x5": [(LEAKY, 5)],
    "four-way x6": [(KARY, 6)],
    "staircase x5": [(STAIRS, 5)],
    "all kinds": [(RR, 2), (LEAKY, 1), (KARY, 2), (ONE, 1), (STAIRS, 1)],
    "stated and run": [(STATED, 3), (APPROX, 2), (KARY, 1)],
    "discrete laplace and table": [(GEOMETRIC, 3), (ONE, 2)],
}


def built(parts):
    mechanism, truth = None, d.Atoms([1], [1])
    for (m, atoms), n in parts:
        mechanism = m * n if mechanism is None else mechanism + m * n
        truth = truth.times(atoms.power(n)).merged()
    return mechanism, truth


@pytest.mark.parametrize("parts", PRODUCTS.values(), ids=PRODUCTS)
def test_products_of_finite_mechanisms(parts):
    mechanism, truth = built(parts)
    for x in ("0", "0.35", "1.1"):
        claim = tr.delta(mechanism, x)
        assert d.encloses(claim, max(truth.hockey(x), truth.reverse().hockey(x)))
        assert claim.tight
        assert d.tight(claim)
    for order in ("1.5", "4"):
        claim = tr.renyi(mechanism, order) if not any(m is APPROX for m, _ in parts) else None
        if claim is not None:
            assert d.encloses(claim, max(truth.renyi(order), truth.reverse().renyi(order)))
            assert claim.tight
    assert d.encloses(tr.tradeoff(mechanism, "0.3"), min(truth.missed("0.3"), truth.reverse().missed("0.3")), 1e-12)
    if mp.isfinite(truth.largest()) and mp.isfinite(truth.reverse().largest()) and (STAIRS, 5) not in parts:
        assert d.encloses(tr.pure(mechanism), max(truth.largest(), truth.reverse().largest()), 1e-9)


@pytest.mark.parametrize("parts", PRODUCTS.values(), ids=PRODUCTS)
def test_epsilon_returns_where_the_profile_meets_delta(parts):
    mechanism, truth = built(parts)
    claim = tr.epsilon(mechanism, "0.2")
    if claim.lower > 1e300:
        assert max(truth.hockey(100), truth.reverse().hockey(100)) > mpf("0.2")
        return
    worst = [max(truth.hockey(mpf(e)), truth.reverse().hockey(mpf(e))) for e in (claim.lower, claim.upper)]
    assert worst[1] <= mpf("0.2") * (1 + mpf(10) ** -13)
    if claim.lower > 0:
        assert worst[0] >= mpf("0.2") * (1 - mpf(10) ** -13)
    assert d.tight(claim)


def test_random_tables_in_both_directions():
    rng = random.Random(5)
    for _ in range(6):
        rows = [[F(rng.randint(0, 9), 1) for _ in range(3)] for _ in range(4)]
        rows = [[x / sum(r) for x in r] if sum(r) else [F(1, 3)] * 3 for r in rows]
        m = tr.Table(rows[0], rows[1]) * 2 + tr.Table(rows[2], rows[3]) * 2
        truth = d.Atoms(rows[0], rows[1]).power(2).times(d.Atoms(rows[2], rows[3]).power(2))
        for x in ("0", "0.7"):
            forward, backward = truth.hockey(x), truth.reverse().hockey(x)
            assert d.encloses(tr.delta(m, x), max(forward, backward))
            swapped = tr.Table(rows[1], rows[0]) * 2 + tr.Table(rows[3], rows[2]) * 2
            assert d.encloses(tr.delta(swapped, x), max(forward, backward))


def test_directions_are_never_mixed():
    """Remove-pairs go with remove-pairs: the worse direction of each part alone would overstate."""
    m, truth = built([(ONE, 2), ((tr.Table(Q1, P1), ONE[1].reverse()), 2)])
    each_worst = max(ONE[1].renyi(4), ONE[1].reverse().renyi(4)) * 4
    assert d.encloses(tr.renyi(m, 4), truth.renyi(4))
    assert truth.renyi(4) < each_worst * mpf("0.99")


MURTAGH_VADHAN = [
    ([("0.1", "1e-6"), ("0.2", "0"), ("0.3", "1e-7"), ("0.5", "2e-6")], "0.6"),
    ([("0.5", "0.01"), ("1", "0"), ("0.25", "0.02")], "0.9"),
    ([("0.7", "0"), ("0.7", "0.1"), ("0.3", "0"), ("0.3", "0"), ("0.11", "1e-4")], "0.4"),
    ([("0", "0.05"), ("0.4", "0"), ("0.9", "0.2")], "0"),
]


@pytest.mark.parametrize(("guarantees", "x"), MURTAGH_VADHAN)
def test_heterogeneous_guarantees_compose_optimally(guarantees, x):
    """Enumeration of subsets: 1 − δ_g = Π(1−δ_i)·[1 − Π(1+e^ε_i)^{-1} Σ_S (e^{Σ_S ε} − e^{ε_g + Σ_rest ε})₊]."""
    m = tr.Approx(*guarantees[0])
    for one in guarantees[1:]:
        m = m + tr.Approx(*one)
    e = [d.number(a) for a, _ in guarantees]
    kept = mp.fprod(1 - d.number(b) for _, b in guarantees)
    sums = []
    for chosen in range(2 ** len(e)):
        inside = mp.fsum(v for i, v in enumerate(e) if chosen >> i & 1)
        sums.append(max(mp.exp(inside) - mp.exp(d.number(x) + mp.fsum(e) - inside), mpf(0)))
    optimum = 1 - kept * (1 - mp.fsum(sums) / mp.fprod(1 + mp.exp(v) for v in e))
    claim = tr.delta(m, x)
    assert d.encloses(claim, optimum)
    assert claim.tight
    assert claim.route == "optimal" or d.tight(claim)


def laplace_convolved(epsilon, copies, x):
    """δ of k Laplace losses: one loss at a time, E[δ_{k−1}(x − L)] over atoms at ±ε0 and the density between."""
    with ctx.workdps(30):
        return to_mpmath(convolved(d.lifted(epsilon), copies, d.lifted(x)))


def convolved(e, copies, x):
    if copies == 0:
        return max(-x.expm1(), arb(0))
    if copies == 1:
        return arb(0) if x >= e else -x.expm1() if x <= -e else 1 - ((x - e) / 2).exp()
    value = (convolved(e, copies - 1, x - e) + (-e).exp() * convolved(e, copies - 1, x + e)) / 2
    # kinks of the inner profile, as seen from here
    kinks = sorted([-e, e, *(k for j in range(-copies, copies + 1) if -e < (k := x - j * e) < e)])
    for a, b in itertools.pairwise(kinks):
        value += d._integral(lambda v: (-(e - v) / 2).exp() / 4 * convolved(e, copies - 1, x - v), a, b)
    return value


@pytest.mark.parametrize(
    ("epsilon", "copies", "x"), [("1", 2, "0"), ("1", 2, "0.5"), ("1", 2, "1.5"), ("0.4", 2, "0.3")]
)
def test_laplace_by_convolution(epsilon, copies, x):
    claim = tr.delta(tr.Laplace(1, epsilon) * copies, x)
    assert d.encloses(claim, laplace_convolved(epsilon, copies, d.number(x)))
    assert claim.tight
    assert d.tight(claim)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_three_laplaces_by_convolution():
    found = laplace_convolved("1", 3, mpf("0.8"))
    assert d.encloses(tr.delta(tr.Laplace(1) * 3, "0.8"), found, 1e-11)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("x", ["0", "0.6", "2"])
def test_gaussian_with_finite_parts_by_quadrature(copies, x):
    """E over the atoms of the normal profile, itself by quadrature."""
    atoms = ONE[1].power(copies)
    normal = d.normals(1, 1, 0, 1)

    def mixed(a):
        return mp.fsum(
            p * (normal.hockey(d.number(x) - mp.log(p / q)) if q else 1) for p, q in zip(a.p, a.q, strict=True) if p
        )

    claim = tr.delta(tr.Gaussian(2) * 4 + ONE[0] * copies, x)
    assert d.encloses(claim, max(mixed(atoms), mixed(atoms.reverse())))
    assert claim.tight
    assert d.tight(claim)


def test_laplace_with_finite_parts():
    atoms = RR[1].power(2).merged()
    expected = mp.fsum(
        p * laplace_convolved("0.5", 1, d.number("0.7") - mp.log(p / q)) for p, q in zip(atoms.p, atoms.q, strict=True)
    )
    assert d.encloses(tr.delta(tr.Laplace(2) + RR[0] * 2, "0.7"), expected)


def test_gaussians_merge_into_one():
    m = tr.Gaussian(3) * 2 + tr.Gaussian(2, sensitivity="0.5") * 5 + tr.GDP("0.4")
    mu = mp.sqrt(mpf(2) / 9 + 5 * mpf(1) / 16 + mpf("0.16"))
    assert d.encloses(tr.gdp(m), mu)
    assert d.encloses(tr.delta(m, "0.8"), d.normals(mu, 1, 0, 1).hockey("0.8"))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_advanced_composition_formulas():
    table = tr.compare(tr.Pure("0.1") * 50, "1e-6")
    log = mp.log(mpf(10) ** 6)
    assert d.encloses(table["basic"].claim.computed, mpf(5))
    assert d.encloses(table["advanced"].claim.computed, mp.sqrt(100 * log) / 10 + 5 * mp.expm1(mpf("0.1")))
    assert d.encloses(table["advanced-sharp"].claim.computed, 5 * mp.tanh(mpf("0.05")) + mp.sqrt(2 * log / 2))
    assert abs(table["advanced"].value - 4.242776779228076571) < 1e-14
    assert abs(table["advanced-sharp"].value - 3.966714063639238308) < 1e-14
    assert abs(table["optimal"].value - 3.172902734019189653) < 1e-12
    four = tr.compare(tr.Pure("0.1") + tr.Pure("0.2") + tr.Pure("0.3") + tr.Pure("0.5"), "1e-6")
    assert d.encloses(four["advanced-sharp"].claim.computed, mpf("1.1"))  # the plain sum wins
    assert "advanced" not in [row.route for row in four.rows]  # stated for equal ε only


def test_basic_composition_counts_every_delta():
    table = tr.compare(tr.Approx("0.1", "1e-7") * 5, "1e-6")
    assert d.encloses(table["basic"].claim.computed, mpf("0.5"))
    log = -mp.log(mpf("5e-7"))
    assert d.encloses(
        table["advanced"].claim.computed, mpf("0.1") * mp.sqrt(10 * log) + mpf("0.5") * mp.expm1(mpf("0.1"))
    )
    assert "basic" not in [row.route for row in tr.compare(tr.Approx("0.1", "1e-7") * 11, "1e-6").rows]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_formulas_are_never_below_the_optimum():
    rng = random.Random(3)
    for _ in range(5):
        epsilon, k = F(rng.randint(1, 80), 100), rng.randint(1, 60)
        rows = tr.compare(tr.Pure(epsilon) * k, "1e-5").rows
        best = next(row for row in rows if row.kind == "equal")
        assert all(row.value >= best.claim.lower for row in rows if row.kind != "estimate")


def exact_binomial_delta(epsilon: str, copies: int, x: str) -> mpf:
    """Σ_l C(k,l) p^{k−l}(1−p)^l (1 − e^{x−(k−2l)ε})₊, term by term from the largest loss that counts, in mpmath."""
    with mp.workdps(40):
        e, target = mpf(epsilon), mpf(x)
        p = mp.exp(e) / (1 + mp.exp(e))
        top = int(mp.floor((copies - target / e) / 2))  # losses (k − 2l)ε > x
        log_term = mp.loggamma(copies + 1) - mp.loggamma(top + 1) - mp.loggamma(copies - top + 1)
        log_term += (copies - top) * mp.log(p) + top * mp.log(1 - p)
        term, total, lies = mp.exp(log_term), mpf(0), top
        odds = p / (1 - p)
        while lies >= 0:
            gain = term * -mp.expm1(target - (copies - 2 * lies) * e)
            total += gain
            if lies < top - 50 and gain < total * mpf(10) ** -35:
                break
            term *= mpf(lies) / (copies - lies + 1) * odds
            lies -= 1
        return total


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("epsilon", "copies", "x"),
    [("0.001", 10**6, "4"), ("0.01", 10**6, "90"), ("0.5", 40, "6"), ("0.0001", 10**6, "0.3")],
)
def test_a_million_copies(epsilon, copies, x):
    claim = tr.delta(tr.Pure(epsilon) * copies, x)
    assert d.encloses(claim, exact_binomial_delta(epsilon, copies, x), 1e-12)
    assert claim.tight
    assert d.tight(claim)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_a_million_leaky_copies():
    inner = exact_binomial_delta("0.001", 10**6, "3")
    kept = (1 - mpf(10) ** -9) ** (10**6)
    assert d.encloses(tr.delta(tr.Approx("0.001", "1e-9") * 10**6, 3), 1 - kept * (1 - inner), 1e-11)


def test_notions_add_as_they_should():
    assert tr.zcdp(tr.ZCDP("0.1") * 3 + tr.ZCDP("0.25")).upper == pytest.approx(0.55, abs=1e-15)
    assert tr.pure(tr.Pure("0.1") * 7 + tr.Laplace(4)).upper == pytest.approx(0.95, abs=1e-15)
    both = tr.TCDP("0.1", 20) + tr.TCDP("0.2", 10)
    assert tr.renyi(both, 9).upper == pytest.approx(2.7, abs=1e-14)
    assert tr.renyi(both, 11).upper == math.inf
    curve = tr.RDP({2: "0.1", 8: "0.5"}) + tr.Gaussian(2)
    assert tr.renyi(curve, 8).upper == pytest.approx(0.5 + 1.0, abs=1e-14)


def test_leaks_of_approximate_zcdp_multiply():
    """Twice (ρ = 0.05, δ = 0.01) costs at 1 − 0.99²(1 − 0.05) what ρ = 0.1 costs at 0.05."""
    whole = 1 - F(99, 100) ** 2 * F(95, 100)
    leaky, plain = tr.compare(tr.ZCDP("0.05", delta="0.01") * 2, whole), tr.compare(tr.ZCDP("0.1"), "0.05")
    assert leaky["zcdp"].value == pytest.approx(plain["zcdp"].value, rel=1e-6)


def test_adding_mean_concentrated_parts_goes_through_zcdp():
    """A coin, then nothing or N(0,1) against N(3,1), would stay (4.5, 3)-CDP, but its loss has variance 9.5625 > 9."""
    m = tr.CDP("4.5", 3)
    assert tr.zcdp(m).upper == 4.5
    assert tr.zcdp(m * 2).upper == 9.0
