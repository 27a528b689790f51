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
  e^{t·offsets}.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, lower_float, precision, upper_float
from tightrope.numerics.grid.cells import UNIT, CellLaw, Floats
from tightrope.numerics.grid.exponentials import EXP_ERROR, exponentials
from tightrope.numerics.grid.fourier import Complexes, from_spectrum, mirrored, spectrum, transform_error
from tightrope.numerics.grid.grid_plan import GridPlan, check_plan
from tightrope.numerics.grid.growths import growths
from tightrope.numerics.grid.lattice_laws import LatticeLaw, Places, greater_law, merged_law, on_points, split_law
from tightrope.numerics.grid.splitting import layers

_TILTED = EXP_ERROR + 8 * UNIT  # of a mass times e^{tx}, with tx exact
_SUMMED = 3 * EXP_ERROR + 2600 * UNIT  # of a term: products, and two exponentials of rounded exponents up to 590
_UNSURE = Ball(0).union(Ball(1)) - Ball(0).union(Ball(1))  # [−1, 1]
_LEAST = 1e-280  # of a law after tilting: beside it, what falls below the normal floats is nothing
_TINY = 1e-300  # more than all of a law that falls below the normal floats
_FAR = 590.0  # exponents beyond this are cut


@dataclass(frozen=True)
class _Side:
    """One of the two laws of every part after tilting: numbers on the circle, ln S, what is outside the window."""

    rounded: list[tuple[Places, Floats]]
    scale: Ball  # Σ k·ln S
    norm: float
    outside_above: Ball
    outside_below: Ball
    offset: Ball
    infinite: Ball
    under_q: Ball
    missing: Ball  # ln of 1 and what exact splits have more, after tilting: Σ k·ln(1 + η)


