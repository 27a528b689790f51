"""From a Rényi curve to a privacy profile: the classic way, the better way, and the best possible way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from tightrope.curves.profile import Profile, Witness, within_unit
from tightrope.curves.renyi import LinearRenyi, Renyi
from tightrope.curves.renyi_points import Objective, RenyiPoints
from tightrope.curves.renyi_units import refuse_long, spend_on_value
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import INFINITY, Ball, ball, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import near
from tightrope.numerics.many_roots import ends_first
from tightrope.numerics.search import least
from tightrope.numerics.sums.two_point import curve_upper
from tightrope.numerics.sums.two_point_epsilon import knot_epsilon
from tightrope.numerics.sums.two_point_search import curve_search
from tightrope.theorems import Source, theorem

if TYPE_CHECKING:
    from tightrope.curves.renyi_points import Floats

Answer = TypeVar("Answer")
_LEAST, _MOST = 1e-7, 1e9  # the search range of λ = α − 1; any order found is a proof, so the range is no assumption
_CHECKED = 32  # orders of a line at which the answer found at its end is looked at
_FEW, _BITS = 8, 160  # points, more of which share orders; bits of what is proved of these
_TANGENTS = 4e4  # units of work of a search for tangents
_SHARP = 1e-13  # relatively: a wider answer is one of a divergence that is not known sharply


@dataclass(frozen=True, eq=False)
class OneOrderProfile(Profile):
    """The best single order. ``sharpened``: with the factor λ^λ/(1+λ)^{1+λ} of Canonne, Kamath and Steinke; else
    without."""

    curve: Renyi
    sharpened: bool = True

    def _saving(self, lam: float) -> float:
        return lam * math.log1p(1 / lam) + math.log1p(lam) if self.sharpened else 0.0

    def _saving_ball(self, lam: Ball) -> Ball:
        return lam * (1 / lam).log1p() + lam.log1p() if self.sharpened else Ball(0)

    def _order(self, objective_at: Callable[[float, float], float]) -> Witness:
        refuse_long(self.curve)
        top = math.inf if self.curve.top is None else near(self.curve.top)
        high = min(top - 1, _MOST)

        def objective(lams: list[float]) -> list[float]:
            values = _approximations(self.curve, [max(min(1 + lam, top), 1 + 2.0**-50) for lam in lams])
            return [objective_at(lam, d) if math.isfinite(d) else math.inf for lam, d in zip(lams, values, strict=True)]

        best = least(objective, min(_LEAST, high / 4), high)
        order = Fraction(1 + best).limit_denominator(2**20)
        if self.curve.top is not None and (order > self.curve.top or best >= high):
            order = self.curve.top
        return {"order": order if order > 1 else Fraction(1 + best)}

    def misses(self, delta: Fraction, epsilon: Fraction) -> bool:
        """Floats tell, at the best order: a proof there may be long."""
        log, lam = math.log(delta.denominator) - math.log(delta.numerator), math.inf

        def reached(at: float, d: float) -> float:
            nonlocal lam
            value = d + (log - self._saving(at)) / at
            lam = min(lam, value)
            return value

        self._order(reached)
        return lam > near(epsilon)

    def find(self, epsilon: Fraction) -> Witness:
        """The order at which δ is least."""
        e = float(min(epsilon, Fraction(10**300)))
        return self._order(lambda lam, d: lam * (d - e) - self._saving(lam))

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """δ = e^{λ(D − ε)}·λ^λ/(1+λ)^{1+λ} at the order 1 + λ."""

        order = Fraction(witness["order"])
        if order <= 1:
            raise NotCertified("the conversion from Rényi divergences", f"the order must exceed 1, not {order}")
        spend_on_value(self.curve)
        value = sharp(lambda: self._delta_ball(order, self.curve.divergence(order), epsilon), 72, start=128, limit=2000)
        return within_unit(value)

    def _delta_ball(self, order: Fraction, divergence: Ball, epsilon: Fraction) -> Ball:
        lam = ball(order - 1)
        return (lam * (divergence - ball(epsilon)) - self._saving_ball(lam)).exp()

    def _epsilon_ball(self, order: Fraction, divergence: Ball, delta: Fraction) -> Ball:
        lam = ball(order - 1)
        return divergence - (ball(delta).log() + self._saving_ball(lam)) / lam

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """ε = D + (ln(1/δ) − saving)/λ at the best order, clipped at 0."""
        log = math.log(delta.denominator) - math.log(delta.numerator)
        witness = self._order(lambda lam, d: d + (log - self._saving(lam)) / lam)

        order = witness["order"]
        spend_on_value(self.curve)
        value = sharp(lambda: self._epsilon_ball(order, self.curve.divergence(order), delta), 60, start=128, limit=2000)
        found = Bound.around(value, least=0.0)
        return self._proved_again(found, delta, witness), witness

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """Orders that many points share."""
        if len(deltas) <= _FEW:
            return super().epsilons(deltas)
        logs = [math.log(delta.denominator) - math.log(delta.numerator) for delta in deltas]
        points, rows = self._shared([partial(self._epsilon_floats, log) for log in logs])
        with precision(_BITS):
            found = [
                None if order is None else self._epsilon_ball(order, points.divergence(order), delta)
                for order, delta in zip(rows, deltas, strict=True)
            ]
            return [None if value is None else Bound.around(value, least=0.0) for value in found]

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """Likewise."""
        if len(epsilons) <= _FEW:
            return super().deltas(epsilons)
        places = [float(min(epsilon, Fraction(10**300))) for epsilon in epsilons]
        points, rows = self._shared([partial(self._delta_floats, place) for place in places])
        with precision(_BITS):
            return [
                None if order is None else within_unit(self._delta_ball(order, points.divergence(order), epsilon))
                for order, epsilon in zip(rows, epsilons, strict=True)
            ]

    def _shared(self, objectives: Sequence[Objective]) -> tuple[RenyiPoints, list[Fraction | None]]:
        points = RenyiPoints(self.curve, _LEAST, _MOST)
        return points, points.orders(objectives)

    def _epsilon_floats(self, log: float, lam: Floats, d: Floats) -> Floats:
        return d + (log - self._savings(lam)) / lam

    def _delta_floats(self, epsilon: float, lam: Floats, d: Floats) -> Floats:
        return lam * (d - epsilon) - self._savings(lam)

    def _savings(self, lam: Floats) -> Floats:
        import numpy as np

        return lam * np.log1p(1 / lam) + np.log1p(lam) if self.sharpened else 0 * lam

    def _proved_again(self, found: Bound, delta: Fraction, witness: Witness) -> Bound:
        """The same, or a little more: a divergence that is not known sharply may be less sharp in another proof."""
        width = found.upper - found.lower
        if not width > _SHARP * found.upper or not math.isfinite(found.upper):
            return found
        for slack in (width / found.upper / 4, width / found.upper, 1e-6):
            upper = found.upper * (1 + slack)
            with precision(160):
                if self.prove(Fraction(upper), witness) <= ball(delta):
                    return Bound(found.lower, upper)
        raise NotCertified("the conversion from Rényi divergences", "its proofs do not agree")


def _approximations(curve: Renyi, orders: list[float]) -> list[float]:
    """The curve in floats, ∞ at orders where it gives up: they are left out of the search."""
    try:
        return curve.approximations(orders)
    except NotCertified:
        if len(orders) == 1:
            return [math.inf]
        return [value for order in orders for value in _approximations(curve, [order])]


@theorem(of=Renyi, gives=Profile, kind="upper", role="profile", source=Source("mironov2017renyi", "Prop. 3"))
def renyi_to_profile_classic(c: Renyi) -> Profile:
    """(α, τ)-RDP implies (τ + ln(1/δ)/(α − 1), δ)-DP."""
    return OneOrderProfile(c, sharpened=False)


@theorem(of=Renyi, gives=Profile, kind="upper", role="profile", source=Source("canonne2020discrete", "Prop. 12"))
def renyi_to_profile(c: Renyi) -> Profile:
    """(α, τ)-RDP implies δ ≤ e^{(α−1)(τ−ε)}·(1 − 1/α)^α/(α − 1)."""
    return OneOrderProfile(c)


def classic_zcdp_epsilon(rho: Ball, xi: Ball, delta: Fraction) -> Ball:
    """ξ + ρ + 2√(ρ ln(1/δ)): Bun and Steinke's conversion, kept for comparison."""
    if not rho.is_finite():
        return INFINITY
    return (xi + rho + 2 * (rho * -ball(delta).log()).sqrt()).max(Ball(0))


