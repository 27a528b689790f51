"""What shuffled reports cost at least: count those on which the two data differ most."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tightrope.curves.loss import Loss
from tightrope.curves.pair import Call, Pair
from tightrope.curves.sampled.poisson import single
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.sums.counted_reports import CountedReports
from tightrope.theorems import Source, theorem


@dataclass(frozen=True)
class CountPair(Pair):
    """The number of reports in an event, bounded from below at each ε: only for lower bounds."""

    base: Pair
    users: int
    reverse: bool
    counted: CountedReports = field(compare=False)
    words = "at least that of a count of reports"

    def call(self, x: Ball) -> Ball:
        """Not above δ(x)."""
        return self.counted.below(x) if self.reverse else self.counted.above(x)

    def tail(self, x: Ball) -> Ball:
        """P[L > x] ≥ δ(x)."""
        return self.call(x)

    def cumulant(self, s: Fraction) -> None:  # noqa: ARG002 - not used for lower bounds
        """No formula is used."""
        return

    def mean(self) -> None:
        """No formula is used."""
        return

    def repeated(self, copies: int) -> Call:  # noqa: ARG002 - see below
        """Several copies cost at least what one does."""
        return self.call

    def largest(self) -> Real:
        """At most the base's."""
        return self.base.largest()


@theorem(
    of=Loss,
    gives=Loss,
    kind="lower",
    role="sampling",
    relation="replace",
    source=Source("tightrope", "shuffled reports"),
    hypotheses=("two data attain the base's law",),
)
def loss_attained_by_shuffling(c: Loss, users: int) -> Loss | None:
    """If all others hold the second datum, the number of reports with a positive loss is Bin(n−1, o) + Bernoulli(t)
    against Bin(n, o), where t = P[L > 0] and o is the second datum's chance of the same."""
    found = single(c)
    if found is None:
        return None
    pair = found[0]

    def other() -> Ball:
        return pair.tail(Ball(0)) - pair.call(Ball(0))  # Q[L > 0], since δ(0) = P[L > 0] − Q[L > 0]

    with precision(64):
        if not (other() > 0 and pair.tail(Ball(0)) < 1 and pair.call(Ball(0)) > 0):
            return None  # nothing to count, or an event that is certain
    counted = CountedReports(users, Real(None, lambda: pair.tail(Ball(0))), Real(None, other))
    return Loss(((CountPair(pair, users, False, counted), 1),), ((CountPair(pair, users, True, counted), 1),))
