"""The blog post «Rényi Differential Privacy» (rows 104-133)."""

import math
from fractions import Fraction

import pytest
from mpmath import diff
from textbook import (
    Phi,
    cks_delta,
    encloses,
    exp,
    gaussian_delta,
    inf,
    kl,
    least,
    log,
    max_divergence,
    mpf,
    near,
    normal,
    numbers,
    quad,
    renyi,
    sqrt,
    worst_event,
)

import tightrope as tr

P, Q = ("0.45", "0.35", "0.2"), ("0.3", "0.3", "0.4")


def test_pure_definition():
    """Row 104. Pr(f(D)∈S) ≤ e^ε Pr(f(D')∈S) for every S and both orders, with the ε the product states."""
    p, q = numbers(P), numbers(Q)
    claim = tr.pure(tr.Table(P, Q))
    assert worst_event(p, q, mpf(claim.upper)) == worst_event(q, p, mpf(claim.upper)) == 0
    below = mpf(claim.lower) - mpf("1e-9")
    assert max(worst_event(p, q, below), worst_event(q, p, below)) > 0


@pytest.mark.parametrize(("sensitivity", "eps"), [("1", "0.5"), ("3", "2"), ("0.25", "0.1")])
def test_laplace_mechanism(sensitivity, eps):
    """Row 105. Lap(Δ₁/ε) is ε-DP and no better."""
    scale = Fraction(sensitivity) / Fraction(eps)
    claim = tr.pure(tr.Laplace(scale=scale, sensitivity=sensitivity))
    assert encloses(claim, mpf(eps))
    delta, s, b = mpf(sensitivity), mpf("0.99") * mpf(eps), mpf(sensitivity) / mpf(eps)
    tail = mpf(1) / 2 - exp(s) * exp(-delta / b) / 2  # the event «at or beyond the true answer»
    assert tail > 0
    assert tr.delta(tr.Laplace(scale=scale, sensitivity=sensitivity), epsilon=float(s)).lower >= tail


def test_l1_sensitivity():
    """Row 106. The largest ‖f(x) − f(x')‖₁ over neighbours: counts in a histogram and a sum, by enumeration."""
    universe = range(4)

    def histogram(x):
        return [x.count(v) for v in universe]

    data = [(a, b) for a in universe for b in universe]
    replace = max(
        sum(abs(i - j) for i, j in zip(histogram(x), histogram(y), strict=True))
        for x in data for y in data if sum(a != b for a, b in zip(x, y, strict=True)) == 1
    )  # fmt: skip
    assert replace == 2
    total = max(abs(sum(x) - sum(y)) for x in data for y in data if sum(a != b for a, b in zip(x, y, strict=True)) == 1)
    assert total == 3
    assert tr.pure(tr.Laplace(scale=4, sensitivity=replace)).upper == 0.5
    assert tr.pure(tr.Laplace(scale=4, sensitivity=total)).upper == 0.75


@pytest.mark.parametrize("eps", ["0", "0.2", "0.5", "1"])
def test_approximate_definition(eps):
    """Row 107. Pr(S) ≤ e^ε Pr'(S) + δ: the least δ is the worst event's, found by trying every event both ways."""
    p, q = numbers(P), numbers(Q)
    truth = max(worst_event(p, q, mpf(eps)), worst_event(q, p, mpf(eps)))
    assert encloses(tr.delta(tr.Table(P, Q), epsilon=eps), truth)


def test_delta_is_not_a_chance_of_failure():
    """Row 108. «ε-DP except with probability δ» is stronger: at μ = ε = 1, δ = 0.127 but Pr[L > 1] = 0.309."""
    failure = Phi(-mpf(1) / 2)  # L ~ N(1/2, 1) exceeds 1
    delta = gaussian_delta(1, 1)
    assert near(failure, "0.308537538725987", 1e-14)
    assert near(delta, "0.126936737506644", 1e-14)
    claim = tr.delta(tr.Gaussian(1), epsilon=1)
    assert encloses(claim, delta)
    assert claim.upper < failure / 2


