"""Mixtures that were wide or slow, and what mends them: stretches of one block are known to the second order."""

import math
from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.transforms.block_sums import Patience, stretch_bound
from tightrope.numerics.transforms.low_stretches import low_parts, low_up_to
from tightrope.numerics.transforms.sampled_laplace import SampledLaplaceTransform

F = Fraction
SHARES, LOSSES = (F(3, 5), F(3, 10), F(1, 10)), (F(0), F(3, 10), F(-1, 8))
BALLS = [Ball(float(p)) for p in SHARES], [Ball(float(loss)) for loss in LOSSES]


def largest(low, high, number=200_001):
    y = np.linspace(float(low), float(high), number)
    return float(np.abs(np.exp(1j * np.multiply.outer(y, np.array(LOSSES, float))) @ np.array(SHARES, float)).max())


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("shift", range(12))
@pytest.mark.parametrize("room", [1e-1, 1e-3, 1e-6])
def test_it_is_above_the_largest_value_of_the_stretch_and_within_what_was_asked(shift, room):
    low = 3 + F(shift, 5)
    high = low + 5 + F(shift, 3)
    most = largest(low, high)
    bound = stretch_bound(*BALLS, low, high, most + room)
    assert most - 1e-9 <= float(bound) <= most + room
    assert stretch_bound(*BALLS, low, high, most - 1e-6) == 1


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("steps", [3, 4, 7])
def test_coarse_grids_are_paid_for(steps, monkeypatch):
    """Whatever the number of places is: the largest value between them is below the bound."""
    from tightrope.numerics.transforms import block_sums

    monkeypatch.setattr(block_sums._Blocks, "steps", lambda *_: steps)
    for k in range(60):
        low = 10 + F(k, 7)
        high = low + F(5, 2)
        bound = stretch_bound(*BALLS, low, high, 0.999)
        assert float(bound) >= largest(low, high, 20_001) - 1e-9


def test_a_goal_close_to_one_takes_little_work():
    """Less than steps whose length is that of the room that is left would."""
    patience = Patience(1e5)
    goal = largest(20, 40) + 1e-4
    assert stretch_bound(*BALLS, F(20), F(40), goal, patience=patience) <= goal
    assert 1e5 - patience.left < 1200


def test_sampled_laplace_losses_show_that_nodes_are_low():
    """By their quadrature, up to where they decay; of all y that are tried |φ|^k is as low as that."""
    transform, copies, nats, t = SampledLaplaceTransform(F(1), F(1, 100_000), adding=False), 7_000_000, 40.0, F(2)
    deviation = math.sqrt(copies) * 1e-5
    start = F(round(1.5 * math.sqrt(2 * nats) / deviation))
    assert low_up_to(low_parts([(transform, copies)], t), start, F(10**8), nats) == 10**8
    for y in np.geomspace(float(start), 1e5, 40):
        with precision(100):
            phi = transform.line(t, F(float(y)), 1)[1][1]
            assert copies * float(abs(phi).upper().log()) <= -nats
    chosen = transform.terms_up_to(t, F(10**5))
    for y in (0.0, 1e3, 3e4, 1e5):
        with precision(100):
            phi = transform.line(t, F(y), 1)[1][1] if y else 1
            turned = [(loss * Ball(y)).sin_cos() for loss in chosen.losses]
            real = sum((p * cos for p, (_, cos) in zip(chosen.shares, turned, strict=True)), Ball(0))
            imag = sum((p * sin for p, (sin, _) in zip(chosen.shares, turned, strict=True)), Ball(0))
        assert abs(complex(float(real), float(imag)) - complex(phi)) <= float(chosen.error) + 1e-15


def test_many_sampled_laplace_losses_beside_atoms_are_exact():
    """No exact way answered: the Rényi answer was 1.857."""
    text = "randomized_response(epsilon=0.738, k=10).poisson(0.000262) * 6 + "
    text += "discrete_gaussian(sigma=0.868).poisson(5.73e-5) * 88 + laplace(scale=0.969).poisson(1.04e-5) * 7420000"
    claim = tr.epsilon(tr.parse(text), delta="1.73e-13")
    assert claim.route == "exact"  # by a contour, or a smoothed one: floats hardly see the call, on some machines not
    assert abs(claim.upper - 0.17730881) < 1e-8
    assert claim.upper / claim.lower < 1 + 1e-9
    assert tr.check(claim.to_json())


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_little_noise_has_islands_that_are_worth_it():
    """It nearly lies on a lattice, and comes back a dozen times; gap 5e-8 before."""
    with effort.allowed(1e9):
        claim = tr.epsilon(tr.parse("discrete_gaussian(sigma=0.363).poisson(1.03e-5) * 1970000"), delta="1.31e-14")
        spent = 1e9 - effort.left()
    assert len(claim.witness["islands"]) > 8
    assert claim.upper / claim.lower < 1 + 1e-9
    assert spent < 4e5
    assert tr.check(claim.to_json())


