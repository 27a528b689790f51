"""«Lecture 11»: CDP recap, Rényi DP, hypothesis testing and f-DP (rows 83-103)."""

import math
from fractions import Fraction

import pytest
from mpmath import cosh, gamma, tanh
from textbook import (
    Phi,
    cks_epsilon,
    encloses,
    exp,
    gaussian_delta,
    hockey_stick,
    inf,
    kl,
    log,
    mpf,
    near,
    normal,
    numbers,
    quad,
    renyi,
    sqrt,
)

import tightrope as tr

P, Q, R = ("0.5", "0.3", "0.2"), ("0.2", "0.3", "0.5"), ("0.6", "0.1", "0.3")


def test_losses_add_up():
    """Row 83. The loss of a composition is the sum of the losses, given the past when chosen adaptively."""
    p, q, r = numbers(P), numbers(Q), numbers(R)
    losses = [(log(a / b) + log(c / d), a * c) for a, b in zip(p, q, strict=True) for c, d in zip(p, r, strict=True)]
    back = [(log(b / a) + log(d / c), b * d) for a, b in zip(p, q, strict=True) for c, d in zip(p, r, strict=True)]
    for eps in (0, mpf("0.5"), mpf("1.5")):
        truth = max(sum(m * max(0, 1 - exp(eps - x)) for x, m in law) for law in (losses, back))
        assert encloses(tr.delta(tr.Table(P, Q) + tr.Table(P, R), epsilon=float(eps)), truth)
    branches = [(P, R), (Q, R), (R, Q)]  # adaptive: the second table depends on the first outcome
    joint = [[Fraction(a) * Fraction(x) for a, b in zip(first, branches, strict=True) for x in b[i]]
             for i, first in enumerate((P, Q))]  # fmt: skip
    conditional = sum(
        mpf(a) * mpf(x) * max(0, 1 - exp(mpf("0.5") - log(mpf(a) / mpf(c)) - log(mpf(x) / mpf(y))))
        for a, c, b in zip(P, Q, branches, strict=True)
        for x, y in zip(*b, strict=True)
    )
    assert near(
        hockey_stick(*[[mpf(z.numerator) / z.denominator for z in row] for row in joint], mpf("0.5")), conditional
    )
    assert tr.delta(tr.Table(*joint), epsilon="0.5").upper >= conditional * (1 - mpf("1e-14"))
    assert tr.pure(tr.LeakyInput("0.1") + tr.Laplace(1)).lower == math.inf  # +∞ is a value of the loss


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_the_central_limit_is_no_bound():
    """Row 83. «CLT says: L ≈ Gaussian» is a heuristic: for a sampled Gaussian its δ is 18 times too small."""
    run = tr.Gaussian(1).poisson("0.01") * 1000
    mu = mpf("0.01") * sqrt(1000 * (exp(mpf(1)) - 1))
    assert near(mu, "0.41452163133653776010", 1e-19)
    guess, truth = gaussian_delta(2, mu), mpf("2.6655719247617912e-6")  # by Bromwich inversion
    assert near(guess, "1.489e-7", 1e-3)
    assert 17 < truth / guess < 19
    claim = tr.delta(run, epsilon=2)
    assert claim.lower <= truth <= claim.upper
    row = tr.compare(run, delta="2.665e-6")["clt"]
    assert row.kind == "estimate"
    assert row.claim is None
    assert row.value < 2  # the true ε at this δ is 2
    assert tr.compare(run, delta="2.665e-6").best.value >= 2


def gaussian_moment(rho, lam):
    """E e^{λL} for L ~ N(ρ, 2ρ), by integrating."""
    spread = sqrt(2 * rho)
    centre = rho + lam * 2 * rho
    edges = [centre + i * spread for i in (-14, -5, -1, 1, 5, 14)]
    return quad(lambda x: normal(x, rho, spread) * exp(lam * x), edges)


