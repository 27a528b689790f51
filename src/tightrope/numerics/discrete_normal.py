"""The discrete Gaussian Y, P[Y = k] ∝ e^{−k²/2v} on the integers, and its likelihood ratio under a shift.

L = shift (2Y + shift) / 2v is ln(P[Y = k] / P[Y = k + shift]) at k = Y; below, Q is the law of Y − shift.
Everything is proved at any variance v and any real argument, to relative accuracy, in the far tail too.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import ctx

from tightrope.numerics.balls import Ball, ball, between, precision
from tightrope.numerics.gaussian_tails import density, law, scaled_call, scaled_tail
from tightrope.numerics.theta import GUARD_LIMIT, guard_bits, log2, log_mass_ratio, mass, square

__all__ = ["call", "log_mass_ratio", "mass", "tail", "upper_probability"]

_ZERO, _ONE = Ball(0), Ball(1)


def tail(variance: Fraction, start: int) -> Ball:
    """Σ over k ≥ start of e^{−k²/2v}, for any integer start."""
    bits = _bits(variance, max(start, 1 - start), 20)
    if start > 0:
        return _tail(variance, start, bits) + 0
    return law(variance, bits).total - _tail(variance, 1 - start, bits)


def call(variance: Fraction, shift: int, x: Ball) -> Ball:
    """E[(1 − e^{x−L})₊], the hockey-stick divergence of order eˣ between Y and Y − shift, for any real x.

    It is P[Y > xv/shift − shift/2] − eˣ P[Y > xv/shift + shift/2].
    """
    if not x.is_finite():
        return _ZERO if x > 0 else _ONE if x < 0 else between(_ZERO, _ONE)
    low = x.lower()
    value, above = _call_at(variance, shift, low)
    if x.is_exact():
        return value + 0
    width = x.upper() - low
    if not width < 1:
        return between(_ZERO, value)
    # In eˣ the function is convex and falls with slope Q[L > x] ≤ e^{−x} P[L > x].
    return between((value - width.expm1() * above).max(_ZERO), value)


def upper_probability(variance: Fraction, shift: int, x: Ball) -> Ball:
    """P[L > x]. If x may lie on either side of an atom, both values are enclosed."""
    if not x.is_finite():
        return _ZERO if x > 0 else _ONE if x < 0 else between(_ZERO, _ONE)
    size = _threshold_size(variance, shift, x)
    with precision(ctx.prec + 32 + guard_bits(size)):
        threshold = _threshold(variance, shift, x)
        if size > GUARD_LIMIT:
            far = _far(variance, threshold)
            return between(_ZERO, far) if threshold > 0 else between(1 - far, _ONE)
        first, last = _next(threshold.lower()), _next(threshold.upper())
    if first != last and x.is_exact() and _size(x) > -GUARD_LIMIT:
        exact = Fraction(str(x.fmpq()))
        first = last = math.floor(exact * variance / shift - Fraction(shift, 2)) + 1
    value = _at_least(variance, first)
    return value if first == last else between(value, _at_least(variance, last))


def _call_at(variance: Fraction, shift: int, x: Ball) -> tuple[Ball, Ball]:
    """The call at an exact x, and an upper bound of P[L > x]."""
    if x < 0:  # exchanging the pair changes nothing
        value, _ = _call_at(variance, shift, -x)
        return -x.expm1() + x.exp() * value, _ONE
    size = _threshold_size(variance, shift, x)
    wanted = ctx.prec + 32 + guard_bits(size)
    with precision(wanted):
        threshold = _threshold(variance, shift, x)
        if size > GUARD_LIMIT:
            return between(_ZERO, _far(variance, threshold)), _ONE
        first = _next(threshold.lower())  # the least atom above x, unless that atom cannot be told from x
    # Against P[L > x] the value is about shift / max(σ, first): so many bits cancel.
    gap = max(log2(variance) / 2, log2(max(first, 1))) - log2(shift)
    bits = _bits(variance, max(first, 0), wanted - ctx.prec + guard_bits(gap))
    with precision(bits):
        of = law(variance, bits)
        step = of.inverse * shift
        reach = x - step * (first + Ball(shift) / 2)  # x less the loss at ``first``
        if reach > 0:
            first, reach = first + 1, reach - step
        weight = density(of, first)
        if first < 0:
            beyond = weight * reach.exp() * scaled_tail(of, first + shift)
            value, above = 1 - (_tail(variance, 1 - first, bits) + beyond) / of.total, _ONE
        else:
            scaled, start = scaled_call(of, first, shift, reach)
            value, above = weight * scaled / of.total, weight * start / of.total
        if not reach <= 0:  # an atom at x counts (1 − e^reach)₊; 1 − e^reach was taken, which may be less
            value += between(_ZERO, reach.expm1().max(_ZERO)) * weight / of.total
        return value, above


def _threshold(variance: Fraction, shift: int, x: Ball) -> Ball:
    """L > x means Y > this."""
    return x * (ball(variance) / shift) - Ball(shift) / 2


def _threshold_size(variance: Fraction, shift: int, x: Ball) -> float:
    """log2 of the larger part of the threshold."""
    return max(_size(x) + log2(variance) - log2(shift), log2(shift))


def _far(variance: Fraction, threshold: Ball) -> Ball:
    """An upper bound of P[Y > threshold] where that is positive, of P[Y ≤ threshold] where it is negative.

    Y is sub-Gaussian: E e^{sY} ≤ e^{s²v/2}, since S(sv) ≤ S(0).
    """
    return _ONE if threshold.contains(0) else (-square(threshold) / (2 * ball(variance))).exp()


def _at_least(variance: Fraction, start: int) -> Ball:
    """P[Y ≥ start]."""
    bits = _bits(variance, max(start, 1 - start), 20)
    share = _tail(variance, max(start, 1 - start), bits) / law(variance, bits).total
    return share if start > 0 else 1 - share


def _tail(variance: Fraction, start: int, bits: int) -> Ball:
    """Σ_{k≥start} e^{−k²/2v}, start > 0, with that many bits."""
    with precision(bits):
        of = law(variance, bits)
        return density(of, start) * scaled_tail(of, start)


def _bits(variance: Fraction, k: int, extra: int) -> int:
    """The present bits, ``extra``, and those that the exponent k²/2v takes from its exponential."""
    bits = ctx.prec + extra + (guard_bits(2 * log2(k) - log2(variance)) if k else 0)
    return -(-bits // 32) * 32  # few different precisions, so that constants are found again


def _next(x: Ball) -> int:
    """The least integer above an exact x."""
    floor = x.floor().unique_fmpz()
    assert floor is not None
    return int(floor) + 1


def _size(x: Ball) -> float:
    """log2 of the largest |x|, roughly; −∞ for 0."""
    mantissa, exponent = x.abs_upper().man_exp()
    return float(int(mantissa).bit_length() + int(exponent)) if mantissa else -math.inf
