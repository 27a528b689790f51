"""Samples with replacement under replace: the record exchanged may be drawn several times.

Of m draws from n records W_j = C(m,j)n^{−j}(1−1/n)^{m−j} take it j times. With η = 1 − (1−1/n)^m and
e^{ε'} = 1 + η(e^ε − 1) the profile at ε' ≥ 0 is at most Σ_{j≥1} W_j·δ_j(ε), δ_j that of j records exchanged: the glued
profile at rate η of a mixture of the j-fold pairs whose label is revealed. Large j weigh little and cost much, so what
lies beyond some j, which depends on the δ asked for, counts as certain loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss, Parts, merged
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pair import Pair, Rung
from tightrope.curves.revealed import Revealed
from tightrope.curves.sampled.glued import Glued, finite_glued, one_glued, only_glued_overstates
from tightrope.curves.sampled.poisson import poisson_loss
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.real import ZERO, Real
from tightrope.numerics.remembered import remembered
from tightrope.numerics.sums.finite import FiniteLaw, scattered
from tightrope.theorems import Source, theorem

_RATE_BITS = 256
_MOST_TERMS, _MOST_COMPOSED = 300, 20
MOST_BITS = 1100
_LIKELY, _SPARSER = 8, 1.4
_EXACT, _FEW = 64, 12  # draws up to which nothing need be left out: of finitely many losses, of others
_PIECE = 1e3  # units of work


def drawn_rates(size: int, population: int) -> tuple[Fraction, Fraction]:
    """Dyadic numbers just below and just above η."""
    with precision(_RATE_BITS + 80):
        value = -(ball(Fraction(-1, population)).log1p() * size).expm1() if population > 1 else Ball(1)
        ends = [(end * Ball(2) ** _RATE_BITS).floor().unique_fmpz() for end in (value.lower(), value.upper())]
    low, high = (Fraction(int(end or 0), 2**_RATE_BITS) for end in ends)
    return low, min(high + Fraction(1, 2**_RATE_BITS), Fraction(1))


@theorem(
    of=Loss,
    gives=Loss,
    kind="lower",
    role="sampling",
    relation="replace",
    source=Source("tightrope", "sampling pairs"),
    hypotheses=("one pair of data sets attains the base's law, as for noise added to a count",),
)
def loss_attained_with_replacement(c: Loss, rate: Fraction) -> Loss | None:
    """Among equal records one is exchanged, and the query tells whether it was drawn at all, which has the chance η:
    the pair ((1−η)Q + ηP, Q) and its reverse are attained."""
    return poisson_loss(c, rate)


@dataclass(frozen=True)
class DrawsPair(Pair):
    """The symmetric pair of m draws from n records; ``groups`` gives the symmetric pair of j records exchanged."""

    key: Hashable
    size: int
    population: int
    groups: Callable[[int], Pair] = field(compare=False)
    words = "that of a record exchanged, drawn with replacement"
    effort = 2
    composes = False

    @property
    def units(self) -> float:  # type: ignore[override]  # a property here
        """One law for each number of records."""
        return _PIECE * self.size

    @property
    def rate(self) -> Fraction:
        """η, rounded up: a larger one overstates."""
        return drawn_rates(self.size, self.population)[1]

    def rung(self) -> Rung | None:
        """Of normal noise, where j records shift it j times as far: more noise makes all shifts smaller."""
        one, two = self.groups(1), self.groups(min(2, self.size))
        if not (isinstance(one, NormalPair) and isinstance(two, NormalPair)):
            return None
        known, more = one.mu_squared.rational, two.mu_squared.rational
        if known is None or more != known * min(2, self.size) ** 2:
            return None
        return ("draws", self.size, self.population), (known,)

    def weight(self, j: int) -> Ball:
        """W_j."""
        n, m = self.population, self.size
        value = (ball(Fraction(-1, n)).log1p() * (m - j)).exp() / Ball(n) ** j
        for i in range(j):
            value *= Ball(m - i) / (i + 1)
        return value

    def cut(self, bits: int) -> Pair:
        """The pair with what lies beyond the last j kept at ∞: a chance of at most 2^−bits."""
        return self.chosen(tuple(range(1, self.kept(bits) + 1)))

    def chosen(self, counts: tuple[int, ...]) -> Pair:
        """The pair with a record drawn j times taken as one drawn as often as the next of these rising ``counts``,
        which costs at least as much, or as certain loss beyond the last."""
        return _chosen_pair(self, counts)

    def mixed(self, counts: tuple[int, ...]) -> Pair:
        """The same, not remembered."""
        rate, last = self.rate, counts[-1]
        shares = [self._share(lambda ends=ends: self._between(*ends), rate) for ends in pairwise((0, *counts))]  # type: ignore[misc]  # bound now
        leak = ZERO if last >= self.size else self._share(lambda: self._beyond(last), rate)
        pairs = [(share, self.groups(j)) for share, j in zip(shares, counts, strict=True)]
        if len(pairs) == 1 and last >= self.size:  # then the share is 1, but for the rounding of the rate
            return one_glued(pairs[0][1], rate)
        key = ("draws", self.key, self.size, self.population, counts)
        if all(isinstance(pair, FinitePair) for _, pair in pairs):
            mixed = FinitePair(key, _mixture([(s, p.law) for s, p in pairs if isinstance(p, FinitePair)], leak))
            return finite_glued(mixed, rate)
        return Glued(Revealed(key, tuple(pairs), leak), rate)

    def _between(self, before: int, last: int) -> Ball:
        """The chance of more than ``before`` and at most ``last`` times."""
        return sum((self.weight(j) for j in range(before + 1, last + 1)), Ball(0))

    @staticmethod
    def _share(weight: Callable[[], Ball], rate: Fraction) -> Real:
        return remembered(lambda: weight() / ball(rate))

    def _beyond(self, kept: int) -> Ball:
        """At least Σ_{j>kept} W_j: its terms fall by ratios that fall."""
        ratio = Ball(self.size - kept - 1) / (Ball(kept + 2) * (self.population - 1))
        return (self.weight(kept + 1) / (1 - ratio)).upper() if ratio < 1 else Ball(1)

    def kept(self, bits: int) -> int:
        """The largest j that is not left out when 2^−bits may be."""
        mean, n = self.size / self.population, self.population
        log = self.size * math.log1p(-1 / n) if n > 1 else -math.inf
        j = 0
        while j < self.size and (j <= 2 * mean + 1 or log > -bits * math.log(2)):
            j += 1
            if j > _MOST_TERMS:
                raise NotCertified("a sample with replacement", "a record may be drawn too often")
            log += math.log((self.size - j + 1) / (j * (n - 1))) if j < self.size else -math.inf
        return min(j, self.size)

    def call(self, x: Ball) -> Ball:
        """Σ W_j·δ_j."""
        return self.cut(MOST_BITS).call(x)

    def tail(self, x: Ball) -> Ball:
        """P[L > x]."""
        return self.cut(MOST_BITS).tail(x)

    def cumulant(self, s: Fraction) -> Ball | None:
        """Known where nothing need be left out and the parts know theirs."""
        return self.cut(MOST_BITS).cumulant(s) if self._measurable() else None

    def approximate_cumulants(self, points: Sequence[float]) -> list[float]:
        """The same in floats."""
        return self.cut(MOST_BITS).approximate_cumulants(points) if self._measurable() else [math.inf] * len(points)

    def _measurable(self) -> bool:
        return self.size <= (_EXACT if isinstance(self.groups(1), FinitePair) else _FEW)

    def mean(self) -> None:
        """No closed form is used."""
        return

    def largest(self) -> Real:
        """The glued largest loss of m records exchanged."""
        return Glued(self.groups(self.size), self.rate).largest()


def _mixture(parts: list[tuple[Real, FiniteLaw]], leak: Real) -> FiniteLaw:
    """The atoms of all laws, each times its share; the rest, which reveals nothing, is at 0."""
    atoms: dict[object, tuple[Real, list[tuple[Real, Real]]]] = {}
    for share, law in parts:
        for value, mass in zip(law.values, law.masses, strict=True):
            atoms.setdefault(value if value.rational is None else value.rational, (value, []))[1].append((share, mass))
    values = [value for value, _ in atoms.values()]
    masses = [_weighted(terms) for _, terms in atoms.values()]
    infinite = remembered(lambda: leak.ball() + sum((s.ball() * law.infinite.ball() for s, law in parts), Ball(0)))
    known = leak.rational == 0 and all(law.infinite.rational == 0 for _, law in parts)
    return scattered(values, masses, ZERO if known else infinite)


def _weighted(terms: list[tuple[Real, Real]]) -> Real:
    return remembered(lambda: sum((share.ball() * mass.ball() for share, mass in terms), Ball(0)))


@lru_cache(maxsize=64)
def _chosen_pair(pair: DrawsPair, counts: tuple[int, ...]) -> Pair:
    return pair.mixed(counts)


def nothing_sharper(loss: Loss, tight: bool) -> bool:
    """Whether all else that is known of the parts follows from this loss, though its product may overstate.

    ``tight``: whether each part alone is attained, but for draws. So it is for attained and for glued pairs; draws
    overstate, but less than what is known of m records at once.
    """
    others = [tuple((pair, n) for pair, n in parts if not isinstance(pair, DrawsPair)) for parts in loss.directions]
    return not any(others) or (tight and only_glued_overstates(Loss(*others)))


def has_draws(loss: Loss) -> bool:
    """Whether a product needs a choice of what to leave out; one step does not."""
    return sum(n for _, n in loss.remove) > 1 and any(isinstance(pair, DrawsPair) for pair, _ in loss.remove)


def cut_draws(loss: Loss, bits: int) -> Loss:
    """The product with multiplicities of a chance below 2^−bits at ∞: it costs at least as much."""
    return with_counts(loss, {pair: spread(pair, bits) for pair in drawn_pairs(loss)})


def drawn_pairs(loss: Loss) -> list[DrawsPair]:
    """The samples with replacement among the parts."""
    return [pair for pair, _ in merged(loss.remove) if isinstance(pair, DrawsPair)]


def with_counts(loss: Loss, counts: dict[DrawsPair, tuple[int, ...]]) -> Loss:
    """The product with these multiplicities kept."""

    def cut(parts: Parts) -> Parts:
        return tuple((pair.chosen(counts[pair]) if isinstance(pair, DrawsPair) else pair, n) for pair, n in parts)

    return Loss(*(cut(parts) for parts in loss.directions))


def spread(pair: DrawsPair, bits: int) -> tuple[int, ...]:
    """Multiplicities that serve without knowing what matters: the likely ones, and ever fewer of the others. All of
    them where that costs nothing."""
    last = pair.kept(bits)
    if isinstance(pair.groups(1), FinitePair):
        return tuple(range(1, last + 1))
    found = list(range(1, min(last, int(_LIKELY + 2 * pair.size / pair.population)) + 1))
    while found[-1] < last:
        found.append(min(max(found[-1] + 1, int(_SPARSER * found[-1])), last))
    if len(found) > _MOST_COMPOSED:
        raise NotCertified("a sample with replacement", "too many multiplicities count")
    return tuple(found)
