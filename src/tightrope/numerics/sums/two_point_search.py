"""Floats that find where a hockey-stick bound under Rényi constraints is attained. Nothing here is a proof.

A pair of laws that attains the optimum has two likelihood ratios, x0 < 1 and x1 > e^x, with masses 1 − q and
q under the second law and 1 − p and p under the first. All sizes are logarithms, so that tails may be deep.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from tightrope.numerics.minimum import minimum
from tightrope.numerics.sums.two_point_logs import (
    divergence,
    fraction_of_log,
    log_excess,
    log_expm1,
    log_gap,
    log_phi,
    log_rest,
    log_room,
    log_sum,
)

__all__ = ["Cut", "curve_search", "one_order_search", "trial", "widest_ratio"]

Cut = tuple[Fraction, Fraction, Fraction]  # p, q, order: where the constraint of that order is linearised


def one_order_search(order: float, tau: float, x: float) -> tuple[float, float]:
    """(ln δ*, x0): δ* is the largest E[(1 − e^{x−L})₊] of pairs whose divergence of that order is ≤ tau."""
    log_delta, _, x0, _ = _one_order(order - 1, tau, x)
    return log_delta, float(x0)


def trial(order: Fraction, tau: float, x: float) -> Fraction:
    """The x0 at which the certificate of one order is best; 0 (always valid) where the search fails."""
    try:
        return _one_order(float(order - 1), tau, x)[2]
    except (ValueError, OverflowError, ZeroDivisionError):
        return Fraction(0)


def curve_search(renyi_float: Callable[[float], float], x: float) -> tuple[float, list[Cut]]:
    """(ln δ*, cuts) under the Rényi constraints of all orders, with cuts that prove it nearly."""
    known: dict[float, float] = {}

    def tau(t: float) -> float:  # by t = ln(order − 1)
        if t not in known:
            try:
                value = float(renyi_float(1 + math.exp(t)))
            except (ValueError, OverflowError, ZeroDivisionError):
                value = math.inf  # an order left out only costs tightness
            known[t] = value if value == value else math.inf
        return known[t]

    def single(t: float) -> float:
        return _one_order(math.exp(t), tau(t), x)[0] if tau(t) < math.inf else math.inf

    grid = [float(t) for t in range(-16, 31)]
    rough = [_chernoff(math.exp(t), tau(t), x) for t in grid]
    start = min(range(len(grid)), key=rough.__getitem__)
    t = minimum(single, grid[start] - 1.5, grid[start] + 1.5)
    if not tau(t) < math.inf:
        return 0.0, []
    log_delta, s, x0, log_q = _one_order(math.exp(t), tau(t), x)
    log_p = min(x + s + log_q, 0.0) if x0 else 0.0
    active = [t]
    for _ in range(12):
        worst, excess = _most_violated(tau, grid, log_p, log_q)
        if excess * max(1.0, math.exp(worst) * tau(worst)) <= 1e-8:
            break
        active.append(worst)
        log_delta, log_p, log_q = _several(active, tau, x, log_delta)
    cuts = [_own_cut(t, tau(t), x)]
    if len(active) > 1:  # several constraints may meet in the optimum: then their tangents there prove it
        active.sort(key=lambda t: tau(t) - divergence(math.exp(t), log_p, log_q))
        point = fraction_of_log(log_p), fraction_of_log(log_q)
        cuts += [_own_cut(t, tau(t), x) for t in active[:2]]
        cuts += [(*point, 1 + Fraction(math.exp(t))) for t in active[:4]]
    return log_delta, cuts


def _own_cut(t: float, tau: float, x: float) -> Cut:
    """The cut of one order at its own optimum."""
    _, s, x0, log_q = _one_order(math.exp(t), tau, x)
    order, q = 1 + Fraction(math.exp(t)), fraction_of_log(log_q)
    if not x0:
        return Fraction(1), q, order
    # The slope of the cut must not pass e^x, so x1 is taken a trifle too small; it costs about as much in δ.
    ratio = fraction_of_log(x + s - max(1e-10 * s, 1e-15 * (1 + abs(x))))
    return min(q * ratio, Fraction(1)), q, order


def widest_ratio(b: float, tau: float, log_p: float) -> float:
    """ln(p/q) for the least q with D_{1+b}(p‖q) ≤ tau."""
    if not tau:
        return 0.0
    goal = log_room(b, tau)
    far = tau - log_p / b  # there p^a q^{−b} alone fills the constraint; at tau it holds, since D ≤ ln(p/q)
    return math.exp(_root(lambda w: log_excess(b, log_p, math.exp(w)) - goal, math.log(tau), math.log(far)))


def _one_order(b: float, tau: float, x: float) -> tuple[float, float, Fraction, float]:
    """(ln δ*, ln(x1/e^x), x0, ln q) for the order 1 + b: x0 is where (x0, x1) has the full moment."""
    widest = math.log1p(1 / b)  # −ln(1 − 1/order)
    tau = max(tau, 5e-324)
    if tau >= x + widest:  # p = 1
        return log_expm1(tau - x) + x - tau, widest, Fraction(0), -tau
    goal = log_room(b, tau)

    def ratios(u: float) -> tuple[float, float, float]:  # by u = ln z, x0 = min(1, e^x)(1 − z)
        log0 = min(x, 0.0) + log_rest(u)
        s = _mirror(b, log0 - x, widest)
        spread = x + s + log_rest(log0 - x - s)
        log_q = (u if x >= 0 else log_rest(log0)) - spread
        return log0, s, log_q

    def miss(u: float) -> float:
        log0, s, log_q = ratios(u)
        if x + s <= 0 or log_q >= 0:
            return -math.inf
        rest = log_rest(-x - s) - log_rest(log0 - x - s)
        return log_sum(log_q + log_phi(b, x + s), rest + log_phi(b, log0)) - goal

    low = -1.0
    while miss(low) > 0 and low > -1e306:
        low *= 2
    u = _root(miss, low, low / 2 if low < -1 else 0.0)
    log0, s, log_q = ratios(u)
    width = log_rest(b * (log0 - x - s))
    log_delta = log_sum(goal, log_gap(b, log0)) - b * (x + s) - math.log1p(b) - width
    x0 = 1 - Fraction(math.exp(u)) if x >= 0 and u < -1 else Fraction(math.exp(log0))
    return min(log_delta, 0.0), s, x0, log_q


def _mirror(b: float, v: float, widest: float) -> float:
    """The s > 0 with gap(s) = gap(v), v < 0; it is below −v and ``widest``, where Newton starts."""
    if v == -math.inf:
        return widest
    goal, s = log_gap(b, v), min(widest, -v)
    for _ in range(60):
        if s < 1e-300:
            break
        gap = log_gap(b, s)
        slope = math.exp(math.log(b) + math.log1p(b) + b * s + log_expm1(s) - gap) * s
        step = (gap - goal) / slope
        s *= math.exp(-step)
        if abs(step) < 1e-14:
            break
    return min(s, widest)


def _most_violated(
    tau: Callable[[float], float], grid: Sequence[float], log_p: float, log_q: float
) -> tuple[float, float]:
    """The order (as ln(order − 1)) whose constraint the point breaks most, and by how much relatively."""

    def slack(t: float) -> float:
        value = divergence(math.exp(t), log_p, log_q)
        return (tau(t) - value) / value if tau(t) < math.inf and value > 0 else math.inf

    centre = min(grid, key=slack)
    t = minimum(slack, centre - 1, centre + 1)
    return t, -slack(t)


def _several(
    active: Sequence[float], tau: Callable[[float], float], x: float, above: float
) -> tuple[float, float, float]:
    """(ln δ, ln p, ln q) of the best point under the constraints of a few orders."""

    def q(log_p: float) -> float:
        return log_p - min(widest_ratio(math.exp(t), tau(t), log_p) for t in active)

    def loss(log_p: float) -> float:
        share = x + q(log_p) - log_p  # ln(e^x q/p)
        return -(log_p + log_rest(share)) if share < 0 else 1e6 + share

    log_p = min(0.0, minimum(loss, above - 40, 0.0, 1e-11), key=loss)
    return -loss(log_p), log_p, q(log_p)


def _chernoff(b: float, tau: float, x: float) -> float:
    value = b * (tau - x) - b * math.log1p(1 / b) - math.log1p(b)
    return value if value == value else math.inf


def _root(f: Callable[[float], float], low: float, high: float) -> float:
    """Where an increasing function passes zero: secants that keep the bracket (Illinois), else halves."""
    at_low, at_high = f(low), f(high)
    for _ in range(100):
        if abs(high - low) <= 1e-14 * max(abs(low), abs(high)):
            break
        middle = (low + high) / 2
        if math.isfinite(at_low) and math.isfinite(at_high) and at_low < 0 < at_high:
            middle = min(max(high - at_high * (high - low) / (at_high - at_low), low), high)
        value = f(middle)
        if value == 0 or middle in (low, high):
            return middle
        if value < 0:
            low, at_low, at_high = middle, value, at_high / 2
        else:
            high, at_high, at_low = middle, value, at_low / 2
    return (low + high) / 2
