"""Clones: the pair that dominates a shuffled local randomizer.

Every other user's report is, with some chance, a clone of the first user's: as likely a report on either of the two
data in question. With C clones, A of them like the first datum, the shuffler shows (A + Δ, C − A + 1 − Δ) or the mirror
image, where Δ tells which report the user made. The loss of counts (a, b) is ln((e^{ε₀}a + b)/(a + e^{ε₀}b)), so that

δ(ε) = w·D(1 + e^ε)·E[(S_M/M − r)₊],  D = tanh(ε₀/2), r = tanh(ε/2)/D,

with M − 1 = C, S_m the sum of m fair signs, and w the chance that the user's report tells the two data apart at all.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

from tightrope.curves.engines.gridded_pair import GridPoints, gridded_call, gridded_law
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.curves.pair import Call, Pair
from tightrope.curves.pure import Pure
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.real import Real, real
from tightrope.numerics.sums.random_signs import LISTED, RandomSigns
from tightrope.numerics.transforms.transform import Transform
from tightrope.theorems import Source, theorem

LARGEST_EPSILON = 200  # beyond, not one in 10^80 reports is a clone
_BITS, _FINE = 128, 80
_LISTED = 600  # on the grid, longer sums are integrated


@dataclass(frozen=True)
class Clones:
    """``signs``: how many reports are as likely on either datum; ``weight``: the chance that the user's own is one."""

    signs: RandomSigns
    weight: Real

    def spread(self, epsilon: float) -> float:
        """About the standard deviation of the loss."""
        return 2 * math.tanh(epsilon / 2) / math.sqrt(max(self.signs.draws * float(self.signs.chance.ball().mid()), 1))


def blanket(users: int, chance: Real, weight: Real) -> Clones:
    """Clones among the other users, each with this chance."""
    return Clones(RandomSigns(users, chance), weight)


@dataclass(frozen=True)
class ClonesPair(Pair):
    """The best of several decompositions into clones, and of the plain report, at each ε. Equal keys are merged."""

    key: Hashable
    epsilon: Real = field(compare=False)
    clones: tuple[Clones, ...] = field(compare=False)
    base: Pair | None = field(default=None, compare=False)
    words = "that of a report hidden among its clones"
    effort = 2
    composes = False
    decays = False
    measured = True

    def call(self, x: Ball) -> Ball:
        """δ(x); below 0 by duality, because exchanging the two data exchanges the two counts.

        At one precision whatever is asked: the sums are relatively exact, and the integral has a gap of its own.
        """
        with precision(_BITS):
            return _remembered(self, x.man_exp()) if x.is_exact() else self.profile(x, LISTED)

    def profile(self, x: Ball, listed: int) -> Ball:
        """δ(x), where sums of more than ``listed`` terms are integrated."""
        if x >= 0:
            return self._above(x, listed)
        if x < 0:
            return -x.expm1() + x.exp() * self._above(-x, listed)
        below = -x.expm1() + x.exp() * self._above((-x).nonnegative_part(), listed)
        return self._above(x.nonnegative_part(), listed).union(below)

    def _above(self, x: Ball, listed: int) -> Ball:
        with precision(_BITS + _FINE):  # so fine that one end of the ball tells the other
            size = (self.epsilon.ball() / 2).tanh()
            r = (x / 2).tanh() / size
        found = [c.weight.ball() * size * (1 + x.exp()) * c.signs.excess(r, listed) for c in self.clones]
        if self.base is not None:
            found.append(self.base.call(x))
        return reduce(Ball.min, found)

    def tail(self, x: Ball) -> Ball:
        """That of a law on a grid, which dominates."""
        return _on_grid(self).tail(x)

    def cumulant(self, s: Fraction) -> Ball:
        """That of a law on a grid, which dominates."""
        return _on_grid(self).cumulant(s)

    def mean(self) -> None:
        """No formula is used."""
        return

    def largest(self) -> Real:
        """ε₀: all reports may lie where the loss is largest."""
        return self.epsilon

    def repeated(self, copies: int) -> Call:
        """For several copies, a law on a grid, which dominates."""
        return self.call if copies == 1 else gridded_call(_points(self), copies)

    def transform(self) -> Transform | None:
        """That of a law on a grid, which dominates."""
        return _on_grid(self).transform()


@lru_cache(maxsize=512)
def _remembered(pair: ClonesPair, exact: tuple[Any, Any]) -> Ball:
    mantissa, exponent = exact
    return pair.profile(Ball(mantissa) * Ball(2) ** int(exponent), LISTED)


@lru_cache(maxsize=64)
def _points(pair: ClonesPair) -> GridPoints:
    with precision(_BITS):
        top = float(pair.epsilon.ball().mid())
        spread = min(min(c.spread(top) for c in pair.clones), top)
        return GridPoints.symmetric(spread, top, lambda x: pair.profile(ball(x), _LISTED))


@lru_cache(maxsize=64)
def _on_grid(pair: ClonesPair) -> FinitePair:
    return FinitePair(("on a grid", pair.key), gridded_law(_points(pair)))


@theorem(
    of=Pure,
    gives=Loss,
    kind="upper",
    role="sampling",
    relation="replace",
    source=Source("feldman2021hiding", "Sec. 3: reduction to clones"),
    hypotheses=("every user runs an ε₀-DP randomizer once",),
)
def pure_is_shuffled(c: Pure, users: int, base: Pair | None) -> Loss | None:
    """Among n shuffled reports of an ε₀-DP randomizer each of the others is a clone with chance e^{−ε₀}: C ~ Bin(n−1,
    e^{−ε₀}), A ~ Bin(C, ½), and (A + Δ, C − A + 1 − Δ) against its mirror image dominates. Shuffling never hurts, so
    the law of one report does too."""
    if not _amplified(c.epsilon):
        return None
    general = blanket(users, clone_chance(c.epsilon), real(1))
    return Loss(((ClonesPair(("clones", _name(c.epsilon), users, base), c.epsilon, (general,), base), 1),))


def one_shuffle(loss: Loss) -> bool:
    """Whether this is a single round that is bounded by its plain report as well: then no other route is better."""
    pairs = [(pair, n) for parts in loss.directions for pair, n in parts]
    return len(pairs) == 1 and all(isinstance(p, ClonesPair) and p.base is not None and n == 1 for p, n in pairs)


def clone_chance(epsilon: Real) -> Real:
    """e^{−ε₀}."""
    return Real(None, lambda: (-epsilon.ball()).exp())


def _amplified(epsilon: Real) -> bool:
    if epsilon.infinite or epsilon.rational == 0:
        return False
    with precision(_BITS):
        return bool(epsilon.ball() < LARGEST_EPSILON and epsilon.ball() > 0)


def _name(epsilon: Real) -> Hashable:
    """Equal rationals are one number; of others only the same object is."""
    return epsilon if epsilon.rational is None else epsilon.rational


@theorem(
    of=Pure,
    gives=Pure,
    kind="equal",
    role="sampling",
    relation="replace",
    source=Source("tightrope", "shuffled reports"),
)
def shuffling_keeps_pure(c: Pure) -> Pure:
    """Shuffling does not change the pure ε: all n reports may lie where one report's loss is largest."""
    return c
