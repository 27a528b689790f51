"""Smoothed contours of a few atoms with plans as coarse as can be, so that every error counts: all sums are listed."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.contour.smoothed import SmoothedSum, SmoothPlan
from tightrope.numerics.contour.smoothed_proof import SmoothedProof
from tightrope.numerics.real import Real
from tightrope.numerics.sums.finite import scattered
from tightrope.numerics.transforms.finite import FiniteTransform

F = Fraction
UNIT = F(1, 32)  # of all losses


def random_law(rng):
    """Losses in units, masses, and what is at ∞."""
    losses = sorted({int(v) for v in rng.integers(-24, 30, 3)} | {int(rng.integers(30, 90))})
    leak = F(0) if rng.random() < 0.6 else F(1, 1000)
    weights = [int(w) for w in rng.integers(1, 100, len(losses))]
    return losses, [F(w, sum(weights)) * (1 - leak) for w in weights], leak


def listed(losses, masses, copies):
    """The law of the sum of the copies: losses in units, and masses."""
    total = {0: F(1)}
    for _ in range(copies):
        new = {}
        for (a, p), (b, q) in product(total.items(), zip(losses, masses, strict=True)):
            new[a + b] = new.get(a + b, F(0)) + p * q
        total = new
    return total


def call(law, x):
    """E[(1 − e^{x−L})₊] of the finite part, in balls."""
    terms = [ball(mass) * -(ball(F(x) - UNIT * loss)).expm1() for loss, mass in law.items() if UNIT * loss > F(x)]
    return sum(terms, Ball(0))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("seed", range(30))
def test_every_sum_is_enclosed(seed):
    rng = np.random.default_rng(seed)
    losses, masses, leak = random_law(rng)
    copies = int(rng.integers(1, 5))
    law = listed(losses, masses, copies)
    transform = FiniteTransform(scattered([Real(UNIT * v) for v in losses], [Real(m) for m in masses], Real(leak)))
    parts = [(transform, copies)]
    saddles = SmoothedSum(parts)._saddles
    lowest, highest = float(UNIT * min(law)), float(UNIT * max(law))
    tried = 0
    for _ in range(8):
        t, eta, width = (
            F(int(rng.integers(1, 40)), 16),
            F(int(rng.integers(4, 60)), 64),
            F(int(rng.integers(5, 90)), 90),
        )
        last = math.ceil(rng.uniform(2.3, 5) / float(width * eta))
        count = last if rng.random() < 0.7 else max(1, int(last * rng.uniform(0.5, 1)))
        try:
            proof = SmoothedProof(parts, saddles, SmoothPlan(t, eta, count, 64, width, last, 1))
        except NotCertified:
            continue
        tried += 1
        for x in (*rng.uniform(lowest - 1, highest + 0.3, 5), highest - 0.01, float(UNIT * losses[0])):
            with precision(128):
                assert proof.call(Ball(float(x))).contains(call(law, float(x)))
    assert tried


@pytest.mark.parametrize("width", [F(1, 4), F(9, 10)])
@pytest.mark.parametrize("place", [-2.5, -1.7, -0.94, -0.3, 0.0, 0.3, 0.94, 1.7, 2.5])
def test_next_to_an_atom_both_kernels_are_needed_as_they_are(width, place):
    """A plan so fine that nothing but the smoothing is left: at an atom the lower end is the truth, and at 0.94 widths
    from it the upper one nearly is."""
    loss, mass = 40, F(1, 2)
    transform = FiniteTransform(scattered([Real(-UNIT * loss), Real(UNIT * loss)], [Real(mass)] * 2, Real(F(0))))
    parts = [(transform, 1)]
    last = math.ceil(12 / float(width / 8))
    proof = SmoothedProof(parts, SmoothedSum(parts)._saddles, SmoothPlan(F(1), F(1, 8), last, 80, width, last, 60))
    x = float(UNIT * loss) + place * float(width)
    with precision(128):
        truth, value = call({-loss: mass, loss: mass}, x), proof.call(Ball(x))
        assert value.contains(truth)
        if place < 0:  # else it is 0, as the lower end
            assert truth - value.lower() < ball(mass * width) * Ball(0.9)
