"""The plans of a sum around atoms, with a way that is known in closed form and fails where it is told to."""

import math
from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.atom_terms import AtomTerms
from tightrope.curves.engines.atoms_profile import AtomsProfile
from tightrope.curves.engines.listed_sum import ListedSum
from tightrope.curves.engines.side_ways import Chernoff, Contour
from tightrope.curves.engines.smooth_side import SmoothSide
from tightrope.curves.engines.transformed import contour_sum
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.real import UNBOUNDED, ZERO, Real
from tightrope.numerics.sums.finite import FiniteSum


def parts_of(mechanism):
    return fact(mechanism, Loss).curve.remove


class Falling:
    """A way to δ(y) = e^{−8y}/4, good to its share where the stretch is short, and not beyond some place."""

    name, effort, enough = "falling", 1, math.log(16.0)

    def __init__(self, reach=math.inf, longest=math.inf, blind=math.inf):
        self.reach, self.longest, self.blind = reach, longest, blind

    def about(self, y):
        if y > self.blind:
            raise NotCertified("a test", "it is dark")
        return -8 * y - math.log(4)

    def plan(self, first, last, log_error):
        if last > self.reach or last - first > self.longest:
            raise NotCertified("a test", "too far")
        return {"error": math.exp(log_error), "first": first}

    def value(self, y, witness):
        with precision(128):
            far = abs(y - Ball(float(witness["first"]))) * 1e4 + 1
            return (-8 * y).exp() / 4 + Ball(0, float(witness["error"])) * far


def test_stretches_are_halved_and_far_places_bounded():
    side = SmoothSide([Falling(longest=1.0)], None, UNBOUNDED)
    asked = [(y, math.log(1e-9)) for y in (0.01, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0)]
    stretches = side.cover(asked)
    assert len(stretches) > 2
    assert "after" in stretches[-1]
    for y, error in asked:
        value = side.value(Ball(y), stretches)
        assert value.contains(Ball(math.exp(-8 * y) / 4)) or value.overlaps((-8 * Ball(y)).exp() / 4)
        assert float(value.rad()) < 20 * math.exp(error)


def test_ways_out_of_reach():
    with pytest.raises(NotCertified, match="out of reach"):
        SmoothSide([Falling(reach=0.1)], None, UNBOUNDED).cover([(1.0, -40.0), (1.5, -40.0)])
    assert SmoothSide([Falling()], None, UNBOUNDED).cover([(1.0, 2.0)]) == []
    blind = SmoothSide([Falling(blind=1.0)], None, UNBOUNDED)
    assert blind.about(0.9) == pytest.approx(-7.2 - math.log(4), rel=0.01)
    assert blind.about(3.0) >= -8 - math.log(4)  # it falls: what is known before holds
    known = contour_sum(parts_of(tr.Laplace(1)))
    bounded = SmoothSide([Falling(blind=0.2)], Chernoff(known), Real(Fraction(1)))
    assert bounded.about(0.99) <= 0
    assert bounded.about(1.0) == -math.inf
    assert bounded.value(Ball(1), []).is_zero()
    assert bounded.value(Ball("0.5"), []).contains(Ball(1))


def test_bounds_that_are_not_known():
    side = SmoothSide([Falling()], None, UNBOUNDED)
    with pytest.raises(NotCertified, match="not known"):
        side.value(Ball(1), [{"from": 0.0, "t": "1/1"}])
    rare = contour_sum(parts_of(tr.Gaussian(1).poisson("0.00001", relation="replace")))
    assert Chernoff(rare).tilt(0.1, -50.0) is None
    assert SmoothSide([Falling(blind=0.0)], Chernoff(rare), UNBOUNDED).about(0.1) < -6
    rare = contour_sum(parts_of(tr.Gaussian(1).poisson("0.00001", relation="replace")))
    with effort.allowed(0.0):
        assert Chernoff(rare).tilt(0.2, -50.0) is None
        assert SmoothSide([Falling(blind=0.0)], Chernoff(rare), UNBOUNDED).about(0.2) == 0
    assert contour_sum(parts_of(tr.Gaussian("0.0001").without_replacement(1, 100))) is None


def test_a_contour_with_mass_at_infinity():
    total = contour_sum(parts_of(tr.Approx("0.1", "1e-3") * 3))
    assert Contour(total).about(0.29) >= math.log(2.9e-3)