class GridSum:
    """The product of laws, each with its number of copies, on one plan."""

    def __init__(self, parts: Sequence[tuple[CellLaw, int]], plan: GridPlan) -> None:
        check_plan(plan, len(parts))
        self._plan, self._step = plan, plan.lattices[0].step
        self._copies = [copies for _, copies in parts]
        tilt = float(plan.tilt)
        greater = [greater_law(law, lat) for (law, _), lat in zip(parts, plan.lattices, strict=True)]
        both = zip(parts, plan.lattices, strict=True)
        self._split = [plan.split and not on_points(law, lattice) for (law, _), lattice in both]
        between = sum(copies for copies, split in zip(self._copies, self._split, strict=True) if split)
        self._layers = layers(between, self._step) if between > 1 else None
        lesser = [
            split_law(law, lattice) if split else merged_law(law, lattice, tilt)
            for (law, _), lattice, split in zip(parts, plan.lattices, self._split, strict=True)
        ]
        self.greater, self.lesser = self._side(greater, up=True), self._side(lesser, up=False)
        del greater, lesser
        sums, self._error = self._convolved()
        reach = _FAR / (float(self._step) * max(float(plan.tilt), 1.0))
        numbers = np.arange(min(plan.length, math.floor(reach) + 1))
        falls = exponentials(np.asarray(-float(plan.tilt * self._step) * numbers))
        self._narrow = self._step * plan.length <= 1  # then 1 − e^{−x} is nearly x: a difference of falls would lose it
        factors = np.asarray(-float(self._step) * numbers)
        factors = -growths(factors) if self._narrow else exponentials(factors)
        self._tails = [_tails(one[: numbers.size] * falls, factors) for one in sums]

    def _side(self, laws: list[LatticeLaw], up: bool) -> _Side:
        """Tilted, rounded up or down, with ln S and the bounds of what is outside the window."""
        plan, sign = self._plan, 1 if up else -1
        rounded, norms = [], []
        with precision(100):
            scale = offset = whole = extra = none_p = none_q = missing = Ball(0)
            moments = [Ball(0), Ball(0)]
            lowest = highest = 0
            for law, copies in zip(laws, self._copies, strict=True):
                points = np.asarray(law.places * float(self._step), dtype=np.float64)
                lowest, highest = lowest + copies * int(law.places.min()), highest + copies * int(law.places.max())
                heights = law.masses * exponentials(points * float(plan.tilt))
                total = float(heights.sum()) * (1 + (points.size + 16) * UNIT + _TILTED)
                if not total > _LEAST:
                    raise NotCertified("a grid of losses", "nothing of a law is on it")
                numbers = heights / total * (1 + sign * (_TILTED + 4 * UNIT))
                rounded.append((law.places % plan.length, numbers))
                norms.append(math.sqrt(float((numbers * numbers).sum())) * (1 + points.size * UNIT))
                if law.missing is not None:
                    more = float((law.missing * exponentials(points * float(plan.tilt))).sum())
                    more = more * (1 + (points.size + 20) * UNIT + _TILTED) + _TINY
                    missing += copies * (Ball(more) / Ball(total)).log1p()
                scale += copies * Ball(total).log()
                offset += copies * Ball(law.offset)
                finite = Ball(float(law.masses.sum()) * (1 + sign * (points.size + 8) * UNIT))
                whole += copies * finite.log()
                extra += copies * (Ball(law.infinite) / finite).log1p()
                none_p += copies * (-Ball(law.infinite).min(Ball(1))).log1p()
                none_q += copies * (-Ball(law.under_q).min(Ball(1))).log1p()
                for i, other in enumerate((plan.above, plan.below)):  # 1200u: tilts and exponents up to 600 are rounded
                    turned = exponentials(np.asarray(points * float(other)))
                    bound = float((law.masses * turned).sum()) * (1 + (points.size + 1300) * UNIT + _TILTED)
                    moments[i] += copies * ((Ball(bound) + _TINY) / Ball(total)).log()
            top = ball(self._step) * (plan.start + plan.length)
            bottom = ball(self._step) * plan.start
            outside_above = (moments[0] - ball(plan.above - plan.tilt) * top).exp().min(Ball(1))
            outside_below = (moments[1] + ball(plan.tilt - plan.below) * bottom).exp().min(Ball(1))
            if highest < plan.start + plan.length:
                outside_above = Ball(0)
            if lowest >= plan.start:
                outside_below = Ball(0)
            # Some step above the points: Π(m + infinite)^k − Πm^k if that is certain loss, else P and Q of this event.
            infinite = whole.exp() * extra.expm1() if up else -none_p.expm1()
            under_q = -none_q.expm1()
            under_q = under_q if under_q.is_finite() else Ball(1)  # all of a law is above its points
            return _Side(rounded, scale, max(norms), outside_above, outside_below, offset, infinite, under_q, missing)

    def _convolved(self) -> tuple[tuple[Floats, Floats], float]:
        """The circular convolution of all copies, both laws at once, and the Euclidean norm of its error.

        The greater law's numbers are real parts, the lesser one's imaginary parts. What lies on the point 0, often an
        atom, has a constant spectrum and is left out of both transforms, whose errors are relative.
        """
        n = self._plan.length
        error, copies = transform_error(n), sum(self._copies)
        products: list[Complexes] = []
        constants, lost = [1.0, 1.0], 0.0
        for count in self._copies:
            more, less = self.greater.rounded.pop(0), self.lesser.rounded.pop(0)  # not wanted again, and large
            circle = np.bincount(*more, n) + 1j * np.bincount(*less, n)
            here = complex(circle[0])
            circle[0] = 0
            del more, less
            lost += count * error * _norm(circle)
            if not math.sqrt(n) * lost + 12 * copies * UNIT < 0.01:  # else no power of the spectrum is at most 1.01
                raise NotCertified("a grid of losses", f"{copies} copies are too many for floats")
            both = spectrum(circle)
            turned = mirrored(both)
            powers = [_power((both + turned) / 2 + here.real, count)]  # one after the other: a spectrum is large
            both -= turned
            del turned
            powers.append(_power(both / 2j + here.imag, count))
            del both
            products = powers if not products else [x * y for x, y in zip(products, powers, strict=True)]
            constants = [constants[0] * here.real**count, constants[1] * here.imag**count]
        spread = products[0] - constants[0] + 1j * (products[1] - constants[1])
        del products, powers
        sums = from_spectrum(spread)
        sums[0] += complex(*constants)
        # |spectrum| ≤ 1 and ‖spectrum‖ ≤ √n·norm: a power of k multiplies errors by k and rounds 3k times, and so on.
        norm = math.sqrt(3) * max(self.greater.norm, self.lesser.norm)  # two of the lesser law may share a point
        lost += (12 * copies + 12) * UNIT * norm + error * _norm(spread) / math.sqrt(n)
        order = np.arange(self._plan.start, self._plan.start + n) % n
        return (sums.real[order], sums.imag[order]), 1.02 * lost

    def upper(self, epsilon: float) -> Ball:
        """At least δ(ε), ε ≥ 0."""
        side, tilt = self.greater, ball(self._plan.tilt)
        with precision(100):
            offset = upper_float(side.offset)
            top = ball(self._step) * (self._plan.start + self._plan.length)
            missing = (tilt * (Ball(epsilon) - top)).exp() * side.outside_above
            if Fraction(epsilon) - Fraction(offset) < self._step * self._plan.start:  # sums below the window count, too
                missing += side.outside_below * (tilt * Ball(offset)).exp()
            rest = self._call(0, epsilon, offset).upper() + self._noise(offset) + missing
            value = side.infinite + (side.scale - tilt * Ball(epsilon)).exp() * rest
            return value.upper().min(Ball(1))

    def lower(self, epsilon: float) -> Ball:
        """At most δ(ε), ε ≥ 0."""
        side = self.lesser
        with precision(100):
            offset = lower_float(side.offset)
            wrapped = side.outside_above + side.outside_below  # every factor of R is at most 1
            rest = self._call(1, epsilon, offset).lower() - self._noise(offset) - wrapped
            high = side.infinite - Ball(epsilon).exp() * side.under_q
            value = (side.scale - ball(self._plan.tilt) * Ball(epsilon)).exp() * rest - self._added(epsilon)
            return (high.max(Ball(0)) + value.max(Ball(0))).lower().max(Ball(0))

    def _added(self, epsilon: float) -> Ball:
        """At least what splitting adds to δ: ``splitting.py``; or each step adds at most tanh(h/4), and only if the sum
        of all is within h of ε, and each is moved by at most h.

        The other laws have their losses on points, up to the offsets; of a loss at the last point, a share below
        1 − e^{−offset} is certain loss there. Rounding moves a sum by at most its offsets, too.
        """
        between = sum(copies for copies, split in zip(self._copies, self._split, strict=True) if split)
        if not between:
            return Ball(0)
        h, copies = self._step, sum(self._copies)
        moved = Fraction(upper_float(self.greater.offset)) + Fraction(upper_float(-self.lesser.offset)) + 2 * h
        added = between * (ball(h) / 4).tanh() * self._near(epsilon, moved + between * h, exact=False)
        if self._layers is not None:
            parts = zip(self._layers.heights, self._layers.reaches, strict=True)
            near = [height * self._near(epsilon, reach + moved, exact=True) for height, reach in parts]
            added = added.upper().min((sum(near, self._layers.rest)).upper())
        return added * (copies * ball(h) + ball(moved)).exp()

    def _near(self, epsilon: float, reach: Fraction, exact: bool) -> Ball:
        """At least the greater law's chance to be within ``reach`` of ε; ``exact``: or that of exact splits."""
        side, h, tilt = self.greater, self._step, ball(self._plan.tilt)
        tilted, _, sizes, _ = self._tails[0]
        first = max(math.floor((Fraction(epsilon) - reach) / h) - self._plan.start, 0)
        end = math.ceil((Fraction(epsilon) + reach) / h) + 1 - self._plan.start
        last = min(end, tilted.size - 1)
        if last <= first:
            return Ball(1)
        size = Ball(float(sizes[first])) * Ball(_SUMMED + 2 * self._plan.length * UNIT)
        most = Ball(float(tilted[first])) - Ball(float(tilted[last])) + 2 * size
        x = ball(h * (self._plan.start + first)) * tilt  # every factor in the window is at most e^−x
        noise = Ball(self._error) * Ball(last - first + 1).sqrt() * (-x).exp()
        lowest = ball(h * self._plan.start) * tilt
        # Sums outside the window: those below are above ε − reach; all from ``last`` on are at most 1 after tilting.
        highest = (tilt * ball(reach - Fraction(epsilon))).exp()
        above = (-tilt * ball(h * (self._plan.start + last))).exp()
        outside = (side.outside_below * highest if first == 0 else Ball(0)) + (above if last < end else Ball(0))
        if exact:
            outside += side.missing.expm1() * highest
        return side.scale.exp() * ((-lowest).exp() * most + noise + outside)

    def _call(self, which: int, epsilon: float, offset: float) -> Ball:
        """Σ R·e^{−t(x−ε)}(1 − e^{ε−x−offset})₊ for the numbers R that were found: two sums from the end."""
        plan, x = self._plan, ball(Fraction(epsilon) - self._step * self._plan.start)
        first = math.floor((Fraction(epsilon) - Fraction(offset)) / self._step) + 1 - plan.start
        tilted, both, sizes, others = self._tails[which]
        value = error = Ball(0)
        if first < tilted.size:
            first = max(first, 0)
            # With d = 1 − e^{−(x − start)} the factor is (1 − less) + less·d, else it is 1 − less·e^{−(x − start)}.
            own, less = (-(x - Ball(offset)).expm1() if self._narrow else Ball(1)), (x - Ball(offset)).exp()
            value = own * Ball(float(tilted[first])) + less * Ball(float(both[first])) * (1 if self._narrow else -1)
            size = abs(own) * Ball(float(sizes[first])) + less * Ball(float(others[first]))
            error = size * Ball(_SUMMED + 2 * plan.length * UNIT)
        if tilted.size < plan.length:  # the sums that were cut add up to at most 1 before they are turned back
            error += (-ball(plan.tilt * self._step) * tilted.size).exp()
        return (ball(plan.tilt) * x).exp() * (value + error * _UNSURE)

    def _noise(self, offset: float) -> Ball:
        """The part of the convolution's error: its norm times that of g(d) = e^{−td}(1 − e^{−d}) over the points.

        ∫g² = 1/(2t(2t+1)(t+1)); g rises and falls once, so a sum is at most the integral over the step and one more g².
        """
        t, h = ball(self._plan.tilt), ball(self._step)
        squares = 1 / (2 * t * (2 * t + 1) * (t + 1) * h) + 1 / (1 + t) ** 2
        return Ball(self._error) * squares.sqrt() * (t * abs(offset)).exp()


def _tails(terms: Floats, factors: Floats) -> list[Floats]:
    """From every place to the end: the sums of the terms, of the terms times ``factors``, and of the sizes of both."""
    turned = terms * factors
    return [np.cumsum(one[::-1])[::-1] for one in (terms, turned, np.abs(terms), np.abs(turned))]


def _norm(numbers: Complexes) -> float:
    """The Euclidean norm, a term at a time: a library's product of vectors would start threads for it."""
    return math.sqrt(float(np.square(numbers.real).sum()) + float(np.square(numbers.imag).sum()))


def _power(base: Complexes, copies: int) -> Complexes:
    """base^copies by squaring; |base| ≤ 1, so k factors are off by at most 3ku."""
    result: Complexes | None = None
    while copies:
        if copies & 1:
            result = base if result is None else result * base
        copies >>= 1
        if copies:
            base = base * base
    assert result is not None
    return result
