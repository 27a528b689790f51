"""Functions of bounded frequency around the kink of a call: their sides, their transforms, and the doubles of these."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.contour.kinks import KERNEL_ERROR, Kinks

F = Fraction
LATTICES = [(F(3), F(1, 4), 4001), (F(1, 16), F(1, 100), 1001), (F(60), F(7), 700), (F(2), F(1), 16), (F(1), F(2), 4)]


def kernel(t, eta, points, k, above):
    """The formula of the transform, divided by λ, in mpmath."""
    spacing = 2 * mp.pi / (mp.mpf(eta.numerator) / eta.denominator * points)
    a, b = spacing * t.numerator / t.denominator, spacing * (t + 1).numerator / t.denominator
    y = mp.mpf(k) / points
    place, slope = mp.mpf(1), a / mp.expm1(a) - b / mp.expm1(b)
    if above:
        place, slope = mp.mpf(1) / 2 - mp.log(a / mp.sinh(a / 2) * mp.sinh(b / 2) / b) / spacing, 0

    def series(c):
        return mp.exp(-c * place) / (1 - mp.exp(-c))

    first, second = (series(c + 2j * mp.pi * y) for c in (a, b))
    rest = (slope - a * first + b * second) / (2j * mp.pi) if k else 0
    return ((1 - y) * (first - second) + rest) / spacing


@pytest.mark.parametrize(("t", "eta", "points"), LATTICES)
def test_doubles_stay_within_their_errors(t, eta, points):
    mp.mp.dps = 40
    kinks = Kinks(t, eta, points)
    nodes = np.unique(np.array([0, 1, 2, points // 3, (points - 1) // 2, points // 2, points - 2, points - 1]))
    found = kinks.kernels(nodes)
    for i, k in enumerate(nodes):
        for above, value in ((False, found.below[i]), (True, found.above[i])):
            truth = kernel(t, eta, points, int(k), above)
            assert abs(truth) <= found.sizes[i]
            assert abs(mp.mpc(complex(value)) - truth) <= KERNEL_ERROR * mp.mpf(2) ** -53 * found.sizes[i]
    everywhere = kinks.kernels(np.arange(points)).sizes
    with precision(64):
        assert everywhere.max() <= float(kinks.most())
        for first in (2, points // 2, points - 1):
            assert everywhere[first:].sum() <= float(kinks.tail(max(first, 2)))


@pytest.mark.parametrize(("t", "eta", "points"), LATTICES)
@pytest.mark.parametrize("above", [False, True])
def test_one_function_is_above_the_call_and_one_below(t, eta, points, above):
    """The sum over periods, Σ_j h(z + jn), of either stays on its side of Σ_j f(z + jn); the lower one touches it."""
    kinks = Kinks(t, eta, points)
    nodes = np.arange(points)
    terms = getattr(kinks.kernels(nodes), "above" if above else "below") * np.where(nodes, 2, 1)
    with precision(64):
        spacing = float(kinks.spacing)
    a, b = spacing * float(t), spacing * float(t + 1)
    z = np.concatenate([np.linspace(-3, 6, 181), np.linspace(6, points - 4, 40)])
    sums = (np.exp(2j * np.pi * np.multiply.outer(z, nodes) / points) @ terms).real * spacing / points
    away = z % points
    calls = np.exp(-a * away) / -np.expm1(-a * points) - np.exp(-b * away) / -np.expm1(-b * points)
    excess = (sums - calls) * (1 if above else -1)
    assert excess.min() > -1e-13 * calls.max()
    assert excess.max() > 1e-3 * spacing  # it is not the call itself
    lattice = (z % 1 == 0) & (not above)
    assert np.abs(excess[lattice]).max(initial=0) < 1e-13 * calls.max()


def test_the_areas_differ_by_an_eighth():
    kinks = Kinks(F(1), F(1, 4), 10**6)
    found = kinks.kernels(np.array([0]))
    with precision(64):
        spacing = float(kinks.spacing)
        exact = 1 / (1 * 2 * spacing**2)
    assert (found.above[0] - found.below[0]).real == pytest.approx(1 / 8, rel=1e-3)
    assert (found.above[0].real - exact) == pytest.approx(1 / 24, rel=1e-3)


def test_coarse_lattices_are_refused():
    with pytest.raises(NotCertified):
        Kinks(F(100), F(1), 64)
    with precision(53):
        assert Ball(1) < Kinks(F(1), F(1), 64).most()
