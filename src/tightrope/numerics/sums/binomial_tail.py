"""Pr[Bin(n, q) > b], enclosed."""

from __future__ import annotations

from fractions import Fraction

from flint import ctx

from tightrope.numerics.balls import Ball, ball, between, precision

__all__ = ["binomial_excess"]

_MOST_TERMS = 4000


def binomial_excess(number: int, rate: Fraction, most: int) -> Ball:
    """The chance of more than ``most`` successes; up to the mean 1 less that of many failures.

    From k = most + 1 on the terms fall by the ratios (n−k)q/((k+1)(1−q)), which fall themselves: what is not summed is
    at most a geometric series.
    """
    if most >= number or rate == 0:
        return Ball(0)
    first = most + 1
    if rate == 1:
        return Ball(1)
    if first <= number * rate:
        return 1 - binomial_excess(number, 1 - rate, number - first)
    bits = int(ctx.prec)
    with precision(bits + 2 * number.bit_length() + 32):
        term = _chance(number, rate, first)
        odds, total, k = ball(rate / (1 - rate)), Ball(0), first
        while k < number and k - first < _MOST_TERMS and term > total * Ball(2) ** -bits:
            total += term
            term *= odds * (number - k) / (k + 1)
            k += 1
        ratio = odds * (number - k) / (k + 1)
        rest = term / (1 - ratio)
        total += between(Ball(0), rest.upper()) if k < number else term
    return (total + 0).min(Ball(1))


def _chance(number: int, rate: Fraction, k: int) -> Ball:
    """C(n, k)·q^k·(1−q)^{n−k}."""
    logs = Ball(number + 1).lgamma() - Ball(k + 1).lgamma() - Ball(number - k + 1).lgamma()
    return (logs + k * ball(rate).log() + (number - k) * (-ball(rate)).log1p()).exp()
