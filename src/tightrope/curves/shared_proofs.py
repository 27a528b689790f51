"""Many points of one profile: a proof found at one ε serves its neighbours, as long as it says enough there.

A witness may be evaluated at any ε; far from the one it was made for it only says less. How much is enough depends on
what it says where it was made, and on the work that is left: the last points of a dear profile are known less well than
the first.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from tightrope.curves.shared_roots import SharedRoots, log_of
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import near
from tightrope.numerics.many_roots import ends_first, interpolated

if TYPE_CHECKING:
    from tightrope.curves.profile import Profile, Witness

__all__ = ["SharedProofs", "shared_deltas", "shared_epsilons"]

_ENOUGH = ((0.4, 1e-6), (0.15, 1e-5), (0.05, 1e-4))  # while so much of the work is left, δ is wanted so well
_ROUGH = 1e-2
_STEEP = 5.0  # of ε, so many times better
_OWN = 3.0  # so many times as wide as where it was made, a proof will do
_SHARE, _LITTLE = 0.3, 1e5  # of the work that is left, for one new proof; and that much at least
_MOVES, _STILL = 3, 1e-4  # so often, and while ε moves so far
_READ = 1e3  # units of work to evaluate a proof again
_FIRST, _PATIENCE = 0.5, 3  # likewise for the first; and how many failures are followed by none
_CLOSE, _NEAR = 1e-9, 1e-3  # how near to its target ln δ is brought, and where a new proof is sought

Find = Callable[[Fraction], "Witness"]


class SharedProofs:
    """A profile, and the witnesses found so far. ``find`` may be given, for witnesses that serve many points."""

    def __init__(self, profile: Profile, find: Find | None = None) -> None:
        self._profile, self._find = profile, find or profile.find
        self._found: list[tuple[float, SharedRoots, float]] = []  # for which ε, its values, and how wide they are there
        self._made: list[tuple[float, Witness]] = []
        self._work, self._failed = effort.left(), 0

    def keep(self, x: float, witness: Witness, width: float = 0.0) -> SharedRoots:
        """Use this witness, made for x, too."""
        values = SharedRoots(partial(self._proved, witness))
        self._found.append((x, values, width))
        self._made.append((x, witness))
        return values

    def _proved(self, witness: Witness, epsilon: Fraction) -> Ball:
        effort.spend(_READ, "a point of a profile")
        return self._profile.prove(epsilon, witness)

    def _nearest(self, x: float) -> tuple[float, SharedRoots, float] | None:
        return min(self._found, key=lambda one: abs(one[0] - x), default=None)

    def delta(self, epsilon: Fraction) -> Ball:
        """By the nearest witness, or by a new one where that says too little."""
        x, best = near(epsilon), None
        known = self._nearest(x)
        if known is not None:
            best = known[1].delta(epsilon)
            if _width(best) <= max(self._enough(), _OWN * known[2]):
                return best
        try:
            with self._trial():
                witness = self._find(epsilon)
                value = self._profile.prove(epsilon, witness)
        except NotCertified:
            if best is None:
                raise
            return best
        self.keep(x, witness, _width(value))
        return value if best is None or _width(value) <= _width(best) else best

    def read(self, epsilon: Fraction) -> Ball | None:
        """By the nearest witness that is at hand, however little work is left; None if there is none."""
        known = [(abs(x - near(epsilon)), witness) for x, witness in self._made if self._profile.at_hand(witness)]
        if not known:
            return None
        with effort.owing():
            return self._proved(min(known, key=lambda one: one[0])[1], epsilon)

    def epsilon(self, delta: Fraction, start: float, sides: tuple[float, float], close: float) -> Bound:
        """The ε at this δ, which lies between two others and seems to be near ``start``: likewise."""
        known = self._nearest(start)
        if known is not None:
            with suppress(NotCertified):
                start, width = known[1].located(delta, start, sides, _NEAR)
                if width <= max(self._enough() / _STEEP, _OWN * known[2]) or self._failed >= _PATIENCE:
                    return known[1].followed(delta, start, sides, close)
        try:
            return self._anew(delta, start, sides, close)
        except NotCertified:
            if known is None:
                raise
            return known[1].followed(delta, start, sides, close)

    def _anew(self, delta: Fraction, start: float, sides: tuple[float, float], close: float) -> Bound:
        """By new proofs, each made where the one before has found ε."""
        best: Bound | None = None
        for _ in range(_MOVES):
            with self._trial():
                witness = self._find(Fraction(start))
                values = SharedRoots(partial(self._proved, witness))
                found = values.followed(delta, start, sides, close)
            self._found.append((start, values, _apart(found)))
            if best is None or _apart(found) < _apart(best):
                best = found
            if _apart(best) <= self._enough() / _STEEP or abs(_middle(found) - start) <= _STILL * start:
                break
            start = _middle(found)
        assert best is not None
        return best

    @contextmanager
    def _trial(self) -> Iterator[None]:
        """Within, a new proof may be sought, unless several have failed."""
        if self._failed >= _PATIENCE:
            raise NotCertified("the exact profile", "other points were not proved either")
        try:
            with effort.allowed(max(_SHARE * effort.left(), _LITTLE)):
                yield
        except NotCertified:
            self._failed += 1
            raise
        self._failed = 0

    def _enough(self) -> float:
        left = effort.left()
        share = left / self._work if math.isfinite(left) else 1.0
        return next((width for least, width in _ENOUGH if share > least), _ROUGH)


def _apart(bound: Bound) -> float:
    return 1 - bound.lower / bound.upper if bound.upper > 0 else 0.0


def _width(value: Ball) -> float:
    with precision(64):
        upper, radius = float(value.upper()), float(value.rad())
    return 2 * radius / upper if upper > 0 else 0.0


def shared_deltas(profile: Profile, epsilons: Sequence[Fraction], find: Find | None = None) -> list[Ball | None]:
    """δ at many ε; None where nothing was proved."""
    shared, found = SharedProofs(profile, find), {}
    for x in ends_first(sorted(set(epsilons))):
        with suppress(NotCertified):
            found[x] = shared.delta(x)
    found |= {x: value for x in epsilons if x not in found and (value := shared.read(x)) is not None}
    return [found.get(x) for x in epsilons]


def shared_epsilons(
    profile: Profile, deltas: Sequence[Fraction], close: float = _CLOSE, find: Find | None = None
) -> list[Bound | None]:
    """ε at many δ; None where nothing was proved. ``close``: how near to its target ln δ is brought before both ends
    are proved."""
    found: dict[Fraction, Bound | None] = {}
    shared, patience = SharedProofs(profile, find), _PATIENCE
    for delta in sorted(set(deltas)):  # the first ones may be ∞
        try:
            with effort.allowed(_FIRST * effort.left()):
                found[delta], witness = profile.epsilon(delta)
        except NotCertified:
            found[delta], patience = None, patience - 1
            if not patience:
                break
            continue
        last = found[delta]
        if last is not None and math.isfinite(last.upper):
            if last.upper > 0:
                shared.keep(last.upper, witness, _apart(last))
                found |= _up_to(shared, profile, sorted({d for d in deltas if d > delta}), (log_of(delta), last), close)
            break
    for delta in sorted(set(deltas) - set(found), reverse=True):
        try:
            found[delta] = profile.epsilon(delta)[0]
        except NotCertified:
            patience -= 1
            if patience <= 0:
                break
    return [found.get(delta) for delta in deltas]


def _up_to(
    shared: SharedProofs, profile: Profile, deltas: list[Fraction], last: tuple[float, Bound], close: float
) -> dict[Fraction, Bound]:
    """Those between ε = 0 and the last (ln δ, ε); 0 for a δ that is reached there."""
    found: dict[Fraction, Bound] = {}
    known = [(last[0], _middle(last[1])), (0.0, 0.0)]  # by value: they fall where places rise
    if deltas:
        with suppress(NotCertified):
            found |= _least(shared, profile, deltas)
    positive = [(log_of(delta), bound.upper) for delta, bound in found.items() if bound.upper > 0]
    known[1:] = positive or known[1:]
    for delta in ends_first(sorted(set(deltas) - set(found))):
        goal = log_of(delta)
        at = bisect_left(known, (goal, -math.inf))
        if not 0 < at < len(known):
            continue
        sides = known[at][1], known[at - 1][1]
        start = interpolated(known, at, goal)
        if not sides[0] < start < sides[1]:
            start = (sides[0] + sides[1]) / 2
        with suppress(NotCertified):
            found[delta] = shared.epsilon(delta, start, sides, close)
            insort(known, (goal, _middle(found[delta])))
    return found


def _least(shared: SharedProofs, profile: Profile, deltas: list[Fraction]) -> dict[Fraction, Bound]:
    """The ε of the largest δ; where that is 0, of all δ that are reached there."""
    with effort.allowed(max(_SHARE * effort.left(), _LITTLE)):
        bound, witness = profile.epsilon(deltas[-1])
    if bound.upper > 0:
        shared.keep(bound.upper, witness, _apart(bound))
        return {deltas[-1]: bound}
    top = shared.delta(Fraction(0))
    with precision(160):
        return {delta: bound for delta in deltas if top <= ball(delta)} | {deltas[-1]: bound}


def _middle(bound: Bound) -> float:
    return (bound.lower + bound.upper) / 2 if bound.lower > 0 else bound.upper
