"""Σ_k e^{f(k)} over all whole k, f(k) = −hk² + a·ln w(k) + b·ln w(−k), w(k) = 1 − q + q·e^{uk−v}, at any a and b ≤ 0.

ln w is convex: on a block of k it is below its chord and above its tangents, so that f is at most a parabola there,
whose top is known. Blocks that may hold most are halved until they are short, and then summed; the rest is bounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, between

__all__ = ["Terms", "blocked_sum"]

_SHORT = 16  # values of a block that are summed
_MOST, _BLOCKS = 24_000, 12_000  # values in all, and blocks looked at
_BLOCK, _VALUE = 30.0, 5.0  # units of work
_WHAT = "a moment of a sampled law"


@dataclass(frozen=True)
class Terms:
    """h, u, v, q as balls of the present precision; a and b ≤ 0."""

    half: Ball
    slope: Ball
    offset: Ball
    rate: Ball
    up: Fraction
    down: Fraction = Fraction(0)
    _logs: dict[int, Ball] = field(default_factory=dict)

    def log(self, k: int) -> Ball:
        """ln w(k)."""
        found = self._logs.get(k)
        if found is None:
            found = self._logs[k] = (self.rate * (self.slope * k - self.offset).expm1()).log1p()
        return found

    def value(self, k: int) -> Ball:
        """f(k)."""
        total = -self.half * (k * k)
        if self.up:
            total += ball(self.up) * self.log(k)
        if self.down:
            total += ball(self.down) * self.log(-k)
        return total

    def most(self, low: int, high: int) -> Ball:
        """A bound of f on low ≤ k ≤ high."""
        middle = (low + high) // 2
        height, lean = Ball(0), Ball(0)  # of a line through the middle
        for power, sign in ((self.up, 1), (self.down, -1)):
            if power > 0:
                rise = (self.log(sign * high) - self.log(sign * low)) / (high - low)
                height += ball(power) * (self.log(sign * low) + rise * (middle - low))
            elif power < 0:
                log = self.log(sign * middle)
                rise = sign * self.slope * (1 - (1 - self.rate) * (-log).exp())
                height += ball(power) * log
            else:
                continue
            lean += ball(power) * rise
        peak = float((lean / (2 * self.half)).mid())
        at = Ball(min(max(peak, low), high))  # any place will do: the parabola is below its tangents
        top = height + lean * (at - middle) - self.half * at * at
        fall = lean - 2 * self.half * at
        return top + (fall * (low - at)).max(fall * (high - at))

    def reach(self, nats: float) -> int:
        """Beyond this |k|, terms fall by e^−1 and more from one to the next, and are e^−nats of f's possible top."""
        pull = (abs(self.up) + abs(self.down)) * Fraction(float(self.slope.upper()))
        half = Fraction(float(self.half.lower()))
        return math.ceil(2 * (pull + 1) / half) + math.isqrt(math.ceil((nats + 3) / half)) + 2


def blocked_sum(terms: Terms, nats: float) -> tuple[Ball, Ball]:
    """(t, S) with Σ_k e^{f(k)} = e^t·S, where S has about e^−nats of error."""
    end = terms.reach(nats)
    pull = (ball(abs(terms.up)) + ball(abs(terms.down))) * terms.slope
    ratio = (pull - terms.half * (2 * end + 1)).exp()
    if not ratio < 0.5:
        raise NotCertified(_WHAT, "its terms do not fall")
    top = terms.value(0)
    heap: list[tuple[float, int, int, Ball]] = []
    summed: list[tuple[int, int]] = []
    counted = looked = 0

    def push(low: int, high: int) -> None:
        nonlocal top
        effort.spend(_BLOCK, _WHAT)
        middle = (low + high) // 2
        here = terms.value(middle)
        top = here if here.mid() > top.mid() else top
        most = terms.most(low, high).upper() if high > low else here.upper()
        heappush(heap, (-float(most), low, high, most))

    push(-end, end)
    while heap and not heap[0][3] < top - nats - math.log(heap[0][2] - heap[0][1] + 1):
        _, low, high, _ = heappop(heap)
        looked += 1
        if counted > _MOST or looked > _BLOCKS:
            raise NotCertified(_WHAT, f"it has more than {_MOST} values")
        if high - low < _SHORT:
            counted += high - low + 1
            summed.append((low, high))
            continue
        middle = (low + high) // 2
        push(low, middle)
        push(middle + 1, high)
    top = top.mid()
    left = Ball(0)
    for _, low, high, most in heap:
        left += (most - top).exp() * (high - low + 1)
    for sign in (1, -1):
        left += (terms.value(sign * end) - top).exp() * ratio / (1 - ratio)
    effort.spend(_VALUE * counted, _WHAT)
    total = between(Ball(0), left.upper())
    for low, high in summed:
        for k in range(low, high + 1):
            total += (terms.value(k) - top).exp()
    return top, total