@pytest.mark.parametrize(("delta", "fails"), [("1e-5", "8.4198"), ("0.1", "5.7426"), ("1e-10", "9.8499")])
def test_classic_gaussian(delta, fails):
    """Row 109. σ = √(2 ln(1.25/δ))Δ/ε without its condition ε < 1: it really fails from ε ≈ 8.42 at δ = 1e-5."""

    def true_delta(eps):
        sigma = sqrt(2 * log(mpf("1.25") / mpf(delta))) / mpf(eps)
        return tr.delta(tr.Gaussian(sigma=float(sigma)), epsilon=eps)

    assert true_delta("0.5").upper <= float(delta)
    assert true_delta("0.999").upper <= float(delta)
    assert true_delta(str(Fraction(fails) - Fraction("0.002"))).upper <= float(delta)
    assert true_delta(str(Fraction(fails) + Fraction("0.002"))).lower > float(delta)
    if delta == "1e-5":
        assert near(true_delta("10").upper, "2.265374365e-5", 1e-9)
    needed = tr.calibrate(lambda sigma: tr.Gaussian(sigma), epsilon=10, delta=delta)
    assert needed.claim.upper <= 10  # calibrated instead of guessed


def test_gaussian_is_not_pure():
    """Row 110. Its loss is unbounded."""
    assert tr.pure(tr.Gaussian(1)).lower == math.inf
    assert tr.pure(tr.Gaussian(10**6)).lower == math.inf
    for eps in (1, 10, 30):
        assert encloses(tr.delta(tr.Gaussian(1), epsilon=eps), gaussian_delta(eps, 1), 1e-9)
        assert tr.delta(tr.Gaussian(1), epsilon=eps).lower > 0


def centred(p, q):
    """The centred loss of a finite pair as (value, mass)."""
    mean = kl(p, q)
    return [(log(a / b) - mean, a) for a, b in zip(p, q, strict=True)]


def subgaussian_standard(law):
    """sup over λ of √(2 ln E e^{λX})/|λ| on a grid: the least τ, from below."""
    grid = [s * mpf(2) ** (mpf(i) / 4) for i in range(-40, 25) for s in (1, -1)]
    return max(sqrt(max(2 * log(sum(m * exp(s * x) for x, m in law)), 0)) / abs(s) for s in grid)


def test_subgaussian():
    """Rows 111, 112. E e^{λX} ≤ e^{λ²τ²/2} forces EX = 0; the least τ is the standard, 1 for a sign."""
    sign = [(mpf(1), mpf(1) / 2), (mpf(-1), mpf(1) / 2)]
    assert mpf("0.9999") < subgaussian_standard(sign) <= 1
    shifted = [(x + mpf("0.01"), m) for x, m in sign]
    lam = mpf("0.001")
    assert sum(m * exp(lam * x) for x, m in shifted) > exp(lam**2 * 4 / 2)  # at τ = 2, for a mean of 0.01
    e = mpf(1)
    p = exp(e) / (1 + exp(e))
    tau = subgaussian_standard(centred([p, 1 - p], [1 - p, p]))
    assert sqrt(4 * e**2 * p * (1 - p)) < tau < e  # between the standard deviation and Hoeffding's ε
    for lam in (mpf(-3), mpf(2)):
        moment = quad(lambda x, s=lam: normal(x, 0, mpf("0.5")) * exp(s * x), [-9, -3, 0, 3, 9])
        assert near(moment, exp(lam**2 * mpf("0.25") / 2), 1e-15)
    assert tr.gdp(tr.Gaussian(2)).upper == 0.5  # the standard of its centred loss


def test_loss_and_its_mean():
    """Rows 113, 114. L = ln(p/q) under P has mean KL(P‖Q): the slope of K at 0."""
    p, q = numbers(P), numbers(Q)
    mean = sum(a * log(a / b) for a, b in zip(p, q, strict=True))
    back = sum(b * log(b / a) for a, b in zip(p, q, strict=True))
    close = tr.renyi(tr.Table(P, Q), order="1.0000001")
    assert near(close.upper, max(mean, back), 1e-6)
    assert near(mean, kl(p, q), 1e-25)
    assert encloses(tr.zcdp(tr.Laplace(2)), quad(
        lambda x: exp(-abs(x) / 2) / 4 * (abs(x - 1) - abs(x)) / 2, [-inf, 0, 1, inf]))  # fmt: skip


