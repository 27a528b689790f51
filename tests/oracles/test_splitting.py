"""What splitting adds, against sums that are enumerated."""

import math
import random
from fractions import Fraction
from itertools import product

import pytest

from tightrope.numerics.balls import upper_float
from tightrope.numerics.grid.splitting import layers

STEPS = [Fraction(1, 2), Fraction(1, 16), Fraction(1, 1024)]


def split_sum(places, h):
    """(X, chance) of the sum of losses split onto the ends of their cells; ``places``: how far up each cell."""
    ways = []
    for u in places:
        up = -math.expm1(-u * h) / -math.expm1(-h)  # the P-mass that keeps both masses
        ways.append([(-u * h, 1 - up), ((1 - u) * h, up)])
    return [(sum(x for x, _ in one), math.prod(p for _, p in one)) for one in product(*ways)]


def added(z, sums):
    """What the hockey-stick gains if z is what is left of ε."""
    value = math.fsum(p * max(-math.expm1(z - x), 0.0) for x, p in sums)
    return value - max(-math.expm1(z), 0.0)


def bound(z, sums, found, share=1.0):
    """By the layers, of which only a share counts."""
    chances = (math.fsum(p for x, p in sums if abs(z - x) <= float(reach)) for reach in found.reaches)
    parts = (upper_float(height) * chance for height, chance in zip(found.heights, chances, strict=True))
    return share * (math.fsum(parts) + upper_float(found.rest))


def cases(step, seed):
    chance = random.Random(f"{seed} {step}")
    for copies in (2, 3, 6, 10):
        for places in ([0.5] * copies, [0.05] * copies, [chance.random() for _ in range(copies)]):
            yield copies, split_sum(places, float(step))


@pytest.mark.parametrize("step", STEPS)
def test_splitting_adds_at_most_its_layers(step):
    for copies, sums in cases(step, "all"):
        assert math.fsum(p * math.exp(-x) for x, p in sums) == pytest.approx(1, abs=1e-13)  # Q-mass stays
        found = layers(copies, step)
        for i in range(-300, 301):
            z = i / 60 * copies * float(step) / 4
            assert added(z, sums) <= bound(z, sums, found) + 1e-15


@pytest.mark.parametrize("step", STEPS)
def test_a_third_of_the_layers_would_not_do(step):
    worst = max(added(0.0, sums) / bound(0.0, sums, layers(copies, step)) for copies, sums in cases(step, "few"))
    assert worst > 1 / 3


@pytest.mark.parametrize("step", STEPS)
def test_layers_are_of_second_order(step):
    """Over all z they add up to about the number of steps times the square of the length of a cell."""
    for copies in (2, 100, 10**6):
        found = layers(copies, step / copies)
        whole = sum(upper_float(h) * 2 * float(r) for h, r in zip(found.heights, found.reaches, strict=True))
        assert 0.2 < whole / (copies * float(step / copies) ** 2) < 1.3
        assert upper_float(found.rest) < 1e-300
