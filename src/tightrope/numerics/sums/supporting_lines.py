"""Lines below a profile: from balls around it at finitely many ε, a law whose profile lies below it everywhere.

γ ↦ H_γ is convex. A line of slope m touches it where H − mγ is least, which is near the point γ_i whose chords to the
left and to the right are one less and one more steep than m. Between γ_i and γ_{i+1} this difference g is at least
both a = g(γ_i) + s(γ − γ_i) and b = g(γ_{i+1}) − u(γ_{i+1} − γ), s ≤ 0 the slope of its chord before γ_i and u ≥ 0
that of its chord after γ_{i+1}; so it is at least (ua − sb)/(u − s), in which γ does not occur. Left of γ_i likewise.

The largest of the lines, and of 1 − γ and the mass at ∞, is the profile of a pair: two lines m'γ + c' and mγ + c that
meet next to each other are a loss ln((c' − c)/(m − m')) of mass c' − c under P and m − m' under Q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tightrope.numerics.balls import Ball, ball, precision

__all__ = ["Below", "supporting_lines"]

_BITS = 400
_KEPT = 120  # bits of a slope and of a height


@dataclass(frozen=True)
class _Line:
    """slope·γ + height, which is nowhere above H."""

    slope: Fraction
    height: Fraction


@dataclass(frozen=True)
class _Place:
    """γ, and H between two numbers."""

    at: Ball
    low: Ball
    high: Ball


@dataclass(frozen=True)
class Below:
    """P's and Q's masses of the losses ln(p/q), P's mass at ∞, and Q's where P has none."""

    masses: tuple[tuple[Fraction, Fraction], ...]
    leak: Fraction
    missing: Fraction


def supporting_lines(unit: Fraction, points: Sequence[tuple[int, Ball]], leak: Fraction) -> Below:
    """The law from balls around H at e^{unit·step} in rising order; ``leak``: at most P's mass at ∞."""
    with precision(_BITS):
        places = [_Place(ball(unit * step).exp(), h.nonnegative_part().lower(), h.upper()) for step, h in points]
        found = [_touching(places[i - 2 : i + 3]) for i in range(2, len(places) - 2)]
    lines = _largest([_Line(Fraction(-1), Fraction(1)), *(one for one in found if one), _Line(Fraction(0), leak)])
    masses = ((before.height - after.height, after.slope - before.slope) for before, after in pairwise(lines))
    return Below(tuple(masses), lines[-1].height, 1 + lines[0].slope)


def _touching(near: Sequence[_Place]) -> _Line | None:
    """A line that is nowhere above H and nearly touches it at the third of five places; None if they are too close.

    It is no flatter than the chord to the right, so that g does not fall further on. Where H is a line itself its chord
    to the left may seem to be the flatter one by some error: so much, times γ, g may be less further to the left.
    """
    steepest = [(b.high - a.low) / (b.at - a.at) for a, b in pairwise(near)]  # at most, of each chord
    flattest = [(b.low - a.high) / (b.at - a.at) for a, b in pairwise(near)]
    slope = _rounded(((steepest[1] + flattest[1] + steepest[2] + flattest[2]) / 4).min(flattest[2]))
    m = ball(slope)
    if not m <= flattest[2]:
        return None
    lows = [place.low - m * place.at for place in near]
    right = _least(lows[2], flattest[1] - m, lows[3], steepest[3] - m, near[3].at - near[2].at)
    left = _least(lows[2], m - steepest[2], lows[1], m - flattest[0], near[2].at - near[1].at)
    error = (steepest[1] - m).max(Ball(0)) * near[1].at
    return _Line(slope, _rounded(right.min(left) - error))


def _least(here: Ball, falls: Ball, there: Ball, rises: Ball, width: Ball) -> Ball:
    """A lower bound between two places of what is at least here + falls·x and there − rises·(width − x)."""
    falls, rises = falls.min(Ball(0)), rises.max(Ball(0))
    whole = rises - falls
    if not whole > 0:  # either slope may be 0
        return here.min(there) + falls.lower() * width
    return (rises * here - falls * (there - rises * width)) / whole


def _rounded(x: Ball) -> Fraction:
    """A dyadic number of few bits that is not above the ball."""
    mantissa, exponent = x.lower().man_exp()
    value, spare = int(mantissa), max(int(mantissa).bit_length() - _KEPT, 0)
    return Fraction(value >> spare) * Fraction(2) ** (int(exponent) + spare)


def _largest(lines: Sequence[_Line]) -> list[_Line]:
    """Those that are the largest somewhere at γ > 0, in rising order."""
    kept: list[_Line] = []
    for line in sorted(lines, key=lambda one: (one.slope, one.height)):
        while kept and (kept[-1].slope == line.slope or line.height >= kept[-1].height):
            kept.pop()
        while len(kept) > 1 and _meeting(kept[-2], line) <= _meeting(kept[-2], kept[-1]):
            kept.pop()
        kept.append(line)
    return kept


def _meeting(one: _Line, other: _Line) -> Fraction:
    return (one.height - other.height) / (other.slope - one.slope)
