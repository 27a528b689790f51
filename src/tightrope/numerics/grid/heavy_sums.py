"""Sums of few heavy losses, one by one: no lattice is needed for them.

Of k steps of a law n are heavy: each choice of n listed losses (a multiset S) has the P-mass

W(S) = k!/(k − n)!·Π p_j^{m_j}/m_j!, m_j the number of times that loss j is in S,

the light steps aside. Losses are taken in order, the likeliest first, so every S has a parent, S without its last one:
W(S) = W(parent)·(k − n + 1)·p_j/m_j. Where that is below a least mass, S and what comes after it are left out. What
comes after it adds t_j of each loss, which multiplies W(S) by at most Π(kp_j)^{t_j}/t_j!; so all of it has at most
W(S)·e^{kp}, with p the mass of all listed losses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tightrope.errors import NotCertified
from tightrope.numerics.grid.cells import UNIT, Floats
from tightrope.numerics.grid.listing import Listed

__all__ = [
    "MOST_COMPOSED",
    "MOST_SUMS",
    "SMALLEST",
    "HeavySums",
    "composed",
    "heavy_sums",
    "number_composed",
    "product",
]

MOST_SUMS, MOST_COMPOSED = 20_000, 3000
_MOST_HEAVY = 16.0  # steps in the mean
_MORE = 1 + 1e-12  # sums of some thousand positive floats
_ALMOST = 1e-13
_ROUNDED = 8 * UNIT  # of products of four numbers
SMALLEST = 1e-280  # of masses: floats round what is far smaller as they like
_MOST_COPIES = 1000  # whose choices are floats


@dataclass(frozen=True, eq=False)
class HeavySums:
    """Sums of losses, each between ``low`` and ``high``, of a mass between ``p_low`` and ``p_high``."""

    low: Floats
    high: Floats
    p_low: Floats
    p_high: Floats

    @property
    def size(self) -> int:
        """How many there are."""
        return self.low.size

    def above(self, floor: float) -> HeavySums:
        """The same with all sums below ``floor`` as one just there, which may be there or not: that gives more, or
        less."""
        some = self.high >= floor
        if some.all():
            return self
        mass = float(self.p_high[~some].sum()) * _MORE
        ends = (self.low[some], floor), (self.high[some], floor), (self.p_low[some], 0.0), (self.p_high[some], mass)
        return HeavySums(*(np.append(kept, one) for kept, one in ends))

    def moved(self, by: Fraction) -> HeavySums:
        """All sums larger by so much."""
        if not by:
            return self
        low, high = self.low + float(by), self.high + float(by)
        low_off, high_off = (4 * UNIT * (np.abs(end) + abs(float(by))) for end in (low, high))
        return HeavySums(low - low_off, high + high_off, self.p_low, self.p_high)

    def heaviest_first(self) -> HeavySums:
        """In order of falling mass."""
        order = np.argsort(-self.p_high, kind="stable")
        return HeavySums(self.low[order], self.high[order], self.p_low[order], self.p_high[order])


NONE = HeavySums(np.zeros(1), np.zeros(1), np.ones(1), np.ones(1))


def heavy_sums(listed: Listed, copies: int, degree: int, least: float) -> tuple[list[HeavySums], float]:
    """Those of 0, 1, …, ``degree`` of the listed losses, and at least the mass of what is left out of them."""
    _must_be_seen(least)
    mean = float(listed.p_high.sum()) * _MORE * copies
    if not mean <= _MOST_HEAVY:
        raise NotCertified("sums of heavy losses", "too many steps are heavy")
    after = np.append(np.cumsum(listed.p_high[::-1])[::-1] * _MORE, 0.0)
    found, lost = [NONE], 0.0
    last, runs = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for n in range(1, min(degree, copies) + 1):
        before, ways = found[-1], float(copies - n + 1)
        scaled = before.p_high * ways
        ends = np.searchsorted(-listed.p_high, -least / np.maximum(scaled, 1e-300), side="right")
        ends = np.maximum(ends, last)
        lost += float((scaled * after[ends]).sum()) * _MORE
        numbers = ends - last
        if int(numbers.sum()) + sum(one.size for one in found) > MOST_SUMS:
            raise NotCertified("sums of heavy losses", "they are too many")
        parents = np.repeat(np.arange(before.size), numbers)
        added = np.arange(parents.size) - np.repeat(np.cumsum(numbers) - numbers, numbers) + last[parents]
        again = (added == last[parents]) & (n > 1)
        runs = np.where(again, runs[parents] + 1, 1)
        last = added
        found.append(_joined(before, parents, listed, added, ways / runs))
    return found, lost * math.exp(mean) * _MORE


def _joined(
    one: HeavySums | Listed, i: NDArray[np.int64], other: HeavySums | Listed, j: NDArray[np.int64], ways: Floats | float
) -> HeavySums:
    """Pairs: losses add up, masses are multiplied, rounded outward."""
    low, high = one.low[i] + other.low[j], one.high[i] + other.high[j]
    p_low, p_high = one.p_low[i] * other.p_low[j] * ways, one.p_high[i] * other.p_high[j] * ways
    low, high = low - 2 * UNIT * np.abs(low), high + 2 * UNIT * np.abs(high)
    p_low = np.where(p_low < SMALLEST, 0.0, p_low)
    return HeavySums(low, high, p_low * (1 - _ROUNDED), p_high * (1 + _ROUNDED))


def _must_be_seen(least: float) -> None:
    """Masses that count are at least so large: then no product of them leaves the range of floats."""
    if not least >= SMALLEST:
        raise NotCertified("sums of heavy losses", f"masses of {least:.3g} are below what floats hold")


def composed(listed: Listed, copies: int, least: float) -> tuple[HeavySums, float]:
    """The sums of all steps of a law whose atoms are all listed, and at least the mass of those that are left out.

    The first loss comes n times with C(k, n)·pⁿ, the next one m times of the k − n that are left, and so on."""
    if not 0 < number_composed(listed.low.size, copies) <= MOST_COMPOSED:
        raise NotCertified("sums of heavy losses", "they are too many")
    _must_be_seen(least)
    rarest = float(listed.p_high.min())
    if copies > _MOST_COPIES or not copies * math.log(max(rarest, SMALLEST)) > math.log(SMALLEST):
        raise NotCertified("sums of heavy losses", "the masses of some are below what floats hold")
    left, found = np.array([copies]), NONE
    last = listed.low.size - 1
    for j in range(last + 1):
        numbers = left + 1 if j < last else np.ones(left.size, np.int64)
        parents = np.repeat(np.arange(left.size), numbers)
        chosen = np.arange(parents.size) - np.repeat(np.cumsum(numbers) - numbers, numbers)
        chosen = chosen if j < last else left
        ways = np.array([float(math.comb(int(r), int(n))) for r, n in zip(left[parents], chosen, strict=True)])
        found = _joined(found, parents, _powers(listed, j, copies), chosen, ways)
        left = left[parents] - chosen
    found = _merged(found)
    some = found.p_high > least
    lost = float(found.p_high[~some].sum()) * _MORE
    return HeavySums(found.low[some], found.high[some], found.p_low[some], found.p_high[some]), lost


def _merged(sums: HeavySums) -> HeavySums:
    """The same with sums that can hardly be told apart as one: it lies where one of them does."""
    order = np.argsort(sums.low, kind="stable")
    low, high, p_low, p_high = (one[order] for one in (sums.low, sums.high, sums.p_low, sums.p_high))
    apart = np.diff(low) > _ALMOST * float(np.max(np.abs(low)))
    starts = np.flatnonzero(np.append(True, apart))
    p_low, p_high = (np.add.reduceat(one, starts) for one in (p_low, p_high))
    return HeavySums(low[starts], np.maximum.reduceat(high, starts), p_low / _MORE, p_high * _MORE)


def number_composed(atoms: int, copies: int) -> int:
    """How many sums so many steps have."""
    return math.comb(copies + atoms - 1, atoms - 1) if atoms else 0


def _powers(listed: Listed, j: int, copies: int) -> HeavySums:
    """The j-th loss once, twice, … and its powers: each product rounds once."""
    numbers = np.arange(copies + 1, dtype=np.float64)
    low, high = numbers * listed.low[j], numbers * listed.high[j]
    error = 2 * UNIT * numbers
    p_low, p_high = (np.append(1.0, np.cumprod(np.full(copies, one[j]))) for one in (listed.p_low, listed.p_high))
    low, high = low - 2 * UNIT * np.abs(low), high + 2 * UNIT * np.abs(high)
    return HeavySums(low, high, p_low * (1 - error), p_high * (1 + error))


def product(one: HeavySums, other: HeavySums, least: float) -> tuple[HeavySums, float]:
    """The sums of two kinds of heavy losses, and at least the mass of those that are left out."""
    _must_be_seen(least)
    one, other = one.heaviest_first(), other.heaviest_first()
    after = np.append(np.cumsum(other.p_high[::-1])[::-1] * _MORE, 0.0)
    ends = np.searchsorted(-other.p_high, -least / np.maximum(one.p_high, 1e-300), side="right")
    lost = float((one.p_high * after[ends]).sum()) * _MORE
    if int(ends.sum()) > MOST_SUMS:
        raise NotCertified("sums of heavy losses", "they are too many")
    i = np.repeat(np.arange(one.size), ends)
    j = np.arange(i.size) - np.repeat(np.cumsum(ends) - ends, ends)
    return _joined(one, i, other, j, 1.0), lost
