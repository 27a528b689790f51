"""The notebook chapter «Variants of Differential Privacy» (rows 72-82): its last cell and the figure it draws."""

import math

import pytest
from textbook import (
    L5,
    cks_epsilon,
    encloses,
    exp,
    gaussian_epsilon,
    least,
    log,
    mpf,
    near,
    sqrt,
    zcdp_best,
)

import tightrope as tr


def test_laplace_of_equal_variance():
    """Row 72. `lap_eps = 2*sigma**2` is 80000 and no ε of anything; the Laplace noise of variance σ² has ε = √2/σ."""
    assert 2 * 200.0**2 == 80000
    scale = 200 / math.sqrt(2)
    assert near(2 * scale**2, 200**2)  # its variance
    assert near(tr.pure(tr.Laplace(scale=scale)).upper, sqrt(mpf(2)) / 200, 1e-14)
    assert near(sqrt(mpf(2)) / 200, "0.00707106781", 1e-9)


def cell_advanced(k):
    return 2 * sqrt(2 * log(mpf("1.25e5"))) / 200 * sqrt(2 * k * L5)


def test_advanced_composition_of_the_last_cell():
    """Row 73. The cell's curve is neither the theorem nor at its δ: 5.198 at k = 500, consistently 3.846."""
    assert near(cell_advanced(500), "5.19839374877", 1e-11)
    assert near(501 * mpf("1e-5"), "5.01e-3", 1e-12)  # kδ + δ: the δ that its parts really add up to
    step = sqrt(2 * log(mpf("2.5") * 500 * 10**5)) / 200
    right = step * sqrt(1000 * log(mpf(2) * 10**5)) + 500 * step * (exp(step) - 1)
    assert near(right, "3.84647141594", 1e-11)
    steps = tr.Approx(float(step), 1e-8) * 500  # δ_i = δ/2k
    assert tr.delta(tr.Gaussian(200), epsilon=float(step)).upper <= 1e-8
    assert near(tr.compare(steps, delta="1e-5")["advanced"].value, right, 1e-12)
    assert cell_advanced(166) < 3 < cell_advanced(167)  # where ylim(0, 3) crops it


def test_zcdp_of_the_last_cell():
    """Row 74. kρ + 2√(kρ ln(1/δ)) at k = 500 is 0.5427; the exact answer is 0.3847."""
    classic = mpf(500) / 80000 + 2 * sqrt(mpf(500) / 80000 * L5)
    assert near(classic, "0.542741506572", 1e-11)
    table = tr.compare(tr.Gaussian(200) * 500, delta="1e-5")
    assert near(table["zcdp-classic"].value, classic, 1e-13)
    exact = gaussian_epsilon(mpf("1e-5"), sqrt(mpf(500)) / 200)
    assert near(exact, "0.384692354051", 1e-11)
    assert encloses(tr.epsilon(tr.Gaussian(200) * 500, delta="1e-5"), exact, 1e-10)


def test_renyi_of_the_last_cell():
    """Row 75. α = 60: 0.5701 at k = 500, and 0.195 at k = 0 where nothing was run and ε is 0."""
    order = mpf(60)
    value = 500 * order / 80000 + L5 / (order - 1)
    assert near(value, "0.570134329915", 1e-11)
    assert near(L5 / (order - 1), "0.195134329915", 1e-11)
    stated = tr.RDP({60: tr.renyi(tr.Gaussian(200) * 500, order=60).upper})
    assert near(tr.compare(stated, delta="1e-5")["rdp-classic"].value, value, 1e-13)
    assert tr.epsilon(tr.Gaussian(200) * 0, delta="1e-5").upper == 0


def test_moments_curve_has_no_source():
    """Row 76. 4√(k ln(1/δ))/σ is 2√2 times the leading term of every valid curve."""
    k = 10
    printed, leading = 4 * sqrt(k * L5) / 200, sqrt(2 * k * L5) / 200
    assert near(printed / leading, 2 * sqrt(mpf(2)), 1e-25)
    moments = tr.compare(tr.Gaussian(200) * k, delta="1e-5")["rdp-classic"].value  # the moments accountant
    assert near(moments, leading, 2e-3)
    assert moments < printed / 2.8


