"""Zero-concentrated DP: D_α ≤ ξ + ρα for every order α > 1, after an event of chance δ is set aside."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

from tightrope.curves.renyi import LinearRenyi, Renyi
from tightrope.curves.truncated import TruncatedConcentrated
from tightrope.numerics.balls import Ball
from tightrope.numerics.real import ZERO, Real, largest, total
from tightrope.theorems import Source, theorem

FEW = 64  # failures whose joint chance stays an exact fraction


@dataclass(frozen=True, eq=False)
class ZeroConcentrated:
    """δ-approximate (ξ, ρ)-zCDP; plain ρ-zCDP when ξ = δ = 0."""

    rho: Real
    xi: Real = ZERO
    delta: Real = ZERO

    def __str__(self) -> str:
        text = f"ρ = {self.rho}"
        text += "" if self.xi.rational == 0 else f", ξ = {self.xi}"
        return text if self.delta.rational == 0 else text + f", δ = {self.delta}"


@theorem(of=ZeroConcentrated, gives=Renyi, kind="equal", source=Source("bun2016concentrated", "Def. 1.1"))
def concentrated_is_renyi(c: ZeroConcentrated) -> Renyi | None:
    """(ξ, ρ)-zCDP says D_α ≤ ξ + ρα at every order."""
    return LinearRenyi(c.rho, c.xi) if c.delta.rational == 0 else None


@theorem(of=ZeroConcentrated, gives=TruncatedConcentrated, kind="equal", source=Source("bun2018composable", "Sec. 1"))
def concentrated_is_truncated(c: ZeroConcentrated) -> TruncatedConcentrated | None:
    """ρ-zCDP is (ρ, ∞)-tCDP."""
    return TruncatedConcentrated(c.rho, None) if c.delta.rational == 0 and c.xi.rational == 0 else None


@theorem(
    of=ZeroConcentrated,
    gives=ZeroConcentrated,
    kind="upper",
    role="composition",
    source=Source("bun2016concentrated", "Lemmas 1.7, 8.2"),
)
def concentrated_composes(parts: list[tuple[ZeroConcentrated, int]]) -> ZeroConcentrated:
    """Composition adds ρ and ξ, and δ becomes 1 − Π(1 − δ_i)."""
    return ZeroConcentrated(
        total([(c.rho, n) for c, n in parts]),
        total([(c.xi, n) for c, n in parts]),
        joint_failure([(c.delta, n) for c, n in parts]),
    )


def joint_failure(parts: list[tuple[Real, int]]) -> Real:
    """1 − Π(1 − δ_i)^{n_i}: the chance that at least one of independent failures happens."""
    live = [(d, n) for d, n in parts if d.rational != 0 and n > 0]
    if not live:
        return ZERO
    if len(live) == 1 and live[0][1] == 1:
        return live[0][0]
    if sum(n for _, n in live) <= FEW and all(d.rational is not None for d, _ in live):
        return Real(1 - prod(((1 - (d.rational or Fraction(0))) ** n for d, n in live), start=Fraction(1)))
    return Real(None, lambda: -sum(((-d.ball()).log1p() * n for d, n in live), Ball(0)).expm1())


@theorem(
    of=ZeroConcentrated,
    gives=ZeroConcentrated,
    kind="upper",
    role="group",
    source=Source("bun2016concentrated", "Prop. 1.9"),
)
def concentrated_for_groups(c: ZeroConcentrated, size: int) -> ZeroConcentrated | None:
    """(ξ, ρ)-zCDP for one record is (ξ·k·H_k, k²ρ)-zCDP for k records if ξ ≥ 0, and (kξ, k²ρ)-zCDP if ξ < 0."""
    if c.delta.rational != 0:
        return None
    xi = largest([c.xi * size, c.xi * (size * _harmonic(size))])  # the first if ξ < 0, else the second
    return ZeroConcentrated(c.rho * size**2, xi)


def _harmonic(size: int) -> Fraction:
    """H_k, or an upper bound of it for large k: H_k ≤ 1 + log₂ k."""
    if size <= 1000:
        return sum((Fraction(1, i) for i in range(1, size + 1)), Fraction(0))
    return Fraction(1 + size.bit_length())
