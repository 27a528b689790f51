"""The largest of t normal answers, one of them shifted: its chances to lie between given cuts."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from flint import ctx

from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.normal import upper_tail
from tightrope.numerics.real import Real

__all__ = ["LargestAnswer"]

_BITS = 192  # differences of tails cancel


@dataclass(frozen=True, eq=False)
class LargestAnswer:
    """The maximum of N(``shift``, 1) and ``others`` independent N(0, 1), told only by the cells between ``cuts``."""

    shift: Real
    others: int
    cuts: tuple[Fraction, ...]
    _known: dict[int, list[Ball]] = field(default_factory=dict, repr=False)

    def masses(self) -> list[Ball]:
        """The chances of all cells, from below the first cut to above the last; made once for each precision."""
        bits = max(ctx.prec, _BITS)
        if bits not in self._known:
            with precision(bits):
                above = [self._exceeds(ball(cut)) for cut in self.cuts]
                self._known[bits] = [one - other for one, other in pairwise([Ball(1), *above, Ball(0)])]
        return self._known[bits]

    def _exceeds(self, cut: Ball) -> Ball:
        """1 − Φ(c − shift)Φ(c)^others."""
        own, rest = upper_tail(cut - self.shift.ball()), upper_tail(cut)
        return -((-own).log1p() + self.others * (-rest).log1p()).expm1()

    def known(self) -> bool:
        """Whether every cell certainly has a mass."""
        with precision(_BITS):
            return all(mass > 0 for mass in self.masses())
