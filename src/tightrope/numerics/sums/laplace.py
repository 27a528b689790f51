"""The hockey-stick of a sum of Laplace losses, exactly, by residues.

One loss has an atom ½ at +ε₀, an atom ½e^{−ε₀} at −ε₀ and the density ¼e^{−(ε₀−l)/2} between. The k-th power
of its moment generating function is a binomial sum, and each term of the inversion integral is closed around
its pole of order k at −½ (and, for j = 0, the pole at 0). For x ≥ 0, k ≥ 2 and S the sum of k losses,

    E[(1 − e^{x−S})₊] = Σ_{j: h_j > 0} C(k,j) e^{−jε₀} { 1[j=0] + e^{−h_j} 2^{1−k} Σ_{n<k} a_{j,n} h_jⁿ/n! },

h_j = ((k−2j)ε₀ − x)/2, Σ_n a_{j,n} zⁿ = z (1+z)^{k−j−1} (1−z)^{j−1} for j ≥ 1, a_{0,n} = −Σ_{i≥n} C(k−1,i).
Every term vanishes at h_j = 0, so the sum is continuous. At most some 1.3 bits per copy cancel, near x = kε₀.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from flint import ctx, fmpz_poly

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, BallPolynomial, ball, between, certain, precision

__all__ = ["MOST_COPIES", "laplace_call"]

MOST_COPIES = 400  # time and memory grow faster than the square: beyond, a contour integral is cheaper
_ZERO, _ONE = Ball(0), Ball(1)
_ATTEMPTS = 4


def laplace_call(epsilon0: Fraction, copies: int, x: Ball) -> Ball:
    """E[(1 − e^{x−S})₊], S the sum of ``copies`` ≥ 1 independent losses of the Laplace pair with ε₀ > 0.

    Raises NotCertified at once if there are more than MOST_COPIES copies.
    """
    if copies > MOST_COPIES:
        raise NotCertified(f"the sum of {copies} Laplace losses", f"at most {MOST_COPIES} copies")
    if not x.is_finite():
        return _ZERO if x > 0 else _ONE if x < 0 else between(_ZERO, _ONE)
    if x.is_exact():
        return _call_at(epsilon0, copies, x) + 0
    # The function does not increase, so its values at the two ends enclose those between.
    return between(_call_at(epsilon0, copies, x.lower()), _call_at(epsilon0, copies, x.upper()))


def _call_at(epsilon0: Fraction, copies: int, x: Ball) -> Ball:
    """The value at an exact x."""
    if x < 0:  # exchanging the pair changes nothing
        return -x.expm1() + x.exp() * _call_at(epsilon0, copies, -x)
    wanted = ctx.prec
    small = max(0, epsilon0.denominator.bit_length() - epsilon0.numerator.bit_length())  # a value is about ε₀
    bits = wanted + 40 + copies + small
    value = between(_ZERO, _ONE)
    for _ in range(_ATTEMPTS):  # nearly always the first: only values far below 2^{−k} need more
        bits = -(-bits // 64) * 64
        with precision(bits):
            value = _residues(epsilon0, copies, x)
        if certain(value, wanted):
            break
        bits *= 2
    return value


def _residues(epsilon0: Fraction, copies: int, x: Ball) -> Ball:
    """The sum of the formula above, x ≥ 0 exact."""
    most = (ball(copies * epsilon0) - x) / 2
    if most <= 0:
        return _ZERO
    if copies == 1:
        return between(_ZERO, -(-most).expm1()) if not most >= 0 else -(-most).expm1()
    step = ball(epsilon0)
    decay, weight, total = (-step).exp(), Ball(1), Ball(0)
    polynomials = _polynomials(copies, ctx.prec)
    for j in range((copies + 1) // 2):
        h = most - j * step
        if h <= 0:
            break
        if j == len(polynomials):
            polynomials.append(_polynomial(copies, j))
        term = weight * (polynomials[j](h) * (-h).exp() + (1 if j == 0 else 0))
        total += term if h > 0 else between(_ZERO, term)  # where h < 0 the term is absent; it is 0 at 0
        weight *= decay * (copies - j) / (j + 1)
    return total


@lru_cache(maxsize=8)
def _polynomials(copies: int, bits: int) -> list[BallPolynomial]:  # noqa: ARG001 (both are the key)
    """The inner polynomials known so far, j = 0, 1, …, with that many bits; extended as they are needed."""
    return []


@lru_cache(maxsize=8)
def _scales(copies: int, bits: int) -> list[Ball]:
    """2^{1−k}/n! for n < k, with that many bits."""
    with precision(bits):
        return [Ball(2) ** (1 - copies) / Ball(n).fac() for n in range(copies)]


def _polynomial(copies: int, j: int) -> BallPolynomial:
    """2^{1−k} Σ_n a_{j,n} hⁿ/n!, a polynomial in h."""
    if j == 0:
        rows = accumulate(math.comb(copies - 1, i) for i in range(copies))
        integers = fmpz_poly([-row for row in rows][::-1])
    else:
        integers = fmpz_poly([0, 1]) * fmpz_poly([1, 1]) ** (copies - j - 1) * fmpz_poly([1, -1]) ** (j - 1)
    scales = _scales(copies, ctx.prec)
    return BallPolynomial([scale * a for scale, a in zip(scales, integers.coeffs(), strict=False)])
