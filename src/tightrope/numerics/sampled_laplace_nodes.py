"""The sampled Laplace transform far up a vertical line, in doubles: the ends of its loss, by partial integration.

With u = ln w and p = 1 − q the continuous part of G(A + iy) is ¼e^{−ε₀/2} ∫ h(u)e^{iyu} du over [u₋, u₊],
h(u) = √q·e^{(A−½)u}·g(u), g(u) = (1 − pe^{−u})^{−3/2}. M partial integrations leave

    Σ_{m<M} (−1)^m [h^{(m)}(u)e^{iyu}]/(iy)^{m+1}   and at most   ∫|h^{(M)}| / y^M.

g is a sum of c_j e^{−ju} with c_j > 0, so that its derivatives alternate in sign and fall in size:
∫|g^{(k)}| ≤ |g^{(k−1)}(u₋)|, and |h^{(M)}| is bounded by Leibniz's rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.float_lines import UNIT, Phases, rounded

if TYPE_CHECKING:
    from tightrope.numerics.transform import Complexes

__all__ = ["FarLaplace"]

_TERMS = 24


class FarLaplace:
    """ε₀, q and the power A of one line; ``total`` is G(A), by which everything is divided."""

    def __init__(self, epsilon0: Fraction, rate: Fraction, power: Fraction, total: Ball) -> None:
        e0, q, self._rate = ball(epsilon0), ball(rate), ball(power - Fraction(1, 2))
        self.high, self.low = (q * e0.expm1()).log1p(), (q * (-e0).expm1()).log1p()
        self._scale = (e0 / -2).exp() / 4 * q.sqrt() / total
        self._atoms = [
            (-e0).exp() / 2 * (ball(power) * self.high).exp() / total,
            (ball(power) * self.low).exp() / 2 / total,
        ]
        self._ends = [self._derivatives(1 - q, u) for u in (self.high, self.low)]

    def _derivatives(self, p: Ball, u: Ball) -> tuple[list[Ball], list[Ball]]:
        """g^{(k)}(u) and e^{(A−½)v}g(v) derived k times at v = u, for k ≤ _TERMS: power series, by J.C.P. Miller's
        recurrence for g = (1 − pe^{−u}e^{−z})^{−3/2}."""
        x = p * (-u).exp()
        inner = [1 - x] + [x * (-1) ** (k + 1) / math.factorial(k) for k in range(1, _TERMS + 1)]
        g = [1 / (inner[0] * inner[0].sqrt())]
        for n in range(1, _TERMS + 1):
            terms = (inner[k] * g[n - k] * (Ball(-3 * k) / 2 - n + k) for k in range(1, n + 1))
            g.append(sum(terms, Ball(0)) / (n * inner[0]))
        peak = (self._rate * u).exp()
        growth = [peak * self._rate**k / math.factorial(k) for k in range(_TERMS + 1)]
        h = [sum((g[k] * growth[n - k] for k in range(n + 1)), Ball(0)) for n in range(_TERMS + 1)]
        return [c * math.factorial(k) for k, c in enumerate(g)], [c * math.factorial(k) for k, c in enumerate(h)]

    def remainder(self, terms: int, y: Ball) -> Ball:
        """What ``terms`` partial integrations leave at every y' ≥ y, divided by G(A)."""
        g = [abs(value) for value in self._ends[1][0]]
        span = self.high - self.low
        sizes = [g[0] * span, *g[:terms]]
        total = sum(
            (math.comb(terms, k) * abs(self._rate) ** (terms - k) * sizes[k] for k in range(terms + 1)), Ball(0)
        )
        peak = (self._rate * self.high).exp().max((self._rate * self.low).exp())
        return (self._scale * peak * total / y**terms).upper()

    def best_terms(self, y: Ball) -> tuple[int, Ball]:
        """The number of partial integrations that leaves the least, and what it leaves."""
        tries = [(self.remainder(terms, y), terms) for terms in range(2, _TERMS)]
        least = tries[0]
        for trial in tries[1:]:
            least = trial if trial[0] < least[0] else least
        return least[1], least[0]

    def nodes(self, eta: Fraction, first: int, count: int) -> tuple[Complexes, Ball]:
        """G(A+iy)/G(A) at y = kη for k = first … count, and a bound of the errors."""
        import numpy as np

        start = ball(eta * first)
        terms, left = self.best_terms(start)
        inverse = 1 / (1j * (float(eta) * np.arange(first, count + 1)))
        values = np.zeros(count + 1 - first, dtype=np.complex128)
        size = Ball(0)
        for sign, end, (_, h), atom in zip((1, -1), (self.high, self.low), self._ends, self._atoms, strict=True):
            # In powers of 1/(iη·first·…) the terms fall, so that Horner's rule is off by 8u for each at most.
            scaled = [self._scale * sign * (-1) ** m * h[m] for m in range(terms)]
            size += sum((abs(c) / start ** (m + 1) for m, c in enumerate(scaled)), Ball(0)) + atom
            series = np.zeros(len(values), dtype=np.complex128)
            for c in reversed(_rounded(scaled, start)):
                series = (series + c) * (inverse * float(eta * first))
            turns = Phases(ball(eta) * end, count).at(np.arange(first, count + 1))
            values = values + turns * (series + rounded(atom))
        return values, (left + size * UNIT * (16 * terms + 40)).upper()


def _rounded(terms: Sequence[Ball], start: Ball) -> list[float]:
    """c_m/start^{m+1} as doubles."""
    return [rounded(c / start ** (m + 1)) for m, c in enumerate(terms)]
