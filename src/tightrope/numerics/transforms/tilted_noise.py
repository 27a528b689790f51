"""Proofs that |Σ_k p_k e^{iy·ln w_k}| is below some goal for ALL y of a stretch; p_k ∝ e^{−k²/2v}w_k^A, k whole.

w_k = 1 − q + q·e^{D(2k−D)/2v}. Few values of k are taken one by one, in blocks (``block_sums``).

Many are taken in bins of pairs of values g apart. With d_k = ln w_{k+g} − ln w_k, which rises with k (ln w is convex),

    |p_k e^{iy·ln w_k} + p_{k+g}e^{iy·ln w_{k+g}}| ≤ (p_k + p_{k+g})|cos(y·d_k/2)| + |p_k − p_{k+g}|.

In a bin d_k is replaced by the middle d of its ends, which changes |cos| by at most y·(range of d)/4. If the slope of
ln p in k is at most κ there, |p_k − p_{k+g}| ≤ (p_k + p_{k+g})·gκ/2, and all p are within e^{±κ·(half its length)} of
the middle one.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tightrope.numerics.balls import Ball, ball, between, precision
from tightrope.numerics.exact import near
from tightrope.numerics.transforms.block_sums import stretch_bound

__all__ = ["TiltedNoise"]

_BITS = 100
_SINGLE = 10_000  # values that may be taken one by one
_MANY = 1000  # values that are first tried in bins
_BINS = 800
_DISTANCES = tuple(4**k for k in range(9, -1, -1))  # of paired values
_TURNS = 30.0  # radians between paired values at the start: more is not tried
_PIECE = 4  # y may grow so much before another distance is looked for
_TAILS = (0.01, 0.0005)  # of the mass, left out on each side


class TiltedNoise:
    """Variance v ≥ 16, distance D, rate q, the power A, and ln Σ_k e^{−k²/2v}w_k^A − ln Σ_k e^{−k²/2v}."""

    def __init__(self, variance: Fraction, shift: int, rate: Fraction, power: Fraction, log_mean: Ball) -> None:
        self._variance, self._shift, self._rate, self._power = variance, shift, rate, power
        self._sigma = math.sqrt(near(variance))
        with precision(_BITS):
            v, self._taken = ball(variance), ball(rate)
            self._half, self._slope = 1 / (2 * v), ball(Fraction(shift) / (2 * variance))
            # Σ_k e^{−k²/2v} = √2πv·(1 + 2e^{−2π²v} + …)
            extra = 3 * (-2 * Ball.pi() ** 2 * v).exp()
            self._size = -log_mean - (2 * Ball.pi() * v).log() / 2
            self._least = 1 - extra  # shares are too large, by a factor of at most 1 + extra

    def low(self, start: Fraction, end: Fraction, goal: Ball) -> bool:
        """Whether |Σ| ≤ goal is proved for all start ≤ y ≤ end."""
        ends = [self._middle(min(tail, float(goal) / 20)) for tail in _TAILS]
        for first, last in ends:
            if last - first > _MANY and self._in_bins(first, last, start, end, float(goal)) <= goal:
                return True
        for first, last in ends:
            if last - first < _SINGLE and self._one_by_one(first, last, start, end, float(goal)) <= goal:
                return True
        return False

    def _middle(self, tail: float) -> tuple[int, int]:
        """About the values that carry all but so much of the mass on each side: a choice, in floats."""
        import numpy as np

        mu, q, power = self._shift / self._sigma, near(self._rate), float(self._power)
        z = np.linspace(-40.0 + min(power, 0.0) * mu, 40.0 + max(power, 0.0) * mu, 8001)
        xi = mu * z - mu * mu / 2
        logs = np.where(xi < 600, np.log1p(q * np.expm1(np.minimum(xi, 600.0))), xi + math.log(q))
        exponents = z * z / -2 + power * logs
        shares = np.cumsum(np.exp(exponents - exponents.max()))
        low, high = (float(z[np.searchsorted(shares, shares[-1] * part)]) for part in (tail, 1 - tail))
        return math.floor(low * self._sigma) - 1, math.ceil(high * self._sigma) + 1

    def _loss(self, k: int) -> Ball:
        return (self._taken * (self._slope * (2 * k - self._shift)).expm1()).log1p()

    def _share(self, k: int, loss: Ball) -> Ball:
        """p_k, or a little more."""
        return (ball(self._power) * loss - self._half * (k * k) + self._size).exp()

    def _one_by_one(self, first: int, last: int, start: Fraction, end: Fraction, goal: float) -> Ball:
        with precision(_BITS):
            losses = [self._loss(k) for k in range(first, last + 1)]
            shares = [self._share(k, loss) for k, loss in zip(range(first, last + 1), losses, strict=True)]
            rest = (1 - self._least * sum(shares, Ball(0))).upper()
            return stretch_bound(shares, losses, start, end, goal - float(rest)) + rest

    def _in_bins(self, first: int, last: int, start: Fraction, end: Fraction, goal: float) -> Ball:
        """The largest bound of a piece, each with the distance that suits it; 1 as soon as none does."""
        with precision(_BITS):  # how far the middle value and its neighbour are apart at the start
            typical = float((self._loss((first + last) // 2 + 1) - self._loss((first + last) // 2)) * ball(start))
        left = [apart for apart in _DISTANCES if 20 * apart < last - first and apart * typical < _TURNS]
        largest = Ball(0)
        while start < end:
            piece = min(end, _PIECE * start)
            bound = Ball(1)
            while left and not bound <= goal:  # the further out, the nearer
                bound = self._paired(first, last, left[0], start, piece, goal)
                left = left if bound <= goal else left[1:]
            if not bound <= goal:
                return Ball(1)
            start, largest = piece, largest.max(bound)
        return largest

    def _paired(self, first: int, last: int, apart: int, start: Fraction, end: Fraction, goal: float) -> Ball:
        """With k and k + ``apart`` paired."""
        groups = -(-(last - first) // (2 * _BINS * apart))  # of twice that length in each bin
        length = 2 * groups * apart
        with precision(_BITS):
            least, off, shares, losses = Ball(0), Ball(0), [], []
            for k in range(first, last, length):
                lower, upper = (self._loss(j + apart) - self._loss(j) for j in (k, k + length - apart - 1))
                slope, middle = self._slope_of_share(k, k + length - 1), k + length // 2
                reference, most = length * self._share(middle, self._loss(middle)), (slope * (length // 2)).exp()
                share = reference * most
                shares += [share / 2, share / 2]
                losses += [Ball(0), (lower + upper) / 2]
                off += share * (slope * apart / 2 + ball(end) * (upper - lower) / 4)
                least += reference / most
            off = (off + 1 - self._least * least).upper()
            if not off < goal:
                return Ball(1)
            return (stretch_bound(shares, losses, start, end, goal - float(off), lengths=(2,)) + off).upper()

    def _slope_of_share(self, first: int, last: int) -> Ball:
        """The most that ln p can change in a step of k there: |A·D·ρ/w − k|/v; ρ/w = 1 − (1 − q)/w rises with k."""
        stay = ball(1 - self._rate)
        low, high = (1 - stay * (-self._loss(k)).exp() for k in (first, last))
        pull = ball(self._power * self._shift) * between(low, high)
        return (abs(pull - between(Ball(first), Ball(last))) * self._half * 2).upper()
