"""Flat contours for rare large losses, against grids, steeper contours and their own limits."""

import math
from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.flat_profile import flat_profile
from tightrope.curves.engines.grid_profile import grid_profile
from tightrope.curves.engines.smoothed_profile import smoothed_profile
from tightrope.curves.engines.transformed import transforms
from tightrope.curves.loss import Loss
from tightrope.curves.sampled.draws import cut_draws
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball
from tightrope.numerics.contour.flat import FlatSum, _root
from tightrope.numerics.contour.integral import ContourSum

F = Fraction
MILLIONTH = F(1, 10**6)


def cut(mechanism, bits=50):
    return cut_draws(fact(mechanism, Loss).curve, bits)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("sigma", "size", "population", "steps"), [(1, 100, 10_000, 1000), ("0.8", 10, 1000, 300)])
def test_a_grid_agrees(sigma, size, population, steps):
    loss = cut(tr.Gaussian(sigma).with_replacement(size, population) * steps)
    wide = grid_profile(loss).epsilon(MILLIONTH)[0]
    sharp, witness = flat_profile(loss).epsilon(MILLIONTH)
    assert wide.lower <= sharp.upper
    assert sharp.lower <= wide.upper
    assert (wide.upper - wide.lower) / wide.upper < 1e-2
    assert (sharp.upper - sharp.lower) / sharp.upper < 1e-9
    assert float(witness["t"]) <= 2


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_a_steep_contour_agrees_where_there_is_one():
    parts = transforms(cut(tr.Gaussian(2).with_replacement(100, 10_000) * 3000, 44).remove)
    flat, steep = FlatSum(parts), ContourSum(parts)
    assert flat.promising()
    x = flat.root(math.log(1e-6))
    one, two = (total.call(Ball(x), total.plan(x)) for total in (flat, steep))
    assert one.overlaps(two)
    assert float(one.rad() / one.mid()) < 1e-9
    assert float(one.mid()) == pytest.approx(1e-6, rel=1e-6)
    assert flat.estimate(x) == pytest.approx(math.log(1e-6), abs=1e-6)


def test_the_claim_is_sharp_and_checked():
    claim = tr.epsilon(tr.Gaussian(1).with_replacement(100, 10_000) * 1000, delta=1e-6)
    assert claim.witness["way"] == "flat"
    assert claim.computed.upper - claim.computed.lower < 1e-8
    assert tr.check(claim.to_json())
    again = tr.delta(tr.Gaussian(1).with_replacement(100, 10_000) * 1000, claim.upper)
    assert again.computed.upper == pytest.approx(1e-6, rel=1e-5)


def test_where_no_flat_contour_is_short_there_is_none():
    assert flat_profile(cut(tr.Gaussian(1).with_replacement(10, 1000) * 10)) is None  # atoms at 0 do not fade
    assert flat_profile(fact(tr.Laplace(scale=1).poisson(0.01) * 1000, Loss).curve) is None  # they never do
    parts = transforms(cut(tr.Gaussian(1).with_replacement(60, 60_000) * 30).remove)
    total = FlatSum(parts)
    assert total.root(0.0) <= 0
    with pytest.raises(NotCertified):
        total.plan(total.root(math.log(1e-6)))
    with pytest.raises(NotCertified, match=r"it needs .* s|does not decay"):
        total.crude_plan(0.1, math.log(1e-6), 1e-9)


def test_a_leak_bounds_what_can_be_asked():
    parts = transforms(cut(tr.Gaussian(1).with_replacement(100, 10_000) * 1000, 8).remove)
    total = FlatSum(parts)
    with_leak = math.log(float(total.infinite().mid()))
    assert total.root(with_leak - 1) == math.inf
    assert 0 < total.root(with_leak + 1) < math.inf
    assert total.root(0.0) == -math.inf


def test_a_part_that_never_fades_has_no_flat_contour():
    with pytest.raises(NotCertified):
        flat_profile(fact(tr.RandomizedResponse(epsilon=1) * 50, Loss).curve).epsilon(MILLIONTH)
    mixed = tr.RandomizedResponse(epsilon=1) * 5 + tr.Laplace(scale=2).poisson("0.1") * 50  # two directions
    assert flat_profile(fact(mixed, Loss).curve) is None
    wide = tr.DiscreteGaussian(5000).without_replacement(1, 10) * 100  # no transform reaches that
    assert flat_profile(fact(wide, Loss).curve) is None
    unequal = tr.Exponential(1).without_replacement(1, 3) * 40  # or has one
    assert flat_profile(fact(unequal, Loss).curve) is None


def test_nothing_leaks_without_a_cut():
    total = FlatSum(transforms(fact(tr.Gaussian(1).poisson(0.01) * 1000, Loss).curve.remove))
    x = total.root(math.log(1e-6))
    assert float(total.call(Ball(x), total.plan(x)).mid()) == pytest.approx(1e-6, rel=1e-6)


class Slanted:
    """A line whose call is e^{−2(x − shift)}, and that sees little of it."""

    reach, eta = 0.0, 0.1

    def __init__(self, shift):
        self.shift = shift

    def log_call(self, x):
        return -2 * (x - self.shift), 1.0


def test_the_search_moves_from_line_to_line_but_not_for_ever(monkeypatch):
    total = FlatSum(transforms(fact(tr.Gaussian(1).poisson(0.01) * 1000, Loss).curve.remove))
    asked = []

    def line(x, _):
        asked.append(x)
        return Slanted(len(asked))

    monkeypatch.setattr(total, "_new_line", line)
    assert total.root(-8.0) == pytest.approx(8)  # 4 + the shift of the fourth line
    assert asked[1:] == pytest.approx([5, 6, 7])
    asked.clear()
    monkeypatch.setattr(total, "_new_line", lambda x, _: asked.append(x) or Slanted(100))  # its period ends before
    assert total.root(-8.0) == asked[0]
    assert len(asked) == 1


def test_noise_far_out_does_not_hide_the_root():
    """A line that drowns beyond 20: its call seems large again there."""
    line = Slanted(1)
    line.log_call = lambda x: (-2 * (x - 1) if x < 20 else 5.0, 0.0)
    assert _root(line, -8.0) == pytest.approx(5)
    assert _root(line, 3.0) is None  # it is larger nowhere
    assert _root(line, -60.0) is None  # nor so small before half of the period, but for noise


def test_no_root_is_guessed_without_a_line(monkeypatch):
    total = FlatSum(transforms(fact(tr.Gaussian(1).poisson(0.01) * 1000, Loss).curve.remove))
    monkeypatch.setattr(total, "_new_line", lambda *_: None)
    with pytest.raises(NotCertified, match="short enough"):
        total.root(-8.0)


def test_small_losses_of_many_draws_need_steeper_tilts():
    loss = cut(tr.Gaussian("5.55").with_replacement(5, 2440) * 283_000, 110)
    bound, witness = flat_profile(loss).epsilon(F("6.44e-23"))
    assert 0 < 1 - bound.lower / bound.upper < 1e-11
    assert float(witness["t"]) > 2
    other, _ = smoothed_profile(loss, 1e-8).epsilon(F("6.44e-23"))  # with searches on proved values
    assert other.lower <= bound.upper
    assert other.upper >= bound.lower
    assert other.upper < other.lower * (1 + 1e-7)
