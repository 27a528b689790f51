"""Sums of few steps on a fine lattice, brought to coarser ones as they grow: few sums are split coarsely, not k steps.

A rung takes the r-fold sum of what is below it, on the lattice it has there, and splits it onto the points of a lattice
that is 2^g times as coarse: as in ``lattice_laws.py`` what lies between two points is split so that both its masses
stay, which never lowers a hockey-stick, nor that of a product. What splitting adds to a loss, X, has a range of length
ρ and E[e^{−X}] = 1, so that 0 ≤ E[X] ≤ ρ²/8, and E[e^{aX}] ≤ e^{(a² + a₊)ρ²/8} by Hoeffding's lemma: that is what
splitting does to moments. The numbers of a rung are divided by this at the tilt, and so add up to at most 1 again.

*Rounding*: in the Euclidean norm splitting multiplies errors by at most √(2^g), since the shares of a number add up to
at most 1, and those that come to a point to at most 2^g. *Period*: the paths with a sum outside the window of a rung
have strayed; they may be anywhere in the end, and what they count is at most e^{−tε} of their share after tilting.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision, upper_float
from tightrope.numerics.grid.cells import UNIT, Floats
from tightrope.numerics.grid.convolution import Circle, convolved, norm
from tightrope.numerics.grid.exponentials import exponentials
from tightrope.numerics.grid.fourier import Complexes
from tightrope.numerics.grid.grid_plan import Rung, Stream
from tightrope.numerics.grid.growths import growths as expm1s

__all__ = ["Climb", "growth", "growths", "squares", "strayed"]

_FEW = 64  # points of a cell whose shares are balls
_STEEPEST = 500.0


def growth(tilt: Fraction, reach: Fraction) -> Ball:
    """At least ln E[e^{aX}] for a split loss of this range."""
    return _grown(tilt, reach * reach)


def _grown(tilt: Fraction, squared: Fraction) -> Ball:
    """The same for several, with this sum of the squares of their ranges."""
    return ball(tilt) * (ball(tilt) + (1 if tilt > 0 else 0)) * ball(squared / 8) if squared else Ball(0)


def _reaches(stream: Stream, step: Fraction) -> list[tuple[Rung, Fraction, int]]:
    """The rungs, the range of the losses that each splits, and how many there are; ``step`` is that of the bottom."""
    found, left = [], math.prod(rung.power for rung in stream.rungs) * stream.copies
    for rung in stream.rungs:
        step, left = step * 2**rung.doublings, left // rung.power
        found.append((rung, step, left))
    return found


def squares(stream: Stream, step: Fraction) -> Fraction:
    """The sum of the squares of the ranges of all losses that are split on the way up."""
    found, wide, left = 0, 1, stream.steps
    for rung in stream.rungs:
        wide, left = wide << 2 * rung.doublings, left // rung.power
        found += left * wide
    return step * step * found


def growths(stream: Stream, step: Fraction, tilt: Fraction) -> Ball:
    """At least what splitting on the way up adds to ln E[e^{aL}] of all steps."""
    return _grown(tilt, squares(stream, step))


def strayed(stream: Stream, step: Fraction, tilt: Fraction, length: int, moment: Callable[[Fraction], Ball]) -> Ball:
    """At least how much of the tilted measure has a sum outside the window of a rung; ``moment``: at least ln E[e^{aL}]
    of one step, relative to that at the tilt."""
    found, steps, below = Ball(0), 1, Fraction(0)  # below: squares of the ranges that one sum has split so far
    for rung, reach, left in _reaches(stream, step):
        steps, below = steps * rung.power, below * rung.power
        finer = reach / 2**rung.doublings
        up, down = (steps * moment(a) + _grown(a, below) for a in (rung.above, rung.below))
        below += reach * reach
        up -= ball((rung.above - tilt) * finer * (rung.start + length))
        down += ball((tilt - rung.below) * finer * rung.start)
        found += left * (up.exp().min(Ball(1)) + down.exp().min(Ball(1)))
    return found


@dataclass
class Climb:
    """The sums of one law; rungs that streams share are climbed once."""

    bottom: Circle
    step: Fraction
    tilt: Fraction
    _known: dict[tuple[Rung, ...], Circle] = field(default_factory=dict)

    def top(self, rungs: tuple[Rung, ...]) -> Circle:
        """What has climbed these rungs."""
        if not rungs:
            return self.bottom
        if rungs not in self._known:
            before, rung = rungs[:-1], rungs[-1]
            summed = convolved([(self.top(before), rung.power)])
            step = self.step * 2 ** sum(one.doublings for one in before)
            self._known[rungs] = self._split(summed, rung, step)
        return self._known[rungs]

    def _split(self, summed: Circle, rung: Rung, step: Fraction) -> Circle:
        """Onto every 2^g-th point. A number i points above the last of those has the share (1 − e^{−ih})/(1 − e^{−ρ})
        above it; tilting multiplies the shares by e^{t(ρ − ih)} and e^{−tih}."""
        n, wide = summed.numbers.size, 2**rung.doublings
        ups, downs, off = self._shares(step, wide)
        rows = np.roll(summed.numbers, -(rung.start % n)).reshape(-1, wide)
        found: Complexes = np.zeros(n, np.complex128)
        first = rung.start // wide
        places = np.arange(first, first + len(rows))
        found[places % n] = (rows * downs).sum(axis=1)
        found[(places + 1) % n] += (rows * ups).sum(axis=1)
        error = math.sqrt(wide) * (summed.error + (2 * wide + 8 + off) * UNIT * norm(summed.numbers))
        return Circle(found, 1.001 * error)

    def _shares(self, step: Fraction, wide: int) -> tuple[Floats, Floats, float]:
        """Of each number, on the point above it and on the one below, after tilting; and by how many more than two
        roundings they are off. With D = 1 − e^{−ρ} they are (1 − e^{−ih})e^{t(ρ−ih)}/D and
        (1 − e^{−(ρ−ih)})e^{−(1+t)ih}/D, both over a bound of their size."""
        with precision(80):
            h, t, reach = ball(step), ball(self.tilt), ball(step * wide)
            whole = -(-reach).expm1() * upper_float(growth(self.tilt, step * wide).exp())
            if wide <= _FEW:
                falls = [(-(1 + t) * h * i).exp() / whole for i in range(wide)]
                more = [float((fall * (h * i).expm1() * (t * reach).exp()).mid()) for i, fall in enumerate(falls)]
                less = [float((-fall * (h * i - reach).expm1()).mid()) for i, fall in enumerate(falls)]
                return np.array(more), np.array(less), 0.0
            over = 1 / float(whole.mid())
        tilt, exponents = float(self.tilt), (1 + abs(float(self.tilt))) * float(step * wide)
        if not exponents < _STEEPEST:
            raise NotCertified("a grid of losses", "a rung of its plan is too long for its tilt")
        below, left = (np.asarray(x * float(step)) for x in (np.arange(wide), wide - np.arange(wide)))
        # No exponent is larger, each is rounded thrice at most.
        ups = -expm1s(-below) * exponentials(tilt * left) * over
        downs = -expm1s(-left) * exponentials(-(1 + tilt) * below) * over
        return ups, downs, 40 + 4 * exponents
