"""Finitely many Rényi constraints: the ε found in floats, against brute force over the definition, and proved."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr
from tightrope.accounting.routes import route_named
from tightrope.accounting.solve import epsilon_by
from tightrope.curves.renyi import KnownOrders, LargestRenyi, LinearRenyi, SummedRenyi
from tightrope.curves.renyi_profile import WholeCurveProfile
from tightrope.numerics.balls import precision
from tightrope.numerics.real import real
from tightrope.numerics.sums.two_point_epsilon import knot_epsilon

F = Fraction
STATED = [
    {2: "0.1"},
    {2: "1e-6"},
    {2: "0.1", 8: "0.5"},
    {"1.5": "0.1", 2: "0.11", 3: "0.5"},
    {2: 1, 3: "1.01", 4: 5, 100: "5.1"},
    {2: "0.1", 3: "0.14", 4: "0.19", 5: "0.21", 6: "0.22", 7: "0.23"},
    {2: 10},
    {"1.01": "0.001", 1000000: 5},
]


def largest_ratio(stated: dict, delta: float) -> float:
    """max ln((p − δ)/q) over pairs of coins that keep every constraint: a grid of p, and bisection on q."""
    best = -math.inf
    for p in delta + np.exp(np.linspace(math.log(delta) - 6, math.log1p(-delta), 200)):
        low, high = -800.0, math.log(p)  # ln q
        for _ in range(45):
            q = math.exp((low + high) / 2)
            kept = all(_divergence(p, q, float(F(str(a)))) <= float(F(str(t))) for a, t in stated.items())
            low, high = (low, (low + high) / 2) if kept else ((low + high) / 2, high)
        best = max(best, math.log(p - delta) - high)
    return best


def _divergence(p: float, q: float, a: float) -> float:
    one = a * math.log(p) + (1 - a) * math.log(q)
    other = a * math.log1p(-p) + (1 - a) * math.log1p(-q) if p < 1 else -math.inf
    return float(np.logaddexp(one, other)) / (a - 1)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("stated", STATED, ids=str)
@pytest.mark.parametrize("delta", ["0.01", "1e-5"])
def test_the_whole_curve_of_known_orders(stated, delta):
    truth = max(largest_ratio(stated, float(delta)), 0.0)
    found = epsilon_by(route_named(tr.RDP(stated), "rdp-optimal"), F(delta)).computed
    assert truth * (1 - 1e-9) <= found.upper <= truth * (1 + 5e-3) + 1e-9  # the grid of p is coarse
    assert found.upper - found.lower <= 1e-6 * found.upper + 1e-15
    claim = tr.epsilon(tr.RDP(stated), delta)
    assert claim.upper <= found.upper * (1 + 1e-9)
    assert tr.check(claim.to_json())


def test_a_line_that_ends():
    """(ρ, ω)-tCDP with its end as the best order: one order decides. Where others are broken, all are searched."""
    curve = LinearRenyi(real(F(1, 10)), top=F(2))
    one = KnownOrders((F(2),), (F(1, 5),))
    bound, _ = WholeCurveProfile(curve).epsilon(F(1, 10**5))
    assert bound.upper == pytest.approx(WholeCurveProfile(one).epsilon(F(1, 10**5))[0].upper, rel=1e-9)
    steep = LinearRenyi(real(3), top=F(3, 2))
    bound, _ = WholeCurveProfile(steep).epsilon(F(3, 10))
    end = WholeCurveProfile(KnownOrders((F(3, 2),), (F(9, 2),))).epsilon(F(3, 10))[0]
    assert bound.upper < end.upper * 0.999


def test_truncated_claims_use_the_end_where_it_counts():
    assert tr.epsilon(tr.TCDP("0.1", 2), "1e-5").route == "rdp-optimal"
    assert tr.epsilon(tr.TCDP("0.1", 20), "1e-5").route == "rdp"


def test_knots_of_sums():
    a, b = KnownOrders((F(2), F(8)), (F(1, 10), F(1, 2))), KnownOrders((F(3),), (F(1),))
    assert SummedRenyi(((a, 2), (b, 1))).knots == (F(2), F(3))
    assert SummedRenyi(((a, 2), (LinearRenyi(real(1)), 1))).knots is None
    assert SummedRenyi(()).knots is None
    assert LargestRenyi((a, b)).top == F(3)
    assert LargestRenyi((a, b)).approximate(2.5) == 1.0
    assert a.approximate(9.0) == math.inf


@pytest.mark.parametrize("order", ["1.25", "2", "5", "8"])
def test_floats_of_known_orders_are_those_of_the_balls(order):
    curve = KnownOrders((F(2), F(8)), (F(1, 10), F(1, 2)))
    with precision(80):
        assert curve.approximate(float(order)) == pytest.approx(float(curve.divergence(F(order)).mid()), rel=1e-14)


def test_nothing_is_found_without_constraints_or_beyond_floats():
    assert knot_epsilon([], -10.0) is None
    assert knot_epsilon([(F(2), math.inf)], -10.0) is None
    assert knot_epsilon([(F(2), 1e308)], -1e308) is None


def test_a_leak_leaves_less_for_the_rest():
    m = tr.ZCDP("0.1", delta="1e-7")
    inner = tr.epsilon(tr.ZCDP("0.1"), F(10**-5).limit_denominator(10**9))
    whole = tr.epsilon(m, "1e-5")
    assert whole.computed.upper == pytest.approx(
        epsilon_by(route_named(tr.ZCDP("0.1"), "zcdp"), (F(1, 10**5) - F(1, 10**7)) / (1 - F(1, 10**7))).computed.upper
    )
    assert whole.upper > inner.upper
    assert tr.epsilon(m, "1e-7").upper == math.inf
    assert tr.epsilon(m, "1e-8").lower == math.inf or tr.epsilon(m, "1e-8").upper == math.inf
