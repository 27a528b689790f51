"""Arrays of points share their work and say what each point alone does: upper bounds, blurred contours, lost causes."""

from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr
from tightrope.accounting.attained import attained_bounds
from tightrope.accounting.facts import fact
from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.engines.blurred_profile import blurred_profile
from tightrope.curves.engines.contour_points import found_at
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics.bound import Bound

BATCHES = tr.Gaussian(4, sensitivity=2).without_replacement(10, 100) * 40


def test_an_upper_bound_shares_its_points():
    """The dominating law gives the upper array, an attained law the lower one."""
    epsilons = ["0.1", "0.5", "1", "1.5", "2"]
    lower, upper = tr.profile(BATCHES).delta(epsilons)
    for low, high, e in zip(lower, upper, epsilons, strict=True):
        alone = tr.delta(BATCHES, e)
        assert not alone.tight
        assert high == pytest.approx(alone.upper, rel=1e-8)
        assert low == pytest.approx(alone.lower, rel=1e-6)
        assert 0 < low < high


def test_epsilons_are_shared_likewise():
    lower, upper = tr.profile(BATCHES).epsilon(["1e-3", "1e-5"])
    for low, high, d in zip(lower, upper, ["1e-3", "1e-5"], strict=True):
        alone = tr.epsilon(BATCHES, d)
        assert high == pytest.approx(alone.upper, rel=1e-8)
        assert low == pytest.approx(alone.lower, rel=1e-6)


def test_parts_of_a_law_are_passed_over_once_it_is_known():
    asked = []

    def known(law):
        asked.append(law)
        return [Bound(0.0, 1.0)]

    assert len(list(attained_bounds(BATCHES, known))) == len(asked) == 1
    assert sum(n for _, n in asked[0].remove) == 40

    def unknown(law):
        asked.append(law)
        if sum(n for _, n in law.remove) > 1:
            raise NotCertified("a test", "it was told so")
        return [None]

    asked.clear()
    assert list(attained_bounds(BATCHES, unknown)) == [[None]]
    assert len(asked) == 2


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_blurred_contours_serve_their_neighbours():
    loss = fact(tr.Laplace(1).poisson("0.1") * 5, Loss).curve
    profile = blurred_profile(loss)
    points = [Fraction(i, 20) for i in range(1, 8)]
    shared = profile.deltas(points)
    assert all(value.rel_accuracy_bits() >= 20 for value in shared)
    assert len(profile.sums[0]._proofs) < len(points)
    for x, value in zip(points, shared, strict=True):
        assert value.overlaps(profile.prove(x, profile.find(x)))


def test_what_fails_at_the_ends_and_in_the_middle_is_left():
    asked = []

    def fails(x):
        asked.append(x)
        raise NotCertified("a test", "it was told so")

    points = [Fraction(i) for i in range(20)]
    assert set(found_at(points, fails).values()) == {None}
    assert asked == [points[0], points[-1], points[10]]
    assert found_at(points, lambda x: x) == {x: x for x in points}
    assert len(found_at(points[:3], fails)) == 3


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_few_batches_have_a_profile():
    """Contours of the split law are as good as they can be, and are not made anew for every point."""
    loss = fact(tr.Gaussian(1, sensitivity=2).without_replacement(10, 100) * 10, Loss).curve
    profile = loss_has_profile(loss)
    values = profile.deltas([Fraction(i, 4) for i in range(1, 9)])
    middles = [float(value.mid()) for value in values]
    assert all(np.diff(middles) < 0)
    assert all(value.rel_accuracy_bits() > 18 for value in values)
