"""Cells of the losses between two normal laws of unequal variance, plain and Poisson-sampled.

The loss of a pair rises with the distance from the turn of its likelihood ratio if P is the wider law, and falls if it
is the narrower one (``unequal_chart.py``); sampling keeps the order. Edges of the loss are turned into t in plain
floats; that the loss at the t found is the edge wanted, up to ``slack``, is proved afterwards. The masses of both laws
are those between the same t. Where every tail is below 10⁻²⁹⁰ edges stay where they are, and their cells are only said
to be that light.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tightrope.numerics.balls import Ball, ball, lower_float, precision, upper_float
from tightrope.numerics.grid.cells import UNIT, CellLaw, Cells, Floats
from tightrope.numerics.grid.exponentials import exponentials
from tightrope.numerics.grid.growths import loss_gaps, shares
from tightrope.numerics.grid.normal_cells import mirrored
from tightrope.numerics.grid.normal_masses import BLOCK
from tightrope.numerics.grid.unequal_chart import Bounds, UnequalChart

__all__ = ["SampledUnequalCells", "UnequalCells"]

_BITS = 256
_LOWEST, _HIGHEST = -600.0, 650.0  # base losses: lower ones change nothing, higher ones are refused
_FLAT = 1e-240  # more than e^{−600}/(1 − q)
_NEAR = -0.5  # from this loss on 1 is subtracted
_UNSEEN = 9  # standard deviations of the narrower law: what lies beyond counts nowhere
_CLOSE = 0.009  # e^x − 1 ≤ 1.01x up to here


class _Folded(CellLaw):
    """What both laws have in common: P = N(m1, s1²) and Q = N(m2, s2²) are cut at the same t."""

    m1: Fraction
    s1: Fraction
    m2: Fraction
    s2: Fraction
    effort = 2.0

    @cached_property
    def _chart(self) -> UnequalChart:
        return UnequalChart(max(self.s1, self.s2), min(self.s1, self.s2), self.m1 - self.m2)

    @property
    def _turn(self) -> int:
        """Whether the loss rises with t, or falls."""
        return 1 if self.s1 > self.s2 else -1

    @abstractmethod
    def _loss_of(self, base: Ball) -> Ball:
        """The loss where ln P/Q is ``base``."""

    @abstractmethod
    def _bases(self, losses: Floats) -> Floats:
        """About ln P/Q where these are the losses, in plain floats."""

    @abstractmethod
    def _gaps(self, losses: Floats, base: Floats, error: Floats) -> Floats:
        """Upper bounds of |loss − loss wanted|, but for a last factor 1.001, where ln P/Q is off by the error."""

    @abstractmethod
    def _laws(self, p: Bounds, q: Bounds) -> tuple[Bounds, Bounds]:
        """The masses of the two laws of the loss from those of P and Q."""

    def _empty(self) -> float:
        """No turned loss is as large as this."""
        return np.inf

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """Turned losses up to which, and from which on, there is nothing within the reach."""
        with precision(_BITS):
            first, last = (self._turn * self._loss_of(self._turn * end) for end in self._chart.ends)
            return lower_float(first), upper_float(last)

    def _edges(self, losses: Floats) -> tuple[Floats, float]:
        """Where to cut t, and the slack; the losses are in the order of t."""
        chart, turned, (first, last), empty = self._chart, self._turn * losses, self._ends, self._empty()
        t = np.where(turned <= first, chart.start, np.where(turned >= empty, np.inf, chart.far))
        inner = np.flatnonzero((turned > first) & (turned < min(last, empty)))
        pieces = [inner[start : start + BLOCK] for start in range(0, inner.size, BLOCK)]
        for at in pieces:
            t[at] = chart.places(self._turn * self._bases(losses[at]))
        t, slack = np.maximum.accumulate(t), 0.0
        for at in pieces:
            base, error = chart.losses(t[at])
            slack = max(slack, 1.001 * float(np.max(self._gaps(losses[at], self._turn * base, error))))
        return t, slack

    def _cut(self, edges: Floats) -> Cells:
        """Every cell between two t."""
        order = slice(None, None, self._turn)
        t, slack = self._edges(edges[order])
        wide, narrow = self._chart.masses(t)
        p, q = self._laws(wide, narrow) if self._turn > 0 else self._laws(narrow, wide)
        return Cells(p[0][order], p[1][order], q[0][order], q[1][order], slack)


@dataclass(frozen=True, eq=False)
class UnequalCells(_Folded):
    """The loss ln P/Q itself."""

    m1: Fraction
    s1: Fraction
    m2: Fraction
    s2: Fraction

    @property
    def steep(self) -> bool:  # type: ignore[override]  # a property here
        """At the turn, if anything is seen of it."""
        far = _UNSEEN * abs(self.s1**2 - self.s2**2)
        return abs(self.m1 - self.m2) * min(self.s1, self.s2) < far

    def cells(self, edges: Floats) -> Cells:
        """Between the edges."""
        return self._cut(edges)

    def _loss_of(self, base: Ball) -> Ball:
        return base

    def _bases(self, losses: Floats) -> Floats:
        return losses

    def _gaps(self, losses: Floats, base: Floats, error: Floats) -> Floats:
        return np.abs(base - losses) + error

    def _laws(self, p: Bounds, q: Bounds) -> tuple[Bounds, Bounds]:
        return p, q


@dataclass(frozen=True, eq=False)
class SampledUnequalCells(_Folded):
    """A Poisson sample: (1−q)Q + qP against Q, with the loss ln(1 − q + q·P/Q); or (``adding``) the reverse."""

    m1: Fraction
    s1: Fraction
    m2: Fraction
    s2: Fraction
    rate: Fraction
    adding: bool = False
    steep = True  # there, or where the record hardly counts

    def cells(self, edges: Floats) -> Cells:
        """Those of a removal, or mirrored."""
        return mirrored(self._cut(-edges[::-1])) if self.adding else self._cut(edges)

    @cached_property
    def _shares(self) -> tuple[float, float]:
        return shares(self.rate)

    def _loss_of(self, base: Ball) -> Ball:
        """Written so that nothing overflows."""
        rate, rest = ball(self.rate), ball(1 - self.rate)
        return base + (rate + rest * (-base).exp()).log() if base > 0 else (rest + rate * base.exp()).log()

    def _empty(self) -> float:
        """Where the losses fall with t, none is as low as ln(1 − q)."""
        with precision(_BITS):
            return np.inf if self._turn > 0 else upper_float(-ball(1 - self.rate).log())

    def _bases(self, losses: Floats) -> Floats:
        rest, rate = self._shares
        with np.errstate(all="ignore"):
            near = np.log1p(np.expm1(losses) / rate)
            low = np.log(np.expm1(losses - np.log(rest)) * (rest / rate))
        found = np.where(losses > _NEAR, near, low)
        return np.clip(np.where(np.isnan(found), _LOWEST, found), _LOWEST, _HIGHEST)

    def _gaps(self, losses: Floats, base: Floats, error: Floats) -> Floats:
        """The loss of the base found, and what its error does: the slope is q·e^l/w, its logarithm's below 1."""
        rest, rate = self._shares
        base = np.maximum(base, _LOWEST)
        above, below = loss_gaps(rate, rest, base, losses)
        grown = rate * exponentials(base)
        moved = 1.02 * error * (grown / (rest + grown)) + _FLAT
        return np.where(error < _CLOSE, np.maximum(above, below) + moved, np.inf)

    def _laws(self, p: Bounds, q: Bounds) -> tuple[Bounds, Bounds]:
        """Four roundings at most in each term of the mixture."""
        rest, rate = self._shares
        low, high = (rest * under + rate * over for over, under in zip(p, q, strict=True))
        return (low * (1 - 6 * UNIT), high * (1 + 6 * UNIT)), q
