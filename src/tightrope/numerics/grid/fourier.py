"""The discrete Fourier transform by sums and differences of four numbers, so that its error follows from few roundings.

n = 4·l·m: the four quarters of the numbers are added with factors 1, −i, −1, i, turned by roots of unity, and written
side by side (Stockham's order), until l = 1. The spectrum comes in its natural order. An odd power of two has one step
with two halves.

The error of a step, relative in the Euclidean norm, u = 2⁻⁵³: additions are off by u of their results, whose norm is
that of the exact ones but for second-order terms; there are two in a row, and factors ±i are exact. Turning adds 2√2u
for the product, fused or not, and 6u for the root. ``transform_error`` holds the sum with room for second-order terms.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.grid.cells import UNIT

Complexes: TypeAlias = NDArray[np.complex128]

_STEP_ERROR = {4: 11.0, 2: 10.0}  # units
_KEPT = 2  # tables of roots that are remembered, by length


def radices(length: int) -> list[int]:
    """4, 4, …, and the 2 that may be left of a power of two."""
    found = []
    while length > 1:
        found.append(min(4, length))
        length //= found[-1]
    return found


def transform_error(length: int) -> float:
    """‖computed − exact‖ ≤ this times ‖exact‖, for either transform."""
    return 1.01 * UNIT * sum(_STEP_ERROR[r] for r in radices(length))


def _roots(length: int) -> Complexes:
    """e^{−2πij/length}: products of two that come from balls, off by at most 6u."""
    fine = 1 << (length.bit_length() // 2)

    def exact(step: int, count: int) -> Complexes:
        with precision(80):
            pairs = [(Ball(2 * step * j) / length).sin_cos_pi() for j in range(count)]
            return np.array([complex(float(c.mid()), -float(s.mid())) for s, c in pairs])

    return (exact(fine, max(length // fine, 1))[:, None] * exact(1, fine)[None, :]).ravel()[:length]


@lru_cache(maxsize=_KEPT)
def _turns(length: int) -> list[Complexes]:
    """For each step the factors of its second, third and fourth result: a row for each."""
    roots, found, left = _roots(length), [], length
    for r in radices(length):
        places = np.arange(left // r) * (length // left)
        found.append(np.stack([roots[k * places] for k in range(1, r)]))
        left //= r
    return found


def spectrum(x: Complexes) -> Complexes:
    """Σ_j x_j e^{−2πijk/n}; n is a power of two."""
    y, left, done = x.astype(np.complex128), x.size, 1
    other, rows = np.empty_like(y), np.empty((3, max(x.size // 4, 1)), np.complex128)
    for turns in _turns(x.size):
        r = len(turns) + 1
        left //= r
        parts, found = y.reshape(r, left, done), other.reshape(left, r, done)
        if r == 4:
            even, odd, turned = (row[: left * done].reshape(left, done) for row in rows)
            np.add(parts[0], parts[2], out=even)
            np.add(parts[1], parts[3], out=odd)
            np.add(even, odd, out=found[:, 0])
            np.multiply(np.subtract(even, odd, out=even), turns[1][:, None], out=found[:, 2])
            np.subtract(parts[0], parts[2], out=even)
            np.subtract(parts[1], parts[3], out=odd)
            turned.real, turned.imag = odd.imag, -odd.real  # times −i, without rounding
            np.multiply(np.add(even, turned, out=odd), turns[0][:, None], out=found[:, 1])
            np.multiply(np.subtract(even, turned, out=odd), turns[2][:, None], out=found[:, 3])
        else:
            np.add(parts[0], parts[1], out=found[:, 0])
            np.multiply(parts[0] - parts[1], turns[0][:, None], out=found[:, 1])
        y, other, done = other, y, done * r
    return y


def from_spectrum(y: Complexes) -> Complexes:
    """The inverse."""
    return spectrum(y.conj()).conj() / y.size


def mirrored(y: Complexes) -> Complexes:
    """The conjugate of the number at −k, for each k: the same if y is the spectrum of real numbers."""
    return np.concatenate([y[:1], y[:0:-1]]).conj()
