"""What is answered by windowed contours under replace, against grids, and point by point."""

from fractions import Fraction

import mpmath as mp
import pytest
from mixture_truth import loss_of, profile

import tightrope as tr
from tightrope.curves.engines.grid_profile import grid_profile
from tightrope.curves.engines.rarity import rare
from tightrope.curves.engines.windowed_profile import windowed_directions
from tightrope.numerics.balls import precision
from tightrope.numerics.windowed.start import near_call, near_root

pytestmark = pytest.mark.no_cover  # long, and shorter ones come by the same lines


def step(sigma, rate, copies=1):
    return f"gaussian(sigma={sigma}).poisson({rate}, relation=replace) * {copies}"


def proved(text, x):
    found = profile(text)
    return found.prove(Fraction(x), found.find(Fraction(x)))


@pytest.mark.parametrize(
    ("text", "x"),
    [
        (step(1, "0.0005", 60), "0.02"),
        (step(1, "0.0005", 60), "0.3"),
        (step("0.35", "0.0001", 900), "1.7"),
        (step(4, "0.002", 400), "0.03"),
        (f"{step('0.8', '0.0004', 40)} + {step(2, '0.001', 70)}", "0.2"),
    ],
)
def test_more_steps_lie_between_the_laws_of_a_grid(text, x):
    """The grid knows neither windows nor contours."""
    grid = grid_profile(loss_of(text))
    with precision(100):
        value = proved(text, x)
        wide = grid.prove(Fraction(x), grid.find(Fraction(x)))
        assert wide.lower() <= value.lower()
        assert value.upper() <= wide.upper()
        assert value.rad() < value.mid() * 1e-8


@pytest.mark.parametrize(
    ("sigma", "rate", "copies", "delta"),
    [
        ("1.71", "4.31e-5", 3960, "3.91e-29"),
        ("0.329", "3.45e-5", 34300, "0.00293"),
        ("8.88", "1.37e-5", 9450, "1.36e-9"),
        ("15.9", "0.000297", 10221, "2.4e-20"),
        ("0.1", "0.0001", 5, "1e-6"),
    ],
)
def test_rare_steps(sigma, rate, copies, delta):
    """The grid's proofs of some of these are off by a per mille and more, or have no lower end at all."""
    claim = tr.epsilon(tr.Gaussian(sigma).poisson(rate, relation="replace") * copies, delta=delta)
    assert claim.witness["way"] == "windowed"
    assert claim.lower > claim.upper * (1 - 1e-10)
    assert tr.check(claim.to_json())


def test_directions_that_differ():
    """A table beside the steps: exchanging there and back cost differently; the cost is that of the dearer."""
    text = f"{step('0.8', '0.0004', 10)} + table([0.4, 0.6], [0.1, 0.9])"
    claim = tr.epsilon(tr.parse(text), delta="1e-9")
    assert "t" in claim.witness["other"]  # the other direction has a plan of its own
    back = tr.epsilon(tr.parse(text.replace("[0.4, 0.6], [0.1, 0.9]", "[0.1, 0.9], [0.4, 0.6]")), delta="1e-9")
    assert max(claim.lower, back.lower) <= min(claim.upper, back.upper)
    assert tr.check(claim.to_json())
    assert claim.witness["way"] == "windowed"
    assert claim.lower > claim.upper * (1 - 1e-9)


def test_many_points():
    mechanism = tr.Gaussian(1).poisson("0.0005", relation="replace") * 60
    deltas = tr.profile(mechanism).delta([0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5])
    for x, low, high in zip(("0.02", "0.1", "1.5"), deltas[0][[0, 2, 6]], deltas[1][[0, 2, 6]], strict=True):
        alone = tr.delta(mechanism, epsilon=x)
        assert low <= alone.upper
        assert high >= alone.lower
        assert low > high * (1 - 1e-7)
    epsilons = tr.profile(mechanism).epsilon([1e-5, 1e-7, 1e-9, 1e-11, 1e-13, 1e-15])
    alone = tr.epsilon(mechanism, delta=1e-9)
    assert epsilons[0][2] <= alone.upper
    assert epsilons[1][2] >= alone.lower
    assert epsilons[0][2] > epsilons[1][2] * (1 - 1e-7)


def test_one_direction_for_trade_offs():
    """One law there and back: one function, of which all points come."""
    (direction,) = windowed_directions(loss_of(step(1, "0.001", 50)))
    truth = tr.delta(tr.parse(step(1, "0.001", 50)), epsilon="0.05")
    (value,) = direction.deltas([Fraction("0.05")])
    with precision(100):
        assert value.lower() <= truth.upper
        assert value.upper() >= truth.lower
    assert rare(loss_of(step(1, "0.001", 50)))
    assert not rare(loss_of(step(1, "0.1", 5000)))


@pytest.mark.parametrize(("mu", "rate", "copies", "log_target"), [(1.0, 1e-3, 50, -14.0), (3.0, 3e-5, 3000, -6.0)])
def test_float_roots(mu, rate, copies, log_target):
    """Only for choices, but good ones: against proved values."""
    x, slope = near_root(mu, rate, copies, log_target, exchanged=True)
    assert abs(near_call(mu, rate, copies, x, exchanged=True)[0] - log_target) < 0.05
    claim = tr.delta(tr.parse(step(1 / mu, rate, copies)), epsilon=x)
    assert abs(mp.log(claim.upper) - log_target) < 0.05
    assert slope > 0
