"""The trapezoidal rule for ∫φ(z) w(z)^{A+iy} dz: where its nodes lie, its aliasing and what lies beyond its ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball

__all__ = ["Rule", "largest_turn", "right_end", "rule", "tails", "upper_tail_bound", "short", "turning"]

_MOST_NODES = 20_000
_LITTLE = 2.0  # nats that a strip may cost before a split is looked for


def short(x: float, bits: int = 10) -> Fraction:
    """A dyadic number of few bits, at most x > 0 and close to it."""
    mantissa, exponent = math.frexp(x)
    whole, left = math.floor(math.ldexp(mantissa, bits)), exponent - bits
    return Fraction(whole << left) if left >= 0 else Fraction(whole, 1 << -left)


@dataclass(frozen=True)
class Rule:
    """Nodes z = j·step for first ≤ j ≤ last, and a half-width of the strip in which the error is bounded.

    ``split``: where the strip is cut in two, whose parts are bounded apart.
    """

    step: Fraction
    first: int
    last: int
    depth: Fraction
    split: Fraction | None = None

    def alias(self, mu: Ball, power: Fraction) -> Ball:
        """A bound of |h Σ_{j∈ℤ} f(jh) − ∫f| / G(A) at y = 0; certainly below 1.

        In the strip |Im z| ≤ d < π/μ: |w| ≤ w(x) and |w| ≥ cos(dμ/2)·w(x).
        """
        d, a = ball(self.depth), ball(power)
        if not d * mu < Ball.pi():
            raise NotCertified("a sampled normal transform", "the strip is too wide")
        log = d * d / 2
        if power < 0:
            log += a * (d * mu / 2).cos().log()
        bound = 2 * log.exp() / (2 * Ball.pi() * d / ball(self.step)).expm1()
        if not bound < 0.5:
            raise NotCertified("a sampled normal transform", "the nodes are too far apart")
        return bound

    def moving(self, mu: Ball, q: Ball, power: Fraction, y: Ball, still: Ball, most: Ball) -> Ball:
        """A bound of |h Σ_{j∈ℤ} f(jh) − ∫f| for every |y'| ≤ y, from ``alias`` and a bound ``most`` of G(A).

        |w^{iy}| ≤ e^{y·arg w}, and 0 ≤ arg w ≤ dμ. It rises with x: left of the split z it is at most what it is
        there, and the integral of φ·w^A to its right is at most w(z)^A·e^{−z²/2}/2.
        """
        turn = ball(self.depth) * mu
        if self.split is None:
            return still * (y * turn).exp() * most
        a, z = ball(power), ball(self.split)
        if not (z >= 0 and (power < 0 or z >= a * mu)):
            raise NotCertified("a sampled normal transform", "the strip is cut before its peak")
        rise = q * (mu * z - mu * mu / 2).exp()
        angle = ComplexBall(1 - q + rise * turn.cos(), rise * turn.sin()).arg()
        beyond = (a * (1 - q + rise).log() - z * z / 2).exp() / 2
        return still * ((y * angle).exp() * most + (y * turn).exp() * beyond)


def rule(mu: float, q: float, power: float, y: float, nats: float, left: float, right: float) -> Rule:
    """Nodes for an error of about e^−nats relative to G(A) at every |y'| ≤ y: a choice, in floats."""
    deepest = min(math.sqrt(2 * nats), (3.04 if power < 0 else 3.12) / mu)
    depth, split, rate = 0.0, math.inf, math.inf
    for k in range(40):
        d = deepest * 0.88**k
        extra, z = turning(mu, q, power, y, d * mu, right)
        extra += power * math.log(math.cos(d * mu / 2)) if power < 0 else 0.0
        trial = (nats + extra) / d + d / 2
        if trial > rate:
            break
        depth, split, rate = d, z, trial
        if extra < _LITTLE or (z == math.inf and power > 0):
            break
    step = short(2 * math.pi / rate)
    h = float(step)
    if not (right - left) / h < _MOST_NODES:
        raise NotCertified("a sampled normal transform", f"it needs {(right - left) / h:.3g} nodes")
    cut = short(split, 12) if 0 < split < math.inf else None
    return Rule(step, math.floor(left / h), math.ceil(right / h), short(depth), cut)


def turning(mu: float, q: float, power: float, y: float, turn: float, right: float) -> tuple[float, float]:
    """What e^{y·arg w} adds to the strip, in nats, with the best split; ∞ for none."""
    whole = y * turn
    low = max(power * mu, 0.0) * 1.001 + 1e-9
    if whole < _LITTLE or not low < right:
        return whole, math.inf
    least = max(0.0, power * math.log(q) + power * (power - 1) * mu * mu / 2) if power > 0 else 0.0  # ln G is about
    cos, sin = math.cos(turn), math.sin(turn)
    best, split, high = whole, math.inf, right
    for _ in range(7):
        z = (low + high) / 2
        rise = q * math.exp(min(mu * z - mu * mu / 2, 600.0))
        near = y * math.atan2(rise * sin, 1 - q + rise * cos)
        far = whole + power * math.log(1 - q + rise) - z * z / 2 - least
        top = max(near, far) + 0.7
        if top < best:
            best, split = top, z
        low, high = (z, high) if far > max(near, 1.0) else (low, z)
    return best, split


def right_end(mu: float, q: float, power: float, nats: float, right: float) -> float:
    """An end nearer than ``right`` beyond which w^A·e^{−z²/2} is still at most e^−nats, A ≥ 0."""
    z = right
    for _ in range(4):  # from the right: it never passes the end
        rise = mu * z - mu * mu / 2
        log = math.log1p(q * math.expm1(rise)) if rise < 600 else rise + math.log(q)
        z = min(z, max(math.sqrt(2 * max(nats + power * log, 0.0)), power * mu * 1.001))
    return z


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


def largest_turn(rest: Ball, rise: Ball, angle: Ball) -> Ball:
    """A bound of arg(rest + rise·e^{iα}) for all 0 ≤ α ≤ angle < π, and for all smaller ``rise``, both positive.

    It rises with α as long as cos α ≥ −rise/rest; its largest value is then arcsin(rise/rest).
    """
    if angle <= Ball.pi() / 2 or rise >= rest or rest * angle.cos() >= -rise:
        return Ball.atan2(rise * angle.sin(), rest + rise * angle.cos())
    return (rise / rest).asin() if rise < rest else angle