@pytest.mark.parametrize(
    ("rho", "moment", "printed"), [("2", "162754.79", "20.0855"), ("0.1", "1.82211880039051", "1.14e26")]
)
def test_zcdp_moment_definition(rho, moment, printed):
    """Row 84. Printed exp(λ(λ+1)/ρ): violated by the Gaussian at ρ = 2, vacuous at 0.1; right is exp(λ(λ+1)ρ)."""
    r, lam = mpf(rho), mpf(2)
    truth, wrong, right = gaussian_moment(r, lam), exp(lam * (lam + 1) / r), exp(lam * (lam + 1) * r)
    assert near(truth, moment, 1e-7)
    assert near(wrong, printed, 1e-2)
    assert near(truth, right, 1e-15)
    assert (truth > wrong) == (rho == "2")
    assert near(exp(2 * mpf(tr.renyi(tr.ZCDP(rho), order=3).upper)), right, 1e-12)


@pytest.mark.parametrize("lam", ["-2", "0", "0.5", "3"])
def test_gaussian_moment_generating_function(lam):
    """Row 85. E e^{λX} = e^{λ²/2} for a standard normal X, at every real λ."""
    lam = mpf(lam)
    value = quad(lambda x: normal(x) * exp(lam * x), [lam - 14, lam - 4, lam, lam + 4, lam + 14])
    assert near(value, exp(lam**2 / 2), 1e-15)


def test_subgaussian_properties_are_equivalent():
    """Row 86. Tails, moments and moment generating function agree up to constants, for four centred variables."""
    e = mpf(1)
    p = exp(e) / (1 + exp(e))
    variables = {  # name: (E e^{λX}, Pr[|X| ≥ t], E|X|^p, K₃ with E e^{λX} ≤ e^{K₃²λ²})
        "sign": (cosh, lambda t: mpf(t <= 1), lambda _: mpf(1), sqrt(mpf(1) / 2)),
        "normal": (
            lambda s: exp(s**2 / 2), lambda t: 2 * Phi(-t),
            lambda k: 2 ** (k / 2) * gamma((k + 1) / 2) / gamma(mpf(1) / 2), sqrt(mpf(1) / 2),
        ),
        "uniform": (
            lambda s: (exp(s) - exp(-s)) / (2 * s), lambda t: max(mpf(0), 1 - t),
            lambda k: 1 / (k + 1), sqrt(mpf(1) / 6),
        ),
        "centred loss": (  # of randomized response: 2ε(1−p) with chance p, −2εp otherwise
            lambda s: p * exp(2 * s * (1 - p)) + (1 - p) * exp(-2 * s * p),
            lambda t: p * (t <= 2 * (1 - p)) + (1 - p) * (t <= 2 * p),
            lambda k: p * (2 * (1 - p)) ** k + (1 - p) * (2 * p) ** k, sqrt(mpf(1) / 2),
        ),
    }  # fmt: skip
    for mgf, tail, moment, k3 in variables.values():
        for s in (mpf(x) / 4 for x in range(-20, 21) if x):
            assert mgf(s) <= exp(k3**2 * s**2) * (1 + mpf("1e-25"))
        k1, k2 = 2 * k3, 3 * k3  # (iii) ⇒ (i) by Markov, (i) ⇒ (ii) by integrating the tail
        assert all(tail(mpf(t) / 8) <= 2 * exp(-((mpf(t) / 8) ** 2) / k1**2) for t in range(41))
        assert all(moment(mpf(k)) ** (1 / mpf(k)) <= k2 * sqrt(mpf(k)) for k in range(1, 40))
        assert all(k * gamma(mpf(k) / 2) * k1**k <= (k2 * 2 * sqrt(mpf(k))) ** k for k in range(1, 40))
        # (ii) ⇒ (iii)
        found = max(moment(mpf(k)) ** (1 / mpf(k)) / sqrt(mpf(k)) for k in range(1, 40))
        assert all(mgf(s) <= exp((4 * found * s) ** 2) for s in (mpf(x) / 4 for x in range(-20, 21) if x))
    loss = [2 * (1 - p), -2 * p]
    assert near(tr.renyi(tr.Pure(1), order=3).upper * 2,
                log(variables["centred loss"][0](2)) + 2 * (2 * p - 1))  # fmt: skip
    assert near(p * loss[0] + (1 - p) * loss[1], 0)


def test_which_lambda_in_markov():
    """Row 87. Printed λ = t/2 gives the useless exponent +2 at K₃ = t = 2; λ = t/2K₃² gives −t²/4K₃² = −1/4."""
    k3, t = mpf(2), mpf(2)

    def exponent(lam):
        return k3**2 * lam**2 - lam * t

    assert exponent(t / 2) == 2
    best = t / (2 * k3**2)
    assert exponent(best) == -mpf(1) / 4 == -(t**2) / (4 * k3**2)
    assert all(exponent(best + d) > exponent(best) for d in (-0.1, 0.1, 0.75))
    assert 2 * Phi(-t / sqrt(2 * k3**2)) <= 2 * exp(exponent(best))  # X ~ N(0, 2K₃²) has exactly this MGF


