"""The trapezoidal rule for ∫φ(z) w(z)^{A+iy} dz: where its nodes lie, its aliasing and what lies beyond its ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball

__all__ = ["Rule", "largest_turn", "right_end", "rule", "tails", "upper_tail_bound", "short", "turning"]

_MOST_NODES = 20_000
_LITTLE = 2.0  # nats that a strip may cost before cuts are looked for
_COSTS, _MOST_CUTS = (2.0, 5.0, 12.0, 30.0, 80.0), 5  # nats of each piece of a strip with cuts
_NARROWER = 0.8  # strips that are tried


def short(x: float, bits: int = 10) -> Fraction:
    """A dyadic number of few bits, at most x > 0 and close to it."""
    mantissa, exponent = math.frexp(x)
    whole, left = math.floor(math.ldexp(mantissa, bits)), exponent - bits
    return Fraction(whole << left) if left >= 0 else Fraction(whole, 1 << -left)


@dataclass(frozen=True)
class Rule:
    """Nodes z = j·step for first ≤ j ≤ last, and a half-width of the strip in which the error is bounded.

    ``cuts``: where the strip is cut, in rising order; its pieces are bounded apart.
    """

    step: Fraction
    first: int
    last: int
    depth: Fraction
    cuts: tuple[Fraction, ...] = ()

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

        |w^{iy}| ≤ e^{y·arg w}, and 0 ≤ arg w ≤ dμ. It rises with x: left of a cut z it is at most what it is there, and
        the integral of φ·w^A to the right of a cut is at most w(z)^A·e^{−z²/2}/2. So each piece, from one cut to the
        next, is at most what the angle at its right end makes of the integral to the right of its left end.
        """
        turn, a, total, before = ball(self.depth) * mu, ball(power), Ball(0), most
        for i, cut in enumerate(self.cuts):
            z = ball(cut)
            if not (z >= 0 and (power < 0 or z >= a * mu) and (i == 0 or cut > self.cuts[i - 1])):
                raise NotCertified("a sampled normal transform", "the strip is cut before its peak")
            rise = q * (mu * z - mu * mu / 2).exp()
            angle = ComplexBall(1 - q + rise * turn.cos(), rise * turn.sin()).arg()
            total += (y * angle).exp() * before
            before = (a * (1 - q + rise).log() - z * z / 2).exp() / 2
        return still * (total + (y * turn).exp() * before)


def rule(mu: float, q: float, power: float, y: float, nats: float, left: float, right: float) -> Rule:
    """Nodes for an error of about e^−nats relative to G(A) at every |y'| ≤ y: a choice, in floats."""
    deepest = min(math.sqrt(2 * nats), (3.04 if power < 0 else 3.12) / mu)
    depth, rate, d = 0.0, math.inf, deepest
    cuts: tuple[Fraction, ...] = ()
    while nats / d < rate:  # narrower strips are worse, whatever their cuts
        extra, places = turning(mu, q, power, y, d * mu)
        extra += power * math.log(math.cos(d * mu / 2)) if power < 0 else 0.0
        trial = (nats + extra) / d + d / 2
        if trial < rate:
            depth, cuts, rate = d, places, trial
        d *= _NARROWER
    step = short(2 * math.pi / rate)
    h = float(step)
    if not (right - left) / h < _MOST_NODES:
        raise NotCertified("a sampled normal transform", f"it needs {(right - left) / h:.3g} nodes")
    return Rule(step, math.floor(left / h), math.ceil(right / h), short(depth), cuts)


def turning(mu: float, q: float, power: float, y: float, turn: float) -> tuple[float, tuple[Fraction, ...]]:
    """What e^{y·arg w} adds to the strip, in nats, and the cuts that it takes."""
    whole = y * turn
    if whole < _LITTLE:
        return whole, ()
    least = max(0.0, power * math.log(q) + power * (power - 1) * mu * mu / 2) if power > 0 else 0.0  # ln G is about
    for cost in _COSTS:
        cuts = _cuts(mu, q, power, y, turn, cost + least)
        total = cost + math.log1p(len(cuts))
        if cuts and total < whole:
            return total, tuple(short(cut, 12) for cut in reversed(cuts))
    return whole, ()


def _cuts(mu: float, q: float, power: float, y: float, turn: float, cost: float) -> list[float]:
    """Cuts from the right, each as far to the left as it can be if every piece is to cost so many nats; none if few do
    not reach to where the angle is as small."""
    cos, sin, a = math.cos(turn), math.sin(turn), max(power, 0.0)
    low, angle, z = a * mu * 1.001 + 1e-3, y * turn, math.inf
    cuts: list[float] = []
    for _ in range(_MOST_CUTS):
        before, z = z, min(z, math.sqrt(2 * angle) + 2 * low)
        for _ in range(3):  # from the right: it never passes the place
            rise = mu * z - mu * mu / 2
            log = math.log1p(q * math.expm1(rise)) if rise < 600 else rise + math.log(q)
            z = max(math.sqrt(2 * max(angle + a * log - cost, 0.0)), low)
        if not z < 0.99 * before:
            return []
        rise = q * math.exp(min(mu * z - mu * mu / 2, 600.0))
        angle = y * math.atan2(rise * sin, 1 - q + rise * cos)
        cuts.append(z)
        if angle <= cost:
            return cuts
    return []


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
