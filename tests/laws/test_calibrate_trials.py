"""The trials of a calibration: estimates lead, certified costs correct them, claims decide."""

import math
from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.accounting.calibrate_search import boundary
from tightrope.accounting.calibrate_trials import Trials
from tightrope.errors import NotCertified


class Counted:
    """Trials of Pure(1/x) whose estimates are off by a factor, and how often each kind of answer was asked for."""

    def __init__(self, off, quick=True, target=Fraction(1, 4)):
        self.claims = self.uppers = self.roughs = 0
        self._off, self._quick = off, quick
        self.trials = Trials(lambda x: tr.Pure(1 / x), self._claim, self._upper, self._rough, target)

    def _claim(self, m, _):
        self.claims += 1
        return tr.pure(m)

    def _upper(self, m):
        self.uppers += 1
        return tr.pure(m).upper if self._quick else None

    def _rough(self, m):
        self.roughs += 1
        return float(m.epsilon) * self._off(float(1 / m.epsilon))


@pytest.mark.parametrize(
    "off", [lambda _: 1.0, lambda _: 0.8, lambda x: 1.1 * x**0.2, lambda x: 1 + 0.05 * math.sin(x)]
)
def test_estimates_that_are_off_are_corrected(off):
    counted = Counted(off)
    good, bad = boundary(counted.trials)
    assert counted.trials.meets(good)
    assert not counted.trials.meets(bad)
    assert bad < 4 <= good
    assert good - bad < 1e-6
    assert counted.claims <= 6
    assert counted.roughs <= 30


def test_the_whole_claim_serves_where_nothing_quicker_is_known():
    counted = Counted(lambda _: 0.9, quick=False)
    good, bad = boundary(counted.trials)
    assert bad < 4 <= good
    assert counted.trials.upper(good) == counted.trials.claim(good).upper


def test_estimates_that_mislead_are_given_up():
    counted = Counted(lambda x: 1 + 0.5 * math.sin(1e7 * x))
    good, bad = boundary(counted.trials)
    assert bad < 4 <= good
    assert good - bad < 3e-6


def test_a_correction_is_a_line_between_what_is_certified():
    trials = Counted(lambda x: 1.2 * x**0.5).trials
    at = [Fraction(2), Fraction(4)]
    assert trials.correction(Fraction(3)) == 0
    for x in at:
        trials.cost(x)
        trials.upper(x)
    assert trials.correction(Fraction(3)) == pytest.approx(-math.log(1.2 * 3**0.5))
    assert trials.correction(Fraction(4)) == pytest.approx(-math.log(1.2 * 2))
    assert trials.certified_near(Fraction(4001, 1000), 1e-3)
    assert not trials.certified_near(Fraction(3), 1e-3)


def test_one_certified_cost_corrects_by_a_factor():
    trials = Counted(lambda _: 0.5).trials
    trials.cost(Fraction(2))
    trials.upper(Fraction(2))
    assert trials.correction(Fraction(30)) == pytest.approx(math.log(2))
    assert trials.height(Fraction(30)) == pytest.approx(math.log(Fraction(1, 30) / Fraction(1, 4)))


def test_close_values_are_not_estimated_again():
    counted = Counted(lambda _: 1.0)
    for x in ("3", "3.0001"):
        counted.trials.cost(Fraction(x))
    asked = counted.roughs
    assert counted.trials.cost(Fraction("3.00010001")) == pytest.approx(1 / 3.00010001, rel=1e-9)
    assert counted.roughs == asked
    counted.trials.cost(Fraction("3.1"))
    assert counted.roughs == asked + 1


def test_the_closest_pair_keeps_its_direction():
    trials = Counted(lambda _: 1.0).trials
    assert trials.closest(rising=False) is None
    for x in (1, 2, 5, 9):
        trials.cost(Fraction(x))
    assert trials.closest(rising=False) == (5, 2)  # 1/x meets 1/4 from 4 on
    assert trials.closest(rising=True) is None


def test_once_distrusted_every_cost_is_a_claim():
    counted = Counted(lambda _: 0.5)
    trials = counted.trials
    trials.upper(Fraction(5))
    trials.claim(Fraction(7))
    assert trials.cost(Fraction(2)) == 0.25
    trials.distrust()
    assert trials.cost(Fraction(2)) == 0.5
    assert trials.upper(Fraction(5)) == trials.claim(Fraction(5)).upper
    assert counted.claims == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda s: tr.Gaussian(s).without_replacement(10, 1000) * 3,
        lambda s: tr.Gaussian(s).poisson("0.01", relation="replace") * 3,
    ],
)
def test_few_steps_are_calibrated_on_both_sides(make):
    found = tr.calibrate(make, epsilon=1, delta=1e-5)
    assert found.claim.upper <= 1 < found.beyond.upper
    assert found.slack < 1e-6


def test_a_claim_that_says_less_than_was_proved_before_is_refused():
    """It had too little work; taken at its word, it would lead to another value."""
    worse = Trials(tr.Pure, lambda m, _: tr.pure(m * 2), lambda m: tr.pure(m).upper, lambda _: None, Fraction(3))
    assert worse.upper(Fraction(1)) == 1
    with pytest.raises(NotCertified, match="too little work"):
        worse.claim(Fraction(1))
    assert worse.claim(Fraction(2)).upper == 4
