"""Continuous noise on real values, rounded to a grid: round_g(x + N) decided on the exact sum.

x is taken exactly and N is never written down: its bits are drawn until the grid point is certain. So the output is a
function of x + N alone, and what holds of the continuous mechanism holds of it. Proof in docs/noise.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightrope.noise.blocks import BITS, Lazy, Shape, floor_log2, magnitudes, power_of_two
from tightrope.noise.entropy import Source
from tightrope.noise.table import CHUNK
from tightrope.numerics.exact import LARGEST, near

HALF = Fraction(1, 2)
_RELATIVE = 20  # the default grid is about 2^−20 of the noise's width
_WIDEST, _FINEST = 62, 8  # of the 48 bits of U and the block, those below the grid must fit in these limits
_LARGE = 2.0**900  # what is larger in grid units, or as a grid, is computed without floats


def default_grid(width: Fraction) -> Fraction:
    """The largest power of two that is at most 2^−20 of the noise's width."""
    return power_of_two(floor_log2(width) - _RELATIVE)


def nearest_whole(lazy: Lazy, centre: Fraction, grid: Fraction) -> int:
    """The grid point next to centre + noise, in units of the grid."""
    while True:
        low, high = ((centre + end) / grid + HALF for end in lazy.ends())
        first = low.__floor__()
        last = high.__floor__() if lazy.negative else high.__ceil__() - 1
        if first == last:
            return first
        lazy.offset.refine()


def on_grid_exactly(source: Source, shape: Shape, centres: Sequence[Fraction], grid: Fraction) -> list[int]:
    """Grid points in units of the grid, for centres of any size."""
    found: list[int] = []
    for start in range(0, len(centres), CHUNK):
        part = centres[start : start + CHUNK]
        drawn = magnitudes(shape, source, len(part))
        found += [nearest_whole(drawn.lazy(shape, source, i), centre, grid) for i, centre in enumerate(part)]
    return found


def on_grid(source: Source, shape: Shape, centres: NDArray[np.float64], grid: Fraction) -> NDArray[np.float64]:
    """Grid points next to centre + noise, as the nearest floats; those beyond all floats become the largest."""
    if not (_in_range(shape, grid) and 1 / _LARGE < grid < _LARGE):
        exact = on_grid_exactly(source, shape, [Fraction(float(x)) for x in centres], grid)
        return np.array([nearest_float(k * grid) for k in exact], np.float64)
    step = float(grid)
    with np.errstate(over="ignore", under="ignore"):
        scaled = centres / step
        huge = np.flatnonzero(np.isinf(scaled))  # multiples of the grid, like every float beyond 2^53 steps
        scaled[huge] = 0
        base = np.rint(scaled)
        moved = steps(source, shape, scaled - base, lambda i: Fraction(float(centres[i])) / grid - int(base[i]), grid)
        out: NDArray[np.float64] = np.clip((base + moved) * step, -LARGEST, LARGEST)
    for i in huge:
        out[i] = nearest_float(Fraction(float(centres[i])) + int(moved[i]) * grid)
    return out


def on_whole_grid(source: Source, shape: Shape, centres: NDArray[np.int64], grid: Fraction) -> NDArray[Any]:
    """Grid points next to whole centres below 2^61, grid ≥ 1, in units of the grid."""
    bits = floor_log2(grid)
    if not (_in_range(shape, grid) and bits < _WIDEST):
        return np.array(on_grid_exactly(source, shape, [Fraction(int(x)) for x in centres], grid), object)
    inside = centres & ((1 << bits) - 1)
    fractions = inside.astype(np.float64) * 2.0**-bits
    moved = steps(source, shape, fractions, lambda i: Fraction(int(inside[i])) / grid, grid)
    return (centres >> bits) + moved


def _in_range(shape: Shape, grid: Fraction) -> bool:
    return _FINEST <= BITS - (shape.exponent - floor_log2(grid)) <= _WIDEST


def steps(
    source: Source, shape: Shape, centres: NDArray[np.float64], centre: Callable[[int], Fraction], grid: Fraction
) -> NDArray[np.int64]:
    """round(c + N/g) for centres −1 ≤ c ≤ 1 in units of the grid, given to within 2^−52 and exactly by ``centre``."""
    shift = BITS - (shape.exponent - floor_log2(grid))  # |N|/g = (block·2^48 + bits + …)/2^shift
    margin = 2.0**-shift + 2.0**-50  # the bits not yet drawn, and more than all rounding errors below
    out = np.empty(len(centres), np.int64)
    for start in range(0, len(centres), CHUNK):
        part = out[start : start + CHUNK]
        drawn = magnitudes(shape, source, len(part))
        size = (drawn.blocks << BITS) | drawn.bits
        rest = (size & ((1 << shift) - 1)) * 2.0**-shift
        sign = np.where(drawn.negative, -1, 1)
        sums = centres[start : start + CHUNK] + sign * rest + 0.5
        part[:] = sign * (size >> shift) + np.floor(sums).astype(np.int64)
        unsure = np.flatnonzero(np.abs(sums - np.rint(sums)) <= margin)
        for i in {*unsure.tolist(), *drawn.special}:
            lazy = drawn.lazy(shape, source, i)
            part[i] = nearest_whole(lazy, centre(start + i) * grid, grid)
    return out


def nearest_float(x: Fraction) -> float:
    """The float next to x; the largest for what lies beyond."""
    return near(x) + 0.0
