"""Ends of laws: nothing at all, below the least value, above the largest one."""

from fractions import Fraction

import tightrope as tr
from tightrope.accounting.compare import zcdp_to_epsilon_classic
from tightrope.accounting.facts import fact
from tightrope.curves.loss import Loss
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.sampled.glued import Glued
from tightrope.curves.sampled.poisson import PoissonRemove
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.normal import unequal_call, unequal_tail, upper_tail
from tightrope.numerics.real import real
from tightrope.numerics.sums.finite import FiniteSum, on_lattice


def test_no_noise_difference_at_all():
    same = NormalPair(real(0))
    assert same.tail(Ball(-1)) == 1
    assert same.tail(Ball(0)) == 0
    assert same.tail(Ball(-1).union(Ball(1))).overlaps(Ball(0.5))
    assert same.largest().rational == 0
    assert unequal_tail(Fraction(1), Fraction(2), Fraction(1), Fraction(2), Ball(-1)) == 1
    assert unequal_tail(Fraction(1), Fraction(2), Fraction(1), Fraction(2), Ball(1)) == 0
    assert unequal_call(Fraction(1), Fraction(2), Fraction(1), Fraction(2), Ball(1)) == 0
    assert upper_tail(Ball(0)).overlaps(Ball(0.5))


def test_a_long_lattice_beyond_its_ends():
    law = on_lattice(real(1), {1: real(Fraction(3, 4)), -1: real(Fraction(1, 4))})
    total = FiniteSum([(law, 10_000)])
    with precision(80):
        assert total.tail(Ball(20_000)).upper() <= Ball("1e-1000")
        assert total.tail(Ball(-20_000)).overlaps(Ball(1))
        assert total.call(Ball(20_000)).upper() <= Ball("1e-1000")
        top = total.call(Ball(9_999.5))
        assert 0 <= top.upper() <= Ball(10) ** -1000
        assert total.tail(Ball(9_999.5)).upper() <= Ball(10) ** -1000
        assert total.call(Ball(-20_000)).overlaps(Ball(1))
        wide = total.call(Ball(4_900).union(Ball(5_100)))
        assert wide.overlaps(total.call(Ball(5_000)))


def test_leaks_have_no_moments_after_sampling():
    pair = fact(tr.LeakyRandomizedResponse(1, "0.01"), Loss).curve.remove[0][0]
    assert not PoissonRemove(pair, Fraction(1, 2)).cumulant(Fraction(1)).is_finite()
    assert not Glued(pair, Fraction(1, 2)).cumulant(Fraction(1)).is_finite()
    with precision(80):
        wide = Glued(fact(tr.Laplace(1), Loss).curve.remove[0][0], Fraction(1, 2)).call(Ball(-0.1).union(Ball(0.1)))
        assert wide.overlaps(Ball(0.2))


def test_the_classic_conversion_is_a_theorem_of_its_own():
    with precision(100):
        found = zcdp_to_epsilon_classic(Ball(1) / 10, Ball(0), Fraction("1e-6"))
    assert abs(float(found.mid()) - 2.4507880004767996) < 1e-14
