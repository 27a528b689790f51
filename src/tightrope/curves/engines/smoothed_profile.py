"""The profile of compositions with atoms, and of those with rare large losses, by flat contours of the loss with a tiny
normal loss added (``numerics/contour/smoothed_proof.py``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction

from tightrope.curves.engines.enclosed_root import ends_near
from tightrope.curves.engines.lesser_direction import bounded_by, chernoff_bound
from tightrope.curves.engines.rarity import scattered
from tightrope.curves.engines.transformed import transforms
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.curves.pair import Pair
from tightrope.curves.profile import Profile, Witness, within_unit
from tightrope.curves.shared_proofs import shared_deltas, shared_epsilons
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.contour.smoothed import SmoothedSum, SmoothPlan
from tightrope.numerics.contour.smoothed_proof import NotLow
from tightrope.numerics.exact import near

__all__ = ["RELATIVE", "SmoothedProfile", "has_few_values", "scattered_profile", "smoothed_profile"]

RELATIVE, _COARSER = 5e-10, 200.0  # of ε; and so much more of δ, at most
_AIMED = 0.5  # of the distance of the ends: what they are to be apart at most
_SECANTS = 5
_SEVERAL, _OFTEN, _FAIR = 3.0, 50.0, 2e-7  # records sampled on average; with few, ends need not be that near
_LITTLE = 1.7  # a variance
_MOST = 8e5  # units of work, mostly far more than it takes
_BELOW = 1e-3  # nats: a direction that costs less by so much is only bounded
_ROUGH = 1e-2  # what a direction that costs less is asked for, where that tells


@dataclass(frozen=True, eq=False)
class SmoothedProfile(Profile):
    """One sum of losses for each direction. The one that costs more is integrated, the other bounded below it, or
    integrated, too."""

    sums: tuple[SmoothedSum, ...]
    relative: float = RELATIVE  # how near to each other the ends are to be
    most: float = math.inf  # units of work, of any that are left
    may_be_wide = True

    @property
    def total(self) -> SmoothedSum:
        """The first direction, which mostly costs more."""
        return self.sums[0]

    def aiming(self, width: float) -> SmoothedProfile:
        """Ends as near as that."""
        nearer = max(_AIMED * width, RELATIVE)
        return self if nearer >= self.relative else replace(self, relative=nearer)

    def suits(self, level: float) -> bool:
        """Whether other contours are long where ln δ is about that."""
        return (self.total.dear() and self.total.weak()) or self.total.rare(level)

    def _limited(self) -> AbstractContextManager[None]:
        return effort.allowed(self.most) if math.isfinite(self.most) else nullcontext()

    def find(self, epsilon: Fraction) -> Witness:
        """A plan for about this δ; for the other direction the t of its Chernoff bound, or a plan too."""
        with self._limited():
            return self._found(epsilon)

    def _found(self, epsilon: Fraction) -> Witness:
        x = near(epsilon)
        witness = _written(self.total.plan_at(x, self.relative))
        if len(self.sums) == 1:
            return witness
        with precision(128):
            least = self.total.call(ball(epsilon), _plan(witness)).lower()
            t = bounded_by(self.sums[1], x, float(least.log()) - _BELOW) if least > 0 else None
        other = {"t": t} if t is not None else _written(self.sums[1].plan_at(x, self.relative))
        return {"direction": 0, **witness, "other": other}

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The larger of both directions."""
        worse, plan = int(witness.get("direction", 0)), _plan(witness)
        if not 0 <= worse < len(self.sums):
            raise NotCertified("the worse direction", f"there is no direction {worse}")
        with precision(max(plan.bits, 64) + 64):
            value = self.sums[worse].call(ball(epsilon), plan)
            for i, total in enumerate(self.sums):
                if i != worse:
                    value = value.max(_other(total, epsilon, witness["other"]))
            return within_unit(value)

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Solve on proved values, then for both ends of one proof; each end is proved where it is returned."""
        leaks = [sharp(total.infinite) for total in self.sums]
        with precision(160):
            if any(leak >= ball(delta) for leak in leaks):
                return Bound(math.inf if any(leak > ball(delta) for leak in leaks) else 0.0, math.inf), {}
        with self._limited():
            return self._solved(delta)

    def _solved(self, delta: Fraction) -> tuple[Bound, Witness]:
        goal = _log(delta)
        worse, x, slope, other = self._worse(goal)
        if x <= 0:
            return self._zero(delta)
        plan = self._plan(worse, x, goal, slope)
        witness = _written(plan)
        if len(self.sums) > 1:
            witness = {"direction": worse, **witness, "other": other}

        def logs(at: float, end: Callable[[Ball], Ball]) -> float:
            with precision(plan.bits + 64):
                value = end(self.sums[worse].call(Ball(at), plan))
                return float(value.log().mid()) - goal if value > 0 else -math.inf

        high, low = (_solved(lambda at, end=end: logs(at, end), x, slope) for end in (Ball.upper, Ball.lower))  # type: ignore[misc]  # bound now
        return ends_near(self, low, high, delta, witness), witness

    def _zero(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Where δ(0) is no more than δ."""
        witness = self._found(Fraction(0))
        if not self.meets(Fraction(0), delta, witness):
            raise NotCertified("a smoothed contour", "ε is too close to 0 to be told from it")
        return Bound(0.0, 0.0), witness

    def _plan(self, direction: int, x: float, goal: float, slope: float) -> SmoothPlan:
        """As near as is asked; or not as near, for which fewer nodes must be low."""
        total, relative = self.sums[direction], self._of_delta(x, slope)
        try:
            return total.plan(x, goal, slope, relative)
        except NotLow:
            if self.relative >= _FAIR:
                raise
        return total.plan(x, goal, slope, relative * _FAIR / self.relative)

    def _worse(self, goal: float) -> tuple[int, float, float, Witness]:
        """The direction that costs more, about where its δ has that logarithm, the slope there, and the witness of the
        other one."""
        x, slope = self._root(0, goal)
        if len(self.sums) == 1 or x <= 0:  # there directions are alike, mostly
            return 0, x, slope, {}
        t = bounded_by(self.sums[1], x, goal - _BELOW)
        if t is not None:
            return 0, x, slope, {"t": t}
        found = [(x, slope), self._root(1, goal)]
        worse = int(found[1][0] > x)
        (x, slope), (less, steep) = found[worse], found[1 - worse]
        below = steep * (x - less)  # nats
        relative = _ROUGH if below < -2 * _ROUGH else self._of_delta(x, steep)
        return worse, x, slope, _written(self.sums[1 - worse].plan(x, goal + below, steep, relative))

    def _of_delta(self, x: float, slope: float) -> float:
        """What must be known of δ, relatively, where ln δ has that slope."""
        return min(max(-slope * x, 1.0), _COARSER) * self.relative

    def _root(self, direction: int, goal: float) -> tuple[float, float]:
        x, slope = self.sums[direction].root(goal)
        return max(x, 0.0), slope

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """At many ε: contours made for one serve the next ones, as long as they are good enough there."""
        return shared_deltas(self, epsilons)

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """At many δ likewise."""
        return shared_epsilons(self, deltas)

    def estimate(self, delta: Fraction) -> float:
        """About ε."""
        return max(*(total.root(_log(delta))[0] for total in self.sums), 0.0)


