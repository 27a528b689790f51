"""Whole-number noise: the discrete Gaussian and the discrete Laplace law, of any rational width."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tightrope.noise.blocks import BITS, Shape, laplace_shape, magnitudes, normal_shape
from tightrope.noise.entropy import Source
from tightrope.noise.laws import DiscreteLaplace, DiscreteNormal
from tightrope.noise.table import CHUNK, sampler
from tightrope.noise.uniform import decaying_coin

SMALL_NORMAL, SMALL_LAPLACE = 64, 32  # widths for which a table of all values is made at once
LARGEST_TABLE = 1024  # widths for which a table pays when many values are wanted
MANY = 100_000


def discrete_normal(source: Source, sigma: Fraction, size: int, wanted: int = 0) -> NDArray[np.int64 | np.object_]:
    """``size`` values with P(k) ∝ e^{−k²/2σ²}, exactly; ``wanted`` of them in all."""
    if tabled(sigma, SMALL_NORMAL, max(size, wanted)):
        return sampler(DiscreteNormal(sigma**2)).draw(source, size)
    return in_blocks(source, normal_shape(sigma), size)


def discrete_laplace(source: Source, scale: Fraction, size: int, wanted: int = 0) -> NDArray[np.int64 | np.object_]:
    """``size`` values with P(k) ∝ e^{−|k|/t}, exactly; ``wanted`` of them in all."""
    if tabled(scale, SMALL_LAPLACE, max(size, wanted)):
        return sampler(DiscreteLaplace(scale)).draw(source, size)
    return in_blocks(source, laplace_shape(scale), size)


def tabled(width: Fraction, small: int, wanted: int) -> bool:
    """Whether a table of all values pays: always for narrow noise, for wide noise when many values are ``wanted``."""
    return width <= small or (width <= LARGEST_TABLE and wanted >= MANY)


def in_blocks(source: Source, shape: Shape, size: int) -> NDArray[np.int64 | np.object_]:
    """Whole-number noise by blocks of 2^s values; Python integers where 64 bits do not hold them."""
    s = shape.exponent
    if s > BITS:
        return _huge(source, shape, size)
    out = np.empty(size, np.int64)
    for start in range(0, size, CHUNK):
        part = out[start : start + CHUNK]
        drawn = magnitudes(shape, source, len(part), whole_bits=s)
        values = (drawn.blocks << s) | (drawn.bits >> (BITS - s))
        np.negative(values, out=values, where=drawn.negative)
        part[:] = values
        for i, lazy in drawn.special.items():
            size_of = (lazy.block << s) | (lazy.offset.prefix >> (lazy.offset.known - s))
            part[i] = -size_of if lazy.negative else size_of
    return out


def _huge(source: Source, shape: Shape, size: int) -> NDArray[np.object_]:
    """One by one, with integers of any size."""
    out = np.empty(size, object)
    blocks, bits = sampler(shape.law), shape.exponent
    for i in range(size):
        while out[i] is None:
            block, offset, negative = int(blocks.draw(source, 1)[0]), source.bits(bits), source.bits(1)
            value = (block << bits) | offset
            if decaying_coin(source, shape.falls(block, Fraction(offset, 1 << bits))) and (value or not negative):
                out[i] = -value if negative else value
    return out
