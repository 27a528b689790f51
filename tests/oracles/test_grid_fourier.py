"""The grid's exponentials and Fourier transform: against many digits, a direct sum and another library."""

import mpmath
import numpy as np
import pytest

from tightrope.numerics.grid.cells import UNIT
from tightrope.numerics.grid.exponentials import EXP_ERROR, exponentials
from tightrope.numerics.grid.fourier import from_spectrum, mirrored, radices, spectrum, transform_error

LENGTHS = [2, 4, 8, 16, 32, 64, 128, 512]


def numbers(length, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(length) + 1j * rng.standard_normal(length)


def direct(x):
    """Σ_j x_j e^{−2πijk/n} in many digits, k = 0, 1, …"""
    n = len(x)
    with mpmath.workdps(40):
        roots = [mpmath.expjpi(mpmath.mpf(-2 * j) / n) for j in range(n)]
        exact = [mpmath.mpc(z) for z in x]
        return [mpmath.fsum(exact[j] * roots[j * k % n] for j in range(n)) for k in range(n)]


def distance(found, wanted):
    """Relative, in the Euclidean norm."""
    with mpmath.workdps(40):
        off = mpmath.sqrt(mpmath.fsum(abs(mpmath.mpc(a) - b) ** 2 for a, b in zip(found, wanted, strict=True)))
        return float(off / mpmath.sqrt(mpmath.fsum(abs(b) ** 2 for b in wanted)))


@pytest.mark.parametrize("length", LENGTHS[:-1])
def test_the_spectrum_is_the_direct_sum(length):
    x = numbers(length)
    assert distance(spectrum(x), direct(x)) < transform_error(length) / 5


@pytest.mark.parametrize("length", LENGTHS[:-1])
def test_the_inverse_is_the_direct_sum(length):
    y = numbers(length, 1)
    wanted = [z.conjugate() / length for z in direct(y.conj())]
    assert distance(from_spectrum(y), wanted) < transform_error(length) / 5


@pytest.mark.parametrize("length", [2**10, 2**13, 2**15, 2**17])
def test_long_transforms_against_another_library(length):
    x = numbers(length)
    wanted = np.fft.fft(x)
    found = spectrum(x)
    assert np.linalg.norm(found - wanted) < transform_error(length) / 5 * np.linalg.norm(wanted)
    assert np.linalg.norm(from_spectrum(found) - x) < transform_error(length) / 3 * np.linalg.norm(x)


def test_a_mistake_in_a_root_is_seen():
    """Teeth: the tests above allow a fifth of what is proved; a root that is off by 10⁻¹³ is more."""
    x = numbers(64)
    assert distance(spectrum(x * (1 + 1e-13j * np.arange(64))), direct(x)) > transform_error(64) / 5


@pytest.mark.parametrize("length", [*LENGTHS, 2**12, 2**13])
def test_opposite_frequencies(length):
    """The transform of real numbers is its own mirror image, conjugated."""
    x = numbers(length)
    y = spectrum(x.real + 0j)
    assert np.allclose(mirrored(y), y, rtol=0, atol=1e-9)
    assert np.array_equal(mirrored(x), x[-np.arange(length) % length].conj())


@pytest.mark.parametrize("length", [*LENGTHS, 2**19])
def test_radices_multiply_to_the_length(length):
    assert int(np.prod(radices(length))) == length
    assert max(radices(length)) <= 4
    assert transform_error(length) < 1.3e-14


def test_a_point_at_zero_has_a_flat_spectrum():
    x = np.zeros(256, dtype=complex)
    x[0] = 1
    assert np.array_equal(spectrum(x), np.ones(256))


RANGES = [(-600, 600), (-1, 1), (-0.011, 0.011), (599, 600), (-600, -599), (-1e-12, 1e-12)]


def exp_error(x):
    """The largest relative error, in many digits."""
    with mpmath.workdps(40):
        exact = [mpmath.exp(mpmath.mpf(float(z))) for z in x]
        return float(max(abs(mpmath.mpf(float(a)) / b - 1) for a, b in zip(exponentials(x), exact, strict=True)))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("low", "high"), RANGES)
def test_exponentials_are_off_by_less_than_proved(low, high):
    x = np.random.default_rng(3).uniform(low, high, 3000)
    assert exp_error(x) < EXP_ERROR / 2
    assert exp_error(x) > UNIT / 2  # they are rounded


def test_exponentials_at_the_ends_of_their_pieces():
    """Half-way between two multiples of ln 2/64, at both ends of the range, and at 0."""
    half = np.arange(-1500, 1500) * (np.log(2) / 128)
    x = np.concatenate([half, np.nextafter(half, 1e3), np.nextafter(half, -1e3), [0.0, -0.0, 5e-324, 600.0, -600.0]])
    assert exp_error(x) < EXP_ERROR / 2
    assert exponentials(np.zeros(2)).tolist() == [1.0, 1.0]
    assert exponentials(np.zeros(0)).size == 0


def test_many_exponentials_come_in_blocks():
    x = np.linspace(-600, 600, 2**13 + 5)
    assert np.array_equal(exponentials(x), np.concatenate([exponentials(x[:100]), exponentials(x[100:])]))


@pytest.mark.parametrize("x", [600.0000001, -601.0, np.inf, -np.inf, np.nan])
def test_exponents_out_of_reach_are_refused(x):
    with pytest.raises(ArithmeticError):
        exponentials(np.array([0.0, x]))
