"""Lecture 7, «Relaxations of Differential Privacy» (rows 1-23): right claims hold, wrong ones are shown wrong."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from mpmath import binomial
from textbook import (
    Phi,
    cks_epsilon,
    encloses,
    exp,
    hockey_stick,
    inf,
    kl,
    log,
    max_divergence,
    mpf,
    near,
    normal,
    numbers,
    quad,
    renyi,
    sqrt,
)

import tightrope as tr

P = ("0.5", "0.3", "0.2")
Q = ("0.2", "0.3", "0.5")
R = ("0.6", "0.1", "0.3")
HALVES, POINT = ("1/2", "1/2"), (1, 0)


def worse(divergence, p, q):
    """The larger of both directions, as a claim states it."""
    return max(divergence(numbers(p), numbers(q)), divergence(numbers(q), numbers(p)))


def test_composition_needs_the_logarithm():
    """Row 1. Printed: ε̃ = O(ε√k), δ̃ = O(kδ). The slack δ' and its logarithm cannot be dropped."""
    fifty = tr.Approx("0.1", 0) * 50
    printed = mpf("0.1") * sqrt(50)
    assert near(printed, "0.7071067811865475")
    assert tr.epsilon(fifty, delta=1e-6).lower > 4 * printed  # the printed form is not a guarantee
    assert tr.delta(fifty, epsilon=float(printed)).lower > 0.08  # kδ would be 0
    assert tr.epsilon(fifty, delta=0).lower == 5  # and with δ = 0 there is no slack at all: ε̃ = kε
    right = mpf("0.1") * sqrt(100 * log(mpf(10) ** 6)) + 5 * (exp(mpf("0.1")) - 1)
    assert near(right, "4.24277677922808", 1e-14)
    assert near(tr.compare(fifty, delta=1e-6)["advanced"].value, right, 1e-14)


def test_optimal_homogeneous_composition():
    """Row 2. Near-optimal, but a quarter more than the optimum, which is enumerated here over the 51 sums of losses."""
    claim = tr.epsilon(tr.Approx("0.1", 0) * 50, delta=1e-6)
    e, p = mpf("0.1"), exp(mpf("0.1")) / (1 + exp(mpf("0.1")))

    def delta(x):
        return sum(
            binomial(50, i) * p ** (50 - i) * (1 - p) ** i * max(0, 1 - exp(x - (50 - 2 * i) * e)) for i in range(51)
        )

    assert claim.tight
    assert delta(mpf(claim.lower)) >= mpf("1e-6") * (1 - mpf("1e-12")) >= delta(mpf(claim.upper)) * (1 - mpf("1e-11"))
    assert near(claim.upper, "3.17290273401919", 1e-13)
    assert 0.25 < 1 - claim.upper / 4.24277677922808 < 0.26


def test_optimal_heterogeneous_composition():
    """Row 3. #P-complete in general, but this product answers: all 16 subsets are enumerated here."""
    steps = [("0.1", "1e-6"), ("0.2", "0"), ("0.3", "1e-7"), ("0.5", "2e-6")]
    whole = tr.Approx(*steps[0]) + tr.Approx(*steps[1]) + tr.Approx(*steps[2]) + tr.Approx(*steps[3])
    losses = [(mpf(0), mpf(1))]
    kept = mpf(1)
    for e, d in steps:
        up = exp(mpf(e)) / (1 + exp(mpf(e)))
        losses = [(x + s * mpf(e), m * c) for x, m in losses for s, c in ((1, up), (-1, 1 - up))]
        kept *= 1 - mpf(d)
    delta = 1 - kept * (1 - sum(m * max(0, 1 - exp(mpf("0.6") - x)) for x, m in losses))
    assert near(delta, "0.072860321513436626201", 1e-19)
    assert encloses(tr.delta(whole, epsilon="0.6"), delta)
    many = tr.Pure("0.01")
    for i in range(2, 61):  # the enumeration would have 2^60 terms; the parts' own ratios make it easy
        many = many + tr.Pure(f"{i}/100")
    claim = tr.epsilon(many, delta=1e-6)
    assert claim.tight
    assert claim.upper - claim.lower < 1e-9
    assert claim.upper < 18.3  # Σε_i


@pytest.mark.parametrize(("p", "q"), [(P, Q), (P, R), (Q, R)])
def test_pure_dp_is_the_largest_log_ratio_both_ways(p, q):
    """Rows 5, 7. ε-DP is D_∞ ≤ ε for both ordered pairs: no event breaks it, and no smaller ε will do."""
    eps = worse(max_divergence, p, q)
    assert encloses(tr.pure(tr.Table(p, q)), eps)
    assert max(hockey_stick(numbers(a), numbers(b), eps) for a, b in ((p, q), (q, p))) < mpf("1e-28")
    assert max(hockey_stick(numbers(a), numbers(b), eps * mpf("0.999")) for a, b in ((p, q), (q, p))) > 0


