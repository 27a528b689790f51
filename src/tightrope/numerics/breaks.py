"""Where the steps of a function on [0, 1] end, and those of the same function read backwards, in one order."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from flint import ctx

from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.real import Real

__all__ = ["Breaks"]

_MOST_BITS = 4096


class Breaks:
    """Running sums of masses that add up to 1, from the first on and from the last on."""

    def __init__(self, masses: list[Real]) -> None:
        self._masses = masses
        self._kept: dict[int, tuple[list[Ball], list[Ball]]] = {}

    def balls(self) -> tuple[list[Ball], list[Ball]]:
        """Both, at the present precision; the last is 1."""
        bits = int(ctx.prec)
        found = self._kept.get(bits)
        if found is None:
            masses = [mass.ball() for mass in self._masses]
            found = self._kept[bits] = _sums(masses), _sums(masses[::-1])
        return found

    def merged(self) -> list[tuple[int, int]] | None:
        """After each cell, how many steps of either function have ended; None when many bits do not tell."""
        rationals = [mass.rational for mass in self._masses if mass.rational is not None]
        if len(rationals) == len(self._masses):
            return _merged(_sums(rationals), _sums(rationals[::-1]))
        bits = 128
        while bits <= _MOST_BITS:
            with precision(bits):
                found = _merged(*self.balls())
            if found is not None:
                return found
            bits *= 4
        return None

    def width(self, start: tuple[int, int], end: tuple[int, int]) -> Ball:
        """Of the cell between."""
        return self._at(end) - self._at(start)

    def _at(self, ended: tuple[int, int]) -> Ball:
        """The later of the two last ends: one of them is the cell's border."""
        ends, others = self.balls()
        first = ends[ended[0] - 1] if ended[0] else Ball(0)
        second = others[ended[1] - 1] if ended[1] else Ball(0)
        return first.max(second)


def _sums(masses: list[Any]) -> list[Any]:
    """The running sums; the last is 1."""
    return [*accumulate(masses[:-1]), type(masses[0])(1)]


def _merged(ends: list[Any], others: list[Any]) -> list[tuple[int, int]] | None:
    found, i, j = [], 0, 0
    while i < len(ends):
        before, after = ends[i] < others[j], ends[i] > others[j]
        same = ends[i] == others[j] or i == j == len(ends) - 1
        if not (before or after or same):
            return None
        i, j = i + (not after), j + (not before)
        found.append((i, j))
    return found
