"""Contours far from any saddle, which floats do not see: rare steps whose large losses outgrow all others."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.contour_profile import contour_profile
from tightrope.curves.engines.lesser_direction import crosses_before, estimated, told_apart
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball
from tightrope.numerics.contour.deep import deep_call, deep_root
from tightrope.numerics.contour.integral import Plan, Unseen

SIGMA, RATE, STEPS, DELTA = "4.12", "1.62e-5", 1602489, "2.65e-14"  # beyond a tilt of 364 one step is all
RUN = tr.Gaussian(SIGMA).poisson(RATE) * STEPS


def inverted(x: float, t: int, period: float) -> mp.mpf:
    """δ of removing a record at x, by inverting the transform on one line in mpmath."""
    with mp.workdps(40):
        mu, q, h = 1 / mp.mpf(SIGMA), mp.mpf(RATE), mp.mpf(1) / 4
        nodes = [h * j for j in range(-56, 56 + 4 * int(t * mu))]
        logs = [mp.log1p(q * mp.expm1(mu * z - mu * mu / 2)) for z in nodes]
        sizes = [(t + 1) * log - z * z / 2 for z, log in zip(nodes, logs, strict=True)]
        weights = [mp.exp(size) * h / mp.sqrt(2 * mp.pi) for size in sizes]
        eta, total = 2 * mp.pi / period, mp.mpf(0)
        for k in range(400):
            s = mp.mpc(t, k * eta)
            moment = mp.fsum(w * mp.expj(k * eta * log) for w, log in zip(weights, logs, strict=True))
            term = mp.exp(STEPS * mp.log(moment) - s * x) / (s * (s + 1))
            total += (1 if k == 0 else 2) * term.real
            if k and abs(term) < mp.mpf(10) ** -30:
                break
        return total * eta / (2 * mp.pi)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_epsilon_is_tight_and_right():
    claim = tr.epsilon(RUN, delta=DELTA)
    assert claim.tight
    assert claim.upper - claim.lower < 1e-9 * claim.upper
    assert tr.check(claim.to_json())
    value = inverted(claim.upper, 60, 0.9)
    assert value == pytest.approx(float(DELTA), rel=1e-9)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("epsilon", [0.02, 0.05])
def test_delta_is_tight_and_right(epsilon):
    claim = tr.delta(RUN, epsilon=epsilon)
    assert claim.tight
    assert claim.upper - claim.lower < 1e-9 * claim.upper
    assert inverted(epsilon, 80, 1.2) == pytest.approx(claim.upper, rel=1e-8)


def test_searches_on_proved_values():
    total = contour_profile(fact(RUN, Loss).curve).sums[0]
    with pytest.raises(Unseen):
        total.plan(0.0666)
    x = deep_root(total, math.log(float(DELTA)))
    assert x == pytest.approx(0.0329598015, rel=1e-4)
    assert deep_call(total, x) == pytest.approx(math.log(float(DELTA)), abs=0.05)


def test_a_search_that_finds_nothing_says_so():
    steps = tr.Gaussian("5.31").poisson("0.00397") * 11
    total = contour_profile(fact(steps, Loss).curve).sums[0]
    with pytest.raises(NotCertified):
        deep_root(total, math.log(2.3e-40))
    with pytest.raises(NotCertified):
        contour_profile(fact(steps, Loss).curve).epsilon(Fraction("2.3e-40"))


class Blind:
    """A sum whose calls nothing sees, and which has no estimate."""

    def spread(self):
        return 1.0

    def crude_plan(self, *_):
        return Plan(Fraction(1), Fraction(1), 1, 60)

    def call(self, *_):
        return Ball(0, 1)

    def infinite(self):
        return Ball(0)

    def chernoff(self, *_):
        return 0.0, 1.0

    def rough(self, _):
        raise NotCertified("a contour integral", "it lies beyond floats")

    estimate = rough


def test_nothing_seen_is_refused_and_tells_nothing_apart():
    with pytest.raises(NotCertified, match="that small"):
        deep_root(Blind(), -30.0)
    with pytest.raises(NotCertified, match="how small"):
        deep_call(Blind(), 1.0)
    assert told_apart(Blind(), Blind(), 1.0) == 0
    assert not crosses_before(Blind(), Blind(), 1.0, -1.0)
    assert estimated(Blind(), 1.0) == -math.inf
    leaky = contour_profile(fact(tr.Gaussian(3) + tr.Laplace(10) + tr.LeakyInput("1e-7"), Loss).curve).sums[0]
    assert told_apart(leaky, Blind(), 1.0) == 0
