"""Nodes of sampled losses between normal laws of unequal variance, on a path on which |w^{iy}| is at most 1.

Let l(x) = γ′ + αu², u = x − v, v the vertex and α > 0. On the path z(x) = x + iη(x), η = θu/(2α(u² + X²)), 0 < θ < π,
Im l = 2αuη = θu²/(u² + X²) lies between 0 and θ, and so does arg w: above the axis on the right of the vertex, below it
on the left, since l rises both ways. On the axis w^{iy} turns y·ln w(x)/2π times up to x, which for heavy tails is far;
on the path it is tiny before it has turned often.

The integral is done by panels with ellipses around them in the plane of x, where z(x) has its poles at u = ±iX. At the
ends the path goes back to the axis. There and on the way |w| ≤ w(x) and |w| ≥ cos(θ/2)·e^{−αη²}·w(x), as
Re l(x + iη) = l(x) − αη².
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball
from tightrope.numerics.ellipses import Integrand, nodes, panels
from tightrope.numerics.transforms.lifted_nodes import Lifted
from tightrope.numerics.transforms.quadratic_loss import QuadraticLoss
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.unequal_powers import UnequalPowers

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["LiftedPowers", "lifted_unequal"]

_WHAT = "a sampled transform of unequal variances"
_MOST_NODES = 4000
_ANGLES, _BENDS = (2.4, 1.5, 0.8, 0.3), (2.0, 0.7, 0.25, 0.08)  # θ; X, of 1/√α


@dataclass(frozen=True)
class LiftedPowers(Integrand):
    """φ(z)√2π·w^{A+iy'}·z′ on the path, for all 0 ≤ y' ≤ y at once."""

    law: QuadraticLoss
    power: Fraction
    y: Fraction
    angle: Fraction
    bend: Fraction

    branches, ball_cost = 6, 150.0

    @cached_property
    def plain(self) -> UnequalPowers:
        """The same on the axis."""
        return UnequalPowers(self.law, self.power, self.y)

    @cached_property
    def _numbers(self) -> dict[int, tuple[Ball, Ball, ComplexBall]]:
        return {}

    def numbers(self) -> tuple[Ball, Ball, ComplexBall]:
        """v, X² and iθ/2α at the present precision."""
        known = self._numbers
        if ctx.prec not in known:
            scale = ComplexBall(0, ball(self.angle / (2 * self.law.bend)))
            known[ctx.prec] = ball(self.law.vertex), ball(self.bend**2), scale
        return known[ctx.prec]

    def place(self, x: ComplexBall) -> tuple[ComplexBall, ComplexBall]:
        """z(x) and z′(x)."""
        vertex, square, scale = self.numbers()
        u = x - vertex
        below = 1 / (u * u + square)
        risen = scale * below
        return x + risen * u, 1 + risen * (square - u * u) * below

    def log_sizes(self, z: Complexes) -> Floats:
        """About ln of the size; of two conjugate places the larger."""
        import numpy as np

        vertex, bend = float(self.law.vertex), float(self.bend)
        scale = float(self.angle / (2 * self.law.bend))
        found = []
        for x in (z, z.conj()):
            u = x - vertex
            below = 1 / (u * u + bend * bend)
            at, slope = x + 1j * scale * u * below, 1 + 1j * scale * (bend * bend - u * u) * below**2
            found.append(self.plain.one_sided(at) + np.log(np.abs(slope)))
        sides = np.sign(z.real - vertex)
        split = (sides.min(axis=-1) != sides.max(axis=-1)) & (np.abs(z.imag).max(axis=-1) >= bend)
        return np.where(split[..., None], math.inf, np.maximum(*found))

    def log_size(self, z: ComplexBall, branch: int) -> Ball | None:
        """Proved, likewise. A closed curve on one side of the vertex, or within X of the axis, has no pole of z(x)
        within."""
        way, side = divmod(branch, 3)
        u, x = z.real - self.numbers()[0], ball(self.bend)
        if not ((side == 0 and u > 0) or (side == 1 and u < 0) or (side == 2 and abs(z.imag) < x)):
            return None
        sizes = []
        for at in (z, z.conjugate()):
            place, slope = self.place(at)
            size = self.plain.one_sided_ball(place, way)
            if size is None:
                return None
            sizes.append(size + slope.abs_upper().log())
        return sizes[0].max(sizes[1])


def lifted_unequal(
    law: QuadraticLoss,
    power: Fraction,
    y: Fraction,
    window: tuple[float, float],
    nats: float,
    log: Ball,
    mirrored: bool,
) -> Lifted:
    """Terms for all y' from 0 to y, over G = e^log; ``window``: where φ·w^A counts."""
    if not law.bend > 0:
        raise NotCertified(_WHAT, "its losses do not rise both ways")
    aim = float(log.mid()) + math.log(2 * math.pi) / 2 - nats
    root = 1 / math.sqrt(float(law.bend))
    tries = [LiftedPowers(law, power, y, short(a), short(b * root)) for a in _ANGLES for b in _BENDS]
    chosen = min(tries, key=lambda one: _number(one, window, aim))
    laid = panels(chosen, window, aim, _MOST_NODES)
    a, scale = ball(power), 1 / (2 * Ball.pi()).sqrt()
    bend, slope, height, q = law.coefficients()
    shares: list[ComplexBall] = []
    losses: list[ComplexBall] = []
    for x, weight in laid.places():
        z, turned = chosen.place(ComplexBall(x))
        losses.append((1 + q * ((bend * z + slope) * z + height).expm1()).log())
        shares.append(scale * weight * turned * (a * losses[-1] - z * z / 2 - log).exp())
    error = scale * laid.error + law.tails(power, *laid.ends)
    error += sum((_way_back(chosen, end) for end in laid.ends), Ball(0))
    return Lifted(shares, losses, (error * (-log).exp()).upper(), mirrored)


def _number(one: LiftedPowers, window: tuple[float, float], aim: float) -> float:
    try:
        return nodes(one, window, aim, _MOST_NODES)
    except NotCertified:
        return math.inf


def _way_back(chosen: LiftedPowers, end: Ball) -> Ball:
    """A bound of the integral straight from an end of the path to the axis."""
    law, a = chosen.law, ball(chosen.power)
    bend, slope, height, q = law.coefficients()
    away = abs(chosen.place(ComplexBall(end))[0].imag).upper()
    log = (q * ((bend * end + slope) * end + height).expm1()).log1p()
    if chosen.power < 0:
        log += (ball(chosen.angle) / 2).cos().log() - bend * away * away
    return away * (a * log + (away * away - end * end) / 2).exp() / (2 * Ball.pi()).sqrt()
