"""The proof of OpenDP's `cdp_delta` (rows 134-153): from Rényi and concentrated DP to (ε, δ)."""

import math

import pytest
from textbook import (
    cks_delta,
    cks_epsilon,
    encloses,
    exp,
    gaussian_delta,
    hockey_stick,
    log,
    mpf,
    near,
    numbers,
    renyi,
    worst_event,
    zcdp_best,
)

import tightrope as tr

P, Q = ("0.4", "0.35", "0.15", "0.1"), ("0.2", "0.3", "0.2", "0.3")
ORDER, EPS = mpf(3), mpf(1)
C = mpf("0.0200496715906093")  # the smallest c at α = 3, ε = 1


def losses(p, q):
    return [(log(a / b), a) for a, b in zip(p, q, strict=True) if a > 0 and b > 0]


@pytest.mark.parametrize("eps", ["0", "0.3", "0.6", "1.2"])
def test_profile_is_a_mean_over_the_loss(eps):
    """Rows 134, 135, 136. sup over events of P(E) − e^ε P'(E) = E[(1 − e^{ε−Z})₊], and that is the least δ."""
    sides = []
    for p, q in ((numbers(P), numbers(Q)), (numbers(Q), numbers(P))):
        mean = sum(m * max(0, 1 - exp(mpf(eps) - z)) for z, m in losses(p, q))
        assert abs(mean - worst_event(p, q, mpf(eps))) < mpf("1e-27")
        sides.append(mean)
    claim = tr.delta(tr.Table(P, Q), epsilon=eps)
    assert claim.lower <= max(sides) * (1 + mpf("1e-25"))
    assert max(sides) <= claim.upper
    assert claim.upper - claim.lower < 1e-14


def test_change_of_measure():
    """Row 137. P[Y'∈E] = E[1{Y∈E}e^{−f(Y)}] needs Y' ≪ Y on E; otherwise only ≥. The worst event avoids that part."""
    p, q = numbers(P), numbers(Q)
    for mask in range(16):
        event = [i for i in range(4) if mask >> i & 1]
        assert near(sum(q[i] for i in event), sum(p[i] * exp(-log(p[i] / q[i])) for i in event), 1e-27)
    p, q = [mpf("0.7"), mpf("0.3"), mpf(0)], [mpf("0.5"), mpf("0.25"), mpf("0.25")]
    right = sum(a * exp(-log(a / b)) for a, b in zip(p, q, strict=True) if a > 0)
    assert sum(q) - right == mpf("0.25")  # the equality fails on E = everything
    assert near(worst_event(p, q, mpf("0.1")), worst_event(p[:2], q[:2], mpf("0.1")), 1e-27)
    table = tr.Table(("0.7", "0.3", 0), ("0.5", "0.25", "0.25"))
    assert encloses(tr.delta(table, epsilon="0.1"), max(hockey_stick(p, q, mpf("0.1")), hockey_stick(q, p, mpf("0.1"))))


def test_inverted_ratio():
    """Row 138. Printed e^{−f(y)} = P[Y=y]/P[Y'=y]; it is P[Y'=y]/P[Y=y], else (4) fails."""
    p, q = numbers(P), numbers(Q)
    for a, b in zip(p, q, strict=True):
        assert near(exp(-log(a / b)), b / a, 1e-27)
        assert not near(exp(-log(a / b)), a / b, 1e-3)
    event = [0, 3]
    assert not near(sum(p[i] * (p[i] / q[i]) for i in event), sum(q[i] for i in event), 1e-3)
    assert near(sum(p[i] * (q[i] / p[i]) for i in event), sum(q[i] for i in event), 1e-27)
    assert encloses(tr.pure(tr.Table(P, Q)), log(mpf(3)))  # the largest |f|