@pytest.mark.parametrize(("eps", "tight"), [("1", "0.462117157260010"), ("0.1", None), ("3", None)])
def test_pure_dp_as_zcdp(eps, tight):
    """Row 88. ε-DP is ε²/2-zCDP; tight is ε·tanh(ε/2), the mean loss of randomized response, reached as α → 1."""
    e = mpf(eps)
    p = exp(e) / (1 + exp(e))
    rho = e * tanh(e / 2)
    assert near(rho, kl([p, 1 - p], [1 - p, p]), 1e-25)
    assert tight is None or near(rho, tight, 1e-14)
    assert encloses(tr.zcdp(tr.Pure(eps)), rho)
    assert rho < e**2 / 2
    for a in ("1.00001", "1.5", "4", "100"):
        assert renyi([p, 1 - p], [1 - p, p], a) <= rho * mpf(a)


@pytest.mark.parametrize(("rho", "delta"), [("0.1", "1e-6"), ("1", "1e-3"), ("0.01", "0.2")])
def test_zcdp_to_approximate(rho, delta):
    """Row 89. ρ + 2√(ρ ln(1/δ)), as row 38: valid for the Gaussian that fits, not tight."""
    classic = mpf(rho) + 2 * sqrt(mpf(rho) * log(1 / mpf(delta)))
    table = tr.compare(tr.ZCDP(rho), delta=delta)
    assert near(table["zcdp-classic"].value, classic, 1e-13)
    assert gaussian_delta(classic, sqrt(2 * mpf(rho))) < mpf(delta)
    assert tr.epsilon(tr.ZCDP(rho), delta=delta).upper < classic


def test_gaussian_is_zcdp():
    """Row 90. ρ = Δ²/2σ²."""
    claim = tr.zcdp(tr.Gaussian(sigma="0.8", sensitivity="1.2"))
    assert encloses(claim, mpf("1.44") / (2 * mpf("0.64")))


def test_composition_of_zcdp():
    """Row 91. k times ε²/2 is kε²/2; the product uses the tight value per step and stays below."""
    assert near(tr.zcdp(tr.ZCDP("0.005") * 50).upper, "0.25", 1e-14)
    pure = tr.zcdp(tr.Pure("0.1") * 50)
    assert encloses(pure, 50 * mpf("0.1") * tanh(mpf("0.05")))
    assert pure.upper < 0.25


def test_advanced_composition_through_zcdp():
    """Row 92. ε√(2k ln(1/δ)) + ε²k/2 = 3.9669 for ε = .1, k = 50, δ = 1e-6, the same as row 89 at ρ = kε²/2."""
    e, k, ell = mpf("0.1"), 50, log(mpf(10) ** 6)
    value = e * sqrt(2 * k * ell) + e**2 * k / 2
    assert near(value, "3.96692218884984", 1e-14)
    assert near(value, e**2 * k / 2 + 2 * sqrt(e**2 * k / 2 * ell), 1e-25)
    assert near(tr.compare(tr.ZCDP("0.005") * 50, delta="1e-6")["zcdp-classic"].value, value, 1e-13)
    assert tr.epsilon(tr.Pure("0.1") * 50, delta="1e-6").upper < value


@pytest.mark.parametrize("order", ["1.5", "2", "9"])
def test_renyi_by_moments(order):
    """Row 93. E e^{(α−1)L} ≤ e^{(α−1)ε} is the same as D_α ≤ ε."""
    a, p, q = mpf(order), numbers(P), numbers(R)
    moments = [sum(x * (x / y) ** (a - 1) for x, y in zip(*pair, strict=True)) for pair in ((p, q), (q, p))]
    assert encloses(tr.renyi(tr.Table(P, R), order=order), log(max(moments)) / (a - 1))


