"""The sampled Laplace transform far from the origin, in doubles: the ends of its loss, by partial integration.

With u = ln w and p = 1 − q the continuous part of G(s) is ¼e^{−ε₀/2} ∫ h(u)e^{su} du over [u₋, u₊],
h(u) = √q·e^{−u/2}·g(u), g(u) = (1 − pe^{−u})^{−3/2}. M partial integrations leave

    Σ_{m<M} (−1)^m [h^{(m)}(u)e^{su}]/s^{m+1}   and at most   ∫|h^{(M)}e^{su}| / |s|^M.

g is a sum of c_j e^{−ju} with c_j > 0, so that its derivatives alternate in sign and fall in size:
∫|g^{(k)}| ≤ |g^{(k−1)}(u₋)|, and |h^{(M)}| is bounded by Leibniz's rule.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from tightrope.numerics.balls import Ball, ball, between
from tightrope.numerics.transforms.float_lines import UNIT, Phases, powers_of, rounded

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Complexes

__all__ = ["FarLaplace", "FarSymmetric"]

_TERMS = 24


class FarLaplace:
    """ε₀, q and the power A of one line; everything is divided by e^{log_scale}, which is no less than G(A).

    ``upper`` is a part of the law: from which loss l₀ on, without an atom there; then ln w is counted from l₀.
    ``mirrored``: nodes are those of A − iy.
    """

    def __init__(
        self,
        epsilon0: Fraction,
        rate: Fraction,
        power: Fraction,
        log_scale: Ball | None = None,
        upper: Fraction | None = None,
        mirrored: bool = False,
    ) -> None:
        self._mirrored = mirrored
        e0, q, self._power = ball(epsilon0), ball(rate), power
        self._high, self._low = ((q * end.expm1()).log1p() for end in (e0, -e0 if upper is None else ball(upper)))
        origin = Ball(0) if upper is None else self._low
        self.high, self.low = self._high - origin, self._low - origin
        a = ball(power)
        scale = (a * self.high).max(a * self.low) if log_scale is None else log_scale
        self.log_scale, self._unsure = scale.mid(), scale.rad()
        grown = [(a * u - self.log_scale).exp() for u in (self.high, self.low)]
        self._scale = (e0 / -2).exp() / 4 * q.sqrt()
        self._peak = grown[0].max(grown[1])
        self._atoms = [(-e0).exp() / 2 * grown[0], grown[1] / 2 if upper is None else Ball(0)]
        self._ends = [self._derivatives(1 - q, u) for u in (self._high, self._low)]
        self._factors = [self._scale * grown[0], -self._scale * grown[1]]

    def _derivatives(self, p: Ball, u: Ball) -> tuple[list[Ball], list[Ball]]:
        """g^{(k)}(u) and e^{−v/2}g(v) derived k times at v = u, for k ≤ _TERMS: power series, by J.C.P. Miller's
        recurrence for g = (1 − pe^{−u}e^{−z})^{−3/2}."""
        x = p * (-u).exp()
        inner = [1 - x] + [x * (-1) ** (k + 1) / math.factorial(k) for k in range(1, _TERMS + 1)]
        g = [1 / (inner[0] * inner[0].sqrt())]
        for n in range(1, _TERMS + 1):
            terms = (inner[k] * g[n - k] * (Ball(-3 * k) / 2 - n + k) for k in range(1, n + 1))
            g.append(sum(terms, Ball(0)) / (n * inner[0]))
        peak, half = (u / -2).exp(), Ball(-1) / 2
        growth = [peak * half**k / math.factorial(k) for k in range(_TERMS + 1)]
        h = [sum((g[k] * growth[n - k] for k in range(n + 1)), Ball(0)) for n in range(_TERMS + 1)]
        return [c * math.factorial(k) for k, c in enumerate(g)], [c * math.factorial(k) for k, c in enumerate(h)]

    def _distance(self, y: Ball) -> Ball:
        """|A + iy|."""
        return (ball(self._power * self._power) + y * y).sqrt()

    @cached_property
    def _left(self) -> list[Ball]:
        """What 2, 3 … partial integrations leave, but for the powers of |A + iy|."""
        g = [abs(value) for value in self._ends[1][0]]
        peak, half = self._scale * self._peak * (self._low / -2).exp(), Ball(1) / 2
        totals = []
        for terms in range(2, _TERMS):
            sizes = [g[0] * (self.high - self.low), *g[:terms]]
            parts = (math.comb(terms, k) * half ** (terms - k) * sizes[k] for k in range(terms + 1))
            totals.append(peak * sum(parts, Ball(0)))
        return totals

    def best_terms(self, y: Ball) -> tuple[int, Ball]:
        """The number of partial integrations that leaves the least at every y' ≥ y, and what it leaves."""
        away = self._distance(y)
        tries = [(left / away**terms, terms) for terms, left in enumerate(self._left, start=2)]
        least = tries[0]
        for trial in tries[1:]:
            least = trial if trial[0] < least[0] else least
        return least[1], least[0].upper()

    def log_error(self, y: float) -> float:
        """About ln of what is left out from y on."""
        return float(self.best_terms(ball(Fraction(y)))[1].log().mid())

    def moment(self) -> Ball:
        """G(A)."""
        terms, left = self.best_terms(Ball(0))
        total, a = between(-left, left), ball(self._power)
        for (_, h), factor, atom in zip(self._ends, self._factors, self._atoms, strict=True):
            total += atom + sum((factor * (-1) ** m * h[m] / a ** (m + 1) for m in range(terms)), Ball(0))
        return total

    def nodes(self, eta: Fraction, numbers: Integers) -> tuple[Complexes, Ball]:
        """G(A+iy) at y = kη for numbers k that rise, and a bound of the errors."""
        import numpy as np

        first, count = int(numbers[0]), int(numbers[-1])
        start = self._distance(ball(eta * first))
        terms, left = self.best_terms(ball(eta * first))
        ratio = float(start.mid()) / (float(self._power) + 1j * (float(eta) * numbers))
        values = np.zeros(len(numbers), dtype=np.complex128)
        size = Ball(0)
        for end, (_, h), factor, atom in zip(
            (self.high, self.low), self._ends, self._factors, self._atoms, strict=True
        ):
            # In powers of |s_first|/s the terms do not grow, so that Horner's rule is off by 16u for each at most.
            scaled = [factor * (-1) ** m * h[m] / start ** (m + 1) for m in range(terms)]
            size += sum((abs(c) for c in scaled), Ball(0)) + atom
            series = powers_of(ratio, scaled)
            series += rounded(atom)
            series *= Phases(ball(eta) * end, count).at(numbers)
            values += series
        error = left + size * UNIT * (24 * terms + 40) + self._unsure.expm1()  # what is divided is at most 1
        return values.conj() if self._mirrored else values, error.upper()


class FarSymmetric:
    """The symmetric loss of ``symmetric_laplace`` far out, divided by M(t) = e^log: its upper half with both powers."""

    def __init__(self, epsilon0: Fraction, rate: Fraction, t: Fraction, low: Fraction, log: Ball, atom: Ball) -> None:
        scale = log - (ball(rate) * ball(low).expm1()).log1p()
        self._halves = [FarLaplace(epsilon0, rate, power, scale, low) for power in (t + 1, -t)]
        self._atom = atom

    def log_error(self, y: float) -> float:
        """About ln of what is left out from y on."""
        lefts = [half.best_terms(ball(Fraction(y)))[1] for half in self._halves]
        return float((lefts[0] + lefts[1]).log().mid())

    def nodes(self, eta: Fraction, numbers: Integers) -> tuple[Complexes, Ball]:
        """φ at y = kη for numbers k that rise, and a bound of the errors."""
        (up, one), (down, other) = (half.nodes(eta, numbers) for half in self._halves)
        return up + down.conj() + rounded(self._atom), (one + other + 8 * UNIT).upper()