@pytest.mark.parametrize("k", [10, 100, 500])
def test_ordering_of_the_last_figure(k):
    """Rows 77, 78. zCDP and RDP lie far below advanced composition; but exact accounting lies below both."""
    table = tr.compare(tr.Gaussian(200) * k, delta="1e-5")
    assert table["zcdp-classic"].value < table["advanced"].value / 2
    assert table["rdp-classic"].value < table["advanced"].value / 2
    assert near(table["rdp-classic"].value, table["zcdp-classic"].value, 1e-9)  # the best α is the zCDP formula
    assert table["exact"].claim.tight
    assert table["exact"].value < 0.75 * table["zcdp-classic"].value
    assert table.best.route == "exact"


def test_zcdp_is_not_sublinear():
    """Row 79. ε/k tends to ρ = 1.25e-5, not to 0; the linear term overtakes at k = 8σ² ln(1/δ) = 3 684 136."""
    turn = 8 * mpf(200) ** 2 * L5
    assert near(turn, "3684136", 1e-6)
    rho = mpf("1.25e-5")
    assert near(turn * rho, 2 * sqrt(turn * rho * L5), 1e-25)
    k = 10**12
    ratio = tr.compare(tr.Gaussian(200) * k, delta="1e-5")["zcdp-classic"].value / k
    assert rho < ratio < rho * (1 + mpf("0.01"))
    assert tr.epsilon(tr.Gaussian(200) * k, delta="1e-5").lower / k > 1.24e-5  # true of the mechanism itself


def test_where_the_curves_touch():
    """Row 80. They touch at k = 2σ² ln(1/δ)/(α−1)²: 2551 for α = 20 (printed: 300), 265 for the cell's α = 60."""

    def touch(order, sigma="200"):
        return 2 * mpf(sigma) ** 2 * L5 / (order - 1) ** 2

    assert near(touch(mpf(20)), "2551.34", 1e-5)
    assert near(touch(mpf(60)), "264.59", 1e-5)
    assert near(1 + sqrt(2 * mpf(200) ** 2 * L5 / 300), "56.41", 1e-4)
    assert near(touch(mpf(20), "68.58"), 300, 1e-3)
    for order, k in ((20, 2551), (60, 265)):
        line = mpf(k) * order / 80000 + L5 / (order - 1)
        curve = tr.compare(tr.Gaussian(200) * k, delta="1e-5")["zcdp-classic"].value
        assert 0 <= line - curve < mpf("1e-6")
    line = mpf(300) * 20 / 80000 + L5 / 19
    assert line - tr.compare(tr.Gaussian(200) * 300, delta="1e-5")["zcdp-classic"].value > mpf("0.2")


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("k", "best"), [(1, "960.7"), (10, "304.5"), (100, "96.97"), (500, "43.9")])
def test_orders_up_to_one_hundred_are_not_enough(k, best):
    """Row 81. The best α is 1 + √(2σ² ln(1/δ)/k), up to 960 here; the product finds it without a grid."""
    order = 1 + sqrt(2 * mpf(200) ** 2 * L5 / k)
    assert near(order, best, 1e-3)
    row = tr.compare(tr.Gaussian(200) * k, delta="1e-5")["rdp-classic"]
    assert near(float(row.claim.witness["order"]), order, 1e-2)
    assert near(row.value, k * order / 80000 + L5 / (order - 1), 1e-9)
    within = min(mpf(k) * a / 80000 + L5 / (a - 1) for a in range(2, 101))
    assert (within > mpf(row.value) * (1 + mpf("1e-3"))) == (k < 100)


def test_choosing_the_order_is_free():
    """Row 82. Every order gives a valid ε for the same run, so the least of them is valid too."""
    many = tr.Gaussian(200) * 100
    exact = tr.epsilon(many, delta="1e-5").upper
    at = {a: mpf(tr.renyi(many, order=a).upper) + L5 / (a - 1) for a in (2, 10, 50, 97, 200, 1000)}
    assert all(value > exact for value in at.values())
    where, value = least(lambda lam: 100 * (1 + lam) / mpf(80000) + L5 / lam, 1, 10**5)
    assert near(tr.compare(many, delta="1e-5")["rdp-classic"].value, value, 1e-9)
    assert near(1 + where, "96.97", 1e-3)
    assert near(zcdp_best(mpf(100) / 80000, lambda a, tau: cks_epsilon(a, tau, "1e-5"))[1],
                tr.compare(many, delta="1e-5")["rdp"].value)  # fmt: skip
