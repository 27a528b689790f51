"""How fast |E[w^{A+iy}]| falls, w = 1 − q + ρ(z) with ρ = q·e^{l(z)} and a quadratic l: the law of ln w, in layers.

On either side of the vertex of l, ln w is monotone in z and has a density. Below that lies a staircase, and a staircase
is a sum of rectangles: uniform laws of masses p_i and widths v_i. With whatever is left of the law beside them,

    |E[w^{A+iy}]|/E[w^A] ≤ 1 − Σ p_i·(1 − S(y·v_i/2)),    S(u) = sup_{u' ≥ u} |sin u'|/u',

which falls with y. It is close where y is small, as it is for many copies, and takes a millisecond.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.numerics.balls import Ball, ball, lower_float, precision, upper_float
from tightrope.numerics.transforms.quadratic_loss import QuadraticLoss

if TYPE_CHECKING:
    from fractions import Fraction

    from tightrope.numerics.transforms.transform import Floats

__all__ = ["layered_decay", "log_layered_decays"]

_CELLS = 256
_GUARD = 40  # bits: 1 − sin u/u of a small u cancels
_SIDE = 0.21724  # above the largest |sin u|/u beyond its first zero
_SAFE = 1 - 2.0**-40  # of a density in doubles: far more than their rounding

Rectangle = tuple[float, float]  # mass and width


def layered_decay(law: QuadraticLoss, power: Fraction, y: Fraction, window: tuple[float, float], log: Ball) -> Ball:
    """The bound above, proved; ln E[w^A] is ``log``. What lies outside of the window is left out."""
    total = Ball(0)
    with precision(ctx.prec + _GUARD):
        for edges in _branches(law, window):
            for mass, width in _staircase(law, power, edges, log):
                total += mass * _lack(ball(y) * width / 2)
        return (1 - total).upper() if total < 1 else Ball(1)


def _lack(u: Ball) -> Ball:
    """1 − S(u)."""
    if u < 3:
        return (1 - u.sin() / u).min(Ball(1 - _SIDE)).max(Ball(0))
    return (1 - 1 / u).max(Ball(1 - _SIDE))


def log_layered_decays(law: QuadraticLoss, power: float, y: Floats, window: tuple[float, float], log: float) -> Floats:
    """About its logarithm at many y."""
    import numpy as np

    found: list[Rectangle] = []
    with np.errstate(all="ignore"):
        for edges in _branches(law, window):
            found += _float_staircase(law, power, np.array(edges), log)
        if not found:
            return y * 0.0
        masses, widths = np.array(found).T
        u = np.multiply.outer(y, widths) / 2
        sides = np.where(u < 3, np.maximum(np.sin(u) / u, _SIDE), np.minimum(_SIDE, 1 / u))
        lacks = np.where(u < 0.1, u * u / 6 * (1 - u * u / 20), 1 - sides)
        result: Floats = np.log1p(-np.minimum((masses * lacks).sum(axis=1), _SAFE))
    return result


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
    heights = []
    for i, j in pairwise(range(len(edges))):
        gap, lean, pair = Ball(edges[j]) - Ball(edges[i]), leans[i].max(leans[j]), (shares[i], shares[j])
        bent = (2 * bend * (b * pair[0] - 1)).max(2 * bend * (b * pair[1] - 1)) - 1
        bent += b.max(Ball(0)) * _both(*pair) * lean * lean
        size = sizes[i].min(sizes[j]) - gap * gap * bent.max(Ball(0)) / 8
        heights.append(max(lower_float(size.exp() / lean), 0.0))
    values = [float(loss.mid()) for loss in losses]
    off = max(upper_float(loss.rad()) + 2.0**-52 * abs(value) for loss, value in zip(losses, values, strict=True))
    found = [(mass / width, width - 2 * off) for mass, width in _rectangles(values, heights)]
    return [(_SAFE * height * width, _SAFE * width) for height, width in found if width > 0]


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
    return _rectangles([float(v) for v in loss], [float(h) for h in np.nan_to_num(heights, posinf=0.0)])


def _rectangles(values: Sequence[float], heights: Sequence[float]) -> list[Rectangle]:
    """A staircase, heights between values that rise or fall, as rectangles that stand on each other."""
    found: list[Rectangle] = []
    standing: list[tuple[float, float]] = []  # where each begins, and its top: they rise
    for value, height in zip(values, [*heights, 0.0], strict=True):
        start = value
        while standing and standing[-1][1] > height:
            start, top = standing.pop()
            below = max(height, standing[-1][1] if standing else 0.0)
            width = abs(value - start)
            if width > 0:
                found.append(((top - below) * width, width))
        if height > 0 and not (standing and standing[-1][1] == height):
            standing.append((start, height))
    return found