def test_rare_discrete_noise_may_cost_nothing():
    """δ(0) is 3.2e-4, less than δ: the Rényi answer was 0.0251, after all of the work."""
    with effort.allowed(1e9):
        claim = tr.epsilon(tr.parse("discrete_gaussian(sigma=1.91).poisson(1.24e-5) * 13400"), delta="0.000593")
        spent = 1e9 - effort.left()
    assert claim.upper == 0
    assert claim.witness["way"] == "smoothed"
    assert spent < 2e5
    assert tr.check(claim.to_json())
    at_zero = tr.delta(tr.parse("discrete_gaussian(sigma=1.91).poisson(1.24e-5) * 13400"), epsilon=0)
    assert at_zero.upper < 3.3e-4


def test_replaced_records_beside_little_losses_have_moments_at_steep_tilts():
    """Beyond the reach of floats they are ∞; no contour was tried where they raised, and all of the work was spent."""
    parts = "discrete_gaussian(sigma=13.9).without_replacement(2170, 100000) * 32 + "
    parts += "gaussian(sigma=1.62).poisson(1.85e-5, relation=replace) * 1020"
    with effort.allowed(1e9):
        claim = tr.epsilon(tr.parse(parts), delta="0.00237")
        spent = 1e9 - effort.left()
    assert spent < 1.2e6
    assert claim.computed.upper / claim.computed.lower < 1 + 1e-6
    assert claim.lower > 0.00267


def test_the_other_direction_begins_with_the_plans_of_the_first():
    """Beside atoms adding a record costs more here: both directions had been planned and proved once already."""
    parts = "gaussian(sigma=1.45).poisson(0.0767) * 2 + gaussian(sigma=7.45).poisson(0.00619) + "
    claim = tr.epsilon(tr.parse(parts + "randomized_response(epsilon=0.435) * 6"), delta="0.036")
    assert claim.witness["way"] == "windowed"
    assert claim.upper / claim.lower < 1 + 1e-9
    assert tr.check(claim.to_json())


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_a_proof_somewhat_aside_serves_where_no_other_can_be_paid():
    """The first place is rough: a proof made there tells ε to 1e-7, and a second one was refused (gap 5e-2). The truth
    is the mixture over both responses of the profile of the sampled steps."""
    steps = tr.Gaussian("0.395").poisson("0.000132") * 29
    claim = tr.epsilon(steps + tr.RandomizedResponse(epsilon="0.764") * 2, delta="9.01e-5")
    assert claim.upper / claim.lower < 1 + 1e-6
    yes = 1 / (1 + math.exp(-0.764))
    sums = ((0.764 * 2, yes**2), (0.0, 2 * yes * (1 - yes)), (-0.764 * 2, (1 - yes) ** 2))
    for end, sign in ((claim.lower, -1), (claim.upper, 1)):
        terms = [(p, tr.delta(steps, epsilon=end - at)) for at, p in sums]
        assert sign * (sum(p * (c.lower if sign > 0 else c.upper) for p, c in terms) - 9.01e-5) < 1e-15
    assert tr.check(claim.to_json())


@pytest.mark.parametrize("adding", [False, True])
def test_a_few_of_many_nodes_of_sampled_laplace_losses_are_taken_alone(adding):
    """Near the axis and far out, each as near to the truth in balls as it says."""
    transform, t, eta = SampledLaplaceTransform(F(1, 2), F(1, 11), adding), F(1, 2), F(1, 32)
    numbers = np.array([0, 1, 77, 2000, 30_000, 400_000, 10**6])
    few = transform.few_nodes(t, eta, numbers, Ball(-200), 10**6)
    assert few.error < 1e-12
    for k, value in zip(numbers[:5], few.values[:5], strict=True):
        with precision(80):
            phi = transform.line(t, eta * int(k), 1)[1][1]
        assert abs(complex(phi) - value) <= float(few.error)
    e0, q, power = 0.5, 1 / 11, -0.5 if adding else 1.5  # far out the atoms are left, and a little of the density
    atoms = sum(
        mass * (1 - q + q * math.exp(at)) ** (power + (-1j if adding else 1j) * eta * numbers[5:])
        for at, mass in ((e0, math.exp(-e0) / 2), (-e0, 0.5))
    )
    assert np.abs(few.values[5:] - atoms / math.exp(float(transform.log_real(t)))).max() < 2e-3


def test_few_sampled_laplace_losses_beside_atoms_are_exact():
    """They had no nodes between the reach of their rule and that of their ends: the gap was 1.6e-2."""
    text = "discrete_gaussian(sigma=0.544).poisson(0.0653) * 2690 + laplace(scale=0.536).poisson(0.0881) * 3"
    claim = tr.epsilon(tr.parse(text), delta="8.68e-36")
    assert claim.upper / claim.lower < 1 + 1e-9
    assert 278.5370205 < claim.lower < claim.upper < 278.5977762  # of another way
