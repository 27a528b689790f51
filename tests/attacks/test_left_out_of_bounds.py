"""What is left out of a sum is counted, and a proof at another place than the question asks about is refused."""

import json
from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.sampled.glued import Glued
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.moments.blocked_sums import Terms, blocked_sum
from tightrope.numerics.real import Real

F = Fraction


@pytest.mark.parametrize("nats", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize(("up", "down"), [(F(3), F(0)), (F(9, 2), F(-7, 2)), (F(-2), F(0))])
def test_blocks_that_are_not_summed_are_bounded(nats, up, down):
    with precision(120):
        terms = Terms(ball(F(1, 5000)), ball(F(1, 400)), ball(F(1, 3000)), ball(F(1, 10)), up, down)
        top, total = blocked_sum(terms, nats)
        truth = sum(((terms.value(k) - top).exp() for k in range(-1500, 1501)), Ball(0))
        assert total.lower() <= truth.upper()
        assert total.upper() >= truth.lower()
        assert total.rad() > truth.rad()


@pytest.mark.parametrize("s", [2, 7, 20])
def test_moments_by_those_of_one_sample(s):
    """ln M(s) of a fixed-size sample lies between the bounds from a Poisson sample's."""
    pair = Glued(NormalPair(Real(F(1))), F(1, 10))
    with precision(100):
        exact, between = pair.cumulant(F(s)), pair._by_sample(F(s))
        assert between.lower() <= exact.upper()
        assert between.upper() >= exact.lower()


def test_a_place_beyond_the_question_is_no_proof():
    """What is proved of δ at a larger ε says nothing of a smaller one."""
    m = tr.Gaussian(1).poisson("0.01", max_batch=30, population=1000) * 100
    near, far = (json.loads(tr.delta(m, x).to_json()) for x in ("0.05", 1))
    assert far["upper"] < near["upper"] / 2
    moved = {"upper": far["upper"], "lower": 0.0, "computed": far["computed"]}
    assert not tr.check({**near, **moved, "witness": {**near["witness"], "place": far["witness"]["place"]}})
    assert not tr.check({**near, **moved, "witness": far["witness"]})
