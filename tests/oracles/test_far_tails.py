"""Normal tails tens of thousands of deviations out, and pairs of Gaussians of very unequal width."""

from __future__ import annotations

from fractions import Fraction

import pytest
from mpmath import mp, mpf

import tightrope as tr
from tightrope.numerics.balls import ball, precision
from tightrope.numerics.normal import upper_tail

F = Fraction


@pytest.mark.parametrize("x", ["65536", "65537", "100000", "12345678"])
def test_far_tails(x):
    """P[N > x] = φ(x)·∫₀^∞ e^{−xt − t²/2} dt."""
    with precision(128):
        found = upper_tail(ball(F(x)))
        opposite = upper_tail(ball(-F(x)))
    with mp.workdps(60):
        at = mpf(x)
        ratio = mp.quad(lambda u: mp.exp(-u - u * u / (2 * at * at)), [0, 1, 4, 16, 64, 150]) / at
        log = -at * at / 2 - mp.log(2 * mp.pi) / 2 + mp.log(ratio)
        with precision(200):
            difference = found.log() - ball(F(int(log * 10**40), 10**40))
    assert abs(float(difference.mid())) < 1e-20
    assert found.rel_accuracy_bits() > 90
    with precision(200):
        assert opposite > ball(1 - F(1, 10**30))


@pytest.mark.parametrize(("text", "ratio"), [("1e10", 10**10), ("1e19", 10**19)])
@pytest.mark.parametrize("delta", ["1e-5", "0.5"])
def test_very_unequal_pairs_are_enclosed(text, ratio, delta):
    """At ε so large that the narrow law has no mass left, δ is the wide law's tail beyond z = √(2ε)."""
    claim = tr.epsilon(tr.GaussianPair(0, text, 0, 1), delta)
    assert claim.tight
    assert claim.upper - claim.lower <= 1e-14 * claim.upper
    with mp.workdps(60):
        z = mp.sqrt(2) * mp.erfinv(1 - mpf(delta))
        assert mp.almosteq(claim.upper, (z * ratio) ** 2 / 2, 1e-9)


def test_the_reverse_pair_costs_the_same():
    one, other = (tr.epsilon(tr.GaussianPair(*args), "1e-5") for args in ((1, "1e19", 0, 1), (0, 1, 1, "1e19")))
    assert one.lower <= other.upper
    assert other.lower <= one.upper
