"""Numbers and integrals for truths in flint's arithmetic: far quicker than mpmath's, and nothing of the engine."""

from fractions import Fraction
from itertools import pairwise

from flint import acb, arb, arf, ctx, fmpq
from mpmath import mp, mpf


def of_mpmath(x: mpf) -> arb:
    """A finite number of mpmath's, exactly."""
    sign, man, power, _ = x._mpf_
    return arb(arf((-int(man) if sign else int(man), power)))


def to_mpmath(x) -> mpf:
    """The middle of a ball; other numbers are left as they are."""
    if not isinstance(x, arb):
        return mpf(x)
    man, power = x.mid().man_exp()
    return mp.ldexp(mpf(int(man)), int(power))


def exp(z):
    return z.exp() if isinstance(z, arb | acb) else mp.exp(z)


def log(z):
    return z.log() if isinstance(z, arb | acb) else mp.log(z)


def flint(x) -> arb:
    """An exact number."""
    if isinstance(x, Fraction):
        return arb(fmpq(x.numerator, x.denominator))
    return x if isinstance(x, arb) else arb(x)


def place(x) -> acb:
    return acb(x) if isinstance(x, acb) else acb(flint(x))


def integral(f, points, digits=30) -> acb:
    """Of an analytic f from point to point, which may be complex: flint's rule encloses it, to so many digits of the
    value or of 1.

    f is given a place and whether it must be analytic around it (flint's ``log`` and ``sqrt`` ask for that).
    """
    with ctx.workdps(digits + 5):
        found = sum((acb.integral(f, a, b) for a, b in pairwise(map(place, points))), acb(0))
        assert found.rel_accuracy_bits() > 3.3 * digits - 10 or found.rad() < arb(10) ** -digits, found
        return found
