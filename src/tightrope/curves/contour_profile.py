"""The profile of any composition whose parts have a moment generating function: one contour integral a direction."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from tightrope.curves.loss import Loss, Parts, merged
from tightrope.curves.profile import Profile, Witness, within_unit
from tightrope.errors import NotCertified, TightropeError
from tightrope.numerics.balls import Ball, ball, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.contour import ContourSum, Plan
from tightrope.numerics.exact import near
from tightrope.numerics.real import Real, largest

_RELATIVE = 1e-12
_STEPS = tuple(10.0**k for k in range(-14, -3))


@dataclass(frozen=True, eq=False)
class ContourProfile(Profile):
    """One sum of losses for each direction. The direction that costs more is integrated, the other bounded below it."""

    sums: tuple[ContourSum, ...]
    distance: Real  # an upper bound on δ(0): total variations add at most

    def find(self, epsilon: Fraction) -> Witness:
        """The contour of the worse direction; for the other one the t of its Chernoff bound, or a contour too."""
        with _floats():
            return self._found(epsilon)

    def _found(self, epsilon: Fraction) -> Witness:
        x = near(epsilon)
        estimates = [_estimate(total, x) for total in self.sums]
        worse = max(range(len(self.sums)), key=lambda i: estimates[i])
        witness: Witness = {"direction": worse, **_written(self.sums[worse].plan(x, _RELATIVE))}
        for i, total in enumerate(self.sums):
            if i == worse:
                continue
            t = _bounded_by(total, x, estimates[worse] - 1e-6)
            witness["other"] = {"t": t} if t is not None else _written(total.plan(x, _RELATIVE))
        return witness

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The larger of both directions."""
        if "distance" in witness:
            return Ball(0).union(self._distance())
        worse = int(witness["direction"])
        if not 0 <= worse < len(self.sums):
            raise NotCertified("the worse direction", f"there is no direction {worse}")
        with precision(int(witness["bits"])):
            value = self.sums[worse].call(ball(epsilon), _plan(witness))
        for i, total in enumerate(self.sums):
            if i != worse:
                other = _other(total, epsilon, witness["other"])
                with precision(256):
                    value = value.max(other)
        return within_unit(value)

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Solve in floats, then prove both sides of the solution on one contour."""
        leaks = [sharp(total.infinite) for total in self.sums]
        with precision(160):
            if any(leak >= ball(delta) for leak in leaks):
                return Bound(math.inf if any(leak > ball(delta) for leak in leaks) else 0.0, math.inf), {}
            if self._distance() <= ball(delta):
                return Bound(0.0, 0.0), {"distance": "the parts' total variations"}
        goal = math.log(delta.numerator) - math.log(delta.denominator)
        with _floats():
            x = max(_root(total, goal) for total in self.sums)
            if not x > 0:
                return self._at_zero(delta)
            witness = self.find(Fraction(x))
            x = self.sums[int(witness["direction"])].polished(x, goal, _plan(witness))
        upper = next((e for e in _around(x, 1) if self._compares(e, witness, delta, below=True)), None)
        if upper is None:
            raise NotCertified("the exact profile", f"no contour proved an ε near {x:.6g}")
        lower = next((e for e in _around(x, -1) if self._compares(e, witness, delta, below=False)), 0.0)
        return Bound(lower, upper), witness

    def _distance(self) -> Ball:
        return sharp(self.distance.ball, bits=40)

    def _at_zero(self, delta: Fraction) -> tuple[Bound, Witness]:
        witness = self.find(Fraction(0))
        if not self._compares(0.0, witness, delta, below=True):
            raise NotCertified("the exact profile", "ε is too close to 0 to be told from it")
        return Bound(0.0, 0.0), witness

    def _compares(self, x: float, witness: Witness, delta: Fraction, below: bool) -> bool:
        value = self.prove(Fraction(x), witness)
        with precision(200):
            return bool(value <= ball(delta)) if below else bool(value > ball(delta))


@contextmanager
def _floats() -> Iterator[None]:
    """Searches in floats may overflow at extremes; then they have found nothing."""
    import numpy as np

    try:
        with np.errstate(all="ignore"):
            yield
    except (ArithmeticError, ValueError) as wrong:
        if isinstance(wrong, TightropeError):
            raise
        raise NotCertified("a contour integral", f"the search left the range of floats ({wrong})") from None


def _bounded_by(total: ContourSum, x: float, level: float) -> Fraction | None:
    """A t at which the Chernoff bound is proved to stay below e^level, if one is found quickly."""
    first = min(max(total.chernoff(x)[1], 1e-3), 1e9)
    for t in (first, 1.0, 8.0, 64.0, 512.0, 4096.0):
        at = Fraction(t).limit_denominator(1024)
        try:
            with precision(128):
                if at > 0 and total.upper(Ball(x), at) <= Ball(level).exp():
                    return at
        except NotCertified:  # too far out for this law: a smaller t may do
            continue
    return None


def _estimate(total: ContourSum, x: float) -> float:
    try:
        return total.estimate(x)
    except NotCertified:
        return -math.inf  # too little is left for floats to see; the other direction, or the proof, decides


def _root(total: ContourSum, goal: float) -> float:
    try:
        return total.root(goal)
    except NotCertified:
        return 0.0


def _around(x: float, sign: int) -> list[float]:
    return [x * (1 + sign * step) for step in _STEPS]


def _written(plan: Plan) -> Witness:
    return {"t": plan.t, "eta": plan.eta, "count": plan.count, "bits": plan.bits}


def _plan(witness: Witness) -> Plan:
    return Plan(Fraction(witness["t"]), Fraction(witness["eta"]), int(witness["count"]), int(witness["bits"]))


def _other(total: ContourSum, epsilon: Fraction, witness: Witness) -> Ball:
    if "eta" in witness:
        with precision(int(witness["bits"])):
            return total.call(ball(epsilon), _plan(witness))
    t = Fraction(witness["t"])
    if t <= 0:
        raise NotCertified("the lesser direction", f"Chernoff's bound needs t > 0, not {t}")
    with precision(128):
        return Ball(0).union(total.upper(ball(epsilon), t))


def contour_profile(loss: Loss) -> ContourProfile | None:
    """The contour of each direction; None when a part has no transform."""
    sums = []
    for parts in loss.directions:
        found = [(pair.transform(), n) for pair, n in merged(parts)]
        known = [(transform, n) for transform, n in found if transform is not None]
        if len(known) < len(found):
            return None
        sums.append(ContourSum(known))
    sizes = [Real(None, partial(_total_variation, merged(parts))) for parts in loss.directions]
    return ContourProfile(tuple(sums), largest(sizes))


def _total_variation(parts: Parts) -> Ball:
    return sum((pair.call(Ball(0)) * n for pair, n in parts), Ball(0))
