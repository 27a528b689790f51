"""Conversions between notions: each printed number, inequalities on random laws, and refusals by name."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import definitions as d
import pytest
from mpmath import mp, mpf

import tightrope as tr
from tightrope.curves.approximate import Approximate, approximate_is_approximately_concentrated
from tightrope.curves.mean_concentrated import MeanConcentrated, mean_concentrated_is_concentrated
from tightrope.curves.profile import LeakyProfile
from tightrope.curves.pure import Pure, pure_is_concentrated_classically, pure_is_mean_concentrated
from tightrope.curves.renyi import KnownOrders, LinearRenyi
from tightrope.curves.renyi_profile import renyi_to_profile, renyi_to_profile_classic, renyi_to_profile_optimally
from tightrope.numerics.balls import lower_float, precision, upper_float
from tightrope.numerics.bound import Bound
from tightrope.numerics.real import real

F = Fraction


def bounded(value) -> Bound:
    return Bound(lower_float(value), upper_float(value))


def random_laws(seed: int, count: int):
    rng = random.Random(seed)
    for _ in range(count):
        n = rng.randint(2, 4)
        rows = [[mp.exp(rng.uniform(-1, 1)) for _ in range(n)] for _ in range(2)]
        yield d.Atoms(*[[w / mp.fsum(row) for w in row] for row in rows])


# Rényi to a profile.


def best_coins(order, tau, x) -> mpf:
    """max p − e^x q over coins with D_α(p‖q) ≤ τ: for each p the least q by bisection, then p by golden sections."""
    a, limit, e = d.number(order), mp.exp((d.number(order) - 1) * d.number(tau)), mp.exp(d.number(x))

    def gain(p):
        low, high = mpf(10) ** -40, p
        for _ in range(90):
            q = (low + high) / 2
            moment = p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a)
            low, high = (q, high) if moment > limit else (low, q)
        return p - e * high

    low, high = mpf(10) ** -6, 1 - mpf(10) ** -9
    for _ in range(80):
        u, v = low + (high - low) * mpf("0.382"), low + (high - low) * mpf("0.618")
        low, high = (u, high) if gain(u) < gain(v) else (low, v)
    return gain(low)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("order", "tau", "x"), [(10, "0.5", 1), (2, "0.5", 1), (32, "0.1", "0.2"), ("1.5", "0.3", "0.7"), (2, 1, 3)]
)
def test_one_order(order, tau, x):
    """Classic ≥ sharpened ≥ the optimum over pairs of coins, and the whole-curve bound on one order meets that."""
    a, t, e = d.number(order), d.number(tau), d.number(x)
    curve = KnownOrders((F(order),), (F(tau),))
    at = {"order": F(order)}
    classic = bounded(renyi_to_profile_classic(curve).prove(F(x), at))
    sharpened = bounded(renyi_to_profile(curve).prove(F(x), at))
    assert d.encloses(classic, mp.exp((a - 1) * (t - e)))
    assert d.encloses(sharpened, mp.exp((a - 1) * (t - e)) * (1 - 1 / a) ** a / (a - 1))
    best = best_coins(order, tau, x)
    assert best <= sharpened.upper <= classic.upper
    profile = renyi_to_profile_optimally(curve)
    optimal = upper_float(profile.prove(F(x), profile.find(F(x))))
    assert best * (1 - mpf(10) ** -12) <= optimal <= best * (1 + mpf(10) ** -5)


def test_one_order_where_everything_may_be_lost():
    """τ ≥ ε − ln(1 − 1/α): the optimum is 1 − e^{ε−τ}, where the sharpened formula says 1."""
    profile = renyi_to_profile_optimally(KnownOrders((F(3),), (F(2),)))
    found = upper_float(profile.prove(F(1, 2), profile.find(F(1, 2))))
    assert 1 - mp.exp(mpf("-1.5")) - mpf(10) ** -15 <= found <= (1 - mp.exp(mpf("-1.5"))) * (1 + mpf(10) ** -6)
    assert upper_float(renyi_to_profile(KnownOrders((F(3),), (F(2),))).prove(F(1, 2), {"order": F(3)})) == 1.0


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_no_law_exceeds_what_its_renyi_curve_allows():
    for truth in random_laws(1, 12):
        orders = [F(11, 10), F(2), F(5), F(20)]
        values = [F(mp.nstr(max(truth.renyi(a), truth.reverse().renyi(a)) * (1 + mpf(10) ** -20), 40)) for a in orders]
        m = tr.RDP(dict(zip(orders, values, strict=True)))
        for x in ("0.1", "0.5"):
            attained = max(truth.hockey(x), truth.reverse().hockey(x))
            assert tr.delta(m, x).upper >= attained
            assert tr.delta(m, x).lower <= 1
        assert tr.tradeoff(m, "0.1").lower <= min(truth.missed("0.1"), truth.reverse().missed("0.1"))
        assert tr.renyi(m, 3).upper >= max(truth.renyi(3), truth.reverse().renyi(3))  # between orders: linear in K


def test_interpolation_is_linear_in_the_cumulant():
    rr = d.response(1)
    m = tr.RDP({2: F(mp.nstr(rr.renyi(2), 40)), 32: F(mp.nstr(rr.renyi(32), 40))})
    linear_in_k = (mpf(22) / 30 * rr.renyi(2) + mpf(8) / 30 * 31 * rr.renyi(32)) / 9
    linear_in_d = mpf(22) / 30 * rr.renyi(2) + mpf(8) / 30 * rr.renyi(32)
    assert d.encloses(tr.renyi(m, 10).computed, linear_in_k, 1e-14)
    assert linear_in_d < rr.renyi(10) < linear_in_k
    assert tr.renyi(m, "1.5").upper >= rr.renyi(2) * (1 - mpf(10) ** -14)  # below the first: its value
    assert tr.renyi(m, 33).upper == float("inf")


def zcdp_delta(rho, xi, x) -> mpf:
    """inf over α of e^{(α−1)(ξ+ρα−x)}(1 − 1/α)^α/(α−1), by golden sections on ln(α−1)."""
    r, o, e = d.number(rho), d.number(xi), d.number(x)

    def log(t):
        lam = mp.exp(t)
        return lam * (o + r * (1 + lam) - e) - lam * mp.log1p(1 / lam) - mp.log1p(lam)

    low, high = mpf(-8), mpf(8)
    for _ in range(120):
        u, v = low + (high - low) * mpf("0.382"), low + (high - low) * mpf("0.618")
        low, high = (u, high) if log(u) > log(v) else (low, v)
    return mp.exp(log(low))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("rho", "xi", "x"), [("0.1", "0", "1"), ("0.01", "0", "0.5"), ("0.1", "0.02", "1"), ("0.2", "-0.05", "1.5")]
)
def test_zcdp_to_delta(rho, xi, x):
    curve = LinearRenyi(real(F(rho)), real(F(xi)))
    profile = renyi_to_profile(curve)
    expected = zcdp_delta(rho, xi, x)
    found = bounded(profile.prove(F(x), profile.find(F(x))))
    assert expected * (1 - mpf(10) ** -20) <= found.upper <= expected * (1 + mpf(10) ** -10)
    assert tr.delta(tr.ZCDP(rho, xi=xi), x).upper <= found.upper * (1 + 1e-12)
    leaky = LeakyProfile(profile, real(F(1, 100)))
    with_leak = bounded(leaky.prove(F(x), leaky.find(F(x))))
    assert abs(with_leak.upper - (mpf("0.01") + mpf("0.99") * expected)) < mpf(10) ** -10


def test_zcdp_numbers():
    table = tr.compare(tr.ZCDP("0.1"), "1e-6")
    assert table["zcdp"].value == pytest.approx(2.1419389283854736614, abs=1e-10)
    assert table["zcdp-classic"].value == pytest.approx(2.4507880004767996181, abs=1e-14)
    assert table["rdp-optimal"].value <= table["zcdp"].value
    best = tr.epsilon(tr.ZCDP("0.1"), "1e-6")
    assert best.lower <= 1.9945269006963383701 + 1e-15 <= best.upper  # a Gaussian fits, and costs this much
    assert tr.delta(tr.ZCDP("0.1"), 1).upper >= 0.00868230785992 - 5e-15  # the whole curve cannot give less


def test_epsilon_is_never_negative():
    assert tr.epsilon(tr.ZCDP("0.001"), "0.5").lower == 0.0
    assert tr.epsilon(tr.ZCDP("0.001"), "0.5").upper == 0.0


# Pure to others.


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_pure_to_others(epsilon):
    rr, e = d.response(epsilon), d.number(epsilon)
    m = tr.Pure(epsilon)
    for order in ("1.5", "2", "32"):
        assert d.encloses(tr.renyi(m, order), rr.renyi(order))
        assert rr.renyi(order) <= e * mp.tanh(e / 2) * d.number(order)
    assert d.encloses(tr.zcdp(m), rr.mean())  # sup of D_α/α is its limit at 1
    with precision(128):
        mean = pure_is_mean_concentrated(Pure(real(F(epsilon))))
        assert d.encloses(bounded(mean.mu.ball()), rr.mean())
        assert mean.tau_squared.rational == F(epsilon) ** 2
        classic = pure_is_concentrated_classically(Pure(real(F(epsilon))))
    assert classic.rho.rational == F(epsilon) ** 2 / 2
    assert tr.zcdp(m).upper <= float(classic.rho.rational)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_every_pure_law_keeps_the_converted_bounds():
    for truth in random_laws(2, 25):
        e = max(truth.largest(), truth.reverse().largest())
        m = tr.Pure(F(mp.nstr(e * (1 + mpf(10) ** -20), 40)))
        for one in (truth, truth.reverse()):
            assert one.hockey("0.3") <= tr.delta(m, "0.3").upper + mpf(10) ** -15
            assert one.renyi(4) <= tr.renyi(m, 4).upper
            assert one.mean() <= tr.zcdp(m).upper
            assert one.missed("0.2") >= tr.tradeoff(m, "0.2").lower
            gaussian = tr.GDP(F(tr.gdp(m).upper))
            assert one.missed("0.2") >= tr.tradeoff(gaussian, "0.2").lower - 1e-12
        losses = [(p, mp.log(p / q)) for p, q in zip(truth.p, truth.q, strict=True)]
        for lam in (-2, 1, 3):  # centred, the loss is ε-subgaussian
            centred = mp.fsum(p * mp.exp(lam * (v - truth.mean())) for p, v in losses)
            assert centred <= mp.exp(lam * lam * e * e / 2)


# Gaussian, trade-off, mean-concentrated, truncated.


@pytest.mark.parametrize(("mu", "x"), [("1", "1"), ("0.5", "3"), ("2", "0.2"), ("0.0001", "0.0001")])
def test_gdp_to_profile(mu, x):
    mu_, e = d.number(mu), d.number(x)
    with mp.workdps(60):
        closed = (
            mp.erfc((e / mu_ - mu_ / 2) / mp.sqrt(2)) / 2 - mp.exp(e) * mp.erfc((e / mu_ + mu_ / 2) / mp.sqrt(2)) / 2
        )
    assert d.encloses(tr.delta(tr.GDP(mu), x), closed)
    if mu != "0.0001":
        assert d.encloses(tr.delta(tr.GDP(mu), x), d.normals(mu, 1, 0, 1).hockey(x), 1e-12)
    assert d.encloses(tr.zcdp(tr.GDP(mu)), mu_**2 / 2)
    assert d.encloses(tr.renyi(tr.GDP(mu), 7), 7 * mu_**2 / 2)


def test_profile_and_tradeoff_are_dual():
    m = tr.Gaussian(1)
    delta = d.normals(1, 1, 0, 1).hockey(1)
    lines = [1 - mpf(tr.tradeoff(m, F(k, 50)).lower) - mp.e * k / 50 for k in range(1, 50)]
    assert max(lines) <= delta
    assert max(lines) >= delta * mpf("0.97")


def test_finitely_many_guarantees_give_a_valid_tradeoff():
    """max of f_{ε_i, δ(ε_i)} is below the true curve at every rate."""
    truth = d.Atoms(["0.7", "0.2", "0.1"], ["0.3", "0.3", "0.4"])
    m = tr.Table(["0.7", "0.2", "0.1"], ["0.3", "0.3", "0.4"])
    for fpr in ("0.05", "0.4"):
        true = min(truth.missed(fpr), truth.reverse().missed(fpr))
        for e in ("0", "0.3", "1"):
            delta, a, w = mpf(tr.delta(m, e).upper), d.number(fpr), mp.exp(d.number(e))
            assert max(0, 1 - delta - w * a, (1 - delta - a) / w) <= true + mpf(10) ** -15


def test_mean_concentrated():
    c = mean_concentrated_is_concentrated(MeanConcentrated(real(F(3, 10)), real(F(49, 100))))
    assert (c.xi.rational, c.rho.rational) == (F(55, 1000), F(245, 1000))
    assert tr.zcdp(tr.CDP("0.3", "0.7")).upper == pytest.approx(0.3, abs=1e-15)  # ξ + ρ
    assert tr.renyi(tr.CDP("0.3", "0.7"), 5).computed.upper == pytest.approx(0.055 + 5 * 0.245, abs=1e-14)
    for truth in random_laws(3, 10):  # with τ² the least subgaussian constant seen, D_{1+λ} ≤ μ + λτ²/2
        losses = [(p, mp.log(p / q)) for p, q in zip(truth.p, truth.q, strict=True)]
        mean = truth.mean()
        grid = [mpf(k) / 10 for k in range(1, 60)]
        tau2 = max(2 * mp.log(mp.fsum(p * mp.exp(t * (v - mean)) for p, v in losses)) / t**2 for t in grid)
        for lam in (mpf(1) / 2, mpf(2), mpf(5)):
            assert truth.renyi(1 + lam) <= mean + lam * tau2 / 2 + mpf(10) ** -15


@pytest.mark.parametrize(("omega", "expected"), [(20, "2.4507880004767996181"), (5, "3.953877639491068526")])
def test_tcdp_classic_numbers(omega, expected):
    profile = renyi_to_profile_classic(LinearRenyi(real(F(1, 10)), top=F(omega)))
    found, _ = profile.epsilon(F(1, 10**6))
    assert mpf(expected) - mpf(10) ** -15 <= found.upper <= mpf(expected) * (1 + mpf(10) ** -10)
    assert tr.epsilon(tr.TCDP("0.1", omega), "1e-6").upper <= found.upper


def test_tcdp_from_a_renyi_curve_is_an_enclosed_supremum():
    truth = d.response("0.5", 10)
    for omega in ("3", "5.851984", "40"):
        top = d.number(omega)
        seen = max(truth.renyi(a) / a for a in (1 + (top - 1) * mpf(k) / 60 for k in range(1, 61)))
        claim = tr.tcdp(tr.RandomizedResponse("0.5", k=10), omega)
        assert claim.upper >= seen * (1 - mpf(10) ** -15)
        assert claim.lower <= max(seen, truth.mean()) * (1 + mpf(10) ** -3)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("leaf", "truth", "order"), [(tr.Gaussian(1), d.normals(1, 1, 0, 1), 3), (tr.Laplace(1), d.laplaces(1), 3)]
)
def test_profile_to_renyi(leaf, truth, order):
    """E = 1 + α(α−1)∫₀^∞ [e^{(α−1)x} + e^{−αx}]δ(x)dx for a symmetric pair, with the package's own profile."""
    top, cells = (mpf(1), 1) if isinstance(leaf, tr.Laplace) else (mpf(14), 8)
    points = [top * k / cells for k in range(cells + 1)]

    def integrand(x):
        claim = tr.delta(leaf, F(mp.nstr(x, 30)))
        return (mp.exp((order - 1) * x) + mp.exp(-order * x)) * mpf(claim.upper)

    total = mp.fsum(
        (b - a) / 2 * mp.fsum(w * integrand(a + (b - a) / 2 * (1 + t)) for t, w in d._gauss(14))
        for a, b in itertools.pairwise(points)
    )
    expected = mp.log1p(order * (order - 1) * total) / (order - 1)
    assert d.encloses(tr.renyi(leaf, order), expected, 1e-10)
    assert abs(truth.renyi(order) - expected) < mpf(10) ** -10