@pytest.mark.parametrize("eps", ["0.5", "1", "3"])
def test_subgaussian_divergence(eps):
    """Rows 115, 116. ε-DP is (ε·tanh(ε/2), ε)-CDP: mean at most μ and the centred loss τ-subgaussian."""
    e = mpf(eps)
    p = exp(e) / (1 + exp(e))
    pair = [p, 1 - p], [1 - p, p]
    assert near(kl(*pair), mpf(tr.zcdp(tr.Pure(eps)).upper), 1e-13)
    assert subgaussian_standard(centred(*pair)) <= e
    # What follows from (μ, τ)-CDP alone is (μ − τ²/2, τ²/2)-zCDP; the product converts at once.
    stated = tr.CDP("0.3", "0.7")
    for order in (2, 9):
        assert near(tr.renyi(stated, order=order).upper, mpf("0.055") + mpf("0.245") * order, 1e-13)
    zcdp = tr.ZCDP("0.245", xi="0.055")
    assert tr.epsilon(stated, delta="1e-6").upper == tr.epsilon(zcdp, delta="1e-6").upper


def test_mean_concentration_does_not_compose_adaptively():
    """Row 116. (μ, τ)-CDP is fragile: a coin, then nothing or N(0,1) against N(3,1): variance 9.5625 > τ² = 9."""
    mean = mpf(9) / 2 / 2
    second = (mpf(9) + (mpf(9) / 2) ** 2) / 2
    assert second - mean**2 == mpf("9.5625")
    both = tr.renyi(tr.CDP("4.5", 3), order=4)
    mixture = log((1 + exp(3 * mpf(18))) / 2) / 3  # D_4 of the mixture: half 1, half e^{3·4·9/2}
    assert mixture <= both.upper  # so a certificate must go through Rényi curves, and does


def test_tail_of_the_loss():
    """Row 117. Pr(L ≥ μ + tτ) ≤ e^{−t²/2}; at t = 2 for the Gaussian 0.0228 ≤ 0.1353."""
    assert near(Phi(-2), "0.0228", 3e-3)
    assert near(exp(mpf(-2)), "0.1353", 1e-3)
    for t in (mpf(0), mpf(1), mpf(2), mpf(5)):
        assert Phi(-t) <= exp(-(t**2) / 2)
    mu = mpf(tr.zcdp(tr.Gaussian(2)).upper)  # E L = μ_G²/2 is the CDP mean, τ = μ_G
    assert mu == mpf("0.5") ** 2 / 2


def test_all_moments_or_one():
    """Row 118. zCDP and CDP bound every order, RDP the orders stated and those below."""
    for order in (2, 50, 10**6):
        assert tr.renyi(tr.ZCDP("0.1"), order=order).upper < math.inf
        assert tr.renyi(tr.CDP("0.1", "0.3"), order=order).upper < math.inf
    one = tr.RDP({8: "0.4"})
    assert near(tr.renyi(one, order=8).upper, "0.4", 1e-15)
    assert near(tr.renyi(one, order=3).upper, "0.4", 1e-15)
    assert tr.renyi(one, order=9).upper == math.inf
    with pytest.raises(tr.Unsupported):
        tr.zcdp(one)


def test_divergences_of_three_orders():
    """Rows 119, 120. (1) is the Rényi divergence with its logarithm, and D₁ the KL divergence."""
    p, q = numbers(P), numbers(Q)
    for order in ("1.25", "3", "12"):
        literal = [log(sum(b * (a / b) ** mpf(order) for a, b in zip(*r, strict=True))) / (mpf(order) - 1)
                   for r in ((p, q), (q, p))]  # fmt: skip
        assert encloses(tr.renyi(tr.Table(P, Q), order=order), max(literal))
    assert near(renyi(p, q, 1 + mpf("1e-10")), kl(p, q), 1e-9)
    assert near(tr.renyi(tr.Table(P, Q), order="1.0000000001").upper, max(kl(p, q), kl(q, p)), 1e-9)


