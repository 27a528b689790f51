"""Single real numbers: the staircase mechanism and the pair of unequal Gaussians."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tightrope.errors import BadParameter, Unsupported
from tightrope.mechanisms.pair import GaussianPair
from tightrope.mechanisms.running.values import read
from tightrope.mechanisms.staircase import Staircase
from tightrope.noise.blocks import magnitudes, normal_shape
from tightrope.noise.recorder import drawing
from tightrope.noise.rounded import default_grid, nearest_float, nearest_whole
from tightrope.noise.staircase import Stairs, on_stairs
from tightrope.numerics.exact import Number, positive


def stairs_grid(m: Staircase, sensitivity: Fraction = Fraction(1)) -> Fraction:
    """The step of the outputs: the one set, or about 2^−20 of the sensitivity."""
    return m.grid or default_grid(sensitivity)


def released_staircase(m: Staircase, values: Any, sensitivity: Number = 1) -> Any:
    """round_g(x + staircase noise) for one number."""
    if m.epsilon == 0:
        raise Unsupported(f"running {m}", "noise without an ε is infinite", "Give a positive ε.")
    found = read(values)
    if found.shape is not None:
        raise Unsupported(
            "staircase noise on a vector",
            "a small change in every coordinate can cross a step in each, and cost ε each time",
            "Release each coordinate by itself, and account for all of them: m * n.",
        )
    width = positive("sensitivity", sensitivity)
    grid, value = stairs_grid(m, width), found.flat.tolist()[0]
    source = drawing(f"{m}, sensitivity {sensitivity}", 1, value)
    point = on_stairs(source, Stairs(m.epsilon, m.width, width), Fraction(value), grid)
    return formed(point, grid, value)


def formed(point: int, grid: Fraction, value: Any) -> int | float | Fraction:
    """A grid point in the type of the value it replaces."""
    if isinstance(value, Fraction):
        return point * grid
    if isinstance(value, int | np.integer) and grid >= 1:
        return point * int(grid)
    return nearest_float(point * grid)


def released_pair(m: GaussianPair, values: Any) -> float:
    """N(mean, sigma²) if the record is there (True), the other law if not, on a grid that suits the narrower."""
    if not isinstance(values, bool | np.bool_):
        raise BadParameter("values", values, "must be True (with the record) or False (without)")
    mean, sigma = (m.mean, m.sigma) if values else (m.other_mean, m.other_sigma)
    grid, shape = default_grid(min(m.sigma, m.other_sigma)), normal_shape(sigma)
    source = drawing(str(m), 1, values)
    lazy = magnitudes(shape, source, 1).lazy(shape, source, 0)
    return nearest_float(nearest_whole(lazy, mean, grid) * grid)
