"""Numbers printed in papers and tools, with table or page, reproduced to the digits printed."""

from functools import cache

import pytest
from textbook import encloses, exp, gaussian_epsilon, log, mpf, near, quad, renyi, sqrt

import tightrope as tr

ROOT = mpf(60000)  # MNIST
BATCH = 256


@cache
def step(sigma, rate):
    return tr.Gaussian(sigma).poisson(rate)


@cache
def divergence(sigma, rate, order):
    return mpf(tr.renyi(step(sigma, rate), order=order).upper)


def moments_accountant(sigma, rate, steps, orders, delta="1e-5"):
    """The classic conversion minimised over a grid of orders: (ε, order)."""
    ell = log(1 / mpf(delta))
    return min((steps * divergence(sigma, rate, a) + ell / (mpf(a) - 1), a) for a in orders)


GRID = [f"{1 + x / 10:.1f}" for x in range(1, 100)] + [str(a) for a in range(12, 64)]  # TensorFlow Privacy's orders


def test_abadi_2016():
    """Abadi et al. 2016, text to Fig. 2: q = .01, σ = 4, δ = 1e-5, 100 epochs: ε = 1.26 by the moments accountant."""
    value, order = moments_accountant("4", "0.01", 10_000, [str(a) for a in range(2, 65)])
    assert order == "20"
    assert near(value, "1.25857474", 1e-8)
    assert f"{float(value):.2f}" == "1.26"
    run = tr.dpsgd("4", sample_rate="0.01", epochs=100)
    assert run == step("4", "0.01") * 10_000
    table = tr.compare(run, delta="1e-5")
    assert mpf("1.2583") < table["rdp-classic"].value <= value  # orders between the whole ones help a little
    assert table.best.value < 1.04


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("sigma", "epochs", "printed", "ours"),
    [
        ("1.12", 1, "1.00", "1.0003"),
        ("1.12", 2, "1.04", "1.0412"),
        ("1.12", 60, "2.92", "2.9222"),
        ("1.2", 10, "1.20", "1.1982"),
    ],
)
def test_tensorflow_privacy(sigma, epochs, printed, ours):
    """TensorFlow Privacy, tutorials/README.md: N = 60 000, batch 256, δ = 1e-5."""
    steps = int(epochs * ROOT / BATCH)
    value, _ = moments_accountant(sigma, f"{BATCH}/60000", steps, GRID)
    assert near(value, ours, 5e-5)
    assert f"{float(value):.2f}" == printed
    table = tr.compare(step(sigma, f"{BATCH}/60000") * steps, delta="1e-5")
    assert table["rdp-classic"].value <= value  # no grid
    assert table.best.value < value


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_bu_2020_moments_accountant():
    """Bu, Dong, Long and Su 2020, Fig. 4: p = 256/60 000, σ = .7, 70 epochs, δ = 1e-5: ε = 8.68."""
    value, _ = moments_accountant("0.7", "256/60000", int(70 * ROOT / BATCH), GRID)
    assert near(value, "8.6757", 2e-5)
    assert f"{float(value):.2f}" == "8.68"
    table = tr.compare(step("0.7", "256/60000") * int(70 * ROOT / BATCH), delta="1e-5")
    assert table["rdp-classic"].value <= value


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("sigma", "epochs", "printed", "ours"), [("1.06", 20, "0.35", "0.34995"), ("0.638", 70, "1.78", "1.7849")]
)
def test_bu_2020_central_limit(sigma, epochs, printed, ours):
    """The same figure: μ_CLT = q√(T(e^{1/σ²} − 1)). An approximation: in the product an estimate, never a claim."""
    steps = epochs * ROOT / BATCH
    mu = BATCH / ROOT * sqrt(steps * (exp(1 / mpf(sigma) ** 2) - 1))
    assert near(mu, ours, 3e-5)
    assert abs(mu - mpf(printed)) <= mpf("0.005")
    row = tr.compare(step(sigma, "256/60000") * round(float(steps)), delta="1e-5")["clt"]
    assert row.kind == "estimate"
    assert row.claim is None
    assert near(row.value, gaussian_epsilon(mpf("1e-5"), mu), 1e-3)


def test_bu_2020_gaussian_dp():
    """The same figure: μ = .35 at δ = 1e-5 is ε = 1.34."""
    claim = tr.epsilon(tr.GDP("0.35"), delta="1e-5")
    assert encloses(claim, gaussian_epsilon(mpf("1e-5"), mpf("0.35")), 1e-10)
    assert near(claim.upper, "1.34142", 5e-6)
    assert f"{claim.upper:.2f}" == "1.34"


@pytest.mark.parametrize("eps", ["0.01", "0.5", "1", "4", "10"])
def test_harrison_manurangsi_laplace(eps):
    """Harrison and Manurangsi, FORC 2026, abstract: Laplace with pure ε is exactly (ε + e^{−ε} − 1)-zCDP."""
    e = mpf(eps)
    claim = tr.zcdp(tr.Laplace(scale=1, sensitivity=eps))
    assert encloses(claim, e + exp(-e) - 1)
    for lam in ("1e-4", "0.3", "2", "50"):
        a = 1 + mpf(lam)
        moment = a / (2 * a - 1) * exp((a - 1) * e) + (a - 1) / (2 * a - 1) * exp(-a * e)
        assert log(moment) / (a - 1) <= a * (e + exp(-e) - 1)
    near_one = quad(lambda x: exp(-abs(x)) / 2 * (abs(x - e) - abs(x)), [-60, 0, e, 60 + e])
    assert near(near_one, e + exp(-e) - 1, 1e-12)


def test_harrison_manurangsi_response():
    """k-ary randomized response: ρ = ε(e^ε − 1)/(e^ε + k − 1) for k ≤ 6; k = 10 exceeds that."""
    e = exp(mpf(1))
    assert encloses(tr.zcdp(tr.RandomizedResponse(epsilon=1, k=4)), (e - 1) / (e + 3))
    assert near((e - 1) / (e + 3), "0.30048918189156225480", 1e-18)
    ten, h = tr.zcdp(tr.RandomizedResponse(epsilon="0.5", k=10)), exp(mpf("0.5"))
    mean = mpf("0.5") * (h - 1) / (h + 9)
    row = [h / (h + 9), *[1 / (h + 9)] * 9]
    other = [row[1], row[0], *row[2:]]
    seen = renyi(row, other, "5.852") / mpf("5.852")
    assert seen > mean * mpf("1.06")
    assert near(seen, "0.0324283637657054", 1e-9)
    assert ten.lower <= mpf("0.0324283637657054") * (1 + mpf("1e-12"))
    assert seen <= ten.upper
    assert near(ten.upper, seen, 1e-6)


def test_lebeda_2024_ordering():
    """Lebeda et al. 2024, abstract (ordering only): fixed-size batches can cost much more than Poisson ones.

    One step at rate .3, clipping norm over σ equal to 1, ε = .5.
    """
    poisson = tr.delta(tr.Gaussian(1).poisson("0.3"), epsilon="0.5")
    fixed = tr.delta(tr.Gaussian(1, 2).without_replacement(3, 10), epsilon="0.5")
    exchanged = tr.delta(tr.Gaussian(1).poisson("0.3", relation="replace"), epsilon="0.5")
    assert encloses(fixed, mpf("0.14470142709253930012"))
    assert exchanged.lower <= mpf("0.067617985163148834654") <= exchanged.upper
    assert poisson.upper < 0.0677 < fixed.lower
    assert (poisson.relation, fixed.relation, exchanged.relation) == ("add-remove", "replace", "replace")
