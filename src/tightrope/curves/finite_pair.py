"""A pair whose loss takes finitely many values, and perhaps +∞."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import exp, expm1, inf, isfinite, log, log1p
from typing import TYPE_CHECKING

from tightrope.curves.pair import Pair, Rung, approximate
from tightrope.numerics.balls import INFINITY, Ball, ball, precision
from tightrope.numerics.real import UNBOUNDED, Real
from tightrope.numerics.sums.finite import FiniteLaw
from tightrope.numerics.transforms.finite import FiniteTransform
from tightrope.numerics.transforms.transform import Transform


def log_mean_float(atoms: Sequence[tuple[float, float]], s: float) -> float | None:
    """ln Σ m·e^{sv} over atoms (v, m) of total mass 1; None where floats overflow or cancel."""
    top = max((s * v for v, _ in atoms), default=inf)
    if not isfinite(top):
        return None
    if top > 30:
        return top + log(sum(m * exp(s * v - top) for v, m in atoms))
    terms = [m * expm1(s * v) for v, m in atoms]
    value = sum(terms)
    return log1p(value) if value > 1e-7 * sum(map(abs, terms)) else None


if TYPE_CHECKING:
    from tightrope.numerics.grid.cells import CellLaw

_MOST_LISTED = 200  # atoms of a law that a grid places one by one


@dataclass(frozen=True)
class FinitePair(Pair):
    """Finitely many losses. ``key`` says which pair it is, so that equal ones are merged."""

    key: Hashable
    law: FiniteLaw = field(compare=False)
    composes: bool = field(default=True, compare=False)
    shifted: bool = field(default=False, compare=False)
    ladder: Rung | None = field(default=None, compare=False)
    words = "one of finitely many values"
    decays = False

    def _sum(self, evaluate: Callable[[Ball, Ball], Ball]) -> Ball:
        pairs = zip(self.law.values, self.law.masses, strict=True)
        return sum((evaluate(v.ball(), m.ball()) for v, m in pairs), Ball(0))

    def call(self, x: Ball) -> Ball:
        """A sum over the atoms, and the mass at ∞."""
        return self.law.infinite.ball() + self._sum(lambda v, m: m * (-(x - v).expm1()).max(Ball(0)))

    def tail(self, x: Ball) -> Ball:
        """P[L > x]."""
        unsure = Ball(0).union(Ball(1))
        return self.law.infinite.ball() + self._sum(lambda v, m: m if v > x else Ball(0) if v <= x else m * unsure)

    def cumulant(self, s: Fraction) -> Ball:
        """ln Σ p_i e^{s l_i}; infinite with a mass at ∞. Written as ln(1 + Σ p_i (e^{s l_i} − 1)), which loses
        nothing near 0."""
        if self.law.infinite.rational != 0:
            return INFINITY
        return self._sum(lambda v, m: m * (v * ball(s)).expm1()).log1p()

    @cached_property
    def _floats(self) -> list[tuple[float, float]]:
        with precision(64):
            balls = [(v.ball().mid(), m.ball().mid()) for v, m in zip(self.law.values, self.law.masses, strict=True)]
            pairs = [(float(v), float(m)) for v, m in balls]
        return [(v, m) for v, m in pairs if m > 0]

    def approximate_cumulants(self, points: Sequence[float]) -> list[float]:
        """The same in floats, and in balls where floats would cancel."""
        if self.law.infinite.rational != 0:
            return [inf] * len(points)
        found = [log_mean_float(self._floats, s) for s in points]
        return [approximate(self.cumulant, s) if k is None else k for s, k in zip(points, found, strict=True)]

    def mean(self) -> Ball:
        """Σ p_i l_i."""
        if self.law.infinite.rational != 0:
            return INFINITY
        return self._sum(lambda v, m: m * v)

    def largest(self) -> Real:
        """The largest atom with any mass."""
        return UNBOUNDED if self.law.infinite.rational != 0 else self.largest_finite()

    def largest_finite(self) -> Real:
        """The largest atom with any mass, but for +∞."""
        live = [v for v, m in zip(self.law.values, self.law.masses, strict=True) if m.rational != 0]
        if self.law.unit is not None:
            steps = [k for k, m in zip(self.law.steps, self.law.masses, strict=True) if m.rational != 0]
            return self.law.unit * max(steps)
        if all(v.rational is not None for v in live):
            return max(live, key=lambda v: v.rational or Fraction(0))
        return Real(None, lambda: _largest([v.ball() for v in live]))

    def rung(self) -> Rung | None:
        """That which whoever made it knows of."""
        return self.ladder

    def atom_unit(self) -> Fraction | None:
        """Of its lattice."""
        return None if self.law.unit is None else self.law.unit.rational

    def infinite(self) -> Real:
        """The mass at +∞."""
        return self.law.infinite

    def transform(self) -> Transform | None:
        """Σ p_i e^{s l_i}; none if every loss is infinite."""
        return FiniteTransform(self.law) if any(m.rational != 0 for m in self.law.masses) else None

    def cells(self) -> CellLaw | None:
        """Atoms, one by one if they are few."""
        from tightrope.numerics.grid.cells import Atom, Atoms

        listed = [Atom(v, m) for v, m in zip(self.law.values, self.law.masses, strict=True) if m.rational != 0]
        if len(listed) > _MOST_LISTED:
            from tightrope.numerics.grid.table_cells import table_of

            return table_of(listed, self.law.infinite)
        return Atoms(tuple(listed), self.law.infinite) if listed else None


def _largest(values: list[Ball]) -> Ball:
    largest = values[0]
    for value in values[1:]:
        largest = largest.max(value)
    return largest
