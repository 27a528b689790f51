"""A mixture of pairs whose label is revealed: with chance share_j the pair is the j-th, and one sees which."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction

from tightrope.curves.pair import Pair
from tightrope.numerics.balls import Ball
from tightrope.numerics.real import ZERO, Real, largest


@dataclass(frozen=True)
class Revealed(Pair):
    """Shares and their symmetric pairs; ``leak`` is the share of labels that reveal all, the rest reveal nothing."""

    key: Hashable
    parts: tuple[tuple[Real, Pair], ...] = field(compare=False)
    leak: Real = field(default=ZERO, compare=False)
    words = "one of several laws, by a label that is seen"

    @property
    def decays(self) -> bool:  # type: ignore[override]  # a property here
        """If some part does."""
        return any(pair.decays for _, pair in self.parts)

    def _sum(self, evaluate: Callable[[Pair], Ball]) -> Ball:
        return sum((share.ball() * evaluate(pair) for share, pair in self.parts), Ball(0))

    def call(self, x: Ball) -> Ball:
        """The same mixture of profiles, for x ≥ 0; a label that reveals nothing adds (1 − e^x)₊ below."""
        rest = 1 - self.leak.ball() - self._sum(lambda _: Ball(1))
        return self.leak.ball() + self._sum(lambda pair: pair.call(x)) + rest * (-x.expm1()).max(Ball(0))

    def tail(self, x: Ball) -> Ball:
        """The same mixture of tails, for x ≥ 0."""
        return self.leak.ball() + self._sum(lambda pair: pair.tail(x))

    def cumulant(self, s: Fraction) -> Ball | None:  # noqa: ARG002 - only sampled mixtures are asked
        """Not used."""
        return None

    def mean(self) -> None:
        """Not used."""
        return

    def largest(self) -> Real:
        """The largest of the parts."""
        return largest([pair.largest() for _, pair in self.parts])

    def infinite(self) -> Real:
        """The labels that reveal all."""
        return self.leak

    def glued_cumulant(self, rate: Fraction, s: Fraction) -> Ball | None:
        """Moments mix: M − 1 = Σ share·(M_j − 1), where no label reveals all."""
        total = Ball(0)
        for share, pair in self.parts:
            one = pair.glued_cumulant(rate, s)
            if one is None:
                return None
            total += share.ball() * one.expm1()
        return total.log1p()
