"""The profile of symmetric compositions with atoms and rare large losses, by flat contours of the loss with a tiny
normal loss added (``numerics/contour/smoothed_proof.py``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tightrope.curves.engines.contour_profile import transforms
from tightrope.curves.engines.enclosed_root import ends_near
from tightrope.curves.loss import Loss
from tightrope.curves.profile import Profile, Witness, within_unit
from tightrope.curves.shared_proofs import shared_deltas, shared_epsilons
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.contour.smoothed import SmoothedSum, SmoothPlan
from tightrope.numerics.exact import near

__all__ = ["RELATIVE", "SmoothedProfile", "smoothed_profile"]

RELATIVE, _COARSEST = 5e-10, 1e-7  # of ε, and of δ wherever that is
_SECANTS = 5


@dataclass(frozen=True, eq=False)
class SmoothedProfile(Profile):
    """Of one direction, which is its own reverse."""

    total: SmoothedSum
    relative: float = RELATIVE  # how near to each other the ends are to be
    may_be_wide = True

    def suits(self, level: float) -> bool:
        """Whether other contours are long where ln δ is about that."""
        return (self.total.dear() and self.total.weak()) or self.total.rare(level)

    def find(self, epsilon: Fraction) -> Witness:
        """A plan for about this δ."""
        return _written(self.total.plan_at(near(epsilon), self.relative))

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The proof of the plan."""
        plan = _plan(witness)
        with precision(max(plan.bits, 64) + 64):
            return within_unit(self.total.call(ball(epsilon), plan))

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Solve on proved values, then for both ends of one proof; each end is proved where it is returned."""
        leak = sharp(self.total.infinite)
        with precision(160):
            if leak >= ball(delta):
                return Bound(math.inf if leak > ball(delta) else 0.0, math.inf), {}
        goal = _log(delta)
        x, slope = self.total.root(goal)
        if not x > 0:
            raise NotCertified("a smoothed contour", "ε is too close to 0 to be told from it")
        relative = min(max(-slope * x, 1.0) * self.relative, max(_COARSEST, self.relative))
        witness = _written(self.total.plan(x, goal, slope, relative))

        def logs(at: float, end: Callable[[Ball], Ball]) -> float:
            with precision(int(witness["bits"]) + 64):
                value = end(self.total.call(Ball(at), _plan(witness)))
                return float(value.log().mid()) - goal if value > 0 else -math.inf

        high, low = (_solved(lambda at, end=end: logs(at, end), x, slope) for end in (Ball.upper, Ball.lower))  # type: ignore[misc]  # bound now
        return ends_near(self, low, high, delta, witness), witness

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """At many ε: contours made for one serve the next ones, as long as they are good enough there."""
        return shared_deltas(self, epsilons)

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """At many δ likewise."""
        return shared_epsilons(self, deltas)

    def estimate(self, delta: Fraction) -> float:
        """About ε."""
        return max(self.total.root(_log(delta))[0], 0.0)


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
    return {
        "t": plan.t,
        "eta": plan.eta,
        "count": plan.count,
        "bits": plan.bits,
        "width": plan.width,
        "last": plan.last,
        "nats": plan.nats,
    }


def _plan(witness: Witness) -> SmoothPlan:
    t, eta, width = (Fraction(witness[name]) for name in ("t", "eta", "width"))
    count, bits, last, nats = (int(witness[name]) for name in ("count", "bits", "last", "nats"))
    return SmoothPlan(t, eta, count, bits, width, last, nats)


def smoothed_profile(loss: Loss, relative: float = RELATIVE) -> SmoothedProfile | None:
    """The smoothed contour of a symmetric loss; None for others, and when a part has no transform."""
    known = transforms(loss.remove) if loss.add is None else None
    return None if known is None else SmoothedProfile(SmoothedSum(known), relative)
