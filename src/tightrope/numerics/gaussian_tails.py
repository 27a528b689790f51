"""Tails of f(k) = e^{−k²/2v} over the integers, as multiples of their first term, proved at any variance v.

Two ways to sum; the cheaper is taken. *Directly*, term by term, with a geometric bound of what is left out.
Or, when the terms vary slowly, by *Euler–Maclaurin* with m corrections: for a ≥ 0, b_j = B_{2j}/(2j)!,

    Σ_{k≥a} f(k) = ∫_a^∞ f + f(a)/2 − Σ_{j≤m} b_j f^{(2j−1)}(a) + R,      |R| ≤ |b_m| ∫_a^∞ |f^{(2m)}|.

Here f^{(n)}(x) = (−1)ⁿ v^{−n/2} He_n(s) f(x) with s = x/√v, and |He_{2m}(s)| = |E(s+iZ)^{2m}| ≤ E(s²+Z²)^m
with Z normal. Put s² = y² + w², y = a/√v; then ds ≤ dw, and the integral is at most
v^{½−m} f(a) √(π/2) E(y²+W²+Z²)^m with W normal. W²+Z² is twice an exponential variable, so by Minkowski's
inequality and (m!)^{1/m} ≤ (m+1)/2 that expectation is at most (y²+m+1)^m. The bound carries the factor f(a):
it is a relative error, in the far tail too.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from flint import ctx, fmpq

from tightrope.numerics.balls import Ball, ball, between, precision
from tightrope.numerics.theta import log2, mass

__all__ = ["Law", "density", "law", "scaled_call", "scaled_tail"]

_HALF = Ball(0.5)


class Law(NamedTuple):
    """Constants of one variance at one precision."""

    variance: Fraction
    inverse: Ball  # 1/v
    sigma: Ball
    total: Ball  # the sum over all integers


class _Plan(NamedTuple):
    """How to sum: ``terms`` terms directly, or ``terms`` Euler–Maclaurin corrections."""

    smooth: bool
    terms: int


@lru_cache(maxsize=256)
def law(variance: Fraction, bits: int) -> Law:
    """The constants, with that many bits."""
    with precision(bits):
        v = ball(variance)
        return Law(variance, 1 / v, v.sqrt(), mass(variance, Fraction(0)))


def density(of: Law, k: int) -> Ball:
    """f(k) = e^{−k²/2v}."""
    return (-of.inverse * (k * k) / 2).exp()


def scaled_tail(of: Law, start: int) -> Ball:
    """Σ_{k≥start} f(k) / f(start), start ≥ 0."""
    plan = _plan(of.variance, start, ctx.prec)
    return _smooth_tail(of, start, plan.terms) if plan.smooth else _direct_tail(of, start, plan.terms)


def scaled_call(of: Law, first: int, shift: int, reach: Ball) -> tuple[Ball, Ball]:
    """Σ_{k≥first} (1 − e^{x−l_k}) f(k) / f(first), first ≥ 0, and an upper bound of Σ f(k) / f(first).

    The losses l_k lie shift/v apart, and ``reach`` is x − l_first, at most about 0.
    """
    plan = _plan(of.variance, first, ctx.prec)
    if not plan.smooth:
        return _direct_call(of, first, plan.terms, of.inverse * shift, reach)
    start = _smooth_tail(of, first, plan.terms)  # f(first+shift) = f(first) e^{−l_first}
    return start - reach.exp() * scaled_tail(of, first + shift), start


def _direct_tail(of: Law, start: int, terms: int) -> Ball:
    total, term = Ball(0), Ball(1)
    ratio, fall = (-of.inverse * (start + _HALF)).exp(), (-of.inverse).exp()
    for _ in range(terms):
        total += term
        term *= ratio
        ratio *= fall
    return total + between(Ball(0), term / (1 - ratio))


def _direct_call(of: Law, first: int, terms: int, step: Ball, reach: Ball) -> tuple[Ball, Ball]:
    """The same loop with weights gain_j = 1 − e^{reach − j·step}: positive terms only, nothing cancels."""
    total, value, term = Ball(0), Ball(0), Ball(1)
    ratio, fall = (-of.inverse * (first + _HALF)).exp(), (-of.inverse).exp()
    gain, decay = -reach.expm1(), (-step).exp()
    rise = -(-step).expm1() * reach.exp()
    for _ in range(terms + 2):
        total += term
        value += term * gain
        term *= ratio
        ratio *= fall
        gain += rise
        rise *= decay
    # From j = 1 on gain is positive and concave, so gain_i ≤ gain_N (i−1)/(N−1) beyond N ≥ 2.
    left_out = term / (1 - ratio)
    return value + between(Ball(0), gain * left_out / (1 - ratio)), total + left_out


def _smooth_tail(of: Law, start: int, terms: int) -> Ball:
    """Euler–Maclaurin; ``now`` is v^{−n/2} He_n(y) for n = 2j − 1, by Hermite's recurrence."""
    w, p = of.inverse, of.inverse * start
    exponent = p * start / 2
    scale = of.sigma * (Ball.pi() / 2).sqrt()
    series, before, now = _HALF, Ball(1), p
    coefficients = _bernoulli(ctx.prec, terms)
    for j in range(1, terms + 1):
        series += coefficients[j] * now
        even = p * now - (2 * j - 1) * w * before
        before, now = even, p * even - 2 * j * w * now
    left_out = coefficients[terms] * scale * (p * p + (terms + 1) * w) ** terms
    return scale * exponent.exp() * exponent.sqrt().erfc() + series + between(-left_out, left_out)


def _plan(variance: Fraction, start: int, bits: int) -> _Plan:
    """The cheaper way to sum from start ≥ 0. Estimates only: whatever is chosen is then proved."""
    slope, curve = _float(start / variance), _float(1 / variance)
    nats = bits * math.log(2) + 1
    spread = slope + math.sqrt(slope * slope + 2 * curve * nats)
    direct = 1 + 2 * nats / spread if spread > 0 else math.inf
    if direct <= 40 or slope > 4:
        return _Plan(False, math.ceil(direct))
    scale = log2(variance)
    corner = 2 * log2(start) - scale if start else -math.inf  # log2 y²
    for m in range(1, int(min(direct, 8 * bits) / 3)):
        other = math.log2(m + 1)
        grown = max(corner, other) + math.log2(1 + 2 ** -min(abs(corner - other), 1000.0))
        if m * (5.3 + scale - grown) >= bits + scale / 2:  # 5.3 = log2 (2π)²
            return _Plan(True, m)
    return _Plan(False, math.ceil(direct))


_known: dict[int, list[Ball]] = {}


def _bernoulli(bits: int, count: int) -> list[Ball]:
    """B_{2j}/(2j)! for j = 0 … count at least, at the present precision of that many bits; kept for later."""
    if len(_known) > 64:
        _known.clear()
    known = _known.setdefault(bits, [Ball(1)])
    for j in range(len(known), count + 1):
        known.append(Ball(fmpq.bernoulli(2 * j)) / Ball(2 * j).fac())
    return known


def _float(x: Fraction) -> float:
    return math.inf if x and log2(x) > 1000 else float(x)
