"""Sums over turned terms by a matrix, against the sum itself."""

import pytest
from flint import acb, arb

from tightrope.numerics.balls import precision
from tightrope.numerics.transforms.turned_sum import TurnedSum


@pytest.mark.parametrize("number", [1, 2, 3, 7, 16, 17, 300])
@pytest.mark.parametrize("angle", ["0", "-0.37", "2", "1000.5"])
def test_against_the_sum_itself(number, angle):
    with precision(160):
        terms = [acb(arb(k + 1).sqrt(), arb(k).cos()) / (k + 1) for k in range(number)]
        turn = arb(angle)
        exact = sum((term * acb(0, turn * k).exp() for k, term in enumerate(terms)), acb(0))
        found = TurnedSum(terms).at(turn)
        assert found.overlaps(exact)
        assert float(found.rad()) < 1e-40
    with precision(500):
        fine = sum((acb(t.real.mid(), t.imag.mid()) * acb(0, turn * k).exp() for k, t in enumerate(terms)), acb(0))
        assert found.contains(acb(fine.real.mid(), fine.imag.mid()))


def test_wide_terms_are_not_widened_much():
    with precision(100):
        terms = [acb(arb(1, 1e-9), arb(0, 1e-9))] * 64
        found = TurnedSum(terms).at(arb("0.1"))
        assert float(found.real.rad()) < 64 * 4e-9
        assert found.contains(sum((acb(0, arb("0.1") * k).exp() for k in range(64)), acb(0)))
