"""Bounds that take the place of a contour: noise that hardly moves, calls far out, and atoms that are left out."""

from fractions import Fraction
from itertools import product

import mpmath as mp
import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.atom_terms import AtomTerms
from tightrope.curves.engines.atoms_profile import atoms_profile
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.contour import discrete_normal
from tightrope.numerics.contour.discrete_normal import _unmoved, discrete_normal_sum_call
from tightrope.numerics.sums.unequal import noncentral

F = Fraction


def enumerated(variance, copies, x):
    """E[(1 − e^{x−S})₊] over noise from −3 to 3, in mpmath."""
    mp.mp.dps = 120
    v, x = mp.mpf(variance.numerator) / variance.denominator, mp.mpf(x.numerator) / x.denominator
    weights = {k: mp.exp(-k * k / (2 * v)) for k in range(-3, 4)}
    whole, total = mp.fsum(weights.values()), mp.mpf(0)
    for ks in product(weights, repeat=copies):
        loss = (2 * sum(ks) + copies) / (2 * v)
        if loss > x:
            total += mp.fprod(weights[k] / whole for k in ks) * -mp.expm1(x - loss)
    return total


@pytest.mark.parametrize("below", [F(1, 1000), F(1), F(60), F(150)])
def test_noise_that_does_not_move(below):
    """The law of three copies; what others may add is within the ball, and about all that it is wide."""
    variance, copies = F(1, 200), 3
    x = F(copies * 100) - below
    truth = enumerated(variance, copies, x)
    with precision(64):
        found = _unmoved(variance, 1, copies, ball(x))
    with precision(128):
        finer = _unmoved(variance, 1, copies, ball(x))
    with precision(400):
        exact = Ball(mp.nstr(truth, 100))
        chance = 6 * Ball(-100).exp()
        assert found.contains(exact)
        assert found.rad() >= chance
        if finer is not None:
            assert finer.contains(exact)
            assert finer.rad() < chance * (1 + Ball(2) ** -20) + Ball(2) ** -120


def test_noise_that_may_be_seen_is_not_said_to_be_still():
    with precision(64):
        assert _unmoved(F(1, 4), 1, 3, Ball(1)) is None
        assert _unmoved(F(1, 200), 1, 3, Ball(301)) is None  # above all but moved losses, whose chance is in sight
        most = _unmoved(F(1, 4000), 1, 3, Ball(6001)).upper()
        moved = 6 * Ball(-2000).exp()  # one of three, up or down; two of them are unlikelier by far
        assert moved.lower() <= most < moved * (1 + Ball(2) ** -20)


@pytest.mark.parametrize("x", [F(4), F(8), F(16)])
def test_far_out_the_bound_is_above_the_call(x, monkeypatch):
    with precision(80):
        exact = discrete_normal_sum_call(F(4), 1, 10, ball(x))
        monkeypatch.setattr(discrete_normal, "_FURTHEST", 0.0)
        monkeypatch.setattr(discrete_normal, "_MOST_LOST", -1.0)
        bound = discrete_normal_sum_call(F(4), 1, 10, ball(x))
    assert exact < bound.upper() < 1000 * exact
    assert bound.contains(0) or bound.lower() <= 0


def test_atoms_that_are_left_out_widen_the_sum():
    """A thousandth of the mass left out: the value is between that of the others and a thousandth more."""
    profile = atoms_profile(fact(tr.DiscreteGaussian("0.9") + tr.Gaussian(2).poisson("0.01"), Loss).curve)

    class Lossy:
        def infinite(self):
            return Ball(0)

        def atoms(self, limit):
            atoms, lost = profile.terms.finite[0].atoms(limit)
            return atoms, lost + Ball(0.001)

    witness = profile.find(F(1))
    terms = AtomTerms(profile.terms.sides, (Lossy(), Lossy()))
    with precision(128):
        narrow, wide = (one.value(0, Ball(1), witness["sides"], Ball(0)) for one in (profile.terms, terms))
        assert abs(wide.lower() - narrow.lower()) < 1e-9
        assert abs(wide.upper() - narrow.upper() - Ball(0.001)) < 1e-9


def test_tails_of_unequal_variances_count_their_work():
    with effort.allowed(1000), pytest.raises(NotCertified, match="noncentral"):
        noncentral(5, F(9000), Ball(9000), above=True)
