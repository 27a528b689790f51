"""What may be released: numbers and arrays of numbers, taken exactly, refused before anything is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightrope.errors import BadParameter

PIECE = 1 << 20  # values handled at once, which bounds the memory used beside the result
SMALL = 1 << 62  # whole numbers below need no care about overflow
_EXACT_FLOAT = 1 << 53
_MOST_DIGITS = 10_000  # of a decimal: a short text must not become a number of a million digits
_UNSHOWN = "…"  # an error never shows the data it is about


class Values:
    """A flat vector: int64 or float64 in an array, anything else as exact numbers in an object array."""

    def __init__(self, flat: NDArray[Any], shape: tuple[int, ...] | None) -> None:
        self.flat, self.shape = flat, shape  # no shape: a single number
        kind = flat.dtype.kind
        self.whole = kind in "iu" or (kind == "O" and all(isinstance(x, int) for x in flat))
        self.fractions = kind == "O" and any(isinstance(x, Fraction) for x in flat)

    def pieces(self) -> Iterator[tuple[slice, NDArray[Any]]]:
        """The vector cut into pieces of bounded size."""
        for start in range(0, len(self.flat), PIECE):
            here = slice(start, min(start + PIECE, len(self.flat)))
            yield here, self.flat[here]

    def shaped(self, flat: NDArray[Any]) -> Any:
        """A result in the form of the values."""
        if self.shape is None:
            value = flat[0]
            return value.item() if isinstance(value, np.generic) else value
        return flat.reshape(self.shape)


def read(values: Any, name: str = "values") -> Values:
    """The numbers meant, exactly. NaN, infinities, truth values and texts are refused."""
    if isinstance(values, np.ma.MaskedArray):
        raise BadParameter(name, _UNSHOWN, "must not be masked", "Fill or drop the masked entries first.")
    if isinstance(values, list | tuple):
        return _from_list(values, name)
    if hasattr(values, "__array__") and not isinstance(values, np.generic):
        array = np.asarray(values)
        flat = _from_array(array.reshape(-1), name)
        return Values(flat, array.shape) if array.shape else Values(flat, None)
    return Values(_tight([_number(values, name)]), None)


def whole_values(values: Any, name: str = "values") -> Values:
    """The same, for mechanisms on whole numbers."""
    found = read(values, name)
    if not found.whole:
        hint = "Round and convert them (.astype(int)), or use Gaussian or Laplace."
        raise BadParameter(name, _UNSHOWN, "must be whole numbers of an integer type", hint)
    return found


def _from_list(values: list[Any] | tuple[Any, ...], name: str) -> Values:
    shaped = np.array(values, dtype=object)
    flat = [_number(v, name) for v in shaped.reshape(-1)]
    return Values(_tight(flat), shaped.shape)


def _from_array(flat: NDArray[Any], name: str) -> NDArray[Any]:
    kind = flat.dtype.kind
    if kind == "O":
        return _tight([_number(v, name) for v in flat])
    if kind == "u" and flat.dtype.itemsize == 8:
        small = len(flat) == 0 or int(flat.max()) < SMALL
        return flat.astype(np.int64) if small else flat.astype(object)
    if kind in "iu":
        return flat
    if kind == "f" and flat.dtype.itemsize <= 8:
        for start in range(0, len(flat), PIECE):
            if not np.isfinite(flat[start : start + PIECE]).all():
                raise not_finite(name)
        return flat
    hint = "Use int64 or float64." if kind in "fc" else "Use numbers; count or encode what is not a number."
    raise BadParameter(name, flat.dtype.name, "is not a type of values that can be released", hint)


def _number(value: Any, name: str) -> int | float | Fraction:
    if isinstance(value, bool | np.bool_):
        hint = "Count them first: tr.count(values, …)."
        raise BadParameter(name, _UNSHOWN, "must be numbers, not truth values", hint)
    if isinstance(value, int | np.integer) and not isinstance(value, np.timedelta64):
        return int(value)
    if isinstance(value, float | np.floating):
        if np.isnan(value) or np.isinf(value):
            raise not_finite(name)
        if isinstance(value, float) or value.dtype.itemsize <= 8:
            return float(value)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise not_finite(name)
        if abs(value.adjusted()) > _MOST_DIGITS:
            raise BadParameter(name, _UNSHOWN, f"has an exponent beyond ±{_MOST_DIGITS}")
        return Fraction(value)
    if isinstance(value, Fraction):
        return value
    raise BadParameter(name, _UNSHOWN, f"must be numbers, not {type(value).__name__}")


def not_finite(name: str) -> BadParameter:
    """The refusal of NaN and infinities. It names no entry: which one it is would tell about the data."""
    return BadParameter(
        name, _UNSHOWN, "must be finite", "Replace missing values by a constant inside the bounds before releasing."
    )


def _tight(numbers: list[Any]) -> NDArray[Any]:
    """Numbers in the narrowest array that holds them exactly."""
    kinds = {type(x) for x in numbers}
    if float in kinds and Fraction not in kinds and all(type(x) is float or abs(x) < _EXACT_FLOAT for x in numbers):
        return np.array(numbers, np.float64)
    if all(type(x) is int and abs(x) < SMALL for x in numbers):
        return np.array(numbers, np.int64)
    array = np.empty(len(numbers), object)
    array[:] = numbers
    return array


def small_enough(array: NDArray[Any], most: int) -> bool:
    """Whether all whole numbers of the array lie strictly between ±most."""
    return len(array) == 0 or (int(array.max()) < most and int(array.min()) > -most)


def exact_floats(array: NDArray[Any]) -> bool:
    """Whether all whole numbers of the array are floats too."""
    return array.dtype.kind in "iu" and small_enough(array, _EXACT_FLOAT)


def narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers as int64 where all fit. It depends on released values alone."""
    if array.dtype == object and all(isinstance(x, int) and -SMALL < x < SMALL for x in array):
        return array.astype(np.int64)
    return array
