"""What stands where no contour is afforded: Chernoff's bounds, and what is carried from one point to the next."""

from fractions import Fraction

import pytest
from mpmath import mp

import tightrope as tr
from tightrope.accounting.ends import carried
from tightrope.accounting.facts import fact
from tightrope.curves.engines.contour_profile import contour_profile
from tightrope.curves.loss import Loss
from tightrope.numerics.balls import Ball
from tightrope.numerics.bound import Bound

F = Fraction


@pytest.mark.parametrize("t", [F(1, 2), F(3), F(20)])
@pytest.mark.parametrize("delta", [1e-3, 1e-12])
def test_a_root_of_a_chernoff_bound_is_that_of_its_formula(t, delta):
    """Of a normal loss K(t) = μ²t(t + 1)/2, and E[(1 − e^{x−L})₊] ≤ e^{K(t) − tx}·t^t/(1 + t)^{t+1}."""
    total = contour_profile(fact(tr.Gaussian(2) * 3, Loss).curve).sums[0]
    with mp.workdps(40):
        at, mu_squared = mp.mpf(t.numerator) / t.denominator, mp.mpf(3) / 4
        log = at * mp.log(at) - (at + 1) * mp.log(at + 1) + mu_squared * at * (at + 1) / 2
        truth = (log - mp.log(mp.mpf(delta))) / at
    found = total.root_upper(Ball(delta), t)
    assert float(found.upper()) >= float(truth) * (1 - 1e-15)
    assert float(found.lower()) == pytest.approx(float(truth), rel=1e-6)


def test_what_is_carried_is_no_less_than_before():
    found = {F(1): Bound(0.2, 0.5), F(2): None, F(3): Bound(0.1, 0.3), F(4): None}
    known = carried(found)
    assert known[F(2)] == Bound(0.0, 0.5)
    assert known[F(4)] == Bound(0.0, 0.3)
    assert carried({F(1): None, F(2): Bound(0.0, 0.1)})[F(1)] is None
