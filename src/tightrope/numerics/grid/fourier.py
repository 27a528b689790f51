"""The discrete Fourier transform as products with small matrices, so that its error follows from that of sums.

n = r·s: split the index, transform the columns of r rows by the r × r matrix of roots of unity, turn, and transform
the rows of length s likewise. Every step is a sum of at most r products, in any order, fused or not, and a product
with a rounded root. The spectrum comes in a scrambled order, which powers and products do not mind and the inverse
undoes.

The error of a step with radix r, relative in the Euclidean norm, u = 2⁻⁵³: the real and the imaginary part of an
entry are sums of 2r products, off by (2r + 1)u of the sum of sizes. A library may form complex products with three
real ones instead, (A + B)(x + y) − Ax − By for the imaginary part: then that one is off by (4r + 16)u, as the sums
double the sizes. With 6u for the rounding of the roots, and as r numbers have Σ|x| ≤ √r‖x‖, an entry is off by at
most (4.6r + 24)√r·u‖x‖ either way, and all r of them by √r times that, while the exact step multiplies norms by √r.
Turning adds 2√2u for the product and 6u for the root. ``transform_error`` holds the sum with room for second-order
terms.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.grid.cells import UNIT

Complexes: TypeAlias = NDArray[np.complex128]

_RADIX = 16
_COLUMNS = 128
_KEPT = 2  # tables of roots that are remembered, by length


def radices(length: int) -> list[int]:
    """16, 16, …, and what is left of a power of two."""
    found = []
    while length > 1:
        found.append(min(_RADIX, length))
        length //= found[-1]
    return found


def transform_error(length: int) -> float:
    """‖computed − exact‖ ≤ this times ‖exact‖, for either transform."""
    return 1.01 * UNIT * sum(math.sqrt(r) * (4.6 * r + 24) + 9 for r in radices(length))


@lru_cache(maxsize=_KEPT)
def _roots(length: int) -> Complexes:
    """e^{−2πij/length}: products of two that come from balls, off by at most 6u."""
    fine = 1 << (length.bit_length() // 2)

    def exact(step: int, count: int) -> Complexes:
        with precision(80):
            pairs = [(Ball(2 * step * j) / length).sin_cos_pi() for j in range(count)]
            return np.array([complex(float(c.mid()), -float(s.mid())) for s, c in pairs])

    return (exact(fine, max(length // fine, 1))[:, None] * exact(1, fine)[None, :]).ravel()[:length]


@lru_cache(maxsize=_KEPT)
def _turns(length: int) -> list[tuple[int, int, Complexes, Complexes]]:
    """For each step: radix, what is left, the matrix, and the factors between this step and the next."""
    steps, left = [], length
    for r in radices(length):
        s = left // r
        matrix = _roots(r)[np.outer(np.arange(r), np.arange(r)) % r]
        turns = _roots(left)[np.outer(np.arange(r), np.arange(s))]
        steps.append((r, s, matrix, turns))
        left = s
    return steps


def _product(matrix: Complexes, x: Complexes) -> Complexes:
    """matrix @ x, in columns so few that no library starts threads, which cost more than they bring."""
    rows, columns = x.shape[-2:]
    if columns <= _COLUMNS:
        return np.asarray(matrix @ x)
    blocks = x.reshape(-1, rows, columns // _COLUMNS, _COLUMNS).swapaxes(1, 2)
    found = np.empty(x.shape, np.complex128)
    np.matmul(matrix, blocks, out=found.reshape(blocks.shape[0], rows, -1, _COLUMNS).swapaxes(1, 2))
    return found


def spectrum(x: NDArray[np.complex128]) -> Complexes:
    """Σ_j x_j e^{−2πijk/n} in the scrambled order; n is a power of two."""
    y = x.astype(np.complex128).reshape(1, -1)
    for r, s, matrix, turns in _turns(x.size):
        y = _product(matrix, y.reshape(-1, r, s))
        if s > 1:
            y *= turns
        y = y.reshape(-1, s)
    return y.ravel()


def from_spectrum(y: Complexes) -> Complexes:
    """The inverse, from the scrambled order."""
    x = y
    for r, s, matrix, turns in reversed(_turns(y.size)):
        x = x.reshape(-1, r, s)
        if s > 1:
            x = x * turns.conj()
        x = _product(matrix.conj(), x)
    return x.ravel() / y.size


@lru_cache(maxsize=_KEPT)
def opposite(length: int) -> NDArray[np.intp]:
    """Where the scrambled order has −k, for each place of k."""
    # Place (k₁, k₂, …) of the digits holds k = k₁ + r₁(k₂ + r₂(…)).
    digits = radices(length)
    frequency = np.zeros([1] * len(digits), dtype=np.intp)
    weight = 1
    for axis, r in enumerate(digits):
        shape = [1] * len(digits)
        shape[axis] = r
        frequency = frequency + weight * np.arange(r).reshape(shape)
        weight *= r
    frequency = frequency.ravel()
    places = np.empty(length, dtype=np.intp)
    places[frequency] = np.arange(length)
    return places[-frequency % length]
