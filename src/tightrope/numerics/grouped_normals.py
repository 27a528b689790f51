"""Two mixtures of normal laws: of a records each is taken with chance q and moves z up by μ, of b others each moves it
down.

With A_n(z) = Σ_j C(n, j)·q^j·(1−q)^{n−j}·e^{jμz − j²μ²/2}, P = A_a(z)φ(z) and Q = A_b(−z)φ(z), so that the loss
ln A_a(z) − ln A_b(−z) rises with z.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import INFINITY, Ball, BallPolynomial, ball, between, precision
from tightrope.numerics.normal import upper_tail
from tightrope.numerics.real import Real

__all__ = ["GroupedNormals", "binomial_shares"]

_START = 96  # bits
_HALVINGS = 50
_FARTHEST = 90  # doublings of a step away from 0
_WIDER = 200  # attempts to enclose a root, each 16 times as wide


def binomial_shares(number: int, rate: Fraction) -> list[Fraction]:
    """C(n, j)·q^j·(1−q)^{n−j} for j = 0, …, n."""
    return [comb(number, j) * rate**j * (1 - rate) ** (number - j) for j in range(number + 1)]


@dataclass(frozen=True, eq=False)
class GroupedNormals:
    """P and Q; ``up`` is a, ``down`` is b, 0 < q < 1."""

    mu: Real
    rate: Fraction
    up: int
    down: int

    @cached_property
    def shares(self) -> tuple[list[Fraction], list[Fraction]]:
        """Of P's and of Q's parts."""
        return binomial_shares(self.up, self.rate), binomial_shares(self.down, self.rate)

    def loss(self, z: Ball) -> Ball:
        """ln dP/dQ."""
        above, below = self.shares
        return (self._ratio(above, z)[0] / self._ratio(below, -z)[0]).log()

    def slope(self, z: Ball) -> Ball:
        """Its derivative."""
        above, below = self.shares
        (one, first), (two, second) = self._ratio(above, z), self._ratio(below, -z)
        return first / one + second / two

    def _ratio(self, shares: list[Fraction], z: Ball) -> tuple[Ball, Ball]:
        """A(z) and its derivative."""
        mu = self.mu.ball()
        parts = [ball(share) * (j * mu * (z - j * mu / 2)).exp() for j, share in enumerate(shares)]
        return sum(parts, Ball(0)), sum((j * mu * part for j, part in enumerate(parts)), Ball(0))

    def above(self, z: Ball) -> tuple[Ball, Ball]:
        """What P and Q have above z."""
        mu = self.mu.ball()
        return (
            sum((ball(share) * upper_tail(z - j * mu) for j, share in enumerate(self.shares[0])), Ball(0)),
            sum((ball(share) * upper_tail(z + j * mu) for j, share in enumerate(self.shares[1])), Ball(0)),
        )

    def threshold(self, x: Ball) -> Ball:
        """Where the loss is x; reaches to ±∞ where that is not found."""
        return _rising_root(lambda z: self.loss(z) - x, self.slope)

    def power_mean(self, order: int) -> Ball:
        """E_Q[(dP/dQ)^n] for a whole n, if nothing moves down: Σ_s c_s·e^{μ²s²/2}, where c_s are the coefficients of
        (Σ_j share_j·e^{−j²μ²/2}·x^j)^n, since e^{−j²μ²/2}·E[e^{sμz}] has s = Σj."""
        square = self.mu.ball() ** 2 / 2
        terms = [ball(share) * (-(j * j) * square).exp() for j, share in enumerate(self.shares[0])]
        found = (BallPolynomial(terms) ** order).coeffs()
        return sum((c * (square * (s * s)).exp() for s, c in enumerate(found)), Ball(0))


def _rising_root(f: Callable[[Ball], Ball], slope: Callable[[Ball], Ball]) -> Ball:
    """The place where f, which rises, is 0."""
    bits = ctx.prec
    with precision(max(bits, _START)):
        ends = [_beyond(f, sign) for sign in (-1, 1)]
        if None in ends:
            return between(-INFINITY if ends[0] is None else ends[0], INFINITY if ends[1] is None else ends[1])
        low, high = (end for end in ends if end is not None)
        for _ in range(_HALVINGS):
            middle = ((low + high) / 2).mid()
            low, high = (middle, high) if f(middle).mid() < 0 else (low, middle)
        z, room = ((low + high) / 2).mid(), high - low
        for _ in range(bits.bit_length()):
            step = (f(z) / slope(z)).mid()
            if not abs(step) < room:
                break
            z = (z - step).mid()
        width = (abs(z) + 1) * Ball(2) ** (8 - bits)
        for _ in range(_WIDER):
            if f(z - width) < 0 and f(z + width) > 0:
                return between(z - width, z + width)
            width *= 16
    raise NotCertified("the law of a group", "a loss was not found")


def _beyond(f: Callable[[Ball], Ball], sign: int) -> Ball | None:
    """A place on this side of the root, if there is one."""
    for k in range(_FARTHEST):
        z = sign * Ball(2) ** (k - 4)
        if sign * f(z) > 0:
            return z
    return None
