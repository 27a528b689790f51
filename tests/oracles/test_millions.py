"""Millions of steps, and steps that are all but certain: the central limit theorem, and truths in closed form."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

import tightrope as tr
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.contour.aliases import log_moment
from tightrope.numerics.contour.floats import Saddles, saddle_start
from tightrope.numerics.real import real
from tightrope.numerics.search import crossing
from tightrope.numerics.sums.finite import FiniteSum, on_lattice
from tightrope.numerics.transforms.closed import LaplaceTransform, NormalTransform
from tightrope.numerics.transforms.unequal import UnequalTransform


def _response(epsilon: float) -> tuple[float, float]:
    """The mean and the variance of the loss of a binary randomized response."""
    mean = epsilon * math.tanh(epsilon / 2)
    return mean, epsilon**2 - mean**2


def _laplace(epsilon: float) -> tuple[float, float]:
    """Of a Laplace loss: atoms ½ and ½e^{−ε}, density ¼e^{(l−ε)/2} between."""
    loss = np.linspace(-epsilon, epsilon, 2_000_001)
    density = np.exp((loss - epsilon) / 2) / 4
    means = []
    for power in (1, 2):
        values = density * loss**power
        inner = (values.sum() - (values[0] + values[-1]) / 2) * (loss[1] - loss[0])
        means.append(float(inner + epsilon**power / 2 + (-epsilon) ** power * math.exp(-epsilon) / 2))
    return means[0], means[1] - means[0] ** 2


def _normal_root(parts: list[tuple[tuple[float, float], int]], delta: float) -> float:
    mean = sum(n * law[0] for law, n in parts)
    return mean + NormalDist().inv_cdf(1 - delta) * math.sqrt(sum(n * law[1] for law, n in parts))


@pytest.mark.parametrize(
    ("text", "parts", "delta", "way"),
    [
        ("laplace(0.5)*728482", [(_laplace(2.0), 728482)], 0.491, "contour"),
        ("laplace(0.5)*728482", [(_laplace(2.0), 728482)], 0.999, "contour"),
        (
            "randomized_response(0.474)*69821211 + randomized_response(0.971)*6246754",
            [(_response(0.474), 69821211), (_response(0.971), 6246754)],
            3.59e-12,
            "blurred",
        ),
        ("randomized_response(7.26)*534470903", [(_response(7.26), 534470903)], 1e-14, "blurred"),
        ("randomized_response(1)*10000000", [(_response(1.0), 10**7)], 1e-9, "sum"),
    ],
)
def test_millions_of_steps_are_nearly_normal(
    text: str, parts: list[tuple[tuple[float, float], int]], delta: float, way: str
) -> None:
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert claim.witness["way"] == way
    assert claim.upper - claim.lower < 1e-8 * claim.upper
    assert claim.upper == pytest.approx(_normal_root(parts, delta), rel=1e-5)
    assert tr.check(claim.to_json())


@pytest.mark.parametrize(
    ("text", "total", "delta"),
    [
        ("discrete_laplace(1/512)*34165", 512 * 34165, 1.1e-6),
        ("discrete_laplace(1/64)*34165", 64 * 34165, 0.3),
        ("discrete_gaussian(1/128)*7936", 8192 * 7936, 5.2e-11),
        ("discrete_gaussian(1/100)*8", 5000 * 8, 0.0839),
    ],
)
def test_noise_that_all_but_never_moves(text: str, total: int, delta: float) -> None:
    """The loss is nearly surely its largest, or what it is without noise: δ = 1 − e^{ε−L}."""
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert claim.upper - claim.lower < 1e-12 * claim.upper
    assert claim.upper == pytest.approx(total + math.log1p(-delta), rel=1e-14)


def test_a_sum_of_all_but_certain_draws_is_enclosed() -> None:
    masses = {1: real(1 - Fraction(1, 2**80) - Fraction(1, 2**90)), -1: real(Fraction(1, 2**80))}
    total = FiniteSum([(on_lattice(real(Fraction(3)), masses, real(Fraction(1, 2**90))), 50)])
    with precision(64):
        for x in (100, 149.5, 151):
            value = total._nearly_sure(lambda s, x=x: (-(x - s).min(Ball(0)).expm1()).max(Ball(0)))
            exact = total._answer(Ball(x), lambda engine, at: engine.call(at))
            assert value is None or value.overlaps(exact)
            assert (value is None) == (x > 150)  # there only what is next to impossible counts
    assert (
        FiniteSum(
            [(on_lattice(real(Fraction(3)), {1: real(Fraction(1, 2)), -1: real(Fraction(1, 2))}), 2)]
        )._nearly_sure(lambda s: s)
        is None
    )


def test_moments_of_large_losses_keep_their_bits() -> None:
    parts = [(NormalTransform(real(Fraction(8 * 10**8))), 1), (LaplaceTransform(Fraction(1)), 1)]
    t = Fraction(1, 3000)
    with precision(12):
        value = log_moment(parts, t, 12)
    assert value.rad() < 2.0**-8
    with precision(200):
        assert value.overlaps(parts[0][0].log_real(t) + parts[1][0].log_real(t))


@pytest.mark.parametrize("delta", [0.3, 0.45, 0.7, 0.99])
def test_flat_roots_are_near(delta: float) -> None:
    parts = [(LaplaceTransform(Fraction(2)), 10**6)]
    found, saddles = _normal_root([(_laplace(2.0), 10**6)], delta), Saddles(parts)
    assert saddles.flat_root(math.log(delta)) == pytest.approx(found, rel=1e-5)
    narrow = Saddles([(LaplaceTransform(Fraction(1, 1000)), 4)])
    assert narrow.flat_root(math.log(1e-4)) == pytest.approx(math.log1p(-1e-4), rel=1e-6)
    assert saddle_start(parts, Fraction(1, 10**6)) is not None


def test_a_search_near_a_jump_looks_around_its_start() -> None:
    """The start is just beyond a jump, where the slope says nothing."""
    asked = []

    def estimate(x: float) -> float:
        asked.append(x)
        return -500.0 if x > 6e5 else math.log(-math.expm1((x - 6e5) / 3)) if x < 6e5 else -500.0

    def prove(x: Fraction) -> Ball:
        with precision(128):
            gap = Ball(float(x)) - Ball(6e5)
            return (-(gap / 3).min(Ball(0)).expm1()) if gap < 0 else Ball(0)

    bound = crossing(estimate, prove, Fraction(1, 100), (600003.0, -0.5))
    assert bound.lower <= 6e5 + 3 * math.log1p(-0.01) <= bound.upper
    assert min(asked) > 3e5


def test_pairs_of_unequal_variance_in_doubles() -> None:
    transform, t, eta = (
        UnequalTransform(Fraction(0), Fraction(1), Fraction(1, 2), Fraction(2)),
        Fraction(1, 2),
        Fraction(2),
    )
    nodes = transform.float_nodes(t, eta, 40, Ball(-1))
    assert nodes is not None
    with precision(120):
        for value, ball, alive in zip(nodes.values, transform.at(t, eta, range(41)), nodes.alive, strict=True):
            assert (ball - complex(value)).abs_upper() <= nodes.error
            assert alive or ball.abs_lower() < math.exp(-1)
    assert not nodes.alive.all()
    few = transform.few_nodes(t, eta, np.array([3, 40]), Ball(-1), 40)
    assert few is not None
    assert list(few.values) == [nodes.values[3], nodes.values[40]]


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("staircase(3.04,gamma=0.3)*329229 + gaussian_pair(0,1,0.131,2.56)*3", "9.13e-13"),
        ("gaussian(0.832)*562453991 + gaussian_pair(0,1,0.0807,0.528)", "0.00024"),
        ("gaussian(0.832)*562453991 + laplace(1)", "0.00024"),
    ],
)
def test_few_beside_millions(text: str, delta: str) -> None:
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert claim.upper - claim.lower < 1e-9 * claim.upper
    parts = text.split(" + ")
    assert claim.lower > tr.epsilon(tr.parse(parts[0]), delta=delta).upper
