"""Guards of the integration rules: a rule that cannot be proved is refused, never used; a bad shift proves nothing."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from tightrope.errors import NotCertified
from tightrope.numerics.balls import INFINITY, Ball, ball, precision
from tightrope.numerics.normal import normal_call, quantile, unequal_call, upper_tail
from tightrope.numerics.real import real
from tightrope.numerics.sums import saddles
from tightrope.numerics.sums.two_point import one_order_lower, one_order_upper
from tightrope.numerics.sums.two_point_search import curve_search, trial, widest_ratio
from tightrope.numerics.transforms.decay_search import shifted_rule
from tightrope.numerics.transforms.replace_decay import replace_decay
from tightrope.numerics.transforms.replace_rule import replace_alias, replace_rule, replace_tails
from tightrope.numerics.transforms.sampled_decay import decay_bound
from tightrope.numerics.transforms.sampled_rule import Rule, rule, tails

F = Fraction
GOOD = Rule(F(1, 4), -60, 60, F(1))


def refused(problem: str):
    return pytest.raises(NotCertified, match=problem)


def test_strips_that_are_too_wide_and_nodes_too_far_apart():
    for alias in (lambda r: r.alias(Ball(1), F(2)), lambda r: replace_alias(Ball(1), F(2), Ball(0), r)):
        assert alias(GOOD) < 0.5
        with refused("too wide"):
            alias(Rule(F(1, 4), -60, 60, F(4)))
        with refused("too far apart"):
            alias(Rule(F(8), -60, 60, F(1)))


def test_too_many_nodes():
    with refused("nodes"):
        rule(1.0, 0.1, 2.0, 1e9, 50.0, -20.0, 20.0)
    with refused("nodes"):
        replace_rule(1.0, 0.1, 2.0, 1e9, 50.0)
    with refused("too many nodes"):
        shifted_rule((-1e9, 1e9), 50.0, 1.0, 0.5, lambda _: 0.0)


def test_windows_that_miss_their_peak():
    q = ball(F(1, 10))
    with refused("misses 0"):
        tails(Ball(1), q, F(2), Rule(F(1, 4), 4, 60, F(1)), Ball(0), Ball(0))
    with refused("ends before"):
        tails(Ball(1), q, F(20), Rule(F(1, 4), -60, 60, F(1)), Ball(0), Ball(0))
    with refused("begins after"):
        tails(Ball(4), q, F(-9), Rule(F(1, 4), -2, 60, F(1)), Ball(0), Ball(0))
    with refused("ends before"):
        replace_tails(Ball(1), q, F(20), Rule(F(1, 4), -60, 60, F(1)))


@pytest.mark.parametrize("bound", [decay_bound, replace_decay])
def test_a_shift_that_proves_nothing_is_one(bound):
    with precision(80):
        good = bound(real(1), F(1, 10), F(2), F(3), F(1, 2), Ball(0))
        assert 0 < good <= 1
        assert bound(real(1), F(1, 10), F(2), F(3), F(0), Ball(0)) == 1
        assert bound(real(1), F(1, 10), F(2), F(3), F(1, 2), INFINITY) == 1
        assert bound(real(1), F(1, 10), F(2), F(10) ** 12, F(1, 10**9), Ball(0)) == 1  # it would need too many nodes


def test_saddles_beyond_floats():
    def moments(_: float) -> tuple[float, float, float]:
        raise OverflowError

    wild = SimpleNamespace(unit=1.0, moments=moments)
    assert saddles.saddle(wild, 1.0, 60, (1.0, 1.0), True) is None


def test_saddle_sides_when_the_two_laws_overlap():
    close = SimpleNamespace(unit=1.0, moments=lambda _: (0.0, 0.0, 1.0))
    assert saddles._side(close, 1.0, True) is saddles.Side.ABOVE
    assert saddles._side(close, -1.0, True) is saddles.Side.BELOW
    apart = SimpleNamespace(unit=1.0, moments=lambda t: (0.0, 10.0 if t == 0 else -10.0, 1.0))
    assert saddles._side(apart, 0.0, True) is saddles.Side.BETWEEN


def test_a_root_that_is_never_near_ends_somewhere():
    assert saddles._root(lambda _: 1.0, 1e-14, 600.0) == pytest.approx(1e-14, rel=1e-6)


def test_normal_laws_at_the_ends():
    nothing = Ball("nan")
    assert quantile(nothing).contains(Ball(0))
    assert quantile(Ball(0)) == -INFINITY
    assert quantile(Ball(1)) == INFINITY
    assert upper_tail(INFINITY) == 0
    assert upper_tail(-INFINITY) == 1
    assert normal_call(Ball(1), INFINITY) == 0
    assert normal_call(Ball(1), -INFINITY) == 1
    assert normal_call(INFINITY, Ball(1)) == 1
    assert unequal_call(F(0), F(2), F(0), F(1), INFINITY) == 0
    assert unequal_call(F(0), F(2), F(0), F(1), -INFINITY) == 1


def test_two_points_beyond_floats():
    assert one_order_upper(F(2), Ball("nan"), Ball(1)) == 1
    assert one_order_upper(F(2), INFINITY, Ball(1)) == 1
    assert one_order_upper(F(2), Ball(1), INFINITY) == 0
    assert one_order_lower(F(2), Ball("nan"), Ball(1), F(1, 2)) == 0
    assert one_order_lower(F(2), Ball(1), Ball(1), F(2)) == 0
    assert widest_ratio(1.0, 0.0, -1.0) == 0.0
    assert trial(F(2), math.nan, 1.0) >= 0

    def broken(_: float) -> float:
        raise ValueError

    assert curve_search(broken, 1.0) == (0.0, [])


def test_rules_are_chosen_in_floats_of_any_kind():
    found = rule(1.0, 0.1, -3.0, 2.0, 60.0, -12.0, 9.0)
    assert found.first < 0 < found.last
    assert np.isfinite(float(found.depth))
