"""Smoothed contours of sampled discrete Gaussians in both directions, against convolutions and other engines."""

import math
from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.blurred_profile import blurred_profile
from tightrope.curves.engines.grid_profile import grid_profile
from tightrope.curves.engines.smoothed_profile import (
    SmoothedProfile,
    has_few_values,
    scattered_profile,
    smoothed_profile,
)
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics import effort

F = Fraction
POINTS = 2**17


def atoms(sigma, rate, kind):
    """Masses and losses of one step, from its definition; of removing a record, of adding one, or of exchanging it."""
    k = np.arange(-40 * int(sigma + 1), 40 * int(sigma + 1) + 1).astype(float)
    mass = np.exp(-k * k / (2 * sigma**2))
    mass /= mass.sum()
    ratio = 1 - rate + rate * np.exp((2 * k - 1) / (2 * sigma**2))
    if kind == "remove":
        return mass * ratio, np.log(ratio)
    if kind == "add":
        return mass, -np.log(ratio)
    other = 1 - rate + rate * np.exp((-2 * k - 1) / (2 * sigma**2))
    return mass * ratio, np.log(ratio / other)


def convolved(masses, losses, copies, x, points):
    """E[(1 − e^{x−L})₊], each atom split onto two points of a lattice, tilted and raised to a power by Fourier's."""
    masses, losses = masses[masses > 1e-200], losses[masses > 1e-200]
    tilts = np.geomspace(0.01, 3000, 400)
    logs = np.logaddexp.reduce(np.log(masses) + np.multiply.outer(tilts, losses), axis=1)
    best = int(np.argmin(copies * logs - tilts * x))
    t, log = tilts[best], logs[best]
    share = masses * np.exp(t * losses - log)
    mean = float(share @ losses)
    spread = math.sqrt(copies * float(share @ (losses - mean) ** 2))
    step = 28 * spread / points
    cell = np.floor(losses / step)
    right = np.expm1(cell * step - losses) / np.expm1(-step)
    keep = share > 1e-30
    law = np.zeros(points)
    for point, weight in ((cell[keep], 1 - right[keep]), (cell[keep] + 1, right[keep])):
        np.add.at(law, (point % points).astype(int), masses[keep] * weight * np.exp(t * point * step - log))
    total = np.fft.irfft(np.fft.rfft(law) ** copies, points)
    first = round(copies * mean / step) - points // 2
    place = (first + np.arange(points)) * step
    total = np.roll(total, -(first % points))
    above = place > x
    return float((total * np.exp(copies * log - t * place) * -np.expm1(np.minimum(x - place, 0)))[above].sum())