def test_largest_divergence_is_over_the_support_of_the_first():
    """Row 6. Printed: the maximum over supp(Q), which is negative here; the truth is infinite."""
    p, q = [mpf(1) / 2, mpf(1) / 2], [mpf(1), mpf(0)]
    printed = max(log(a / b) for a, b in zip(p, q, strict=True) if b > 0)
    assert near(printed, "-0.693147180559945", 1e-14)
    assert max_divergence(p, q) == inf
    assert tr.pure(tr.Table(HALVES, POINT)).lower == math.inf


def test_divergence_is_infinite_without_absolute_continuity():
    """Row 8. The formula read literally under Q gives ln ¼ where the divergence is infinite; elsewhere it is right."""
    literal = log(sum(b * (a / b) ** 2 for a, b in [(mpf(1) / 2, mpf(1))])) / (2 - 1)
    assert near(literal, "-1.38629436111989")
    assert tr.renyi(tr.Table(HALVES, POINT), order=2).lower == math.inf
    for order in ("1.5", "2", "7"):
        truth = worse(lambda a, b, order=order: renyi(a, b, order), P, R)
        assert encloses(tr.renyi(tr.Table(P, R), order=order), truth)


def test_order_one_is_the_mean_loss():
    """Row 9. D_α → KL as α → 1, from above."""
    truth = worse(kl, P, R)
    close = tr.renyi(tr.Table(P, R), order="1.000001")
    assert truth < close.lower < truth * (1 + mpf("1e-5"))


def test_renyi_dp_is_a_bound_on_the_divergence():
    """Row 10. (α, ε)-RDP: D_α ≤ ε for both ordered neighbours. A stated curve says exactly that and nothing above."""
    truth = worse(lambda a, b: renyi(a, b, 4), P, R)
    assert encloses(tr.renyi(tr.Table(P, R), order=4), truth)
    stated = tr.RDP({4: "0.5"})
    assert tr.renyi(stated, order=4).upper == 0.5
    assert tr.renyi(stated, order="4.001").upper == math.inf


@pytest.mark.parametrize("order", [2, 8, "1.25"])
def test_post_processing_never_raises_renyi(order):
    """Row 11. Any channel applied to both rows lowers D_α: here every merge of outcomes and a noisy channel."""
    before = tr.renyi(tr.Table(P, R), order=order).lower
    channels = [((1, 0), (1, 0), (0, 1)), ((1, 0), (0, 1), (0, 1)), (("0.7", "0.3"), ("0.5", "0.5"), ("0.1", "0.9"))]
    for channel in channels:
        rows = [
            [sum(Fraction(a) * Fraction(c[j]) for a, c in zip(row, channel, strict=True)) for j in range(2)]
            for row in (P, R)
        ]
        assert tr.renyi(tr.Table(*rows), order=order).upper < before


@pytest.mark.parametrize(
    ("mechanism", "low", "c", "left", "right"),
    [
        (tr.Gaussian(1), 4, 1, "8", "12"),
        (tr.Gaussian(1), 4, 2, "32", "72"),
        (tr.Gaussian(1), 4, 3, "128", "432"),
        (tr.Laplace(2), 2, 1, "0.6191", "0.9628"),
        (tr.Laplace(2), 2, 2, "1.5958", "3.6924"),
        (tr.Laplace(2), 2, 3, "3.5945", "12.309"),
    ],
)
def test_group_privacy_of_renyi(mechanism, low, c, left, right):
    """Row 12. D_{α/2^c} of 2^c records is at most 3^c ε(α); a stated curve obeys the rule too."""
    alpha = low * 2**c
    grouped, single = tr.renyi(mechanism.group(2**c), order=low), tr.renyi(mechanism, order=alpha)
    assert near(grouped.upper, left, 1e-4)
    assert near(3**c * single.upper, right, 1e-4)
    assert grouped.upper <= 3**c * single.lower
    stated = tr.renyi(tr.RDP({alpha: single.upper}).group(2**c), order=low)
    assert grouped.lower <= stated.upper <= 3**c * single.upper * (1 + 1e-12)


def test_adaptive_composition_adds_at_one_order():
    """Row 13. The second mechanism is chosen after the first answer, and still D_α ≤ ε₁ + ε₂ (enumerated)."""
    first, branches = (P, Q), [(P, R), (Q, R), (R, P)]
    for order in (2, 5):
        one = tr.renyi(tr.Table(*first), order=order).upper
        two = max(tr.renyi(tr.Table(*b), order=order).upper for b in branches)
        joint = [
            [Fraction(a) * Fraction(x) for a, b in zip(first[i], branches, strict=True) for x in b[i]] for i in (0, 1)
        ]
        assert tr.renyi(tr.Table(*joint), order=order).upper <= one + two
        same = tr.renyi(tr.Table(*first) + tr.Table(P, R), order=order)
        product = [[mpf(a) * mpf(b) for a in u for b in v] for u, v in ((P, P), (Q, R))]
        assert encloses(same, max(renyi(*product, order), renyi(*reversed(product), order)))


