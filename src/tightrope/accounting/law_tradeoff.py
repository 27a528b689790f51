"""The trade-off curve of a loss at many false-positive rates: closed forms, or points of the profile shared by all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache

from tightrope.curves.composed_loss import MOST_ATOMS, evaluator
from tightrope.curves.concentrated import joint_failure
from tightrope.curves.directions import Deltas, directions
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss, Parts, merged
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pair import Call
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, between, lower_float, precision, sharp, upper_float
from tightrope.numerics.bound import Bound
from tightrope.numerics.convex_points import ConvexPoints
from tightrope.numerics.convex_search import enough, first_places, next_places
from tightrope.numerics.effort import allowed, left
from tightrope.numerics.exact import near
from tightrope.numerics.many_roots import spread
from tightrope.numerics.normal import quantile, upper_tail
from tightrope.numerics.real import largest
from tightrope.numerics.sums.finite import FiniteSum
from tightrope.numerics.valley import chord_bound, valley
from tightrope.theorems import Source, theorem

__all__ = ["neyman_pearson", "profile_to_tradeoff", "tradeoffs_of"]

_BITS = 192
_FEW, _MANY_FINE = 8, 1e-9  # rates that are sought one by one; relatively, how closely more of them are
_ALONE = 0.4  # of the work that is left, for that; else they share points
_SUMS, _MUCH = 0.75, 50  # likewise for exact sums; after so many points no other engine is asked
_ROUNDS, _SMOOTH = 9, 3  # of asking for more points; of those the first for curves without corners

Curve = Callable[[Fraction], Bound]  # the trade-off of one direction


@theorem(of=Loss, gives=Bound, kind="equal", role="profile", source=Source("dong2022gaussian", "Prop. 2.12"))
def profile_to_tradeoff(call: Call, fpr: Fraction) -> Bound:
    """f(a) = sup over all real ε of 1 − δ(ε) − e^ε·a. Every ε gives a lower bound; chords around the best give an
    upper one."""

    def missed(x: float) -> Ball:
        """δ(x) + e^x a, a convex function of e^x."""
        point = Ball(x)
        return call(point) + point.exp() * ball(fpr)

    with precision(_BITS):
        x = valley(missed)
        lower = max(lower_float(1 - missed(x)), 0.0)
        upper = chord_bound(lambda y: missed(y) - 1, x)
    guessing = Bound.rational(1 - fpr).upper
    return Bound(lower, max(guessing if upper is None else min(upper, guessing), lower))


@theorem(
    of=FinitePair,
    gives=Bound,
    kind="equal",
    role="profile",
    source=Source("dong2022gaussian", "Sec. 2.1: Neyman and Pearson"),
)
def neyman_pearson(atoms: FiniteSum, fpr: Fraction) -> Ball:
    """The best test takes outcomes in the order of their loss until the false positives are spent, the last in part."""
    listed = atoms.atoms(MOST_ATOMS)
    assert listed is not None
    missed, left, last = 1 - atoms.infinite(), ball(fpr), Ball(0)
    for value, mass in sorted(listed, key=lambda atom: atom[0].mid(), reverse=True):
        cost = mass * (-value).exp()
        share = (left / cost).min(Ball(1)) if cost > 0 else Ball(1)
        missed, left, last = missed - mass * share, (left - cost).max(Ball(0)), value.mid()
        if left.is_zero():
            break
    # The test just built is attained, whatever the order; no test beats the line through its last outcome.
    return between((1 - atoms.call(last) - last.exp() * ball(fpr)).max(Ball(0)), missed.max(Ball(0)))


def tradeoffs_of(law: Loss, fprs: Sequence[Fraction], fine: float = 0.0) -> list[Bound | None]:
    """The lesser trade-off of both directions at each rate; None where nothing was certified. A relative gap of
    ``fine`` is small enough."""
    ends = {Fraction(0): _at_zero(law), Fraction(1): Bound(0.0, 0.0)}
    inside = [a for a in fprs if a not in ends]
    found = _alone(law, inside) or _charted(law, inside, fine)
    values = {**dict(zip(inside, found, strict=True)), **ends}
    return [values[a] for a in fprs]


def _alone(law: Loss, fprs: Sequence[Fraction]) -> list[Bound | None] | None:
    """Each rate by closed forms or exact sums; None where there are none, or they take too long."""
    curves = [_closed(parts, len(fprs) > _FEW) for parts in law.directions]
    known = [curve for curve in curves if curve is not None]
    if len(known) < len(curves):
        return None
    try:
        with allowed(_ALONE * left()):
            return [_lesser([curve(a) for curve in known]) for a in fprs]
    except NotCertified:
        return None


def _charted(law: Loss, fprs: Sequence[Fraction], fine: float) -> list[Bound | None]:
    try:
        return _Tables(law, fine).at(fprs) if fprs else []
    except NotCertified:
        return [None] * len(fprs)


def _at_zero(law: Loss) -> Bound:
    """The best ε runs to ∞: what remains is the mass that gives the record away."""
    leaks = [joint_failure([(pair.infinite(), n) for pair, n in parts]) for parts in law.directions]
    return Bound.around(sharp(lambda: 1 - largest(leaks).ball()), 0.0, 1.0)


def _lesser(bounds: Sequence[Bound]) -> Bound:
    return Bound(min(b.lower for b in bounds), min(b.upper for b in bounds))


def _closed(parts: Parts, many: bool) -> Curve | None:
    """The trade-off function of one direction where it is a closed form; for few rates also where δ is one, or a quick
    sum."""
    if all(isinstance(pair, FinitePair) for pair, _ in parts):
        atoms = FiniteSum([(pair.law, n) for pair, n in parts if isinstance(pair, FinitePair)])
        if atoms.exact and atoms.atoms(MOST_ATOMS) is not None:
            return lambda a: Bound.around(sharp(lambda: neyman_pearson(atoms, a)), 0.0, 1.0)
    whole = merged(parts)
    if any(pair.effort > 1 for pair, _ in whole):
        return None  # each point takes its time: they are shared
    if len(whole) == 1 and isinstance(whole[0][0], NormalPair):
        mu = whole[0][0].mu
        return lambda a: Bound.around(sharp(lambda: upper_tail(mu() + quantile(ball(a)))), 0.0, 1.0)  # G_μ
    if many:
        return None
    try:
        call = evaluator(parts, quick=True).call
    except NotCertified:
        return None
    return lambda a: profile_to_tradeoff(call, a)


def _deltas(law: Loss) -> tuple[Deltas, ...]:
    """δ of each direction in closed form or as an exact sum, while that is in reach; then by other engines."""
    try:
        calls: list[Call | None] = [evaluator(parts).call for parts in law.directions]
    except NotCertified:
        calls = [None] * len(law.directions)
    others = cache(lambda: directions(law))
    return tuple(_Direction(call, others, i).deltas for i, call in enumerate(calls))


class _Direction:
    """One direction's δ: by ``call`` while there is work for it, then by other engines, unless that has said much: what
    these say is less sharp."""

    def __init__(self, call: Call | None, others: Callable[[], tuple[Deltas, ...]], number: int) -> None:
        self._call, self._others, self._number = call, others, number
        self._said = 0

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """At each ε; None where nothing was found."""
        found: dict[Fraction, Ball | None] = dict.fromkeys(epsilons)
        if self._call is not None:
            with precision(_BITS), suppress(NotCertified), allowed(_SUMS * left()):
                for x in spread(sorted(found)):
                    found[x] = self._call(ball(x))
                    self._said += 1
        missing = [x for x in epsilons if found[x] is None]
        if missing and self._said < _MUCH:
            with suppress(NotCertified):
                found.update(zip(missing, self._others()[self._number](missing), strict=True))
        return [found[x] for x in epsilons]


class _Tables:
    """Points of δ in both directions. Below 0, δ(−ε) = 1 − e^{−ε} + e^{−ε}·δ'(ε) with the δ' of the other direction."""

    def __init__(self, law: Loss, fine: float) -> None:
        self._fine = fine
        self._deltas = _deltas(law)
        self._tables = [ConvexPoints() for _ in self._deltas]

    def at(self, fprs: Sequence[Fraction]) -> list[Bound | None]:
        """The lesser of both directions at each rate."""
        for i, table in enumerate(self._tables):
            if not table.places:  # δ(0) of one direction is that of the other
                self._ask([(i, 0.0)])
        heights = [table.heights[0] if table.places else None for table in self._tables]
        if None in heights:
            return [None] * len(fprs)
        tops = [height for height in heights if height is not None]
        shares = [near(a) for a in fprs]
        fine = self._fine if len(fprs) <= _FEW else max(self._fine, _MANY_FINE)
        self._ask([(i, x) for i, top in enumerate(tops) for x in first_places(top, shares)])
        for turn in range(_ROUNDS):
            late = turn >= _SMOOTH
            wanted = [
                (i, x)
                for a, share in zip(fprs, shares, strict=True)
                for i in self._open(a, share, fine)
                for x in next_places(self._tables[i], tops[i], share, late, fine * self._missed(i, share))
            ]
            if not self._ask(wanted):
                break
        return [_lesser([_missed(table, a) for table in self._tables]) for a in fprs]

    def _missed(self, i: int, share: float) -> float:
        """About the trade-off of one direction."""
        return 1 - self._tables[i].lowest(share)[1]

    def _open(self, a: Fraction, share: float, fine: float) -> list[int]:
        """The directions that may be the lesser one here, and are not known well enough."""
        found = [_missed(table, a) for table in self._tables]
        most = min(bound.upper for bound in found)
        gaps = [(i, bound.upper - bound.lower) for i, bound in enumerate(found) if bound.lower <= most]
        return [i for i, gap in gaps if gap > fine * most and not enough(self._tables[i], share, gap)]

    def _ask(self, wanted: Sequence[tuple[int, float]]) -> bool:
        """Add these points (direction, ε), all that one engine answers at once; whether any was found."""
        some = False
        for i, deltas in enumerate(self._deltas):
            mirrored = len(self._deltas) - 1 - i  # the direction whose points below 0 these are too
            points = {x for j, x in wanted if j == i and x >= 0} | {-x for j, x in wanted if j == mirrored and x < 0}
            order = sorted(points)
            for x, value in zip(order, deltas([Fraction(x) for x in order]) if order else [], strict=True):
                if value is None:
                    continue
                some = True
                self._tables[i].add(x, value)
                with precision(_BITS):
                    self._tables[mirrored].add(-x, (1 - value) * -(Ball(-x).exp()) + 1)
        return some


def _missed(table: ConvexPoints, a: Fraction) -> Bound:
    """1 − the least of δ + e^ε·a; never more than guessing misses."""
    low, high = table.least(a)
    with precision(_BITS):
        lower, upper = max(lower_float(1 - high), 0.0), upper_float(1 - low)
    return Bound(lower, max(min(upper, Bound.rational(1 - a).upper), lower))