def truth(masses, losses, copies, x):
    """From two lattices, of which each overstates with the square of its step; and how far off that may be."""
    rough, fine = (convolved(masses, losses, copies, x, points) for points in (POINTS // 2, POINTS))
    return (4 * fine - rough) / 3, abs(rough - fine) / 3 + 1e-7 * fine


CASES = [
    (2.3, F(1, 50), 2500, "add-remove", F(1, 10**9)),
    (1.2, F(1, 10), 2000, "add-remove", F(1, 10**6)),
    (5.2, F(1, 20), 3000, "add-remove", F(1, 10**12)),
    (2.1, F(1, 20), 2900, "replace", F(1, 10**10)),
    (3.4, F(3, 10), 1500, "replace", F(1, 10**4)),
]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("sigma", "rate", "copies", "relation", "delta"), CASES)
def test_a_convolution_agrees(sigma, rate, copies, relation, delta):
    mechanism = tr.DiscreteGaussian(sigma).poisson(rate, relation=relation) * copies
    profile = smoothed_profile(fact(mechanism, Loss).curve)
    bound, witness = profile.epsilon(delta)
    assert 0 < 1 - bound.lower / bound.upper < 1e-9
    kinds = ["remove", "add"] if relation == "add-remove" else ["exchange"]
    assert len(profile.sums) == len(kinds)
    found = [truth(*atoms(sigma, float(rate), kind), copies, bound.upper) for kind in kinds]
    value, off = max(found)
    assert off < 1e-3 * value
    assert value == pytest.approx(float(delta), rel=1e-5, abs=off)
    near = profile.prove(F(bound.upper) * F(101, 100), profile.find(F(bound.upper) * F(101, 100)))
    later = max(truth(*atoms(sigma, float(rate), kind), copies, bound.upper * 1.01)[0] for kind in kinds)
    assert float(near.mid()) == pytest.approx(later, rel=1e-5 + 2 * off / value)
    assert witness.get("direction", 0) == 0


@pytest.mark.parametrize(
    ("mechanism", "delta"),
    [
        (tr.DiscreteGaussian("1.16").poisson("0.0035") * 500, F(1, 10**18)),  # no tilt is a saddle
        (tr.DiscreteGaussian("3.26").poisson("0.002") * 300, F(1, 10**22)),
        (tr.DiscreteGaussian("2.4").poisson("0.003", relation="replace") * 400, F(1, 10**16)),
        (tr.DiscreteGaussian("4.1").without_replacement(4, 1000) * 350, F(1, 10**20)),
    ],
)
def test_a_grid_agrees_where_rare_losses_spoil_the_saddle(mechanism, delta):
    loss = fact(mechanism, Loss).curve
    bound, _ = smoothed_profile(loss, 1e-7).epsilon(delta)
    assert bound.upper < bound.lower * (1 + 1e-5)
    other, _ = grid_profile(loss).epsilon(delta)
    assert other.lower <= bound.upper
    assert other.upper >= bound.lower
    assert other.upper < other.lower * (1 + 1e-3)


def test_both_orders_of_the_directions_say_the_same():
    loss = fact(tr.DiscreteGaussian("3.26").poisson("1.57e-4") * 120_000, Loss).curve
    plain, turned = smoothed_profile(loss), smoothed_profile(Loss(loss.add, loss.remove))
    delta = F(1, 10**20)
    (bound, witness), (other, swapped) = plain.epsilon(delta), turned.epsilon(delta)
    assert (witness["direction"], swapped["direction"]) == (0, 1)
    assert other.lower <= bound.upper
    assert other.upper >= bound.lower
    assert "eta" in witness["other"]  # Chernoff's bound of adding a record is above δ
    lesser = SmoothedProfile(plain.sums[1:])
    assert 0.99 * bound.lower < lesser.epsilon(delta)[0].upper < bound.lower
    x = F(bound.upper)
    for profile in (plain, turned):
        assert float(profile.prove(x, profile.find(x)).mid()) == pytest.approx(float(delta), rel=1e-6)
    # a witness of the lesser direction alone proves nothing of the other
    assert not turned.meets(x * F(999, 1000), delta, swapped)
    assert turned.needs(x * F(999, 1000), delta, swapped)
    with pytest.raises(NotCertified, match="no direction"):
        plain.prove(x, {**witness, "direction": 2})


def test_a_direction_that_costs_far_less_is_only_bounded():
    loss = fact(tr.DiscreteGaussian("1.16").poisson("0.000351") * 18_300, Loss).curve
    profile, delta = smoothed_profile(loss), F("5.41e-23")
    bound, witness = profile.epsilon(delta)
    assert set(witness["other"]) == {"t"}
    assert 0 < 1 - bound.lower / bound.upper < 1e-9
    loose = {**witness, "other": {"t": F(1, 1000)}}
    assert not profile.meets(F(bound.upper), delta, loose)  # a bound that is too large counts
    found = profile.find(F(bound.upper))
    assert set(found["other"]) == {"t"}
    assert profile.estimate(delta) == pytest.approx(bound.upper, rel=1e-2)


def test_what_is_scattered():
    for mechanism, relative in (
        (tr.DiscreteGaussian(2).poisson("0.01") * 1000, 5e-10),
        (tr.DiscreteGaussian(2).poisson("0.001") * 1000, 2e-7),
        (tr.DiscreteGaussian(2).poisson("0.01", relation="replace") * 10 + tr.Gaussian(1), 2e-7),
        (tr.DiscreteGaussian(2).without_replacement(1, 10) * 100, 5e-10),
    ):
        assert scattered_profile(fact(mechanism, Loss).curve).relative == relative
    for mechanism in (
        tr.DiscreteGaussian(2) * 10,  # on a lattice
        tr.Laplace(2).poisson("0.1") * 100,
        tr.Gaussian(2).poisson("0.1") * 100,
        tr.RandomizedResponse(epsilon=1, k=3).poisson("0.1") * 100,
    ):
        assert scattered_profile(fact(mechanism, Loss).curve) is None


def test_it_takes_no_more_than_its_share_of_the_work():
    loss = fact(tr.DiscreteGaussian("3.76").poisson("0.211") * 56, Loss).curve
    profile = SmoothedProfile(smoothed_profile(loss).sums, most=3e3)
    with effort.allowed(1e7), pytest.raises(NotCertified):
        profile.epsilon(F(1, 10**30))
    with effort.allowed(1e7), pytest.raises(NotCertified):
        profile.find(F(5))


CLAIMS = [
    ("discrete_gaussian(3.26).poisson(1.57e-5) * 1200000", "3.45e-28", 1e-9),
    ("discrete_gaussian(3.69).poisson(6.16e-5) * 83575", "6.84e-27", 1e-9),
    ("discrete_gaussian(4.37).poisson(2.53e-5) * 129000", "8.69e-6", 1e-9),
    ("discrete_gaussian(18.7).poisson(2.72e-5) * 2990000", "2.07e-23", 1e-9),
    ("discrete_gaussian(1.48).poisson(0.00026, relation=replace) * 481000", "4.93e-36", 1e-9),
    ("discrete_gaussian(13.6).poisson(0.00134, relation=replace) * 1210", "2.07e-25", 1e-6),
    ("discrete_gaussian(8.14).without_replacement(12, 16000) * 219", "2.68e-28", 1e-6),
    # most of the deviation is that of atoms, far below ε: nodes are low far out, and δ falls steeply
    (
        "discrete_laplace(4.66).poisson(2.91e-5)*52 + discrete_gaussian(2.31).poisson(0.000151)*238000"
        " + randomized_response(1.14)*10",
        "8.46e-33",
        1e-9,
    ),
    # the records are sampled by a law that is finite
    ("discrete_gaussian(3.45).poisson(1.36e-5)*238 + discrete_laplace(2.46).poisson(0.000112)*218781", "8e-39", 1e-9),
    # a rare Gaussian, of whose transform few values are needed however far out the nodes are
    ("discrete_gaussian(2.28).poisson(8.38e-5)*1203 + gaussian(5.76).poisson(1.75e-5)*2", "4.65e-17", 1e-6),
]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("text", "delta", "width"), CLAIMS)
def test_many_rare_steps_are_close_and_checked(text, delta, width):
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert claim.witness["way"] == "smoothed"
    assert 0 < 1 - claim.computed.lower / claim.computed.upper < width
    assert tr.check(claim.to_json())


