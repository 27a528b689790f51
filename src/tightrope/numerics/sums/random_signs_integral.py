"""The average of many signs, by one integral.

Σ P[M = m]·E[(S_m/m − r)₊] = E[T₊]/(np), where T = a − b − r(a + b) and (a, b) counts the signs + and − of n draws, each
of them with chance p/2: P[M = m]/m = P[Bin(n, p) = m]/(np). One draw has the transform M(s) = 1 − p + p·e^{−rs}cosh s,
and

E[T₊] = (1/2π)∫ M(s)ⁿ/s² dy,  s = t + iy, t > 0.

The trapezoidal rule with step η returns Σ_j f(jB)e^{tjB}, f(x) = E[(T − x)₊], B = 2π/η; the term j = 0 is wanted, and
f(x) ≤ e^{−vx}M(v)ⁿ/(ev) for every v > 0 bounds the others. Of the nodes beyond the last one, most are tiny because
|cosh s|² = cosh²t − sin²y; those near y = πj turn e^{−rs}cosh s by the angle πj(1 − r), which leaves
|M|² ≤ (1 − p)² + c² + 2(1 − p)c·cos(angle) at one of the two ends c of p·|e^{−rs}cosh s|. Only there a part of order
r²/100 of the answer is lost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tightrope.numerics.balls import Ball, ComplexBall, between

__all__ = ["integrated_excess"]

_PEAKS = 100
_MOST_NODES = 4000
_BITS = 50  # the peaks beyond cost more than this anyway
_TRIES = 60


@dataclass(frozen=True)
class _Plan:
    """Where to integrate: the line, the step, the number of nodes, and a tilt on either side for the aliases."""

    t: float
    eta: float
    count: int
    above: float
    below: float


def integrated_excess(draws: int, p: Ball, r: Ball) -> Ball:
    """E[(S_M/M − r)₊] for an exact r in [0, 1): a proved enclosure, whose width does not fall with precision."""
    t, plan = _plan(draws, float(p.mid()), float(r.mid()))
    rule = _Rule(draws, p, r, Ball(t))
    most = (rule.chernoff(Ball(t)) / (draws * p)).upper().min(1 - r)
    if plan is None:
        return between(Ball(0), most)
    value = rule.value(plan).nonnegative_part() / (draws * p)
    return between(value.lower().min(most), value.upper().min(most))


class _Rule:
    """The trapezoidal rule on the line Re s = t."""

    def __init__(self, draws: int, p: Ball, r: Ball, t: Ball) -> None:
        self.draws, self.p, self.r, self.t = draws, p, r, t
        self.turn = self._less(t)  # e^{−rt}cosh t − 1
        self.height = 1 + p * self.turn  # M(t)

    def _less(self, s: Ball) -> Ball:
        """e^{−rs}cosh s − 1."""
        return (-self.r * s).expm1() + (-self.r * s).exp() * 2 * (s / 2).sinh() ** 2

    def chernoff(self, v: Ball) -> Ball:
        """f(0) ≤ M(v)ⁿ/(ev)."""
        return (self.draws * (self.p * self._less(v)).log1p() - 1).exp() / v

    def value(self, plan: _Plan) -> Ball:
        """E[T₊]."""
        eta, t, n = Ball(plan.eta), self.t, self.draws
        total = 1 / t**2
        for k in range(1, plan.count + 1):
            s = ComplexBall(t, eta * k)
            ratio = 1 + self.p * ((-self.r * s).exp() * s.cosh() - 1 - self.turn) / self.height
            total += 2 * ((n * ratio.log()).exp() / s**2).real
        tail = self._beyond(eta, eta * plan.count)
        size = (n * (self.p * self.turn).log1p()).exp() * eta / (2 * Ball.pi())
        return size * (total + between(-tail, tail)) - between(Ball(0), self._aliases(plan).upper())

    def _aliases(self, plan: _Plan) -> Ball:
        period = 2 * Ball.pi() / Ball(plan.eta)
        above, below = Ball(plan.above), Ball(plan.below)
        return (
            self.chernoff(above) / ((above - self.t) * period).expm1()
            + self.chernoff(below) / ((self.t - below) * period).expm1()
        )

    def _beyond(self, eta: Ball, last: Ball) -> Ball:
        """2Σ|M(s)/M(t)|ⁿ/|s|² over the nodes with y > last."""
        rest = 2 / (eta * last)
        if not last < Ball.pi() / 2:
            return rest.upper()
        pi, n, q = Ball.pi(), self.draws, 1 - self.p
        most = self.p * (1 + self.turn)  # p·|e^{−rs}cosh s| lies between these two near y = πj
        least = self.p * (-self.r * self.t).exp() * (self.t.cosh() ** 2 - last.sin() ** 2).sqrt()
        bound = rest * (n * ((q + least) / self.height).log()).exp()
        around = 2 * (2 * last / eta + 1)  # nodes within ``last`` of πj, on both half-lines
        swing = (self.r * last + (self.t.tanh() * last.tan()).atan()).upper()
        for j in range(1, _PEAKS + 1):
            angle = pi * j * (1 - self.r) + between(-swing, swing)
            squares = [q**2 + size**2 + 2 * q * size * angle.cos() for size in (most, least)]  # convex in the size
            square = squares[0].max(squares[1]).nonnegative_part().upper()
            bound += around * (square.sqrt() / self.height).min(Ball(1)).upper() ** n / (pi * j - last) ** 2
        return (bound + around / (pi * (pi * _PEAKS - last))).upper()


def _plan(draws: int, p: float, r: float) -> tuple[float, _Plan | None]:
    """The place of a line, through the saddle of n·ln M(s) − 2 ln s, and a step fine enough for the aliases, if the sum
    is short. Floats only."""

    def log_m(s: float) -> float:
        return math.log1p(p * (math.expm1(-r * s) + math.exp(-r * s) * 2 * math.sinh(s / 2) ** 2))

    def slope(s: float) -> float:
        return p * math.exp(-r * s) * (math.sinh(s) - r * math.cosh(s)) / math.exp(log_m(s))

    low, high = 1e-14, 300.0
    for _ in range(_TRIES):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if draws * slope(middle) < 2 / middle else (low, middle)
    t, h = low, low * 1e-3
    bend = (slope(t + h) - slope(t - h)) / (2 * h) * draws + 2 / t**2
    if not bend > 0:
        return t, None
    spread, reach = math.sqrt(bend), _BITS * math.log(2)
    goal = draws * log_m(t) - 2 * math.log(t) - math.log(spread) - reach
    above, below = t + 1 / spread, t / 2
    if not above > t > below > 0:
        return t, None
    period = max((draws * log_m(v) - math.log(v) - goal) / abs(v - t) for v in (above, below))
    eta = 2 * math.pi / period
    count = math.ceil(math.sqrt(2 * reach) / (math.sqrt(max(bend - 2 / t**2, bend / 4)) * eta)) + 1
    return t, _Plan(t, eta, count, above, below) if 0 < count <= _MOST_NODES else None
