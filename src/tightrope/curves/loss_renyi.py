"""The Rényi curve of a known law of the loss."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from math import inf, log

from tightrope.curves.loss import Loss, Parts
from tightrope.curves.pair import Pair
from tightrope.curves.renyi import Renyi
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.theorems import Source, theorem

_MANY, _PLACE = 16, 4.0  # pairs of one kind that stand for all; λ at which they are compared
_REMEMBERED = 4096  # values of one curve
_UNITS = (0.0, 100.0, 200.0)  # of work for a value in floats, by the effort of the pairs


@dataclass(frozen=True, eq=False)
class LossRenyi(Renyi):
    """The exact Rényi curve of a loss law, in the worse direction at each order."""

    loss: Loss

    def divergence(self, order: Fraction) -> Ball:
        """max over directions of ΣK(λ)/λ."""
        values = [self._one(parts, order) for parts in self.loss.directions]
        return reduce(Ball.max, values)

    @staticmethod
    def _one(parts: Parts, order: Fraction) -> Ball:
        value = Ball(0)
        for pair, n in parts:
            cumulant = pair.cumulant(order - 1)
            assert cumulant is not None
            value += cumulant * n
        return value / ball(order - 1)

    def approximations(self, orders: Sequence[float]) -> list[float]:
        """The same in floats; pairs with a float formula of their own use it."""
        # remembered or not; what is quick is not refused: after other routes gave up this may be all that answers
        with effort.owing() if self.effort < len(_UNITS) - 1 else nullcontext():
            effort.spend(_UNITS[self.effort] * len(orders), "a search along a Rényi curve")
        memory = self._found
        found = {order: value for order in orders if (value := memory.get(order)) is not None}
        new = [order for order in dict.fromkeys(orders) if order not in found]
        with effort.paid():
            found |= zip(new, self._floats(new), strict=True) if new else ()
        if len(memory) > _REMEMBERED:
            memory.clear()
        memory.update(found)
        return [found[order] for order in orders]

    @cached_property
    def _found(self) -> dict[float, float]:
        """What was found so far: several conversions look at the same orders."""
        return {}

    @cached_property
    def _samples(self) -> list[list[tuple[Pair, float]]]:
        """For each direction pairs, and how often each stands in the sum: of very many some that stand for others."""
        return [_sample(parts) if len(parts) > _MANY else [*parts] for parts in self.loss.directions]

    def _floats(self, orders: Sequence[float]) -> list[float]:
        found = []
        for parts in self._samples:
            columns = [[k * n for k in pair.approximate_cumulants([o - 1 for o in orders])] for pair, n in parts]
            found.append([sum(column) / (o - 1) for o, *column in zip(orders, *columns, strict=True)])
        return [max(column) for column in zip(*found, strict=True)]

    def approximate(self, order: float) -> float:
        """One order."""
        return self.approximations([order])[0]

    @property
    def effort(self) -> int:
        """That of the slowest pair."""
        return max((pair.effort for parts in self.loss.directions for pair, _ in parts), default=0)


def _sample(parts: Parts) -> list[tuple[Pair, float]]:
    """Some, each for those whose divergence is about as large: searches need no more."""
    by_kind: dict[type, list[tuple[float, int, Pair]]] = {}
    for pair, n in parts:
        by_kind.setdefault(type(pair), []).append((pair.approximate_cumulants([_PLACE])[0], n, pair))
    found: list[tuple[Pair, float]] = []
    for kind in by_kind.values():
        logs = [log(k) if 0 < k < inf else 0.0 for k, _, _ in kind]
        low, step = min(logs), (max(logs) - min(logs)) / _MANY or 1.0
        groups: dict[int, list[tuple[float, int, Pair]]] = {}
        for place, one in zip(logs, kind, strict=True):
            groups.setdefault(int((place - low) / step), []).append(one)
        for group in groups.values():
            value, _, pair = max(group, key=lambda one: one[0])
            found.append((pair, sum(n * (k / value if 0 < value < inf else 1.0) for k, n, _ in group)))
    return found


@theorem(of=Loss, gives=Renyi, kind="equal", source=Source("mironov2017renyi", "Def. 4"))
def loss_has_renyi(c: Loss) -> Renyi | None:
    """D_α(P‖Q) = ln E_P[e^{(α−1)L}]/(α − 1)."""
    return LossRenyi(c) if all(_has_cumulant(pair) for parts in c.directions for pair, _ in parts) else None


@lru_cache(maxsize=512)
def _has_cumulant(pair: Pair) -> bool:
    if pair.measured is not None:
        return pair.measured
    with effort.paid(), precision(10):  # whether there is one is all that is asked
        return pair.cumulant(Fraction(2)) is not None
