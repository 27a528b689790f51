"""The profile of compositions whose losses are atoms, or nearly: contour integrals of two functions that enclose the
call and have no high frequencies (``numerics/contour/blurred_proof.py``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from tightrope.curves.engines.enclosed_root import ends_near
from tightrope.curves.engines.lesser_direction import bounded_by, chernoff_bound
from tightrope.curves.engines.transformed import transforms
from tightrope.curves.loss import Loss
from tightrope.curves.profile import Profile, Witness, within_unit
from tightrope.curves.shared_proofs import shared_deltas, shared_epsilons
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.contour.blurred import BlurPlan, BlurredSum
from tightrope.numerics.exact import near

_RELATIVE, _FEW, _FOR_MANY = 5e-10, 8, 1e-8  # of δ; and of each of more points than so many
_FAIR, _AIMED = 1e-6, 0.05  # ends of ε further apart are no more than rough; and of that for δ
_SECANTS = 6
_AHEAD = 0.9  # of what saddles say, for the direction that costs more
_CLOSE, _NEARLY = 1e-9, 1e-7  # ends this close are sought, where they nearly are
_MANY, _LITTLE = 20.0, 2e5  # records that are sampled, or few units of work for it


@dataclass(frozen=True, eq=False)
class BlurredProfile(Profile):
    """One sum of losses for each direction. The direction that costs more is integrated, the other bounded below it."""

    sums: tuple[BlurredSum, ...]
    sampled: float = 0.0  # records on average
    relative: float = _RELATIVE  # how near to each other the ends of δ are to be
    may_be_wide = True

    def aiming(self, width: float) -> BlurredProfile:
        """Where ends may be far apart, far fewer nodes will do."""
        return self if width <= _FAIR else replace(self, relative=_AIMED * width)

    def find(self, epsilon: Fraction) -> Witness:
        """The plan of the worse direction; for the other one the t of its Chernoff bound, or a plan too."""
        return self._found(epsilon, self.relative)

    def _found(self, epsilon: Fraction, relative: float) -> Witness:
        x = near(epsilon)
        estimates = [_or_nothing(total.estimate, x) for total in self.sums]
        worse = max(range(len(self.sums)), key=lambda i: estimates[i])
        return self._witness(x, worse, estimates[worse], solving=False, relative=relative)

    def _witness(self, x: float, worse: int, level: float, solving: bool, relative: float) -> Witness:
        witness: Witness = {"direction": worse, **_written(self.sums[worse].plan(x, relative, solving))}
        for i, total in enumerate(self.sums):
            if i != worse:
                t = bounded_by(total, x, level - 1e-3)
                witness["other"] = {"t": t} if t is not None else _written(total.plan(x, relative, solving))
        return witness

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The larger of both directions."""
        worse = int(witness["direction"])
        if not 0 <= worse < len(self.sums):
            raise NotCertified("the worse direction", f"there is no direction {worse}")
        with precision(128):
            value = self.sums[worse].call(ball(epsilon), _plan(witness))
            for i, total in enumerate(self.sums):
                if i != worse:
                    value = value.max(_other(total, epsilon, witness["other"]))
        return within_unit(value)

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Solve in floats, then for both ends of one proof; each end is proved where it is returned."""
        leaks = [sharp(total.infinite) for total in self.sums]
        with precision(160):
            if any(leak >= ball(delta) for leak in leaks):
                return Bound(math.inf if any(leak > ball(delta) for leak in leaks) else 0.0, math.inf), {}
        goal = math.log(delta.numerator) - math.log(delta.denominator)
        roots = self._roots(goal)
        worse, x = max(enumerate(roots), key=lambda found: found[1])
        if not x > 0:
            return self._at_zero(delta)
        before = effort.left()
        bound, witness = self._solved(delta, goal, worse, x, self.relative)
        if self.relative > _RELATIVE:
            return bound, witness
        width, spent = 1 - bound.lower / bound.upper, before - effort.left() if math.isfinite(before) else 0.0
        again = spent * math.sqrt(width / _CLOSE)
        if not (_CLOSE < width < _NEARLY and effort.affords(2 * again) and (again < _LITTLE or self.sampled >= _MANY)):
            return bound, witness
        try:  # losses that nearly lie on a lattice are denser here than there
            closer = self._solved(delta, goal, worse, x, _RELATIVE * _CLOSE / (2 * width))
        except NotCertified:
            return bound, witness
        return min((bound, witness), closer, key=lambda found: found[0].upper - found[0].lower)

    def _roots(self, goal: float) -> list[float]:
        """About ε of each direction, −∞ of one that floats do not see; but not if that is the one that costs more."""
        found: list[float] = []
        for total in self.sums:
            try:
                found.append(total.root(goal))
            except NotCertified:
                if total.saddle_root(goal) > _AHEAD * max(other.saddle_root(goal) for other in self.sums):
                    raise
                found.append(-math.inf)
        return found

    def _solved(self, delta: Fraction, goal: float, worse: int, x: float, relative: float) -> tuple[Bound, Witness]:
        """Both ends of one proof for about x."""
        witness = self._witness(x, worse, goal, solving=True, relative=relative)

        def logs(at: float, end: Callable[[Ball], Ball]) -> float:
            with precision(128):
                value = end(self.sums[worse].call(Ball(at), _plan(witness)))
                return float(value.log().mid()) - goal if value > 0 else -math.inf

        top = self.sums[worse].largest
        high = min(_root(lambda at: logs(at, Ball.upper), x, float(witness["t"]), top), top)
        low = _root(lambda at: logs(at, Ball.lower), min(x, high), float(witness["t"]), top)
        return ends_near(self, low, high, delta, witness), witness

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """At many ε: contours made for one serve the next ones, as long as they are good enough there."""
        return shared_deltas(self, epsilons, self._shared(epsilons))

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """At many δ likewise."""
        return shared_epsilons(self, deltas, find=self._shared(deltas))

    def _shared(self, points: Sequence[Fraction]) -> Callable[[Fraction], Witness]:
        """How to find a witness for some of so many points: many are asked for less, in far fewer nodes each."""
        return partial(self._found, relative=max(self.relative, _FOR_MANY if len(set(points)) > _FEW else 0.0))

    def at_hand(self, witness: Witness) -> bool:
        """Whether all of its nodes are kept."""
        worse, other = int(witness["direction"]), witness.get("other", {})
        plans = [(worse, witness), *([(1 - worse, other)] if "eta" in other else [])]
        return all(self.sums[i].keeps(_plan(one)) for i, one in plans)

    def estimate(self, delta: Fraction) -> float:
        """About ε, in floats."""
        goal = math.log(delta.numerator) - math.log(delta.denominator)
        found = max(_or_nothing(total.root, goal) for total in self.sums)
        if found == -math.inf:
            raise NotCertified("a blurred contour", "floats do not see the call")
        return max(found, 0.0)

    def _at_zero(self, delta: Fraction) -> tuple[Bound, Witness]:
        witness = self.find(Fraction(0))
        if not self.meets(Fraction(0), delta, witness):
            raise NotCertified("the exact profile", "ε is too close to 0 to be told from it")
        return Bound(0.0, 0.0), witness


def _or_nothing(search: Callable[[float], float], at: float) -> float:
    """−∞ where floats see nothing: the other direction, or the proof, decides."""
    try:
        return search(at)
    except NotCertified:
        return -math.inf


def _root(gap: Callable[[float], float], x: float, t: float, top: float) -> float:
    """About where a falling function of slope about −t is 0; x itself if that is at the top."""
    value, slope = gap(x), -t
    for _ in range(_SECANTS):
        if not math.isfinite(value):
            break
        following = x - value / slope
        if abs(following - x) <= 4e-16 * abs(x) or following >= top:
            break
        after = gap(following)
        secant = (after - value) / (following - x)
        slope = secant if secant < 0 else slope
        x, value = following, after
        if abs(value) < 2e-15 * abs(slope * x):
            break
    return x


def _written(plan: BlurPlan) -> Witness:
    return {"t": plan.t, "eta": plan.eta, "count": plan.count, "points": plan.points}


def _plan(witness: Witness) -> BlurPlan:
    t, eta = (Fraction(witness[name]) for name in ("t", "eta"))
    return BlurPlan(t, eta, int(witness["count"]), int(witness["points"]))


def _other(total: BlurredSum, epsilon: Fraction, witness: Witness) -> Ball:
    if "eta" in witness:
        return total.call(ball(epsilon), _plan(witness))
    return chernoff_bound(total, epsilon, Fraction(witness["t"]))


def blurred_profile(loss: Loss) -> BlurredProfile | None:
    """The blurred contour of each direction; None when a part has no transform, or none in doubles."""
    sums = [transforms(parts) for parts in loss.directions]
    if any(math.isinf(transform.node_cost(n)) for parts in sums if parts is not None for transform, n in parts):
        return None
    known = [BlurredSum(parts) for parts in sums if parts is not None]
    sampled = sum(n * float(getattr(pair, "rate", 0)) for pair, n in loss.remove)
    return BlurredProfile(tuple(known), sampled) if len(known) == len(sums) else None
