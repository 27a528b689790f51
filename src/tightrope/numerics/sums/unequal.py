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

__all__ = ["MOST_COPIES", "brief", "noncentral", "summable", "unequal_sum_call"]

MOST_COPIES = 64  # beyond, a contour integral is quicker
_TERM, _GAMMA = 2.5, 100  # units of work; terms that an incomplete gamma function costs
_MOST_CENTRAL, _FEW_CENTRAL = 10_000, 200  # the largest noncentrality; and above this a contour decays by itself
_FARTHEST = 1e7  # the largest term


def _square(m1: Fraction, s1: Fraction, m2: Fraction, s2: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """A, b and the rational part of C."""
    a = (1 / s2**2 - 1 / s1**2) / 2
    slope = m1 / s1**2 - m2 / s2**2
    return a, slope / (2 * a), m2**2 / (2 * s2**2) - m1**2 / (2 * s1**2) - slope**2 / (4 * a)


def summable(m1: Fraction, s1: Fraction, m2: Fraction, s2: Fraction, copies: int) -> bool:
    """Whether the sum is not too long."""
    return copies <= MOST_COPIES and copies * _centrality(m1, s1, m2, s2) <= _MOST_CENTRAL


def brief(m1: Fraction, s1: Fraction, m2: Fraction, s2: Fraction, copies: int) -> bool:
    """Whether it is short, and a contour would hardly decay."""
    return copies * _centrality(m1, s1, m2, s2) <= _FEW_CENTRAL


def _centrality(m1: Fraction, s1: Fraction, m2: Fraction, s2: Fraction) -> Fraction:
    b = _square(m1, s1, m2, s2)[1]
    return max(((m1 + b) / s1) ** 2, ((m2 + b) / s2) ** 2)


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
    if not centrality:
        return x.gamma_upper(shape, regularized=1) if above else _lower(x, shape)
    first, last = _range(float(mean.mid()), float(x.mid()), degrees / 2, above)
    effort.spend(_TERM * (last - first + _GAMMA), "a noncentral tail")
    terms = _upper_terms(mean, x, shape, first, last) if above else _lower_terms(mean, x, shape, first, last)
    before = _beyond(*terms[:2]) if first else Ball(0)
    return sum(terms, before + _beyond(*terms[:-3:-1]))


def _range(mean: float, x: float, shape: float, above: bool) -> tuple[int, int]:
    """The terms that count: around the largest they fall like those of a Poisson law, or faster."""
    boundary = (
        math.sqrt(shape * shape + 4 * mean * x) - shape
    ) / 2  # where a weight times the jump of a tail is largest
    peak, nats = max(mean, boundary) if above else min(mean, boundary), 0.7 * (ctx.prec + 20)
    if not peak < _FARTHEST:
        raise NotCertified("a noncentral tail", "it is out of reach")
    after = nats / 3 + math.sqrt(nats * nats / 9 + 2 * nats * peak)
    return max(0, math.floor(peak - math.sqrt(2 * nats * peak))), math.ceil(peak + after) + 2


def _beyond(last: Ball, before: Ball) -> Ball:
    """What lies beyond the last of terms that are positive and log-concave: no more than a geometric series.

    So are these: Poisson weights; upper tails Q(a) of gamma laws, since Q(a+1) − Q(a) = u(a) = x^a e^{−x}/Γ(a+1) and,
    for a < x, Q(a) ≤ u(a)·a/(x − a); and lower tails Σ_{i≥0} u(a+i), as u is.
    """
    ratio = last / before
    return between(Ball(0), last * ratio / (1 - ratio)) if ratio < 1 else between(Ball(0), Ball(1))


def _poisson(mean: Ball, j: int) -> Ball:
    return (mean.log() * j - mean - Ball(j + 1).lgamma()).exp()


def _lower(x: Ball, a: Ball) -> Ball:
    """P(a), to a relative accuracy: flint's own may be far too wide where a > x is large."""
    if not x < a:
        return 1 - x.gamma_upper(a, regularized=1)
    term, total, i = Ball(1), Ball(0), 0
    while term > total * Ball(2) ** -ctx.prec:
        total, i = total + term, i + 1
        term *= x / (a + i)
    return _jump(x, a) * (total + between(Ball(0), term / (1 - x / (a + i))))


def _jump(x: Ball, a: Ball) -> Ball:
    return (a * x.log() - x - (a + 1).lgamma()).exp()


def _upper_terms(mean: Ball, x: Ball, shape: Ball, first: int, last: int) -> list[Ball]:
    """Poisson weights times Q(a + j), each tail from the one before it: nothing cancels."""
    weight, tail, jump = _poisson(mean, first), x.gamma_upper(shape + first, regularized=1), _jump(x, shape + first)
    terms = []
    for j in range(first, last + 1):
        terms.append(weight * tail)
        weight *= mean / (j + 1)
        tail += jump
        jump *= x / (shape + (j + 1))
    return terms


def _lower_terms(mean: Ball, x: Ball, shape: Ball, first: int, last: int) -> list[Ball]:
    """Poisson weights times P(a + j), each tail from the one after it."""
    weight, tail, jump = _poisson(mean, last), _lower(x, shape + last), _jump(x, shape + last)
    terms = []
    for j in range(last, first - 1, -1):
        terms.append(weight * tail)
        weight *= j / mean
        jump *= (shape + j) / x
        tail += jump
    return terms[::-1]
