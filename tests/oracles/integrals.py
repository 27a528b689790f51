"""Integrals of analytic functions in flint's arithmetic, by its rule that encloses them: far quicker than mpmath's."""

from fractions import Fraction
from itertools import pairwise

from flint import acb, arb, ctx, fmpq


def flint(x) -> arb:
    """An exact number in flint."""
    if isinstance(x, Fraction):
        return arb(fmpq(x.numerator, x.denominator))
    return x if isinstance(x, arb) else arb(x)


def integral(f, points, digits=30) -> acb:
    """Of f from point to point, which may be complex, to so many digits.

    f is given a place and whether it must be analytic around it (flint's ``log`` and ``sqrt`` ask for that).
    """
    with ctx.workdps(digits + 5):
        found = sum((acb.integral(f, acb(a), acb(b)) for a, b in pairwise(points)), acb(0))
        assert found.rel_accuracy_bits() > 3.3 * digits - 10, found
        return found
