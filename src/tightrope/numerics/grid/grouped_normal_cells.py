"""Cells of Gaussian noise on Poisson samples, seen by a group of which each member is sampled by itself."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tightrope.numerics.balls import Ball, ball, lower_float, precision
from tightrope.numerics.grid.cells import UNIT, CellLaw, Cells, Floats
from tightrope.numerics.grid.exponentials import EXP_ERROR, exponentials
from tightrope.numerics.grid.normal_cells import Bounds, NormalCoordinate, exponents, mirrored
from tightrope.numerics.grid.normal_masses import FLOOR, Rounded, normal_masses, rounded
from tightrope.numerics.grid.tails import TAIL_REACH
from tightrope.numerics.grouped_normals import GroupedNormals
from tightrope.numerics.real import Real

__all__ = ["GroupedNormalCells"]

_LEAST_SHARE = 1e-200  # of a mixture: beside it no exponent leaves the range of the exponentials
_TABLE = 2**12  # places from which a coordinate is sought
_NEWTON = 8
_CLOSE = 1e-14  # losses, relatively, that need not be sought any further
_REACH, _FLAT = 600.0, 1e-260  # exponents beyond are raised to −600, and e^{−600} is less than that
_NEAR = 0.01  # errors e of an exponent up to here change its power by less than 1.01·e


@dataclass(frozen=True, eq=False)
class _Upward(NormalCoordinate):
    """P = Σ_j share_j·N(jμ, 1) of ``up`` records, Q = Σ_j share_j·N(−jμ, 1) of ``down``; ``up`` is not less."""

    mu: Real
    rate: Fraction
    up: int
    down: int

    @cached_property
    def _normals(self) -> GroupedNormals:
        return GroupedNormals(self.mu, self.rate, self.up, self.down)

    def _loss_at(self, z: Ball) -> Ball:
        return self._normals.loss(z)

    def _lowest(self) -> tuple[float, float, float]:
        first, empty, bottom = super()._lowest()
        if self.down == 0:
            with precision(256):
                empty = lower_float(ball(1 - self.rate).log() * self.up)
        return first, empty, bottom

    @cached_property
    def _reach(self) -> float:
        # further out, as the shifts are
        return self.up * self._mu.value + TAIL_REACH + 1

    @cached_property
    def _weights(self) -> tuple[Floats, Floats]:
        """The shares, each off by at most 2⁻⁵³ of itself."""
        found = self._normals.shares
        if min(min(shares) for shares in found) < _LEAST_SHARE:
            raise ArithmeticError(f"a rate of {float(self.rate):g} is out of reach of these cells")
        above, below = (np.array([float(share) for share in shares]) for shares in found)
        return above, below

    @cached_property
    def _shifts(self) -> list[tuple[Rounded, Rounded]]:
        """jμ and jμ/2."""
        return [(rounded(self.mu * j), rounded(self.mu * Fraction(j, 2))) for j in range(self.up + 1)]

    def _coordinates(self, losses: Floats) -> Floats:
        """From the nearest of a table on, by Newton's steps that stay between its neighbours."""
        places, table = self._table
        at = np.clip(np.searchsorted(table, losses), 1, places.size - 1)
        low, high = places[at - 1], places[at]
        below, rise = table[at - 1], table[at] - table[at - 1]
        z = low + (high - low) * np.clip((losses - below) / rise, 0.0, 1.0)
        z = np.where(rise > 0, z, high)
        for _ in range(_NEWTON):
            found, slope = self._floats(z)
            if np.all(np.abs(found - losses) <= _CLOSE * (1 + np.abs(losses))):
                break
            z = np.clip(np.where(slope > 0, z - (found - losses) / slope, z), low, high)
        return z

    @cached_property
    def _table(self) -> tuple[Floats, Floats]:
        places = np.linspace(-self._reach, self._reach, _TABLE)
        with np.errstate(all="ignore"):
            return places, np.maximum.accumulate(self._floats(places)[0])

    def _floats(self, z: Floats) -> tuple[Floats, Floats]:
        """The loss at z and its slope, in plain floats."""
        (one, first), (two, second) = self._log_mean(self._weights[0], z), self._log_mean(self._weights[1], -z)
        return one - two, self._mu.value * (first + second)

    def _log_mean(self, weights: Floats, z: Floats) -> Bounds:
        """ln A(z), and the mean number of records."""
        number = np.arange(weights.size)[:, None]
        mu = self._mu.value
        logs = np.log(weights)[:, None] + number * mu * (z - number * mu / 2)
        top = logs.max(axis=0)
        powers = np.exp(logs - top)
        whole = powers.sum(axis=0)
        return top + np.log(whole), (number * powers).sum(axis=0) / whole

    def _gaps(self, losses: Floats, z: Floats) -> Floats:
        """|ln A_a(z) − ln A_b(−z) − x| ≤ |A_a(z)·e^{−x} − A_b(−z)|/min of the two, both times the same e^{−m}."""
        nothing = np.zeros_like(z)
        with np.errstate(all="ignore"):
            top = np.max([self._exponent(j, -z)[0] for j in range(self.down + 1)], axis=0)
            (one, one_off), (two, two_off) = self._sum(0, z, losses, top), self._sum(1, -z, nothing, top)
            off = one_off + two_off
            least = np.minimum(one, two) - off
            return np.where(least > 0, (np.abs(one - two) + off) / least * (1 + 8 * UNIT), np.inf)

    def _exponent(self, number: int, z: Floats) -> Bounds:
        """jμz − j²μ²/2 and its error."""
        shift, middle = self._shifts[number]
        return exponents(z, shift, middle)

    def _sum(self, side: int, z: Floats, less: Floats, top: Floats) -> Bounds:
        """Σ_j share_j·e^{jμz − j²μ²/2 − less − top} and its error. A difference is off by 2⁻⁵³ of itself; of n terms,
        which are not negative, the shares, products and sums are off by (n + 2)·2⁻⁵³ together."""
        weights = self._weights[side]
        found, error = np.zeros_like(z), np.zeros_like(z)
        for j, share in enumerate(weights):
            value, off = self._exponent(j, z)
            first = value - less
            exponent = first - top
            off = off + 1.01 * UNIT * (np.abs(first) + np.abs(exponent))
            part = share * exponentials(np.clip(np.nan_to_num(exponent), -_REACH, _REACH))
            found += part
            error += part * (1.02 * (EXP_ERROR + off)) + _FLAT
            error = np.where((exponent <= _REACH) & (off <= _NEAR), error, np.inf)
        return found, error * (1 + 8 * UNIT) + (weights.size + 5) * UNIT * found

    def _masses(self, z: Floats) -> tuple[Bounds, Bounds]:
        return self._mixed(0, z, 1), self._mixed(1, z, -1)

    def _mixed(self, side: int, z: Floats, sign: int) -> Bounds:
        """Σ_j share_j·N(±jμ, 1): sums of products that are not negative. What is below FLOOR stays there."""
        weights = self._weights[side]
        low, high = np.zeros(z.size + 1), np.zeros(z.size + 1)
        some = np.zeros(z.size + 1, dtype=bool)
        for (shift, _), share in zip(self._shifts, weights, strict=False):
            least, most = normal_masses(z, Rounded(sign * shift.value, shift.error))
            low, high, some = low + share * least, high + share * most, some | (most > 0)
        error = (weights.size + 5) * UNIT
        low, high = low * (1 - error), high * (1 + error)
        return np.where(low < FLOOR, 0.0, low), np.where(some, np.maximum(high, FLOOR), 0.0)


@dataclass(frozen=True, eq=False)
class GroupedNormalCells(CellLaw):
    """``up`` records move z up in P, ``down`` others move it down in Q; turned around if they are more."""

    mu: Real
    rate: Fraction
    up: int
    down: int

    @property
    def effort(self) -> float:  # type: ignore[override]  # a property here
        """A law of each number of records, and Newton's steps."""
        return 1.0 + 0.8 * (self.up + self.down)

    @cached_property
    def _upward(self) -> _Upward:
        return _Upward(self.mu, self.rate, max(self.up, self.down), min(self.up, self.down))

    def cells(self, edges: Floats) -> Cells:
        """Those of the side on which more records are, or mirrored."""
        return self._upward.cells(edges) if self.up >= self.down else mirrored(self._upward.cells(-edges[::-1]))
