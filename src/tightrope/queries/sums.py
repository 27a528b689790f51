"""Exact sums of clamped values, whatever the order: integers and floats without any rounding."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightrope.errors import BadParameter
from tightrope.mechanisms.running.values import Values, read
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import Number, exact, near

_HALF_WORD = 32
_LOW = 27  # bits of a mantissa summed apart, so that a million of them are exact in a float


def bounds(lower: Number, upper: Number) -> tuple[Fraction, Fraction]:
    """Two bounds in order."""
    low, high = exact("lower", lower), exact("upper", upper)
    if low >= high:
        raise BadParameter("upper", upper, f"must be greater than lower ({lower})")
    return low, high


def numbers(values: Any) -> Values:
    """A column of finite numbers."""
    found = read(values)
    if found.shape is None:
        raise BadParameter("values", "…", "must be a list or an array of numbers")
    return found


def as_floats(found: Values) -> NDArray[np.float64]:
    """Each number as the float next to it, for uses in which each record is placed by itself."""
    if found.flat.dtype == object:
        return np.array([near(Fraction(x)) for x in found.flat.tolist()], np.float64)
    return found.flat.astype(np.float64)


def clamped_sum(found: Values, low: Fraction, high: Fraction) -> Fraction:
    """Σ min(max(x, low), high), exactly."""
    total = Fraction(0)
    for _, x in found.pieces():
        if x.dtype.kind == "f":
            total += _float_sum(x.astype(np.float64), low, high)
        elif x.dtype.kind in "iu" and low.denominator == high.denominator == 1:
            total += _whole_sum(x.astype(np.int64), int(low), int(high))
        else:
            total += sum((min(max(Fraction(v), low), high) for v in x.tolist()), Fraction(0))
    return total


def _whole_sum(x: NDArray[np.int64], low: int, high: int) -> int:
    limits = np.iinfo(np.int64)
    x = np.clip(x, min(max(low, limits.min), limits.max), min(max(high, limits.min), limits.max))
    return (int((x >> _HALF_WORD).sum()) << _HALF_WORD) + int((x & ((1 << _HALF_WORD) - 1)).sum())


def _float_sum(x: NDArray[np.float64], low: Fraction, high: Fraction) -> Fraction:
    """Floats at or beyond a bound count as the bound itself, which need not be a float."""
    below = x < Bound.rational(low).upper
    above = x > Bound.rational(high).lower
    inside = exact_sum(x[~(below | above)])
    return inside + int(below.sum()) * low + int(above.sum()) * high


def exact_sum(x: NDArray[np.float64]) -> Fraction:
    """The sum of at most a million floats, exactly: mantissas are added as whole numbers, exponent by exponent."""
    if len(x) == 0:
        return Fraction(0)
    parts, exponents = np.frexp(x)
    mantissas = (parts * 2.0**53).astype(np.int64)
    kinds, places = np.unique(exponents, return_inverse=True)
    high = np.bincount(places, weights=(mantissas >> _LOW).astype(np.float64))
    low = np.bincount(places, weights=(mantissas & ((1 << _LOW) - 1)).astype(np.float64))
    total = Fraction(0)
    for exponent, upper, rest in zip(kinds.tolist(), high.tolist(), low.tolist(), strict=True):
        total += ((int(upper) << _LOW) + int(rest)) * Fraction(2) ** (exponent - 53)
    return total