def test_bounded_range_closed_form_is_the_worst_split():
    """The Rényi divergence of the two-valued loss with t* = ln x*, A = e^η."""
    for eta, order in (("1", 2), ("0.5", 8), ("4", 3)):
        A = mp.exp(d.number(eta))
        low = A ** (1 - order)
        x = (1 - mpf(1) / order) * (A - low) / (1 - low)
        p = (A - x) / (A - 1)
        worst = d.Atoms([p, 1 - p], [p / x, (1 - p) * A / x])
        assert d.encloses(tr.renyi(tr.Exponential(eta), order), worst.renyi(order))


# Refusals.


REFUSED = [
    (lambda: tr.gdp(tr.ZCDP("0.1")), "zCDP → GDP"),
    (lambda: tr.gdp(tr.RDP({2: "0.1"})), "RDP → GDP"),
    (lambda: tr.pure(tr.RDP({2: "0.1"})), "RDP → pure"),
    (lambda: tr.pure(tr.ZCDP("0.1") * 3), "zCDP → pure"),
    (lambda: tr.renyi(tr.Approx(1, "1e-6"), 2), "(ε, δ > 0) → RDP"),
    (lambda: tr.zcdp(tr.Approx(1, "1e-6").poisson("0.1")), "(ε, δ > 0) → zCDP"),
    (lambda: tr.zcdp(tr.TCDP("0.1", 5)), "tCDP → zCDP"),
    (lambda: tr.zcdp(tr.RDP({2: "0.1"}).group(2)), "RDP → zCDP"),
]


