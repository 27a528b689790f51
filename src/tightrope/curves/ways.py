"""Several ways to evaluate one profile: the first that succeeds answers, unless its proof is wide, and the
witness says which it was."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeVar

from tightrope.curves.profile import Profile, Witness
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.bound import Bound

_WIDE, _NARROW = 1e-6, 1e-10  # relatively: what is wider, another way is tried for, too
_ROUGH = 1e-4
_MORE = 2

Answer = TypeVar("Answer")
Way = tuple[str, Callable[[], Profile | None]]


@dataclass(frozen=True, eq=False)
class Ways(Profile):
    """Profiles of one loss by name, the quickest first; each is built when it is wanted, and None if it cannot be."""

    ways: tuple[Way, ...]
    wide: float = _WIDE
    _built: dict[str, Profile | None] = field(default_factory=dict)

    def _profile(self, name: str) -> Profile | None:
        if name not in self._built:
            try:
                self._built[name] = dict(self.ways)[name]()
            except NotCertified:
                self._built[name] = None
        return self._built[name]

    def _profiles(self) -> Iterator[tuple[str, Profile]]:
        for name, _ in self.ways:
            profile = self._profile(name)
            if profile is not None:
                yield name, profile

    def find(self, epsilon: Fraction) -> Witness:
        """The witness of the first way whose proof is not wide."""

        def proved(profile: Profile) -> tuple[Witness, float]:
            witness = profile.find(epsilon)
            return witness, _width(profile.prove(epsilon, witness)) if profile.may_be_wide else 0.0

        return self._best(proved, lambda width: width)[0]

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

        witness, bound = self._best(solved, lambda one: 1 - one.lower / one.upper if 0 < one.upper < math.inf else 0.0)
        return bound, witness

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
        for _, profile in self._profiles():
            left = [x for x, value in found.items() if value is None]
            for x, answer in zip(left, ask(profile, left) if left else [], strict=True):
                if isinstance(answer, Ball) and profile.may_be_wide and _width(answer) > self.wide:
                    wide.setdefault(x, answer)
                else:
                    found[x] = answer
        return [wide.get(x) if found[x] is None else found[x] for x in points]

    def estimate(self, delta: Fraction) -> float:
        """The first estimate."""
        return self._best(lambda profile: ({}, profile.estimate(delta)), lambda _: 0.0)[1]

    def _enough(self, name: str, width: float) -> bool:
        """Whether an answer is narrow: a contour is very narrow, or has met losses that a window would cut off."""
        if width <= _NARROW or name != "contour" or "windowed" not in dict(self.ways):
            return width <= self.wide
        return width <= self.wide and self._profile("windowed") is None

    def _best(
        self, ask: Callable[[Profile], tuple[Witness, Answer]], width: Callable[[Answer], float]
    ) -> tuple[Witness, Answer]:
        """The first answer that is not wide; or the least wide of it and those of the next _MORE ways."""
        failure = NotCertified("the exact profile", "no part of it has a transform")
        found: list[tuple[float, Witness, Answer]] = []
        for name, profile in self._profiles():
            try:
                witness, answer = ask(profile)
            except NotCertified as wrong:
                failure = wrong
                continue
            found.append((width(answer), {**witness, "way": name}, answer))
            if self._enough(name, found[-1][0]) or len(found) > _MORE:
                break
        if not found:
            raise failure
        _, witness, answer = min(found, key=lambda one: one[0])
        return witness, answer


def roughly(profile: Profile) -> Profile:
    """The same, where an end that is a little off will do."""
    return replace(profile, wide=_ROUGH) if isinstance(profile, Ways) else profile


def _width(value: Ball) -> float:
    """The relative width of an enclosure of a number that is not negative."""
    with precision(64):
        middle, radius = float(value.mid()), float(value.rad())
    return radius / middle if middle > 0 else math.inf if radius > 0 else 0.0
