"""The hockey-stick of a sum of losses between two normal laws of unequal variance: noncentral χ² tails.

One loss is A(x+b)² + C, A = ½(1/s₂² − 1/s₁²), b = (m₁/s₁² − m₂/s₂²)/2A, so that k of them exceed a level when
Σ(x_i+b)² is above (A > 0) or below (A < 0) some c. Divided by s², that sum is noncentral χ² with k degrees and
noncentrality k(m+b)²/s², under each of the two laws: a Poisson mixture of incomplete gamma functions.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, between, precision

__all__ = ["MOST_COPIES", "noncentral", "summable", "unequal_sum_call"]

MOST_COPIES = 64  # beyond, a contour integral is quicker
_TERM = 2.0  # units of work
_MOST_CENTRAL = 10_000  # the largest noncentrality: a sum of some 25 times its root


def _square(m1: Fraction, s1: Fraction, m2: Fraction, s2: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """A, b and the rational part of C."""
    a = (1 / s2**2 - 1 / s1**2) / 2
    slope = m1 / s1**2 - m2 / s2**2
    return a, slope / (2 * a), m2**2 / (2 * s2**2) - m1**2 / (2 * s1**2) - slope**2 / (4 * a)


def summable(m1: Fraction, s1: Fraction, m2: Fraction, s2: Fraction, copies: int) -> bool:
    """Whether the sum is short."""
    b = _square(m1, s1, m2, s2)[1]
    return copies <= MOST_COPIES and copies * max(((m1 + b) / s1) ** 2, ((m2 + b) / s2) ** 2) <= _MOST_CENTRAL


def unequal_sum_call(m1: Fraction, s1: Fraction, m2: Fraction, s2: Fraction, copies: int, x: Ball) -> Ball:
    """E[(1 − e^{x−S})₊] = P[S > x] − e^x·Q[S > x], S the sum of that many losses ln N(m₁,s₁²)/N(m₂,s₂²)."""
    if not x.is_finite():
        return Ball(0) if x > 0 else Ball(1) if x < 0 else between(Ball(0), Ball(1))
    if not x.is_exact():  # it never rises in x
        return between(*(unequal_sum_call(m1, s1, m2, s2, copies, end) for end in (x.upper(), x.lower())))
    a, b, rest = _square(m1, s1, m2, s2)
    with precision(ctx.prec + 60):
        level = (x - copies * (ball(rest) + ball(s2 / s1).log())) / ball(a)  # what Σ(x_i+b)² is compared with
        tails = [
            noncentral(copies, copies * ((m + b) / s) ** 2, level / ball(s * s), above=a > 0)
            for m, s in ((m1, s1), (m2, s2))
        ]
        value = tails[0] - x.exp() * tails[1]
        return value.max(-x.expm1()).max(Ball(0)).min(Ball(1))


def noncentral(degrees: int, centrality: Fraction, level: Ball, above: bool) -> Ball:
    """The chance that a noncentral χ² lies above (or below) a level."""
    if level <= 0:
        return Ball(1) if above else Ball(0)
    if not level > 0:
        return between(Ball(0), Ball(1))
    mean, x, shape = ball(centrality) / 2, level / 2, Ball(degrees) / 2
    rate = float(mean.mid())
    first = max(0, math.floor(rate - math.sqrt(2 * rate * (ctx.prec + 20)))) if centrality else 0
    effort.spend(_TERM * (2 * rate + 2 - first), "a noncentral tail")
    weight = (mean.log() * first - mean - Ball(first + 1).lgamma()).exp() if centrality else Ball(1)
    # Upper tails Q(a+1) = Q(a) + x^a e^{−x}/Γ(a+1) rise with a, lower ones are 1 less those.
    tail = x.gamma_upper(shape + first, regularized=1)
    low = x.gamma_lower(shape + first, regularized=1)
    jump = ((shape + first) * x.log() - x - (shape + first + 1).lgamma()).exp()
    total, j = Ball(0), first
    # Before the first: Poisson weights fall by the ratio first/mean or more each, and no tail exceeds 1.
    before = between(Ball(0), weight * first / (mean - first)) if first else Ball(0)
    while True:
        total += weight * (tail if above else low)
        if not centrality:
            return total
        j += 1
        weight *= mean / j
        tail, low = tail + jump, low - jump
        jump *= x / (shape + j)
        if j > 2 * rate + 2:
            rest = weight / (1 - mean / (j + 1))
            reach = rest if above else rest * abs(low).upper()
            if reach < total * Ball(2) ** -ctx.prec or j > 100_000:
                return total + before + between(Ball(0), reach.upper())
            if not total.is_finite():
                raise NotCertified("a noncentral tail", "it is out of reach")
