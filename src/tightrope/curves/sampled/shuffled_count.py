"""What shuffled reports cost at least: count those on which the two data differ most."""

from __future__ import annotations

from functools import partial
from math import comb

from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.curves.sampled.poisson import single
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.sums.counted_reports import CountedReports
from tightrope.numerics.sums.finite import FiniteLaw, scattered
from tightrope.theorems import Source, theorem

_ONE_ROUND, _MORE_ROUNDS = 400, 128  # cells
_LISTED, _QUICK = 200_000, 2_000  # outcomes of all rounds: up to the first they may be listed, up to the second quickly


@theorem(
    of=Loss,
    gives=Loss,
    kind="lower",
    role="sampling",
    relation="replace",
    source=Source("tightrope", "shuffled reports"),
    hypotheses=("two data attain the base's law",),
)
def loss_attained_by_shuffling(c: Loss, users: int, rounds: int = 1) -> Loss | None:
    """If all others hold the second datum, the number of reports with a positive loss is Bin(n−1, o) + Bernoulli(t)
    against Bin(n, o), where t = P[L > 0] and o is the second datum's chance of the same. It is enough to know about
    where it lies."""
    found = single(c)
    if found is None:
        return None
    pair = found[0]

    def other() -> Ball:
        return pair.tail(Ball(0)) - pair.call(Ball(0))  # Q[L > 0], since δ(0) = P[L > 0] − Q[L > 0]

    with precision(64):
        if not (other() > 0 and pair.tail(Ball(0)) < 1 and pair.call(Ball(0)) > 0):
            return None  # nothing to count, or an event that is certain
    counted = _counted(users, Real(None, lambda: pair.tail(Ball(0))), Real(None, other), rounds)
    key = ("counted reports", pair, users, counted.most)
    one, two = (FinitePair((*key, turned), _law(counted, turned)) for turned in (False, True))
    return Loss(((one, 1),), ((two, 1),))


def _counted(users: int, hit: Real, other: Real, rounds: int) -> CountedReports:
    """In as many cells as keep the rounds quick: few outcomes are listed, very many integrated."""
    counted = CountedReports(users, hit, other, _ONE_ROUND if rounds == 1 else _MORE_ROUNDS)
    cells = len(counted.ends)
    if rounds == 1 or not _QUICK < comb(cells + rounds - 1, rounds) <= _LISTED:
        return counted
    fewer = max(i for i in range(2, cells) if i == 2 or comb(i + rounds - 1, rounds) <= _QUICK)
    return CountedReports(users, hit, other, fewer)


def _law(counted: CountedReports, turned: bool) -> FiniteLaw:
    """The loss of that user against the others, or (``turned``) of the others against that user."""

    def mass(cell: int) -> Ball:
        return counted.masses()[cell][turned]

    def loss(cell: int) -> Ball:
        return (mass(cell) / counted.masses()[cell][not turned]).log()

    cells = range(len(counted.ends))
    return scattered([Real(None, partial(loss, i)) for i in cells], [Real(None, partial(mass, i)) for i in cells])
