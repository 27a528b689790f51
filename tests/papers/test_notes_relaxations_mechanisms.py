"""Lecture 7, «Relaxations of Differential Privacy» (rows 24-41): mechanisms, noise and zero-concentrated DP."""

from fractions import Fraction

import pytest
from textbook import (
    DIGITS,
    Phi,
    cks_epsilon,
    encloses,
    exp,
    gaussian_delta,
    gaussian_epsilon,
    inf,
    log,
    mp,
    mpf,
    near,
    normal,
    numbers,
    pi,
    quad,
    renyi,
    sqrt,
    zcdp_best,
)

import tightrope as tr
from tightrope.theorems import bibliography

P = ("0.5", "0.3", "0.2")
Q = ("0.2", "0.3", "0.5")
R = ("0.6", "0.1", "0.3")


def test_randomized_response():
    """Row 24. Printed without brackets: 0.894; the sum belongs inside the logarithm: 0.847."""
    p, a = mpf("0.75"), 2
    first, second = p**a * (1 - p) ** (1 - a), (1 - p) ** a * p ** (1 - a)
    assert near(log(first) / (a - 1) + second, "0.894263549549662", 1e-14)
    right = log(first + second) / (a - 1)
    assert near(right, "0.847297860387204", 1e-14)
    assert near(right, renyi([p, 1 - p], [1 - p, p], a), 1e-25)
    assert encloses(tr.renyi(tr.RandomizedResponse(p="0.75"), order=2), right)


def test_laplace():
    """Row 25. The closed form is the integral of the definition, and less than 1/λ."""
    lam, a = mpf(2), mpf("2.5")
    formula = log(a / (2 * a - 1) * exp((a - 1) / lam) + (a - 1) / (2 * a - 1) * exp(-a / lam)) / (a - 1)
    integral = quad(lambda x: exp(-a * abs(x) / lam - (1 - a) * abs(x - 1) / lam) / (2 * lam), [-inf, 0, 1, inf])
    assert near(formula, "0.238712658834084021", 1e-17)
    assert near(log(integral) / (a - 1), formula, 1e-15)
    assert formula < 1 / lam
    assert encloses(tr.renyi(tr.Laplace(scale=2), order="2.5"), formula)


with mp.workdps(DIGITS):
    SIGMA, SHIFT, ORDER = mpf("1.7"), mpf("1.3"), mpf("3.5")


def gaussian_integral(exponent):
    """∫ exp(−exponent(x)/2σ²) dx / √(2πσ²)."""
    edges = [-60, -20, -5, 0, 5, 20, 60]
    return quad(lambda x: exp(-exponent(x) / (2 * SIGMA**2)), edges) / sqrt(2 * pi * SIGMA**2)


def test_gaussian():
    """Row 26. αΔ²/2σ², by integrating the definition."""
    integral = gaussian_integral(lambda x: ORDER * x**2 + (1 - ORDER) * (x - SHIFT) ** 2)
    formula = ORDER * SHIFT**2 / (2 * SIGMA**2)
    assert near(log(integral) / (ORDER - 1), formula, 1e-20)
    assert near(formula, "1.02335640138408", 1e-14)
    assert encloses(tr.renyi(tr.Gaussian(sigma="1.7", sensitivity="1.3"), order="3.5"), formula)


def test_proof_of_gaussian():
    """Rows 27, 28, 29. The second line lacks ∫…dx, the next two have wrong signs; corrected, all equal 12.915."""
    claim = tr.renyi(tr.Gaussian(sigma="1.7", sensitivity="1.3"), order="3.5")
    truth = exp((ORDER - 1) * mpf(claim.upper))
    f, a = SHIFT, ORDER
    second = [exp(-(a * x**2 + (1 - a) * (x - f) ** 2) / (2 * SIGMA**2)) / sqrt(2 * pi * SIGMA**2) for x in (-4, 0, 1)]
    assert all(abs(value - truth) > 1 for value in second)  # without the integral: a function, not the number
    third = gaussian_integral(lambda x: x**2 + 2 * (1 - a) * x * f + (a - 1) * f**2)
    fourth = gaussian_integral(lambda x: (x - (1 - a) * f) ** 2 + (a**2 - a) * f**2)
    assert near(third, "2.99352998", 1e-8)
    assert near(fourth, "0.0774292", 1e-6)
    assert near(fourth, 1 / truth, 1e-13)
    assert near(gaussian_integral(lambda x: x**2 - 2 * (1 - a) * x * f + (1 - a) * f**2), truth, 1e-13)
    assert near(gaussian_integral(lambda x: (x - (1 - a) * f) ** 2 + (a - a**2) * f**2), truth, 1e-13)
    assert near(truth, "12.91502037", 1e-9)


