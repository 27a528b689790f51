"""Cells of losses that one normal coordinate z carries: Gaussian noise, and Gaussian noise on samples.

Each loss rises with z. Edges of the loss are turned into edges of z in plain floats; that the loss at the z found is
the edge wanted, up to ``slack``, is proved afterwards; and the masses between the z are enclosed. Where every tail is
below 10⁻²⁹⁰ edges stay where they are, and their cells are only said to be that light.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tightrope.numerics.balls import Ball, ball, lower_float, precision, upper_float
from tightrope.numerics.grid.cells import UNIT, CellLaw, Cells, Floats
from tightrope.numerics.grid.exponentials import EXP_ERROR, exponentials
from tightrope.numerics.grid.growths import GROWTH_ERROR, growths, shares
from tightrope.numerics.grid.normal_masses import BLOCK, Rounded, normal_masses, rounded
from tightrope.numerics.grid.tails import TAIL_REACH
from tightrope.numerics.real import Real

Bounds = tuple[Floats, Floats]

_FAR = 1e9  # stands for any z beyond the reach of the tails
_LEAST_MU, _MOST_MU = 1e-12, 1e4
_FLAT = 1e-260  # more than e^{−600}, to which exponents far below are raised


def exponents(z: Floats, mu: Rounded, half: Rounded) -> Bounds:
    """μz − μ²/2 and its error: that of μ, that of μ/2, and a rounding each of the difference and of the product."""
    off = 1.01 * ((mu.error + 2.1 * UNIT * mu.value) * (np.abs(z) + half.value) + mu.value * half.error)
    return mu.value * (z - half.value), off


class NormalCoordinate(CellLaw):
    """A loss that rises with z, where P and Q are mixtures of normal laws around 0 and ±μ."""

    mu: Real

    @cached_property
    def _mu(self) -> Rounded:
        found = rounded(self.mu)
        if not _LEAST_MU < found.value < _MOST_MU:
            raise ArithmeticError(f"a shift of {found.value:g} standard deviations is out of reach of these cells")
        return found

    @cached_property
    def _half(self) -> Rounded:
        return rounded(self.mu * Fraction(1, 2))

    @abstractmethod
    def _loss_at(self, z: Ball) -> Ball:
        """The loss in balls."""

    @abstractmethod
    def _coordinates(self, losses: Floats) -> Floats:
        """z with about these losses, in plain floats."""

    @abstractmethod
    def _gaps(self, losses: Floats, z: Floats) -> Floats:
        """Upper bounds of |loss at z − loss wanted|, but for a last factor 1.001."""

    @abstractmethod
    def _masses(self, z: Floats) -> tuple[Bounds, Bounds]:
        """P's and Q's masses between the z."""

    def _lowest(self) -> tuple[float, float, float]:
        """z below which all tails are out of reach, and losses below which there is nothing and only such z."""
        first = -self._reach
        with precision(256):
            return first, -np.inf, lower_float(self._loss_at(Ball(first)))

    @cached_property
    def _reach(self) -> float:
        return self._mu.value + TAIL_REACH + 1

    @cached_property
    def _ends(self) -> tuple[float, float, float, float]:
        with precision(256):
            return *self._lowest(), upper_float(self._loss_at(Ball(self._reach)))

    def _edges(self, losses: Floats) -> tuple[Floats, float]:
        """Where to cut z, and the slack."""
        first, empty, bottom, top = self._ends
        z = np.where(losses <= empty, -np.inf, np.where(losses <= bottom, -_FAR, _FAR))
        inner = np.flatnonzero((losses > max(empty, bottom)) & (losses < top))
        if not inner.size:
            return z, 0.0
        pieces = [inner[start : start + BLOCK] for start in range(0, inner.size, BLOCK)]
        for at in pieces:
            with np.errstate(all="ignore"):
                found = self._coordinates(losses[at])
            z[at] = np.clip(np.where(np.isnan(found), first, found), first, self._reach)
        z = np.maximum.accumulate(z)
        return z, 1.001 * max(float(np.max(self._gaps(losses[at], z[at]))) for at in pieces)

    def cells(self, edges: Floats) -> Cells:
        """Every cell between two z."""
        z, slack = self._edges(edges)
        (p_low, p_high), (q_low, q_high) = self._masses(z)
        return Cells(p_low, p_high, q_low, q_high, slack)

    def _exponents(self, z: Floats) -> Bounds:
        return exponents(z, self._mu, self._half)

    def _around(self, z: Floats, sign: int) -> Bounds:
        return normal_masses(z, Rounded(sign * self._mu.value, abs(sign) * self._mu.error))


@dataclass(frozen=True, eq=False)
class NormalCells(NormalCoordinate):
    """P = N(μ, 1), Q = N(0, 1): the loss is μz − μ²/2."""

    mu: Real

    def _loss_at(self, z: Ball) -> Ball:
        mu = self.mu.ball()
        return mu * (z - mu / 2)

    def _coordinates(self, losses: Floats) -> Floats:
        return losses / self._mu.value + self._half.value

    def _gaps(self, losses: Floats, z: Floats) -> Floats:
        value, error = self._exponents(z)
        return np.abs(value - losses) + error

    def _masses(self, z: Floats) -> tuple[Bounds, Bounds]:
        return self._around(z, 1), self._around(z, 0)


class NormalMixture(NormalCoordinate):
    """Laws made of w(z) = 1 − q + q·e^{μz − μ²/2}, the ratio of (1−q)N(0,1) + qN(μ,1) to N(0,1).

    Unless a law says otherwise these are P and Q, and ln w(z) is the loss.
    """

    rate: Fraction

    def _loss_at(self, z: Ball) -> Ball:
        return self._ratio_at(z).log()

    def _masses(self, z: Floats) -> tuple[Bounds, Bounds]:
        rest = self._around(z, 0)
        return self._mixed(rest, self._around(z, 1)), rest

    @cached_property
    def _shares(self) -> tuple[float, float]:
        """1 − q and q, each off by at most 2⁻⁵³ of itself."""
        return shares(self.rate)

    def _ratio_at(self, z: Ball) -> Ball:
        mu, rate = self.mu.ball(), ball(self.rate)
        return 1 - rate + rate * (mu * (z - mu / 2)).exp()

    def _powers(self, z: Floats) -> Bounds:
        """e^{μz − μ²/2} and its error."""
        exponents, off = self._exponents(z)
        power = exponentials(np.maximum(exponents, -600.0))
        return power, power * (EXP_ERROR + off) * 1.01 + _FLAT

    def _rises(self, z: Floats) -> Bounds:
        """e^{μz − μ²/2} − 1 and its error."""
        exponents, off = self._exponents(z)
        rise = growths(np.maximum(exponents, -600.0))
        return rise, 1.01 * (GROWTH_ERROR * np.abs(rise) + (1 + rise) * off) + _FLAT

    def _mixed(self, rest: Bounds, shifted: Bounds) -> Bounds:
        """(1−q)·rest + q·shifted: four roundings at most in each term."""
        a, q = self._shares
        low, high = ((a * r + q * s) for r, s in zip(rest, shifted, strict=True))
        return low * (1 - 6 * UNIT), high * (1 + 6 * UNIT)

    def _coordinates(self, losses: Floats) -> Floats:
        """z with ln w(z) about these losses."""
        a, q = self._shares
        high = np.log1p(np.expm1(losses) / q)
        low = np.log(np.expm1(losses - np.log(a)) * (a / q)) if losses[0] <= -0.5 else high
        return np.where(losses > -0.5, high, low) / self._mu.value + self._half.value

    def _gaps(self, losses: Floats, z: Floats) -> Floats:
        """|ln w(z) − loss| ≤ |w − e^loss|/min(w, e^loss). From −1/2 on 1 is subtracted from both: nothing cancels."""
        a, q = self._shares
        gaps = np.empty_like(losses)
        at = np.flatnonzero(losses <= -0.5)
        if at.size:
            wanted = exponentials(losses[at])
            power, error = self._powers(z[at])
            found = a + q * power
            off = q * error + (EXP_ERROR + 4 * UNIT) * (found + wanted)
            gaps[at] = (np.abs(found - wanted) + off) / np.minimum(found, wanted)
        at = np.flatnonzero(losses > -0.5)
        if at.size:
            wanted = growths(losses[at])
            rise, error = self._rises(z[at])
            found = q * rise
            off = q * error + 4 * UNIT * np.abs(found) + (GROWTH_ERROR + 4 * UNIT) * np.abs(wanted)
            least = 1 + np.minimum(found, wanted) - off
            gaps[at] = np.where(least > 0, (np.abs(found - wanted) + off) / least, np.inf)
        return gaps


@dataclass(frozen=True, eq=False)
class _Removed(NormalMixture):
    """P = (1−q)N(0,1) + qN(μ,1), Q = N(0,1): the loss is ln w(z)."""

    mu: Real
    rate: Fraction

    def _lowest(self) -> tuple[float, float, float]:
        first, _, bottom = super()._lowest()
        with precision(256):
            return first, lower_float(ball(1 - self.rate).log()), bottom


def mirrored(found: Cells) -> Cells:
    """The cells of −L with P and Q exchanged."""
    return Cells(found.q_low[::-1], found.q_high[::-1], found.p_low[::-1], found.p_high[::-1], found.slack)


@dataclass(frozen=True, eq=False)
class SampledNormalCells(CellLaw):
    """A Poisson sample: a record is removed, or added (P and Q exchanged, and the loss's sign)."""

    mu: Real
    rate: Fraction
    adding: bool

    @cached_property
    def _removed(self) -> _Removed:
        return _Removed(self.mu, self.rate)

    def cells(self, edges: Floats) -> Cells:
        """Those of a removal, or mirrored."""
        return mirrored(self._removed.cells(-edges[::-1])) if self.adding else self._removed.cells(edges)
