"""A Poisson sample of Gaussian noise, seen by a group: each member is sampled by itself, and all move the answer.

Of k records a are in the first data set and not in the second, b = k − a the other way round. The pair is
(Σ_j C(a,j)q^j(1−q)^{a−j}·N(jμ, 1), Σ_j C(b,j)q^j(1−q)^{b−j}·N(−jμ, 1)): it dominates, and records that all move a sum
the same way attain it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from tightrope.curves.loss import Loss
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pair import Pair
from tightrope.curves.sampled.poisson import single
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.grouped_normals import GroupedNormals
from tightrope.numerics.real import UNBOUNDED, Real
from tightrope.theorems import Source, theorem

if TYPE_CHECKING:
    from tightrope.numerics.grid.cells import CellLaw

MOST_MEMBERS = 8  # of a group whose law is computed
_MOST_TERMS = 600  # of a moment


@dataclass(frozen=True)
class GroupedSample(Pair):
    """Both mixtures, seen through one normal coordinate in which the loss rises."""

    base: NormalPair
    rate: Fraction
    present: int
    absent: int
    words = "that of a group of which each member is sampled by itself"
    effort = 2
    measured = False

    @property
    def symmetric(self) -> bool:  # type: ignore[override]  # a property here
        """Turned around, z changes its sign."""
        return self.present == self.absent

    @cached_property
    def _normals(self) -> GroupedNormals:
        return GroupedNormals(self.base.root(), self.rate, self.present, self.absent)

    def _edge(self, members: int) -> Ball:
        """−ln of the chance that none of so many is sampled: the loss stays below it if only others are seen."""
        return -(-ball(self.rate)).log1p() * members

    def call(self, x: Ball) -> Ball:
        """P[z > z*] − e^x Q[z > z*]."""
        if self.absent == 0 and x <= -self._edge(self.present):
            return -x.expm1()
        if self.present == 0 and x >= self._edge(self.absent):
            return Ball(0)
        first, second = self._normals.above(self._normals.threshold(x))
        return first - x.exp() * second

    def tail(self, x: Ball) -> Ball:
        """P[L > x]."""
        if self.absent == 0 and x <= -self._edge(self.present):
            return Ball(1)
        if self.present == 0 and x >= self._edge(self.absent):
            return Ball(0)
        return self._normals.above(self._normals.threshold(x))[0]

    def cumulant(self, s: Fraction) -> Ball | None:
        """A sum at whole orders, where all members are present."""
        if self.absent > 0 or s.denominator != 1 or self.present * (s + 1) > _MOST_TERMS:
            return None
        return self._normals.power_mean(int(s) + 1).log()

    def mean(self) -> None:
        """No closed form is used."""
        return

    def largest(self) -> Real:
        """Unbounded, unless all members are absent."""
        return UNBOUNDED if self.present else Real(None, lambda: self._edge(self.absent))

    def cells(self) -> CellLaw | None:
        """Both mixtures on one line cut into cells."""
        from tightrope.numerics.grid.grouped_normal_cells import GroupedNormalCells

        return GroupedNormalCells(self.base.root(), self.rate, self.present, self.absent)


@theorem(
    of=Loss,
    gives=Loss,
    kind="equal",
    role="group",
    source=Source("ganesh2024tight", "Thm 3.1; docs/theorems.md"),
    hypotheses=("the base is Gaussian noise, which one record present or absent moves by C = μσ",),
)
def loss_of_grouped_poisson_sample(c: Loss, rate: Fraction, present: int, absent: int) -> Loss | None:
    """Each of a records of one data set and of b records of the other is sampled with chance q; all else is alike. With
    j of n sampled having the chance Bin(n, q)(j), the mixtures Σ_j Bin(a, q)(j)·N(jμ, 1) and Σ_j Bin(b, q)(j)·N(−jμ, 1)
    dominate, and so do they turned around."""
    found = single(c) if c.add is None else None
    if found is None or not isinstance(found[0], NormalPair) or not 0 < rate < 1:
        return None
    if found[0].mu_squared.rational == 0 or max(present, absent) > MOST_MEMBERS:
        return None
    one, other = GroupedSample(found[0], rate, present, absent), GroupedSample(found[0], rate, absent, present)
    return Loss(((one, 1),)) if present == absent else Loss(((one, 1),), ((other, 1),))
