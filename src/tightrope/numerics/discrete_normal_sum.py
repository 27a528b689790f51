"""The hockey-stick of a sum of several discrete-Gaussian losses: a lattice sum with the far tails enclosed."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, between
from tightrope.numerics.discrete_normal import mass, tail
from tightrope.numerics.finite import FiniteSum, on_lattice
from tightrope.numerics.real import Real, real

MOST_POINTS = 4096  # lattice points of the sum that are multiplied out; more would take longer than a second to search


def discrete_normal_sum_call(variance: Fraction, shift: int, copies: int, x: Ball) -> Ball:
    """E[(1 − e^{x−S})₊], S the sum of ``copies`` losses shift·(2Y + shift)/2v, Y discrete Gaussian.

    Noise beyond a reach that grows with the precision is counted as a certain loss for the upper end and left out for
    the lower end, so the ball narrows as precision grows.
    """
    reach = _reach(variance, int(ctx.prec))
    if 2 * reach * copies > MOST_POINTS:
        raise NotCertified("the sum of discrete Gaussian losses", f"it has more than {MOST_POINTS} relevant values")
    total = _sum(variance, shift, copies, reach)
    whole = total.call(x)
    return between(whole - total.infinite(), whole)


def _reach(variance: Fraction, bits: int) -> int:
    """Where a tail of the noise falls below 2^−bits."""
    return math.ceil(math.sqrt(float(2 * variance) * bits * math.log(2))) + 2


@lru_cache(maxsize=32)
def _sum(variance: Fraction, shift: int, copies: int, reach: int) -> FiniteSum:
    def chance(k: int) -> Real:
        return Real(None, lambda: (-ball(Fraction(k * k) / (2 * variance))).exp() / mass(variance, Fraction(0)))

    beyond = Real(None, lambda: 2 * tail(variance, reach + 1) / mass(variance, Fraction(0)))
    masses = {2 * k + shift: chance(k) for k in range(-reach, reach + 1)}
    return FiniteSum([(on_lattice(real(Fraction(shift) / (2 * variance)), masses, beyond), copies)])