def test_worst_event():
    """Row 139. (5), (6): the worst event is {y: 1 − e^{ε−f(y)} > 0}, among all 16."""
    p, q = numbers(P), numbers(Q)
    for eps in (mpf(0), mpf("0.5")):
        event = [i for i in range(4) if 1 - exp(eps - log(p[i] / q[i])) > 0]
        chosen = sum(p[i] for i in event) - exp(eps) * sum(q[i] for i in event)
        assert near(chosen, worst_event(p, q, eps), 1e-26)
        assert near(chosen, sum(p[i] * (1 - exp(eps - log(p[i] / q[i]))) for i in event), 1e-26)
    back = [worst_event(q, p, mpf("0.5")), worst_event(p, q, mpf("0.5"))]
    assert encloses(tr.delta(tr.Table(P, Q), epsilon="0.5"), max(back))


def test_theorem():
    """Row 140. δ = e^{(α−1)(τ−ε)}/(α−1)·(1−1/α)^α: 0.0446 at α = 3, τ = .4, ε = 1, and never below the truth."""
    delta = cks_delta(3, "0.4", 1)
    assert near(delta, "0.0446213647277336", 1e-14)
    stated = tr.RDP({3: "0.4"})
    assert tr.delta(stated, epsilon=1).upper <= delta * (1 + mpf("1e-12"))
    assert near(tr.compare(stated, delta="0.0446213647277336")["rdp"].value, 1, 1e-13)
    p, q = numbers(P), numbers(Q)
    for order in ("1.2", "3", "20"):
        for eps in ("0", "0.4", "0.9"):
            assert hockey_stick(p, q, mpf(eps)) <= cks_delta(order, renyi(p, q, order), eps)


def test_moment_of_the_loss():
    """Row 141. (8): E e^{(α−1)Z} = e^{(α−1)D_α}."""
    p, q = numbers(P), numbers(Q)
    for order in (mpf("1.5"), mpf(3)):
        sides = [sum(m * exp((order - 1) * z) for z, m in losses(*r)) for r in ((p, q), (q, p))]
        assert near(sides[0], exp((order - 1) * renyi(p, q, order)), 1e-26)
        claim = tr.renyi(tr.Table(P, Q), order="1.5" if order < 2 else 3)
        assert encloses(claim, log(max(sides)) / (order - 1))


def test_markov_with_the_random_loss():
    """Row 142. (9) mixes Z and z: with one fixed z inside the expectation the chain fails, with Z it holds."""
    p, q = numbers(P), numbers(Q)
    tau = renyi(p, q, ORDER)
    eps = mpf("0.3")
    c = C * exp((1 - ORDER) * (eps - EPS))  # c scales as e^{(1−α)ε}
    left = sum(m * max(0, 1 - exp(eps - z)) for z, m in losses(p, q))
    right = sum(m * c * exp((ORDER - 1) * z) for z, m in losses(p, q))
    assert left <= right <= c * exp((ORDER - 1) * tau) * (1 + mpf("1e-14"))
    smallest = min(z for z, _ in losses(p, q))
    assert left > c * exp((ORDER - 1) * smallest)
    assert tr.delta(tr.RDP({3: float(tau) * (1 + 1e-12)}), epsilon="0.3").upper >= left


def ratio(z):
    """max(0, 1 − e^{ε−z})/e^{(α−1)z}."""
    return max(mpf(0), 1 - exp(EPS - z)) / exp((ORDER - 1) * z)


def test_smallest_constant():
    """Row 143. (10)-(12): the supremum is at z = ε − ln(1 − 1/α), by grid."""
    where = EPS - log(1 - 1 / ORDER)
    grid = [mpf(i) / 500 for i in range(-500, 3000)]
    best = max(grid, key=ratio)
    assert abs(best - where) < mpf("0.003")
    assert ratio(best) <= ratio(where)
    assert near(ratio(best), ratio(where), 1e-5)
    assert near(ratio(where), C, 1e-14)
    slope = (ratio(where + mpf("1e-8")) - ratio(where - mpf("1e-8"))) / mpf("2e-8")
    assert abs(slope) < mpf("1e-8")
    assert near(C * exp((ORDER - 1) * mpf("0.4")), cks_delta(3, "0.4", 1), 1e-13)