def test_blurred_contours_are_made_finer_where_losses_are_dense(monkeypatch):
    """A record exchanged with wide noise: losses nearly lie on a lattice, and ε on one of its points."""
    loss = fact(tr.DiscreteGaussian("11.1").poisson("0.662", relation="replace") * 86, Loss).curve
    profile = blurred_profile(loss)
    assert profile.sampled == pytest.approx(86 * 0.662)
    bound, witness = profile.epsilon(F("0.0792"))
    assert 0 < 1 - bound.lower / bound.upper < 1e-9
    monkeypatch.setattr("tightrope.curves.engines.blurred_profile._LITTLE", 0.0)
    with effort.allowed(1e9):  # nothing says that records are sampled, and it is not quick
        wider, _ = type(profile)(profile.sums, 0.0).epsilon(F("0.0792"))
    assert 1e-9 < 1 - wider.lower / wider.upper < 1e-7
    assert wider.lower <= bound.upper
    assert wider.upper >= bound.lower
    assert profile.meets(F(bound.upper), F("0.0792"), witness)


def test_little_noise_sampled_often_is_left_to_the_blurred_contour():
    for text, few in (
        ("discrete_gaussian(0.615).poisson(0.271) * 10300", True),
        ("discrete_gaussian(0.9).poisson(0.1, relation=replace) * 1000", True),
        ("discrete_gaussian(0.9).without_replacement(1, 10) * 1000", True),
        ("discrete_gaussian(0.9).poisson(0.1) * 400", False),  # so rarely that there may be no saddle
        ("discrete_gaussian(1.4).poisson(0.1) * 1000", False),
        ("discrete_gaussian(0.9).poisson(0.1) * 1000 + discrete_gaussian(2).poisson(0.1)", False),
        ("laplace(0.9).poisson(0.1) * 1000", False),
    ):
        assert has_few_values(fact(tr.parse(text), Loss).curve) is few
    claim = tr.epsilon(tr.parse("discrete_gaussian(0.615).poisson(0.271) * 1000"), delta=1e-6)
    assert claim.witness["way"] == "blurred"
