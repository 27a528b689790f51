"""The composed loss of discrete Gaussian noise as a list of atoms: it is a lattice, and hardly any mass is far out.

k copies have the loss shift·(2S + k·shift)/2v, S being the sum of the noise. Noise and sums further out than some
deviations are left out, so that no mass is above the true one, and all that is missing is 1 less the sum of the masses.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import ctx

from tightrope.numerics.balls import Ball, BallPolynomial, ball, precision
from tightrope.numerics.discrete_normal import mass

__all__ = ["discrete_normal_atoms"]

_DEVIATIONS = 18  # beyond, there is a mass of 10⁻⁷⁰
_GUARD = 256  # bits: masses are as exact as that beside the largest one


def discrete_normal_atoms(variance: Fraction, shift: int, copies: int, most: int) -> list[tuple[Ball, Ball]] | None:
    """Losses, which rise, and masses; None if there are more than so many."""
    if 2 * _reach(variance, copies) + 1 > most:
        return None
    with precision(ctx.prec + _GUARD):
        result, square, done, doubled = [Ball(1)], _noise(variance), 0, 1
        while True:
            if (copies - done) // doubled % 2:
                done += doubled
                result = _product(result, square, _reach(variance, done))
            if done == copies:
                break
            doubled *= 2
            square = _product(square, square, _reach(variance, doubled))
        first = -(len(result) // 2)
        unit = ball(Fraction(shift) / (2 * variance))
        return [(unit * (2 * (first + i) + copies * shift), value) for i, value in enumerate(result)]


def _reach(variance: Fraction, copies: int) -> int:
    return math.isqrt(math.ceil(_DEVIATIONS**2 * variance * copies)) + 1


def _noise(variance: Fraction) -> list[Ball]:
    whole = mass(variance, Fraction(0))
    side = [(ball(-k * k / (2 * variance))).exp() / whole for k in range(_reach(variance, 1) + 1)]
    return side[:0:-1] + side


def _product(one: list[Ball], other: list[Ball], reach: int) -> list[Ball]:
    """The sum of two laws that are symmetric around 0, up to the reach."""
    masses = (BallPolynomial(one) * BallPolynomial(other)).coeffs()
    out = len(masses) // 2 - reach
    return [value.nonnegative_part() for value in (masses[out:-out] if out > 0 else masses)]
