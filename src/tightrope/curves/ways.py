"""Several ways to evaluate one profile: the first that succeeds answers, and the witness says which it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from tightrope.curves.profile import Profile, Witness
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball
from tightrope.numerics.bound import Bound

Answer = TypeVar("Answer")
Way = tuple[str, Callable[[], Profile | None]]


@dataclass(frozen=True, eq=False)
class Ways(Profile):
    """Profiles of one loss by name, the quickest first; each is built when it is wanted, and None if it cannot be."""

    ways: tuple[Way, ...]
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
        """The witness of the first way that finds one."""
        found, _ = self._first(lambda profile: (profile.find(epsilon), None))
        return found

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """By the way that the witness names."""
        profile = self._profile(str(witness["way"]))
        if profile is None:
            raise NotCertified("the exact profile", f"there is no way {witness['way']} to it")
        return profile.prove(epsilon, witness)

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """By the first way that succeeds."""

        def solved(profile: Profile) -> tuple[Witness, Bound]:
            bound, witness = profile.epsilon(delta)
            return witness, bound

        witness, bound = self._first(solved)
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
        for _, profile in self._profiles():
            left = [x for x, value in found.items() if value is None]
            found.update(zip(left, ask(profile, left) if left else [], strict=True))
        return [found[x] for x in points]

    def estimate(self, delta: Fraction) -> float:
        """The first estimate."""
        return self._first(lambda profile: ({}, profile.estimate(delta)))[1]

    def _first(self, ask: Callable[[Profile], tuple[Witness, Answer]]) -> tuple[Witness, Answer]:
        failure = NotCertified("the exact profile", "no part of it has a transform")
        for name, profile in self._profiles():
            try:
                witness, answer = ask(profile)
                return {**witness, "way": name}, answer
            except NotCertified as wrong:
                failure = wrong
        raise failure