@pytest.mark.parametrize(("ask", "what"), REFUSED, ids=[w for _, w in REFUSED])
def test_conversions_that_no_theorem_supports_are_refused_by_name(ask, what):
    with pytest.raises(tr.Unsupported) as refused:
        ask()
    assert what in str(refused.value)


def test_the_central_limit_is_never_a_claim():
    table = tr.compare(tr.Gaussian(1).poisson("0.01") * 1000, "1e-5")
    assert table["clt"].kind == "estimate"
    assert table["clt"].claim is None
    assert table.rows[-1].route == "clt"


def test_approximate_with_no_leak_is_pure():
    assert tr.renyi(tr.Approx(1, 0), 2).upper == tr.renyi(tr.Pure(1), 2).upper
    assert tr.pure(tr.Approx(1, 0)).upper == 1.0


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.01"), ("0.3", "0.2")])
def test_a_leaky_response_is_approximately_concentrated(epsilon, delta):
    """Without its leak, leaky randomized response is randomized response; and the bound on δ(x) covers it."""
    made = approximate_is_approximately_concentrated(Approximate(real(F(epsilon)), real(F(delta))))
    with precision(128):
        assert d.encloses(bounded(made.rho.ball()), d.response(epsilon).mean())
    assert made.delta.rational == F(delta)
    leaky = LeakyProfile(renyi_to_profile(LinearRenyi(made.rho)), made.delta)
    for x in ("0.1", "0.2"):
        assert d.leaky(epsilon, delta).hockey(x) <= upper_float(leaky.prove(F(x), leaky.find(F(x))))
