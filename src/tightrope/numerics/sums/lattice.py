"""Long sums on a lattice: the inversion integral by the trapezoidal rule, whose only error there is aliasing.

S = base + unit·J, J the sum of independent whole numbers. Tilt the law by e^{tJ} (its characteristic function
is ψ) and take N nodes θ = 2πn/N. The rule returns the tilted mean of the integrand summed over all shifts by
multiples of N; every shifted term has one sign and a bound (``_aliases``), so the error is proved and not
estimated. With z = J − y, y the position of x, one kernel serves three integrands, by where the tilt lies:

    t > 0          (1 − e^{−uz})₊ above x                                  = call
    −u < t < 0     −min(1, e^{−uz})                                        = call − mass
    t < −u         (e^{−uz} − 1)₊ below x                                  = call − mass + ∫ e^{x−s}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul

from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ComplexBall, between, precision
from tightrope.numerics.sums.saddles import LatticeShape, Saddle, Side, saddle

__all__ = ["LatticeGroup", "LatticeSum"]

_MOST_WORK = 150_000  # elementary functions; beyond, the rest is bounded, not added: wider, but never long
_PLANNED, _UNIT = 5000, 6.0  # elementary functions that a plan has counted, and units of work of each of the others
_LEAF = 24
_MOST_UNDECIDED = 8


@dataclass(frozen=True)
class LatticeGroup:
    """``copies`` independent copies of a variable with these steps (whole numbers from 0) and masses."""

    steps: tuple[int, ...]
    masses: tuple[Ball, ...]
    copies: int


class LatticeSum:
    """The measure of base + unit·J, unit > 0, for answers of ``bits`` bits."""

    def __init__(self, base: Ball, unit: Ball, groups: Sequence[LatticeGroup], bits: int) -> None:
        self.base, self.unit, self.groups, self.bits = base, unit, groups, bits
        self.top = sum(g.copies * max(g.steps) for g in groups)
        self._shape = LatticeShape(float(unit.mid()), [_floats(g) for g in groups])
        self._centre = sum((g.copies * Ball(_centre(g)) for g in groups), Ball(0))
        self.log_mass = self.log_moment(Ball(0))
        self.log_weighted = self.log_moment(-unit) - base  # ln ∫ e^{−s}

    def log_moment(self, t: Ball) -> Ball:
        """ln ∫ e^{tJ}."""
        total = Ball(0)
        for g in self.groups:
            terms = (m * (t * s).exp() for m, s in zip(g.masses, g.steps, strict=True))
            total += g.copies * sum(terms, Ball(0)).log()
        return total

    def call(self, x: Ball) -> Ball:
        """∫ (1 − e^{x−s})₊ over the finite part."""
        y, mass = (x - self.base) / self.unit, self.log_mass.exp()
        if y <= 0:
            return mass - (x + self.log_weighted).exp()
        if y >= self.top:
            return Ball(0)
        if not y > 0 and y < 0.5:  # the first step cannot be told from x: hardly anything is below x
            below = self.log_mass.exp() * (x - self.base).expm1().nonnegative_part()
            return mass - (x + self.log_weighted).exp() + between(Ball(0), below)
        if not y < self.top:  # the last step cannot be told from x: its stick is tiny
            last = self.base + self.unit * self.top
            return between(Ball(0), mass * (1 - (x - last).exp()).nonnegative_part())
        value = self._integral(x, y, True)
        return between(Ball(0), mass) if value is None else value

    def tail(self, x: Ball) -> Ball:
        """The mass above x."""
        y, mass = (x - self.base) / self.unit, self.log_mass.exp()
        if y < 0:
            return mass
        if y >= self.top:
            return Ball(0)
        if not y < self.top:  # the last step cannot be told from x: at most its mass is above
            tops = (g.masses[g.steps.index(max(g.steps))] ** g.copies for g in self.groups)
            return between(Ball(0), reduce(mul, tops, Ball(1)))
        value = self._integral(x, y, False)
        return between(Ball(0), mass) if value is None else value

    def _integral(self, x: Ball, y: Ball, call: bool) -> Ball | None:
        """The call or the tail at x, or None if no saddle was found or x is not known to a few steps."""
        if not y.is_finite():
            return None
        low, high = y.lower().floor().unique_fmpz(), y.upper().floor().unique_fmpz()
        room = float(y.mid()), float((self.top - y).mid())
        found = saddle(self._shape, float((y - self._centre).mid()), self.bits, room, call)
        if found is None or low is None or high is None or high - low > _MOST_UNDECIDED:
            return None
        first, last = int(low) + 1, int(high) + 1  # the first step above x is one of these and those between
        rule = _Rule(self, found)
        if not rule.sound(call):
            return None
        rest = Ball(0)
        if found.side is not Side.ABOVE:
            rest = self.log_mass.exp()
            if call and found.side is Side.BELOW:
                rest -= (x + self.log_weighted).exp()
            cap = rule.scale(x)  # the integrand is at most 1 in the tilted scale
            if cap < rest * Ball(2) ** (-self.bits - 8):
                gap = between(Ball(0), cap.upper())
                return rest + gap if call and found.side is Side.BELOW else rest - gap
        value = rule.value(x, first, call)
        if first == last:
            return rest + value
        if not call:
            return rest + between(value, rule.value(x, last, call))
        for j in range(first, last):
            # Its tilted mass, all shifts together, is at most 1, and its two possible kernels differ by this.
            off = (x - self.base - self.unit * j).expm1().abs_upper()
            value += rule.scale(x) * (rule.tilt * (y - j)).exp() * between(-off, off)
        return rest + value


class _Rule:
    """The trapezoidal rule at one saddle."""

    def __init__(self, law: LatticeSum, found: Saddle) -> None:
        self._law, self._found = law, found
        self.tilt = Ball(found.tilt)  # exact: a float, in units of the lattice
        self._log_total = law.log_moment(self.tilt)
        self._weights: list[list[Ball]] = []
        self._centres: list[Ball] = []
        self._pairs: list[dict[int, Ball]] = []
        for g in law.groups:
            raw = [m * (self.tilt * s).exp() for m, s in zip(g.masses, g.steps, strict=True)]
            total = sum(raw, Ball(0))
            weights = [w / total for w in raw]
            mean = sum((w * s for w, s in zip(weights, g.steps, strict=True)), Ball(0))
            self._weights.append(weights)
            self._centres.append(Ball(float(mean.mid())))
            self._pairs.append(_differences(g.steps, weights))

    def sound(self, call: bool) -> bool:
        """Whether the tilt certainly lies where its side needs it."""
        side, past = self._found.side, self.tilt + self._law.unit
        if side is Side.ABOVE:
            return bool(self.tilt > 0)
        if side is Side.BETWEEN:
            return bool(self.tilt < 0 and past > 0)
        return bool(past < 0 if call else self.tilt < 0)

    def scale(self, x: Ball) -> Ball:
        """e^{K(t) − t·y}: everything tilted is measured in it."""
        return (self._log_total - self.tilt * (x - self._law.base) / self._law.unit).exp()

    def value(self, x: Ball, first: int, call: bool) -> Ball:
        """The kernel's integral when ``first`` is the first step above x."""
        law, n = self._law, self._found.nodes
        gap = law.base + law.unit * first - x
        outer = (-self.tilt * gap / law.unit).exp()
        near, far = (-self.tilt).exp(), (-self.tilt - law.unit).exp()
        # The call's kernel is outer/(1 − near·w) − outer·e^{−gap}/(1 − far·w): on one denominator.
        constant = -(-gap).expm1()
        linear = near * ((-law.unit).expm1() + constant)
        centres = (g.copies * c for g, c in zip(law.groups, self._centres, strict=True))
        shift = Ball(first) - sum(centres, Ball(0))
        angle = 2 * Ball.pi() / n

        def at(node: int) -> Ball:
            theta = angle * node
            turn = ComplexBall(0, -theta).exp()
            term = outer / (1 - near * turn)
            if call:
                term *= (constant - linear * turn) / (1 - far * turn)
            for g, weights, centre in zip(law.groups, self._weights, self._centres, strict=True):
                psi = ComplexBall(0)
                for w, s in zip(weights, g.steps, strict=True):
                    psi += w * ComplexBall(0, theta * (s - centre)).exp()
                term *= psi**g.copies
            return (term * ComplexBall(0, -theta * shift).exp()).real

        def limit(a: int, b: int) -> Ball:
            """A bound of the sum of |values| at nodes a … b; |1 − re^{iθ}| rises on [0, π]."""
            theta = between(angle * a, angle * b) / 2
            chord = 4 * (angle * a / 2).sin() ** 2
            size = outer / ((1 - near) ** 2 + near * chord).sqrt()
            if call:
                size *= (abs(constant) + abs(linear)) / ((1 - far) ** 2 + far * chord).sqrt()
            for g, pairs in zip(law.groups, self._pairs, strict=True):
                fall = sum((w * (theta * d).sin().abs_lower() ** 2 for d, w in pairs.items()), Ball(0))
                size *= (1 - 4 * fall).nonnegative_part().sqrt().upper() ** g.copies
            return size * (b - a + 1)

        total, omitted, spent = at(0), Ball(0), 0
        look = 3 + sum(map(len, self._pairs))
        add = 4 + sum(2 * len(g.steps) + g.copies.bit_length() // 4 for g in law.groups)
        allowed = abs(total).upper() * Ball(2) ** (-law.bits - 8 - self._found.lost)
        ranges = [(2**i, min(2 ** (i + 1) - 1, n // 2)) for i in reversed(range((n // 2).bit_length()))]
        while ranges:
            a, b = ranges.pop()
            with precision(64):
                bound = limit(a, b)
            spent += look
            if bound < allowed or spent > _MOST_WORK:
                omitted += 2 * bound
            elif b - a < _LEAF:
                spent += (b - a + 1) * add
                if spent > _PLANNED:
                    effort.spend(_UNIT * (b - a + 1) * add, "a sum over one period")
                total += 2 * sum((at(node) for node in range(a, b + 1)), Ball(0))
            else:
                middle = (a + b) // 2
                ranges += [(middle + 1, b), (a, middle)]
        total += between(-omitted, omitted)
        return self.scale(x) * total / n - self._aliases(x, first, call)

    def _aliases(self, x: Ball, first: int, call: bool) -> Ball:
        """What the shifted terms add, as a ball from 0 to a bound (negative where the kernel is).

        Shifts away from x are damped by a power of e^{−N} against the law untilted, or weighted by e^{−s};
        shifts towards x need J to be N beyond x, which a second tilt bounds (never, past the lattice's end).
        There the integrand is at most 1 in the tilted scale, or what it is at a first step that is undecided.
        """
        law, n, side = self._law, self._found.nodes, self._found.side
        plain = law.log_mass.exp() / (abs(self.tilt) * n).expm1()
        weighted = (x + law.log_weighted).exp() / (abs(self.tilt + law.unit) * n).expm1() if call else plain
        if side is Side.BETWEEN:
            return -between(Ball(0), (plain + weighted).upper())
        above = side is Side.ABOVE
        bound = plain if above else weighted
        start = first if above else first - 1
        if start + n <= law.top if above else start - n >= 0:
            extra = Ball(self._found.extra)
            extra_tilt = extra if above else -extra
            log = law.log_moment(self.tilt + extra_tilt) - self._log_total - extra_tilt * start
            largest = (self.tilt * ((x - law.base) / law.unit - start)).exp().max(Ball(1))
            bound += self.scale(x) * largest * log.exp() / (extra * n).expm1()
        ball = between(Ball(0), bound.upper())
        return ball if above or call else -ball


def _differences(steps: Sequence[int], weights: Sequence[Ball]) -> dict[int, Ball]:
    """Products of weights by the difference of their steps: |ψ(θ)|² = 1 − 4 Σ_d W_d sin²(dθ/2).

    Of many steps only pairs with a heavy one are kept: leaving pairs out can only raise the bound.
    """
    order = sorted(range(len(steps)), key=lambda i: -float(weights[i].mid()))
    pairs: dict[int, Ball] = {}
    for rank, i in enumerate(order[:8]):
        for j in order[rank + 1 :]:
            d = abs(steps[i] - steps[j])
            pairs[d] = pairs.get(d, Ball(0)) + weights[i] * weights[j]
    return pairs


def _centre(g: LatticeGroup) -> float:
    """About the mean step of one copy."""
    total = sum(g.masses, Ball(0))
    return float((sum((m * s for m, s in zip(g.masses, g.steps, strict=True)), Ball(0)) / total).mid())


def _floats(g: LatticeGroup) -> tuple[list[float], list[float], int, float]:
    """The group as the search for a saddle wants it."""
    centre = _centre(g)
    logs = [float(m.log().mid()) for m in g.masses]
    return logs, [s - centre for s in g.steps], g.copies, float((1 - sum(g.masses, Ball(0))).mid())
