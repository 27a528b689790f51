"""Rényi DP: a bound on D_α for every order α in (1, ∞).

K(λ) = λ·D_{1+λ} is convex with K(0) = 0, so the only safe interpolation between known orders is linear in K.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from tightrope.numerics.balls import INFINITY, Ball, ball, precision
from tightrope.numerics.exact import near
from tightrope.numerics.real import ZERO, Real
from tightrope.theorems import Source, theorem

MOST_FOR_GROUPS = 200
Order = TypeVar("Order", Fraction, float)


class Renyi(ABC):
    """An upper bound on the Rényi divergence of both ordered pairs, at every order above 1."""

    @property
    def top(self) -> Fraction | None:
        """The last order at which the bound may be finite; None: no such end."""
        return None

    @abstractmethod
    def divergence(self, order: Fraction) -> Ball:
        """The bound on D_order, as a ball."""

    def approximate(self, order: float) -> float:
        """The same in floats, for searches."""
        with precision(64):
            value = self.divergence(Fraction(order))
        return float(value.mid()) if value.is_finite() else math.inf

    def approximations(self, orders: Sequence[float]) -> list[float]:
        """The same at many orders."""
        return [self.approximate(order) for order in orders]

    @property
    def knots(self) -> tuple[Fraction, ...] | None:
        """Finitely many orders whose bounds imply all the others; None when there are no such."""
        return None

    @property
    def effort(self) -> int:
        """What a float value costs: 0 for microseconds, 1 for a tenth of a millisecond, 2 for more."""
        return 0

    def __str__(self) -> str:
        return f"D₂ ≤ {self.approximate(2.0):.6g}"


class ManyOrders(Renyi):
    """A curve whose float values at many orders come at once."""

    def approximate(self, order: float) -> float:
        """One order."""
        return self.approximations([order])[0]


@dataclass(frozen=True, eq=False)
class LinearRenyi(Renyi):
    """D_α ≤ ξ + ρα up to the order ``top``."""

    rho: Real
    xi: Real = ZERO
    top: Fraction | None = None  # a field here

    def divergence(self, order: Fraction) -> Ball:
        """ξ + ρα."""
        if self.top is not None and order > self.top:
            return INFINITY
        return self.xi.ball() + self.rho.ball() * ball(order)

    @cached_property
    def _floats(self) -> tuple[float, float, float]:
        with precision(64):
            ends = [float(x.ball().mid()) for x in (self.xi, self.rho)]
        return ends[0], ends[1], math.inf if self.top is None else near(self.top)

    def approximate(self, order: float) -> float:
        """ξ + ρα in floats."""
        xi, rho, top = self._floats
        return xi + rho * order if order <= top else math.inf

    def __str__(self) -> str:
        start = "" if self.xi.rational == 0 else f"{self.xi} + "
        end = "" if self.top is None else f" for α ≤ {self.top}"
        return f"D_α ≤ {start}{self.rho}·α{end}"


@dataclass(frozen=True, eq=False)
class KnownOrders(Renyi):
    """Bounds at finitely many orders: linear in K between them, constant below the first, nothing above the last."""

    orders: tuple[Fraction, ...]
    values: tuple[Fraction, ...]

    @property
    def top(self) -> Fraction:
        """The last known order."""
        return self.orders[-1]

    @property
    def knots(self) -> tuple[Fraction, ...]:
        """The known orders: between them the bound is a chord, and K of any pair is convex."""
        return self.orders

    @cached_property
    def _floats(self) -> tuple[list[float], list[float]]:
        cumulants = [near((a - 1) * v) for a, v in zip(self.orders, self.values, strict=True)]
        return [near(a) for a in self.orders], cumulants

    def approximate(self, order: float) -> float:
        """The same in floats."""
        orders, cumulants = self._floats
        after = bisect_left(orders, order)
        if after == len(orders):
            return math.inf
        if after == 0:
            return near(self.values[0])
        share = (order - orders[after - 1]) / (orders[after] - orders[after - 1])
        return (cumulants[after - 1] + share * (cumulants[after] - cumulants[after - 1])) / (order - 1)

    def divergence(self, order: Fraction) -> Ball:
        """The bound at any order, by convexity of K."""
        if order > self.orders[-1]:
            return INFINITY
        after = bisect_left(self.orders, order)
        if after == 0 or self.orders[after] == order:
            return ball(self.values[after])
        return ball(_chord(order, self.orders[after - 1 : after + 1], self.values[after - 1 : after + 1]))


def _chord(order: Fraction, orders: Sequence[Fraction], values: Sequence[Fraction]) -> Fraction:
    low, high = ((a - 1) * v for a, v in zip(orders, values, strict=True))
    share = (order - orders[0]) / (orders[1] - orders[0])
    return (low + share * (high - low)) / (order - 1)


@dataclass(frozen=True, eq=False)
class SummedRenyi(ManyOrders):
    """The composition of several curves, each taken count times."""

    parts: tuple[tuple[Renyi, int], ...]

    @property
    def top(self) -> Fraction | None:
        """The smallest of the parts' last orders."""
        return min((c.top for c, n in self.parts if c.top is not None and n > 0), default=None)

    @property
    def knots(self) -> tuple[Fraction, ...] | None:
        """Those of the parts, while all of them are finite."""
        parts = [curve.knots for curve, n in self.parts if n > 0]
        known = [orders for orders in parts if orders is not None]
        if not parts or len(known) < len(parts):
            return None
        last = min(orders[-1] for orders in known)
        return tuple(sorted({order for orders in known for order in orders if order <= last}))

    def divergence(self, order: Fraction) -> Ball:
        """Σ n_i D_i."""
        return sum((curve.divergence(order) * count for curve, count in self.parts if count), Ball(0))

    def approximations(self, orders: Sequence[float]) -> list[float]:
        """Σ n_i D_i in floats."""
        found = [[d * count for d in curve.approximations(orders)] for curve, count in self.parts if count]
        return [sum(column) for column in zip(*found, strict=True)] if found else [0.0] * len(orders)

    @property
    def effort(self) -> int:
        """That of the slowest part."""
        return max((curve.effort for curve, _ in self.parts), default=0)


