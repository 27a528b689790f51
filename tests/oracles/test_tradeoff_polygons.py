"""f-DP by polygons: from a table to its trade-off and back, groups on chains of tables, guarantees to a trade-off."""

import random
from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.tradeoff import (
    TradeOff,
    guarantees_have_tradeoff,
    inverse,
    tradeoff_for_groups,
    tradeoff_is_dominated,
)
from tightrope.numerics.balls import ball, precision

F = Fraction


def rows(seed, outcomes, number):
    draw = random.Random(seed)
    made = []
    for _ in range(number):
        weights = [draw.randint(1, 9) for _ in range(outcomes)]
        made.append([F(w, sum(weights)) for w in weights])
    return made


def polygon(null, other):
    """The trade-off of two rows of probabilities, by taking outcomes in the order of their likelihood ratio."""
    order = sorted(range(len(null)), key=lambda i: other[i] / null[i], reverse=True)
    knots = [(F(0), F(1))]
    for i in order:
        a, f = knots[-1]
        knots.append((a + null[i], f - other[i]))
    return TradeOff(tuple(knots))


def hockey(p, q, gamma):
    return sum((max(a - gamma * b, F(0)) for a, b in zip(p, q, strict=True)), F(0))


@pytest.mark.parametrize("seed", range(6))
def test_a_polygon_knows_the_profile(seed):
    """Against the definition, in exact rationals at e^ε = 2 (ε enclosed by a ball)."""
    null, other = rows(seed, 4, 2)
    law = tradeoff_is_dominated(polygon(null, other))
    profile = loss_has_profile(law)
    with precision(200):
        epsilon = F(str(ball(F(2)).log().str(40, radius=False)))
    truth = max(hockey(other, null, 2), hockey(null, other, 2))
    with precision(120):
        assert abs(profile.prove(epsilon, {}) - ball(truth)) < ball(F(1, 10**30))
    assert inverse(inverse(polygon(null, other))) == polygon(null, other)


@pytest.mark.parametrize("seed", range(6))
def test_groups_on_chains(seed):
    """Rows P0, P1, P2 with T(P0, P1) and T(P1, P2) at least f: then T(P0, P2) is at least the group's curve."""
    p0, p1, p2 = rows(seed, 3, 3)
    curves = [polygon(p0, p1), polygon(p1, p2)]
    grid = [F(k, 60) for k in range(61)]
    # A polygon below both: its corners are the smaller values on a grid that contains all corners, made convex.
    points = sorted({*grid, *(a for c in curves for a, _ in c.knots)})
    low = convex([(a, min(c.at(a) for c in curves)) for a in points])
    two = tradeoff_for_groups(low, 2)
    truth = polygon(p0, p2)
    assert all(two.at(a) <= truth.at(a) for a in points)
    assert any(two.at(a) > 0 for a in points)


def slope(one, other):
    return (other[1] - one[1]) / (other[0] - one[0])


def convex(points):
    hull = []
    for x, y in points:
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (x - hull[-1][0]) >= (y - hull[-1][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append((x, y))
    return TradeOff(tuple(hull))


def test_randomized_response_for_groups():
    """RR(ln 3): the corner of f is (1/4, 1/4); three records make the first slope −27 = −3³."""
    one = TradeOff(((F(0), F(1)), (F(1, 4), F(1, 4)), (F(1), F(0))))
    three = tradeoff_for_groups(one, 3)
    assert three.knots[1] == (F(1, 36), F(1, 4))
    assert (three.knots[0][1] - three.knots[1][1]) / three.knots[1][0] == 27


@pytest.mark.parametrize("fpr", ["0.01", "0.3", "0.9"])
def test_guarantees_are_below_the_tradeoff_and_touch_it(fpr):
    m = tr.RandomizedResponse(epsilon=1)
    with precision(100):
        found = guarantees_have_tradeoff(
            (ball(F(1)), ball(F(1, 2))), (ball(F(0)), ball(F(tr.delta(m, 0.5).upper))), ball(F(fpr))
        )
    truth = tr.tradeoff(m, fpr)
    assert found <= ball(F(truth.upper))
    assert found >= ball(F(truth.lower)) - ball(F(1, 10**12))


@pytest.mark.parametrize(
    "knots",
    [
        ((0, 1),),
        ((0, 1), (F(1, 2), F(3, 4)), (1, 0)),
        ((0, F(1, 2)), (F(1, 2), F(1, 2)), (1, F(1, 10))),
        ((0, F(11, 10)), (1, 0)),
        ((F(1, 10), F(1, 2)), (1, 0)),
    ],
)
def test_what_is_no_tradeoff_is_refused(knots):
    with pytest.raises(tr.BadParameter):
        TradeOff(tuple((F(a), F(f)) for a, f in knots))
