"""The standard normal law in balls: tails, quantiles and expected gains, for arguments of any size.

Every function here is monotone in each argument. A ball that is not a single number is therefore evaluated at
its ends, which are exact numbers, so that the working precision may rise as far as cancellation asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import ctx

from tightrope.numerics.balls import INFINITY, Ball, ball, between, precision

__all__ = ["normal_call", "quantile", "unequal_call", "unequal_tail", "upper_tail"]

_HALF = Ball(0.5)
_UNKNOWN = between(Ball(0), Ball(1))  # what is known of a probability before anything is computed
_FAR = 2**16  # from here on a short series is as sharp as wanted, and erfc is not
_HUGE = 100  # beyond 2^100 standard deviations a tail is only known to be positive and tiny
_ROOMY = 20000  # the most extra bits spent on a difference of large arguments
_SERIES = 64  # bits lost to cancellation from which on the series takes over


def upper_tail(x: Ball) -> Ball:
    """P[N > x] for a standard normal N, with relative accuracy however far out x lies."""
    return _falling(_tail_at, x)


def quantile(p: Ball) -> Ball:
    """The x with P[N ≤ x] = p. Ends at ±∞ where the ball reaches 0 or 1."""
    if p.is_nan():
        return between(-INFINITY, INFINITY)
    if p.is_exact():
        return _quantile_at(p)
    return between(_quantile_at(p.lower()), _quantile_at(p.upper()))


def normal_call(mu: Ball, x: Ball) -> Ball:
    """Φ(−x/μ + μ/2) − eˣ Φ(−x/μ − μ/2), the profile at x of N(μ, 1) against N(0, 1), for μ ≥ 0, real x.

    It is E[(1 − e^{x−L})₊] for L ~ N(μ²/2, μ²): rising in μ, falling in x, and (1 − eˣ)₊ at μ = 0.
    """
    if mu.is_nan() or x.is_nan():
        return _UNKNOWN
    if mu.is_exact() and x.is_exact():
        return _call_at(mu, x)
    return between(_call_at(mu.lower(), x.upper()), _call_at(mu.upper(), x.lower()))


def unequal_call(m1: Fraction, s1: Fraction, m2: Fraction, s2: Fraction, x: Ball) -> Ball:
    """E[(1 − e^{x−L})₊], L the log-ratio of N(m1, s1²) to N(m2, s2²) under the first, for any real x."""
    if s1 == s2:
        return normal_call(ball(abs(m1 - m2) / s1), x)
    return _falling(_unequal_at(abs(m1 - m2), s1, s2, gain=True), x)


def unequal_tail(m1: Fraction, s1: Fraction, m2: Fraction, s2: Fraction, x: Ball) -> Ball:
    """P[L > x], L the log-ratio of N(m1, s1²) to N(m2, s2²) under the first, for any real x."""
    gap = abs(m1 - m2)
    if s1 != s2:
        return _falling(_unequal_at(gap, s1, s2, gain=False), x)
    if gap:
        mu = gap / s1  # L ~ N(μ²/2, μ²)
        return _falling(lambda at: upper_tail(at / ball(mu) - ball(mu / 2)), x)
    return _falling(lambda at: Ball(int(at < 0)), x)  # equal laws: L = 0


def _falling(value: Callable[[Ball], Ball], x: Ball) -> Ball:
    if x.is_nan():
        return _UNKNOWN
    if x.is_exact():
        return value(x)
    return between(value(x.upper()), value(x.lower()))


def _size(x: Ball) -> int:
    """The integer k with 2^(k−1) ≤ |x| < 2^k for an exact number x ≠ 0 (or for a ball's centre)."""
    mantissa, exponent = x.mid().man_exp()
    return int(mantissa).bit_length() + int(exponent)


def _tail_at(x: Ball) -> Ball:
    if x.is_zero():
        return _HALF
    if not x.is_finite():
        return Ball(int(x < 0))
    size = _size(x)
    if size > _HUGE:
        tiny = between(Ball(0), (-(x * x) / 2).exp().upper())
        return tiny if x > 0 else 1 - tiny
    with precision(ctx.prec + 2 * max(size, 0) + 8):
        return _tail(x)


def _far_tail(x: Ball) -> Ball:
    """P[N > x] for large x: φ(x)/x·(1 − 1/x² + 3/x⁴ − …), whose rest is below the first term left out."""
    step, term, total, k = 1 / (x * x), Ball(1), Ball(0), 0
    while term.abs_upper() > Ball(2) ** -ctx.prec:
        total, term, k = total + term, -term * (2 * k + 1) * step, k + 1
    rest = between(-term.abs_upper(), term.abs_upper())
    return (-(x * x) / 2).exp() / ((2 * Ball.pi()).sqrt() * x) * (total + rest)


def _quantile_at(p: Ball) -> Ball:
    if p <= 0:
        return -INFINITY
    if p >= 1:
        return INFINITY
    root = Ball(2).sqrt()
    if abs(1 - 2 * p) < _HALF:
        return root * (2 * p - 1).erfinv()
    return -root * (2 * p).erfcinv() if p < _HALF else root * (2 - 2 * p).erfcinv()


def _call_at(mu: Ball, x: Ball) -> Ball:
    if not x.is_finite():
        return Ball(int(x < 0))
    if not mu.is_finite():
        return Ball(1)
    if x < 0:  # duality: all terms positive
        return -x.expm1() + x.exp() * _call_at(mu, -x)
    if mu <= 0:
        return Ball(0)
    if x.is_zero():
        return (mu / Ball(8).sqrt()).erf()
    return _gain(mu, x)


def _gain(mu: Ball, x: Ball) -> Ball:
    """At exact μ > 0, x > 0: φ(a)(R(a) − R(b)) with a, b = x/μ ∓ μ/2 and R the Mills ratio Φ̄/φ."""
    bits = ctx.prec
    spread = _size(mu)
    centre = max(_size(x) - spread + 1, 0)
    lost = max(centre - spread, 0)  # R(a) − R(b) is about μ/max(1, x/μ) relative to R(a)
    with precision(bits + min(lost, _SERIES) + min(2 * max(spread, centre, 0), _ROOMY) + 16):
        a = x / mu - mu / 2
        b = a + mu
    depth = max(_size(a), 0) if a.mid() != 0 else 0
    if depth > _HUGE:
        tiny = between(Ball(0), (-(a * a) / 2).exp().upper())
        # δ ≤ e^{−a²/2} for a ≥ 0, and 1 − δ = Φ̄(−a) + φ(a)R(b) ≤ 2e^{−a²/2} for a ≤ 0 (then b ≥ |a| ≥ 1).
        return tiny if a > 0 else _clipped(1 - 2 * tiny, Ball(0), Ball(1))
    if lost > _SERIES:
        with precision(bits + 2 * depth + 16):
            return _density(a) * _mills_difference(x / mu, mu / 2)
    with precision(bits + 2 * depth + lost + 16):
        if depth <= 10 or a.contains(0):
            other = x.exp() * (b / Ball(2).sqrt()).erfc() / 2 if _size(b) <= 10 else _density(a) * _mills(b)
            return (a / Ball(2).sqrt()).erfc() / 2 - other
        if a > 0:
            return _density(a) * (_mills(a) - _mills(b))
        return 1 - _density(a) * (_mills(-a) + _mills(b))


def _density(a: Ball) -> Ball:
    return (-(a * a) / 2).exp() / (2 * Ball.pi()).sqrt()


def _mills(t: Ball) -> Ball:
    """∫₀^∞ e^{−tu−u²/2} du for t > 0 = Tricomi's U(½, ½, t²/2)/√2, which flint knows relatively for any t."""
    return _moment(0, t)


def _moment(k: int, t: Ball) -> Ball:
    """∫₀^∞ uᵏ e^{−tu−u²/2} du for t ≥ 0."""
    half = Ball(k + 1) / 2
    return Ball(k + 1).gamma() * (t * t / 2).hypgeom_u(half, _HALF) / Ball(2) ** half


def _mills_difference(c: Ball, h: Ball) -> Ball:
    """R(c−h) − R(c+h) = ∫ e^{−cu−u²/2} 2 sinh(hu) du = 2 Σ hᵏ m_k(c)/k!, k odd: nothing cancels.

    m_{k+1} + c m_k = k m_{k−1} gives m_{k+2} ≤ (k+1) m_k and m_{k+2} ≤ (k+1)(k+2) m_k/c², so each term is at
    most min(h²/(k+2), h²/c²) times the one before: the rest is at most a geometric series.
    """
    goal = ctx.prec + 4
    total, power, k = Ball(0), h, 1
    while True:
        term = power * _moment(k, c) / Ball(k + 1).gamma()
        total += term
        ratio = h * h / (Ball(k + 2).max(c * c))
        if ratio < _HALF and (ratio.is_zero() or -_size(ratio) >= goal or k > goal):
            return 2 * (total + between(Ball(0), (term * ratio / (1 - ratio)).upper()))
        goal -= max(-_size(ratio), 0)  # what the terms so far have already gained
        power *= h * h
        k += 2


def _unequal_at(gap: Fraction, s1: Fraction, s2: Fraction, gain: bool) -> Callable[[Ball], Ball]:
    """{L > x} is {Az² + Bz + C > x} for z ~ N(gap, s1²) against N(0, s2²): its ends are the roots."""
    a, b, c = (1 / s2**2 - 1 / s1**2) / 2, gap / s1**2, -(gap**2) / (2 * s1**2)

    def evaluated(x: Ball) -> Ball:
        square = ball(b * b) - 4 * ball(a) * (ball(s2 / s1).log() + ball(c) - x)
        if square < 0:  # L > x nowhere or everywhere
            return Ball(0) if a < 0 else (-x.expm1() if gain else Ball(1))
        # Where this sign is not decided the roots cover the double root, at which what follows still holds.
        away = -(ball(b) + square.nonnegative_part().sqrt()) / 2
        first = away / ball(a)
        second = (ball(s2 / s1).log() + ball(c) - x) / away if b else -first
        low, high = (first, second) if a > 0 else (second, first)
        p = _mass(a > 0, (low - ball(gap)) / ball(s1), (high - ball(gap)) / ball(s1))
        if not gain:
            return _clipped(p, Ball(0), Ball(1))
        q = _mass(a > 0, low / ball(s2), high / ball(s2))
        return _clipped(p - x.exp() * q, -x.expm1() if x < 0 else Ball(0), p)

    def refined(x: Ball) -> Ball:
        if not x.is_finite():
            return Ball(int(x < 0))
        bits = ctx.prec
        working, limit = bits + 32, 4 * bits + 2000
        while True:
            with precision(working):
                value = evaluated(x)
                known = value.is_zero() or value.rel_accuracy_bits() >= bits or -_size(value) > 2**64
            if known or working >= limit:
                return value
            working *= 2

    return refined


def _mass(outside: bool, low: Ball, high: Ball) -> Ball:
    if outside:
        return _tail(-low) + _tail(high)
    if low + high > 0:
        return _tail(low) - _tail(high)
    return _tail(-high) - _tail(-low)


def _tail(u: Ball) -> Ball:
    """P[N > u] without care for accuracy, which the caller watches."""
    if not u.is_finite() or _size(u) > _HUGE:
        return upper_tail(u)
    if abs(u) > _FAR:
        return _far_tail(u) if u > 0 else 1 - _far_tail(-u)
    return (u / Ball(2).sqrt()).erfc() / 2


def _clipped(value: Ball, least: Ball, most: Ball) -> Ball:
    """The value, known to lie between two others; they are what is left when nothing else is known."""
    if not value.is_finite():
        return between(least, most)
    if least <= value <= most:
        return value
    return between(value.lower().max(least.lower()), value.upper().min(most.upper()))
