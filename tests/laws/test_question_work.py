"""Every question has its work: what is answered with little of it is wider, and never wrong."""

from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr
from tightrope.accounting import ask, calibrate, profiles, tradeoff
from tightrope.accounting.calibrate_search import boundary
from tightrope.accounting.calibrate_trials import Trials
from tightrope.errors import NotCertified
from tightrope.numerics import effort

REPLACED = tr.RandomizedResponse(epsilon=1).poisson("0.05", relation="replace") * 60
BESIDE = tr.Laplace(2) * 3 + tr.RandomizedResponse(epsilon="0.5") * 3
RARE = tr.Gaussian(1).poisson("0.0001") * 1000
DELTAS = [Fraction(1, 10**k) for k in range(2, 12)]
RATES = [Fraction(k, 12) for k in range(13)]


def spent(question):
    with effort.allowed(1e12):
        question()
        return 1e12 - effort.left()


@pytest.mark.parametrize("m", [REPLACED, BESIDE, RARE], ids=["replaced", "beside", "rare"])
@pytest.mark.parametrize("work", [3e5, 2.2e6])
def test_profiles_with_little_work_hold(monkeypatch, m, work):
    monkeypatch.setattr(profiles, "_WORK", work)
    lower, upper = tr.profile(m).epsilon(DELTAS)
    assert np.all(np.diff(upper) >= 0)
    assert np.all(np.diff(lower) >= 0)
    for low, high, delta in list(zip(lower, upper, DELTAS, strict=True))[::3]:
        alone = tr.epsilon(m, delta)
        assert low <= alone.upper
        assert alone.lower <= high
        if work > 1e6:
            assert high <= alone.upper * (1 + 1e-6)


def test_all_routes_share_their_points(monkeypatch):
    """A law that is only an upper bound: each route is built once, and none is asked for a point alone."""
    monkeypatch.setattr(profiles.ask, "epsilon", None)
    lower, upper = tr.profile(REPLACED).epsilon(DELTAS)
    monkeypatch.undo()
    for low, high, delta in list(zip(lower, upper, DELTAS, strict=True))[::4]:
        alone = tr.epsilon(REPLACED, delta)
        assert high == pytest.approx(alone.upper, rel=1e-9)
        assert low == pytest.approx(alone.lower, rel=1e-4)


@pytest.mark.parametrize("work", [1e4, 2e5, 2e6])
def test_trade_offs_with_little_work_hold(monkeypatch, work):
    exact = tr.profile(BESIDE).tradeoff(RATES)
    monkeypatch.setattr(tradeoff, "_WORK", work)
    lower, upper = tr.profile(BESIDE).tradeoff(RATES)
    assert np.all(lower <= exact[1])
    assert np.all(exact[0] <= upper)
    if work > 1e6:
        assert np.max(upper - lower) < 1e-9


@pytest.mark.parametrize(
    "question",
    [
        lambda: tr.profile(RARE).epsilon(DELTAS * 3),
        lambda: tr.profile(tr.RandomizedResponse(epsilon=1).poisson("0.004") * 30_000).tradeoff(RATES),
        lambda: tr.calibrate("laplace(scale=3).with_replacement(?, 800) * 20", epsilon="0.3", delta="1e-5"),
    ],
    ids=["profile", "tradeoff", "calibrate"],
)
def test_no_question_is_more_work_than_two_seconds(question):
    assert 1e4 < spent(question) < 2.4e6


def test_whole_numbers_between_neighbours():
    for number in (1, 2, 3, 7):
        found = tr.steps(tr.Pure(1), epsilon=number + 0.105)
        assert found.value == number
        assert found.beyond.lower > number + 0.105
    with pytest.raises(NotCertified, match="no value meets"):
        tr.steps(tr.Pure(1), epsilon=0.9)
    assert tr.calibrate("laplace(scale=?)", epsilon=1, integer=True).value == 1


class Told:
    """Trials of Pure(x), whole, with estimates that may mislead and claims that are dear."""

    def __init__(self, off, units=0.0, target=Fraction(49, 4)):
        self._off, self._units, self.claims = off, units, 0
        self.trials = Trials(tr.Pure, self._claim, lambda _: None, self._rough, target)
        self.trials.whole = True

    def _claim(self, m, _=None):
        effort.spend(self._units, "a claim")
        self.claims += 1
        return tr.pure(m)

    def _rough(self, m):
        return float(m.epsilon) * self._off(m.epsilon)


def test_estimates_that_point_the_wrong_way_do_not_decide():
    told = Told(lambda x: 4.0 if x == 1 else 1.0)  # as if costs fell
    assert boundary(told.trials) == (12, 13)


def test_a_refusal_is_confirmed():
    told = Told(lambda _: 1.0, target=Fraction(1, 2))
    with pytest.raises(NotCertified, match="no value meets"):
        boundary(told.trials)
    assert 1 <= told.claims <= 2


def test_where_the_work_is_spent_the_closest_claims_are_the_answer():
    told = Told(lambda x: 1 + (-1) ** int(x) / 3, units=1.2e5)
    with effort.allowed(7e5):
        good, bad = boundary(told.trials)
    assert told.trials.meets(good)
    assert not told.trials.meets(bad)
    assert good <= 12 < bad
    poor = Told(lambda x: 1 + (-1) ** int(x) / 3, units=1.2e5)
    with effort.allowed(2.5e5), pytest.raises(NotCertified, match="work"):
        boundary(poor.trials)


def test_calibrate_with_little_work_says_so(monkeypatch):
    whole = tr.calibrate("gaussian(sigma=?).poisson(0.0001) * 1000", epsilon="0.5", delta="1e-7")
    assert whole.slack < 1e-6
    monkeypatch.setattr(calibrate, "_WORK", 1e5)
    with pytest.raises(NotCertified, match="work"):
        tr.calibrate("gaussian(sigma=?).poisson(0.0001) * 1000", epsilon="0.5", delta="1e-7")


def test_an_accountant_answers_again_at_once(monkeypatch):
    spent = tr.Accountant()
    spent.step(tr.Gaussian(3), 10)
    first, delta = spent.epsilon("1e-5"), spent.delta(2)
    monkeypatch.setattr(ask, "best_epsilon", None)
    monkeypatch.setattr(ask, "best_delta", None)
    assert spent.epsilon(1e-5) is first
    assert spent.delta("2") is delta
    monkeypatch.undo()
    spent.step(tr.Gaussian(3))
    assert spent.epsilon("1e-5").lower > first.upper


def test_an_accountant_remembers_so_many_answers(monkeypatch):
    monkeypatch.setattr("tightrope.accounting.accountant._KEPT", 2)
    spent = tr.Accountant()
    spent.step(tr.Gaussian(3))
    answers = [spent.epsilon(f"1e-{k}").upper for k in (3, 4, 5, 3)]
    assert answers[0] == answers[3] < answers[1] < answers[2]


def test_a_calibration_without_work_says_what_it_tried():
    told = Told(lambda _: 1.0)
    told.trials.claim(Fraction(3))
    with effort.allowed(4e4), pytest.raises(NotCertified, match="3 costs at most 3"):
        boundary(told.trials)