def test_all_orders_give_zcdp():
    """Row 94. (α, αρ)-RDP for all α is ρ-zCDP, and conversely; finitely many orders are not."""
    for a in ("1.01", 3, 500):
        assert near(tr.renyi(tr.ZCDP("0.3"), order=a).upper, mpf("0.3") * mpf(a), 1e-14)
    assert encloses(tr.zcdp(tr.ZCDP("0.3")), mpf("0.3"))
    with pytest.raises(tr.Unsupported):
        tr.zcdp(tr.RDP({2: "0.6", 100: "30"}))


def test_unequal_variances():
    """Row 95. N(1, 1.1²) against N(0, 1) has Rényi DP below α = 5.7619 and no zCDP."""
    pair = tr.GaussianPair(1, "1.1", 0, 1)
    limit = mpf("1.21") / (mpf("1.21") - 1)
    assert near(limit, "5.76190476", 1e-8)
    integral = quad(lambda x: normal(x, 1, mpf("1.1")) ** 3 / normal(x) ** 2, [-60, -20, -5, 0, 3, 8, 20, 60])
    assert near(log(integral) / 2, "2.62707851060782", 1e-14)
    assert encloses(tr.renyi(pair, order=3), log(integral) / 2)
    assert tr.renyi(pair, order="5.7619").upper < math.inf
    assert tr.renyi(pair, order="5.762").lower == math.inf
    assert tr.zcdp(pair).lower == math.inf
    assert tr.epsilon(pair, delta="1e-5").upper < math.inf


def test_the_logarithm_is_missing():
    """Row 96. Printed without log, D_α(P‖P) = 1/(α−1) ≠ 0, and 2.718 for N(1,1)‖N(0,1) at α = 2, where it is 1."""
    moment = quad(lambda x: normal(x, 1) ** 2 / normal(x), [-14, -4, 0, 2, 6, 14])
    assert near(moment, exp(mpf(1)), 1e-15)
    assert near(log(moment), 1, 1e-15)
    assert tr.renyi(tr.Gaussian(1), order=2).upper == 1
    p = numbers(P)
    for a in (mpf(2), mpf("1.1")):
        assert near(sum(y * (x / y) ** a for x, y in zip(p, p, strict=True)) / (a - 1), 1 / (a - 1), 1e-25)
    assert tr.renyi(tr.Table(P, P), order=2).upper == 0


def test_only_neighbours():
    """Row 97. Printed «∀ x, x'»: for data sets that differ in many records no ε holds; it is for neighbours."""
    bounds = [tr.renyi(tr.Gaussian(1).group(k), order=2).lower for k in (1, 10, 100, 1000)]
    assert bounds == [1, 100, 10**4, 10**6]
    assert tr.renyi(tr.Gaussian(1), order=2).upper == 1


def test_renyi_to_approximate():
    """Row 98. ε + ln(1/δ)/(α−1), as row 19."""
    for order, tau, delta in ((3, "0.4", "0.01"), (20, "1", "1e-8")):
        table = tr.compare(tr.RDP({order: tau}), delta=delta)
        classic = mpf(tau) + log(1 / mpf(delta)) / (order - 1)
        assert near(table["rdp-classic"].value, classic, 1e-13)
        assert near(table["rdp"].value, cks_epsilon(order, tau, delta), 1e-12)
        assert table.best.value < classic


def best_missed(p, q, fpr):
    """The least false-negative rate of a randomized test of p against q, with false-positive rate fpr under q."""
    order = sorted(zip(p, q, strict=True), key=lambda ab: -(inf if ab[1] == 0 else ab[0] / ab[1]))
    caught, left = mpf(0), mpf(fpr)
    for a, b in order:
        share = mpf(1) if b <= left else left / b
        caught, left = caught + share * a, left - share * b
        if share < 1:
            break
    return 1 - caught


def roc(mechanism, rows, eps=None):
    for fpr in ("0", "0.05", "0.3", "0.7", "0.95"):
        claim = tr.tradeoff(mechanism, fpr=fpr)
        truth = min(best_missed(*rows, fpr), best_missed(*reversed(rows), fpr))
        assert mpf(claim.lower) - mpf("1e-25") <= truth <= mpf(claim.upper) + mpf("1e-25")
        assert claim.upper - claim.lower < 1e-9
    if eps is not None:
        assert tr.pure(mechanism).upper == eps


