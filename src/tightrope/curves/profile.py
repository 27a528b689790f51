"""Privacy profile: an upper bound on δ(ε), with the place at which it is proved (the witness)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from tightrope.curves.shared_proofs import shared_epsilons
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.real import ZERO, Real
from tightrope.numerics.search import Start, crossing

Witness = dict[str, Any]


class Profile(ABC):
    """δ as a function of ε, bounded from above; ``prove`` is a pure function of ε and the witness."""

    may_be_wide = False  # True: what is found may prove little, so that another way may be better
    first_step = 2.0**-51  # how close to a solution the first proof is tried, relatively

    @abstractmethod
    def find(self, epsilon: Fraction) -> Witness:
        """Where the best proof at this ε is to be found. Floats, may be sloppy."""

    @abstractmethod
    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The bound on δ at this ε, evaluated at the witness: a ball around that formula's value."""

    def find_below(self, epsilon: Fraction, level: Ball) -> Witness:  # noqa: ARG002 - the best proof will do
        """Where it is proved that δ is at most ``level``, if it is: no sharper than that."""
        return self.find(epsilon)

    def near(self, delta: Fraction) -> Start | None:  # noqa: ARG002 - no guess in general
        """An ε near that one, and the slope of ln δ there."""
        return None

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """The bound on δ at each of many ε, which may share their work; None where it was not found."""
        return [self._delta(x) for x in epsilons]

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """The least ε at each of many δ, likewise."""
        return [self._epsilon(delta) for delta in deltas]

    def _delta(self, epsilon: Fraction) -> Ball | None:
        try:
            return self.prove(epsilon, self.find(epsilon))
        except NotCertified:
            return None

    def _epsilon(self, delta: Fraction) -> Bound | None:
        try:
            return self.epsilon(delta)[0]
        except NotCertified:
            return None

    def estimate(self, delta: Fraction) -> float:
        """About that ε, for searches: the end of a proof where nothing quicker is known."""
        return self.epsilon(delta)[0].upper

    def estimate_beside(self, delta: Fraction, other: Profile) -> float:  # noqa: ARG002 - a search of its own will do
        """The same, where it was found just before for a law that hardly differs."""
        return self.estimate(delta)

    def meets(self, epsilon: Fraction, delta: Fraction, witness: Witness) -> bool:
        """Whether δ(ε) ≤ delta is proved at the witness."""
        value = self.prove(epsilon, witness)
        with precision(256):
            return bool(value <= ball(delta))

    def needs(self, epsilon: Fraction, delta: Fraction, witness: Witness) -> bool:
        """Whether it is proved at the witness that no smaller ε than this one brings δ to ``delta``."""
        value = self.prove(epsilon, witness)
        with precision(256):
            return bool(value > ball(delta))

    def at_hand(self, witness: Witness) -> bool:  # noqa: ARG002 - not in general
        """Whether the proof of this witness is remembered, so that its value at another ε costs next to nothing."""
        return False

    def aiming(self, width: float) -> Profile:  # noqa: ARG002 - one way gives what it gives
        """The same, where ends so far apart, relatively, are sought: no further way is tried for closer ones."""
        return self

    def misses(self, delta: Fraction, epsilon: Fraction) -> bool:  # noqa: ARG002 - a search costs as much as a solution
        """Whether it is quickly seen that δ(ε) exceeds delta."""
        return False

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """The least ε with δ(ε) ≤ delta, enclosed, and its witness."""

        def estimate(x: float) -> float:
            at = Fraction(x)
            return log_estimate(lambda: self.prove(at, self.find(at)))

        start = self.near(delta)
        bound = crossing(estimate, lambda x: self.prove(x, self.find(x)), delta, start, self.first_step)
        return bound, self.find(Fraction(bound.upper)) if math.isfinite(bound.upper) else {}


    def epsilon_beside(self, delta: Fraction, witness: Witness, x: float) -> tuple[Bound, Witness]:  # noqa: ARG002
        """The same from the witness of a law that hardly differs, whose ε was x: no search of its own."""
        raise NotCertified("an ε beside another", "its proof cannot be carried over")


def log_estimate(evaluate: Callable[[], Ball]) -> float:
    """ln of a non-negative number as a float; −∞ when it cannot be told from 0."""
    value = evaluate()
    middle = value.mid()
    if not middle > 0:
        return -math.inf
    with precision(64):
        return float(middle.log())


