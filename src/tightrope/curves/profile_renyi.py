"""From a privacy profile back to a Rényi curve, for bounded losses.

E_Q[(dP/dQ)^α] = 1 + α(α−1)·∫₁^∞ [γ^{α−2}·H_γ(P‖Q) + γ^{−α−1}·H_γ(Q‖P)] dγ, with H_γ the hockey-stick at γ = e^ε:
Taylor's formula for x^α at 1 with its integral remainder. H is convex in γ, so its chords only overstate the integral.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from tightrope.curves.composed_loss import evaluator
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.curves.pair import Call, Pair
from tightrope.curves.profile import Profile
from tightrope.curves.renyi import Renyi
from tightrope.curves.sampled.draws import MOST_BITS, DrawsPair
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import INFINITY, Ball, ball, precision
from tightrope.numerics.real import largest, total
from tightrope.theorems import Source, theorem

CELLS = 256
_UNITS, _SEARCH = 25.0, 40  # of work for a piece of a law at one end of a cell; about the orders that a search looks at
_BITS = 160


@dataclass(frozen=True)
class Chords:
    """A hockey-stick in one direction at equally spaced ε from 0 to the largest loss, where it vanishes."""

    gammas: tuple[Ball, ...]
    heights: tuple[Ball, ...]

    def integral(self, power: Ball) -> Ball:
        """∫ γ^power·H(γ) dγ from 1 on, with H replaced by its chords: the upper end is a proof."""
        value = Ball(0)
        for (g0, g1), (h0, h1) in zip(pairwise(self.gammas), pairwise(self.heights), strict=True):
            slope = (h1 - h0) / (g1 - g0)
            value += (h0 - slope * g0) * _power_integral(g0, g1, power) + slope * _power_integral(g0, g1, power + 1)
        return value

    def approximate(self, power: float) -> float:
        """The same in floats, by the trapezoidal rule in ln γ."""
        points = [(float(g.log()), float(h)) for g, h in zip(self.gammas, self.heights, strict=True)]
        values = [(x, math.exp(min((power + 1) * x, 700.0)) * h) for x, h in points]
        return sum((b - a) * (u + v) / 2 for (a, u), (b, v) in pairwise(values))


def _power_integral(low: Ball, high: Ball, power: Ball) -> Ball:
    """∫ γ^power dγ = γ₀^{p+1}·(e^{(p+1)·ln(γ₁/γ₀)} − 1)/(p + 1), or ln(γ₁/γ₀) at p = −1."""
    p, width = power + 1, (high / low).log()
    if p.is_zero():
        return width
    return (p * low.log()).exp() * (p * width).expm1() / p


@dataclass(frozen=True, eq=False)
class IntegratedRenyi(Renyi):
    """The Rényi curve of a loss that is known through its profile and is bounded."""

    loss: Loss

    @property
    def effort(self) -> int:
        """A sum over all cells."""
        return 2

    def _counted(self) -> None:
        """A part of what all cells cost, which is done once for many orders; nothing is begun that cannot be ended."""
        units = _UNITS * CELLS * sum(_pieces(pair) for parts in self.loss.directions for pair, _ in parts)
        if not effort.affords(units):
            raise NotCertified("a Rényi curve of a profile", "too little work is left")
        effort.spend(units / _SEARCH, "a Rényi curve of a profile")

    def divergence(self, order: Fraction) -> Ball:
        """ln(1 + α(α−1)·integral)/(α − 1), for each direction against its reverse."""
        self._counted()
        sides = _chords(self.loss)
        if sides is None:
            return INFINITY
        with precision(_BITS):
            a = ball(order)
            values = [
                (a * (a - 1) * (one.integral(a - 2) + other.integral(-a - 1))).log1p() / (a - 1)
                for one, other in (sides, sides[::-1])
            ]
            return values[0].max(values[1])

    def approximate(self, order: float) -> float:
        """The same in floats."""
        self._counted()
        sides = _chords(self.loss)
        if sides is None:
            return math.inf
        a = order
        sums = [one.approximate(a - 2) + other.approximate(-a - 1) for one, other in (sides, sides[::-1])]
        return math.log1p(a * (a - 1) * max(sums)) / (a - 1)


def _pieces(pair: Pair) -> int:
    """How many laws, or atoms, a pair mixes."""
    if isinstance(pair, DrawsPair):
        return min(pair.size, pair.kept(MOST_BITS))
    return len(pair.law.values) if isinstance(pair, FinitePair) else 1


def _calls(loss: Loss) -> list[Call] | None:
    """The hockey-stick of each direction; None when a loss is unbounded or has no closed form, or there is none."""
    if not loss.remove or any(total(parts).infinite for parts in loss.largest()):
        return None
    try:
        return [evaluator(parts).call for parts in loss.directions]
    except NotCertified:
        return None


@lru_cache(maxsize=64)
def _chords(loss: Loss) -> tuple[Chords, Chords] | None:
    """Both directions on their grids; None when nothing is to be integrated."""
    calls = _calls(loss)
    if calls is None:
        return None
    with precision(_BITS):
        top = largest([total(parts) for parts in loss.largest()]).ball()
        if not top.is_finite() or not top > 0:
            return None
        points = [top * k / CELLS for k in range(CELLS + 1)]
        gammas = tuple(x.exp() for x in points)
        sides = [Chords(gammas, tuple(call(x).max(Ball(0)) for x in points)) for call in calls]
    return sides[0], sides[-1]


@theorem(
    of=Profile,
    gives=Renyi,
    kind="upper",
    role="profile",
    source=Source("tightrope", "from the profile to Rényi divergences"),
)
def profile_has_renyi(c: Loss) -> Renyi | None:
    """E_Q[(dP/dQ)^α] = 1 + α(α−1)∫₀^∞ [e^{(α−1)ε}δ_{P‖Q}(ε) + e^{−αε}δ_{Q‖P}(ε)] dε; chords of the convex profile
    overstate it."""
    return IntegratedRenyi(c) if _calls(c) is not None else None
