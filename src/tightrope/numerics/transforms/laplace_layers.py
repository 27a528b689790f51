"""The law of a sampled Laplace loss, in layers (``layered_decay``): the part between its two atoms has a density.

Under w^A, w = 1 − q + q·e^l, ln w has the density e^F/4qG(A) at l, F = −(ε₀ + 3l)/2 + B·ln w, B = A + 1, and
F″ = Bσ(1−σ) with σ = q·e^l/w.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.transforms.layered_decay import Rectangle, rectangles, sure_rectangles

__all__ = ["laplace_float_layers", "laplace_layers"]

_CELLS = 256


def laplace_layers(epsilon0: Fraction, rate: Fraction, power: Fraction, log: Ball) -> list[Rectangle]:
    """Rectangles below the density; ln G(A) is ``log``. Between two edges F is at least its lesser value there less
    their distance squared times an eighth of B/4, if B > 0."""
    q, b, half = ball(rate), ball(power + 1), ball(epsilon0) / 2
    gap = ball(2 * epsilon0 / _CELLS)
    below = log + (4 * q).log() + b.max(Ball(0)) * gap * gap / 32
    losses, sizes = [], []
    for i in range(_CELLS + 1):
        line = ball(epsilon0 * Fraction(2 * i - _CELLS, _CELLS))
        loss = (q * line.expm1()).log1p()
        losses.append(loss)
        sizes.append(b * loss - half - 3 * line / 2 - below)
    return sure_rectangles(losses, [first.min(second).exp() for first, second in pairwise(sizes)])


def laplace_float_layers(epsilon0: float, rate: float, power: float, log: float) -> list[Rectangle]:
    """About the same."""
    import numpy as np

    line = np.linspace(-epsilon0, epsilon0, _CELLS + 1)
    loss, b = np.log1p(rate * np.expm1(line)), power + 1
    sizes = b * loss - epsilon0 / 2 - 1.5 * line - log - math.log(4 * rate)
    lost = max(b, 0.0) * (2 * epsilon0 / _CELLS) ** 2 / 32
    heights = np.exp(np.minimum(sizes[1:], sizes[:-1]) - lost)
    return rectangles([float(v) for v in loss], [float(h) for h in np.nan_to_num(heights, posinf=0.0)])
