"""The discrete Laplace (geometric) mechanism: integer noise with P(k) ∝ e^{−|k|/t} on an integer query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.curves.pair import Pair, Rung
from tightrope.curves.pure import Pure
from tightrope.mechanisms.base import Leaf
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.exact import Number, count, positive
from tightrope.numerics.real import Real, real
from tightrope.numerics.sums.finite import FiniteLaw, on_lattice
from tightrope.numerics.transforms.discrete_laplace import DiscreteLaplaceTransform
from tightrope.numerics.transforms.transform import Transform
from tightrope.theorems import Source, theorem

MOST_LISTED = 1000  # atoms written out one by one; a larger sensitivity uses the closed forms, once


@dataclass(frozen=True, init=False, repr=False)
class DiscreteLaplace(Leaf):
    """Integer noise with P(k) ∝ exp(−|k|/``scale``) on an integer query of ℓ1 ``sensitivity``, a whole number.

    >>> print(DiscreteLaplace(scale=2, sensitivity=3))
    discrete_laplace(scale=2, sensitivity=3)
    """

    scale: Fraction
    sensitivity: int
    text_name = "discrete_laplace"

    def __init__(self, scale: Number, sensitivity: Number = 1) -> None:
        hint = "The query must be integer-valued; scale it first."
        self._set(scale=positive("scale", scale), sensitivity=count("sensitivity", sensitivity, 1, hint))

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Sensitivity 1 is not printed."""
        return {"sensitivity": 1}

    def for_group(self, size: int) -> DiscreteLaplace:
        """k records move the query k times as far."""
        return DiscreteLaplace(self.scale, self.sensitivity * size)


def _law(m: DiscreteLaplace) -> FiniteLaw:
    d, unit = m.sensitivity, 1 / m.scale

    def r(power: int) -> Ball:
        return (-ball(unit) * power).exp()

    masses = {d: Real(None, lambda: 1 / (1 + r(1))), -d: Real(None, lambda: r(d) / (1 + r(1)))}
    for k in range(1, d):
        masses[d - 2 * k] = Real(None, lambda k=k: r(k) * (ball(unit) / 2).tanh())  # type: ignore[misc]  # k is bound now, not later
    return on_lattice(real(unit), masses)


@dataclass(frozen=True)
class DiscreteLaplacePair(Pair):
    """The pair at a whole distance ``shift``, in closed form for any distance."""

    scale: Fraction
    shift: int
    words = "the discrete Laplace's"
    decays = False
    symmetric = True

    def rung(self) -> Rung | None:
        """Discrete Laplace noise is a narrower one and independent other noise."""
        return ("discrete laplace", self.shift), (1 / self.scale,)

    def atom_unit(self) -> Fraction:
        """(Δ − 2k)/t."""
        return 1 / self.scale

    def _r(self, power: Ball | int) -> Ball:
        return (-ball(1 / self.scale) * power).exp()

    def call(self, x: Ball) -> Ball:
        """1 − r^{k+1}/(1+r) − e^x r^{Δ−k}/(1+r), k = ⌈(Δ − xt)/2⌉ − 1; the two choices agree where the ceiling
        jumps."""
        edge = (self.shift - x * ball(self.scale)) / 2
        low, high = (int(e.floor().unique_fmpz() or 0) for e in (edge.lower(), edge.upper()))
        values = [self._call_at(x, min(max(k, -1), self.shift - 1)) for k in {low - 1, low, high}]
        value = values[0]
        for other in values[1:]:
            value = value.max(other)  # the best event is the largest of the candidates, and one of them is optimal
        return value.max(Ball(0)).max(-x.expm1())

    def _call_at(self, x: Ball, k: int) -> Ball:
        if k < 0:
            return Ball(0)
        r = self._r(1)
        return 1 - self._r(k + 1) / (1 + r) - x.exp() * self._r(self.shift - k) / (1 + r)

    def tail(self, x: Ball) -> Ball:
        """P[noise − record's side ≤ k] for the last k whose loss is above x."""
        edge = (self.shift - x * ball(self.scale)) / 2
        bounds = []
        for e in (edge.lower(), edge.upper()):
            k = int((-e).floor().unique_fmpz() or 0) * -1 - 1  # the largest integer below the edge
            k = min(max(k, -1), self.shift - 1)
            bounds.append(Ball(0) if k < 0 else 1 - self._r(k + 1) / (1 + self._r(1)))
        full = x < -ball(Fraction(self.shift) / self.scale)
        return (
            Ball(1)
            if full
            else bounds[0].union(bounds[1])
            if x >= -ball(Fraction(self.shift) / self.scale)
            else bounds[0].union(Ball(1))
        )

    def cumulant(self, s: Fraction) -> Ball:
        """The geometric sums of theory: both tails and the middle."""
        a, d, r = ball(s + 1), self.shift, self._r(1)
        up, down = self._r((1 - a) * d), self._r(a * d)
        step = self._r(2 * a - 1)
        middle = up * step * (1 - self._r((2 * a - 1) * (d - 1))) / (1 - step)
        return ((1 - r) / (1 + r) * ((up + down) / (1 - r) + middle)).log()

    def mean(self) -> Ball:
        """Δ/t·(1 − r^Δ)/(1 + r) + Σ (Δ − 2k)/t·pmf(k)."""
        t, d, r = ball(self.scale), self.shift, self._r(1)
        whole = r * (1 - self._r(d - 1)) / (1 - r)  # Σ_{0<k<Δ} r^k
        weighted = (r - d * self._r(d) + (d - 1) * self._r(d + 1)) / (1 - r) ** 2  # Σ_{0<k<Δ} k r^k
        return d / t * (1 - self._r(d)) / (1 + r) + (1 - r) / (1 + r) / t * (d * whole - 2 * weighted)

    def transform(self) -> Transform:
        """The geometric sums on complex numbers."""
        return DiscreteLaplaceTransform(self.scale, self.shift)

    def largest(self) -> Real:
        """Δ/t."""
        return real(Fraction(self.shift) / self.scale)


@theorem(
    of=DiscreteLaplace, gives=Pure, kind="equal", role="analysis", source=Source("ghosh2012universally", "Def. 2.1")
)
def discrete_laplace_is_pure(m: DiscreteLaplace) -> Pure:
    """The discrete Laplace mechanism is Δ/t-DP, and no better."""
    return Pure(real(m.sensitivity / m.scale))


@theorem(
    of=DiscreteLaplace,
    gives=Loss,
    kind="equal",
    role="analysis",
    source=Source("ghosh2012universally", "Def. 2.1; docs/theorems.md"),
)
def discrete_laplace_loss(m: DiscreteLaplace) -> Loss:
    """Losses (Δ − 2k)/t with the chance of noise k for 0 < k < Δ, and both tails at ±Δ/t; it dominates every ℓ1
    change of size Δ."""
    pair: Pair = DiscreteLaplacePair(m.scale, m.sensitivity)
    if m.sensitivity <= MOST_LISTED:
        pair = FinitePair(("discrete_laplace", m.scale, m.sensitivity), _law(m), True, True, pair.rung())
    return Loss(((pair, 1),))


@theorem(
    of=DiscreteLaplace,
    gives=ZeroConcentrated,
    kind="equal",
    role="analysis",
    source=Source("harrison2025exact", "discrete Laplace"),
)
def discrete_laplace_is_concentrated(m: DiscreteLaplace) -> ZeroConcentrated:
    """The discrete Laplace mechanism is ρ-zCDP with ρ its Kullback–Leibler divergence, and no better."""
    return ZeroConcentrated(Real(None, DiscreteLaplacePair(m.scale, m.sensitivity).mean))
