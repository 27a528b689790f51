"""Floats that find where a hockey-stick bound under Rényi constraints is attained. Nothing here is a proof.

A pair of laws that attains the optimum has two likelihood ratios, x0 < 1 and x1 > e^x, with masses 1 − q and
q under the second law and 1 − p and p under the first. All sizes are logarithms, so that tails may be deep.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

__all__ = [
    "Cut",
    "curve_search",
    "divergence",
    "fraction_of_log",
    "log_excess",
    "log_of_fraction",
    "log_rest",
    "log_room",
    "one_order_search",
    "trial",
    "widest_ratio",
]

Cut = tuple[Fraction, Fraction, Fraction]  # p, q, order: where the constraint of that order is linearised

_LOG2 = math.log(2)
_FARTHEST = 1e5  # a cut is valid anywhere, so larger logarithms need not become (enormous) rationals
_GOLDEN = (math.sqrt(5) - 1) / 2


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
    t = _least(single, grid[start] - 1.5, grid[start] + 1.5)
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


def fraction_of_log(log_value: float) -> Fraction:
    """A rational near e^log_value, far beyond the range of floats too, and relatively near 1 as well."""
    log_value = max(min(log_value, _FARTHEST), -_FARTHEST)
    if abs(log_value) < 0.5:
        return 1 + Fraction(math.expm1(log_value))
    power = math.floor(log_value / _LOG2)
    return Fraction(math.exp(log_value - power * _LOG2)) * Fraction(2) ** power


def log_of_fraction(value: Fraction) -> float:
    """ln of a positive rational, far beyond the range of floats too."""
    power = value.numerator.bit_length() - value.denominator.bit_length()
    return math.log(value / Fraction(2) ** power) + power * _LOG2


def _one_order(b: float, tau: float, x: float) -> tuple[float, float, Fraction, float]:
    """(ln δ*, ln(x1/e^x), x0, ln q) for the order 1 + b: x0 is where (x0, x1) has the full moment."""
    widest = math.log1p(1 / b)  # −ln(1 − 1/order)
    tau = max(tau, 5e-324)
    if tau >= x + widest:  # p = 1
        return _log_expm1(tau - x) + x - tau, widest, Fraction(0), -tau
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
        return _log_sum(log_q + _log_phi(b, x + s), rest + _log_phi(b, log0)) - goal

    low = -1.0
    while miss(low) > 0 and low > -1e306:
        low *= 2
    u = _root(miss, low, low / 2 if low < -1 else 0.0)
    log0, s, log_q = ratios(u)
    width = log_rest(b * (log0 - x - s))
    log_delta = _log_sum(goal, _log_gap(b, log0)) - b * (x + s) - math.log1p(b) - width
    x0 = 1 - Fraction(math.exp(u)) if x >= 0 and u < -1 else Fraction(math.exp(log0))
    return min(log_delta, 0.0), s, x0, log_q


def _mirror(b: float, v: float, widest: float) -> float:
    """The s > 0 with gap(s) = gap(v), v < 0; it is below −v and ``widest``, where Newton starts."""
    if v == -math.inf:
        return widest
    goal, s = _log_gap(b, v), min(widest, -v)
    for _ in range(60):
        if s < 1e-300:
            break
        log_gap = _log_gap(b, s)
        slope = math.exp(math.log(b) + math.log1p(b) + b * s + _log_expm1(s) - log_gap) * s
        step = (log_gap - goal) / slope
        s *= math.exp(-step)
        if abs(step) < 1e-14:
            break
    return min(s, widest)


def _log_eta(z: float) -> float:
    """ln(e^z − 1 − z)."""
    if z == 0:
        return -math.inf
    if z > 30:
        return z + math.log1p(-(1 + z) * math.exp(-z))
    if abs(z) < 0.01:
        return 2 * math.log(abs(z)) - _LOG2 + math.log1p(z / 3 + z * z / 12 + z**3 / 60 + z**4 / 360)
    return math.log(math.expm1(z) - z)


def _log_gap(b: float, v: float) -> float:
    """ln(1 − a r^b + b r^a) at r = e^v, a = 1 + b: all terms positive, nothing cancels."""
    return b * v + _log_sum(math.log(b) + _log_eta(v), _log_eta(-b * v)) if v > -math.inf else 0.0


def _log_phi(b: float, w: float) -> float:
    """ln(r^a − 1 − a(r − 1)) at r = e^w, a = 1 + b."""
    return w + _log_sum(_log_eta(b * w), math.log(b) + _log_eta(-w)) if w > -math.inf else math.log(b)


def log_excess(b: float, log_p: float, ratio: float) -> float:
    """ln(g − 1), g = p^a q^{−b} + (1−p)^a (1−q)^{−b}, at ln p and ln(p/q) > 0."""
    log_q = log_p - ratio
    rest = log_rest(log_q)
    share = math.exp(log_p + log_rest(-ratio) - rest)  # (p − q)/(1 − q)
    other = math.log1p(-share) if share < 1 and log_p < 0 else -math.inf
    return _log_sum(log_q + _log_phi(b, ratio), rest + _log_phi(b, other))


def divergence(b: float, log_p: float, log_q: float) -> float:
    """D_{1+b}(p‖q)."""
    return _log_sum(0.0, log_excess(b, log_p, log_p - log_q)) / b


def _most_violated(
    tau: Callable[[float], float], grid: Sequence[float], log_p: float, log_q: float
) -> tuple[float, float]:
    """The order (as ln(order − 1)) whose constraint the point breaks most, and by how much relatively."""

    def slack(t: float) -> float:
        value = divergence(math.exp(t), log_p, log_q)
        return (tau(t) - value) / value if tau(t) < math.inf and value > 0 else math.inf

    centre = min(grid, key=slack)
    t = _least(slack, centre - 1, centre + 1)
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

    log_p = min(0.0, _least(loss, above - 40, 0.0, 1e-11), key=loss)
    return -loss(log_p), log_p, q(log_p)


def _chernoff(b: float, tau: float, x: float) -> float:
    value = b * (tau - x) - b * math.log1p(1 / b) - math.log1p(b)
    return value if value == value else math.inf


def log_room(b: float, tau: float) -> float:
    """ln(e^{bτ} − 1)."""
    return _log_expm1(b * tau) if b * tau > 1e-17 else math.log(b) + math.log(tau)


def log_rest(u: float) -> float:
    """ln(1 − e^u)."""
    if u >= 0:
        return -math.inf
    return math.log1p(-math.exp(u)) if u < -1 else math.log(-math.expm1(u))


def _log_expm1(z: float) -> float:
    return z + log_rest(-z)


def _log_sum(a: float, b: float) -> float:
    top, low = max(a, b), min(a, b)
    return top if low == -math.inf or top == math.inf else top + math.log1p(math.exp(low - top))


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


def _least(f: Callable[[float], float], low: float, high: float, tolerance: float = 1e-8) -> float:
    """Where a unimodal function is least: parabolas through three points, else golden sections (Brent)."""
    best = second = third = low + (1 - _GOLDEN) * (high - low)
    at_best = at_second = at_third = f(best)
    step = before = 0.0
    for _ in range(80):
        middle, near = (low + high) / 2, tolerance * (1 + abs(best))
        if abs(best - middle) + (high - low) / 2 <= 2 * near:
            break
        trial_step, limit = math.nan, abs(before)
        if limit > near and math.isfinite(at_third):
            r, q = (best - second) * (at_best - at_third), (best - third) * (at_best - at_second)
            bottom = 2 * (q - r)
            trial_step = -((best - third) * q - (best - second) * r) / bottom if bottom else math.nan
        before = step
        if not (abs(trial_step) < limit / 2 and low < best + trial_step < high):
            before = (high if best < middle else low) - best
            trial_step = (1 - _GOLDEN) * before
        step = trial_step
        point = best + (step if abs(step) >= near else math.copysign(near, middle - best))
        value = f(point)
        if value <= at_best:
            low, high = (best, high) if point >= best else (low, best)
            third, at_third, second, at_second, best, at_best = second, at_second, best, at_best, point, value
        else:
            low, high = (low, point) if point >= best else (point, high)
            if value <= at_second or second == best:
                third, at_third, second, at_second = second, at_second, point, value
            elif value <= at_third or third in (best, second):
                third, at_third = point, value
    return best
