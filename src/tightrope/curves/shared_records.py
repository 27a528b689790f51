"""Runs among which the records are shared out: what is known of the base holds, and what the runs cost at least."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from math import floor
from statistics import NormalDist
from typing import Any

from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pure import Pure
from tightrope.curves.renyi import Renyi
from tightrope.curves.sampled.poisson import single
from tightrope.numerics.balls import INFINITY, Ball, ball, precision
from tightrope.numerics.largest_answer import LargestAnswer
from tightrope.numerics.moments.allocated import allocation_cumulant
from tightrope.numerics.real import Real
from tightrope.numerics.sums.finite import FiniteLaw, scattered
from tightrope.theorems import Source, theorem

THRESHOLDS, CELLS = 24, 256
MANY, KEPT = 1000, 3  # epochs from which on only so many cuts are tried
FAR = 72  # more cells of a quarter, for a very small δ
MOST_ORDERS = 64  # whole orders of the moment formula, a power of a polynomial of that degree


@theorem(
    of=Loss,
    gives=Loss,
    kind="upper",
    role="sampling",
    source=Source("tightrope", "records used once"),
    hypotheses=("which run a record takes part in does not depend on the data",),
)
def record_meets_one_run(c: Any) -> Any:
    """Of all runs the record takes part in one. Given which, the earlier runs do not see it and the later ones see no
    more of it than that run's answer: the guarantee of a single run holds, and not knowing which only helps."""
    return c


@theorem(
    of=Pure, gives=Pure, kind="equal", role="sampling", relation="add-remove", source=Source("tightrope", "allocation")
)
def allocation_keeps_pure(c: Pure) -> Pure:
    """Random allocation does not change the pure ε: every run may answer where its loss is largest."""
    return c


class AllocatedRenyi(Renyi):
    """The record takes part in one of ``steps`` runs; both directions, from the base's Rényi curve."""

    def __init__(self, base: Renyi, steps: int) -> None:
        self.base, self.steps = base, steps

    @property
    def effort(self) -> int:
        """Each value is a power of a polynomial."""
        return 2

    @property
    def top(self) -> Fraction:
        """The last whole order that is summed."""
        known = MOST_ORDERS if self.base.top is None else min(floor(self.base.top), MOST_ORDERS)
        return Fraction(max(known, 2))

    def divergence(self, order: Fraction) -> Ball:
        """The worse of removing, linear in K between whole orders, and adding, at most D_{1+(α−1)/t} of the base."""
        if order > self.top:
            return INFINITY
        adding = self.base.divergence(1 + (order - 1) / self.steps)
        return self._removing(order).max(adding).min(self.base.divergence(order))

    def _removing(self, order: Fraction) -> Ball:
        below = floor(order)
        if order == below:
            return self._cumulant(below) / (below - 1)
        share = ball(order - below)
        low = Ball(0) if below == 1 else self._cumulant(below)
        return ((1 - share) * low + share * self._cumulant(below + 1)) / ball(order - 1)

    def _cumulant(self, order: int) -> Ball:
        return allocation_cumulant(self.steps, order, lambda k: self.base.divergence(Fraction(k)) * (k - 1))


@theorem(
    of=Renyi,
    gives=Renyi,
    kind="upper",
    role="sampling",
    relation="add-remove",
    source=Source("feldman2025allocation", "direct analysis; docs/theorems.md"),
)
def renyi_of_allocation(c: Renyi, steps: int) -> Renyi:
    """If (P, Q) dominates one run, the mean of P in one place and Q in all others dominates against Qᵗ. Removing, at
    whole α: E[(mean of e^L)^α] is t^{−α}·α! times the coefficient of x^α in (Σ_k e^{(k−1)D_k}x^k/k!)^t. Adding: D_α ≤
    D_{1+(α−1)/t}, since a mean is not below the geometric mean."""
    return c if steps == 1 else AllocatedRenyi(c, steps)


def sharing_cuts(c: Loss, steps: int, times: int) -> list[tuple[Fraction, ...]]:
    """Where the largest answer is cut into cells, in standard deviations, around the largest of all and the record's
    own: for one epoch many cuts at once; for more, one cut at a time, so that the epochs' outcomes can be counted."""
    found = single(c)
    if found is None or not isinstance(found[0], NormalPair):
        return []
    with precision(64):
        mu = float(found[0].mu().mid())
    if not mu < 1e6:
        return []
    low = -NormalDist().inv_cdf(min(3 / steps, 0.7)) - 0.5
    high = max(low, mu) + 8
    number = CELLS if times == 1 else THRESHOLDS
    places = [low + (high - low) * i / number for i in range(number)]
    if times == 1:
        places += [high + i / 4 for i in range(FAR)]
    cuts = [Fraction(round(1024 * place), 1024) for place in places]
    if times > MANY:  # by the law of large numbers the cuts that tell most in the mean cost most
        cuts = sorted(cuts, key=lambda cut: _told(float(cut), mu, steps))[-KEPT:]
    return [tuple(cuts)] if times == 1 else [(cut,) for cut in cuts]


def _told(cut: float, mu: float, steps: int) -> float:
    """About the mean loss, in the worse direction, of whether the largest answer exceeds the cut; in floats."""
    others = (steps - 1) * math.log(max(NormalDist().cdf(cut), 1e-300))
    p, q = (-math.expm1(others + math.log(max(NormalDist().cdf(cut - shift), 1e-300))) for shift in (mu, 0.0))
    if not (0 < q < 1 and 0 < p < 1):
        return 0.0
    return max(a * math.log(a / b) + (1 - a) * math.log((1 - a) / (1 - b)) for a, b in ((p, q), (q, p)))


@theorem(
    of=Loss,
    gives=Loss,
    kind="lower",
    role="sampling",
    source=Source("chua2024private", "lower bound for shuffling; docs/theorems.md"),
    hypotheses=("two records attain the base's law, and all other records are equal to the second",),
)
def loss_attained_by_sharing(
    c: Loss, steps: int, cuts: tuple[Fraction, ...], near: Fraction = Fraction(0)
) -> Loss | None:
    """One of t Gaussian answers has its mean shifted by μ, or by the part ν of it (0, or ½ when a record is zeroed
    out). The largest answer exceeds C with the chances 1 − Φ(C − μ)Φ(C)^{t−1} and 1 − Φ(C − νμ)Φ(C)^{t−1}; it is
    enough to know between which cuts it lies."""
    found = single(c)
    if found is None or not isinstance(found[0], NormalPair) or found[0].mu_squared.rational == 0:
        return None
    pair = found[0]
    answers = [LargestAnswer(pair.root() * part, steps - 1, cuts) for part in (Fraction(1), near)]
    if not all(answer.known() for answer in answers):
        return None  # floats chose cuts between which nothing happens
    square = pair.mu_squared
    key = ("largest answer", square if square.rational is None else square.rational, steps, cuts, near)
    laws = [_compared(*answers), _compared(*answers[::-1])]
    return Loss(((FinitePair((*key, 1), laws[0]), 1),), ((FinitePair((*key, 0), laws[1]), 1),))


def _compared(first: LargestAnswer, second: LargestAnswer) -> FiniteLaw:
    """The loss between the two laws of one cell."""

    def mass(cell: int) -> Ball:
        return first.masses()[cell]

    def loss(cell: int) -> Ball:
        return (mass(cell) / second.masses()[cell]).log()

    cells = range(len(first.cuts) + 1)
    return scattered([Real(None, partial(loss, i)) for i in cells], [Real(None, partial(mass, i)) for i in cells])
