"""Rényi curves of random samples that follow from the base's curve alone, known at whole orders."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from math import floor

from tightrope.curves.renyi import Renyi
from tightrope.numerics import effort
from tightrope.numerics.balls import INFINITY, Ball, ball, precision
from tightrope.numerics.exact import near
from tightrope.numerics.moments.sampled import poisson_general, without_replacement_general
from tightrope.numerics.real import Real

MOST_TERMS = 2000  # the general moment bounds sum over all whole orders up to the one asked
_TERM = 40.0  # units of work


class WholeOrders(Renyi):
    """A bound known at whole orders: linear in K between them, from K(0) = 0."""

    def __init__(self, base: Renyi, rate: Fraction) -> None:
        self.base, self.rate = base, rate
        self._floats: dict[int, float] = {}

    @property
    def effort(self) -> int:
        """Each value is a sum over all smaller whole orders."""
        return 2

    @cached_property
    def last(self) -> int:
        """The last whole order the base knows, and not beyond what is summed in reasonable time."""
        known = MOST_TERMS if self.base.top is None else min(floor(self.base.top), MOST_TERMS)
        return max(known, 2)

    @property
    def top(self) -> Fraction:
        """The same, as an order."""
        return Fraction(self.last)

    @abstractmethod
    def cumulant(self, order: int) -> Ball:
        """K = (order − 1)·D at a whole order above 1."""

    @abstractmethod
    def cumulant_float(self, order: int) -> float:
        """The same in floats."""

    @cached_property
    def divergences(self) -> list[float]:
        """The base's D at 2, 3, … in floats."""
        return self.base.approximations([float(k) for k in range(2, self.last + 1)])

    def divergence(self, order: Fraction) -> Ball:
        """The chord of K between the whole orders around, or the value itself."""
        if order > self.last:
            return INFINITY
        below = floor(order)
        effort.spend(_TERM * 2 * below, "a Rényi curve of a sample")
        if order == below:
            return self.cumulant(below) / (below - 1)
        if below == 1:
            return self.cumulant(2)
        share = ball(order - below)
        return ((1 - share) * self.cumulant(below) + share * self.cumulant(below + 1)) / ball(order - 1)

    def approximate(self, order: float) -> float:
        """The same in floats."""
        if order > self.last:
            return math.inf
        below = max(floor(order), 1)
        if below == 1:
            return self._known(2)
        share = order - below
        return ((1 - share) * self._known(below) + (share * self._known(below + 1) if share else 0.0)) / (order - 1)

    def _known(self, order: int) -> float:
        if order not in self._floats:
            self._floats[order] = self.cumulant_float(order)
        return self._floats[order]


class PoissonRenyi(WholeOrders):
    """The general bound for Poisson samples."""

    def cumulant(self, order: int) -> Ball:
        """Zhu and Wang's bound with its factor 3."""
        return poisson_general(self.rate, order, lambda k: self.base.divergence(Fraction(k)))

    def cumulant_float(self, order: int) -> float:
        """The same in floats."""
        from tightrope.numerics.moments.general_floats import poisson_general_float  # numpy, only when needed

        return poisson_general_float(near(self.rate), order, self.divergences)


class WithoutReplacementRenyi(WholeOrders):
    """The bound of the lecture notes for samples without replacement."""

    def __init__(self, base: Renyi, rate: Fraction, pure_epsilon: Real | None) -> None:
        super().__init__(base, rate)
        self.pure_epsilon = None if pure_epsilon is None or pure_epsilon.infinite else pure_epsilon

    def cumulant(self, order: int) -> Ball:
        """Wang, Balle and Kasiviswanathan's Theorem 9."""
        finite = None if self.pure_epsilon is None else self.pure_epsilon.ball()
        return without_replacement_general(self.rate, order, lambda k: self.base.divergence(Fraction(k)), finite)

    def cumulant_float(self, order: int) -> float:
        """The same in floats."""
        from tightrope.numerics.moments.general_floats import without_replacement_general_float

        with precision(64):
            finite = None if self.pure_epsilon is None else float(self.pure_epsilon.ball().mid())
        return without_replacement_general_float(near(self.rate), order, self.divergences, finite)
