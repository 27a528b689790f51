"""Schedules of single steps that sample one record or two in all: both ends are close, and right."""

from fractions import Fraction
from functools import reduce

import pytest
from reference_grid import Part, reference

import tightrope as tr
from tightrope.accounting import certificate
from tightrope.curves.composed_loss import loss_has_profile
from tightrope.numerics import effort

F = Fraction
CASES = [(14, 5, "1e-8"), (40, 1, "1e-5"), (60, 1, "1e-8"), (100, 1, "1e-5"), (100, 1, "1e-10")]


def noises(kinds):
    return [F(9 * (kinds + i), 10 * kinds) for i in range(kinds)]


def schedule(kinds, copies, rate="0.01"):
    return reduce(lambda a, b: a + b, (tr.Gaussian(s).poisson(rate) * copies for s in noises(kinds)))


@pytest.mark.parametrize(("kinds", "copies", "delta"), CASES)
def test_a_noise_of_its_own_in_every_step(kinds, copies, delta):
    claim = tr.epsilon(schedule(kinds, copies), delta=delta)
    assert claim.tight
    assert claim.upper / claim.lower < 1 + 1e-6
    value, error = reference([Part(copies, sigma=float(s), rate=0.01) for s in noises(kinds)], float(delta), 2**14)
    assert error < 2e-2 * value
    assert claim.lower - error <= value <= claim.upper + error


def test_calibrated_noise_meets_its_target_closely():
    found = tr.calibrate(
        lambda scale: reduce(lambda a, b: a + b, (tr.Gaussian(scale * s).poisson("0.01") for s in noises(100))),
        epsilon=2,
        delta=1e-6,
    )
    assert 2 * (1 - 1e-5) < found.claim.upper <= 2


def test_counted_work():
    """Every question does no more than it may, whatever it says."""
    many = schedule(300, 1, "0.001")
    asked = [
        lambda: tr.epsilon(many, 1e-6),
        lambda: tr.zcdp(many),
        lambda: tr.tcdp(many, 32),
        lambda: tr.compare(many, 1e-6),
        lambda: tr.tradeoff(many, 0.01),
        lambda: tr.profile(many).delta([0.05 * i for i in range(40)]),
    ]
    for ask in asked:
        with effort.allowed(1e9):
            ask()
            assert 1e9 - effort.left() < 6e6


def test_both_ends_of_a_bracket_are_proved_again():
    """Where floats do not see the call, the least ε for δ is found and the call at that ε is not."""
    many = reduce(
        lambda a, b: a + b, (tr.Gaussian(F(276, 100) * (139 + i) / 139).poisson("0.0021865") * 52 for i in range(139))
    )
    claim = tr.epsilon(many, delta="1.89e-38")
    assert 0.9 * claim.upper < claim.lower < claim.upper
    assert bool(tr.check(claim.to_json()))


def test_a_check_asks_few_of_very_many_laws(monkeypatch):
    claim = tr.epsilon(schedule(190, 11, "0.0003"), delta="2e-7")
    asked = []
    monkeypatch.setattr(certificate, "loss_has_profile", lambda law: asked.append(law) or loss_has_profile(law))
    assert bool(tr.check(claim.to_json()))
    assert len(asked) < 8