@dataclass(frozen=True, eq=False)
class DirectProfile(Profile):
    """A profile given by a formula that needs no search; both directions are evaluated and the larger is kept."""

    calls: tuple[Callable[[Ball], Ball], ...]
    exact: bool = True  # False: the balls do not shrink with precision
    leak: Real = ZERO  # the mass at +∞ of the worse direction: no ε brings δ below it
    guess: Callable[[Fraction], Start | None] | None = None
    top: Real | None = None  # from this ε on, only the leak is left, in every direction (where that is known)

    def near(self, delta: Fraction) -> Start | None:
        """The guess, where one was given."""
        return None if self.guess is None else self.guess(delta)

    @property
    def may_be_wide(self) -> bool:  # type: ignore[override]  # likewise
        """A certified grid may be."""
        return not self.exact

    @property
    def first_step(self) -> float:  # type: ignore[override]  # depends on how exact the formula is
        """A certified grid has a gap of its own."""
        return 2.0**-51 if self.exact else 1e-7

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Infinite when the leak alone exceeds delta; the largest finite loss when it equals it."""
        if self.top is not None and self.leak.rational == delta:  # no ball can tell a number from itself
            return Bound.around(sharp(self.top.ball), 0.0, math.inf), {}
        leaks = sharp(self.leak.ball)
        with precision(160):
            if leaks > ball(delta):
                return Bound(math.inf, math.inf), {}
        return super().epsilon(delta)

    def meets(self, epsilon: Fraction, delta: Fraction, witness: Witness) -> bool:
        """Also where delta is exactly what is left beyond the largest finite loss."""
        if self.top is None or self.leak.rational != delta:
            return super().meets(epsilon, delta, witness)
        if self.top.rational is not None:
            return epsilon >= self.top.rational
        top = sharp(self.top.ball)
        with precision(256):
            return bool(ball(epsilon) >= top)

    def needs(self, epsilon: Fraction, delta: Fraction, witness: Witness) -> bool:
        """Likewise: below the largest finite loss more than the leak is left."""
        if self.top is None or self.leak.rational != delta:
            return super().needs(epsilon, delta, witness)
        if self.top.rational is not None:
            return epsilon <= self.top.rational
        top = sharp(self.top.ball)
        with precision(256):
            return bool(ball(epsilon) <= top)

    def misses(self, delta: Fraction, epsilon: Fraction) -> bool:
        """One value of the formula tells."""
        with precision(128):
            return any(call(ball(epsilon)) > ball(delta) for call in self.calls)

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """Every value of the formula helps to find the next ones."""
        return shared_epsilons(self, deltas, 1e-14 if self.exact else 1e-9)

    def find(self, epsilon: Fraction) -> Witness:  # noqa: ARG002 - nothing to search for
        """No witness is needed."""
        return {}

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:  # noqa: ARG002 - the formula is the proof
        """The larger of the directions; from the largest finite loss on the leak, which no ball could tell."""
        if self.top is not None and self.top.rational is not None and epsilon >= self.top.rational:
            return sharp(self.leak.ball)
        values = [self._value(call, epsilon) for call in self.calls]
        with precision(256):
            return within_unit(reduce(Ball.max, values))

    def _value(self, call: Callable[[Ball], Ball], epsilon: Fraction) -> Ball:
        if not self.exact:
            with precision(128):
                return call(ball(epsilon))
        return sharp(lambda: call(ball(epsilon)), bits=72, start=128, limit=4500)


def within_unit(value: Ball) -> Ball:
    """A probability: what lies outside [0, 1] is rounding, or a formula that proves nothing."""
    with precision(256):
        return Ball(0).union(Ball(1)) if value.is_nan() else value.max(Ball(0)).min(Ball(1))


@dataclass(frozen=True, eq=False)
class LeakyProfile(Profile):
    """δ₀ + (1 − δ₀)·δ(ε): with chance δ₀ everything may be lost, otherwise the base profile holds."""

    base: Profile
    leak: Real

    def find(self, epsilon: Fraction) -> Witness:
        """The base's witness."""
        return self.base.find(epsilon)

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The base's proof, with the leak on top."""
        inner = self.base.prove(epsilon, witness)
        with precision(160):
            leak = self.leak.ball()
            return within_unit(leak + (1 - leak) * inner)

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Infinite when the leak alone exceeds delta; else the base's at what is left of delta."""
        leak = self.leak.rational
        if leak is not None and leak < delta:
            return self.base.epsilon((delta - leak) / (1 - leak))
        leaks = sharp(self.leak.ball)
        with precision(160):
            if leak == delta or leaks >= ball(delta):
                return Bound(0.0 if not leaks > ball(delta) else math.inf, math.inf), {}
        return super().epsilon(delta)

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """The base's, which may share their work."""
        found = self.base.deltas(epsilons)
        with precision(160):
            leak = self.leak.ball()
            return [None if inner is None else within_unit(leak + (1 - leak) * inner) for inner in found]

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """The base's at what is left of each, where that is a rational."""
        leak = self.leak.rational
        if leak is None:
            return super().epsilons(deltas)
        above = [delta for delta in deltas if delta > leak]
        known = dict(zip(above, self.base.epsilons([(delta - leak) / (1 - leak) for delta in above]), strict=True))
        return [known[delta] if delta > leak else self._epsilon(delta) for delta in deltas]
