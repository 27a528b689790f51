"""f-DP: a trade-off function f bounds from below the false-negative rate of every test by its false-positive rate.

Here f is a convex polygon from (0, f(0)) to (1, 0), as any finite set of (ε, δ) guarantees gives one. A polygon is the
trade-off of exactly one pair with finitely many outcomes, so nothing is lost on the way to the loss and back.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.errors import BadParameter
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.real import ZERO, Real, real
from tightrope.numerics.sums.finite import FiniteLaw, scattered
from tightrope.theorems import Source, theorem

Knot = tuple[Fraction, Fraction]
END: Knot = (Fraction(1), Fraction(0))


@dataclass(frozen=True)
class TradeOff:
    """The polygon through ``knots`` (fpr, least fnr), fpr rising from 0 to 1, convex and not above 1 − fpr."""

    knots: tuple[Knot, ...]

    def __post_init__(self) -> None:
        slopes = [(g - f) / (b - a) if b > a else None for (a, f), (b, g) in pairwise(self.knots)]
        rising = [s for s in slopes if s is not None]
        ends = len(self.knots) > 1 and self.knots[0][0] == 0 and self.knots[-1] == END
        convex = None not in slopes and all(s <= t for s, t in pairwise(rising)) and all(s <= 0 for s in rising)
        if not ends or not convex or self.knots[0][1] > 1 or any(f > 1 - a or f < 0 for a, f in self.knots):
            raise BadParameter("knots", self.knots, "must be a convex falling polygon from (0, f ≤ 1) to (1, 0)")

    def at(self, fpr: Fraction) -> Fraction:
        """f at one point, exactly."""
        for (a, f), (b, g) in pairwise(self.knots):
            if fpr <= b:
                return f + (g - f) * (fpr - a) / (b - a)
        return Fraction(0)

    def __str__(self) -> str:
        return f"a trade-off polygon with {len(self.knots)} corners"


def _law(knots: tuple[Knot, ...]) -> FiniteLaw:
    """One outcome a segment: under the null it has the segment's width, under the alternative its drop."""
    outcomes = [(f - g, b - a) for (a, f), (b, g) in pairwise(knots) if f > g]
    losses = [ZERO if p == q else Real(None, lambda p=p, q=q: ball(p / q).log()) for p, q in outcomes]  # type: ignore[misc]  # bound now
    return scattered(losses, [real(p) for p, _ in outcomes], real(1 - knots[0][1]))


def inverse(c: TradeOff) -> TradeOff:
    """f⁻¹: the same pair with its two sides exchanged."""
    turned = sorted({(f, a) for a, f in c.knots})
    points = [(f, a) for f, a in turned]
    if points[0][0] > 0:
        points.insert(0, (Fraction(0), points[0][1]))
    if points[-1] != END:  # f(0) < 1: beyond it no test misses anything
        points.append(END)
    lowest: dict[Fraction, Fraction] = {}
    for x, y in points:
        lowest[x] = min(y, lowest.get(x, y))
    return TradeOff(tuple(sorted(lowest.items())))


@theorem(of=TradeOff, gives=Loss, kind="equal", source=Source("dong2022gaussian", "Props 2.12, 2.13"))
def tradeoff_is_dominated(c: TradeOff) -> Loss:
    """A polygon f is the trade-off of the pair with one outcome a segment; so δ(ε) = max over a of 1 − f(a) − e^ε·a, in
    both directions (f and its inverse)."""
    forward = FinitePair(("tradeoff", c.knots), _law(c.knots))
    turned = inverse(c)
    if turned == c:
        return Loss(((forward, 1),))
    return Loss(((forward, 1),), ((FinitePair(("tradeoff", turned.knots), _law(turned.knots)), 1),))


@theorem(of=TradeOff, gives=TradeOff, kind="upper", role="group", source=Source("dong2022gaussian", "Thm 2.14"))
def tradeoff_for_groups(c: TradeOff, size: int) -> TradeOff:
    """f-DP for one record is (1 − (1 − f)^{∘k})-DP for k records."""
    result = c
    for _ in range(size - 1):
        inner = sorted({a for a, _ in result.knots} | {x for a, _ in c.knots for x in _reached(result, a)})
        result = TradeOff(tuple((a, c.at(1 - result.at(a))) for a in inner))
    return result


def _reached(c: TradeOff, level: Fraction) -> list[Fraction]:
    """Where 1 − f first reaches a level strictly inside a segment."""
    return [a + (1 - level - f) * (b - a) / (g - f) for (a, f), (b, g) in pairwise(c.knots) if g < 1 - level < f]


@theorem(of=Loss, gives=TradeOff, kind="lower", role="profile", source=Source("dong2022gaussian", "Prop. 2.4"))
def guarantees_have_tradeoff(epsilons: tuple[Ball, ...], deltas: tuple[Ball, ...], fpr: Ball) -> Ball:
    """(ε_i, δ_i)-DP for every i implies f ≥ max over i of (0, 1 − δ_i − e^{ε_i}·a, e^{−ε_i}(1 − δ_i − a))."""
    best = Ball(0)
    for e, d in zip(epsilons, deltas, strict=True):
        best = best.max(1 - d - e.exp() * fpr).max((-e).exp() * (1 - d - fpr))
    return best
