"""How fast transforms of sampled losses fall, by chains and layers: never below the truth, and close to it for many
copies; and the tails of moments of normal pairs of unequal variance."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.transforms import layered_decay
from tightrope.numerics.transforms.laplace_layers import laplace_layers
from tightrope.numerics.transforms.quadratic_loss import QuadraticLoss
from tightrope.numerics.transforms.sampled_laplace import SampledLaplaceTransform
from tightrope.numerics.transforms.sampled_unequal import SampledUnequalTransform
from tightrope.numerics.transforms.stretched_decay import FloatLaw, stretch
from tightrope.numerics.transforms.unequal_layers import unequal_float_layers, unequal_layers

SETTINGS = [  # other mean, other deviation, rate, copies, tilt, y, adding
    ("0.0126", "0.486", "0.0236", 136483, "1/16", "1/8", False),
    ("0.029", "1.02", "5.24e-5", 2859865, "250", "500", True),
    ("9.93", "0.578", "0.176", 282584, "1/1000", "1/10000", False),
    ("0.0168", "2.9", "0.00501", 9226748, "1/10", "1/2", False),
    ("9.83", "0.345", "0.0013", 2332769, "1/4000", "1/500", False),
    ("0.0709", "0.971", "0.287", 155, "68", "50", True),
    ("1", "1.2", "0.01", 3000, "3", "10", False),
    ("1.29", "0.989", "6.57e-5", 258_000, "1.6875", "130", False),  # its second moment was 1000 times too large,
    ("1.29", "0.989", "6.57e-5", 258_000, "32", "140", True),  # or infinite
]


def _law(mean: str, deviation: str, rate: str) -> QuadraticLoss:
    return QuadraticLoss(Fraction(0), Fraction(1), Fraction(mean), Fraction(deviation), Fraction(rate))


def _sizes(law: QuadraticLoss, power: float, y: np.ndarray) -> np.ndarray:
    """|E[w^{A+iy}]|/E[w^A] by a plain sum, in long floats."""
    z = np.linspace(-60, 60, 60_001, dtype=np.longdouble)
    bend, slope, _, q = (np.longdouble(v) for v in law.floats)
    height = np.log(np.longdouble(float(law.s2))) - np.longdouble(float(law.m2)) ** 2 / 2
    loss = np.log1p(q * np.expm1(np.minimum((bend * z + slope) * z + height, 5000)))
    logs = power * loss - z * z / 2
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    return np.array([abs((shares * np.exp(1j * np.float64(at) * loss)).sum()) for at in y], dtype=float)


@pytest.mark.parametrize(("mean", "deviation", "rate", "copies", "tilt", "y", "adding"), SETTINGS)
def test_decays_hold_from_y_on_and_are_close_for_many_copies(
    mean: str, deviation: str, rate: str, copies: int, tilt: str, y: str, adding: bool
) -> None:
    law = _law(mean, deviation, rate)
    transform, t, at = SampledUnequalTransform(law, adding), Fraction(tilt), Fraction(y)
    with precision(copies.bit_length() + 8):
        bound = float(transform.decay(t, at).log().upper())
    places = float(at) * np.geomspace(1, 300, 60)
    truth = np.log(_sizes(law, -float(t) if adding else float(t) + 1, places))
    assert bound >= truth.max() - 1e-13
    assert copies * bound <= 0.85 * copies * truth[0]
    assert float(transform.log_decay_floats(float(t), np.array([float(at)]))[0]) == pytest.approx(bound, rel=0.1)


@pytest.mark.parametrize(("mean", "deviation", "rate", "copies", "tilt", "y", "adding"), SETTINGS)
def test_layers_are_above_the_truth_and_below_one(
    mean: str, deviation: str, rate: str, copies: int, tilt: str, y: str, adding: bool
) -> None:
    law, t = _law(mean, deviation, rate), Fraction(tilt)
    transform = SampledUnequalTransform(law, adding)
    power = -t if adding else t + 1
    window = transform._window(float(power), 42.0)
    for at in (Fraction(y), 10 * Fraction(y), 1000 * Fraction(y)):
        with precision(copies.bit_length() + 40):
            log = transform.log_real(t)
            bound = layered_decay.layered_decay(unequal_layers(law, power, window, log), at)
            rough = unequal_float_layers(law, float(power), window, float(log.mid()))
            about = layered_decay.log_layered_decays(rough, np.array([float(at)]))
            assert bound < 1
            assert float(bound.log()) == pytest.approx(float(about[0]), rel=1e-4)
        truth = _sizes(law, float(power), float(at) * np.geomspace(1, 30, 40))
        assert float(bound) >= truth.max() - 1e-13


def test_rectangles_are_the_whole_staircase() -> None:
    rng = np.random.default_rng(3)
    values, heights = np.cumsum(rng.random(41)), rng.random(40)
    for order in (1, -1):
        found = layered_decay.rectangles(list(values[::order]), list(heights[::order]))
        assert sum(mass for mass, _ in found) == pytest.approx(float(heights @ np.diff(values)), rel=1e-12)
        assert max(width for _, width in found) == pytest.approx(float(values[-1] - values[0]))
    rising = layered_decay.rectangles([0.0, 1.0, 3.0], [2.0, 5.0])
    assert sorted(rising) == [(6.0, 2.0), (6.0, 3.0)]


def test_the_largest_sine_over_its_angle_is_not_exceeded() -> None:
    with precision(80):
        for u in (1e-6, 0.5, 2.0, 2.99, 3.0, 3.2, 4.4, 10.0, 300.0):
            places = np.linspace(u, 4 * u + 20, 20_000)
            largest = float((abs(np.sin(places)) / places).max())
            lack = float(layered_decay._lack(ball(Fraction(u))).upper())
            assert lack <= 1 - largest + 1e-12
            assert u > 3 or lack == pytest.approx(1 - largest, abs=1e-5)


def test_between_two_places_no_size_is_missed() -> None:
    losses, shares = np.array([0.0, 1.0, 5.0]), np.array([0.5, 0.3, 0.2])
    law = FloatLaw(losses, shares)
    places, lacks = law.chain(0.1, 30)
    assert lacks[0] == pytest.approx(1 - abs((shares * np.exp(0.1j * losses)).sum()) ** 2)
    fine = np.linspace(places[0], places[-1], 5000)
    largest = max(abs((shares * np.exp(1j * y * losses)).sum()) for y in fine)
    with precision(80):
        sizes = [Ball(math.sqrt(1 - lack)) for lack in lacks]
        bound = float(stretch(sizes, [Fraction(place) for place in places], Ball(law.variance)))
    assert largest <= bound < 1 - 0.9 * (1 - largest)
    h = law.width()
    assert shares @ (2 * np.cosh(h * (losses - law.mean)) - 2) / h**2 == pytest.approx(law.variance, rel=0.051)


@pytest.mark.parametrize("rate", ["0.001", "0.4"])
@pytest.mark.parametrize("deviation", ["0.8", "1.313"])
@pytest.mark.parametrize("power", ["-90", "-0.5", "0.5", "1.5", "2.5"])
@pytest.mark.parametrize("mean", ["3", "0.018"])
def test_tails_of_moments_are_not_exceeded(mean: str, deviation: str, rate: str, power: str) -> None:
    law, a = _law(mean, deviation, rate), Fraction(power)
    if not law.finite(a):
        pytest.skip("an infinite moment")
    z = np.linspace(-80, 80, 400_001)
    density = np.exp(float(a) * law.loss_floats(z) - z * z / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    for left, right in ((-3.0, 2.0), (-8.0, 9.0), (1.0, 6.0), (-20.0, -5.0)):
        with precision(80):
            bound = float(law.tails(a, Ball(left), Ball(right)))
        assert bound >= 0.999 * float(density[z < left].sum() + density[z > right].sum())
    places = np.arange(-80.0, 80.5, 0.5)
    lefts, rights = (dict(zip(places, side, strict=True)) for side in law.log_tails(float(a), places))
    with precision(80):
        sides = [float(law._tail(a, Ball(end), side).log()) for end, side in ((-8.0, -1), (9.0, 1))]
    assert lefts[-8.0] == pytest.approx(sides[0], abs=6)
    assert rights[9.0] == pytest.approx(sides[1], abs=6)


@pytest.mark.parametrize(("text", "delta"), [
    ("gaussian_pair(0,1,0.0126,0.486).poisson(0.0236)*136483", "3.64e-15"),
    ("gaussian_pair(0,1,0.029,1.02).poisson(5.24e-05)*2859865", "1.01e-13"),
    ("gaussian_pair(0,1,9.93,0.578).poisson(0.176)*282584", "2.65e-6"),
    ("gaussian_pair(0,1,0.0168,2.9).poisson(0.00501)*9226748", "1.39e-6"),
    ("gaussian_pair(0,1,0.0199,0.892).poisson(0.00277)*382341", "0.103"),
    ("gaussian_pair(0,1,0.0709,0.971).poisson(0.287)*155", "2.03e-10"),
])  # fmt: skip
def test_many_copies_are_answered_by_a_contour(text: str, delta: str) -> None:
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert claim.witness["way"] == "contour"
    assert claim.upper - claim.lower < 1e-7 * claim.upper


@pytest.mark.parametrize("adding", [False, True])
@pytest.mark.parametrize(
    ("reach", "rate", "copies", "tilt", "y"),
    [("8.2", "4.3e-4", 152606567, "1/8", "1/10"), ("2", "1e-3", 30000, "8", "10"), ("16", "1e-5", 10**7, "1/20", "1")],
)
def test_rarely_sampled_laplace_losses_fall_as_they_do(
    reach: str, rate: str, copies: int, tilt: str, y: str, adding: bool
) -> None:
    transform, t = SampledLaplaceTransform(Fraction(reach), Fraction(rate), adding), Fraction(tilt)
    power, e0, q = (-float(t) if adding else float(t) + 1), float(reach), float(rate)
    line = np.linspace(-e0, e0, 400_001)
    masses = np.exp(-e0 / 2 - line / 2) / 4 * (line[1] - line[0])
    masses[0], masses[-1] = masses[0] / 2 + 0.5, masses[-1] / 2 + math.exp(-e0) / 2
    loss = np.log1p(q * np.expm1(line))
    shares = masses * np.exp(power * loss)
    shares /= shares.sum()
    places = float(Fraction(y)) * np.geomspace(1, 200, 60)
    truth = np.array([math.log(abs((shares * np.exp(1j * at * loss)).sum())) for at in places])
    with precision(copies.bit_length() + 8):
        bound = float(transform.bent_decay(t, Fraction(y)).log().upper())
        layers = laplace_layers(Fraction(reach), Fraction(rate), Fraction(power), transform.log_real(t))
        assert sum(mass for mass, _ in layers) <= 1 - shares[0] - shares[-1] + 1e-9
    assert bound >= truth.max() - 1e-11
    assert bound <= 0.85 * truth.max()
    about = transform.log_bent_decay_floats(float(t), np.array([float(Fraction(y))]))
    assert float(about[0]) == pytest.approx(bound, rel=0.1)


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("laplace(0.122).poisson(0.000428571)*152606567", "3.49e-235"),
        ("laplace(0.122).poisson(0.000428571)*1526065", "1e-10"),
        ("laplace(0.3).poisson(0.01)*3000", "1e-8"),
    ],
)
def test_rarely_sampled_laplace_losses_are_answered_by_a_contour(text: str, delta: str) -> None:
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert claim.witness["way"] == "contour"
    assert claim.upper - claim.lower < 1e-9 * claim.upper
    assert tr.check(claim.to_json())
