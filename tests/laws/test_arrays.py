"""Many points asked at once have the answers that each has alone."""

import numpy as np
import pytest

import tightrope as tr
from laws.registered import QUICK

RUNS = [
    tr.Gaussian(1).poisson("0.01") * 10_000,
    tr.Gaussian("0.8").poisson("0.02") * 1000 + tr.Laplace(3) * 5,
    tr.Gaussian(2).poisson("0.1", relation="replace") * 200,
    tr.Gaussian(1).poisson("0.01") * 5000 + tr.LeakyInput("1e-9"),
    tr.Laplace(2) * 20,
    tr.RandomizedResponse("0.3") * 50,
]
EPSILONS = ["0", "0.05", "1/3", "2", "5", "1", "17", "2"]
DELTAS = ["1e-30", "0.1", "1e-9", "0.9", "1e-5", "1e-5"]


def overlap(arrays, claims, relative):
    lower, upper = arrays
    assert lower.shape == upper.shape == (len(claims),)
    for low, high, claim in zip(lower, upper, claims, strict=True):
        assert low <= claim.upper
        assert claim.lower <= high
        assert high <= claim.upper * (1 + relative) + 1e-300
        assert low >= claim.lower * (1 - relative) - 1e-300


@pytest.mark.parametrize("m", RUNS, ids=str)
def test_runs(m):
    profile = tr.profile(m)
    overlap(profile.delta(EPSILONS), [tr.delta(m, e) for e in EPSILONS], 1e-9)
    overlap(profile.epsilon(DELTAS), [tr.epsilon(m, d) for d in DELTAS], 1e-9)
    fprs = ["0.5", "1e-6", "0", "1", "0.01"]
    overlap(profile.tradeoff(fprs), [tr.tradeoff(m, a) for a in fprs], 1e-6)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", QUICK[::3], ids=str)
def test_everything(m):
    profile = tr.profile(m)
    overlap(profile.delta([0, "0.3"]), [tr.delta(m, e) for e in (0, "0.3")], 1e-9)
    overlap(profile.epsilon([0, "1e-6", 1]), [tr.epsilon(m, d) for d in (0, "1e-6", 1)], 1e-9)


def test_hundreds_of_points_are_one_falling_curve():
    lower, upper = tr.profile(RUNS[0]).delta(np.linspace(0, 20, 200))
    assert (lower <= upper).all()
    assert (upper[1:] <= upper[:-1]).all()
    assert ((upper - lower) <= 1e-10 * upper).all()
    lower, upper = tr.profile(RUNS[0]).epsilon(np.logspace(-40, -1, 100))
    assert (upper[1:] <= upper[:-1]).all()
    assert ((upper - lower) <= 1e-10 * upper).all()


def test_the_trade_off_curve_is_convex_and_below_guessing():
    fprs = np.linspace(0, 1, 21)
    lower, upper = tr.profile(RUNS[0]).tradeoff(fprs)
    assert (lower[1:] <= upper[:-1]).all()
    assert (upper <= 1 - fprs + 1e-12).all()
    assert (lower[1:-1] <= (upper[:-2] + upper[2:]) / 2 + 1e-12).all()
    assert upper.max() - lower[upper.argmax()] < 1e-9


def test_a_profile_is_asked_again():
    profile = tr.profile(RUNS[0])
    first = profile.delta([1, 2, 3])
    profile.delta(7)
    again = profile.delta([1, 2, 3])
    assert all((one == two).all() for one, two in zip(first, again, strict=True))
    assert profile.delta([])[0].shape == (0,)


def test_points_without_a_shared_answer_are_asked_alone(monkeypatch):
    m = RUNS[0]
    alone = tr.delta(m, 2)
    monkeypatch.setattr("tightrope.curves.engines.contour_chart.ContourChart.call", refuse)
    lower, upper = tr.profile(m).delta([2, 2])
    assert upper[0] == upper[1] == pytest.approx(alone.upper, rel=1e-9)
    lower, upper = tr.profile(m).epsilon(["1e-5"])
    assert lower[0] <= 6.187712389971 <= upper[0] + 1e-6


def refuse(_, x):
    raise tr.NotCertified("a contour", f"refused at {x}")