@dataclass(frozen=True, eq=False)
class WholeCurveProfile(Profile):
    """The largest p − e^ε q over all pairs of coins (p, q) that satisfy the curve at every order: nothing better
    follows from it."""

    curve: Renyi

    def find(self, epsilon: Fraction) -> Witness:
        """Tangents (p, q, order) around the optimum."""
        _, cuts = curve_search(self.curve.approximate, float(min(epsilon, Fraction(10**300))))
        return {"cuts": cuts}

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """Every tangent contains the feasible set, so the linear program over them is an upper bound."""
        with precision(128):
            return within_unit(curve_upper(self.curve.divergence, ball(epsilon), witness["cuts"]))

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """The points that there is work for, the outermost first: no search helps the next."""
        return self._some(epsilons, self._delta)

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """Likewise."""
        return self._some(deltas, self._epsilon)

    @staticmethod
    def _some(points: Sequence[Fraction], ask: Callable[[Fraction], Answer | None]) -> list[Answer | None]:
        found: dict[Fraction, Answer | None] = {}
        for x in ends_first(sorted(set(points))):
            if not effort.affords(_TANGENTS):
                break
            effort.spend(_TANGENTS, "the best conversion of the Rényi curve")
            found[x] = ask(x)
        return [found.get(x) for x in points]

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Found in floats, at the knots of the curve where it has any; then one proof."""
        start, first = OneOrderProfile(self.curve).epsilon(delta)
        if start.upper == 0.0 or not math.isfinite(start.upper):
            return start, {"cuts": []} if start.upper else first
        goal = math.log(delta.numerator) - math.log(delta.denominator)
        found = self._at_knots(delta, goal, first["order"])
        if found is not None:
            return found
        if self.curve.knots is not None:
            raise NotCertified("the best conversion of the Rényi curve", "its tangents did not close the gap")
        x = self._descended(goal, start.upper, first["order"])
        for slack in (1e-10, 1e-8, 1e-6, 1e-4):
            trial = x * (1 + slack)
            witness = self.find(Fraction(trial))  # the tangents turn with ε, so they are sought anew
            if self._keeps(delta, trial, witness):
                return Bound(x * (1 - slack), trial), witness
        raise NotCertified("the best conversion of the Rényi curve", "its tangents did not close the gap")

    def _keeps(self, delta: Fraction, x: float, witness: Witness) -> bool:
        with precision(160):
            return bool(self.prove(Fraction(x), witness) <= ball(delta))

    def _at_knots(self, delta: Fraction, goal: float, best: Fraction) -> tuple[Bound, Witness] | None:
        """The answer where finitely many orders decide it: those of the curve, or the end of a line that ends."""
        orders, end = self.curve.knots or (), self.curve.top
        if isinstance(self.curve, LinearRenyi) and end is not None and best == end:
            orders = tuple(1 + (end - 1) * k / _CHECKED for k in range(1, _CHECKED + 1))
        knots = [(order, self.curve.approximate(near(order))) for order in orders]
        for slack in (5e-10, 1e-7) if knots else ():  # a little less δ: what the tangents lose fits between
            found = knot_epsilon(knots, goal - slack)
            if found is None or (self.curve.knots is None and any(order != end for _, _, order in found[1])):
                return None
            x, witness = max(found[0], 0.0), {"cuts": found[1]}
            if self._keeps(delta, x, witness):
                moved = 2 * slack * near(delta / (found[1][0][0] - delta))  # by the slope of δ at the tangent point
                return Bound(max(x * (1 - 1e-12) - moved, 0.0), x), witness
        return None

    def _descended(self, goal: float, above: float, order: Fraction) -> float:
        """Newton's steps down from the best single order, whose λ is nearly the slope of −ln δ."""
        x, slope = above, near(order - 1)
        for _ in range(4):
            step = (curve_search(self.curve.approximate, x)[0] - goal) / slope
            x = min(max(x + step, x / 2), above)
            if abs(step) < 1e-7 * x:
                break
        return x


@theorem(
    of=Renyi,
    gives=Profile,
    kind="equal",
    role="profile",
    source=Source("asoodeh2021three", "Thm 3, for all orders at once"),
)
def renyi_to_profile_optimally(c: Renyi) -> Profile:
    """δ(ε) = max{p − e^ε q : D_α(p‖q) ≤ ε(α) for every α}: the event dP > e^ε dQ is a test with two outcomes, which
    keeps the hockey-stick and lowers every D_α."""
    return WholeCurveProfile(c)
