"""The profile of compositions with heavy tails, by contours without them.

The moments of a sample of a fixed size with Gaussian noise grow like e^{μ²t²/2}: beyond some tilt rare large losses
outgrow all others, and no saddle is reached. So each such law is cut at some place of its normal variable. Steps beyond
it, and in mirror image those below, count as certain loss: no hockey-stick falls. Without them the moments are those of
a bounded law, and a plain contour serves.

The price. Let h be Q of a step above the cut, which is also P of one below. Of the paths with a step above and none
below, P − e^ε·Q is kept in any case. So δ is at least what was found less Σk(1 + e^ε)h, and a far cut makes that
nothing.
"""
from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

from tightrope.curves.engines.contour_profile import ContourProfile
from tightrope.curves.engines.enclosed_root import enclosed_root
from tightrope.curves.engines.transformed import total_variation, transform_of
from tightrope.curves.loss import Loss, merged
from tightrope.curves.pair import Pair
from tightrope.curves.profile import Profile, Witness, within_unit
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, between, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.contour.floats import searching
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.exact import near
from tightrope.numerics.real import Real, largest
from tightrope.numerics.transforms.transform import Transform

__all__ = ["CutProfile", "cut_profile"]

_NOTHING = 30.0  # nats below δ
_ROUNDS, _CLOSE = 4, 0.5  # how often a cut is moved, and nats by which it may be off
_FINEST, _FARTHEST = 16, 200  # parts of a cut, and the largest
_LEVEL = -40.0  # ln δ, before anything is known of it
_KEPT = 4

Cuts = tuple[Fraction, ...]
Within = tuple[ContourProfile, list[Transform]]  # the contours of laws that are cut, and these laws' transforms


@dataclass(frozen=True, eq=False)
class CutProfile(Profile):
    """The pairs that are cut, in this order, each with its number of copies."""

    loss: Loss
    pairs: tuple[tuple[Pair, int], ...]
    _known: dict[Cuts, Within] = field(default_factory=dict)
    may_be_wide = True

    def _cuts(self, epsilon: float, level: float) -> Cuts:
        """Beyond which (1 + e^ε)·k·P[N > z] is nothing beside e^level."""
        found = []
        for _, copies in self.pairs:
            nats = math.log(copies * len(self.pairs)) + math.log1p(math.exp(-abs(epsilon))) + max(epsilon, 0.0)
            z = math.sqrt(2 * max(nats + _NOTHING - level, 1.0))
            found.append(Fraction(math.ceil(z * _FINEST), _FINEST))
        return tuple(found)

    def _within(self, cuts: Cuts) -> Within:
        """The contours of the laws that are cut there."""
        if len(cuts) != len(self.pairs) or not all(0 < cut <= _FARTHEST for cut in cuts):
            raise NotCertified("a contour without heavy tails", "its cuts do not fit")
        found = self._known.get(cuts)
        if found is None:
            while len(self._known) >= _KEPT:
                self._known.pop(next(iter(self._known)), None)
            found = self._known[cuts] = self._built(cuts)
        return found

    def _built(self, cuts: Cuts) -> Within:
        made = {pair: _known(pair.cut_transform(cut)) for (pair, _), cut in zip(self.pairs, cuts, strict=True)}
        directions = [merged(parts) for parts in self.loss.directions]
        sums = [
            ContourSum([(made.get(pair) or _known(transform_of(pair)), n) for pair, n in parts]) for parts in directions
        ]
        sizes = [Real(None, partial(total_variation, parts)) for parts in directions]
        return ContourProfile(tuple(sums), largest(sizes), deep=False), list(made.values())

    @searching
    def find(self, epsilon: Fraction) -> Witness:
        """Cuts far enough for what floats see of δ, and the contour between them."""
        x, level = near(epsilon), _LEVEL
        for _ in range(_ROUNDS):
            cuts = self._cuts(x, level)
            seen = max(total.estimate(x) for total in self._within(cuts)[0].sums)
            if seen > level - _CLOSE:
                break
            level = seen
        return {**self._within(cuts)[0].find(epsilon), "cuts": list(cuts)}

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """What the contour says, and down from there what the cut may cost."""
        inner, laws = self._within(tuple(Fraction(cut) for cut in witness["cuts"]))
        value = inner.prove(epsilon, witness)
        with precision(256):
            missing = sum((law.beyond()[1] * n for law, (_, n) in zip(laws, self.pairs, strict=True)), Ball(0))
            return within_unit(value - between(Ball(0), ((1 + ball(epsilon).exp()) * missing).upper()))

    @searching
    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Between cuts for about that ε; both ends are proved where they are."""
        goal, x = math.log(delta.numerator) - math.log(delta.denominator), 0.0
        for _ in range(_ROUNDS):
            inner = self._within(cuts := self._cuts(x, goal))[0]
            before, x = x, max(total.root(goal) for total in inner.sums)
            if not x < math.inf:  # the cut is too near: ε is beyond it
                x = max(2 * before, *(_largest(law) for law in self._within(cuts)[1]))
            elif x <= before + _CLOSE:
                break
        found, witness = inner.epsilon(delta)
        if not math.isfinite(found.upper):
            raise NotCertified("a contour without heavy tails", "certain loss alone exceeds δ")
        witness = {**witness, "cuts": list(cuts)}
        if found.upper == 0:
            return found, witness
        proved = partial(self.prove, witness=witness)
        middle = (found.lower + found.upper) / 2 if found.lower > 0 else found.upper
        return enclosed_root(middle, delta, proved, proved), witness


def _largest(law: Transform) -> float:
    with precision(64):
        top = law.largest()
        return math.inf if top is None else float(top.mid())


def _known(transform: Transform | None) -> Transform:
    if transform is None:
        raise NotCertified("a contour without heavy tails", "a part has no transform")
    return transform


def cut_profile(loss: Loss) -> CutProfile | None:
    """For compositions some of whose laws can be cut; None for others."""
    found = tuple((pair, n) for pair, n in merged(loss.remove) if _can_be_cut(pair))
    return CutProfile(loss, found) if found else None


def _can_be_cut(pair: Pair) -> bool:
    """Whether it has a transform up to a cut."""
    try:
        return pair.cut_transform(Fraction(1)) is not None
    except NotCertified:  # parameters out of its reach
        return False
