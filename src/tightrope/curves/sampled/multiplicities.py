"""Which multiplicities of a record that is drawn with replacement are kept."""

from __future__ import annotations

import math

from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.sampled.draws import DrawsPair, spread
from tightrope.curves.sampled.glued import Glued
from tightrope.numerics.balls import precision

__all__ = ["doubled", "kept_at", "sound"]

_CHANGE = 2.0**-24  # of E[e^{tL}], by all multiplicities that are not kept
_MOST_KEPT, _ALL = 300, 16
_MANY = 20.0  # sampled records on average


def doubled(last: int) -> tuple[int, ...]:
    """Powers of two, and the last."""
    return (*(2**i for i in range((last - 1).bit_length())), last)


def sound(pair: DrawsPair, counts: tuple[int, ...]) -> bool:
    """Whether these can be kept."""
    rising = all(a < b for a, b in zip((0, *counts), counts, strict=False))
    return 0 < len(counts) <= _MOST_KEPT and rising and counts[-1] <= pair.size


def kept_at(pair: DrawsPair, copies: int, bits: int, t: float | None) -> tuple[int, ...]:
    """From the largest multiplicity down, those of which a change to the one above would be seen at the tilt t."""
    if t is None or isinstance(pair.groups(1), FinitePair):
        return spread(pair, bits)
    last, rate = pair.kept(bits), pair.rate
    if last <= _ALL and copies * rate < _MANY:  # then the saddle is often that of rare multiplicities
        return tuple(range(1, last + 1))
    moments = []
    for j in range(1, last + 1):
        transform = Glued(pair.groups(j), rate).transform()
        if transform is None:
            return spread(pair, bits)
        moments.append(math.exp(min(float(transform.log_floats([t])[0]), 700.0)))
    with precision(64):
        shares = [float((pair.weight(j) / rate.numerator * rate.denominator).mid()) for j in range(1, last + 1)]
    found, left = [last], _CHANGE / copies
    for j in range(last - 1, 0, -1):
        change = shares[j - 1] * (moments[found[-1] - 1] - moments[j - 1])
        if change <= left:
            left -= change
        else:
            found.append(j)
    return tuple(found[::-1])