def test_value_of_the_constant():
    """Rows 144, 145, 146. (13), (15), (16) agree; (14) is printed with its base inverted and gives 0.228."""
    e = exp(EPS)
    thirteen = (ORDER / (ORDER - 1) * e) ** (1 - ORDER) - e * (ORDER / (ORDER - 1) * e) ** -ORDER
    bracket = ORDER / (ORDER - 1) * e - e
    printed = bracket * (ORDER / (ORDER - 1) / e) ** ORDER
    corrected = bracket * ((ORDER - 1) / ORDER / e) ** ORDER
    fifteen = e / (ORDER - 1) * (1 - 1 / ORDER) ** ORDER * exp(-ORDER * EPS)
    assert near(printed, "0.228378290461784", 1e-14)
    for value in (thirteen, corrected, fifteen):
        assert near(value, C, 1e-14)
    tau = mpf("0.4")
    sixteen = fifteen * exp((ORDER - 1) * tau)
    assert near(sixteen, cks_delta(ORDER, tau, EPS), 1e-25)
    assert tr.delta(tr.RDP({3: "0.4"}), epsilon=1).upper <= sixteen * (1 + mpf("1e-12"))
    at = tr.compare(tr.RDP({3: "0.4"}), delta=str(sixteen)[:17])["rdp"].value
    assert near(at, 1, 1e-12)
    assert near(printed / corrected, (ORDER / (ORDER - 1)) ** (2 * ORDER), 1e-25)


def test_corollary_for_one_order():
    """Row 147. (17) inverts (7) exactly; negative values must be clipped at 0."""
    delta = cks_delta(3, "0.4", 1)
    assert near(cks_epsilon(3, "0.4", delta), 1, 1e-25)
    assert cks_epsilon(3, "0.01", "0.9") < 0
    assert tr.epsilon(tr.RDP({3: "0.01"}), delta="0.9").upper == 0
    assert tr.compare(tr.RDP({3: "0.01"}), delta="0.9")["rdp"].value == 0
    assert tr.epsilon(tr.RDP({3: "0.4"}), delta=1).upper == 0


@pytest.mark.parametrize(("delta", "value"), [("0.5", "-0.6911"), ("0.1", "-0.0957")])
def test_corollary_for_zcdp(delta, value):
    """Row 148. (18) at ρ = .001 is negative for large δ: the answer is 0, and never a negative zero."""
    best = zcdp_best("0.001", lambda a, tau: cks_epsilon(a, tau, delta))[1]
    assert near(best, value, 1e-3)
    claim = tr.epsilon(tr.ZCDP("0.001"), delta=delta)
    assert claim.lower == claim.upper == 0
    assert gaussian_delta("1e-20", mpf("0.002") ** mpf("0.5")) < mpf(delta)  # ε = 0 is right for the Gaussian that fits
    for row in tr.compare(tr.ZCDP("0.001"), delta=delta).rows:
        assert row.value >= 0
        assert math.copysign(1, row.value) == 1


def test_corollary_for_zcdp_with_a_positive_answer():
    """Row 148. (18) where it is positive: the infimum over α is the product's zcdp route."""
    best = zcdp_best("0.1", lambda a, tau: cks_epsilon(a, tau, "1e-6"))[1]
    assert near(best, "2.14193892838547366140", 1e-18)
    assert near(tr.compare(tr.ZCDP("0.1"), delta="1e-6")["zcdp"].value, best, 1e-12)


def test_concentrated_not_pure():
    """Row 149. Printed «any ρ-differentially private measurement»: that is another guarantee; it is ρ-zCDP."""
    cdp, pure = tr.delta(tr.ZCDP(2), epsilon=2), tr.delta(tr.Pure(2), epsilon=2)
    best = zcdp_best(2, lambda a, tau: cks_delta(a, tau, 2))[1]
    assert pure.upper == 0
    assert cdp.lower > 0.3  # the Gaussian with ρ = 2: a proof for ρ-DP would not cover it
    assert cdp.upper <= best * (1 + mpf("1e-12"))
    assert encloses(tr.delta(tr.Pure(2), epsilon=1), (exp(mpf(2)) - exp(mpf(1))) / (1 + exp(mpf(2))))


