"""The privacy loss: a product of dominating pairs for each direction. It knows everything else."""

from __future__ import annotations

from dataclasses import dataclass

from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pair import Pair
from tightrope.numerics.real import ZERO, Real
from tightrope.theorems import Source, theorem

Parts = tuple[tuple[Pair, int], ...]


@dataclass(frozen=True, eq=False)
class Loss:
    """A product of pairs for each direction. ``add`` is None when both directions have the same law."""

    remove: Parts
    add: Parts | None = None

    @property
    def directions(self) -> tuple[Parts, ...]:
        """The laws to be examined: one, or remove and add."""
        return (self.remove,) if self.add is None else (self.remove, self.add)

    def __str__(self) -> str:
        kinds = dict.fromkeys(pair.words for parts in self.directions for pair, _ in parts)
        return "the loss is " + (" plus ".join(kinds) or "always 0")

    def largest(self) -> list[list[tuple[Real, int]]]:
        """The largest losses of the parts, for each direction."""
        return [[(pair.largest(), n) for pair, n in parts] for parts in self.directions]


def merged(parts: Parts) -> Parts:
    """Equal pairs counted once; normal pairs into one."""
    if len(parts) == 1 and parts[0][1] > 0 and not isinstance(parts[0][0], NormalPair):
        return parts
    counts: dict[Pair, int] = {}
    normal = ZERO
    seen = False
    for pair, n in parts:
        if n == 0:
            continue
        if isinstance(pair, NormalPair):
            normal, seen = normal + pair.mu_squared * n, True
        else:
            counts[pair] = counts.get(pair, 0) + n
    result: list[tuple[Pair, int]] = [(NormalPair(normal), 1)] if seen else []
    return tuple(result + list(counts.items()))


@theorem(of=Loss, gives=Loss, kind="equal", role="composition", source=Source("zhu2022optimal", "Thm 10"))
def loss_composes(parts: list[tuple[Loss, int]]) -> Loss:
    """The product of dominating pairs dominates the adaptive composition; remove-pairs with remove-pairs, add with
    add."""
    remove = merged(tuple((pair, n * k) for loss, k in parts for pair, n in loss.remove))
    if all(loss.add is None for loss, _ in parts):
        return Loss(remove)
    add = merged(tuple((pair, n * k) for loss, k in parts for pair, n in loss.directions[-1]))
    return Loss(remove, add)
