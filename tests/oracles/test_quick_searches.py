"""What makes searches quick must not change what they find."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr
from tightrope.accounting import solve
from tightrope.accounting.facts import fact
from tightrope.accounting.routes import Route
from tightrope.curves.engines.grid_profile import GridProfile, grid_profile
from tightrope.curves.loss import Loss
from tightrope.curves.profile import DirectProfile
from tightrope.curves.shared_records import KEPT, MANY, THRESHOLDS, sharing_cuts
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.gauss import gauss
from tightrope.numerics.grid.search import GridDirection
from tightrope.numerics.real import Real, real
from tightrope.numerics.transforms import glued_floats
from tightrope.numerics.transforms.glued import GluedNormalTransform
from tightrope.numerics.transforms.glued_floats import even_nodes
from tightrope.numerics.transforms.replace import ReplaceSampledNormalTransform
from tightrope.numerics.transforms.sampled import SampledNormalTransform
from tightrope.numerics.valley import valley

F = Fraction


def grid(m) -> GridProfile:
    found = grid_profile(fact(m, Loss).curve)
    assert found is not None
    return found


@pytest.mark.parametrize("mu", ["0.05", "1", "6", "20"])
@pytest.mark.parametrize("rate", ["1e-5", "0.3"])
def test_even_panels_give_the_same_moments(monkeypatch, mu, rate):
    transform = GluedNormalTransform(Real(Fraction(mu)), Fraction(rate))
    tilts = np.concatenate([[-0.3, 0.01], np.geomspace(0.1, 60, 12)])
    quick = transform.log_floats(tilts)
    glued_floats.float_half.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(glued_floats, "even_nodes", lambda *_: None)
        slow = transform.log_floats(tilts)
    glued_floats.float_half.cache_clear()
    assert np.array_equal(np.isfinite(quick), np.isfinite(slow))
    assert quick[np.isfinite(slow)] == pytest.approx(slow[np.isfinite(slow)], rel=1e-12)


def test_far_tilts_are_left_to_the_panels():
    assert even_nodes(1.0, 0.1, (1e9, 1e9), 40.0, 0.0) is None
    assert even_nodes(1e-4, 0.1, (1e8, 1e8), 40.0, 0.0) is None


@pytest.mark.parametrize(
    ("f", "truth"),
    [
        (lambda x: (x - Ball(1) / 3) ** 2, 1 / 3),
        (lambda x: abs(x - 2), 2),
        (lambda x: (x / 1000 - 5).cosh(), 5000),
        (lambda x: (x + 12).cosh(), -12),
        (lambda x: Ball(0) * x, 0),
    ],
)
def test_valleys_are_found_with_few_values(f, truth):
    asked = []

    def counted(x):
        asked.append(x)
        return f(Ball(x))

    with precision(160):
        assert valley(counted) == pytest.approx(truth, rel=1e-8, abs=2)
        assert truth == 0 or valley(counted) == pytest.approx(truth, rel=1e-8)
    assert len(asked) < 200


@pytest.mark.parametrize(
    "m",
    [
        tr.Gaussian(1).poisson("0.01", relation="replace") * 10,
        tr.Laplace(1).poisson("0.01") * 10,
        tr.DiscreteGaussian(2).poisson("0.05") * 3,
    ],
    ids=str,
)
def test_small_grids_estimate_well(m):
    profile = grid(m)
    bound = profile.epsilon(Fraction("1e-5"))[0]
    assert profile.estimate(Fraction("1e-5")) == pytest.approx(bound.upper, rel=2e-3)


def test_grids_of_one_step_are_not_extrapolated(monkeypatch):
    (direction,) = grid(tr.Gaussian(1).poisson("0.01", relation="replace") * 10).directions
    few = direction.located(math.log(1e-5), longest=1)
    monkeypatch.setattr(GridDirection, "solved", lambda *_: replace(few, upper=0.5))
    assert direction.estimated(math.log(1e-5)) == 0.5


def test_of_many_trials_the_closest_is_refined():
    """The curve is flat between the losses of one and of two sampled records: plans that follow ε go astray."""
    bound = grid(tr.Laplace("0.02").poisson("0.01") * 10).epsilon(Fraction("1e-3"))[0]
    assert 1 - bound.lower / bound.upper < 1e-3
    assert bound.lower < 89.83303 < bound.upper + 0.01


def test_a_grid_that_sees_rounding_only_is_given_up():
    with pytest.raises(NotCertified, match="too small for its floats"):
        grid(tr.Gaussian(40).without_replacement(20, 100) * 10).find(Fraction(1))


def test_of_very_many_epochs_only_the_telling_cuts_are_tried():
    law = fact(tr.Gaussian(1), Loss).curve
    assert len(sharing_cuts(law, 100, MANY)) == THRESHOLDS
    assert len(sharing_cuts(law, 100, MANY + 1)) == KEPT
    many = tr.epsilon(tr.Gaussian(1).allocated(3) * 10**6, delta=1e-6)
    assert many.lower > 1e5


def test_a_wide_proof_by_the_best_route_does_not_end_the_question(monkeypatch):
    def route(name, low, high, final):
        profile = DirectProfile((lambda _: Ball(low).union(Ball(high)),), exact=False)
        return Route(name, "upper", (), lambda: profile, final=final)

    chosen = [route("exact", 0.0, 0.5, True), route("rdp", 0.1, 0.1, False)]
    monkeypatch.setattr(solve, "law_route", lambda _: None)
    monkeypatch.setattr(solve, "routes", lambda _: chosen)
    assert tr.delta(tr.Pure(1), epsilon="0.5").upper == 0.1
    chosen[0] = route("exact", 0.4999, 0.5, True)
    assert tr.delta(tr.Pure(1), epsilon="0.5").upper == pytest.approx(0.5)


@pytest.mark.parametrize(("mu", "q"), [(F(1, 2), F(1, 100)), (F(4), F(1, 1000)), (F(1, 10), F(1, 2))])
def test_a_lone_peak_is_its_closed_form(mu, q):
    """Where w^{t+1} has nothing but its peak, moments in floats are its height; the same as by proof, on both sides."""
    exchanged, sampled = GluedNormalTransform(real(mu), q), SampledNormalTransform(real(mu), q, adding=False)
    step = -math.log(q) / float(mu) ** 2
    for transform in (exchanged, sampled):
        tilts = np.array([1.7, 3.0, 6.0, 12.0, 100.0]) * step
        found = transform.log_floats(tilts)
        for t, value in zip(tilts, found, strict=True):
            if t * float(mu) ** 2 < 300:
                with precision(120):
                    truth = float(transform.log_real(F(float(t))).mid())
                assert value == pytest.approx(truth, rel=1e-10)
    peak = (tilts + 1) * (tilts * float(mu) ** 2 / 2 + math.log(q))
    assert exchanged.log_floats(tilts)[-1] == pytest.approx(peak[-1], rel=1e-14)
    assert exchanged.log_floats(tilts)[0] != peak[0]  # there it is not alone


def test_tilts_that_share_a_rule_say_what_each_says():
    transform = ReplaceSampledNormalTransform(real(F(1, 3)), F(1, 50))
    tilts = np.array([7.0, 0.2, 3.0, -4.0, 0.01, 40.0])
    together = transform.log_floats(tilts)
    for t, value in zip(tilts, together, strict=True):
        assert value == pytest.approx(float(transform.log_floats([t])[0]), rel=1e-9)
        with precision(120):
            assert value == pytest.approx(float(transform.log_real(F(float(t))).mid()), rel=1e-8)


def test_gauss_nodes_are_mirrored():
    with precision(100):
        for number in (1, 2, 5, 12):
            found = gauss(number)
            assert len(found) == number
            for k, (x, weight) in enumerate(found):
                place, share = Ball.legendre_p_root(number, k, weight=True)
                assert x.overlaps(place)
                assert weight.overlaps(share)
