"""Finite laws and endless lattices as one list of atoms."""

from __future__ import annotations

from collections.abc import Sequence

from tightrope.curves.pair import Pair
from tightrope.numerics.balls import Ball
from tightrope.numerics.sums.finite import FiniteSum

__all__ = ["ListedSum"]


class ListedSum:
    """A sum of finite laws, and of pairs whose atoms are listed but for hardly any mass."""

    def __init__(self, finite: FiniteSum, endless: Sequence[tuple[Pair, int]] = ()) -> None:
        self._finite, self._endless = finite, endless

    def infinite(self) -> Ball:
        """The mass at ∞."""
        return self._finite.infinite()

    def atoms(self, limit: int) -> tuple[list[tuple[Ball, Ball]], Ball] | None:
        """Atoms (value, mass), and the mass of those that are left out; None if there are more than ``limit``."""
        found = self._finite.atoms(limit) if self._finite.exact else None
        kept = Ball(1)
        for pair, copies in self._endless:
            some = pair.listed(copies, limit // len(found)) if found else None
            if found is None or some is None:
                return None
            kept *= sum((mass for _, mass in some), Ball(0))
            found = [(value + more, mass * share) for value, mass in found for more, share in some]
        return None if not found else (found, (1 - kept).nonnegative_part())
