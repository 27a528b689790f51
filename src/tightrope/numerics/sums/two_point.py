"""The largest hockey-stick divergence that Rényi constraints allow, proved from above and from below.

δ* = max{p − e^x q : D_α(p‖q) ≤ τ_α} over two-point laws, because the event {dP > e^x dQ} is a data-processing
step that keeps the hockey stick. Tangents of the convex p^α q^{1−α} at the ratio p/q = x1 and of
(1−p)^α (1−q)^{1−α} at the ratio x0 give for all x0, x1 ≥ 0 the half-plane

    A p − B q ≤ r,   A = α(x1^{α−1} − x0^{α−1}),  B = (α−1)(x1^α − x0^α),
                     r = e^{(α−1)τ} − αx0^{α−1} + (α−1)x0^α,

and multipliers of such half-planes and of p ≤ 1, q ≤ 1 are a proof (weak duality), wherever they come from.
(Asoodeh, Liao, Calmon, Kosut, Sankar 2021 for one order.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

from flint import ctx

from tightrope.numerics.balls import Ball, ball, between, lower_float, precision, upper_float
from tightrope.numerics.sums.two_point_logs import fraction_of_log, log_of_fraction
from tightrope.numerics.sums.two_point_search import Cut, curve_search, one_order_search, trial, widest_ratio

__all__ = ["Cut", "curve_search", "curve_upper", "one_order_lower", "one_order_search", "one_order_upper"]

_ZERO, _ONE = Ball(0), Ball(1)
HalfPlane = tuple[Ball, Ball, Ball]  # A, B/e^x − A and r of A p − B q ≤ r, all divided by x1^{α−1}


def one_order_upper(order: Fraction, tau: Ball, x: Ball, x0: Fraction | None = None) -> Ball:
    """A proved upper bound on δ*(x) when the divergence of one order is ≤ tau; take the ball's upper end.

    Every x0 in [0, 1] gives one, 0 that of Canonne, Kamath and Steinke; without x0 the best is sought.
    """
    if tau.is_nan() or x.is_nan():
        return _ONE
    tau, x = tau.upper(), x.lower()  # δ* rises in tau and falls in x
    if not tau.is_finite() or not x.is_finite():
        return _ZERO if x > 0 and not x.is_finite() else _ONE
    bits = ctx.prec
    with precision(2 * bits + 64):  # the arguments are single numbers now: more bits cannot be wasted on them
        a = ball(order)
        if tau <= 0:
            return -x.expm1() if x < 0 else _ZERO  # equal laws
        if tau >= x - (-1 / a).log1p():
            return (-(x - tau).expm1()).min(_ONE)  # p = 1, q = e^{−τ}
        if x0 is None:
            x0 = trial(order, upper_float(tau), lower_float(x))
        log0 = ball(x0 - 1).log1p() if 0 < x0 <= 1 else None
        if log0 is not None and not log0 < x:  # only below e^x there is a second tangent point
            log0 = None
        s = _mirrored(a, None if log0 is None else log0 - x, bits)
        return _least(_one_cut(_half_plane(a, tau, x, log0, s), x))


def one_order_lower(order: Fraction, tau: Ball, x: Ball, p: Fraction) -> Ball:
    """p − e^x q for a q proved to satisfy D_order(p‖q) ≤ tau: a lower bound on δ*; take the lower end."""
    floor = -x.expm1() if x < 0 else _ZERO  # p = q = 1
    if tau.is_nan() or x.is_nan() or not tau > 0 or not 0 < p <= 1:
        return floor
    b = ball(order) - 1
    tau = tau.lower().min(Ball(10**9))  # beyond, q would be 0 for all purposes
    limit = (b * tau).expm1()
    try:
        ratio = widest_ratio(float(order - 1), lower_float(tau), log_of_fraction(p))
    except (ValueError, OverflowError, ZeroDivisionError):
        return floor
    for slack in (1e-15, 1e-13, 1e-11, 1e-8, 1e-5):
        q = p * fraction_of_log(-ratio * (1 - slack))
        log0, log1 = _ratios(p, q)
        excess = ball(q) * _phi(b, log1) + ball(1 - q) * (b if log0 is None else _phi(b, log0))  # moment − 1
        if excess <= limit:
            return (ball(p - q) - x.expm1() * ball(q)).max(floor)
    return floor


def curve_upper(renyi: Callable[[Fraction], Ball], x: Ball, cuts: Sequence[Cut]) -> Ball:
    """A proved upper bound on δ*(x) under D_order ≤ renyi(order) for all orders; take the ball's upper end.

    Any cuts (p, q, order) with 0 < q < p ≤ 1 are valid; those of ``curve_search`` are nearly the best.
    """
    if x.is_nan():
        return _ONE
    x = x.lower()
    with precision(2 * ctx.prec + 64):
        planes: list[HalfPlane] = []
        for p, q, order in cuts:
            tau = renyi(order)
            if tau.is_finite():
                log0, log1 = _ratios(p, q)
                planes.append(_half_plane(ball(order), tau, x, log0, log1 - x))
        bounds = [bound for plane in planes for bound in _one_cut(plane, x)]
        bounds += [_two_cuts(one, other) for one, other in combinations(planes, 2)]
        return _least(bounds)


def _half_plane(a: Ball, tau: Ball, x: Ball, log0: Ball | None, s: Ball) -> HalfPlane:
    """The half-plane at ln x0 (None for x0 = 0) and ln x1 = x + s, written so that no size can overflow."""
    b = a - 1
    if log0 is None:
        return a, (-b * s).exp() * (_gap(b, s) - 1), (b * (tau - x - s)).exp()
    v, scale = log0 - x, (-b * (x + s)).exp()
    big_a = -a * (b * (v - s)).expm1()
    excess = (-b * s).exp() * (_gap(b, s) - _gap(b, v))
    if b * tau < 1:
        return big_a, excess, scale * ((b * tau).expm1() + _gap(b, log0))
    return big_a, excess, (b * (tau - x - s)).exp() + scale * (_gap(b, log0) - 1)


def _one_cut(plane: HalfPlane, x: Ball) -> list[Ball]:
    """Bounds by one half-plane, what its multiplier leaves over being paid on the sides q ≤ 1 or p ≤ 1."""
    big_a, excess, r = plane
    big_b = big_a + excess
    if not (big_a > 0 and big_b > 0):
        return []
    over = _ZERO if excess <= 0 else x.exp() * _positive(excess / big_a)
    return [r / big_a + over, r / big_b + _positive(excess / big_b)]


def _two_cuts(one: HalfPlane, other: HalfPlane) -> Ball:
    """The bound where the multipliers of both solve λ₁(A₁, B₁) + λ₂(A₂, B₂) = (1, e^x), if they are ≥ 0."""
    (a1, e1, r1), (a2, e2, r2) = one, other
    determinant = a1 * e2 - a2 * e1
    first, second = e2 / determinant, -e1 / determinant
    return first * r1 + second * r2 if first >= 0 and second >= 0 else _ONE


def _gap(b: Ball, v: Ball) -> Ball:
    """1 − αr^{α−1} + (α−1)r^α at r = e^v, b = α − 1; near r = 1 as a sum of positive terms."""
    if b * v < -1:
        return 1 + (b * v).exp() * (b * v.expm1() - 1)
    return (b * v).exp() * (b * _eta(v) + _eta(-b * v))


def _eta(z: Ball) -> Ball:
    """e^z − 1 − z, relatively accurate near 0."""
    return z * z / 2 * z.hypgeom_1f1(1, 3) if abs(z) < Ball(0.125) else z.expm1() - z


def _mirrored(a: Ball, v: Ball | None, bits: int) -> Ball:
    """The s > 0 at which the slope B/A meets e^x (x1 = e^{x+s}), then a trifle less: there it stays below.

    (α−1)r^α − αr^{α−1} must agree at r = e^s and e^v. It is convex and rising in s, so Newton's steps from
    the right end fall towards the root. Wherever they stop, the half-plane built from s is valid.
    """
    b = a - 1
    s = -(-1 / a).log1p().mid()
    if v is not None:
        goal = _gap(b, v).mid()
        s = s.min(-v.mid())
        for _ in range(200):
            miss = (_gap(b, s) - goal).mid()
            step = (miss / (a * b * (b * s).exp() * s.expm1())).mid()
            s = (s - step).mid()
            if not abs(step) > abs(s) * Ball(2) ** (-bits):
                break
    return (s * (1 - Ball(2) ** (-bits))).mid()


def _phi(b: Ball, w: Ball) -> Ball:
    """r^α − 1 − α(r − 1) at r = e^w, b = α − 1, as a sum of positive terms."""
    return w.exp() * (_eta(b * w) + b * _eta(-w))


def _ratios(p: Fraction, q: Fraction) -> tuple[Ball | None, Ball]:
    """ln of (1−p)/(1−q), None when it is 0, and of p/q."""
    near = p < 2 * q
    log1 = ball((p - q) / q).log1p() if near else ball(p / q).log()
    return (ball((q - p) / (1 - q)).log1p() if p < 1 else None), log1


def _positive(value: Ball) -> Ball:
    if value <= 0:
        return _ZERO
    return value if value > 0 else between(_ZERO, value.upper())


def _least(bounds: Sequence[Ball]) -> Ball:
    """The bound with the least upper end; 1 if none is below it. (It is never below 0.)"""
    best = _ONE
    for bound in bounds:
        if not bound.is_nan() and bound.upper() < best.upper():
            best = bound
    return best