def test_composition_of_many():
    """Row 14. k-fold: the ε_i add at a fixed order."""
    parts = [tr.RDP({6: "0.1"}), tr.RDP({6: "0.25"}), tr.RDP({6: "0.4"})]
    assert near(tr.renyi(parts[0] + parts[1] + parts[2], order=6).upper, "0.75", 1e-15)
    assert near(tr.renyi(tr.Gaussian(3) * 7 + tr.Laplace(2) * 5, order=6).upper,
                7 * tr.renyi(tr.Gaussian(3), order=6).upper + 5 * tr.renyi(tr.Laplace(2), order=6).upper)  # fmt: skip


def subsampled(alpha, gamma, eps, first, closed_early=False):
    """(7.2) for a mechanism without a pure bound; ``first`` is the first argument of its outer minimum."""
    square = gamma**2 * binomial(alpha, 2) * min(first, 2 * exp(eps(2)))
    rest = sum(gamma**j * binomial(alpha, j) * exp((j - 1) * eps(j)) * 2 for j in range(3, alpha + 1))
    return 1 + square + (0 if closed_early else rest)


@pytest.mark.parametrize(
    ("alpha", "right", "wrong"),
    [(2, "0.00163110000054118", "-0.0391567152012"), (8, "0.0250378467944", "-0.378566227624")],
)
def test_subsampling_without_replacement(alpha, right, wrong):
    """Row 15. Printed: 4(ε(2) − 1), a negative divergence; right: 4(e^{ε(2)} − 1), all of it inside the logarithm."""
    gamma = mpf("0.1")

    def eps(j):
        return mpf(j) / 50

    printed = log(subsampled(alpha, gamma, eps, 4 * (eps(2) - 1))) / (alpha - 1)
    corrected = log(subsampled(alpha, gamma, eps, 4 * (exp(eps(2)) - 1))) / (alpha - 1)
    assert near(printed, wrong, 1e-11)
    assert near(corrected, right, 1e-11)
    if alpha == 8:  # with the bracket where it is printed there is not even a real logarithm
        assert subsampled(alpha, gamma, eps, 4 * (eps(2) - 1), closed_early=True) < 0
    stated = tr.RDP({j: f"{j}/50" for j in range(2, alpha + 1)}).without_replacement(1, 10)
    assert near(tr.renyi(stated, order=alpha).upper, corrected, 1e-13)
    truth = tr.renyi(tr.Gaussian(5).without_replacement(1, 10), order=alpha)  # ε(α) = α/50 exactly
    terms = (
        binomial(alpha, j) * (1 - gamma) ** (alpha - j) * gamma**j * exp((j - 1) * eps(j)) for j in range(1, alpha + 1)
    )
    low = log((1 - gamma) ** alpha + sum(terms)) / (alpha - 1)
    if alpha == 2:
        assert near(low, "0.000408024488609", 1e-11)
    assert near(truth.lower, low, 1e-13)
    assert low <= truth.upper <= corrected
    assert printed < truth.lower


def test_poisson_is_a_sampler_of_its_own():
    """Row 16. Printed «Poison». Poisson sampling is a different sampler from the one of row 15, with another cost."""
    q, order = mpf("0.1"), 2
    moment = quad(lambda z: normal(z, 0, 5) * ((1 - q) + q * exp((2 * z - 1) / 50)) ** order, [-60, -20, 0, 20, 60])
    poisson = tr.renyi(tr.Gaussian(5).poisson("0.1"), order=order)
    assert encloses(poisson, log(moment))
    assert poisson.relation == "add-remove"
    fixed = tr.renyi(tr.Gaussian(5).without_replacement(1, 10), order=order)
    assert fixed.relation == "replace"
    assert near(fixed.lower, log(moment), 1e-13)  # equal records, one exchanged: the same pair
    assert fixed.upper > poisson.upper


@pytest.mark.parametrize(
    ("eps", "order", "value"), [("1", "2", "0.735325664055519"), ("0.1", "32", "0.079272192282484")]
)
def test_pure_dp_as_renyi(eps, order, value):
    """Row 17. ε-DP gives (α, ε)-RDP, loosely; the tight value is that of randomized response."""
    e, a = mpf(eps), mpf(order)
    tight = e + (log(1 + exp(-(2 * a - 1) * e)) - log(1 + exp(-e))) / (a - 1)
    p = exp(e) / (1 + exp(e))
    assert near(tight, renyi([p, 1 - p], [1 - p, p], a), 1e-25)
    assert near(tight, value, 1e-14)
    claim = tr.renyi(tr.Pure(eps), order=order)
    assert encloses(claim, tight)
    assert claim.upper < e


