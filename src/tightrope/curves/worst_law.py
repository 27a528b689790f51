"""The profile of whichever law costs most: a group of records may change in several ways, and each has a law."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import TypeVar

from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.loss import Loss
from tightrope.curves.profile import Profile, Witness
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.bound import Bound
from tightrope.theorems import Source, theorem

__all__ = ["WorstProfile", "group_has_profile"]

_BESIDE, _FIRST = 1.2e5, 0.5  # units of work for each other law, but of what is left so much for the first

Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class WorstProfile(Profile):
    """The largest of several profiles at each ε; the first is thought to be it."""

    profiles: tuple[Profile, ...]

    @property
    def may_be_wide(self) -> bool:  # type: ignore[override]  # a property here
        """As one of them."""
        return any(profile.may_be_wide for profile in self.profiles)

    def aiming(self, width: float) -> WorstProfile:
        """Of each."""
        return replace(self, profiles=tuple(profile.aiming(width) for profile in self.profiles))

    def find(self, epsilon: Fraction) -> Witness:
        """A sharp witness of the first, and of others if it is not seen that they are less."""
        with effort.allowed(self._first()):
            found = [self.profiles[0].find(epsilon)]
            value = self.profiles[0].prove(epsilon, found[0])
        for i, profile in self._others():
            with effort.allowed(effort.left() / (len(self.profiles) - i)):
                found.append(self._below(profile, epsilon, value.lower()))
        return {"laws": found}

    def _first(self) -> float:
        """The work for the law that is thought to cost most: that others cost less is mostly seen on small grids."""
        most = effort.left()
        return max(most - _BESIDE * (len(self.profiles) - 1), _FIRST * most) if math.isfinite(most) else most

    def _others(self) -> list[tuple[int, Profile]]:
        return list(enumerate(self.profiles))[1:]

    @staticmethod
    def _below(profile: Profile, epsilon: Fraction, level: Ball) -> Witness:
        """A witness that δ is at most ``level``, or a sharp one."""
        witness = profile.find_below(epsilon, level)
        if not profile.prove(epsilon, witness) <= level:
            with suppress(NotCertified):  # then that is all there is
                return profile.find(epsilon)
        return witness

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The largest, each at its witness."""
        found = [profile.prove(epsilon, one) for profile, one in zip(self.profiles, witness["laws"], strict=True)]
        with precision(256):
            return reduce(Ball.max, found)

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """The first's; others are solved where it is not seen that they need less."""
        with effort.allowed(self._first()):
            bound, first = self.profiles[0].epsilon(delta)
        if not math.isfinite(bound.upper):
            return bound, {}
        found = {0: first}
        for i, profile in self._others():
            at = Fraction(bound.upper)
            with effort.allowed(effort.left() / (len(self.profiles) - i)):
                found[i] = profile.find_below(at, ball(delta))
                if profile.meets(at, delta, found[i]):
                    continue
                other, found[i] = profile.epsilon(delta)
            if other.upper > bound.upper:  # witnesses of a smaller ε need not prove what is wanted here
                found = {i: found[i]}
            bound = Bound(max(bound.lower, other.lower), max(bound.upper, other.upper))
        at = Fraction(bound.upper)
        laws = [found[i] if i in found else one.find_below(at, ball(delta)) for i, one in enumerate(self.profiles)]
        return bound, {"laws": laws}

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """Where all are known."""
        found = self._each(lambda profile: profile.deltas(epsilons))
        return [_largest(column) for column in zip(*found, strict=True)]

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """Likewise."""
        found = self._each(lambda profile: profile.epsilons(deltas))
        return [_furthest(column) for column in zip(*found, strict=True)]

    def _each(self, ask: Callable[[Profile], list[Answer]]) -> list[list[Answer]]:
        """What each says, for its share of the work."""
        found = []
        for i, profile in enumerate(self.profiles):
            with effort.allowed(effort.left() / (len(self.profiles) - i)):
                found.append(ask(profile))
        return found

    def estimate(self, delta: Fraction) -> float:
        """The first's."""
        return self.profiles[0].estimate(delta)


def _largest(values: Sequence[Ball | None]) -> Ball | None:
    known = [value for value in values if value is not None]
    with precision(256):
        return reduce(Ball.max, known) if len(known) == len(values) else None


def _furthest(bounds: Sequence[Bound | None]) -> Bound | None:
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds):
        return None
    return Bound(max(bound.lower for bound in known), max(bound.upper for bound in known))


@theorem(
    of=Loss,
    gives=Profile,
    kind="equal",
    role="profile",
    relation="add-remove",
    source=Source("tightrope", "groups of sampled records"),
)
def group_has_profile(laws: Sequence[Loss]) -> Profile:
    """Of k records that come or go, a come and k − a go, in all steps alike: δ(ε) is the largest over a."""
    return WorstProfile(tuple(loss_has_profile(law) for law in laws))
