"""Points of a profile between others that are known, and profiles for which too little work is allowed."""

import math
from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr
from tightrope.accounting import profiles
from tightrope.accounting.filled import falling, filled_delta, filled_epsilon
from tightrope.numerics.bound import Bound

RUN = tr.Gaussian(1)
EPSILONS = [Fraction(k, 10) for k in range(0, 60, 5)]
DELTAS = [Fraction(1, 10) ** k for k in range(1, 12)]


def test_between_two_deltas():
    known = {e: tr.delta(RUN, epsilon=e).bound for e in EPSILONS}
    for e in (Fraction(1, 4), Fraction(7, 3), Fraction(5)):
        truth, found = tr.delta(RUN, epsilon=e), filled_delta([one for one in known.items() if one[0] != e], e)
        assert found.lower <= truth.lower
        assert truth.upper <= found.upper
        before = max(x for x in known if x < e)
        assert found.upper < 0.9 * known[before].upper  # a chord, and not the value before


def test_between_two_epsilons():
    known = {d: tr.epsilon(RUN, delta=d).bound for d in DELTAS}
    for d in (Fraction(1, 30), Fraction("2.5e-7")):
        truth, found = tr.epsilon(RUN, delta=d), filled_epsilon(known.items(), d)
        assert found.lower <= truth.lower
        assert truth.upper <= found.upper < truth.upper * 1.2
    high = filled_epsilon(
        [(Fraction(1, 10), Bound(1.0, 1.0)), (Fraction(1, 100), Bound(5.0, math.inf))], Fraction(1, 20)
    )
    assert (high.lower, high.upper) == (1.0, math.inf)


def test_a_chord_is_attained_by_a_law_with_straight_pieces():
    """Between the losses of randomized response δ is a straight line in e^ε."""
    rr = tr.RandomizedResponse(epsilon=1)
    first, last, at = Fraction(1, 10), Fraction(9, 10), Fraction(1, 2)
    found = filled_delta([(e, tr.delta(rr, epsilon=e).bound) for e in (first, last)], at)
    assert found.upper == pytest.approx(tr.delta(rr, epsilon=at).upper, rel=1e-13)
    assert found.upper >= tr.delta(rr, epsilon=at).lower


def test_bounds_that_fall_help_each_other():
    known = {Fraction(1): Bound(0.1, 0.5), Fraction(2): Bound(0.2, 0.6), Fraction(3): Bound(0.0, 0.3)}
    assert falling(known) == {
        Fraction(1): Bound(0.2, 0.5),
        Fraction(2): Bound(0.2, 0.5),
        Fraction(3): Bound(0.0, 0.3),
    }


def test_no_neighbour_at_an_end():
    known = [(Fraction(1), Bound(0.1, 0.1)), (Fraction(2), Bound(0.01, 0.01))]
    assert filled_delta(known, Fraction(3)) is None
    assert filled_delta(known, Fraction(1, 2)) is None
    assert filled_epsilon([], Fraction(1, 2)) is None


def test_profiles_with_little_work_are_still_bounds(monkeypatch):
    m = tr.Gaussian(2).without_replacement(10, 1000) * 20
    points = np.linspace(0.02, 0.2, 12)
    free = tr.profile(m).delta(points)
    monkeypatch.setattr(profiles, "_WORK", 3e5)
    lower, upper = tr.profile(m).delta(points)
    assert (lower <= free[1] * (1 + 1e-9)).all()
    assert (upper >= free[0]).all()
    assert (np.diff(upper) <= 0).all()


def test_points_are_filled_where_no_work_is_left(monkeypatch):
    asked = []

    def alone(x):
        asked.append(x)
        return tr.delta(RUN, epsilon=x).bound

    monkeypatch.setattr(profiles, "affords", lambda _: False)
    known = {e: tr.delta(RUN, epsilon=e).bound for e in EPSILONS} | {Fraction(1, 3): None, Fraction(9): None}
    found = profiles._completed(known, alone, filled_delta)
    assert asked == [Fraction(9)]  # nothing is known beyond
    assert found[Fraction(1, 3)].upper > tr.delta(RUN, epsilon=Fraction(1, 3)).upper