class Lying(Falling):
    """The same with errors of a thousandth, whatever was asked, or floats that see too little."""

    def __init__(self, error=0.0, less=0.0):
        super().__init__()
        self.error, self.less = error, less

    def about(self, y):
        return super().about(y) - self.less

    def value(self, y, witness):  # noqa: ARG002 - a way must take one
        with precision(128):
            return (-8 * y).exp() / 4 + Ball(0, self.error)


def around(way):
    law = parts_of(tr.RandomizedResponse(epsilon="0.3"))[0][0].law
    terms = AtomTerms((SmoothSide([way], None, UNBOUNDED),), (ListedSum(FiniteSum([(law, 1)])),))
    return AtomsProfile(terms, (None,), ZERO)


def test_an_easy_one():
    bound, _ = around(Lying()).epsilon(Fraction(1, 10**6))
    p = math.exp(0.3) / (1 + math.exp(0.3))
    exact = math.log((p * math.exp(2.4) + (1 - p) * math.exp(-2.4)) / 4e-6) / 8
    assert bound.lower <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= bound.upper <= bound.lower * (1 + 1e-9)


def test_floats_that_mislead():
    """Roots that floats put far off are found on proved values; those near 0 are given up."""
    right = around(Lying()).epsilon(Fraction(1, 10**6))[0]
    for less in (3.0, -3.0, 8.0, -8.0):
        found = around(Lying(less=less)).epsilon(Fraction(1, 10**6))[0]
        assert found.lower <= right.upper
        assert right.lower <= found.upper <= found.lower * (1 + 1e-8)
    with pytest.raises(NotCertified, match="too close to 0"):
        around(Lying(less=8.0)).epsilon(Fraction(15, 100))


def test_proofs_that_say_too_little():
    with pytest.raises(NotCertified, match="proved an ε near"):
        around(Lying(error=1e-3)).epsilon(Fraction(1, 10**6))
    wide = around(Lying(error=1e-8)).epsilon(Fraction(1, 10**6))[0]
    right = around(Lying()).epsilon(Fraction(1, 10**6))[0]
    assert wide.lower < right.lower <= right.upper < wide.upper < 1.1 * wide.lower


class Cliff(Falling):
    """One that falls at one place only."""

    def __init__(self, edge):
        super().__init__()
        self.edge = edge

    def about(self, y):
        return -1.0 if y < self.edge else -800.0


def test_roots_that_floats_cannot_find():
    with pytest.raises(NotCertified, match="do not see"):
        around(Cliff(math.inf)).estimate(Fraction(1, 100))
    assert around(Cliff(2e-12)).estimate(Fraction(1, 10**9)) == pytest.approx(0.3, rel=1e-9)


def test_plans_that_prove_nothing_and_places_that_share_one():
    class Slow(Falling):
        """As costly as a grid, and good everywhere, but for a dark place."""

        effort = 8

        def value(self, y, witness):
            if 2 < float(y) < 3:
                raise NotCertified("a test", "it is dark")
            with precision(128):
                return (-8 * y).exp() / 4 + Ball(0, float(witness["error"]))

    side = SmoothSide([Slow()], None, UNBOUNDED)
    shared = side.cover([(0.1, -30.0), (1.0, -30.0)])  # of different scale, and served by one plan
    assert [one["from"] for one in shared] == [0.0]
    dark = side.cover([(0.1, -30.0), (0.5, -30.0), (2.5, -30.0)])
    assert {one["by"] for one in dark} == {"falling"}
    with pytest.raises(NotCertified, match="dark"):
        side.value(Ball("2.5"), dark)


def test_what_cannot_be_mended_stays():
    class Short(Falling):
        """Good near its place; a second plan is refused."""

        def __init__(self):
            super().__init__()
            self.left = 1

        def plan(self, first, last, log_error):
            if not self.left:
                raise NotCertified("a test", "enough")
            self.left -= 1
            return super().plan(first, last, log_error)

    side = SmoothSide([Short()], None, UNBOUNDED)
    found = side.cover([(0.3, -25.0), (0.4, -25.0), (0.5, -25.0)])
    assert {one["first"] for one in found} == {0.3}
