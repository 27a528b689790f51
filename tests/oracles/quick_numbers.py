"""Numbers and integrals for truths in flint's arithmetic: far quicker than mpmath's, and nothing of the engine."""

from fractions import Fraction
from functools import cache
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


def sqrt(z):
    return z.sqrt() if isinstance(z, arb) else mp.sqrt(z)


def expm1(z):
    return z.expm1() if isinstance(z, arb) else mp.expm1(z)


def log1p(z):
    return z.log1p() if isinstance(z, arb) else mp.log1p(z)


def ncdf(z):
    return (-z / arb(2).sqrt()).erfc() / 2 if isinstance(z, arb) else mp.ncdf(z)


def density(z):
    """Of a normal number."""
    return (-z * z / 2).exp() / (2 * arb.pi()).sqrt()


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


@cache
def _shares(digits) -> list[tuple[arb, arb]]:
    """Where the rule of tanh sinh has its nodes between 0 and 1, and their weights."""
    found = []
    with ctx.workdps(digits + 5):
        for k in range(-54, 55):
            t = arb(k) / 16
            at = 1 / (1 + (arb.pi() * t.sinh()).exp())
            found.append((at, arb.pi() * t.cosh() * at * (1 - at) / 16))
    return found


def to_the_ends(f, points, digits=22) -> arb:
    """The integral of f, which may be as steep as a root at each point: the same nodes between all."""
    with ctx.workdps(digits + 5):
        nodes = _shares(digits)
        return sum(((b - a) * sum(w * f(a + (b - a) * at) for at, w in nodes) for a, b in pairwise(points)), arb(0))
