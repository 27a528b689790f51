"""Points of a privacy profile that no work was left for, from their neighbours: δ falls in ε, and is convex in e^ε.

For each pair of data sets δ = sup over events of P − e^ε·Q, a supremum of straight lines in e^ε that fall, and so is
the largest of these. The chord between two upper bounds is one, too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from fractions import Fraction
from itertools import accumulate

from tightrope.numerics.balls import Ball, ball, precision, upper_float
from tightrope.numerics.bound import Bound

__all__ = ["falling", "filled_delta", "filled_epsilon"]

_BITS = 128


def filled_delta(known: Iterable[tuple[Fraction, Bound]], epsilon: Fraction) -> Bound | None:
    """δ at an ε between others; None at an end."""
    sides = _sides(known, epsilon)
    if sides is None:
        return None
    (before, high), (after, low) = sides
    with precision(_BITS):
        first, last, at = (ball(x).exp() for x in (before, after, epsilon))
        chord = (Ball(high.upper) * (last - at) + Ball(low.upper) * (at - first)) / (last - first)
        most = min(upper_float(chord), high.upper)
    return Bound(min(low.lower, most), most)


def filled_epsilon(known: Iterable[tuple[Fraction, Bound]], delta: Fraction) -> Bound | None:
    """ε at a δ between others; None at an end."""
    sides = _sides(known, delta)
    if sides is None:
        return None
    (before, high), (after, low) = sides  # the smaller δ has the larger ε
    most = high.upper
    with precision(_BITS):
        first, last = Ball(high.upper).exp(), Ball(low.upper).exp()
        place = last + (first - last) * ball((after - delta) / (after - before))
        if place.is_finite():
            most = min(upper_float(place.log()), most)
    return Bound(min(low.lower, most), most)


def falling(bounds: dict[Fraction, Bound]) -> dict[Fraction, Bound]:
    """Bounds on a function that falls, each as good as the others make it."""
    order = sorted(bounds)
    uppers = list(accumulate((bounds[x].upper for x in order), min))
    lowers = list(accumulate((bounds[x].lower for x in reversed(order)), max))[::-1]
    return {x: Bound(min(low, high), high) for x, low, high in zip(order, lowers, uppers, strict=True)}


def _sides(
    known: Iterable[tuple[Fraction, Bound]], x: Fraction
) -> tuple[tuple[Fraction, Bound], tuple[Fraction, Bound]] | None:
    """The nearest known points on both sides."""
    order = sorted(known, key=lambda one: one[0])
    i = bisect_left([at for at, _ in order], x)
    return (order[i - 1], order[i]) if 0 < i < len(order) else None
