"""Staircase noise on a real value, rounded to a grid on the exact sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tightrope.noise.blocks import floor_log2
from tightrope.noise.entropy import Source
from tightrope.noise.integers import discrete_laplace
from tightrope.noise.uniform import Uniform, coin
from tightrope.numerics.balls import Ball, ball, between, precision


@dataclass(frozen=True)
class Stairs:
    """Steps of width γ and 1 − γ in units of the sensitivity; the height falls by e^{−ε} from one unit to the next."""

    epsilon: Fraction
    gamma: Callable[[], Ball]
    sensitivity: Fraction


def on_stairs(source: Source, stairs: Stairs, centre: Fraction, grid: Fraction) -> int:
    """The grid point next to centre + noise, in units of the grid (Geng and Viswanath, Algorithm 1)."""
    unit = _geometric(source, 1 / stairs.epsilon)
    outer = not coin(source, lambda: _inner_chance(stairs))
    negative = source.bits(1)
    u, digits = Uniform(source), floor_log2(abs(centre) / grid + 1)
    while True:
        u.refine()
        with precision(128 + digits + 2 * u.known):
            g, inside = stairs.gamma(), between(*(ball(end) for end in u.ends()))
            size = unit + (g + (1 - g) * inside if outer else g * inside)
            moved = ball(stairs.sensitivity) * (-size if negative else size)
            point = ((ball(centre) + moved) / ball(grid) + ball(Fraction(1, 2))).floor().unique_fmpz()
        if point is not None:
            return int(point)


def _inner_chance(stairs: Stairs) -> Ball:
    """γ/(γ + (1 − γ)e^{−ε})."""
    g = stairs.gamma()
    return g / (g + (1 - g) * (-ball(stairs.epsilon)).exp())


def _geometric(source: Source, scale: Fraction) -> int:
    """P(j) ∝ e^{−j/t} on 0, 1, …: discrete Laplace noise, given that it is not negative."""
    while True:
        value = int(discrete_laplace(source, scale, 1)[0])
        if value >= 0:
            return value
