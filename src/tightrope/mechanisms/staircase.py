"""The staircase mechanism: the noise of least expected size among all ε-DP noises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.curves.pure import Pure
from tightrope.mechanisms.base import Leaf
from tightrope.mechanisms.grids import grid_step
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.exact import Number, nonnegative, probability
from tightrope.numerics.real import Real, real
from tightrope.numerics.sums.finite import FiniteLaw, on_lattice
from tightrope.theorems import Source, theorem


@dataclass(frozen=True, init=False, repr=False)
class Staircase(Leaf):
    """Staircase noise, which by default has the least expected size of all noise that is ε-DP.

    Its steps have widths ``gamma`` and 1 − gamma, in units of the sensitivity; the default gamma is the one of least
    expected size. ``grid`` is the step of released numbers, a power of two; it changes no claim.

    >>> print(Staircase(epsilon=1))
    staircase(epsilon=1)
    """

    epsilon: Fraction
    gamma: Fraction | None
    grid: Fraction | None
    text_name = "staircase"

    def __init__(self, epsilon: Number, gamma: Number | None = None, grid: Number | None = None) -> None:
        self._set(
            epsilon=nonnegative("epsilon", epsilon),
            gamma=None if gamma is None else probability("gamma", gamma),
            grid=grid_step(grid),
        )

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The best γ and the usual grid are not printed."""
        return {"gamma": None, "grid": None}

    def width(self) -> Ball:
        """γ, by default 1/(1 + e^{ε/2})."""
        return 1 / (1 + (ball(self.epsilon) / 2).exp()) if self.gamma is None else ball(self.gamma)

    def height(self) -> Ball:
        """aΔ, the density at 0 in units of 1/Δ: (1 − b)/(2(γ + b(1 − γ))), b = e^{−ε}."""
        g, b = self.width(), (-ball(self.epsilon)).exp()
        return (1 - b) / (2 * (g + b * (1 - g)))

    def law(self) -> FiniteLaw:
        """The loss at the full distance: ε, 0 or −ε."""
        if self.epsilon == 0:
            return on_lattice(real(1), {0: real(1)})
        narrow = self.gamma is None or self.gamma <= Fraction(1, 2)

        def up() -> Ball:
            g = self.width()
            return ball(Fraction(1, 2)) + self.height() * (g if narrow else 1 - g)

        def level() -> Ball:
            g = self.width()
            return self.height() * ((-ball(self.epsilon)).exp() * (1 - 2 * g) if narrow else 2 * g - 1)

        # The law and its reverse balance: the mass at −ε is e^{−ε} times the mass at ε.
        down = Real(None, lambda: up() * (-ball(self.epsilon)).exp())
        return on_lattice(real(self.epsilon), {1: Real(None, up), 0: Real(None, level), -1: down})


@theorem(of=Staircase, gives=Pure, kind="equal", role="analysis", source=Source("geng2014optimal", "Thm 1"))
def staircase_is_pure(m: Staircase) -> Pure:
    """The staircase mechanism is ε-DP, and no better."""
    return Pure(real(m.epsilon))


@theorem(
    of=Staircase, gives=Loss, kind="equal", role="analysis", source=Source("geng2014optimal", "Eq. 1; docs/theorems.md")
)
def staircase_loss(m: Staircase) -> Loss:
    """At the full distance the loss is ε, 0 or −ε, and the full distance dominates every smaller one."""
    return Loss(((FinitePair(Staircase(m.epsilon, m.gamma), m.law()), 1),))
