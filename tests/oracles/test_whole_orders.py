"""The general moment bounds of samples: floats for the search against the balls of the proof."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.curves.finite_pair import FinitePair, log_mean_float
from tightrope.curves.loss import Loss
from tightrope.curves.loss_renyi import _REMEMBERED, LossRenyi
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.randomized import response_law
from tightrope.curves.renyi import KnownOrders, LinearRenyi, Renyi, SmallestRenyi
from tightrope.curves.renyi_profile import renyi_to_profile
from tightrope.curves.whole_orders import PoissonRenyi, WithoutReplacementRenyi
from tightrope.errors import NotCertified
from tightrope.mechanisms.laplace import LaplacePair
from tightrope.numerics.balls import precision
from tightrope.numerics.real import real

F = Fraction
BASES = [
    LinearRenyi(real(F(1, 10))),
    LinearRenyi(real(F(1, 10**12))),
    LinearRenyi(real(50)),
    KnownOrders((F(2), F(8)), (F(1, 10), F(1, 2))),
]
ORDERS = [1.0001, 1.5, 2.0, 2.5, 3.0, 7.25, 8.0, 50.5, 300.0, 2000.5]


def curves(base, rate):
    yield PoissonRenyi(base, rate)
    for pure in (None, real(F(1, 2)), real(3)):
        yield WithoutReplacementRenyi(base, rate, pure)


def same(curve: Renyi, order: float) -> bool:
    with precision(120):
        ball = curve.divergence(F(order))
    exact = float(ball.mid()) if ball.is_finite() else math.inf
    return curve.approximate(order) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("rate", [F(1, 100), F(1, 2), F(1, 10**9)], ids=str)
@pytest.mark.parametrize("base", BASES, ids=str)
def test_floats_are_those_of_the_balls(base, rate):
    assert all(same(curve, order) for curve in curves(base, rate) for order in ORDERS)


@pytest.mark.parametrize(
    "pair",
    [
        NormalPair(real(F(3, 10))),
        LaplacePair(F(1)),
        LaplacePair(F(1, 10**12)),
        LaplacePair(F(900)),
        FinitePair("response", response_law(real(1))),
        FinitePair("tiny", response_law(real(F(1, 10**12)))),
        FinitePair("huge", response_law(real(F(10) ** 400))),
    ],
    ids=["normal", "laplace", "laplace tiny", "laplace huge", "response", "response tiny", "response huge"],
)
def test_float_cumulants_are_those_of_the_balls(pair):
    curve = LossRenyi(Loss(((pair, 3),)))
    assert all(same(curve, order) for order in (1.5, 2.0, 40.0))


def test_floats_that_would_cancel_are_left_to_balls():
    assert log_mean_float([(1e-12, 0.5), (-1e-12, 0.5)], 1.0) is None
    assert log_mean_float([], 1.0) is None
    assert log_mean_float([(math.inf, 0.5)], 1.0) is None
    assert log_mean_float([(1000.0, 0.5), (-1000.0, 0.5)], 2.0) == pytest.approx(2000 + math.log(0.5))


def test_a_curve_remembers_what_it_was_asked_but_not_for_ever():
    curve = LossRenyi(Loss(((NormalPair(real(1)), 1),)))
    orders = [2 + k / _REMEMBERED for k in range(_REMEMBERED + 1)]
    first = curve.approximations(orders)
    assert curve.approximations(orders[:5]) == first[:5]
    assert curve.approximations([2.0, 9.0, 9.0]) == [1.0, 4.5, 4.5]
    assert len(curve._found) < 10


class Shy(LinearRenyi):
    """Gives up below order 3."""

    def approximate(self, order: float) -> float:
        if order < 3:
            raise NotCertified("a curve", "it is shy")
        return super().approximate(order)


def test_orders_at_which_a_curve_gives_up_are_left_out_of_the_search():
    shy, bold = Shy(real(F(1, 10))), LinearRenyi(real(F(1, 10)))
    found = [renyi_to_profile(curve).epsilon(F(1, 10**5))[0].upper for curve in (shy, SmallestRenyi((bold, bold)))]
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_sampled_guarantees_are_answered():
    m = tr.RDP({2: "0.1", 8: "0.5"}).without_replacement(10, 100) * 10
    claim = tr.epsilon(m, "1e-5")
    assert tr.check(claim.to_json())
    assert claim.upper < tr.epsilon(tr.RDP({2: "0.1", 8: "0.5"}) * 10, "1e-5").upper
