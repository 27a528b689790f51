"""Circular convolutions of two rows of numbers at once, by Fourier transforms, and how far they may be off.

The greater law's numbers are real parts, the lesser one's imaginary parts; each row is not negative and adds up to at
most 1. What lies on the point 0, often an atom, has a constant spectrum and is left out of the transforms, whose errors
are relative.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tightrope.errors import NotCertified
from tightrope.numerics.grid.cells import UNIT
from tightrope.numerics.grid.fourier import Complexes, from_spectrum, mirrored, spectrum, transform_error
from tightrope.numerics.squaring import power

__all__ = ["Circle", "convolved", "norm"]


@dataclass(frozen=True)
class Circle:
    """Numbers by their place modulo the length, which are off by at most ``error`` in the Euclidean norm."""

    numbers: Complexes
    error: float = 0.0


def convolved(factors: Iterable[tuple[Circle, int]]) -> Circle:
    """The circular convolution of all copies of all factors.

    |spectrum| ≤ 1, so a power of k multiplies errors by k; it rounds 3k times, relatively. The norm of a product is at
    most that of each factor.
    """
    products: list[Complexes] = []
    constants, lost, copies, least = [1.0, 1.0], 0.0, 0, math.inf
    for circle, count in factors:
        n = circle.numbers.size
        copies, least = copies + count, min(least, norm(circle.numbers) * (1 + n * UNIT) + circle.error)
        here = complex(circle.numbers[0])
        others = circle.numbers.copy()
        others[0] = 0
        lost += count * (transform_error(n) * norm(others) + circle.error)
        if not math.sqrt(n) * lost + 12 * copies * UNIT < 0.01:  # else no power of the spectrum is at most 1.01
            raise NotCertified("a grid of losses", f"{copies} copies are too many for floats")
        both = spectrum(others)
        turned = mirrored(both)
        powers = [power((both + turned) / 2 + here.real, count)]  # one after the other: a spectrum is large
        both -= turned
        del turned, others
        powers.append(power(both / 2j + here.imag, count))
        del both
        products = powers if not products else [x * y for x, y in zip(products, powers, strict=True)]
        constants = [constants[0] * here.real**count, constants[1] * here.imag**count]
    spread = products[0] - constants[0] + 1j * (products[1] - constants[1])
    del products, powers
    sums = from_spectrum(spread)
    sums[0] += complex(*constants)
    lost += (12 * copies + 12) * UNIT * least + transform_error(n) * norm(spread) / math.sqrt(n)
    return Circle(sums, 1.02 * lost)


def norm(numbers: Complexes) -> float:
    """The Euclidean norm, a term at a time: a library's product of vectors would start threads for it."""
    return math.sqrt(float(np.square(numbers.real).sum()) + float(np.square(numbers.imag).sum()))
