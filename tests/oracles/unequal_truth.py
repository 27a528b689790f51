"""Two normal laws of unequal variance by their definition: densities, distribution functions and quadrature.

In many digits (``Pair``) for cells and for sums of two losses, and in floats (``FloatPair``) for the lattices of
``grid_reference.py``. Nothing of the engine is used.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import mpmath as mp
import numpy as np
from flint import arb
from quick_numbers import exp, expm1, log, log1p, sqrt, to_mpmath, to_the_ends
from scipy.special import ndtr


def exact(x):
    return mp.mpf(x.numerator) / x.denominator


@lru_cache(2**10)  # neighbouring cells share their edges
def _tail(z, _digits):
    return mp.erfc(z / mp.sqrt(2)) / 2


def tail(z):
    if not isinstance(z, arb):
        return _tail(z, mp.mp.dps)
    return (z / arb(2).sqrt()).erfc() / 2 if z.is_finite() else arb(z < 0)


def density(x, m, s):
    z = (x - m) / s
    return exp(-z * z / 2) / (s * (sqrt(2 * arb.pi()) if isinstance(z, arb) else mp.sqrt(2 * mp.pi)))


def normal(a, b):
    """N(0, 1) between a and b."""
    if a >= b:
        return 0
    return tail(a) - tail(b) if a > 0 else tail(-b) - tail(-a) if b < 0 else 1 - tail(-a) - tail(b)


class Pair:
    """P = N(m1, s1²) against Q = N(m2, s2²); sampled: (1−q)Q + qP against Q, or (``adding``) the reverse.

    In mpmath's arithmetic, or with ``number=flint`` in that of flint.
    """

    def __init__(self, m1, s1, m2, s2, rate=None, adding=False, number=exact):
        self.m1, self.s1, self.m2, self.s2 = map(number, (m1, s1, m2, s2))
        self.rate = None if rate is None else number(rate)
        self.adding, self.zero, self.infinity = adding, number(Fraction(0)), mp.inf if number is exact else arb("inf")

    def densities(self, x):
        p, q = (density(x, m, s) for m, s in ((self.m1, self.s1), (self.m2, self.s2)))
        p = p if self.rate is None else (1 - self.rate) * q + self.rate * p
        return (q, p) if self.adding else (p, q)

    @cached_property
    def turn(self):
        """Where the slope of ln P/Q is 0."""
        u, v = 1 / self.s1**2, 1 / self.s2**2
        return (self.m1 * u - self.m2 * v) / (u - v)

    def base(self, x):
        """ln P/Q at x, without the sample."""
        return log(self.s2 / self.s1) + ((x - self.m2) / self.s2) ** 2 / 2 - ((x - self.m1) / self.s1) ** 2 / 2

    def loss(self, x):
        found = self.base(x) if self.rate is None else log1p(self.rate * expm1(self.base(x)))
        return -found if self.adding else found

    def _distance(self, base):
        """From the turn, of the two places with this ln P/Q, or of the nearest there are."""
        bend = (1 / self.s2**2 - 1 / self.s1**2) / 2
        if abs(base) == self.infinity:
            return self.infinity if (base > 0) == (bend > 0) else self.zero
        square = (base - self.base(self.turn)) / bend
        return sqrt(square) if square > 0 else self.zero

    def distance(self, loss):
        """The same where the loss is this."""
        loss = -loss if self.adding else loss
        if self.rate is None or abs(loss) == self.infinity:
            return self._distance(loss)
        ratio = 1 + expm1(loss) / self.rate
        return self._distance(log(ratio) if ratio > 0 else -self.infinity)

    def masses(self, low, high):
        """P's and Q's masses of the losses between."""
        near, far = sorted((self.distance(low), self.distance(high)))
        found = []
        for m, s in ((self.m1, self.s1), (self.m2, self.s2)):
            sides = [(self.turn + near, self.turn + far), (self.turn - far, self.turn - near)]
            found.append(sum(normal((a - m) / s, (b - m) / s) for a, b in sides) if low < high else self.zero)
        p, q = found
        p = p if self.rate is None else (1 - self.rate) * q + self.rate * p
        return (q, p) if self.adding else (p, q)

    def profile(self, x):
        """∫(p − e^x q)₊: P and Q of the losses above x."""
        p, q = self.masses(x, self.infinity)
        return p - exp(x) * q

    def beside(self, other, x):
        """The same of the sum with another loss, by quadrature over this one's output; in flint's arithmetic."""
        marks = [self.turn]
        for m, s in ((self.m1, self.s1), (self.m2, self.s2)):
            marks += [m + k * s for k in (-45, -20, -10, -6, -3, -1, 0, 1, 3, 6, 10, 20, 45)]
        for end in (other.loss(other.turn), *other.ends()):  # where the rest is an end of the other's losses
            far = self.distance(x - end)
            marks += [self.turn + far, self.turn - far] if far < self.infinity else []
        marks = sorted((arb(one.mid()) for one in marks), key=to_mpmath)
        return to_mpmath(to_the_ends(lambda z: self.densities(z)[0] * other.profile(x - self.loss(z)), marks))

    def ends(self):
        """The loss far away, if it is finite."""
        if self.rate is None or self.s1 > self.s2:
            return []
        far = log1p(-self.rate)
        return [-far if self.adding else far]


@dataclass(frozen=True)
class FloatPair:
    """The same in floats."""

    m1: float
    s1: float
    m2: float
    s2: float
    rate: float = 1.0
    adding: bool = False
    infinite = 0.0

    def atoms(self):
        return []

    def _places(self, losses):
        """The two places with these losses, or with −losses where a record is added; the turn if there are none."""
        u, v = 1 / self.s1**2, 1 / self.s2**2
        turn = (self.m1 * u - self.m2 * v) / (u - v)
        least = np.log(self.s2 / self.s1) + (v * (turn - self.m2) ** 2 - u * (turn - self.m1) ** 2) / 2
        losses = -losses if self.adding else losses
        with np.errstate(over="ignore"):
            ratio = (np.expm1(losses) + self.rate) / self.rate
        base = losses if self.rate == 1 else np.where(ratio > 0, np.log(np.maximum(ratio, 1e-300)), -np.inf)
        far = np.sqrt(np.maximum(2 * (base - least) / (v - u), 0.0))
        return turn - far, turn + far

    def _laws(self, p, q):
        p = (1 - self.rate) * q + self.rate * p
        return (q, p) if self.adding else (p, q)

    def cells(self, edges):
        """P and Q between the edges."""
        left, right = self._places(edges)
        falls = left[-1] > left[0]  # the loss, with the distance
        left, right = (left[::-1], right[::-1]) if falls else (left, right)
        found = []
        for m, s in ((self.m1, self.s1), (self.m2, self.s2)):
            a, b = ((np.append(left[1:], right[:-1]) - m) / s, (np.append(left[:-1], right[1:]) - m) / s)
            sides = np.where(a > 0, ndtr(-a) - ndtr(-b), ndtr(b) - ndtr(a))
            found.append(sides[: len(left) - 1] + sides[len(left) - 1 :])
        return self._laws(*(one[::-1] if falls else one for one in found))

    def profile(self, x):
        """P[L > x] − e^x·Q[L > x]."""
        left, right = self._places(x)
        outside = (self.s1 > self.s2) != self.adding
        found = []
        for m, s in ((self.m1, self.s1), (self.m2, self.s2)):
            a, b = (left - m) / s, (right - m) / s
            inside = np.where(a > 0, ndtr(-a) - ndtr(-b), ndtr(b) - ndtr(a))
            found.append(ndtr(a) + ndtr(-b) if outside else inside)
        p, q = self._laws(*found)
        return np.maximum(p - np.exp(np.minimum(x, 700)) * q, 0)
