"""What splitting adds, against sums that are enumerated."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from tightrope.numerics.balls import upper_float
from tightrope.numerics.grid.splitting import layers

STEPS = [Fraction(1, 2), Fraction(1, 16), Fraction(1, 1024)]


def split_sum(places, h):
    """X and its chances, the sum of losses split onto the ends of their cells; ``places``: how far up each cell."""
    sums, chances = np.zeros(1), np.ones(1)
    for u in places:
        up = -math.expm1(-u * h) / -math.expm1(-h)  # the P-mass that keeps both masses
        sums = np.concatenate([sums - u * h, sums + (1 - u) * h])
        chances = np.concatenate([chances * (1 - up), chances * up])
    return sums, chances


def added(z, split):
    """What the hockey-stick gains if z is what is left of ε."""
    sums, chances = split
    return float(chances @ np.maximum(-np.expm1(z - sums), 0.0)) - max(-math.expm1(z), 0.0)


def bound(z, split, found):
    """By the layers."""
    sums, chances = split
    near = [float(chances[np.abs(z - sums) <= float(reach)].sum()) for reach in found.reaches]
    parts = [upper_float(height) * chance for height, chance in zip(found.heights, near, strict=True)]
    if found.kernel is not None:
        inside = np.abs(z - sums) <= float(found.kernel.reach)
        parts.append(float(chances[inside] @ found.kernel.heights(z - sums[inside], 0.0)))
    return math.fsum(parts) + upper_float(found.rest)


def cases(step, seed):
    chance = random.Random(f"{seed} {step}")
    for copies in (2, 3, 6, 10):
        for places in ([0.5] * copies, [0.05] * copies, [chance.random() for _ in range(copies)]):
            yield copies, split_sum(places, float(step))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("step", STEPS)
def test_splitting_adds_at_most_its_layers(step):
    for copies, sums in cases(step, "all"):
        assert float(sums[1] @ np.exp(-sums[0])) == pytest.approx(1, abs=1e-13)  # Q-mass stays
        found = layers(copies * step**2)
        for i in range(-100, 101):
            z = i / 20 * copies * float(step) / 4
            assert added(z, sums) <= bound(z, sums, found) + 1e-15


@pytest.mark.parametrize("step", STEPS)
def test_a_third_of_the_layers_would_not_do(step):
    worst = max(added(0.0, sums) / bound(0.0, sums, layers(copies * step**2)) for copies, sums in cases(step, "few"))
    assert worst > 1 / 3


@pytest.mark.parametrize("step", STEPS)
def test_layers_are_of_second_order(step):
    """Over all z they add up to about the number of steps times the square of the length of a cell."""
    for copies in (2, 100, 10**6):
        found = layers(copies * (step / copies) ** 2)
        whole = sum(upper_float(h) * 2 * float(r) for h, r in zip(found.heights, found.reaches, strict=True))
        if found.kernel is not None:
            y = np.linspace(-1, 1, 2001) * float(found.kernel.reach)
            whole += float(found.kernel.heights(y, 0.0).mean()) * 2 * float(found.kernel.reach)
            assert whole / (copies * float(step / copies) ** 2) < 0.6
        assert 0.2 < whole / (copies * float(step / copies) ** 2) < 1.3
        assert upper_float(found.rest) < 1e-300