def test_order_infinity_over_the_wrong_support():
    """Rows 121, 122. Printed sup over supp(Q): −0.693 where the truth is ∞; over supp(P) it is ε-DP."""
    half = mpf(1) / 2
    printed = max(log(a / b) for a, b in zip([half, half], [mpf(1), mpf(0)], strict=True) if b > 0)
    assert near(printed, "-0.693147180559945", 1e-14)
    assert max_divergence([half, half], [mpf(1), mpf(0)]) == inf
    bad = tr.Table(("1/2", "1/2"), (1, 0))
    assert tr.renyi(bad, order=math.inf).lower == math.inf
    assert encloses(tr.delta(bad, epsilon=100), mpf("0.5"))
    p, q = numbers(P), numbers(Q)
    eps = max(max_divergence(p, q), max_divergence(q, p))
    assert encloses(tr.renyi(tr.Table(P, Q), order=math.inf), eps)
    assert max(worst_event(p, q, eps), worst_event(q, p, eps)) < mpf("1e-28")


def test_renyi_definition():
    """Row 123. (α, ε)-RDP is D_α ≤ ε, checked at the boundary."""
    p, q = numbers(P), numbers(Q)
    truth = max(renyi(p, q, 5), renyi(q, p, 5))
    claim = tr.renyi(tr.Table(P, Q), order=5)
    assert claim.lower <= truth <= claim.upper
    assert claim <= float(truth) * (1 + 1e-12)
    assert not claim <= float(truth) * (1 - 1e-12)


def test_composition():
    """Row 124. (X, Y) with Y ← g(X, D) is (α, ε₁ + ε₂)-RDP, by enumeration of an adaptive g."""
    p, q = numbers(P), numbers(Q)
    second = [(p, q), (q, p), ([mpf("0.6"), mpf("0.2"), mpf("0.2")], p)]
    for order in (2, 7):
        joint = [[a * x for a, g in zip(row, second, strict=True) for x in g[i]] for i, row in enumerate((p, q))]
        bound = renyi(p, q, order) + max(renyi(*g, order) for g in second)
        assert renyi(*joint, order) <= bound
        assert near(tr.renyi(tr.RDP({order: "0.2"}) + tr.RDP({order: "0.3"}), order=order).upper, "0.5", 1e-14)


def test_renyi_to_approximate():
    """Row 125. ε + ln(1/δ)/(α−1), as row 19; valid for any mechanism that fits."""
    order, eps, delta = 6, tr.renyi(tr.Laplace(1), order=6).upper, "1e-4"
    row = tr.compare(tr.RDP({order: eps}), delta=delta)["rdp-classic"]
    assert near(row.value, mpf(eps) + log(mpf(10) ** 4) / 5, 1e-13)
    assert tr.epsilon(tr.Laplace(1), delta=delta).upper <= row.value


def log_moment(lam):
    """α_M(λ) of the Gaussian mechanism with μ = 1."""
    return lam * (lam + 1) / 2


def test_moments_accountant():
    """Rows 127, 128. Both are the classic conversion at its best order; a factor λ^λ/(1+λ)^{1+λ} is left lying."""
    ell = log(mpf(10) ** 5)
    classic = least(lambda lam: (ell + log_moment(lam)) / lam, "0.01", 100)[1]
    table = tr.compare(tr.Gaussian(1), delta="1e-5")
    assert near(table["rdp-classic"].value, classic, 1e-9)
    assert table["rdp"].value < classic
    chernoff = least(lambda lam: exp(log_moment(lam) - 2 * lam), "0.01", 100)[1]
    assert near(chernoff, exp(-mpf(9) / 8), 1e-20)
    factor = least(lambda s: exp(log_moment(s) - 2 * s) * s**s / (1 + s) ** (1 + s), "0.01", 100)[1]
    order = least(lambda lam: cks_delta(1 + lam, (1 + lam) / 2, 2), "0.01", 100)[1]
    assert near(factor, order, 1e-20)
    assert near(factor, "0.0542930", 1e-6)
    assert near(gaussian_delta(2, 1), "0.0209236", 3e-6)
    assert encloses(tr.delta(tr.Gaussian(1), epsilon=2), gaussian_delta(2, 1))
    claim = tr.delta(tr.ZCDP("0.5"), epsilon=2)  # knowing only the moments
    assert gaussian_delta(2, 1) <= claim.upper <= factor * (1 + mpf("1e-12")) < chernoff


