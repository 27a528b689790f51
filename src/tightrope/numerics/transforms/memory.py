"""What a transform was asked before: many sums ask the same of it and differ in the numbers of copies only.

Every function here is the transform's method of that name, which is a pure function of its arguments and the precision.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from flint import ctx

from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ComplexBall
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["decay", "float_line", "kept", "line", "log_decay_floats", "log_floats", "log_real"]

Found = TypeVar("Found")
_LINES, _NUMBERS = 6, 100  # lines are long; the rest is small


def _recalled(transform: Transform, key: tuple[Hashable, ...], most: int, find: Callable[[], Found]) -> Found:
    """The last few results of each kind. Threads may find one twice, and then keep one of two equal results."""
    kept: dict[Hashable, Found] = vars(transform).setdefault("_recalled", {}).setdefault(key[0], {})
    found = kept.pop(key, None)
    if found is None:
        with effort.paid():  # what is remembered must cost the same as what is not: whoever asks has counted it
            found = find()
    while len(kept) >= most:
        kept.pop(next(iter(kept), None), None)
    kept[key] = found  # now the youngest
    return found


def log_real(transform: Transform, t: Fraction) -> Ball:
    """ln M(t)."""
    return _recalled(transform, ("real", t, ctx.prec), _NUMBERS, lambda: transform.log_real(t))


def log_floats(transform: Transform, t: Floats | Sequence[float]) -> Floats:
    """ln M(t) in floats; not to be changed."""
    return _recalled(transform, ("floats", _key(t)), _NUMBERS, lambda: transform.log_floats(t))


def line(transform: Transform, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
    """ln M(t) and the nodes."""
    return _recalled(transform, ("line", t, eta, count, ctx.prec), _LINES, lambda: transform.line(t, eta, count))


def float_line(transform: Transform, t: float, eta: float, count: int) -> tuple[float, Complexes]:
    """The same in floats; not to be changed."""
    return _recalled(transform, ("float line", t, eta, count), _LINES, lambda: transform.float_line(t, eta, count))


def decay(transform: Transform, t: Fraction, y: Fraction) -> Ball:
    """The bound beyond y."""
    return _recalled(transform, ("decay", t, y, ctx.prec), _NUMBERS, lambda: transform.decay(t, y))


def log_decay_floats(transform: Transform, t: float, y: Floats) -> Floats:
    """About its logarithm in floats; not to be changed."""
    if transform.fall_cost:  # remembered or not; what costs nothing is not refused
        effort.spend(transform.fall_cost, "a search for nodes that are low")
    return _recalled(transform, ("log decay", t, _key(y)), _NUMBERS, lambda: transform.log_decay_floats(t, y))


def bent_decay(transform: Transform, t: Fraction, y: Fraction) -> Ball:
    """The sharper bound beyond y."""
    return _recalled(transform, ("bent", t, y, ctx.prec), _NUMBERS, lambda: transform.bent_decay(t, y))


def log_bent_decay_floats(transform: Transform, t: float, y: Floats) -> Floats:
    """About its logarithm in floats; not to be changed."""
    return _recalled(transform, ("log bent", t, _key(y)), _NUMBERS, lambda: transform.log_bent_decay_floats(t, y))


def kept(transform: Transform, name: str, key: tuple[Hashable, ...], find: Callable[[], Found]) -> Found:
    """Anything long that a transform finds for itself: a pure function of the key."""
    return _recalled(transform, (name, *key), _LINES, find)


def _key(values: Floats | Sequence[float]) -> Hashable:
    """Arrays by their bytes, which are hashed at once."""
    import numpy as np

    return values.tobytes() if isinstance(values, np.ndarray) else tuple(values)
