"""The trapezoidal rule for ∫φ(z) w(z)^{A+iy} dz: where its nodes lie, its aliasing and what lies beyond its ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball

__all__ = ["Rule", "rule", "tails", "upper_tail_bound", "short"]

_MOST_NODES = 20_000


def short(x: float, bits: int = 10) -> Fraction:
    """A dyadic number of few bits, at most x > 0 and close to it."""
    mantissa, exponent = math.frexp(x)
    return Fraction(math.floor(math.ldexp(mantissa, bits))) * Fraction(2) ** (exponent - bits)


@dataclass(frozen=True)
class Rule:
    """Nodes z = j·step for first ≤ j ≤ last, and a half-width of the strip in which the error is bounded."""

    step: Fraction
    first: int
    last: int
    depth: Fraction

    def alias(self, mu: Ball, power: Fraction, y: Ball) -> Ball:
        """A bound of |h Σ_{j∈ℤ} f(jh) − ∫f| / G(A), for every |y'| ≤ y; certainly below 1.

        In the strip |Im z| ≤ d < π/μ: |arg w| ≤ dμ, |w| ≤ w(x) and |w| ≥ cos(dμ/2)·w(x).
        """
        d, a = ball(self.depth), ball(power)
        if not d * mu < Ball.pi():
            raise NotCertified("a sampled normal transform", "the strip is too wide")
        log = d * d / 2 + y * d * mu
        if power < 0:
            log += a * (d * mu / 2).cos().log()
        bound = 2 * log.exp() / (2 * Ball.pi() * d / ball(self.step)).expm1()
        if not bound < 0.5:
            raise NotCertified("a sampled normal transform", "the nodes are too far apart")
        return bound


def rule(mu: float, power: float, y: float, nats: float, left: float, right: float) -> Rule:
    """Nodes for an error of about e^−nats relative to G(A) at every |y'| ≤ y: a choice, in floats."""
    deepest = min(math.sqrt(2 * nats), 3.04 / mu)
    depth, rate = 0.0, math.inf
    for k in range(40 if power < 0 else 1):
        d = deepest * 0.88**k
        extra = power * math.log(math.cos(d * mu / 2)) if power < 0 else 0.0
        trial = (nats + extra) / d + d / 2
        if trial > rate:
            break
        depth, rate = d, trial
    step = short(2 * math.pi / (rate + y * mu))
    h = float(step)
    if not (right - left) / h < _MOST_NODES:
        raise NotCertified("a sampled normal transform", f"it needs {(right - left) / h:.3g} nodes")
    return Rule(step, math.floor(left / h), math.ceil(right / h), short(depth))


def tails(mu: Ball, q: Ball, power: Fraction, chosen: Rule, log_left: Ball, log_right: Ball) -> Ball:
    """A bound of h Σ|f| beyond both ends, where |f| ≤ φ·w^A has a monotone majorant (a sum ≤ its integral).

    A ≥ 0: to the right ln w has slope at most μ, to the left w ≤ its value at the end. A < 0: to the right
    w^A ≤ its value at the end, to the left the slope of ln w is at most what it is at the end.
    """
    a, left, right = ball(power), ball(chosen.step * chosen.first), ball(chosen.step * chosen.last)
    if not (left <= 0 and right >= 0):
        raise NotCertified("a sampled normal transform", "the window misses 0")
    if power >= 0:
        if not right >= a * mu:
            raise NotCertified("a sampled normal transform", "the window ends before its peak")
        low = (a * log_left).exp() * upper_tail_bound(-left)
        return low + (a * (log_right - mu * right + a * mu * mu / 2)).exp() * upper_tail_bound(right - a * mu)
    share = (-a * mu * (1 - (1 - q) * (-log_left).exp())).upper()  # ρ/w = 1 − (1−q)/w
    if not left <= -share:
        raise NotCertified("a sampled normal transform", "the window begins after its peak")
    high = (a * log_right).exp() * upper_tail_bound(right)
    return high + (a * log_left + share * left + share * share / 2).exp() * upper_tail_bound(-left - share)


def upper_tail_bound(x: Ball) -> Ball:
    """An upper bound of Pr[z > x], for x ≥ 0."""
    return (x * x / -2).exp() / 2
