"""Very many or very rare Gaussian steps, schedules of noise, large tilts: each of these had ends far apart, or none."""

import math
from fractions import Fraction

import pytest
from scipy.stats import norm

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.loss import Loss
from tightrope.numerics.balls import precision
from tightrope.numerics.grid.graded import grades
from tightrope.numerics.transforms.symmetric_laplace import SymmetricLaplaceTransform

F = Fraction


def normal_delta(mu, epsilon):
    return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize("delta", [1e-5, 1e-8, 1e-9, 1e-10, 1e-12])
@pytest.mark.parametrize("sigma", [20, 100])
def test_a_billion_tiny_steps_are_nearly_normal(sigma, delta):
    """Both directions cost nearly the same, and a rough proof of one once hid the other: [2e-9, 1e-3]."""
    claim = tr.epsilon(tr.Gaussian(sigma).poisson("1e-7") * 10**9, delta=delta)
    assert claim.upper - claim.lower < 1e-9 * claim.upper
    mu = 1e-7 * math.sqrt(1e9 * math.expm1(sigma**-2))
    assert normal_delta(mu, claim.upper) == pytest.approx(delta, rel=0.02)  # skewness moves it by about 1 %


def test_losses_too_tiny_for_a_lattice_of_floats():
    """It was said to be 0 at least."""
    claim = tr.epsilon(tr.Gaussian(1000).poisson("1e-7") * 10**9, delta=1e-10)
    assert claim.upper - claim.lower < 1e-9 * claim.upper
    assert normal_delta(1e-7 * math.sqrt(1e9 * math.expm1(1e-6)), claim.upper) == pytest.approx(1e-10, rel=0.01)


def test_losses_beyond_the_exponential_of_floats():
    """ε above 709: e^ε is no float."""
    claim = tr.epsilon(tr.Gaussian("0.3").poisson("0.001") * 10**5, delta="1e-300")
    assert 1608 < claim.lower < claim.upper < claim.lower * (1 + 1e-9) < 1609


def schedule(n, copies=1):
    m = tr.Gaussian(F(1001, 1000)).poisson("0.01") * copies
    for i in range(2, n + 1):
        m = m + tr.Gaussian(F(1000 + i, 1000)).poisson("0.01") * copies
    return m


@pytest.mark.parametrize("n", [32, 60])
def test_every_step_has_noise_of_its_own(n):
    """The grades of so many laws were listed one by one, which had no end; ε lies between those of equal steps."""
    claim = tr.epsilon(schedule(n), delta=1e-5)
    ends = [tr.epsilon(tr.Gaussian(F(1000 + i, 1000)).poisson("0.01") * n, delta=1e-5) for i in (n, 1)]
    assert ends[0].lower <= claim.upper
    assert claim.lower <= ends[1].upper
    assert claim.upper - claim.lower < 1e-3 * claim.upper


@pytest.mark.no_cover  # long
def test_two_hundred_kinds_of_noise():
    claim = tr.epsilon(schedule(200, 3), delta=1e-5)
    assert 1.20494 < claim.lower < claim.upper < claim.lower * (1 + 1e-9) < 1.20496


def test_grades_are_counted_lazily():
    listed = grades([1] * 60, [(F(-1), F(1))] * 60, 30)
    assert len([next(listed) for _ in range(1000)]) == 1000


@pytest.mark.parametrize("t", [60, 127, 300])
@pytest.mark.parametrize("bits", [20, 34, 53])
def test_exchanged_laplace_losses_at_large_tilts(t, bits):
    """Few bits had too few nodes: no moment, and so no aliases."""
    transform = SymmetricLaplaceTransform(1 / F("7.84"), F("0.595"), glued=False)
    with precision(bits):
        rough = transform.log_real(F(t))
    with precision(300):
        exact = transform.log_real(F(t))
        assert rough.overlaps(exact)
        assert rough.rad() < abs(exact) * 2.0 ** (6 - bits)


def test_exchanged_laplace_losses_beside_many_rare_steps():
    m = tr.Laplace("7.84").poisson("0.595", relation="replace") * 4
    claim = tr.epsilon(m + tr.Gaussian("2.58").poisson("3.59e-5", relation="replace") * 3960000, delta="1.17e-12")
    assert 0.93302 < claim.lower < claim.upper < claim.lower * (1 + 1e-9) < 0.93303


def test_a_table_that_is_its_own_reverse_has_one_law():
    assert fact(tr.Table(["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"]), Loss).curve.add is None
    assert fact(tr.Table(["0.5", "0.3", "0.2"], ["0.2", "0.5", "0.3"]), Loss).curve.add is not None
    assert fact(tr.Table(["0.5", "0.5", "0"], ["0", "0.5", "0.5"]), Loss).curve.add is None
    assert fact(tr.Table(["0.5", "0.5", "0"], ["0.1", "0.5", "0.4"]), Loss).curve.add is not None
