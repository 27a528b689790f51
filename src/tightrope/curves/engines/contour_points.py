"""What profiles by contours share: searches in floats, and many points as far as work reaches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import TypeVar

from tightrope.errors import NotCertified, TightropeError
from tightrope.numerics import effort

__all__ = ["FEW", "found_at", "in_floats", "log_of"]

FEW = 4  # points that are asked one after the other
_SPENT = 0.05  # of the work for many points: with less left a point that fails is the last

Answer = TypeVar("Answer")


@contextmanager
def in_floats() -> Iterator[None]:
    """Searches in floats may overflow at extremes; then they have found nothing."""
    import numpy as np

    try:
        with np.errstate(all="ignore"):
            yield
    except (ArithmeticError, ValueError) as wrong:
        if isinstance(wrong, TightropeError):
            raise
        raise NotCertified("a contour integral", f"the search left the range of floats ({wrong})") from None


def found_at(
    points: list[Fraction], ask: Callable[[Fraction], Answer], probing: bool = True
) -> dict[Fraction, Answer | None]:
    """The answers at many points, as far as work reaches; ``probing``: none if both ends and the middle have none; else
    if the first few have none."""
    found: dict[Fraction, Answer | None] = dict.fromkeys(points)
    least = _SPENT * effort.left() if math.isfinite(effort.left()) else 0.0
    probes: list[Fraction] = []
    if len(points) > FEW:
        probes = [points[0], points[-1], points[len(points) // 2]] if probing else points[:FEW]
    for x in [*probes, *points]:
        if found[x] is not None:
            continue
        with suppress(NotCertified), in_floats():  # a probe may do better when those before it are known
            found[x] = ask(x)
        if found[x] is None and not effort.affords(least):  # the others would be refused one by one
            break
        if probes and x == probes[-1] and all(found[probe] is None for probe in probes):
            break
    return found


def log_of(delta: Fraction) -> float:
    """ln of a rational, however small."""
    return math.log(delta.numerator) - math.log(delta.denominator)
