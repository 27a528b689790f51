"""One direction of the smooth part of a loss, at many places at once: each to the accuracy that its share calls for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby, pairwise

from tightrope.curves.engines.side_ways import Chernoff, SideWay
from tightrope.curves.profile import Witness
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.real import Real

__all__ = ["Place", "SmoothSide"]

_RATIO = math.log(1.15)  # between the places at which floats are asked; ln δ is interpolated
_LEAST = 1e-12
_MARGIN = 2.0  # nats that floats may be wrong by
_PROMOTED = 3  # far places that Chernoff's bound may leave to the other ways
_EFFORT = 16  # what plans may cost together, in those of a contour
_SLACK = 0.03
_NEARER = 1.5  # ratio of the places that are tried as a bound for those further out
_SCALES = 3.0  # ratio of neighbours that one plan hardly serves
_MOST = 40  # stretches of a witness
_MOST_NODES = 20_000  # of a plan at all its places: a tenth of a second for each δ

Place = tuple[float, float]  # y, and ln of the error that δ(y) may have
Stretch = tuple[list[Place], Witness]


class SmoothSide:
    """δ(y) for y ≥ 0 in one direction."""

    def __init__(self, ways: Iterable[SideWay], chernoff: Chernoff | None, largest: Real) -> None:
        self._ways = {way.name: way for way in ways}
        self._first = self._ways.get("windowed") or next(iter(self._ways.values()))  # it sees rare large losses
        self._chernoff = chernoff
        self._largest = largest
        with precision(80):
            self._top = math.inf if largest.infinite else float(largest.ball().mid())
        self._known: dict[int, float] = {}
        self._lowest = 0, 0.0

    def about(self, y: float, floor: float = -math.inf) -> float:
        """ln δ(y) in floats, by interpolation; not so near where it is below the floor."""
        if y >= self._top:
            return -math.inf
        at = math.log(max(y, _LEAST)) / _RATIO
        k = math.floor(at)
        low = self._node(k, floor)
        if low < floor:
            return low
        high = self._node(k + 1, floor)
        return low + (at - k) * (high - low) if high > -math.inf else low

    def _node(self, k: int, floor: float) -> float:
        if k not in self._known:
            if self._lowest[0] <= k and self._lowest[1] < floor:  # δ falls
                return self._lowest[1]
            self._known[k] = self._seen(k)
            if self._known[k] < self._lowest[1]:
                self._lowest = k, self._known[k]
        return self._known[k]

    def _seen(self, k: int) -> float:
        """By the first way; where that sees nothing, or noise, the least upper bound at hand."""
        y = math.exp(k * _RATIO)
        if y >= self._top:
            return -math.inf
        try:
            found = self._first.about(y)
            if -math.inf < found < 0:
                return found
        except NotCertified:
            pass
        most = self._lowest[1] if self._lowest[0] <= k else 0.0
        try:
            found = 0.0 if self._chernoff is None else self._chernoff.total.chernoff(y)[0]
        except NotCertified:
            return most
        return most if math.isnan(found) else min(found, most)

    def cover(self, places: Sequence[Place]) -> list[Witness]:
        """Stretches, each with a plan that serves the places in it; beyond them an upper bound is enough."""
        asked = sorted(place for place in places if place[0] < self._top and place[1] < 0)
        seen = [i for i, (y, error) in enumerate(asked) if self.about(y) + _MARGIN > error]
        near, far = self._parted(asked, seen[-1] + 1 if seen else 0)
        found = self._stretches(near, [_EFFORT]) if near else []
        starts = [0.0] + [(one[-1][0] + two[0][0]) / 2 for (one, _), (two, _) in pairwise(found)]  # any will do
        return [{"from": start, **plan} for start, (_, plan) in zip(starts, found, strict=False)] + far

    def _parted(self, asked: list[Place], first: int) -> tuple[list[Place], list[Witness]]:
        """The places that need a plan, and an upper bound for the others: Chernoff's, or δ at a nearer place."""
        for i in range(first, min(first + _PROMOTED, len(asked))):
            level = min(error for _, error in asked[i:])
            t = None if self._chernoff is None else self._chernoff.tilt(asked[i][0], level)
            if t is not None:
                return asked[:i], [{"from": _border(asked[i - 1][0], asked[i][0]) if i else 0.0, "t": t}]
        for i in range(first, len(asked)):
            level = min(error for _, error in asked[i:])
            y = max(asked[i - 1][0] if i else asked[0][0] / _NEARER, _LEAST)
            while y < asked[i][0]:
                y = min(_NEARER * y, asked[i][0])
                if self.about(y) + _MARGIN < level:
                    return [*asked[:i], (y, level)], [{"from": _border(y, asked[i][0]), "after": y}]
        return asked, []

    def _stretches(self, places: list[Place], left: list[int]) -> list[Stretch]:
        """One plan for all places if there is one that is good enough; where it is not, others."""
        found: list[tuple[float, Witness]] = []
        for way in self._ways.values():
            i = _widest_gap(places)
            if i and way.effort > 1 and places[i][0] > _SCALES * places[i - 1][0]:  # one plan would hardly serve both
                *before, (some, last) = self._stretches(places[:i], left)
                if max(self._excess(place, last) for place in places[i:]) < self._ways[last["by"]].enough:
                    return [*before, (some + places[i:], last)]
                return [*before, (some, last), *self._stretches(places[i:], left)]
            plan = self._tried(way, places, left)
            if plan is None:
                if len(places) > 1 and self._tried(way, [places[len(places) // 2]], left) is not None:
                    # only the stretch was too long
                    return self._stretches(places[:i], left) + self._stretches(places[i:], left)
                continue
            if len(places) * int(plan.get("count", 0)) > _MOST_NODES:
                continue
            excesses = [self._excess(place, plan) for place in places]
            if max(excesses) < way.enough:
                return [(places, plan)]
            worst = places[max(range(len(places)), key=lambda i: excesses[i])][0]
            if min(excesses) < way.enough and left[0] > 0 and (way.effort == 1 or worst < places[-1][0] / _SCALES):
                return self._mended(places, plan, [excess < way.enough for excess in excesses], left)
            found.append((max(excesses), plan))
        if not found:
            raise NotCertified("a sum around atoms", "a term is out of reach")
        return [(places, min(found, key=lambda one: one[0])[1])]

    def _mended(self, places: list[Place], plan: Witness, good: list[bool], left: list[int]) -> list[Stretch]:
        """Where the plan is good enough it stays; elsewhere others are sought, and if there are none it stays, too."""
        found: list[Stretch] = []
        for enough, group in groupby(zip(places, good, strict=True), key=lambda one: one[1]):
            some = [place for place, _ in group]
            try:
                found += [(some, plan)] if enough else self._stretches(some, left)
            except NotCertified:
                found.append((some, plan))
        return found

    def _tried(self, way: SideWay, places: list[Place], left: list[int]) -> Witness | None:
        if left[0] <= 0:
            return None
        left[0] -= way.effort
        try:
            return {**way.plan(places[0][0], places[-1][0], min(error for _, error in places)), "by": way.name}
        except NotCertified:
            return None

    def _excess(self, place: Place, plan: Witness) -> float:
        """By how many nats the error is larger than asked for."""
        try:
            with effort.proving():  # a plan that was made is likely to serve
                value = self._ways[plan["by"]].value(Ball(place[0]), plan)
        except NotCertified:
            return math.inf
        with precision(64):
            return float(value.rad().log()) - place[1] if value.rad() > 0 else -math.inf

    def value(self, y: Ball, stretches: Sequence[Witness]) -> Ball:
        """δ(y) for y ≥ 0, enclosed by the plan of its stretch; between 0 and 1 where there is none."""
        if len(stretches) > _MOST:
            raise NotCertified("a sum around atoms", f"more than {_MOST} stretches")
        if not self._largest.infinite and y >= self._largest.ball():
            return Ball(0)
        place = float(y.mid())
        number = max((i for i, one in enumerate(stretches) if float(one["from"]) <= place), default=0)
        if not stretches:
            return Ball(0).union(Ball(1))
        witness = stretches[number]
        if "after" in witness:
            before = Ball(float(witness["after"]))
            if not (before >= 0 and y >= before):
                raise NotCertified("a sum around atoms", "δ is bounded by its value at a larger place")
            return Ball(0).union(self.value(before, stretches[:number]))
        if "by" not in witness:
            if self._chernoff is None:
                raise NotCertified("a sum around atoms", "Chernoff's bound is not known")
            return self._chernoff.value(y, Fraction(witness["t"]))
        way = self._ways.get(str(witness["by"]))
        if way is None:
            raise NotCertified("a sum around atoms", f"there is no way {witness['by']}")
        return way.value(y, witness)


def _border(last: float, far: float) -> float:
    """From where on a bound will do: so far from the last place that a search may move all of them a little."""
    return last + max((far - last) / 2, _SLACK * last)


def _widest_gap(places: list[Place]) -> int:
    """Where to halve: between places of different scale, else in the middle."""
    if len(places) == 1:
        return 0
    ratios = [(max(two, _LEAST) / max(one, _LEAST), i + 1) for i, ((one, _), (two, _)) in enumerate(pairwise(places))]
    widest, i = max(ratios)
    return i if widest > _SCALES else len(places) // 2
