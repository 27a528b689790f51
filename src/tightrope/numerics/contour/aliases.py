"""What a trapezoidal sum of a call adds to it: the calls a period away, with their tilt.

With step η = 2π/B the sum is EXACTLY Σ_j call(x+jB)e^{tjB} (Poisson summation), every term ≥ 0. Besides j = 0:

    j > 0   call(z) ≤ c(t')M(t')e^{−t'z} for every t' > t, c(t) = t^t/(1+t)^{1+t}; 0 beyond the largest loss
    j < 0   call(z) = M(0) − M(−1)e^z + put(z), 0 ≤ put(z) ≤ c(v−1)M(−v)e^{vz} for every v ≥ 1
            call(z) = M(0) − E[min(1, e^{z−L})], 0 ≤ E[min(1, e^{z−L})] ≤ M(−v)e^{vz} for every 0 ≤ v ≤ 1

The known pieces, M(0) and for v ≥ 1 also M(−1)e^z, are summed in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, between, precision, upper_float
from tightrope.numerics.contour.floats import Saddles
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform

__all__ = ["Aliases", "call_factor", "log_moment", "product_of_powers", "total_largest"]


def call_factor(t: Fraction) -> Ball:
    """c(t) = sup_u (1−e^{−u})e^{−tu} = t^t/(1+t)^{1+t} for t ≥ 0."""
    at = ball(t)
    return (-at * (1 / at).log1p() - at.log1p()).exp() if t > 0 else Ball(1)  # no cancellation


def log_moment(parts: Sequence[tuple[Transform, int]], t: Fraction, bits: int) -> Ball:
    """K(t) = Σ k·ln M(t), to about 2^−bits (absolute)."""
    values = []
    for transform, copies in parts:
        value = _known(transform, t, bits + copies.bit_length())
        size = upper_float(abs(value))  # one of many steps in one may be large itself
        if 4 < size < math.inf:
            value = _known(transform, t, bits + copies.bit_length() + math.ceil(math.log2(size)))
        values.append((value, copies))
    with precision(max(bits, ctx.prec) + 2 * sum(copies for _, copies in parts).bit_length() + 64):
        return sum((value * copies for value, copies in values), Ball(0))


def _known(transform: Transform, t: Fraction, bits: int) -> Ball:
    with precision(bits):
        return recall.log_real(transform, t)


@dataclass(frozen=True)
class _Alias:
    """The bound factor·e^{moment + slope·x} of the aliases on one side, from the moment at a second tilt."""

    tilt: Fraction
    slope: Ball
    moment: Ball
    factor: Ball

    def at(self, x: Ball) -> Ball:
        """An upper bound, of which the aliases' sum lies between 0 and it."""
        return (self.factor * (self.moment + self.slope * x).exp()).upper()


class Aliases:
    """Those of a sum of losses at one tilt and one step. ``bits``: of the moments in bounds of what is small."""

    def __init__(
        self, parts: Sequence[tuple[Transform, int]], saddles: Saddles, t: Fraction, eta: Fraction, bits: int
    ) -> None:
        self._parts, self._saddles, self._t, self._eta, self._bits = parts, saddles, t, eta, bits
        self._kept: dict[tuple[bool, int], _Alias] = {}
        self.period = 2 * Ball.pi() / ball(eta)
        self.mass = product_of_powers([(transform.mass(), copies) for transform, copies in parts])
        self.reverse = product_of_powers([(transform.reverse_mass(), copies) for transform, copies in parts])
        self._largest = total_largest(parts)
        self._known = self.mass / (ball(t) * self.period).expm1()
        self._known_reverse = self.reverse / (ball(t + 1) * self.period).expm1()

    def at(self, x: Ball) -> Ball:
        """The sum of all."""
        return self._below(x) + self._above(x)

    def _below(self, x: Ball) -> Ball:
        """The aliases from below: the known pieces, and a ball for the rest."""
        alias = self._alias(float(x.mid()), below=True)
        bound = alias.at(x)
        if alias.tilt < 1:
            return self._known - between(Ball(0), bound)
        return self._known - self._known_reverse * x.exp() + between(Ball(0), bound)

    def _above(self, x: Ball) -> Ball:
        """The aliases from above."""
        if self._largest is not None and x + self.period >= self._largest:
            return Ball(0)
        return between(Ball(0), self._alias(float(x.mid()), below=False).at(x))

    def _alias(self, x: float, below: bool) -> _Alias:
        """The bound of one side's aliases near x: its tilt is chosen for a stretch of a 64th of the period."""
        period = 2 * math.pi / float(self._eta)
        stretch = round(64 * x / period)
        found = self._kept.get((below, stretch))
        if found is None:
            tilt = self._second_tilt(stretch * period / 64, period, below)
            if not (below or tilt > self._t):
                raise NotCertified("a contour integral", "floats do not tell its tilts apart")
            t = -tilt if below else tilt
            gap = ball(tilt + self._t if below else tilt - self._t) * self.period
            factor = (Ball(1) if tilt < 1 else call_factor(tilt - 1)) if below else call_factor(tilt)
            found = _Alias(tilt, ball(-t), log_moment(self._parts, t, self._bits), factor / gap.expm1())
            self._kept[below, stretch] = found
        return found

    def _second_tilt(self, x: float, period: float, below: bool) -> Fraction:
        """The t' or the v with the least alias at x, from the table; a function of x and the plan only."""
        t = float(self._t)
        tilts = self._saddles.tilts(t)
        if below:
            logs = tilts.logs_below(x) - (tilts.below + t) * period
            v = float(tilts.below[int(logs.argmin())])
            return 1 + short(v - 1) if v > 1 else short(v) if v > 0 else Fraction(0)
        logs = tilts.logs_above(x) - (tilts.above - t) * period
        return self._saddles.axis.rounded(float(tilts.above[int(logs.argmin())]), 10)


def product_of_powers(factors: Sequence[tuple[Ball, int]]) -> Ball:
    """Π fᵢ^{kᵢ} of factors that are not negative; a factor of exactly 1 costs nothing."""
    total = Ball(1)
    for factor, copies in factors:
        if not (factor.is_exact() and factor == 1):
            total *= factor**copies
    return total


def total_largest(parts: Sequence[tuple[Transform, int]]) -> Ball | None:
    """The largest finite loss of the sum; None if there is none, or none that floats reach."""
    total = Ball(0)
    for transform, copies in parts:
        top = transform.largest()
        if top is None:
            return None
        total += top * copies
    return total if upper_float(total) < 1e300 else None
