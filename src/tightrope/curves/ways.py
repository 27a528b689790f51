"""Several ways to evaluate one profile: the first that succeeds answers, unless its proof is wide, and the
witness says which it was."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeVar

from tightrope.curves.profile import Profile, Witness
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.bound import Bound

CLOSE, FAIR, TABLED, ROUGH = 1e-9, 1e-6, 1e-5, 1e-4  # relatively: for what is wider than is sought, others are tried
_NARROW = 1e-10
_MORE = 3
_LAST = "grid"  # it answers nearly always, the better the more work it is allowed
_GRIDDED = 1e-7  # about what it reaches: an answer that is no wider has nothing to hope from it
_KEPT, _LEAST = 0.35, 1.5e5  # of the work that is allowed, for that; and so much at least, whatever a proof costs
_EACH = 0.6  # where there is no grid: of the rest, for one way's searches, as the next may do better
_SUMMED = 0.4  # for a sum that others stand behind: it is short, or longer than it seemed
_BEFORE = {"blurred": 0.8, "atoms": 0.8, "windowed": 0.8}  # before a grid: they need less, or it serves better
_SHARE, _LITTLE = 0.85, 3e4  # of the work that is allowed, for a way to many points; and what none can do with
_FIRST = 0.4  # likewise for contours, which are few and short or not worth it
_PLAIN, _DEEP, _LONG, _BOUNDED = "contour", "deep", "sum", "top"

Answer = TypeVar("Answer")
Way = tuple[str, Callable[[], Profile | None]]


@dataclass(frozen=True, eq=False)
class Ways(Profile):
    """Profiles of one loss by name, the quickest first; each is built when it is wanted, and None if it cannot be."""

    ways: tuple[Way, ...]
    wide: float = FAIR
    _built: dict[str, Profile | None] = field(default_factory=dict)

    def aiming(self, width: float) -> Ways:
        """Closer ends than a grid's are sought of all other ways first."""
        ways = self.ways if width >= FAIR else _grid_later(self.ways)
        return replace(self, wide=width, ways=ways)

    def without(self, name: str) -> Ways:
        """All others."""
        return replace(self, ways=tuple(way for way in self.ways if way[0] != name))

    def _profile(self, name: str) -> Profile | None:
        if name not in self._built:
            try:
                self._built[name] = dict(self.ways)[name]()
            except NotCertified:
                if math.isfinite(effort.left()):
                    return None  # perhaps for want of work, so it is not kept
                self._built[name] = None
        found = self._built[name]
        return None if found is None else found.aiming(self.wide)

    def _profiles(self) -> Iterator[tuple[str, Profile]]:
        for name, _ in self.ways:
            profile = self._profile(name)
            if profile is not None:
                yield name, profile

    def find(self, epsilon: Fraction) -> Witness:
        """The witness of the first way whose proof is not wide."""

        def proved(profile: Profile) -> tuple[Witness, float]:
            witness = profile.find(epsilon)
            with effort.proving():
                return witness, _width(profile.prove(epsilon, witness)) if profile.may_be_wide else 0.0

        return self._best(proved, lambda width: width)[0]

    def find_below(self, epsilon: Fraction, level: Ball) -> Witness:
        """The witness of the first way that has one."""
        return self._best(lambda profile: (profile.find_below(epsilon, level), 0.0), lambda width: width)[0]

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """By the way that the witness names."""
        profile = self._profile(str(witness["way"]))
        if profile is None:
            raise NotCertified("the exact profile", f"there is no way {witness['way']} to it")
        return profile.prove(epsilon, witness)

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """By the first way whose ends are close."""

        def solved(profile: Profile) -> tuple[Witness, Bound]:
            bound, witness = profile.epsilon(delta)
            return witness, bound

        witness, bound = self._best(solved, _width)
        return bound, witness

    def epsilon_beside(self, delta: Fraction, witness: Witness, x: float) -> tuple[Bound, Witness]:
        """By the way that the witness names, where its ends are close."""
        name = str(witness["way"])
        profile = self._profile(name) if name in dict(self.ways) else None
        if profile is None:
            raise NotCertified("the exact profile", f"there is no way {name} to it")
        bound, found = profile.epsilon_beside(delta, witness, x)
        if _width(bound) > self.wide:
            raise NotCertified("the exact profile", "its ends are further apart than those beside it")
        return bound, {**found, "way": name}

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """At each ε by the first way that succeeds there."""
        return self._each(epsilons, lambda profile, left: profile.deltas(left))

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """At each δ likewise."""
        return self._each(deltas, lambda profile, left: profile.epsilons(left))

    def _each(
        self, points: Sequence[Fraction], ask: Callable[[Profile, list[Fraction]], list[Answer | None]]
    ) -> list[Answer | None]:
        found: dict[Fraction, Answer | None] = dict.fromkeys(points)
        wide: dict[Fraction, Answer] = {}
        others = any(name not in (_PLAIN, _DEEP, _BOUNDED) for name, _ in self.ways)
        for name, profile in self._profiles():
            left = [x for x, value in found.items() if value is None]
            if not left or not effort.affords(_LITTLE):
                break
            if name == _DEEP:  # as the contour before, but for single points
                continue
            try:
                with effort.allowed((_FIRST if name == _PLAIN and others else _SHARE) * effort.left()):
                    answers = ask(profile, left)
            except NotCertified:
                continue
            for x, answer in zip(left, answers, strict=True):
                if answer is not None and profile.may_be_wide and _width(answer) > max(self.wide, FAIR):
                    wide[x] = min(answer, wide.get(x, answer), key=_width)
                else:
                    found[x] = answer
        return [wide.get(x) if found[x] is None else found[x] for x in points]

    def estimate(self, delta: Fraction) -> float:
        """The first estimate."""
        return self._best(lambda profile: ({}, profile.estimate(delta)), lambda _: 0.0)[1]

    def estimate_beside(self, delta: Fraction, other: Profile) -> float:
        """By the first way, if that was the other's."""
        name = self.ways[0][0]
        beside = other._built.get(name) if isinstance(other, Ways) else None
        own = None if beside is None else self._profile(name)
        if beside is not None and own is not None:
            with suppress(NotCertified):
                return own.estimate_beside(delta, beside)
        return self.estimate(delta)

    def _share(self, name: str, held: bool) -> float:
        """Of the work that is left, for a way's searches; ``held``: something is held back for a grid."""
        if name == _LONG and name == self.ways[0][0] != self.ways[-1][0]:
            return _SUMMED
        if name == self.ways[-1][0]:
            return 1.0
        return _BEFORE.get(name, 1.0) if held else _EACH

    def _enough(self, name: str, width: float) -> bool:
        """Whether an answer is narrow: a contour is very narrow, or has met losses that a window would cut off."""
        if width <= _NARROW or name != _PLAIN or "windowed" not in dict(self.ways):
            return width <= self.wide
        return width <= self.wide and self._profile("windowed") is None

    @staticmethod
    def _hopeless(name: str, found: Sequence[tuple[float, Witness, object]]) -> bool:
        """Whether a way is no better than another that has answered: a grid than a narrow one, and a deep search than
        the contour, which had seen the call."""
        if name == _DEEP:
            return any(witness["way"] == _PLAIN for _, witness, _ in found)
        return name == _LAST and bool(found) and min(found, key=_first)[0] <= _GRIDDED

    def _best(
        self, ask: Callable[[Profile], tuple[Witness, Answer]], width: Callable[[Answer], float]
    ) -> tuple[Witness, Answer]:
        """The first answer that is not wide; or the least wide of it and those of the next _MORE ways."""
        failure = NotCertified("the exact profile", "no part of it has a transform")
        found: list[tuple[float, Witness, Answer]] = []
        names = [name for name, _ in self.ways]
        counted = math.isfinite(effort.left())
        kept = _KEPT * effort.left() if counted and _LAST in names else 0.0
        for name, profile in self._profiles():
            if found and not effort.affords(_LITTLE):
                break
            if self._hopeless(name, found):
                continue
            if name != names[0] and kept and self._profile(_LAST) is None:  # the first answers mostly: it is not asked
                kept = 0.0
            least = min(_LEAST, kept)
            before = kept > 0 and _LAST in names[names.index(name) + 1 :]
            share = self._share(name, bool(kept)) if counted else 1.0
            with effort.proving():
                most = effort.left() - least * before
            try:
                with (
                    effort.allowed(most),
                    effort.allowed(share * (effort.left() - (kept - least) * before), searching=True),
                ):
                    witness, answer = ask(profile)
            except NotCertified as wrong:
                failure = wrong
                continue
            found.append((width(answer), {**witness, "way": name}, answer))
            if self._enough(name, found[-1][0]) or len(found) > _MORE:
                break
        if not found:
            raise failure
        _, witness, answer = min(found, key=_first)
        return witness, answer


def _first(one: tuple[float, Witness, object]) -> float:
    return one[0]


def _grid_later(ways: tuple[Way, ...]) -> tuple[Way, ...]:
    """The grid after all others but long sums."""
    return tuple(sorted(ways, key=lambda way: {_LAST: 1, _LONG: 2}.get(way[0], 0)))


def _width(value: object) -> float:
    """The relative width of an enclosure of a number that is not negative."""
    if isinstance(value, Bound):
        return 1 - value.lower / value.upper if 0 < value.upper < math.inf else 0.0
    assert isinstance(value, Ball)
    with precision(64):
        upper, radius = float(value.upper()), float(value.rad())
    return 2 * radius / upper if upper > 0 else 0.0
