"""How windowed contours are sought: little is tried in vain, and nothing twice."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from mixture_truth import profile

import tightrope as tr
from tightrope.curves.engines import windowed_profile
from tightrope.curves.engines.windowed_profile import WindowedProfile
from tightrope.curves.engines.windowed_secants import close, polished
from tightrope.errors import NotCertified
from tightrope.numerics.transforms.glued_decay import _float_corners, log_decays
from tightrope.numerics.windowed import total
from tightrope.numerics.windowed.floats import FloatLaw, FloatOthers
from tightrope.numerics.windowed.outcomes import log_one_call
from tightrope.numerics.windowed.plan import ROUGHEST
from tightrope.numerics.windowed.saddle import saddle_call
from tightrope.numerics.windowed.search import _Planner

RARE = "gaussian(sigma=1.02).poisson(0.0001) * 300"


class Still(FloatOthers):
    """Parts that do not fall, however far out."""

    def __init__(self) -> None:
        super().__init__(())
        self.some, self.looks = True, 0

    def log_moments(self, t):
        return t * t + t

    def log_decay(self, t, y):  # noqa: ARG002 - as there
        self.looks += 1
        return 1e6 if y < 1e30 else -1e6


def test_a_reach_that_is_too_far_is_seen_at_once():
    """One look at the farthest y that a plan may have."""
    others = Still()
    planner = _Planner(FloatLaw(((1.0, 1e-3, 50),), others), (1.0, 1.0), -30.0, 0.07, adding=False)
    with np.errstate(all="ignore"):
        assert planner.plans() == []
    assert 0 < others.looks <= 10  # two kinds of plans, five tilts


def test_a_reach_is_close():
    law = FloatLaw(((1.0, 1e-3, 50),), FloatOthers(()))
    with np.errstate(all="ignore"):
        counts = [plan.count for plan in _Planner(law, (1.0, 1.0), -30.0, 0.07, adding=False).plans()]
    assert counts
    assert all(count < 4000 for count in counts)


def test_later_plans_begin_where_the_first_one_was_found(monkeypatch):
    """What is too fine at one ε is too fine at its neighbours."""
    steps, asked, found = profile(RARE).steps, [], total.window_plan

    def rough_only(law, ends, log_call, relative, adding=False):
        asked.append(relative)
        if relative < 1e-8:
            raise NotCertified("a windowed contour", "no split makes it short enough")
        return found(law, ends, log_call, relative, adding)

    monkeypatch.setattr(total, "window_plan", rough_only)
    level, slope = steps.estimate(0.5)
    first = steps.plan(0.5, level, slope)
    assert 0 < first.level < ROUGHEST
    before = len(asked)
    assert steps.plan(0.49, level, slope, before=first).level == first.level
    assert len(asked) == before + 1
    monkeypatch.setattr(total, "window_plan", lambda *_: rough_only(None, None, 0.0, 0.0))
    with pytest.raises(NotCertified, match="short enough"):
        steps.plan(0.5, level, slope)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("wrong", [0.2, 1.0, 30.0, 1e3])
def test_a_slope_that_was_misjudged_is_measured(wrong):
    """A slope that is much too steep makes steps too short to arrive."""
    found = profile(RARE)
    goal = math.log(1e-9)
    x, slope = found.steps.root(goal)
    plan = found.steps.plan(x, goal, slope)
    start = x * (1 + 0.3 / slope)
    at, measured = polished(found.steps, start, goal, plan, wrong * slope)
    assert measured == pytest.approx(slope, rel=0.2)
    again = polished(found.steps, at, goal, plan, measured)[0]
    assert close(again, at, measured)


def test_the_same_plan_is_not_made_again(monkeypatch):
    """Where proofs leave ε where it was, and prove no ends, others would be the same."""
    found, plans = profile(RARE), []
    plan = type(found.steps).plan

    def watched(self, *args, **kwargs):
        plans.append(args)
        return plan(self, *args, **kwargs)

    monkeypatch.setattr(type(found.steps), "plan", watched)
    monkeypatch.setattr(windowed_profile.roots, "polished", lambda _, x, *rest: (x, rest[2]))
    monkeypatch.setattr(WindowedProfile, "_enclosed", lambda *_: None)
    with pytest.raises(NotCertified, match="no windowed contour"):
        found.epsilon(Fraction("1e-9"))
    assert len(plans) == 1


def test_fine_proofs_may_use_what_is_held_back(monkeypatch):
    """A rough one is part of a search."""
    steps = profile(RARE).steps
    level, slope = steps.estimate(0.5)
    fine = steps.plan(0.5, level, slope)
    assert fine.level == 0
    held = []
    monkeypatch.setattr(total.effort, "proving", lambda: held.append(1) or total.nullcontext())
    steps.call(total.Ball(0.5), replace(fine, level=ROUGHEST))
    assert not held
    steps._proofs.clear()
    steps.call(total.Ball(0.5), fine)
    assert held


def test_corners_of_many_angles_are_those_of_each():
    angles = np.geomspace(1e-6, 2.2, 9)
    y = np.array([0.5, 40.0, 3e4])
    for mu, q, t in ((1.0, 0.01, 0.7), (0.3, 1e-5, 12.0), (5.0, 0.6, 0.1)):
        together = _float_corners(mu, q, t, y, angles[:, None])
        alone = [_float_corners(mu, q, t, y[:1], np.array([[angle]]))[0, 0] for angle in angles]
        assert together[:, 0] == pytest.approx(alone, rel=1e-12)
        assert (np.diff(log_decays(mu, q, t, np.array([30.0, 31.0]))) <= 1e-9).all()


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        (
            "randomized_response(epsilon=0.205, k=19) * 30 + gaussian(sigma=0.552).poisson(5.17e-4, replace) * 328",
            "4.59e-16",
        ),
        (
            "gaussian(sigma=4.26).poisson(0.00699, replace) * 17 + table(p=[19/41, 22/41], q=[9/16, 7/16]) * 17",
            "1.8e-40",
        ),
        ("gaussian(sigma=0.421).poisson(1.86e-4) * 440 + randomized_response(epsilon=0.129) * 31", "1.65e-14"),
        (
            "gaussian(sigma=3.33).poisson(0.00286, replace) * 28 + table(p=[30/53, 23/53], q=[34/63, 29/63]) * 8"
            " + randomized_response(epsilon=0.156) * 12",
            "1.18e-33",
        ),
    ],
)
def test_windows_beside_bounded_losses(text, delta):
    """One large step and half of the atoms; a tilt too steep for the pieces; one step just above all atoms; a direction
    that costs more when a record is added."""
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert claim.witness["way"] == "windowed"
    assert claim.computed.lower > claim.computed.upper * (1 - 1e-9)
    assert tr.check(claim.to_json())


@pytest.mark.parametrize("place", [3.1, 4.5, 6.0])
def test_saddles_beside_atoms(place):
    """ln of the call against the sum over the atoms of randomized responses, whose terms are calls of one step."""
    law = profile("gaussian(sigma=0.5).poisson(0.001) + randomized_response(epsilon=0.3) * 10").steps._floats[0]
    logs = []
    for k in range(11):
        chance = math.comb(10, k) * math.exp(0.3 * k) / (1 + math.exp(0.3)) ** 10
        logs.append(math.log(chance) + log_one_call(2.0, 1e-3, place - 0.3 * (2 * k - 10)))
    assert abs(saddle_call(law, place) - np.logaddexp.reduce(logs)) < 1.0
