"""Cells of Gaussian noise on samples when a record is exchanged: Poisson samples, and samples of a fixed size."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.grid.cells import UNIT, Atom, Cells, Floats
from tightrope.numerics.grid.growths import GROWTH_ERROR, growths
from tightrope.numerics.grid.normal_cells import Bounds, NormalMixture, mirrored
from tightrope.numerics.grid.normal_masses import Rounded
from tightrope.numerics.real import ZERO, Real


@dataclass(frozen=True, eq=False)
class ExchangedNormalCells(NormalMixture):
    """P = (1−q)N(0,1) + qN(μ,1), Q = (1−q)N(0,1) + qN(−μ,1): the loss is ln w(z) − ln w(−z), odd in z."""

    mu: Real
    rate: Fraction
    effort = 1.8

    def _loss_at(self, z: Ball) -> Ball:
        return (self._ratio_at(z) / self._ratio_at(-z)).log()

    def _coordinates(self, losses: Floats) -> Floats:
        """μz = x/2 + arsinh((1−q)/q·e^{μ²/2}·sinh(x/2))."""
        a, q = self._shares
        half = np.abs(losses) * 0.5
        log_sinh = np.where(half > 1, half + np.log1p(-np.exp(-2 * half)) - np.log(2), np.log(np.sinh(half)))
        large = np.log(a) - np.log(q) + 2 * self._half.value**2 + log_sinh
        turned = np.where(large > 300, large + np.log(2), np.arcsinh(np.exp(np.minimum(large, 300))))
        signed: Floats = np.copysign((half + turned) / self._mu.value, losses)
        return signed

    def _gaps(self, losses: Floats, z: Floats) -> Floats:
        """|ln w(z) − ln w(−z) − x| ≤ |w(z) − e^x·w(−z)|/min of the two, for x ≥ 0 after a change of both signs.

        The difference is q(e^{y₊} − e^{y₋}) − (e^x − 1)·w(−z); where y₋ is not far below 0, both e^y are taken less 1.
        """
        a, q = self._shares
        sign = np.where(losses < 0, -1.0, 1.0)
        rise = growths(losses * sign)
        (up, up_off), (down, down_off) = self._powers(z * sign), self._powers(-z * sign)
        other = a + q * down
        other_off = q * down_off + 4 * UNIT * other
        change, change_off = up - down, up_off + down_off + UNIT * (up + down)
        at = np.flatnonzero(down > 0.3)
        if at.size:
            (high, high_off), (low, low_off) = self._rises((z * sign)[at]), self._rises((-z * sign)[at])
            change[at] = high - low
            change_off[at] = high_off + low_off + UNIT * (np.abs(high) + np.abs(low))
        moved = rise * other
        gap = np.abs(q * change - moved)
        off = q * change_off + rise * other_off + GROWTH_ERROR * moved + 4 * UNIT * (q * np.abs(change) + moved)
        ours, theirs = (1 + rise) * (other - other_off), a + q * np.maximum(up - up_off, 0.0)
        least = np.minimum(ours, theirs)
        return np.where(least > 0, 1.01 * (gap + off) / least, np.inf)

    def _masses(self, z: Floats) -> tuple[Bounds, Bounds]:
        rest = self._around(z, 0)
        return self._mixed(rest, self._around(z, 1)), self._mixed(rest, self._around(z, -1))


@dataclass(frozen=True, eq=False)
class GluedNormalCells(NormalMixture):
    """A sample of a fixed size: losses above 0 are ln w(z) of z > μ/2, where Q = N(0,1) and P = (1−q)N(0,1) + qN(μ,1);
    losses below 0 are their mirror image, P and Q exchanged; what remains of the mass is an atom at 0."""

    mu: Real
    rate: Fraction

    def atoms(self) -> list[Atom]:
        """(1 − q)(2Φ(μ/2) − 1) at 0."""
        return [Atom(ZERO, Real(None, lambda: ball(1 - self.rate) * (self.mu.ball() / Ball(8).sqrt()).erf()))]

    def cells(self, edges: Floats) -> Cells:
        """Both sides; a cell around 0 has a part on each."""
        up, down = self._side(edges[edges > 0]), mirrored(self._side(-edges[edges < 0][::-1]))
        return joined(down, up, not np.any(edges == 0))

    def _side(self, losses: Floats) -> Cells:
        """The cells above 0."""
        z, slack = self._edges(losses)
        rest, shifted = self._from_middle(z)
        p = self._mixed(rest, shifted)
        return Cells(p[0], p[1], rest[0], rest[1], slack)

    def _from_middle(self, z: Floats) -> tuple[Bounds, Bounds]:
        """N(0, 1) and N(μ, 1) between μ/2, the z, and ∞. The first cell begins at the float next to μ/2 (so do cells
        whose lower edge fell there); between the two no density is above 0.4."""
        off, count = 0.41 * self._half.error, 1 + np.count_nonzero(z <= self._half.value)
        ends = np.concatenate(([self._half.value], z))
        rest, shifted = ((low[1:], high[1:]) for low, high in (self._around(ends, 0), self._around(ends, 1)))
        for low, high in (rest, shifted):
            low[:count] = np.maximum(low[:count] * (1 - 2 * UNIT) - off, 0.0)
            high[:count] = high[:count] * (1 + 2 * UNIT) + off
        return rest, shifted

    @property
    def shift(self) -> Rounded:
        """μ."""
        return self._mu

    @property
    def middle(self) -> Rounded:
        """μ/2."""
        return self._half

    @property
    def weights(self) -> tuple[float, float]:
        """1 − q and q, each off by at most 2⁻⁵³ of itself."""
        return self._shares

    def _lowest(self) -> tuple[float, float, float]:
        return self._half.value, 0.0, 0.0


def joined(down: Cells, up: Cells, meet: bool) -> Cells:
    """The cells of losses below and above 0; ``meet``: there is no edge between them."""
    return Cells(
        _joined(down.p_low, up.p_low, meet, 1 - 2 * UNIT),
        _joined(down.p_high, up.p_high, meet, 1 + 2 * UNIT),
        _joined(down.q_low, up.q_low, meet, 1 - 2 * UNIT),
        _joined(down.q_high, up.q_high, meet, 1 + 2 * UNIT),
        max(up.slack, down.slack),
    )


def _joined(down: Floats, up: Floats, meet: bool, factor: float) -> Floats:
    """The cells of both sides; where they meet without an edge between them, the middle one is a sum."""
    middle = [(down[-1] + up[0]) * factor] if meet else [down[-1], up[0]]
    return np.concatenate((down[:-1], middle, up[1:]))
