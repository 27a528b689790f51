"""Floats that find the ε at which finitely many Rényi constraints allow a given δ. Nothing here is a proof.

ε = max over p of ln((p − δ)/q(p)), where q(p) is the least q that keeps every constraint D_α(p‖q) ≤ τ_α. The set of
such (p, q) is convex, so there is one maximum: where the boundary's slope passes (p − δ)/q, or at a corner of two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from tightrope.numerics.exact import near
from tightrope.numerics.sums.two_point_logs import divergence, fraction_of_log, log_excess, log_rest, log_room
from tightrope.numerics.sums.two_point_search import Cut, widest_ratio

__all__ = ["knot_epsilon"]

_ROUNDS = 8
_KEPT = 1e-9  # a constraint broken by less than this is left to the slack of the proof


class _Knot:
    """One order, with the last ratio found as the start for the next one."""

    def __init__(self, order: Fraction, tau: float) -> None:
        self.order, self.tau = order, tau
        self.b = near(order - 1)
        self.goal = log_room(self.b, tau)
        self._last: float | None = None
        self._slope = 1.0

    def ratio(self, log_p: float) -> float:
        """ln(p/q) for the least q: secants from the last answer, from afar where they wander off."""
        w = self._last
        if w is not None:
            value = self._miss(log_p, w)
            for _ in range(8):
                step = value / self._slope
                if abs(step) <= 1e-12 * (1 + abs(w)):
                    self._last = w - step
                    return math.exp(w - step)
                after = self._miss(log_p, w - step)
                if not math.isfinite(after) or not abs(after) < abs(value):
                    break
                self._slope, value, w = (value - after) / step, after, w - step
        found = widest_ratio(self.b, self.tau, log_p)
        w = math.log(found)
        self._last, self._slope = w, (self._miss(log_p, w + 1e-4) - self._miss(log_p, w - 1e-4)) / 2e-4
        return found

    def _miss(self, log_p: float, w: float) -> float:
        return log_excess(self.b, log_p, math.exp(w)) - self.goal

    def chernoff(self, log_delta: float) -> float:
        """The ε of Canonne, Kamath and Steinke at this order."""
        return self.tau - (log_delta + math.log1p(self.b)) / self.b - math.log1p(1 / self.b)

    def log_slope(self, log_p: float, ratio: float) -> float:
        """ln of the boundary's slope dp/dq, less ln(p/q)."""
        share = math.exp(log_p + log_rest(-ratio) - log_rest(log_p - ratio))  # (p − q)/(1 − q)
        w = math.log1p(-share) - ratio if share < 1 and log_p < 0 else -math.inf
        return log_rest((1 + self.b) * w) - log_rest(self.b * w) - math.log1p(1 / self.b)


def knot_epsilon(knots: Sequence[tuple[Fraction, float]], log_delta: float) -> tuple[float, list[Cut]] | None:
    """(ε, cuts that prove nearly it) under the constraints (order, τ); None where floats do not settle it."""
    try:
        return _settled([_Knot(order, max(tau, 5e-324)) for order, tau in knots if tau < math.inf], log_delta)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None


def _settled(every: list[_Knot], log_delta: float) -> tuple[float, list[Cut]] | None:
    active = [min(every, key=lambda knot: knot.chernoff(log_delta))] if every else []
    for _ in range(_ROUNDS if every else 0):
        log_p, ratio, tight = _best_point(active, log_delta)
        broken = {k: divergence(k.b, log_p, log_p - ratio) / k.tau - 1 for k in every if k not in active}
        worst = max(broken, key=broken.__getitem__, default=None)
        if worst is None or broken[worst] <= _KEPT:
            return ratio + log_rest(log_delta - log_p), _cuts(tight, log_p, ratio)
        active.append(worst)
    return None


def _best_point(active: list[_Knot], log_delta: float) -> tuple[float, float, list[_Knot]]:
    """(ln p, ln(p/q)) of the largest ε, and the constraints that meet there."""

    def log_p(y: float) -> float:  # by y = ln(p/δ − 1)
        return min(log_delta + (y + math.log1p(math.exp(-y)) if y > 0 else math.log1p(math.exp(y))), 0.0)

    def falling(y: float) -> float:
        """Negative where ε still grows with p."""
        at = log_p(y)
        ratio, i = min((knot.ratio(at), i) for i, knot in enumerate(active))
        return log_rest(log_delta - at) - active[i].log_slope(at, ratio)

    end = log_rest(log_delta) - log_delta  # p = 1
    middle = min(max(math.log(active[-1].b), -30.0), end)  # there it is for small δ under one constraint
    low, high = middle - 0.5, min(middle + 0.5, end)
    while falling(low) > 0:
        low, high = low - 2 * (high - low), low
    while high < end and falling(high) < 0:
        low, high = high, min(high + 2 * (high - low), end)
    at = 0.0 if high == end and falling(end) <= 0 else log_p(_zero(falling, low, high))
    ratios = sorted((knot.ratio(at), i) for i, knot in enumerate(active))
    near = [active[i] for r, i in ratios if r <= ratios[0][0] * (1 + 1e-7)]
    return at, ratios[0][0], near[:3]


def _zero(f: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function passes zero, or jumps over it: secants that keep the bracket, then halves."""
    at_low, at_high = f(low), f(high)
    for step in range(60):
        x = (low + high) / 2 if step % 3 == 2 else high - at_high * (high - low) / (at_high - at_low)
        value = f(x)
        if abs(value) < 1e-11 or high - low < 1e-12 * (1 + abs(x)):
            return x
        if value < 0:
            low, at_low = x, value
        else:
            high, at_high = x, value
    return x


def _cuts(tight: list[_Knot], log_p: float, ratio: float) -> list[Cut]:
    """Tangents at the point; a single one is taken where its slope is a trifle less, or it would have to be paid."""
    q = fraction_of_log(log_p - ratio)
    p = Fraction(1) if log_p == 0 else fraction_of_log(log_p)
    if len(tight) > 1 or p == 1:
        return [(p, q, knot.order) for knot in tight]
    lowered = fraction_of_log(ratio - max(1e-10 * abs(tight[0].log_slope(log_p, ratio)), 4e-16 * ratio))
    return [(min(q * lowered, p), q, tight[0].order)]
