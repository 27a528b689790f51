"""ln E[w(k)^a·w(−k)^b], w(k) = 1 − q + q·e^{(2Dk − D²)/2v}, b ≤ 0, k normal or discrete normal of variance v, at any a.

Poisson samples: b = 0 where a record is added or removed, b = 1 − a where one is exchanged. Sums over whole k, or the
trapezoidal rule; where e^{D²a/2v} is large, the peak at aD is all there is, and two closed forms enclose it.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics import discrete_normal, effort
from tightrope.numerics.balls import INFINITY, Ball, ball, between, certain, precision, upper_float
from tightrope.numerics.exact import near
from tightrope.numerics.moments.blocked_sums import Terms, blocked_sum
from tightrope.numerics.moments.sampled_normal_bounds import log_sum
from tightrope.numerics.real import Real

__all__ = ["discrete_noise_mean", "normal_noise_mean"]

_WIDE, _MOST = 64, 10**5  # variances: beyond, whole numbers may be as good as real ones; and are too many
_ENOUGH = 60  # relative bits, where closed forms have them
_GUARD = 40
_HUGE = 2.0**80  # powers beyond are enclosed by closed forms only


def discrete_noise_mean(variance: Fraction, shift: int, rate: Fraction, up: Fraction, down: Fraction) -> Ball:
    """ln E[w(k)^up·w(−k)^down] for the discrete Gaussian k."""
    if rate == 0 or (up in (0, 1) and down == 0):
        return Ball(0)
    gain = ball(up * (up - 1) * shift**2 / (2 * variance)) + discrete_normal.log_mass_ratio(variance, up * shift)
    square = Fraction(shift**2) / variance
    if rate == 1:
        if down:
            raise NotCertified("a moment of a sampled law", "every record is taken")
        return gain
    simple = _closed(ball(square), gain, rate, up, down)
    if certain(simple, _ENOUGH) or max(abs(up), abs(down)) > _HUGE:
        return simple
    try:
        with effort.owing():  # it must not depend on what is left, and is never long
            wide = _wide(variance, shift, rate, up, down) if variance > _WIDE else None
            value = _summed(variance, shift, rate, up, down) if wide is None else wide
    except NotCertified:
        return simple
    return value if value.is_finite() and value.rad() < simple.rad() else simple


def normal_noise_mean(square: Real, rate: Fraction, up: Fraction, down: Fraction) -> Ball:
    """The same for a normal k, D²/v = ``square``; up > 1 and down ≤ 0."""
    root = Real(None, lambda: square.ball().sqrt())
    simple = _closed(square.ball(), ball(up * (up - 1)) * square.ball() / 2, rate, up, down)
    if certain(simple, _ENOUGH) or max(up, -down) > _HUGE:
        return simple
    try:
        with effort.owing():
            value = _ruled(root, rate, up, down)
    except NotCertified:
        return simple
    return value if value.is_finite() and value.rad() < simple.rad() else simple


def _closed(square: Ball, gain: Ball, rate: Fraction, up: Fraction, down: Fraction) -> Ball:
    """Bounds from w = 1 − q + ρ, with E ρ^up = q^up·e^gain.

    Below: w(k) ≥ ρ(k), and under the law of the density ρ^up the mean of w(−k) is 1 − q + q·e^{−up·D²/v} (Jensen); or
    1. Above: w(−k) ≥ 1 − q, and w^up is cut where ρ = e^y: to the left it is at most (1 − q + e^y)^up, to the right
    ρ^up·(1 + (1 − q)e^{−y})^up. For up < 0, w ≥ 1 − q.
    """
    q, a, b = ball(rate), ball(up), ball(down)
    stay = (-q).log1p()
    if up < 1:
        return between(Ball(0), (a + b) * stay) if up < 0 else between(Ball(0), INFINITY)
    peak = a * q.log() + gain
    low = peak + b * (q * (-a * square).expm1()).log1p() if down else peak
    y = ((peak - ctx.prec) / a).mid()
    high = log_sum(a * log_sum(stay, y), peak + a * log_sum(Ball(0), stay - y)) + b * stay
    return between(low.lower().max(Ball(0)), high.upper())


def _guarded(square: float, up: Fraction, down: Fraction, rate: Fraction) -> int:
    """The present bits, and those that the size of the exponents takes."""
    size = near(abs(up) + abs(down)) * (1 + near(abs(up)) * square - math.log(near(rate)))
    return int(ctx.prec) + _GUARD + max(0, math.ceil(math.log2(size + 2)))


def _summed(variance: Fraction, shift: int, rate: Fraction, up: Fraction, down: Fraction) -> Ball:
    nats = ctx.prec * math.log(2)
    with precision(_guarded(near(shift**2 / variance), up, down, rate)):
        half, slope = ball(1 / (2 * variance)), ball(Fraction(shift) / variance)
        top, total = blocked_sum(Terms(half, slope, slope * shift / 2, ball(rate), up, down), nats)
        return (total / discrete_normal.mass(variance, Fraction(0))).log() + top


def _wide(variance: Fraction, shift: int, rate: Fraction, up: Fraction, down: Fraction) -> Ball | None:
    """A sum over whole k is the trapezoidal rule with the step 1/σ, for the moment and for the mass of the noise; None
    where that is too coarse and the whole k are not too many."""
    root = Real(None, lambda: ball(Fraction(shift**2) / variance).sqrt())
    with precision(ctx.prec + _GUARD):
        mu, step = root.ball(), 1 / ball(variance).sqrt()
        depth = _depth(float(mu), up, down, 2 * math.pi**2 * near(variance))[0]
        try:
            off = _alias(mu, step, up, down, depth)
        except NotCertified:
            if variance > _MOST:
                raise
            return None
        mass = 4 * (-2 * Ball.pi() ** 2 * ball(variance)).exp()
        if not off < Ball(2) ** -(ctx.prec - _GUARD) and variance <= _MOST:
            return None
        change = between(-off, off).log1p() - between(-mass, mass).log1p()
    return _ruled(root, rate, up, down) + change


def _ruled(root: Real, rate: Fraction, up: Fraction, down: Fraction) -> Ball:
    """By the trapezoidal rule for a normal variable."""
    nats = ctx.prec * math.log(2)
    with precision(_guarded(upper_float(root.ball()) ** 2, up, down, rate)):
        mu = root.ball()
        depth, h = _depth(float(mu), up, down, nats)
        step = Fraction(h).limit_denominator(1 << 20) if h > 1e-3 else Fraction(h)
        half, offset = ball(step * step / 2), mu * mu / 2
        top, total = blocked_sum(Terms(half, mu * ball(step), offset, ball(rate), up, down), nats)
        off = _alias(mu, ball(step), up, down, depth)
        return (total * ball(step) / (2 * Ball.pi()).sqrt() / (1 + between(-off, off))).log() + top


def _depth(mu: float, up: Fraction, down: Fraction, nats: float) -> tuple[Fraction, float]:
    """A half-width of the strip, and a step for an error of about e^−nats: a choice, in floats."""
    cost = near(max(-up, Fraction(0)) + max(-down, Fraction(0)))
    best, depth, d = math.inf, 0.0, min(math.sqrt(2 * nats), 3.04 / mu)
    for _ in range(150):
        trial = (nats - cost * math.log(math.cos(d * mu / 2))) / d + d / 2
        if trial > best:
            break
        best, depth, d = trial, d, d * 0.88
    return Fraction(depth), 2 * math.pi / best


def _alias(mu: Ball, step: Ball, up: Fraction, down: Fraction, depth: Fraction) -> Ball:
    """A bound of |h Σ f(jh) / ∫f − 1|: on the line Im z = d < π/μ, |f| ≤ e^{d²/2}·f·cos(dμ/2)^−c, since w is there at
    most what it is on the axis and at least cos(dμ/2) times that; c counts the powers below 0."""
    d = ball(depth)
    if not d * mu < Ball.pi():
        raise NotCertified("a moment of a sampled law", "the strip is too wide")
    below = min(up, Fraction(0)) + min(down, Fraction(0))
    bound = 2 * (d * d / 2 + ball(below) * (d * mu / 2).cos().log()).exp() / (2 * Ball.pi() * d / step).expm1()
    if not bound < 0.5:
        raise NotCertified("a moment of a sampled law", "the nodes are too far apart")
    return bound.upper()
