"""δ of a product of laws on a lattice, by convolution of tilted masses; everything that floats leave out is added.

Let law j have masses p_i on the points x_i + offset. With tilt t its numbers y_i = p_i·e^{t·x_i}/S add up to at most
1. Their k-fold circular convolution R, of period n, is found by Fourier transforms; then

δ(ε) = (1 − Π(1 − infinite)^k) + S^k·e^{−tε}·Σ_J R_J·e^{−t(x_J−ε)}·(1 − e^{ε−x_J−offsets})₊.

- *Rounding*: |spectrum| ≤ 1, so that powers multiply an error by k; ‖error of R‖ ≤ (ke + 4ku + e)·‖y‖ with e from
  ``fourier.py``, and by Cauchy-Schwarz its part of the sum is at most that times the Euclidean norm of the factors of
  R.
- *Period*: circular sums are too large, never too small. The part of R outside the window is bounded by two more
  moments of the same law, at tilts above and below t. Sums above the window are missing in it: their part of δ is at
  most e^{−t·top} of R's mass there. Sums below it that count, as they are above ε − offsets, have a factor of at most
  e^{t·offsets}. So have those that have strayed on their way from finer lattices (``climb.py``).

Nothing here needs P or Q to have mass 1, but for the event that some step is above its points. Of parts of laws
(``pieces.py``) that event is only counted where all other steps are on points, whose P and Q are known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tightrope.numerics.balls import Ball, ball, lower_float, precision, upper_float
from tightrope.numerics.grid.cells import UNIT, CellLaw, Floats
from tightrope.numerics.grid.climb import Climb, squares
from tightrope.numerics.grid.convolution import Circle, convolved
from tightrope.numerics.grid.exponentials import EXP_ERROR, exponentials
from tightrope.numerics.grid.grid_plan import GridPlan, check_plan
from tightrope.numerics.grid.growths import growths
from tightrope.numerics.grid.lattice_laws import greater_law, merged_law, on_points, split_law
from tightrope.numerics.grid.sides import side
from tightrope.numerics.grid.splitting import Kernel, layers

SUMMED = 3 * EXP_ERROR + 2600 * UNIT  # of a term: products, and two exponentials of rounded exponents up to 590
_UNSURE = Ball(0).union(Ball(1)) - Ball(0).union(Ball(1))  # [−1, 1]
LARGER = 1 + 1e-9  # a kernel in floats
_FAR = 590.0  # exponents beyond this are cut


class _Fixed(NamedTuple):
    """What does not depend on ε: the offsets of both laws, e^{scale}, e^{±lowest}, and what a point's rounding adds."""

    moved: float
    scale: Ball
    rise: Ball
    fall: Ball
    missing: Ball
    misplaced: Ball


