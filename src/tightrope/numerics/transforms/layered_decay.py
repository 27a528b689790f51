"""How fast |E[e^{iyL}]| falls for a law with a density, in part at least: that part in layers.

Below a density lies a staircase, and a staircase is a sum of rectangles: uniform laws of masses p_i and widths v_i.
With whatever is left of the law beside them,

    |E[e^{iyL}]| ≤ 1 − Σ p_i·(1 − S(y·v_i/2)),    S(u) = sup_{u' ≥ u} |sin u'|/u',

which falls with y. It is close where y is small, as it is for many copies, and takes a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.numerics.balls import Ball, ball, lower_float, precision, upper_float

if TYPE_CHECKING:
    from fractions import Fraction

    from tightrope.numerics.transforms.transform import Floats

__all__ = ["Rectangle", "layered_decay", "log_layered_decays", "rectangles", "sure_rectangles"]

_GUARD = 40  # bits: 1 − sin u/u of a small u cancels
_SIDE = 0.21724  # above the largest |sin u|/u beyond its first zero
_SAFE = 1 - 2.0**-40  # of a density in doubles: far more than their rounding

Rectangle = tuple[float, float]  # mass and width


def layered_decay(layers: Iterable[Rectangle], y: Fraction) -> Ball:
    """The bound above, for all y' ≥ y, from rectangles that are proved to lie below the density."""
    total = Ball(0)
    with precision(ctx.prec + _GUARD):
        for mass, width in layers:
            total += mass * _lack(ball(y) * width / 2)
        return (1 - total).upper() if total < 1 else Ball(1)


def _lack(u: Ball) -> Ball:
    """1 − S(u)."""
    if u < 3:
        return (1 - u.sin() / u).min(Ball(1 - _SIDE)).max(Ball(0))
    return (1 - 1 / u).max(Ball(1 - _SIDE))


def log_layered_decays(layers: Sequence[Rectangle], y: Floats) -> Floats:
    """About its logarithm at many y."""
    import numpy as np

    if not layers:
        return y * 0.0
    masses, widths = np.array(layers).T
    with np.errstate(all="ignore"):
        u = np.multiply.outer(y, widths) / 2
        sides = np.where(u < 3, np.maximum(np.sin(u) / u, _SIDE), np.minimum(_SIDE, 1 / u))
        lacks = np.where(u < 0.1, u * u / 6 * (1 - u * u / 20), 1 - sides)
        result: Floats = np.log1p(-np.minimum((masses * lacks).sum(axis=1), _SAFE))
    return result


def sure_rectangles(losses: Sequence[Ball], densities: Sequence[Ball]) -> list[Rectangle]:
    """The rectangles of a staircase that is proved: what its values may be off is taken from every width."""
    values = [float(loss.mid()) for loss in losses]
    off = max(upper_float(loss.rad()) + 2.0**-52 * abs(value) for loss, value in zip(losses, values, strict=True))
    heights = [max(lower_float(density), 0.0) for density in densities]
    found = [(mass / width, width - 2 * off) for mass, width in rectangles(values, heights)]
    return [(_SAFE * height * width, _SAFE * width) for height, width in found if width > 0]


def rectangles(values: Sequence[float], heights: Sequence[float]) -> list[Rectangle]:
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
