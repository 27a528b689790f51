"""The periodic Gaussian sum S(c) = Σ_k e^{−(k−c)²/2v}: directly for small v, else by Poisson summation."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import ctx, fmpq

from tightrope.numerics.balls import Ball, ball, between, precision

__all__ = ["DUAL", "GUARD_LIMIT", "guard_bits", "log2", "log_mass_ratio", "mass", "square"]

GUARD_LIMIT = 8192  # bits added to keep relative accuracy; past this, answers are sound but may be wide
DUAL = Fraction(4, 25)  # near 1/2π, where the sum over k and its Poisson dual converge equally fast
_HALF = Ball(0.5)


def mass(variance: Fraction, centre: Ball | Fraction) -> Ball:
    """S(c) = Σ over all integers k of e^{−(k−c)²/2v}, for any real c."""
    if isinstance(centre, Fraction):
        centre -= round(centre)  # the period is exactly 1
    c = ball(centre)
    c -= (c.mid() + _HALF).lower().floor()
    if not -1 < c < 1:  # hardly anything is known of it; S is greatest at integers, least half-way between
        return between(mass(variance, Fraction(1, 2)), mass(variance, Fraction(0)))
    bits = ctx.prec
    if variance >= DUAL:
        weights, left_out = _dual_weights(variance, bits)
        half_theta = sum((weight * (2 * n * c).cos_pi() for n, weight in enumerate(weights, 1)), _HALF)
        return 2 * (2 * Ball.pi() * ball(variance)).sqrt() * (half_theta + between(-left_out, left_out))
    half = 1 / (2 * ball(variance))
    count = 3 + math.isqrt(bits // 4)  # enough: S ≥ e^{−1/8v}, left out is e^{−count²/2v}, and 1/2v > 3
    near = sum(((-half * square(k - c)).exp() for k in range(-count, count + 1)), Ball(0))
    # Beyond, |k − c| ≥ |k| − 1, and from one such term to the next they fall by more than e^{−3}.
    return near + between(Ball(0), 4 * (-half * count**2).exp())


def log_mass_ratio(variance: Fraction, centre: Fraction) -> Ball:
    """ln S(c) − ln S(0), to full relative accuracy however close the two are; exactly 0 at an integer."""
    c = abs(centre - round(centre))  # periodic and even
    if c == 0:
        return Ball(0)
    with precision(ctx.prec + 16 + guard_bits(abs(log2(variance)))):
        value = _dual_log_ratio(variance, c) if variance >= DUAL else _direct_log_ratio(variance, c)
    return value + 0


def _dual_log_ratio(variance: Fraction, c: Fraction) -> Ball:
    """With q = e^{−2π²v}, S(c)/S(0) − 1 = −4 Σ_n q^{n²} sin²(πnc) / (1 + 2 Σ_n q^{n²}): terms of one sign."""
    weights, left_out = _dual_weights(variance, ctx.prec)
    sines = [Ball.sin_pi_fmpq(fmpq(n * c.numerator, c.denominator)) for n in range(1, len(weights) + 1)]
    drop = sum((weight * square(sine) for weight, sine in zip(weights, sines, strict=True)), Ball(0))
    drop += between(Ball(0), square(sines[0]) * left_out)  # sin²(πnc) ≤ n² sin²(πc)
    return (-2 * drop / (sum(weights, _HALF) + between(Ball(0), left_out))).log1p()


def _direct_log_ratio(variance: Fraction, c: Fraction) -> Ball:
    """S(c) e^{c²/2v} − S(0) = Σ_{k≥1} e^{−(k²−2kc)/2v} (1 − e^{−kc/v})², for 0 < c ≤ 1/2."""
    w = 1 / ball(variance)
    x = w * ball(c)
    count = 3 + math.isqrt(ctx.prec // 4)
    rise = Ball(0)
    for k in range(1, count):
        rise += (w * ball(k * c - Fraction(k * k, 2))).exp() * square((-k * x).expm1())
    # Left out: 1 − e^{−kx} ≤ k(1 − e^{−x}), 2kc ≤ k, and each term is less than half the one before.
    rise += between(Ball(0), 2 * count**2 * (-w * (count * count - count) / 2).exp() * square((-x).expm1()))
    return (rise / mass(variance, Fraction(0))).log1p() - x * ball(c) / 2


def _dual_weights(variance: Fraction, bits: int) -> tuple[list[Ball], Ball]:
    """q^{n²} for n = 1 … N, q = e^{−2π²v}, and an upper bound of Σ_{n>N} n² q^{n²}; v must be at least DUAL.

    There q < 0.05, so that n² q^{n²} falls by more than half from one n to the next.
    """
    rate = -2 * square(Ball.pi()) * ball(variance)
    count = 1 + math.isqrt(int(bits / (28 * float(min(variance, Fraction(10**6))))))
    weights = [(rate * (n * n)).exp() for n in range(1, count + 2)]
    return weights[:-1], 2 * (count + 1) ** 2 * weights[-1]


def square(x: Ball) -> Ball:
    """The square; flint does not define x**2 for every ball around 0."""
    return x * x


def log2(x: Fraction | int) -> float:
    """log2 of a positive number of any size, as a float: for estimates only."""
    return math.log2(x.numerator) - math.log2(x.denominator)


def guard_bits(lost: float) -> int:
    """The bits to add where about ``lost`` bits are lost; limited, so that nothing grows without bound."""
    return math.ceil(min(max(lost, 0.0), GUARD_LIMIT))
