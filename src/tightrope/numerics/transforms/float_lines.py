"""Transforms at a million nodes: IEEE doubles whose distance from the truth is proved, not estimated.

Every angle, weight and exponential comes from a ball and is rounded once; after that there are only additions and
multiplications of doubles. With u = 2⁻⁵³, a product of complex doubles is off by at most 2√2·u of its size (with or
without fused multiply-add), and a sum of n terms in any order by at most n·u of the sum of their sizes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ComplexBall, lower_float, precision
from tightrope.numerics.products import product
from tightrope.numerics.transforms.turns import TURNS_ERROR, turns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tightrope.numerics.transforms.transform import Complexes, Floats

    Flags = NDArray[np.bool_]
    Integers = NDArray[np.integer[Any]]

__all__ = [
    "UNIT",
    "FloatNodes",
    "Phases",
    "above",
    "as_doubles",
    "bell",
    "block_sum",
    "exponential_sums",
    "powers_of",
    "rounded",
    "rounded_weights",
    "scaled",
]

UNIT = Ball(2) ** -53
_BITS = 128
_SURE = Ball(2) ** -56  # how well a ball must be known before it is rounded
_TERMS = 64  # of a matrix product
_CACHED = 4096  # numbers
_WIDE = 128  # terms that are summed at a time
_ROW, _PLACE, _PRODUCT = 8.0, 0.03, 0.0002  # units of work of a term: to begin, for the root of a number, for a number
_BEGIN, _NUMBER = 60.0, 0.001  # and of all terms together: to begin, for a number


@dataclass(frozen=True)
class FloatNodes:
    """φ_k = M(t + ikη)/M(t) as doubles. At a node that is not ``alive``, |φ_k| ≤ e^floor is proved and nothing else."""

    values: Complexes
    error: Ball  # of every value that is alive: |value − φ| is at most this
    alive: Flags

    def among(self, indices: Integers) -> FloatNodes:
        """Those with these numbers."""
        return FloatNodes(self.values[indices], self.error, self.alive[indices])


def rounded(number: Ball) -> float:
    """The number as a double, off by at most 2u of its size and u/8."""
    if not number.rad() < _SURE:
        raise NotCertified("a line of doubles", "a ball is too wide to be rounded")
    return float(number.mid())


class Phases:
    """e^{ik·angle} for k ≤ count: two short rows and their products; off by at most 11u."""

    ERROR = 2 * TURNS_ERROR + 3

    def __init__(self, angle: Ball, count: int) -> None:
        self._count, self._size = count, math.isqrt(count) + 1
        (self._high,), (self._low,) = _rows([angle], count)

    def all(self) -> Complexes:
        """The values at every k."""
        import numpy as np

        result: Complexes = np.multiply.outer(self._high, self._low).ravel()[: self._count + 1]
        return result

    def at(self, indices: Integers) -> Complexes:
        """The values at these k."""
        import numpy as np

        result: Complexes
        if len(indices) and bool((np.diff(indices) == 1).all()):  # all between two
            row, first = divmod(int(indices[0]), self._size)
            last = int(indices[-1]) // self._size
            result = np.multiply.outer(self._high[row : last + 1], self._low).ravel()[first : first + len(indices)]
        else:
            result = self._high[indices // self._size] * self._low[indices % self._size]
        return result


def powers_of(ratio: Complexes, coefficients: Sequence[Ball]) -> Complexes:
    """Σ_m c_m·ratio^{m+1} by Horner's rule, in blocks that the processor's cache holds."""
    import numpy as np

    rounds = [rounded(c) for c in reversed(coefficients)]
    total = np.zeros(len(ratio), dtype=np.complex128)
    for at in range(0, len(ratio), _CACHED):
        some, turned = total[at : at + _CACHED], ratio[at : at + _CACHED]
        for c in rounds:
            some += c
            some *= turned
    return total


def _rows(angles: Sequence[Ball], count: int) -> tuple[Complexes, Complexes]:
    """For every angle, rows of e^{ik·size·angle} and of e^{ij·angle}, j < size: all k ≤ count in their products."""
    size = math.isqrt(count) + 1
    with precision(_BITS):
        steps = [angle * size for angle in angles]
    return turns(steps, count // size + 1), turns(angles, size)


def exponential_sums(weights: Sequence[Ball], angles: Sequence[Ball], count: int) -> tuple[Complexes, Ball]:
    """Σ_j weight_j e^{ik·angle_j} for k = 0 … count, weights ≥ 0 with sum at most 1; and a bound of their errors.

    Off by at most 11u in each term's size, and 5u for every term in a matrix product and 18u more: any order, and also
    if a library forms complex products with three real ones (``grid/fourier.py``). So products are short, and summed.
    """

    term = _ROW + _PLACE * math.sqrt(count) + _PRODUCT * count
    effort.spend(_BEGIN + _NUMBER * count + len(angles) * term, "a line of doubles")
    shares = rounded_weights(weights)
    left, right = _rows(angles, count)
    values = product(left[:_TERMS].T * shares[:_TERMS], right[:_TERMS])
    for at in range(_TERMS, len(shares), _TERMS):
        some = slice(at, at + _TERMS)
        values += product(left[some].T * shares[some], right[some])
    return values.ravel()[: count + 1], UNIT * (40 + 5 * min(len(shares), _TERMS) + 2 * (len(shares) // _TERMS))


def rounded_weights(weights: Sequence[Ball]) -> Floats:
    """Weights ≥ 0 with sum at most 1 as doubles: all together they are off by at most 3u."""
    import numpy as np

    with precision(_BITS):
        if not all(weight.rad() * len(weights) < _SURE for weight in weights):
            raise NotCertified("a line of doubles", "a weight is too wide to be rounded")
        return np.array([float(weight.mid()) for weight in weights])


def above(values: Complexes, error: Ball, floor: Ball) -> Flags:
    """Where the doubles do not prove that the number is at most e^floor in size."""
    import numpy as np

    with precision(_BITS):
        least = lower_float(((floor.exp() - error) * (1 - 16 * UNIT)).lower())
    if least <= 0:
        return np.ones(len(values), dtype=np.bool_)
    result: Flags = values.real * values.real + values.imag * values.imag >= least * least
    return result


def bell(rate: Ball, count: int) -> tuple[Floats, Ball]:
    """e^{−rate·k²} for k = 0 … count, and a bound of the relative error; rate·count² must be below 300.

    With k = a·size + c it is e^{−rate·(a·size)²} · (e^{−2·rate·a·size})^c · e^{−rate·c²}: c products of a power that
    is off by 3u, and three more.
    """
    import numpy as np

    size = math.isqrt(count) + 1
    rows = count // size + 1
    if not rate * count * count < 300:
        raise NotCertified("a line of doubles", "its values are too small for doubles")
    with precision(_BITS):
        starts = np.array([scaled((-rate * (a * size) ** 2).exp()) for a in range(rows)])
        steps = np.array([scaled((-2 * rate * a * size).exp()) for a in range(rows)])
        inner = np.array([scaled((-rate * c * c).exp()) for c in range(size)])
    values = np.empty((rows, size))
    power = starts
    for c in range(size):
        values[:, c] = power * inner[c]
        power = power * steps
    result: Floats = values.ravel()[: count + 1]
    return result, UNIT * (4 * size + 16)


def scaled(number: Ball) -> float:
    """A positive number as a double, off by at most 2.5u of itself."""
    if not number.rad() < number * _SURE:
        raise NotCertified("a line of doubles", "a ball is too wide to be rounded")
    return float(number.mid())


def block_sum(values: Complexes | Floats) -> tuple[complex, Ball]:
    """The sum of many numbers, and the share of the sum of their sizes (|re| + |im|) by which it may be off."""
    import numpy as np

    levels = 0
    while len(values) > 1:
        if len(values) > _WIDE:
            short = -len(values) % _WIDE
            values = np.concatenate([values, np.zeros(short, dtype=values.dtype)]).reshape(-1, _WIDE).sum(axis=1)
        else:
            values = values.sum(keepdims=True)
        levels += 1
    return (complex(values[0]) if len(values) else 0j), UNIT * (_WIDE * levels + 1)


def as_doubles(balls: Sequence[ComplexBall]) -> Complexes:
    """Complex balls of size at most about 1 as doubles, off by at most 3u of their size and u/4."""
    import numpy as np

    return np.array([complex(rounded(b.real), rounded(b.imag)) for b in balls], dtype=np.complex128)
