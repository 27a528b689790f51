"""Interpolation of an analytic function by a polynomial, with a proved error.

If F is analytic on |ζ − c| ≤ R and at most B there, and p its polynomial of lowest degree through x_1 … x_n, all of
them and x within R of c, Hermite's formula F(x) − p(x) = (1/2πi)∮ F(ζ)ω(x)/(ω(ζ)(ζ − x))dζ with ω(x) = Π(x − x_i)
gives

    |F(x) − p(x)| ≤ B · R|ω(x)| / ((R − |x − c|) Π(R − |x_i − c|)).

Any nodes are valid; those of Chebyshev are best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from tightrope.numerics.balls import Ball, ball

__all__ = ["Disc", "Interpolation", "chebyshev", "nodes_needed"]

_GRID = 2**24  # nodes are short numbers
_MOST = 200


@dataclass(frozen=True)
class Disc:
    """|ζ − centre| ≤ radius."""

    centre: Fraction
    radius: Fraction


@dataclass(frozen=True)
class Interpolation:
    """Through the values at these places inside of a disc."""

    disc: Disc
    places: tuple[Fraction, ...]

    def weights(self, points: Sequence[Fraction]) -> list[tuple[list[Ball], Ball]]:
        """For each point what the value at each place counts there, and by what B is to be multiplied for the error."""
        scales, room = self._scales(), ball(self.disc.radius)
        for x in self.places:
            room /= ball(self._inside(x))
        places = [ball(place) for place in self.places]
        found = []
        for x in points:
            at = ball(x)
            counts, size = _products([at - place for place in places], scales)
            found.append((counts, size * room / ball(self._inside(x))))
        return found

    def _scales(self) -> list[Ball]:
        """1/ω′ at the places."""
        found = []
        for i, x in enumerate(self.places):
            slope = Ball(1)
            for k, other in enumerate(self.places):
                if k != i:
                    slope *= ball(x - other)
            found.append(1 / slope)
        return found

    def _inside(self, x: Fraction) -> Fraction:
        inside = self.disc.radius - abs(x - self.disc.centre)
        if not inside > 0:
            raise AssertionError("a place must lie inside of the disc")
        return inside


def _products(away: list[Ball], scales: list[Ball]) -> tuple[list[Ball], Ball]:
    """Of each number's scale and all other numbers; and the size of the product of all."""
    before, after = [Ball(1)], [Ball(1)]
    for one in away[:-1]:
        before.append(before[-1] * one)
    for one in away[:0:-1]:
        after.append(after[-1] * one)
    counts = [a * b * scale for a, b, scale in zip(before, reversed(after), scales, strict=True)]
    return counts, abs(before[-1] * away[-1])


def chebyshev(disc: Disc, reach: Fraction, count: int) -> Interpolation:
    """At about the zeros of a Chebyshev polynomial between c − reach and c + reach."""
    unit = reach / _GRID
    offsets = [round(math.cos((2 * i + 1) * math.pi / (2 * count)) * _GRID) for i in range(count)]
    return Interpolation(disc, tuple(disc.centre + unit * k for k in offsets))


@lru_cache(maxsize=64)
def _gain(share: float) -> float:
    """By how much ln of the error falls with every node, if they reach to this share of the radius."""
    angles = [(i + 0.5) * math.pi / 64 for i in range(64)]
    return sum(math.log(1 - share * abs(math.cos(a))) for a in angles) / 64 - math.log(share / 2)


def nodes_needed(share: float, nats: float) -> int | None:
    """About how many nodes bring the error below e^−nats·B; None if that is out of reach."""
    gain = _gain(round(share, 3))
    if not gain > 0.1:
        return None
    needed = math.ceil((nats + math.log(2 / (1 - share))) / gain) + 1
    return max(needed, 2) if needed <= _MOST else None