@pytest.mark.parametrize("bad", [math.nan, -1, "-0.5", "nan"])
def test_bad_inputs_are_refused(bad):
    """Row 150. No precondition: whatever is given, a δ or an error; NaN is an error by name."""
    with pytest.raises(tr.BadParameter):
        tr.ZCDP(bad)
    with pytest.raises(tr.BadParameter):
        tr.delta(tr.ZCDP(1), epsilon=bad)


def test_special_inputs():
    """Row 150. ρ = 0 gives δ = 0; huge ρ gives at most 1; huge ε gives a δ near 0."""
    assert tr.delta(tr.ZCDP(0), epsilon=0).upper == 0
    assert tr.delta(tr.ZCDP(0), epsilon=1).upper == 0
    assert tr.epsilon(tr.ZCDP(0), delta="1e-9").upper == 0
    huge = tr.delta(tr.ZCDP("1e300"), epsilon=1)
    assert 0 <= huge.lower <= huge.upper == 1
    assert 0 <= tr.delta(tr.ZCDP(1), epsilon="1e300").upper < 1e-300


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("rho", "order", "delta"),
    [("5", "1.01587513949", "0.983133314814343"), ("0.1", "6.35592074491", "0.00893324577181836")],
)
def test_delta_for_a_given_epsilon(rho, order, delta):
    """Row 151. The code fixes ε and returns δ: Theorem 1.3 with τ = αρ, sound at every α, best at α*."""
    where, best = zcdp_best(rho, lambda a, tau: cks_delta(a, tau, 1))
    assert near(where, order, 1e-8)
    assert near(best, delta, 1e-14)
    assert where >= mpf("1.01")
    truth = gaussian_delta(1, (2 * mpf(rho)) ** mpf("0.5"))
    for a in ("1.001", "1.5", order, "50"):
        assert cks_delta(a, mpf(a) * mpf(rho), 1) >= truth  # any α is sound
    claim = tr.delta(tr.ZCDP(rho), epsilon=1)
    assert near(claim.lower, truth, 1e-12)
    assert truth <= claim.upper <= best * (1 + mpf("1e-12"))
    assert near(tr.compare(tr.ZCDP(rho), delta=delta)["zcdp"].value, 1, 1e-9)
    if rho == "0.1":
        assert near(truth, "0.00318505537833348", 1e-14)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_conservative_rounding():
    """Row 152. Every answer is on the safe side of a 30-digit evaluation, and δ is at most 1."""
    for order, tau, delta in (("1.01", "0.001", "1e-9"), ("7", "0.4", "0.01"), ("300", "3", "1e-9")):
        table = tr.compare(tr.RDP({order: tau}), delta=delta)
        assert mpf(table["rdp-classic"].value) >= mpf(tau) + log(1 / mpf(delta)) / (mpf(order) - 1)
        assert mpf(table["rdp"].value) >= cks_epsilon(order, tau, delta)
    for rho in ("0.001", "0.1", "5", "100"):
        claim = tr.delta(tr.ZCDP(rho), epsilon="0.5")
        assert gaussian_delta("0.5", (2 * mpf(rho)) ** mpf("0.5")) <= claim.upper <= 1
        sharp = zcdp_best(rho, lambda a, tau: cks_epsilon(a, tau, "1e-6"))[1]
        assert mpf(tr.compare(tr.ZCDP(rho), delta="1e-6")["zcdp"].value) >= sharp
    assert tr.delta(tr.ZCDP("100"), epsilon=0).upper <= 1


def test_sources_are_named():
    """Row 153. Printed «[?]»: the theorem is Canonne, Kamath and Steinke's, and the product's claims say so."""
    claim = tr.compare(tr.ZCDP("0.1"), delta="1e-6")["zcdp"].claim
    assert "Canonne" in claim.bibtex()
    assert "2004.00010" in claim.bibtex()
    assert "Canonne" in claim.explain()
    assert "[?]" not in claim.explain()
