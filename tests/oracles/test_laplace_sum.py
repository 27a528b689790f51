"""Sums of Laplace losses against quadrature: k copies from k − 1 by conditioning on one loss."""

import random
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from mpmath import mpf

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, certain, precision
from tightrope.numerics.sums.laplace import MOST_COPIES, laplace_call

BITS = 100
TINY = mpf(10) ** -20


def number(x):
    return mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mpmath.make_mpf(x._mpf_)


def value_of(epsilon0, copies, x):
    """laplace_call as an mpmath number, x an mpmath number (dyadic, so exact as a ball)."""
    with precision(140):
        return number(laplace_call(epsilon0, copies, Ball(x)).mid())


def one_copy(epsilon0, x):
    """The mean of (1 − e^{x−L})₊ over the law itself: atoms and an integral, not the closed form."""
    e = number(epsilon0)

    def payoff(loss):
        return max(mpf(0), -mpmath.expm1(x - loss))

    knots = sorted({-e, e, min(max(x, -e), e)})
    smooth = mpmath.quad(lambda s: mpmath.exp((s - e) / 2) / 4 * payoff(s), knots)
    return payoff(e) / 2 + mpmath.exp(-e) / 2 * payoff(-e) + smooth


def one_more(epsilon0, copies, x, previous):
    """Condition on the last loss; ``previous`` is the function for one copy fewer."""
    e = number(epsilon0)
    corners = {x - m * e for m in range(1 - copies, copies, 2)}  # where the previous function is not smooth
    knots = sorted({-e, e} | {c for c in corners if -e < c < e})
    smooth = mpmath.quad(lambda s: mpmath.exp((s - e) / 2) / 4 * previous(x - s), knots, maxdegree=4)
    return previous(x - e) / 2 + mpmath.exp(-e) / 2 * previous(x + e) + smooth


def test_published_values():
    values = {
        (2, "0.5"): "0.35049598998110477769",
        (2, "1.5"): "0.12384911904466952322",
        (2, "0"): "0.44818083824283651761",
        (10, "3.3"): "0.43037406620325278082",
        (100, "71.5"): "1.0348843669879598315e-6",
    }
    with precision(BITS):
        for (copies, x), text in values.items():
            value = laplace_call(Fraction(1), copies, ball(Fraction(x)))
            assert abs(value / ball(Fraction(text)) - 1) < ball(Fraction(1, 10**19))
            assert certain(value, BITS - 20)
        crossing = Fraction("71.5460036597")
        assert laplace_call(Fraction(1), 100, ball(crossing - Fraction(1, 10**9))) > ball(Fraction(1, 10**6))
        assert laplace_call(Fraction(1), 100, ball(crossing + Fraction(1, 10**9))) < ball(Fraction(1, 10**6))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("epsilon0", [Fraction(1, 50), Fraction(1), Fraction(17, 3)])
def test_one_and_two_copies_from_the_law(epsilon0):
    with mpmath.workdps(25):
        e = number(epsilon0)
        for part in ("-1.7", "-0.35", "0", "0.4", "1.25"):
            x = mpf(part) * e
            assert abs(value_of(epsilon0, 1, x) - one_copy(epsilon0, x)) < TINY
            # One copy inside is the closed form of the law that the line above has just checked.
            twice = one_more(epsilon0, 2, x, lambda s: value_of(epsilon0, 1, s))
            assert abs(value_of(epsilon0, 2, x) - twice) < TINY
            assert abs(value_of(epsilon0, 1, x) - twice) > mpf(10) ** -6  # one copy would not do


@pytest.mark.parametrize(
    ("copies", "epsilon0"), [(3, Fraction(1)), (4, Fraction(1, 7)), (5, Fraction(3)), (12, Fraction(1, 2))]
)
def test_each_copy_follows_from_the_one_before(copies, epsilon0):
    rng = random.Random(copies)
    with mpmath.workdps(25):
        for _ in range(3):
            x = mpf(rng.uniform(-0.3, 0.9)) * copies * number(epsilon0)
            truth = one_more(epsilon0, copies, x, lambda s: value_of(epsilon0, copies - 1, s))
            assert abs(value_of(epsilon0, copies, x) - truth) < TINY


@pytest.mark.parametrize("copies", [1, 2, 7, 60, 400])
@pytest.mark.parametrize("epsilon0", [Fraction(1, 10**300), Fraction(1, 10), Fraction(10) ** 300])
def test_the_ends_and_the_atoms(copies, epsilon0):
    top = copies * epsilon0
    with precision(BITS):
        assert laplace_call(epsilon0, copies, ball(top).upper()).is_zero()
        assert laplace_call(epsilon0, copies, ball(2 * top)).is_zero()
        low = ball(-top).lower()
        assert laplace_call(epsilon0, copies, low).overlaps(-low.expm1())
        for j in (0, copies // 3):  # on an atom the sign of one exponent is undecided
            value = laplace_call(epsilon0, copies, ball((copies - 2 * j) * epsilon0))
            assert value.is_finite()
            assert not value < 0
            assert not value > 1
        assert certain(laplace_call(epsilon0, copies, Ball(0)), BITS - 5)


def test_monotone_and_symmetric():
    with precision(BITS):
        points = [Fraction(i, 4) for i in range(-30, 31)]
        values = [laplace_call(Fraction(1), 7, ball(x)) for x in points]
        assert all(a > b or b.is_zero() for a, b in pairwise(values))
        for x, value in zip(points, values, strict=True):
            mirrored = 1 - ball(x).exp() + ball(x).exp() * laplace_call(Fraction(1), 7, ball(-x))
            assert value.overlaps(mirrored)


def test_a_wide_ball_contains_both_ends():
    with precision(BITS):
        wide = laplace_call(Fraction(1), 10, Ball(3).union(Ball(4)))
        for x in (3, 4):
            assert wide.overlaps(laplace_call(Fraction(1), 10, Ball(x)))
        assert laplace_call(Fraction(1), 10, Ball("inf")).is_zero()
        assert laplace_call(Fraction(1), 10, Ball("-inf")) == 1
        assert laplace_call(Fraction(1), 10, Ball("nan")).is_finite()


def test_more_bits_narrow_the_ball():
    for copies in (1, 2, 30):
        with precision(80):
            rough = laplace_call(Fraction(1, 3), copies, ball(Fraction(1, 7)))
        with precision(500):
            fine = laplace_call(Fraction(1, 3), copies, ball(Fraction(1, 7)))
        assert rough.overlaps(fine)
        assert certain(fine, 480)


def test_too_many_copies_are_refused():
    with pytest.raises(NotCertified):
        laplace_call(Fraction(1), MOST_COPIES + 1, Ball(0))
    with pytest.raises(NotCertified):
        laplace_call(Fraction(1), 10**18, Ball(0))
