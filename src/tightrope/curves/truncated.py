"""Truncated concentrated DP: D_α ≤ ρα for every order α in (1, ω)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightrope.curves.renyi import LinearRenyi, Renyi
from tightrope.numerics.real import ZERO, Real, total
from tightrope.theorems import Source, theorem


@dataclass(frozen=True, eq=False)
class TruncatedConcentrated:
    """(ρ, ω)-tCDP; ω = None stands for ∞."""

    rho: Real
    omega: Fraction | None

    def __str__(self) -> str:
        return f"ρ = {self.rho}, ω = {'∞' if self.omega is None else self.omega}"


@theorem(of=TruncatedConcentrated, gives=Renyi, kind="equal", source=Source("bun2018composable", "Def. 1"))
def truncated_is_renyi(c: TruncatedConcentrated) -> Renyi:
    """(ρ, ω)-tCDP says D_α ≤ ρα for α < ω, and at ω itself because α ↦ D_α is left-continuous."""
    return LinearRenyi(c.rho, ZERO, c.omega)


@theorem(
    of=TruncatedConcentrated,
    gives=TruncatedConcentrated,
    kind="equal",
    role="composition",
    source=Source("bun2018composable", "Lemma 2"),
)
def truncated_composes(parts: list[tuple[TruncatedConcentrated, int]]) -> TruncatedConcentrated:
    """Composition adds ρ and keeps the smallest ω."""
    bounded = [c.omega for c, n in parts if c.omega is not None and n > 0]
    return TruncatedConcentrated(total([(c.rho, n) for c, n in parts]), min(bounded, default=None))


@theorem(
    of=TruncatedConcentrated,
    gives=TruncatedConcentrated,
    kind="upper",
    role="group",
    source=Source("bun2018composable", "Sec. 4"),
)
def truncated_for_groups(c: TruncatedConcentrated, size: int) -> TruncatedConcentrated | None:
    """(ρ, ω)-tCDP for one record is (k²ρ, ω/k)-tCDP for k records, provided ω > k."""
    if c.omega is not None and c.omega <= size:
        return None
    return TruncatedConcentrated(c.rho * size**2, None if c.omega is None else c.omega / size)