def test_noise_by_advanced_composition():
    """Row 30. σ² = 16k ln(2.5k/δ) ln(2/δ)/ε² is right where the classic Gaussian is (ε_i < 1); it is far too much."""
    k, eps, delta = 100, mpf("0.5"), mpf("1e-5")
    step = eps / (2 * sqrt(2 * k * log(2 / delta)))
    variance = 16 * k * log(mpf("2.5") * k / delta) * log(2 / delta) / eps**2
    assert near(variance, "1330706.93", 1e-8)
    assert near(variance, 2 * log(mpf("1.25") / (delta / (2 * k))) / step**2, 1e-25)
    assert step < 1
    assert k * step * (exp(step) - 1) <= eps / 2
    sigma = float(sqrt(variance))
    assert tr.delta(tr.Gaussian(sigma), epsilon=float(step)).upper <= delta / (2 * k)
    assert tr.epsilon(tr.Gaussian(sigma) * k, delta="1e-5").upper < 0.05


def test_noise_by_renyi():
    """Rows 31, 32. By Corollary 7.12 (printed as «8.12»): 9410.34; still 1.9 times the variance that is needed."""
    k, eps, delta = 100, mpf("0.5"), mpf("1e-5")
    order = 2 * log(1 / delta) / eps + 1
    variance = k * order / eps
    assert near(variance, "9410.340372", 1e-10)
    assert near(k * order / (2 * variance), eps / 2, 1e-25)  # the composition is (order, ε/2)-RDP: Corollary 7.12
    assert near(eps / 2 + log(1 / delta) / (order - 1), eps, 1e-25)
    needed = tr.calibrate(lambda sigma: tr.Gaussian(sigma) * 100, epsilon="0.5", delta="1e-5").value
    assert near(gaussian_delta(eps, 10 / sqrt(mpf("4944.658640"))), delta, 1e-7)
    assert near(needed**2, "4944.658640", 2e-6)
    assert 1.9 < variance / needed**2 < 1.91
    assert tr.epsilon(tr.Gaussian(float(sqrt(variance))) * 100, delta="1e-5").upper < 0.5


def test_zcdp_is_a_line_above_the_curve():
    """Row 33. ρ-zCDP: D_α ≤ αρ for every α > 1; the least ρ is met by some order and exceeded by none."""
    for mechanism in (tr.Gaussian(2), tr.Laplace(2), tr.Table(P, Q), tr.RandomizedResponse(epsilon=1)):
        rho = tr.zcdp(mechanism).upper
        ratios = [tr.renyi(mechanism, order=a).lower / float(Fraction(a)) for a in ("1.0001", "1.5", 2, 5, 50, 1000)]
        assert max(ratios) <= rho
        assert max(ratios) > 0.999 * rho
    for a in ("1.5", 8):
        assert near(tr.renyi(tr.ZCDP("0.1"), order=a).upper, mpf("0.1") * mpf(a), 1e-14)


def test_zcdp_as_a_moment_bound():
    """Row 34. E e^{(α−1)Z} ≤ e^{(α−1)αρ}, Z under A(D): met with equality by the Gaussian, by others not."""
    rho = tr.zcdp(tr.Gaussian(2)).upper
    for a in (mpf("1.5"), mpf(4)):
        moment = quad(lambda z, a=a: normal(z, mpf("0.125"), mpf("0.5")) * exp((a - 1) * z), [-9, -2, 0, 2, 4, 9])
        assert near(moment, exp((a - 1) * a * rho), 1e-18)
    p, q = numbers(P), numbers(R)
    rho = mpf(tr.zcdp(tr.Table(P, R)).upper)
    for a in (mpf("1.5"), mpf(4), mpf(40)):
        assert sum(x * (x / y) ** (a - 1) for x, y in zip(p, q, strict=True)) <= exp((a - 1) * a * rho)


def test_markov_needs_the_expectation():
    """Row 35. Printed without E the bound is a random number, here far below the probability; with E it holds."""
    rho = mpf(tr.zcdp(tr.Gaussian(1)).upper)
    alpha, lam = mpf(2), mpf("0.5")
    truth = Phi(-lam / sqrt(2 * rho))  # Z ~ N(ρ, 2ρ)
    printed = exp((alpha - 1) * mpf(-5)) / exp((alpha - 1) * (lam + rho))  # at an outcome with Z = −5
    assert printed < truth / 100
    expectation = exp((alpha - 1) * alpha * rho)
    assert truth <= expectation / exp((alpha - 1) * (lam + rho))


@pytest.mark.parametrize("lam", ["0", "0.5", "1", "3", "8"])
def test_tail_of_the_loss(lam):
    """Row 36. Pr(Z > λ + ρ) ≤ e^{−λ²/4ρ}, the value at b = λ/2ρ."""
    lam, rho = mpf(lam), mpf(tr.zcdp(tr.Gaussian(1)).upper)
    bound = exp(-(lam**2) / (4 * rho))
    b = lam / (2 * rho)
    assert near(exp(b**2 * rho - b * lam), bound, 1e-25)
    assert all(exp(x**2 * rho - x * lam) >= bound for x in (b / 2, b + 1, b * 2))
    assert Phi(-lam / sqrt(2 * rho)) <= bound


