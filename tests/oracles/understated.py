"""A theorem whose conclusion is one part in a hundred too small: what an oracle must notice."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pair import Pair
from tightrope.curves.profile import Profile
from tightrope.curves.renyi import Renyi
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.bound import Bound
from tightrope.numerics.real import Real
from tightrope.numerics.sums.finite import scattered
from tightrope.theorems import REGISTRY

LESS = Fraction(99, 100)


@dataclass(frozen=True, eq=False)
class LessRenyi(Renyi):
    base: Renyi

    def divergence(self, order):
        return self.base.divergence(order) * ball(LESS)


@dataclass(frozen=True, eq=False)
class LessPair(Pair):
    base: Pair

    def call(self, x):
        return self.base.call(x) * ball(LESS)

    def tail(self, x):
        return self.base.tail(x) * ball(LESS)

    def cumulant(self, s):
        return self.base.cumulant(s) * ball(LESS)

    def mean(self):
        return self.base.mean() * ball(LESS)

    def largest(self):
        return self.base.largest() * LESS


@dataclass(frozen=True, eq=False)
class LessProfile(Profile):
    base: Profile

    def find(self, epsilon):
        return self.base.find(epsilon)

    def prove(self, epsilon, witness):
        return self.base.prove(epsilon, witness) * ball(LESS)


def less_pair(pair):
    if isinstance(pair, NormalPair):
        return NormalPair(pair.mu_squared * LESS)
    if isinstance(pair, FinitePair) and pair.law.infinite.rational == 0:
        law = scattered([v * LESS for v in pair.law.values], pair.law.masses)
        return FinitePair(("less", pair.key), law)
    return LessPair(pair)


def less(conclusion):
    """The conclusion, one part in a hundred too small."""
    match conclusion:
        case Loss():
            parts = [tuple((less_pair(p), n) for p, n in side) for side in conclusion.directions]
            return Loss(parts[0], parts[1] if conclusion.add is not None else None)
        case Renyi():
            return LessRenyi(conclusion)
        case Profile():
            return LessProfile(conclusion)
        case Ball():
            return conclusion * ball(LESS)
        case Bound():
            return Bound(conclusion.lower * float(LESS), conclusion.upper * float(LESS))
        case _:
            numbers = {k: v * LESS for k, v in vars(conclusion).items() if isinstance(v, Real)}
            return replace(conclusion, **numbers)


@contextmanager
def understated(name: str):
    stated = REGISTRY[name]
    before = stated.apply
    object.__setattr__(stated, "apply", lambda *args: less(before(*args)))
    try:
        yield
    finally:
        object.__setattr__(stated, "apply", before)
