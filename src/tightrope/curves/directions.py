"""Each direction of a loss by itself: δ(ε) at many ε ≥ 0 at once, by whatever engine is at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.engines.even_direction import blurred_direction, contour_direction, grid_direction
from tightrope.curves.engines.grid_profile import grid_profile
from tightrope.curves.engines.rarity import rare
from tightrope.curves.engines.transformed import transforms
from tightrope.curves.engines.windowed_profile import windowed_directions
from tightrope.curves.loss import Loss
from tightrope.curves.profile import within_unit
from tightrope.curves.revealed import Revealed
from tightrope.curves.sampled.allocated import allocated_profile, has_allocation
from tightrope.curves.sampled.draws import cut_draws, has_draws
from tightrope.curves.sampled.glued import Glued
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball
from tightrope.numerics.contour.blurred import BlurredSum
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.transforms.families import with_families

__all__ = ["Deltas", "directions"]

_CUT_BITS = 60
_SLOW = 6  # points of a profile that may take a good part of a second for each

Deltas = Callable[[Sequence[Fraction]], list[Ball | None]]


def directions(loss: Loss) -> tuple[Deltas, ...]:
    """For each direction of the loss a function that encloses its δ at many ε ≥ 0, None where it gave up. Draws with
    replacement are cut, which overstates δ by far less than it shows."""
    if has_draws(loss):
        loss = cut_draws(loss, _CUT_BITS)
    windowed = windowed_directions(loss)
    found = []
    for i in range(len(loss.directions)):
        found.append(_Ways(loss, i, None if windowed is None else windowed[i].deltas).deltas)
    return tuple(found)


class _Ways:
    """The ways to one direction, the quickest first; each is made when those before it gave up. The last is slow and
    used only where no other has found anything."""

    def __init__(self, loss: Loss, number: int, windowed: Deltas | None) -> None:
        self._more = _ways(loss, number, windowed)
        self._made: list[Deltas] = []
        # A law taken to be its own reverse has one direction only; an allocation must not be taken so.
        self._slow = None if has_allocation(loss) else _few(Loss(loss.directions[number]))
        self._any = False

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """At each ε by the first way that succeeds."""
        found: dict[Fraction, Ball | None] = dict.fromkeys(sorted(epsilons))
        for way in self._all():
            left = [x for x, value in found.items() if value is None]
            if not left:
                break
            found.update(zip(left, way(left), strict=True))
        self._any = self._any or any(value is not None for value in found.values())
        return [None if (value := found[x]) is None else within_unit(value) for x in epsilons]

    def _all(self) -> Iterator[Deltas]:
        yield from self._made
        for way in self._more:
            self._made.append(way)
            yield way
        if self._slow is not None and not self._any:
            yield self._slow


def _ways(loss: Loss, number: int, windowed: Deltas | None) -> Iterator[Deltas]:
    parts = loss.directions[number]
    if has_allocation(loss):
        with suppress(NotCertified):  # the whole loss says which of its parts are their own reverse
            whole = allocated_profile(loss)
            yield replace(whole, sides=(whole.sides[number],)).deltas
        return
    try:
        known = transforms(parts)
    except NotCertified:  # a part is out of the reach of its transform
        known = None
    if windowed is not None and rare(loss):
        yield windowed
    if known is not None and any(pair.decays for pair, _ in parts):
        yield contour_direction(ContourSum(with_families(known))).deltas
    if windowed is not None and not rare(loss):
        yield windowed
    if known is not None and not any(isinstance(pair, Glued) and isinstance(pair.base, Revealed) for pair, _ in parts):
        yield blurred_direction(BlurredSum(known)).deltas
    grid = grid_profile(Loss(parts))
    if grid is not None:
        yield grid_direction(grid.directions[0]).deltas


def _few(loss: Loss) -> Deltas:
    """The profile at the first few points only, as each may need a search of its own."""
    left = [_SLOW]

    def deltas(epsilons: Sequence[Fraction]) -> list[Ball | None]:
        chosen = list(epsilons)[: left[0]]
        left[0] -= len(chosen)
        missing: list[Ball | None] = [None] * len(epsilons)
        try:
            return [*loss_has_profile(loss).deltas(chosen), *missing[len(chosen) :]] if chosen else missing
        except NotCertified:
            return missing

    return deltas