def test_divergence_grows_with_the_order():
    """Row 18. D_α ≤ D_β for α ≤ β, up to D_∞."""
    for mechanism in (
        tr.Table(P, R),
        tr.Laplace(1),
        tr.Gaussian(2).poisson("0.2"),
        tr.RandomizedResponse(epsilon=1, k=5),
    ):
        curve = [tr.renyi(mechanism, order=a) for a in ("1.01", "1.5", 2, 3, 10, 100, math.inf)]
        assert all(a.upper <= b.lower for a, b in pairwise(curve))


def test_renyi_to_approximate():
    """Row 19. ε + ln(1/δ)/(α−1) is valid; the conversion of Canonne, Kamath and Steinke is always better."""
    classic = mpf("0.5") + log(mpf(10) ** 5) / 9
    sharp = cks_epsilon(10, "0.5", "1e-5")
    assert near(classic, "1.77921394055225", 1e-14)
    assert near(sharp, "1.41801063678397", 1e-14)
    table = tr.compare(tr.RDP({10: "0.5"}), delta="1e-5")
    assert near(table["rdp-classic"].value, classic, 1e-13)
    assert near(table["rdp"].value, sharp, 1e-13)
    for order in ("1.01", 2, 50, 1000):
        assert cks_epsilon(order, "0.5", "1e-5") < mpf("0.5") + log(mpf(10) ** 5) / (mpf(order) - 1)


def test_probability_preservation():
    """Row 20. P(E) ≤ (e^{D_α} Q(E))^{(α−1)/α} for N(1,1) and N(0,1), and for rows with different supports."""
    for cut, left, right in ((1, "0.5", "0.79664"), (2, "0.158655", "0.218248")):
        bound = (exp(mpf(3) / 2) * Phi(-cut)) ** (mpf(2) / 3)
        assert near(Phi(1 - cut), left, 1e-5)
        assert near(bound, right, 1e-5)
        assert Phi(1 - cut) <= bound
    assert tr.renyi(tr.Gaussian(1), order=3).upper == 1.5
    p, q = [mpf("0.4"), mpf("0.6"), mpf(0)], [mpf("0.5"), mpf("0.2"), mpf("0.3")]  # supp(P) is smaller
    moment = exp(renyi(p, q, 3))
    assert all(a <= (moment * b) ** (mpf(2) / 3) for a, b in zip(p, q, strict=True))


def test_first_case_of_the_conversion():
    """Row 21. Printed «≤ ε Q δ^{−1/(α−1)}» fails; with e^ε in place of ε it holds."""
    alpha, mu, delta = mpf(2), mpf("0.5"), mpf("0.5")
    eps = mpf(tr.renyi(tr.Gaussian(2), order=2).upper)
    assert eps == alpha * mu**2 / 2
    p, q = Phi(mu), Phi(0)  # the event x > 0 under N(μ, 1) and N(0, 1)
    assert exp(eps) * q > delta ** (alpha / (alpha - 1))  # case 1
    assert p > eps * q * delta ** (-1 / (alpha - 1))  # as printed: false
    assert p <= exp(eps) * q * delta ** (-1 / (alpha - 1))
    assert near(exp(eps) * q * delta ** (-1 / (alpha - 1)), exp(eps + log(1 / delta) / (alpha - 1)) * q, 1e-25)


def test_second_case_of_the_conversion():
    """Row 22. If e^ε Q ≤ δ^{α/(α−1)} then P(E) ≤ δ: half-lines under N(μ, 1) and N(0, 1)."""
    seen = 0
    for alpha in (mpf(2), mpf(5)):
        for delta in (mpf("0.01"), mpf("0.3")):
            for cut in range(1, 8):
                eps, q, p = alpha / 2, Phi(-cut), Phi(1 - cut)
                if exp(eps) * q <= delta ** (alpha / (alpha - 1)):
                    seen += 1
                    assert p <= delta
    assert seen > 10


def test_halving_the_budget():
    """Row 23. (2 ln(1/δ)/ε + 1, ε/2)-RDP gives exactly (1, 1e-5) by row 19, and the product certifies less."""
    order = 2 * log(mpf(10) ** 5) + 1
    assert near(mpf("0.5") + log(mpf(10) ** 5) / (order - 1), 1, 1e-28)
    table = tr.compare(tr.RDP({float(order): "0.5"}), delta="1e-5")
    assert near(table["rdp-classic"].value, 1, 1e-13)  # the order is a float here
    assert table.best.value < 1
