"""Samples with replacement under replace: the record exchanged may be drawn several times.

Of m draws from n records W_j = C(m,j)n^{−j}(1−1/n)^{m−j} take it j times. With η = 1 − (1−1/n)^m and
e^{ε'} = 1 + η(e^ε − 1) the profile at ε' ≥ 0 is at most Σ_{j≥1} W_j·δ_j(ε), δ_j that of j records exchanged: the glued
profile at rate η of a mixture of the j-fold pairs whose label is revealed. Large j weigh little and cost much, so what
lies beyond some j, which depends on the δ asked for, counts as certain loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss, Parts
from tightrope.curves.pair import Pair
from tightrope.curves.profile import Profile, Witness
from tightrope.curves.revealed import Revealed
from tightrope.curves.sampled.glued import Glued, finite_glued, only_glued_overstates
from tightrope.curves.sampled.poisson import poisson_loss
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, lower_float, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.real import ZERO, Real
from tightrope.numerics.remembered import remembered
from tightrope.numerics.sums.finite import FiniteLaw, scattered
from tightrope.theorems import Source, theorem

_RATE_BITS = 256
_MOST_TERMS, _MOST_COMPOSED = 300, 16
_MOST_BITS = 1100
_FIRST_BITS = 40
_BEYOND = (24, 12)  # bits by which what is left out is below the value asked for; fewer where that proves nothing
_EXACT = 64  # draws up to which nothing need be left out


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

    def rate(self) -> Fraction:
        """η, rounded up: a larger one overstates."""
        return drawn_rates(self.size, self.population)[1]

    def weight(self, j: int) -> Ball:
        """W_j."""
        n, m = self.population, self.size
        value = (ball(Fraction(-1, n)).log1p() * (m - j)).exp() / Ball(n) ** j
        for i in range(j):
            value *= Ball(m - i) / (i + 1)
        return value

    def cut(self, bits: int) -> Pair:
        """The pair with what lies beyond the last j kept at ∞: a chance of at most 2^−bits."""
        return _cut_pair(self, self.kept(bits))

    def first(self, kept: int) -> Pair:
        """The pair with more than ``kept`` times at ∞."""
        rate = self.rate()
        shares = [(j, self._share(lambda j=j: self.weight(j), rate)) for j in range(1, kept + 1)]  # type: ignore[misc]  # bound now
        leak = ZERO if kept >= self.size else self._share(lambda: self._beyond(kept), rate)
        pairs = [(share, self.groups(j)) for j, share in shares]
        key = ("draws", self.key, self.size, self.population, kept)
        if all(isinstance(pair, FinitePair) for _, pair in pairs):
            mixed = FinitePair(key, _mixture([(s, p.law) for s, p in pairs if isinstance(p, FinitePair)], leak))
            return finite_glued(mixed, rate)
        return Glued(Revealed(key, tuple(pairs), leak), rate)

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
        return self.cut(_MOST_BITS).call(x)

    def tail(self, x: Ball) -> Ball:
        """P[L > x]."""
        return self.cut(_MOST_BITS).tail(x)

    def cumulant(self, s: Fraction) -> Ball | None:
        """Known where nothing need be left out and the parts know theirs."""
        return self.cut(_MOST_BITS).cumulant(s) if self.size <= _EXACT else None

    def mean(self) -> None:
        """No closed form is used."""
        return

    def largest(self) -> Real:
        """The glued largest loss of m records exchanged."""
        return Glued(self.groups(self.size), self.rate()).largest()


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
def _cut_pair(pair: DrawsPair, kept: int) -> Pair:
    return pair.first(kept)


def nothing_sharper(loss: Loss, tight: bool) -> bool:
    """Whether all else that is known of the parts follows from this loss, though its product may overstate.

    ``tight``: whether each part alone is attained. So it is for attained and for glued pairs; draws overstate, but less
    than what is known of m records at once.
    """
    pairs = [pair for parts in loss.directions for pair, _ in parts]
    return (tight and only_glued_overstates(loss)) or all(isinstance(pair, DrawsPair) for pair in pairs)


def has_draws(loss: Loss) -> bool:
    """Whether a product needs a choice of what to leave out; one step does not."""
    return sum(n for _, n in loss.remove) > 1 and any(isinstance(pair, DrawsPair) for pair, _ in loss.remove)


@dataclass(frozen=True, eq=False)
class DrawsProfile(Profile):
    """The profile of a product with samples with replacement; ``evaluate`` gives that of a product without."""

    loss: Loss
    evaluate: Callable[[Loss], Profile]
    _built: dict[int, Profile] = field(default_factory=dict)

    def _at(self, bits: int) -> Profile:
        if bits not in self._built:
            self._built[bits] = self.evaluate(cut_draws(self.loss, bits))
        return self._built[bits]

    def _copies(self) -> int:
        return sum(n for _, n in self.loss.remove)

    def find(self, epsilon: Fraction) -> Witness:
        """A first proof says how much may be left out, and then a better one is tried."""
        witness = self._found(epsilon, (_FIRST_BITS, _FIRST_BITS // 2))
        value = lower_float(self.prove(epsilon, witness))
        need = self._copies().bit_length() - math.frexp(value)[1] if value > 0 else _MOST_BITS
        more = tuple(min(need + extra, _MOST_BITS) for extra in _BEYOND)
        if more[0] <= int(witness["cut"]):
            return witness
        try:
            return self._found(epsilon, more)
        except NotCertified:
            return witness

    def _found(self, epsilon: Fraction, trials: tuple[int, ...]) -> Witness:
        failure = NotCertified("a sample with replacement", "nothing was tried")
        for bits in trials:
            try:
                return {"cut": bits, **self._at(bits).find(epsilon)}
            except NotCertified as wrong:
                failure = wrong
        raise failure

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The proof of the product that was cut."""
        bits = int(witness["cut"])
        if not 0 < bits <= 4 * _MOST_BITS:
            raise NotCertified("a sample with replacement", f"it cannot be cut at {bits} bits")
        return self._at(bits).prove(epsilon, witness)

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Cut where what is left out is far below delta; nearer where that proves nothing."""
        small = delta.denominator.bit_length() - delta.numerator.bit_length() + self._copies().bit_length()
        failure = NotCertified("a sample with replacement", "nothing was tried")
        for extra in _BEYOND:
            bits = min(small + extra, 4 * _MOST_BITS)
            try:
                bound, witness = self._at(bits).epsilon(delta)
                return bound, {"cut": bits, **witness}
            except NotCertified as wrong:
                failure = wrong
        raise failure


def cut_draws(loss: Loss, bits: int) -> Loss:
    """The product with multiplicities of a chance below 2^−bits at ∞: it costs at least as much."""
    if any(isinstance(p, DrawsPair) and p.kept(bits) > _MOST_COMPOSED for p, _ in loss.remove):
        raise NotCertified("a sample with replacement", "too many multiplicities count")
    return Loss(*(_cut(parts, bits) for parts in loss.directions))


def _cut(parts: Parts, bits: int) -> Parts:
    return tuple((pair.cut(bits) if isinstance(pair, DrawsPair) else pair, n) for pair, n in parts)
