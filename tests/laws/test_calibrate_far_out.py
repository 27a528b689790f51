"""Calibrations whose search leads to where estimates in floats are wrong: what is feasible is found all the same."""

from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.accounting.calibrate_search import boundary
from tightrope.accounting.calibrate_trials import Trials
from tightrope.errors import NotCertified


@pytest.mark.parametrize(
    ("text", "target", "near"),
    [
        ("gaussian(?).poisson(1e-4) * 100", {"epsilon": 8, "delta": 1e-6}, 0.30112776),
        ("gaussian(?).poisson(1e-4) * 100", {"epsilon": 2, "delta": 1e-6}, 0.42077431),
        ("gaussian(?).poisson(1e-4) * 3", {"epsilon": 20, "delta": 1e-6}, 0.18195286),
        ("gaussian(?).poisson(0.000207) * 2280", {"epsilon": "8.3", "delta": "9.8e-9"}, 0.39557797),
        ("gaussian(0.5, sensitivity=?).poisson(1e-4) * 100", {"epsilon": 8, "delta": 1e-6}, 1.66042478),
    ],
)
def test_estimates_that_are_wrong_far_out_are_recovered_from(text, target, near):
    """A first long step led to a σ where the estimate saw none of the rare, large losses, and «no value meets the
    target» was told."""
    found = tr.calibrate(text, **target)
    assert found.value == pytest.approx(near, rel=1e-6)
    assert found.claim.upper <= Fraction(target["epsilon"]) < found.beyond.lower
    assert found.slack < 1e-6


@pytest.mark.no_cover  # long
@pytest.mark.parametrize(
    ("text", "epsilon", "delta"),
    [
        ("gaussian(?).poisson(1e-4) * 3", 300, 1e-6),
        ("gaussian(?).poisson(1e-3) * 3", 10_000, 1e-5),
        ("gaussian(?).poisson(1e-3) * 10000", 10**6, 1e-10),
        ("gaussian(0.52, sensitivity=?).poisson(2.46e-5) * 28000", 1500, "1.27e-10"),
        ("gaussian(3.52, sensitivity=?).poisson(2.41e-5) * 48000", 4810, "3.71e-10"),
    ],
)
def test_where_little_is_known_closely_two_certified_values_are_found(text, epsilon, delta):
    """Their certified costs take nearly all the work: some is kept for one value on each side."""
    found = tr.calibrate(text, epsilon=epsilon, delta=delta)
    assert found.claim.upper <= epsilon < found.beyond.upper
    assert 0 < found.slack < 1
    assert tr.check(found.claim)


def far_out_trials(wrong, target=Fraction(8)):
    """Trials of Pure(1/x²), whose estimates below ``wrong`` are flat."""

    def rough(m):
        return float(m.epsilon) if m.epsilon < 1 / Fraction(wrong) ** 2 else 0.01

    return Trials(lambda x: tr.Pure(1 / x**2), lambda m, _: tr.pure(m), lambda m: tr.pure(m).upper, rough, target)


@pytest.mark.parametrize("wrong", ["0.01", "0.1", "0.3", "0.4", "0.9"])
def test_flat_estimates_are_not_believed(wrong):
    good, bad = boundary(far_out_trials(wrong))
    assert bad < 8**-0.5 <= good
    assert good - bad < 1e-6


def test_that_there_is_no_boundary_rests_on_certified_costs():
    trials = Trials(lambda _: tr.Pure(3), lambda m, _: tr.pure(m), lambda _: None, lambda _: 9.0, Fraction(5))
    with pytest.raises(NotCertified, match=r"every value meets the target 5: .* cost 3 to 3"):
        boundary(trials)
    trials = far_out_trials("0.1", Fraction(0))
    with pytest.raises(NotCertified, match="no value meets the target 0"):
        boundary(trials)
    assert trials.concluded


def test_no_noise_makes_up_for_another_part():
    with pytest.raises(NotCertified, match=r"no value meets the target 1: values from .* cost 2\.99992 to"):
        tr.calibrate(lambda s: tr.Gaussian(s) + tr.Laplace(1) * 3, epsilon=1, delta=1e-5)