def test_randomized_response_table():
    """Row 100. Rows e^ε/(1+e^ε), 1/(1+e^ε) sum to 1; ROC curve, ε-DP."""
    p = exp(mpf(1)) / (1 + exp(mpf(1)))
    rows = [[p, 1 - p], [1 - p, p]]
    assert all(near(sum(row), 1, 1e-28) for row in rows)
    roc(tr.RandomizedResponse(epsilon=1), rows, eps=1)
    assert encloses(tr.delta(tr.RandomizedResponse(epsilon=1), epsilon="0.5"), hockey_stick(*rows, mpf("0.5")))


def test_leaky_input_table():
    """Row 101. (0, δ)-DP with infinite Rényi divergence and trade-off max(0, 1 − δ − fpr)."""
    d = mpf("0.1")
    rows = [[1 - d, mpf(0), d, mpf(0)], [1 - d, mpf(0), mpf(0), d]]
    roc(tr.LeakyInput("0.1"), rows)
    for eps in (0, 1, 50):
        assert encloses(tr.delta(tr.LeakyInput("0.1"), epsilon=eps), d)
    assert tr.renyi(tr.LeakyInput("0.1"), order="1.01").lower == math.inf
    for fpr in ("0", "0.4", "0.95"):
        claim = tr.tradeoff(tr.LeakyInput("0.1"), fpr=fpr)
        truth = max(mpf(0), mpf("0.9") - mpf(fpr))
        assert mpf(claim.lower) - mpf("1e-15") <= truth <= claim.upper
        assert claim.upper - claim.lower < 1e-9


def test_leaky_response_table():
    """Row 102. One entry lacks its (1 − δ): the printed row sums to 1.0731; corrected it is the (τ, δ) extreme."""
    e, d = exp(mpf(1)), mpf("0.1")
    first = [(1 - d) * e / (1 + e), (1 - d) / (1 + e), d, mpf(0)]
    printed = [(1 - d) / (1 + e), e / (1 + e), mpf(0), d]
    second = [(1 - d) / (1 + e), (1 - d) * e / (1 + e), mpf(0), d]
    assert near(sum(first), 1, 1e-28)
    assert near(sum(printed), "1.0731058578630", 1e-13)
    assert near(sum(printed), 1 + d * e / (1 + e), 1e-25)
    assert near(sum(second), 1, 1e-28)
    triple = ("0.675", "0.225", "0.1", 0)  # the same table with e^τ = 3
    with pytest.raises(tr.BadParameter) as refused:
        tr.Table(triple, ("0.225", "0.75", 0, "0.1"))  # as printed: not a distribution
    assert refused.value.name == "q"
    right = tr.Table(triple, ("0.225", "0.675", 0, "0.1"))
    assert encloses(tr.delta(right, epsilon="0.5"), mpf("0.1") + mpf("0.675") - exp(mpf("0.5")) * mpf("0.225"))
    leaky = tr.LeakyRandomizedResponse(1, "0.1")
    roc(leaky, [first, second])
    for eps in ("0", "0.5", "1", "2"):
        assert encloses(tr.delta(leaky, epsilon=eps), hockey_stick(first, second, mpf(eps)))
        assert encloses(tr.delta(tr.Approx(1, "0.1"), epsilon=eps), hockey_stick(first, second, mpf(eps)))


def test_laplace_mechanism():
    """Row 103. Lap(0, 1/ε) against Lap(1, 1/ε): δ(ε') = 1 − e^{(ε'−ε)/2}, and its ROC curve."""
    eps = mpf(1)

    def density(x, centre):
        return eps / 2 * exp(-eps * abs(x - centre))

    for other in ("0", "0.3", "0.9"):
        cut = (1 - mpf(other) / eps) / 2  # the loss exceeds ε' to the left of this
        integral = quad(lambda x, o=other: density(x, 0) - exp(mpf(o)) * density(x, 1), [-inf, 0, cut])
        formula = 1 - exp((mpf(other) - eps) / 2)
        assert near(integral, formula, 1e-15)
        assert encloses(tr.delta(tr.Laplace(1), epsilon=other), formula)
    assert tr.pure(tr.Laplace(1)).upper == 1
    for fpr, missed in (
        ("0.1", "0.72817181715409547646"),
        ("0.3", "0.30656620097620193466"),
        ("0.7", "0.11036383235143269648"),
    ):
        claim = tr.tradeoff(tr.Laplace(1), fpr=fpr)
        assert claim.lower <= mpf(missed) <= claim.upper
        assert claim.upper - claim.lower < 1e-9