def _log(delta: Fraction) -> float:
    return math.log(delta.numerator) - math.log(delta.denominator)


def _solved(gap: Callable[[float], float], x: float, slope: float) -> float:
    """About where a falling function of about that slope is 0."""
    for _ in range(_SECANTS):
        value = gap(x)
        following = x - value / slope
        if not math.isfinite(following) or abs(following - x) <= 1e-15 * abs(x):
            break
        x = following
    return x


def _written(plan: SmoothPlan) -> Witness:
    written: Witness = {
        "t": plan.t,
        "eta": plan.eta,
        "count": plan.count,
        "bits": plan.bits,
        "width": plan.width,
        "last": plan.last,
        "nats": plan.nats,
    }
    return written | ({"islands": [list(island) for island in plan.islands]} if plan.islands else {})


def _plan(witness: Witness) -> SmoothPlan:
    t, eta, width = (Fraction(witness[name]) for name in ("t", "eta", "width"))
    count, bits, last, nats = (int(witness[name]) for name in ("count", "bits", "last", "nats"))
    islands = tuple((int(start), int(end)) for start, end in witness.get("islands", ()))
    return SmoothPlan(t, eta, count, bits, width, last, nats, islands)


def _other(total: SmoothedSum, epsilon: Fraction, witness: Witness) -> Ball:
    if "eta" in witness:
        return total.call(ball(epsilon), _plan(witness))
    return chernoff_bound(total, epsilon, Fraction(witness["t"]))


def smoothed_profile(loss: Loss, relative: float = RELATIVE, most: float = math.inf) -> SmoothedProfile | None:
    """The smoothed contour of each direction; None when a part has no transform."""
    known = [transforms(parts) for parts in loss.directions]
    sums = [SmoothedSum(parts) for parts in known if parts is not None]
    return SmoothedProfile(tuple(sums), relative, most) if len(sums) == len(known) else None


def scattered_profile(loss: Loss) -> SmoothedProfile | None:
    """The same where a sampled record's losses are the many atoms of a noise without end, which lie on no lattice; None
    for others, whose contours are better blurred."""
    if not any(scattered(pair) for pair, _ in loss.remove):
        return None
    return smoothed_profile(loss, RELATIVE if _sampled(loss) >= _SEVERAL else _FAIR, _MOST)


def has_few_values(loss: Loss) -> bool:
    """Whether blurred contours of such a loss are likely to be better: it has a saddle, and little noise has few values
    that matter, so that the transform comes back too often."""
    variances = [_variance(pair) for pair, _ in loss.remove if scattered(pair)]
    return bool(variances) and max(variances) < _LITTLE and _sampled(loss) >= _OFTEN


def _variance(pair: Pair) -> float:
    """That of the noise; ∞ if it is not known."""
    return float(getattr(pair, "variance", getattr(getattr(pair, "base", None), "variance", math.inf)))


def _sampled(loss: Loss) -> float:
    """Records on average, and all losses that are not finite laws."""
    return sum(n * float(getattr(pair, "rate", 1)) for pair, n in loss.remove if not isinstance(pair, FinitePair))
