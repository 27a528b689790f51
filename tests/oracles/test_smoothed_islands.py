"""Smoothed contours of losses that nearly lie on a lattice: where the transform comes back, its nodes are summed."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.contour.blurred import BlurredSum
from tightrope.numerics.contour.islands import islands
from tightrope.numerics.contour.smoothed import SmoothedSum
from tightrope.numerics.contour.smoothed_proof import NotLow, SmoothedProof, SmoothPlan, check_gaps
from tightrope.numerics.real import Real
from tightrope.numerics.sums.finite import scattered
from tightrope.numerics.transforms.closed import NormalTransform
from tightrope.numerics.transforms.exchanged_discrete import ExchangedDiscreteNormalTransform
from tightrope.numerics.transforms.finite import FiniteTransform
from tightrope.numerics.transforms.low_stretches import low_parts, low_up_to
from tightrope.numerics.transforms.sampled import SampledNormalTransform

F = Fraction
GOAL = math.log(1e-6)


@pytest.fixture(scope="module")
def wide():
    """Steps of wide noise: losses are nearly 2qk/v."""
    return [(ExchangedDiscreteNormalTransform(F(64), 1, F(3, 10), False), 300)]


@pytest.fixture(scope="module")
def found(wide):
    total = SmoothedSum(wide)
    x, slope = total.root(GOAL)
    return total, x, total.plan(x, GOAL, slope, 1e-10)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_islands_are_where_the_lattice_comes_back(wide, found):
    total, x, plan = found
    assert len(plan.islands) > 4
    period = 2 * math.pi / (2 * 0.3 / 64) / float(plan.eta)
    for turn, (start, end) in enumerate(plan.islands, 1):
        assert start < turn * period * 1.01
        assert end > turn * period * 0.99
        assert end - start < 5 * plan.count
    value, other = total.call(Ball(x), plan), BlurredSum(wide)
    assert value.overlaps(other.call(Ball(x), other.plan(x, 1e-9)))
    assert float(value.rad() / value.mid()) < 1e-9


def test_what_is_between_islands_is_low(wide, found):
    """At many places, from the transform itself."""
    _, _, plan = found
    transform, copies = wide[0]
    first = float(plan.eta * plan.count)
    for start, end in plan.gaps()[:3]:
        nodes = np.unique(np.linspace(float(start / plan.eta) + 1, float(end / plan.eta) - 1, 40).astype(int))
        with precision(80):
            phi = transform.at(plan.t, plan.eta, [int(node) for node in nodes])
            sizes = [copies * float(abs(one).upper().log()) for one in phi]
        assert (np.array(sizes) <= -plan.nats + np.log(nodes * float(plan.eta) / first) + 1e-6).all()


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_longer_islands_change_nothing_and_missing_ones_are_noticed(wide, found):
    total, x, plan = found
    value = total.call(Ball(x), plan)
    longer = replace(plan, islands=tuple((start - 3, end + 5) for start, end in plan.islands))
    again = total.call(Ball(x), longer)
    assert again.overlaps(value)
    assert 0.5 < float(again.rad() / value.rad()) < 2
    with pytest.raises(NotLow) as caught:
        total.call(Ball(x), replace(plan, islands=plan.islands[1:]))
    assert float(plan.eta) * (plan.islands[0][0] - 1200) < caught.value.reached < float(plan.eta) * plan.islands[0][1]
    shorter = (plan.islands[0][0] + 6, plan.islands[0][1])
    with pytest.raises(NotLow):
        total.call(Ball(x), replace(plan, islands=(shorter, *plan.islands[1:])))
    known = {}
    check_gaps(wide, plan, known)
    check_gaps(wide, plan, dict.fromkeys(known, F(10) ** 9))
    with pytest.raises(NotLow):
        check_gaps(wide, plan, dict.fromkeys(known, F(0)))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("seed", range(6))
def test_the_nodes_of_islands_are_those_of_one_long_sum(seed):
    """A law on a lattice, with all nodes in one sum, and with its returns as islands of another."""
    rng = np.random.default_rng(seed)
    masses, losses = [Real(F(w, 100)) for w in (30, 25, 20, 15, 10)], [Real(F(k, 4)) for k in (-2, -1, 0, 1, 3)]
    parts = [(FiniteTransform(scattered(losses, masses, Real(F(0)))), 60)]
    saddles = SmoothedSum(parts)._saddles
    eta, width = F(1, 16), F(1, 24)
    last = math.ceil(12 / float(eta * width))
    back = 8 * math.pi / float(eta)  # in nodes
    whole = SmoothedProof(parts, saddles, SmoothPlan(F(1, 4), eta, last, 80, width, last, 30))
    found = tuple((round(k * back) - 60, round(k * back) + 60) for k in range(1, int(last / back) + 1))
    apart = SmoothedProof(parts, saddles, SmoothPlan(F(1, 4), eta, 60, 80, width, last, 25, found))
    assert len(found) > 5
    spoilt = SmoothedProof.__new__(SmoothedProof)
    spoilt.__dict__ = {**apart.__dict__, "_pieces": apart._pieces[:1]}
    noticed = 0
    for x in rng.uniform(-5, 12, 5):
        with precision(128):
            one, two = whole.call(Ball(float(x))), apart.call(Ball(float(x)))
            assert one.overlaps(two)
            assert two.rad() < 2 * one.rad() + abs(one.mid()) * Ball("1e-6")
            noticed += not spoilt.call(Ball(float(x))).overlaps(one)
    assert noticed > 1


def test_islands_in_floats(wide, found):
    _, _, plan = found
    parts, bare = low_parts(wide, plan.t), replace(plan, islands=())
    first, end = plan.eta * plan.count, plan.eta * plan.last
    reached = float(low_up_to(parts, first, end, plan.nats))
    assert islands(parts, bare, reached) == plan.islands
    later = islands(parts, replace(plan, islands=plan.islands[:1]), float(plan.eta) * (plan.islands[1][0] - 5))
    assert later == plan.islands
    assert islands(parts, bare, float(plan.eta) * (plan.count + 400)) is None  # nothing comes back there
    assert islands(parts, bare, float(plan.eta) * plan.last * 2) is None
    half = replace(bare, last=plan.islands[0][1] - 1)  # one that is cut off
    assert islands(parts, half, reached) == ((plan.islands[0][0], half.last),)


def test_a_lattice_has_too_many_islands():
    losses, masses = [F(0), F(1, 30), F(-1, 30)], [F(1, 2), F(3, 10), F(1, 5)]
    law = scattered([Real(loss) for loss in losses], [Real(mass) for mass in masses], Real(F(0)))
    parts = low_parts([(FiniteTransform(law), 4000)], F(1))
    plan = SmoothPlan(F(1), F(1, 8), 60, 64, F(1, 10**4), 10**6, 40)
    assert islands(parts, plan, 185.0) is None


def test_parts_without_nodes_far_out_have_no_islands(wide, found):
    _, _, plan = found
    total = SmoothedSum([*wide, (SampledNormalTransform(Real(F(1)), F(1, 10**5), False), 2)])
    assert not total._each_alone(plan.t)
    wrong = NotLow(float(plan.eta) * plan.islands[0][0], plan.nats)
    with pytest.raises(NotLow):
        total._mended(replace(plan, islands=()), wrong)
    assert SmoothedSum([*wide, (NormalTransform(Real(F(1, 10**9))), 1)])._each_alone(plan.t) is NormalTransform.each


def test_no_more_gaps_are_looked_at_than_work_allows(wide, found):
    from tightrope.numerics import effort

    _, x, plan = found
    with effort.allowed(2e3), pytest.raises(NotCertified, match="spent"):
        SmoothedSum(wide).call(Ball(x), plan)


def test_a_plan_is_mended_only_so_often(wide, found, monkeypatch):
    _, x, plan = found
    total, tried = SmoothedSum(wide), []

    def never(one, _room=1.0):
        tried.append(one)
        raise NotLow(float(one.eta * one.count), one.nats)

    monkeypatch.setattr(total, "_kept", never)
    with pytest.raises(NotLow):
        total._proved(x, GOAL, 15.0, 1e-3)
    assert 2 < len(tried) < 12
    assert [one.count for one in tried] == sorted(one.count for one in tried)  # with more nodes each time
    tried.clear()
    monkeypatch.setattr(total, "_proved", lambda *_, **__: never(plan))
    with pytest.raises(NotLow):
        total.plan(x, GOAL, -15.0, 1e-10)
    assert len(tried) == 1  # what λ would have to be there costs too much

    def far(*_):
        tried.append(plan)
        raise NotLow(1e9, plan.nats)

    monkeypatch.setattr(total, "_proved", far)
    with pytest.raises(NotLow):
        total.plan(x, GOAL, -15.0, 1e-10)
    assert len(tried) == 4  # twice with a wider λ
