"""The law of a sampled loss between normal laws of unequal variance, in layers (``layered_decay``).

On either side of the vertex of the quadratic l, ln w is monotone in z and has a density there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.transforms.layered_decay import Rectangle, rectangles, sure_rectangles
from tightrope.numerics.transforms.quadratic_loss import QuadraticLoss

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["unequal_float_layers", "unequal_layers"]

_CELLS = 256


def unequal_layers(law: QuadraticLoss, power: Fraction, window: tuple[float, float], log: Ball) -> list[Rectangle]:
    """Rectangles below the density of ln w under w^A; ln E[w^A] is ``log``. Nothing is outside of the window."""
    return [one for edges in _branches(law, window) for one in _staircase(law, power, edges, log)]


def unequal_float_layers(
    law: QuadraticLoss, power: float, window: tuple[float, float], log: float
) -> list[Rectangle]:
    """About the same."""
    import numpy as np

    with np.errstate(all="ignore"):
        return [one for at in _branches(law, window) for one in _float_staircase(law, power, np.array(at), log)]


def _branches(law: QuadraticLoss, window: tuple[float, float]) -> Iterator[list[float]]:
    """Places in the window on either side of the vertex, and not that itself: floats may lie on its other side."""
    import numpy as np

    bend, slope, _, _ = law.floats
    vertex, (left, right) = -slope / (2 * bend), window
    if left < vertex:
        yield [float(z) for z in np.linspace(left, min(right, vertex), _CELLS + 1)[: None if right < vertex else -1]]
    if right > vertex:
        yield [float(z) for z in np.linspace(max(left, vertex), right, _CELLS + 1)[0 if left > vertex else 1 :]]


def _staircase(law: QuadraticLoss, power: Fraction, edges: Sequence[float], log: Ball) -> list[Rectangle]:
    """The rectangles of one branch.

    The density of ln w is φw^A/|(ln w)′|E[w^A], (ln w)′ = l′σ with σ = ρ/w, which is monotone as well. So its logarithm
    is F − ln|l′| − …, F = −z²/2 + B·ln w − l, B = A + 1, and F″ = −1 + 2α(Bσ − 1) + Bσ(1−σ)l′². Between two edges F is
    at least its lesser value there less their distance squared times an eighth of the largest F″.
    """
    bend, slope, height, q = law.coefficients()
    b, below = ball(power + 1), log + q.log() + (2 * Ball.pi()).log() / 2
    losses, sizes, shares, leans = [], [], [], []
    for edge in edges:
        z = Ball(edge)
        line = (bend * z + slope) * z + height
        loss = (q * line.expm1()).log1p()
        losses.append(loss)
        sizes.append(b * loss - line - z * z / 2 - below)
        shares.append(q * (line - loss).exp())
        leans.append(abs(2 * bend * z + slope))
    densities = []
    for i, j in pairwise(range(len(edges))):
        gap, lean, pair = Ball(edges[j]) - Ball(edges[i]), leans[i].max(leans[j]), (shares[i], shares[j])
        bent = (2 * bend * (b * pair[0] - 1)).max(2 * bend * (b * pair[1] - 1)) - 1
        bent += b.max(Ball(0)) * _both(*pair) * lean * lean
        size = sizes[i].min(sizes[j]) - gap * gap * bent.max(Ball(0)) / 8
        densities.append(size.exp() / lean)
    return sure_rectangles(losses, densities)


def _both(first: Ball, second: Ball) -> Ball:
    """The largest σ(1 − σ) between two σ."""
    if (first < 0.5 and second < 0.5) or (first > 0.5 and second > 0.5):
        return (first * (1 - first)).max(second * (1 - second)).max(Ball(0))
    return Ball(0.25)


def _float_staircase(law: QuadraticLoss, power: float, z: Floats, log: float) -> list[Rectangle]:
    """About the same."""
    import numpy as np

    bend, slope, height, q = law.floats
    line, loss, b = (bend * z + slope) * z + height, law.loss_floats(z), power + 1
    size, share = b * loss - line - z * z / 2 - log - math.log(q), q * np.exp(line - loss)
    ends = np.array([share[1:], share[:-1]])
    lean = np.maximum(abs(2 * bend * z + slope)[1:], abs(2 * bend * z + slope)[:-1])
    both = np.where((ends.min(axis=0) > 0.5) | (ends.max(axis=0) < 0.5), (ends * (1 - ends)).max(axis=0), 0.25)
    bent = 2 * bend * (b * ends - 1).max(axis=0) if bend > 0 else 2 * bend * (b * ends - 1).min(axis=0)
    bent = np.maximum(bent - 1 + max(b, 0.0) * both * lean * lean, 0.0)
    heights = np.exp(np.minimum(size[1:], size[:-1]) - np.diff(z) ** 2 * bent / 8) / (math.sqrt(2 * math.pi) * lean)
    return rectangles([float(v) for v in loss], [float(h) for h in np.nan_to_num(heights, posinf=0.0)])