def test_zcdp_closure_properties_and_no_amplification():
    """Row 37. Composition, groups and post-processing hold; ρ of a sampled Gaussian is not amplified."""
    assert near(tr.zcdp(tr.Gaussian(2) * 3 + tr.Laplace(2)).upper, tr.zcdp(tr.Laplace(2)).upper + 0.375)
    assert tr.zcdp(tr.Gaussian(2).group(3)).upper == 9 * 0.125
    assert near(tr.zcdp(tr.ZCDP("0.1").group(3)).upper, "0.9", 1e-14)
    merged = [[Fraction(r[0]) + Fraction(r[1]), Fraction(r[2])] for r in (P, R)]
    assert tr.zcdp(tr.Table(*merged)).upper < tr.zcdp(tr.Table(P, R)).lower
    sampled = tr.Gaussian(4).poisson("0.01")
    ratio = {a: tr.renyi(sampled, order=a).upper / a for a in (2, 10, 100, 200, 800)}
    assert ratio[2] < 3.3e-6
    assert ratio[10] < 3.3e-6
    assert ratio[100] < 3.5e-6
    assert near(ratio[200], "0.00811", 1e-3)
    assert near(ratio[800], "0.0255", 2e-3)
    rho = tr.zcdp(sampled)
    assert rho.upper == 0.03125
    assert rho.lower > 0.0312499


def test_zcdp_to_approximate():
    """Row 38. ρ + √(4ρ ln(1/δ)) is valid but loose, even for the Gaussian itself."""
    rho, delta = mpf("0.1"), mpf("1e-6")
    classic = rho + sqrt(4 * rho * log(1 / delta))
    sharp = zcdp_best(rho, lambda a, tau: cks_epsilon(a, tau, delta))[1]
    exact = gaussian_epsilon(delta, sqrt(2 * rho))
    assert near(classic, "2.45078800047680", 1e-14)
    assert near(sharp, "2.14193892838547", 1e-14)
    assert near(exact, "1.99452690069634", 1e-14)
    assert near(gaussian_delta(classic, sqrt(2 * rho)), "5.4357e-9", 1e-4)
    table = tr.compare(tr.ZCDP("0.1"), delta="1e-6")
    assert near(table["zcdp-classic"].value, classic, 1e-13)
    assert near(table["zcdp"].value, sharp, 1e-12)
    claim = tr.epsilon(tr.ZCDP("0.1"), delta="1e-6")
    assert near(claim.lower, exact, 1e-12)  # a Gaussian fits the guarantee
    assert exact <= claim.upper <= sharp * (1 + mpf("1e-12"))


def test_budget_of_rho():
    """Row 39. The inverse is exact; its approximation ε²/(4 ln(1/δ)) allows too much and must not set a budget."""
    eps, ell = mpf("0.1") + sqrt(mpf("0.4") * log(mpf(10) ** 6)), log(mpf(10) ** 6)
    exact, rough = (sqrt(eps + ell) - sqrt(ell)) ** 2, eps**2 / (4 * ell)
    assert near(exact, "0.1", 1e-25)
    assert near(rough, "0.108689", 1e-5)
    allowed = tr.compare(tr.ZCDP(float(exact)), delta="1e-6")["zcdp-classic"].value
    spent = tr.compare(tr.ZCDP(float(rough)), delta="1e-6")["zcdp-classic"].value
    assert allowed <= float(eps) * (1 + 1e-14)
    assert spent > float(eps) * 1.04


def test_gaussian_rho():
    """Row 40. Printed Δ/2σ²; right Δ²/2σ², and it is zCDP. Δ = 3, σ = 2: 1.125, not 0.375."""
    rho = tr.zcdp(tr.Gaussian(sigma=2, sensitivity=3))
    assert rho.tight
    assert rho.upper == rho.lower == 1.125
    assert tr.renyi(tr.Gaussian(sigma=2, sensitivity=3), order=2).lower > 2 * 0.375
    with pytest.raises(tr.Unsupported):
        tr.pure(tr.ZCDP("1.125"))  # zCDP is not ε-DP


def test_bibliography():
    """Row 41. The six works cited are in the product's bibliography, the last with its title spelt «Poisson»."""
    claims = [
        tr.compare(tr.ZCDP("0.1"), delta="1e-6")["zcdp-classic"].claim,
        tr.epsilon(tr.Approx("0.1", 0) * 50, delta="1e-6"),
        tr.renyi(tr.RDP({4: "0.5"}), order=4),
        tr.renyi(tr.RDP({2: "0.04"}).without_replacement(1, 10), order=2),
        tr.renyi(tr.RDP({2: "0.04"}).poisson("0.1"), order=2),
    ]
    text = "\n".join(c.bibtex() for c in claims)
    for key in (
        "bun2016concentrated",
        "kairouz2015composition",
        "mironov2017renyi",
        "wang2019subsampled",
        "zhu2019poisson",
    ):
        assert f"{{{key}," in text
    assert "Complexity of Computing the Optimal Composition" in bibliography()["murtagh2016complexity"]
    assert "Poisson Subsampled" in text
    assert "Poission" not in text
