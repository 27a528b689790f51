"""What every dominating pair answers: the law of L = ln dP/dQ under P. It knows everything else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.real import ZERO, Real
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.grid.cells import CellLaw  # numpy is loaded when a grid is wanted

Call = Callable[[Ball], Ball]
Rung = tuple[Hashable, tuple[Fraction, ...]]
_UNITS = 100.0  # of work, for a value in balls


def approximate(evaluate: Callable[[Fraction], Ball | None], at: float) -> float:
    """A value in floats, for searches: the middle of its ball, or infinite where there is none."""
    effort.spend(_UNITS, "a search along a Rényi curve")
    with precision(64):
        value = evaluate(Fraction(at))
    return float(value.mid()) if value is not None and value.is_finite() else inf


def sampled_rung(name: str, base: Pair, rate: Fraction) -> Rung | None:
    """Of a sample: as the base; and a smaller sample is a sample of a larger one."""
    known = base.rung()
    return None if known is None else ((name, known[0]), (*known[1], rate))


class Pair(ABC):
    """One ordered pair (P, Q), seen through the law of L = ln dP/dQ under P (with a mass at +∞ where Q has none)."""

    words = "a known law"  # what the law of the loss is, for explanations
    effort = 0  # what a cumulant in floats costs: 0 microseconds, 1 a tenth of a millisecond, 2 more
    units = 300.0  # of work, for a cumulant in balls
    sampled_units = 900.0  # the same of a sampled record
    decays = True  # False: the transform does not fall along vertical lines, since the losses are atoms
    quick = False  # True: cumulants of a sampled record have a float formula of their own
    dear = False  # True: the transform of a sampled record costs so much that a grid of few steps is quicker
    composes = True  # False: the profile is a supremum over several pairs, so a product of it only overstates
    measured: bool | None = None  # whether there is a cumulant, said where finding out would take long
    symmetric = False  # True: (Q, P) has the same law of the loss as (P, Q)
    shifted = False  # True: log-concave noise against its shift, and the opposite shift fits the description as well

    @abstractmethod
    def call(self, x: Ball) -> Ball:
        """δ(x) = E[(1 − e^{x−L})₊], for any real x."""

    @abstractmethod
    def tail(self, x: Ball) -> Ball:
        """P[L > x]."""

    @abstractmethod
    def cumulant(self, s: Fraction) -> Ball | None:
        """K(s) = ln E[e^{sL}] for s > 0; None when no formula is known."""

    @abstractmethod
    def mean(self) -> Ball | None:
        """E[L], the Kullback–Leibler divergence."""

    @abstractmethod
    def largest(self) -> Real:
        """The largest loss: D_∞."""

    def infinite(self) -> Real:
        """The mass at +∞."""
        return ZERO

    def atom_unit(self) -> Fraction | None:
        """A rational of which all losses with a mass of their own are whole multiples, 0 if there are none; None where
        none is known."""
        return None

    def rung(self) -> Rung | None:
        """A family of pairs, and numbers of this one: in it a pair dominates those none of whose numbers is larger.
        Where there are two, the second is a rate."""
        return None

    def at_rate(self, rate: Fraction) -> Pair | None:  # noqa: ARG002 - not of a sample by default
        """The same with another rate."""
        return None

    def repeated(self, copies: int) -> Call | None:
        """δ of that many independent copies, where a formula is known."""
        return self.call if copies == 1 else None

    def briefly(self, copies: int) -> bool:  # noqa: ARG002 - always, by default
        """Whether a value of that formula takes a few milliseconds at most."""
        return True

    def listed(self, copies: int, most: int) -> list[tuple[Ball, Ball]] | None:  # noqa: ARG002 - unknown by default
        """Losses of that many copies and their masses, of which hardly any is left out; None if there are more than
        ``most``, or they are no atoms."""
        return None

    def sampled_cumulant(self, rate: Fraction, power: Fraction) -> Ball | None:  # noqa: ARG002 - unknown by default
        """ln E_Q[(1 − q + q·e^L)^power], where a formula is known."""
        return None

    def measured_sampled(self, rate: Fraction) -> bool | None:  # noqa: ARG002 - unknown by default
        """``measured`` of a sampled record."""
        return None

    def approximate_cumulants(self, points: Sequence[float]) -> list[float]:
        """K at many points in floats, for searches."""
        return [approximate(self.cumulant, s) for s in points]

    def approximate_sampled_cumulants(self, rate: Fraction, powers: Sequence[float]) -> list[float]:
        """The sampled ones in floats, for searches."""
        return [approximate(partial(self.sampled_cumulant, rate), a) for a in powers]

    def transform(self) -> Transform | None:
        """The moment generating function on complex numbers, for the contour integral."""
        return None

    def sampled_transform(self, rate: Fraction, adding: bool) -> Transform | None:  # noqa: ARG002 - unknown by default
        """The same after a Poisson sample in which a record is removed or added."""
        return None

    def cut_transform(self, cut: Fraction) -> Transform | None:  # noqa: ARG002 - unknown by default
        """The same without losses that a normal variable beyond some deviations makes, which are at ∞: for laws whose
        moments grow too fast."""
        return None

    def exchanged(self, rate: Fraction) -> Pair | None:  # noqa: ARG002 - unknown by default
        """The pair of a Poisson sample under replace, where noise of this law is added, if there is a formula."""
        return None

    def glued_transform(self, rate: Fraction) -> Transform | None:  # noqa: ARG002 - unknown by default
        """The transform after sampling without replacement under replace."""
        return None

    def cells(self) -> CellLaw | None:
        """The masses of cells of loss, for a grid."""
        return None

    def sampled_cells(self, rate: Fraction, adding: bool) -> CellLaw | None:  # noqa: ARG002 - unknown by default
        """The same after a Poisson sample in which a record is removed or added."""
        return None

    def glued_cells(self, rate: Fraction) -> CellLaw | None:  # noqa: ARG002 - unknown by default
        """The same after sampling without replacement under replace."""
        return None

    def glued_cumulant(self, rate: Fraction, s: Fraction) -> Ball | None:  # noqa: ARG002 - unknown by default
        """ln E[e^{sL}] after sampling without replacement under replace, where a formula is known."""
        return None