def test_supremum_over_neighbours():
    """Row 129. The curve is a supremum over ordered neighbours: smaller shifts and the reverse direction stay below."""
    for order in (2, 16):
        worst = tr.renyi(tr.Laplace(1, sensitivity=1), order=order).upper
        assert all(tr.renyi(tr.Laplace(1, sensitivity=s), order=order).upper <= worst for s in ("0.1", "0.5", "0.99"))
    pair = tr.GaussianPair(1, "1.1", 0, 1)
    assert near(tr.renyi(pair, order=3).upper, "2.62707851060781728570", 1e-14)
    reverse = quad(lambda x: normal(x) ** 3 / normal(x, 1, mpf("1.1")) ** 2, [-60, -20, -5, 0, 5, 20, 60])
    assert near(log(reverse) / 2, "0.94106566477482568353", 1e-14)
    assert tr.renyi(tr.GaussianPair(0, 1, 1, "1.1"), order=3).upper == tr.renyi(pair, order=3).upper


@pytest.mark.parametrize("lam", ["0.5", "1", "6"])
def test_moment_identity(lam):
    """Row 130. E_P[(P/Q)^λ] = E_Q[(P/Q)^{λ+1}]."""
    p, q, s = numbers(P), numbers(Q), mpf(lam)
    first = [sum(a * (a / b) ** s for a, b in zip(*r, strict=True)) for r in ((p, q), (q, p))]
    second = [sum(b * (a / b) ** (s + 1) for a, b in zip(*r, strict=True)) for r in ((p, q), (q, p))]
    assert all(near(a, b, 1e-27) for a, b in zip(first, second, strict=True))
    order = Fraction(lam) + 1
    assert encloses(tr.renyi(tr.Table(P, Q), order=order), log(max(first)) / s)


def test_cumulants():
    """Row 131. Printed «Cumulative Generating Function»: it generates cumulants, mean and variance first."""
    p, q = numbers(P), numbers(Q)

    def K(lam):
        return log(sum(a * (a / b) ** lam for a, b in zip(p, q, strict=True)))

    mean = kl(p, q)
    variance = sum(a * (log(a / b) - mean) ** 2 for a, b in zip(p, q, strict=True))
    assert K(mpf(0)) == 0
    assert near(diff(K, 0, 1), mean, 1e-15)
    assert near(diff(K, 0, 2), variance, 1e-10)
    cumulant = [3 * mpf(tr.renyi(tr.Gaussian(2) * n, order=4).upper) for n in (1, 5)]
    assert near(cumulant[1], 5 * cumulant[0], 1e-14)  # cumulants add, as cumulative distributions do not


def test_moment_bound_is_renyi():
    """Row 132. α_M(λ) ⇔ (λ+1, α_M(λ)/λ)-RDP: 2 = 2 for μ = 1, λ = 3."""
    moment = quad(lambda x: normal(x, 1) * exp(3 * (x - mpf(1) / 2)), [-14, -4, 0, 4, 8, 20])
    assert near(log(moment) / 3, 2, 1e-15)
    assert tr.renyi(tr.Gaussian(1), order=4).upper == 2


def test_moments_do_not_follow_from_approximate_dp():
    """Row 133. Printed «equivalent»: a leaky input is (0, δ)-DP with infinite moments, so only one direction holds."""
    leaky = tr.LeakyInput("1e-6")
    assert near(tr.delta(leaky, epsilon=0).upper, "1e-6", 1e-14)
    for order in ("1.001", 2, 100):
        assert tr.renyi(leaky, order=order).lower == math.inf
    with pytest.raises(tr.Unsupported):
        tr.renyi(tr.Approx(0, "1e-6"), order=2)
    assert tr.epsilon(tr.RDP({32: "0.1"}), delta="1e-6").upper < math.inf  # the direction that holds
