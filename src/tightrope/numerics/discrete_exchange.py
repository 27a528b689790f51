"""Tails of two mixtures of discrete Gaussians: P = (1−q)N(0) + qN(D) and Q = (1−q)N(0) + qN(−D), N(m) around m."""

from __future__ import annotations

from fractions import Fraction

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.discrete_normal import mass, tail

__all__ = ["exchange_masses", "exchange_thresholds", "mass_at_zero"]

_GUARD = 64
_MOST_BITS = 4000


def exchange_masses(variance: Fraction, shift: int, rate: Fraction, start: int) -> tuple[Ball, Ball]:
    """P[k ≥ start] and Q[k ≥ start]."""
    whole, q = mass(variance, Fraction(0)), ball(rate)
    near, middle, far = (tail(variance, start + d) / whole for d in (-shift, 0, shift))
    return (1 - q) * middle + q * near, (1 - q) * middle + q * far


def exchange_thresholds(variance: Fraction, shift: int, rate: Fraction, x: Ball) -> range:
    """The least k with a loss above x ≥ 0; several where x cannot be told from losses.

    e^{Dk/v} = t at the loss x solves B·t² − A(e^x − 1)·t − e^x·B = 0, A = 1 − q and B = q·e^{−D²/2v}.
    """
    if x.is_zero():
        return range(1, 2)
    step = Fraction(shift) / variance
    size = abs(int(shift * step)).bit_length() + (int(x.abs_upper().ceil().unique_fmpz() or 0)).bit_length()
    size = size + (1 / step).__ceil__().bit_length()
    if size > _MOST_BITS:
        raise NotCertified("an exchanged record's loss", "the noise is out of proportion")
    with precision(ctx.prec + _GUARD + size):
        a, b = ball(1 - rate), ball(rate) * ball(-shift * step / 2).exp()
        rise = a * x.expm1()
        root = (rise * rise + 4 * b * b * x.exp()).sqrt()
        k = ((rise + root) / (2 * b)).log() / ball(step)
        ends = [end.floor().unique_fmpz() for end in (k.lower(), k.upper())]
    if ends[0] is None or ends[1] is None:
        raise NotCertified("an exchanged record's loss", "ε is beyond all reach")
    return range(int(ends[0]) + 1, int(ends[1]) + 2)


def mass_at_zero(variance: Fraction, shift: int, rate: Fraction, glued: bool) -> Ball:
    """What P has at loss 0 on a Poisson sample; or (``glued``) on one of a fixed size, where the losses of N(D) against
    N(0) above 0 are glued to their mirror image."""
    q, whole = ball(rate), mass(variance, Fraction(0))
    if not glued:
        return (1 + q * (-ball(Fraction(shift**2) / (2 * variance))).expm1()) / whole
    above, not_below = tail(variance, shift // 2 + 1) / whole, tail(variance, (shift + 1) // 2) / whole
    return 1 - (2 - q) * above - q * (1 - not_below)