class GridSum:
    """The product of laws, each with its number of copies, on one plan."""

    def __init__(self, parts: Sequence[tuple[CellLaw, int]], plan: GridPlan, whole: bool = True) -> None:
        """``whole``: every law has mass 1 under P and Q, else it may be a part of one (``pieces.py``)."""
        copies = [count for _, count in parts]
        check_plan(plan, copies)
        self.plan, self.step = plan, plan.step
        tilt, both = float(plan.tilt), [(law, lat) for (law, _), lat in zip(parts, plan.lattices, strict=True)]
        between = [plan.split and not on_points(law, lattice) for law, lattice in both]
        greater, lesser = [], []
        for (law, lattice), split in zip(both, between, strict=True):
            cells = law.cells(lattice.points())
            greater.append(greater_law(law, lattice, cells))
            lesser.append(split_law(law, lattice, cells) if split else merged_law(law, lattice, tilt, cells))
        self._count_splits(copies, between)
        self.greater = side(greater, copies, plan, up=True, whole=whole)
        self.lesser = side(lesser, copies, plan, up=False, whole=whole)
        del greater, lesser
        sums, self.error = self._convolved(copies)
        reach = _FAR / (float(self.step) * max(float(plan.tilt), 1.0))
        self.size = min(plan.length, math.floor(reach) + 1)
        numbers = np.arange(self.size)
        falls = exponentials(np.asarray(-float(plan.tilt * self.step) * numbers))
        self.narrow = self.step * plan.length <= 1  # then 1 − e^{−x} is nearly x: a difference of falls would lose it
        factors = np.asarray(-float(self.step) * numbers)
        factors = -growths(factors) if self.narrow else exponentials(factors)
        self._turned = sums[0][: self.size] * falls
        self.tails = [_tails(one, factors) for one in (self._turned, sums[1][: self.size] * falls)]

    def _count_splits(self, copies: Sequence[int], between: Sequence[bool]) -> None:
        """How many losses are split where sums are, and what all splitting can add; and how far steps reach."""
        plan, self.splits, ranges, self.reach = self.plan, 0, Fraction(0), Fraction(0)
        for lattice, count, split, climbs in zip(plan.lattices, copies, between, plan.climbs(copies), strict=True):
            self.splits += count if split else 0
            ranges += count * lattice.step**2 if split else 0
            ranges += sum((squares(stream, lattice.step) for stream in climbs), Fraction(0))
            self.reach += count * lattice.step
        self.ranges = ranges
        self.layers = layers(ranges) if ranges and (self.splits > 1 or plan.streams) else None

    def _convolved(self, copies: Sequence[int]) -> tuple[tuple[Floats, Floats], float]:
        """The sums of all steps in their window, both laws at once, and the Euclidean norm of their error."""
        plan, n = self.plan, self.plan.length
        factors = []
        for lattice, climbs in zip(plan.lattices, plan.climbs(copies), strict=True):
            more, less = self.greater.numbers.pop(0), self.lesser.numbers.pop(0)  # not wanted again, and large
            climb = Climb(Circle(more + 1j * less), lattice.step, plan.tilt)
            factors += [(climb.top(stream.rungs), stream.copies) for stream in climbs]
        sums = convolved(factors)
        order = np.arange(plan.start, plan.start + n) % n
        return (sums.numbers.real[order], sums.numbers.imag[order]), sums.error

    def upper(self, epsilon: float) -> Ball:
        """At least δ(ε), ε ≥ 0."""
        side, tilt = self.greater, ball(self.plan.tilt)
        with precision(100):
            offset = upper_float(side.offset)
            top = ball(self.step) * (self.plan.start + self.plan.length)
            missing = (tilt * (Ball(epsilon) - top)).exp() * side.outside_above
            missing += side.strayed * (tilt * Ball(offset)).exp()
            if Fraction(epsilon) - Fraction(offset) < self.step * self.plan.start:  # sums below the window count, too
                missing += side.outside_below * (tilt * Ball(offset)).exp()
            rest = self._call(0, epsilon, offset).upper() + self.noise(offset) + missing
            value = side.infinite + (side.scale - tilt * Ball(epsilon)).exp() * rest
            return value.upper().min(Ball(1))

    def lower(self, epsilon: float) -> Ball:
        """At most δ(ε), ε ≥ 0."""
        side = self.lesser
        with precision(100):
            offset = lower_float(side.offset)
            wrapped = side.outside_above + side.outside_below + side.strayed
            rest = self._call(1, epsilon, offset).lower() - self.noise(offset) - wrapped  # R's factors are at most 1
            high = Ball(0)
            for under_p, under_q in side.above:
                high = high.max(under_p - Ball(epsilon).exp() * under_q)
            if rest <= 0:  # whatever splitting adds
                return high.lower().max(Ball(0))
            value = (side.scale - ball(self.plan.tilt) * Ball(epsilon)).exp() * rest - self._added(epsilon)
            return (high + value.max(Ball(0))).lower().max(Ball(0))

    def _added(self, epsilon: float) -> Ball:
        """At least what splitting adds to δ: ``splitting.py``; or each step adds at most tanh(h/4), and only if the sum
        of all is within h of ε, and each is moved by at most h.

        The other laws have their losses on points, up to the offsets; of a loss at the last point, a share below
        1 − e^{−offset} is certain loss there. Rounding moves a sum by at most its offsets, too.
        """
        h, splits, streams = self.step, self.splits, self.plan.streams
        if not self.ranges:
            return Ball(0)
        moved, added = self._moved, Ball(1)
        if not streams:
            added = splits * (ball(h) / 4).tanh() * self._near(epsilon, moved + splits * h, exact=False)
        if self.layers is not None:
            found = self.layers
            parts = zip(found.heights, found.reaches, strict=True)
            near = [height * self._near(epsilon, reach + moved, exact=True) for height, reach in parts]
            if found.kernel is not None:
                near.append(self._near(epsilon, found.kernel.reach + moved, exact=True, kernel=found.kernel))
            added = added.upper().min((sum(near, found.rest)).upper())
        return added * (ball(self.reach) + ball(moved)).exp()

    @cached_property
    def _moved(self) -> Fraction:
        """How far rounding moves a sum, and two steps."""
        return Fraction(upper_float(self.greater.offset)) + Fraction(upper_float(-self.lesser.offset)) + 2 * self.step

    @cached_property
    def _fixed(self) -> _Fixed:
        side = self.greater
        with precision(100):
            lowest = ball(self.step * self.plan.start) * ball(self.plan.tilt)
            moved = upper_float(side.offset) + upper_float(-self.lesser.offset)
            misplaced = 4 * side.misplaced * (2 * side.missing).exp()
            return _Fixed(moved, side.scale.exp(), lowest.exp(), (-lowest).exp(), side.missing.expm1(), misplaced)

    def _near(self, epsilon: float, reach: Fraction, exact: bool, kernel: Kernel | None = None) -> Ball:
        """At least the greater law's chance to be within ``reach`` of ε, or the mean of a kernel there; ``exact``: or
        that of exact splits."""
        side, h, tilt, fixed = self.greater, self.step, ball(self.plan.tilt), self._fixed
        tilted, _, sizes, _ = self.tails[0]
        first = max(math.floor((Fraction(epsilon) - reach) / h) - self.plan.start, 0)
        end = math.ceil((Fraction(epsilon) + reach) / h) + 1 - self.plan.start
        last = min(end, self.size - 1)
        largest = 1.0 if kernel is None else kernel.top * LARGER + 4 * fixed.moved
        if last <= first:
            return Ball(largest)
        size = Ball(float(sizes[first])) * Ball(SUMMED + 2 * self.plan.length * UNIT)
        most = Ball(float(tilted[first])) - Ball(float(tilted[last])) + 2 * size
        if kernel is not None:
            most = self._mean(epsilon, first, last, kernel, fixed.moved)
        x = ball(h * (self.plan.start + first)) * tilt  # every factor in the window is at most e^−x
        noise = Ball(self.error) * Ball(last - first + 1).sqrt() * (-x).exp()
        # Sums outside the window: those below are above ε − reach; all from ``last`` on are at most 1 after tilting.
        highest = (tilt * ball(reach - Fraction(epsilon))).exp()
        above = (-tilt * ball(h * (self.plan.start + last))).exp()
        outside = (side.outside_below * highest if first == 0 else Ball(0)) + (above if last < end else Ball(0))
        outside += side.strayed * highest
        if exact and kernel is None:
            outside += fixed.missing * highest
        elif exact:  # a step that rounding has moved by one point changes the kernel by as much (``splitting.py``)
            most += fixed.misplaced * highest * fixed.rise
        return fixed.scale * (fixed.fall * most + (noise + outside) * Ball(largest))

    def _mean(self, epsilon: float, first: int, last: int, kernel: Kernel, moved: float) -> Ball:
        """At least the sum of the greater law's numbers there, after turning back, times the kernel."""
        places = np.arange(first, last) + self.plan.start
        y = np.asarray(epsilon - places * float(self.step), dtype=np.float64)
        heights = kernel.heights(y, moved + 4 * UNIT * (abs(epsilon) + float(np.max(np.abs(y)))))
        terms = self._turned[first:last]
        exact = Ball(float((terms * heights).sum()))
        return exact + Ball(float((np.abs(terms) * heights).sum())) * Ball(SUMMED + 2 * self.plan.length * UNIT)

    def _call(self, which: int, epsilon: float, offset: float) -> Ball:
        """Σ R·e^{−t(x−ε)}(1 − e^{ε−x−offset})₊ for the numbers R that were found: two sums from the end."""
        plan, x = self.plan, ball(Fraction(epsilon) - self.step * self.plan.start)
        first = math.floor((Fraction(epsilon) - Fraction(offset)) / self.step) + 1 - plan.start
        tilted, both, sizes, others = self.tails[which]
        value = error = Ball(0)
        if first < self.size:
            first = max(first, 0)
            # With d = 1 − e^{−(x − start)} the factor is (1 − less) + less·d, else it is 1 − less·e^{−(x − start)}.
            own, less = (-(x - Ball(offset)).expm1() if self.narrow else Ball(1)), (x - Ball(offset)).exp()
            value = own * Ball(float(tilted[first])) + less * Ball(float(both[first])) * (1 if self.narrow else -1)
            size = abs(own) * Ball(float(sizes[first])) + less * Ball(float(others[first]))
            error = size * Ball(SUMMED + 2 * plan.length * UNIT)
        if self.size < plan.length:  # the sums that were cut add up to at most 1 before they are turned back
            error += (-ball(plan.tilt * self.step) * max(self.size, first)).exp()
        return (ball(plan.tilt) * x).exp() * (value + error * _UNSURE)

    def noise(self, offset: float) -> Ball:
        """The part of the convolution's error: its norm times that of g(d) = e^{−td}(1 − e^{−d}) over the points.

        ∫g² = 1/(2t(2t+1)(t+1)); g rises and falls once, so a sum is at most the integral over the step and one more g².
        """
        t, h = ball(self.plan.tilt), ball(self.step)
        squares = 1 / (2 * t * (2 * t + 1) * (t + 1) * h) + 1 / (1 + t) ** 2
        return Ball(self.error) * squares.sqrt() * (t * abs(offset)).exp()


def _tails(terms: Floats, factors: Floats) -> list[Floats]:
    """From every place to the end: the sums of the terms, of the terms times ``factors``, and of the sizes of both; and
    a 0."""
    turned = terms * factors
    return [np.cumsum(np.append(0.0, one[::-1]))[::-1] for one in (terms, turned, np.abs(terms), np.abs(turned))]