@dataclass(frozen=True, eq=False)
class LargestRenyi(ManyOrders):
    """The pointwise largest of several curves."""

    parts: tuple[Renyi, ...]

    @property
    def top(self) -> Fraction | None:
        """The smallest of the parts' last orders."""
        return min((curve.top for curve in self.parts if curve.top is not None), default=None)

    @property
    def effort(self) -> int:
        """That of the slowest part."""
        return max(curve.effort for curve in self.parts)

    def approximations(self, orders: Sequence[float]) -> list[float]:
        """max D_i in floats."""
        return [max(column) for column in zip(*(c.approximations(orders) for c in self.parts), strict=True)]

    def divergence(self, order: Fraction) -> Ball:
        """max D_i."""
        values = [curve.divergence(order) for curve in self.parts]
        largest = values[0]
        for value in values[1:]:
            largest = largest.max(value)
        return largest


@dataclass(frozen=True, eq=False)
class SmallestRenyi(ManyOrders):
    """The pointwise smallest of several valid curves: each proof counts, the best is kept."""

    parts: tuple[Renyi, ...]

    @property
    def top(self) -> Fraction | None:
        """The largest of the parts' last orders."""
        tops = [curve.top for curve in self.parts]
        return None if None in tops else max(t for t in tops if t is not None)

    @property
    def effort(self) -> int:
        """That of the slowest part."""
        return max(curve.effort for curve in self.parts)

    def approximations(self, orders: Sequence[float]) -> list[float]:
        """min D_i in floats."""
        return [min(column) for column in zip(*(c.approximations(orders) for c in self.parts), strict=True)]

    def divergence(self, order: Fraction) -> Ball:
        """min D_i."""
        values = [curve.divergence(order) for curve in self.parts]
        smallest = values[0]
        for value in values[1:]:
            smallest = smallest.min(value)
        return smallest


@dataclass(frozen=True, eq=False)
class GroupedRenyi(ManyOrders):
    """A curve for one record, read for ``size`` records."""

    base: Renyi
    size: int

    @property
    def top(self) -> Fraction | None:
        """The base is read at size·α."""
        return None if self.base.top is None else self.base.top / self.size

    @property
    def effort(self) -> int:
        """Several values of the base."""
        return min(self.base.effort + 1, 2) if self.base.effort else 0

    def divergence(self, order: Fraction) -> Ball:
        """D^k_α ≤ kα/(kα−1)·D^{k−1}_{(kα−1)/(k−1)} + D_{kα}, unrolled."""
        return sum((ball(factor) * self.base.divergence(at) for factor, at in self._terms(Fraction(1), order)), Ball(0))

    def approximations(self, orders: Sequence[float]) -> list[float]:
        """The same in floats."""
        rows = [list(self._terms(1.0, order)) for order in orders]
        values = iter(self.base.approximations([at for row in rows for _, at in row]))
        return [sum(factor * next(values) for factor, _ in row) for row in rows]

    def _terms(self, factor: Order, alpha: Order) -> Iterator[tuple[Order, Order]]:
        """The factors and the orders at which the base is read."""
        for k in range(self.size, 1, -1):
            yield factor, k * alpha
            factor *= k * alpha / (k * alpha - 1)
            alpha = (k * alpha - 1) / (k - 1)
        yield factor, alpha


@theorem(of=Renyi, gives=Renyi, kind="equal", role="composition", source=Source("mironov2017renyi", "Prop. 1"))
def renyi_composes(parts: list[tuple[Renyi, int]]) -> Renyi:
    """Composition adds the Rényi divergences at each order."""
    return SummedRenyi(tuple(parts))


@theorem(of=Renyi, gives=Renyi, kind="upper", role="group", source=Source("bun2016concentrated", "Lemma 5.2"))
def renyi_for_groups(c: Renyi, size: int) -> Renyi | None:
    """D_α over k records ≤ kα/(kα−1)·D_{(kα−1)/(k−1)} over k−1 records + D_{kα} over one (Mironov's Prop. 2 follows
    for k = 2^c)."""
    if size > MOST_FOR_GROUPS or (c.top is not None and c.top <= size):
        return None  # too long a chain, or no order above 1 is left
    return GroupedRenyi(c, size)


@theorem(of=Renyi, gives=Renyi, kind="equal", role="parallel", source=Source("mcsherry2009privacy", "Thm 4"))
def renyi_in_parallel(parts: list[Renyi]) -> Renyi:
    """On disjoint blocks of records, adding or removing one record costs the largest of the blocks' divergences."""
    return LargestRenyi(tuple(parts))
