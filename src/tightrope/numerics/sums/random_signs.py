"""The average of a random number of fair signs: E[(S_M/M − r)₊], S_m a sum of m signs ±1 and M − 1 binomial.

This is all that the clones of a shuffled randomizer ask for. Let φ(m) = E[(S_m/m − r)₊]; wanted is Σ P[M = m]φ(m).
S_m/m is a martingale backwards in m, so φ falls, and φ(m) − φ(m+1) is Jensen's gap at the one value of S_{m+1} from
which S_m/m may end on either side of r. Short sums add every m of a window in that way. Long ones are integrated
(``random_signs_integral``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import ctx

from tightrope.numerics.balls import Ball, ball, between, precision
from tightrope.numerics.real import Real
from tightrope.numerics.sums.random_signs_integral import integrated_excess

__all__ = ["RandomSigns"]

LISTED = 1500  # numbers of signs that are added one by one; more are integrated
_GUARD = 24


@dataclass(frozen=True, eq=False)
class RandomSigns:
    """M − 1 has the binomial law of ``draws`` − 1 draws with ``chance`` in (0, 1)."""

    draws: int
    chance: Real

    def excess(self, r: Ball, listed: int = LISTED) -> Ball:
        """E[(S_M/M − r)₊] for r ≥ 0; 0 from r = 1 on. If the window is longer than ``listed``, by the integral."""
        if r >= 1:
            return Ball(0)
        r = r.nonnegative_part()
        if not r.is_exact():  # it falls in r, and never faster than r rises
            low, width = self.excess(r.upper(), listed), (r.upper() - r.lower()).upper()
            near = width < low * Ball(2) ** (16 - ctx.prec)
            return between(low, low + width if near else self.excess(r.lower().nonnegative_part(), listed))
        with precision(ctx.prec + 2 * self.draws.bit_length() + _GUARD):
            window = self._window(r)
            if window is None or max(window[1] - window[0], 8 * math.isqrt(window[1])) > listed:
                return integrated_excess(self.draws, self.chance.ball(), r)
            return self._listed(r, *window)

    def _window(self, r: Ball) -> tuple[int, int] | None:
        """Between which m almost all of the sum lies, by floats: M tilted by the rate at which φ falls."""
        p, at = float(self.chance.ball().mid()), float(r.mid())
        fall = math.exp(-_float_rate(min(at, 1 - 1e-12)))
        tilted = p * fall / (1 - p + p * fall)
        reach = 0.7 * ctx.prec + 8  # ln 2 for every bit
        n = self.draws - 1
        spread = math.sqrt(2 * reach * n * tilted * (1 - tilted)) + reach
        if not math.isfinite(spread):
            return None
        return max(1, math.floor(n * tilted - spread)), min(self.draws, math.ceil(n * tilted + spread) + 1)

    def _listed(self, r: Ball, first: int, last: int) -> Ball:
        """The window added from its end, where φ is found once; the rest is bounded."""
        p, n = self.chance.ball(), self.draws
        odds = (1 - p) / p
        theta = (1 + _fraction(r)) / 2  # with A signs + among m, S_m/m − r = 2(A/m − θ)
        top, scale = theta.numerator, theta.denominator
        share, unit = ball(theta), 1 / Ball(scale)
        chance = _binomial(n - 1, last - 1) * p ** (last - 1) * (1 - p) ** (n - last)
        level = _mean_excess(last, theta)
        total = chance * level
        ups = -(-(last - 1) * top // scale)
        weight = _binomial(last, ups) * Ball(2) ** -last
        for m in range(last - 1, first - 1, -1):
            # weight = P[A_{m+1} = ups], ups = ⌈mθ⌉: then A_m = ups with chance 1 − ups/(m+1), else A_m = ups − 1 < mθ
            over = Ball(ups * scale - m * top) * unit  # ups − mθ, in [0, 1)
            gap = over * (m + 1 - ups) / m - (over - share).nonnegative_part()
            level += weight * gap * 2 / (m + 1)
            chance = chance * odds * m / (n - m)
            total += chance * level
            fewer = -(-(m - 1) * top // scale)
            weight = weight * (2 * (m + 1 - ups) if fewer == ups else 2 * ups) / (m + 1)
            ups = fewer
        return total + between(Ball(0), self._outside(theta, first, last).upper())

    def _outside(self, theta: Fraction, first: int, last: int) -> Ball:
        """Σ P[M = m]φ(m) outside the window, from φ(m) ≤ (1 − r)e^{−mI}, I the rate of A_m ≥ mθ, by two tilts."""
        share = ball(theta)
        rate = share * (2 * share).log() + (1 - share) * (2 - 2 * share).log()
        bound = Ball(0)
        if first > 1:
            bound += self._tilted(rate, first - 1, above=False)
        if last < self.draws:
            bound += self._tilted(rate, last + 1, above=True)
        return 2 * (1 - share) * bound

    def _tilted(self, rate: Ball, m: int, above: bool) -> Ball:
        """Σ P[M = k]e^{−kI} over k ≥ m, or over k ≤ m: at most e^{um}·E[e^{−(I+u)M}] for any u ≤ 0, or any u ≥ 0."""
        n, p = self.draws - 1, self.chance.ball()
        p_float, k = float(p.mid()), min(max(m - 1, 0.5), n - 0.5)
        best = math.log((n - k) * p_float / (k * max(1 - p_float, 1e-18)))  # where the tilted mean is m
        shift = (Ball(best) - rate).min(Ball(0)) if above else (Ball(best) - rate).max(Ball(0))
        tilt = rate + shift
        return (shift * m - tilt + n * (p * (-tilt).expm1()).log1p()).exp()


def _float_rate(r: float) -> float:
    """The rate at which P[S_m ≥ rm] falls, in floats."""
    return ((1 + r) * math.log1p(r) + (1 - r) * math.log1p(-r)) / 2


def _fraction(exact: Ball) -> Fraction:
    """An exact ball as a rational."""
    mantissa, exponent = exact.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _binomial(n: int, k: int) -> Ball:
    """C(n, k), by logarithms where it is long."""
    if n < 1000:
        return Ball(math.comb(n, k))
    return (Ball(n + 1).lgamma() - Ball(k + 1).lgamma() - Ball(n - k + 1).lgamma()).exp()


def _mean_excess(m: int, theta: Fraction) -> Ball:
    """φ(m) = 2E[(A/m − θ)₊], summed upwards; what follows a term is at most a geometric series."""
    top, scale = theta.numerator, theta.denominator
    ups = -(-m * top // scale)
    weight = _binomial(m, ups) * Ball(2) ** -m
    unit = 1 / Ball(scale * m)
    total, small = Ball(0), Ball(2) ** (-ctx.prec)
    while ups <= m:
        term = weight * (ups * scale - m * top) * unit
        total += term
        ratio = Ball(m - ups) / (ups + 1)
        if ratio < 1 and weight < total * small * (1 - ratio):
            return 2 * (total + between(Ball(0), (weight * ratio / (1 - ratio)).upper()))  # A/m − θ is at most 1
        weight = weight * ratio
        ups += 1
    return 2 * total
