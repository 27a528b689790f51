"""The contour integral of a loss with atoms, proved: a tiny normal loss added to it makes it decay.

With U(u) = Φ(u/λ + λ/2) − e^{−u}Φ(u/λ − λ/2), u = L − x, E[U] is the call at x after a normal loss of variance λ² has
been added. U tends to (1 − e^{−u})₊ as λ → 0, and ∂U/∂λ = φ(u/λ)e^{−u/2−λ²/8}. So ψ = U − (1 − e^{−u})₊ is an integral
of that, and as ∫_0^1 φ(z/ν)dν = φ(z)r(z) with r(z) = 1 − |z|·(1 − Φ(|z|))/φ(z), it lies between e^{−λ²/8}h_r and h_r,

    h_P(u) = λφ(u/λ)e^{−u/2}P(u/λ).     A(z) = 12/25 − 4z²/25 ≤ r(z) ≤ B(z) = 1 − z²/2 + z⁴/12:

with w = z² Birnbaum's bound of Mills' ratio says r ≤ (w + 2 − √(w²+4w))/2, which is at most B if 3w − 2w²/3 + w³/36 is
at most 4 up to w = 12, and its largest value there is 3.79. Sampford's says r ≥ (√(w+8) − z)/(√(w+8) + 3z), which is at
least A if 1352 − 2720w + 1696w² − 128w³ ≥ 0 up to w = 3, and its least value there is 184. Therefore

    E[U] − E[h_B] ≤ call ≤ E[U] − e^{−λ²/8}·E[h_A].

All are contour integrals: with a = λ(s + ½) the transform of U is e^{λ²s(s+1)/2}/(s(s+1)), and those of h_B and h_A are
λ²e^{a²/2}·(3/4 + a⁴/12) and λ²e^{a²/2}·(8 − 4a²)/25. U has the ``aliases`` of the longer sum of losses. Those of h_B
are positive and stay in its bound. Those of h_A are at most e^{λ²/8} times those of ψ, for which there are the same
bounds as for U, since ψ ≤ U, ψ is at most what U has above 1 − e^{−u}, and, for λ ≤ 1, at most 1 − U: that is
ψ ≤ e^{−u}/2 for u ≥ 0, where ψ ≤ λφ(u/λ)e^{−u/2} ≤ λφ(0)e^{λ²/8−u}, and U ≤ ½ for u < 0.

What is between the ends is about 0.43λ² times the density of L at x, whatever the tilt is: far from x there is nothing,
unlike in ``blurred_proof``. So a contour may be as flat as one likes, and balls do not mind terms that exceed the call
by many nats.

Nodes beyond the last, at y₀, are bounded in two stretches: up to some Y the product of the transforms is proved to be
at most e^{−nats}·y/y₀ (``low_stretches``), and beyond it at most 1, times e^{−λ²y²/2}. Where the product comes back
before Y, as it does for losses that nearly lie on a lattice, these nodes are summed, too: islands in the first stretch.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.contour.aliases import Aliases
from tightrope.numerics.contour.floats import Saddles
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.closed import NormalTransform
from tightrope.numerics.transforms.low_stretches import low_parts, low_up_to
from tightrope.numerics.transforms.transform import Transform, unit, whole_power
from tightrope.numerics.transforms.turned_sum import TurnedSum

__all__ = ["NotLow", "SmoothPlan", "SmoothedProof", "check_gaps", "price"]

_GUARD = 40
_ALIAS_BITS = 40
_UNITS, _NODE = 1.6, 6.0  # of work for each microsecond of the transforms; and such for their product at a node
_MOST_NODES, _MOST_BITS, _MOST_ISLANDS = 20_000, 4000, 60  # a plan may come from outside


@dataclass(frozen=True)
class SmoothPlan:
    """Tilt t, step η, nodes 0 … count, bits, λ, the number of the node at Y, and the nats by which those between are
    low, but for islands from one node to another."""

    t: Fraction
    eta: Fraction
    count: int
    bits: int
    width: Fraction
    last: int
    nats: int
    islands: tuple[tuple[int, int], ...] = ()

    def gaps(self) -> list[tuple[Fraction, Fraction]]:
        """The stretches that must be low."""
        starts = [self.count, *(end for _, end in self.islands)]
        ends = [*(start for start, _ in self.islands), self.last]
        return [(self.eta * start, self.eta * end) for start, end in zip(starts, ends, strict=True)]

    def check(self) -> None:
        """Whether its numbers are those of a plan, which may come from outside."""
        before, rising = self.count, self.count >= 1
        for start, end in self.islands:  # no node is to be in two of them
            before, rising = end, rising and before < start <= end
        rising = rising and before <= self.last
        nodes = self.count + sum(end - start + 1 for start, end in self.islands)
        sizes = nodes <= _MOST_NODES and 2 <= self.bits <= _MOST_BITS and len(self.islands) <= _MOST_ISLANDS
        if not (rising and sizes and self.t > 0 and self.eta > 0 and self.width > 0 and self.nats > 0):
            raise NotCertified("a smoothed contour", "its plan is void or out of reach")


class NotLow(NotCertified):
    """Nodes are low by so many nats up to some y only."""

    def __init__(self, reached: float, nats: int) -> None:
        super().__init__("a smoothed contour", f"its nodes are not low at {reached:.6g}")
        self.reached, self.nats = reached, nats


def check_gaps(
    parts: Sequence[tuple[Transform, int]], plan: SmoothPlan, known: dict[Hashable, Fraction], number: int | None = None
) -> None:
    """NotLow if one of so many gaps, or of all, is not proved to be low; ``known``: to where others were, or this
    one."""
    tilted, first = low_parts(parts, plan.t), plan.eta * plan.count
    for start, end in plan.gaps()[:number]:
        key = plan.t, plan.nats, first, start, end
        if start < end and key not in known:
            known[key] = low_up_to(tilted, first, end, plan.nats, start)
        reached = known.get(key, end)
        if reached < end:
            raise NotLow(float(reached), plan.nats)


def price(parts: Sequence[tuple[Transform, int]], plan: SmoothPlan) -> float:
    """About how many units of work the nodes are."""
    t, eta = float(plan.t), float(plan.eta)
    work = sum(transform.cost(t, eta, plan.count, plan.bits) for transform, _ in parts)
    for nodes in (range(start, end + 1) for start, end in plan.islands):
        work += sum(one.at_cost(plan.t, plan.eta, nodes) for one, _ in parts) + _NODE * len(nodes)
    return _UNITS * work


class _Piece:
    """Nodes from a first one on: their terms in the sums of U, h_B and h_A."""

    def __init__(self, plan: SmoothPlan, first: int, products: Sequence[ComplexBall]) -> None:
        t, eta = ball(plan.t), ball(plan.eta)
        nodes = [ComplexBall(t, eta * (first + k)) for k in range(len(products))]
        squares = [((s + Ball(0.5)) * ball(plan.width)) ** 2 for s in nodes]  # a²
        pairs = list(zip(products, squares, strict=True))
        self._first = first
        self._sums = [
            TurnedSum([value / (s * (s + 1)) for value, s in zip(products, nodes, strict=True)]),
            TurnedSum([value * (9 + square * square) / 12 for value, square in pairs]),
            TurnedSum([value * (8 - 4 * square) / 25 for value, square in pairs]),
        ]

    def at(self, angle: Ball) -> list[Ball]:
        """The real part of each."""
        turn = unit(angle * self._first)
        return [(turn * one.at(angle)).real for one in self._sums]


class SmoothedProof:
    """Everything about one plan that does not depend on x. ``known``: what other plans of these parts have shown to be
    low, and to where."""

    def __init__(
        self,
        parts: Sequence[tuple[Transform, int]],
        saddles: Saddles,
        plan: SmoothPlan,
        known: dict[Hashable, Fraction] | None = None,
    ) -> None:
        plan.check()
        self.bits = plan.bits + _GUARD
        self._plan, self._parts = plan, parts
        self._smooth = NormalTransform(Real(plan.width**2))
        check_gaps(parts, plan, {} if known is None else known)
        with precision(self.bits):
            self._log_scale, products = self._line()
            products[0] /= 2
            self._pieces = [_Piece(plan, 0, products)]
            self._pieces += [_Piece(plan, start, self._island(start, end)) for start, end in plan.islands]
            self._tails()
            self._aliases = Aliases([*parts, (self._smooth, 1)], saddles, plan.t, plan.eta, _ALIAS_BITS)

    def _line(self) -> tuple[Ball, list[ComplexBall]]:
        """K(t), and the product of all transforms at the nodes, divided by its value at t."""
        plan = self._plan
        scale, products = Ball(0), [ComplexBall(1)] * (plan.count + 1)
        for transform, copies in [*self._parts, (self._smooth, 1)]:
            with precision(plan.bits):
                log, phi = transform.line(plan.t, plan.eta, plan.count)
            scale += log * copies
            products = [a * whole_power(b, copies) for a, b in zip(products, phi, strict=True)]
        return scale, products

    def _island(self, start: int, end: int) -> list[ComplexBall]:
        """The same product at the nodes of an island."""
        plan, indices = self._plan, range(start, end + 1)
        half, across = ball(plan.width**2) / 2, ball(2 * plan.t + 1)
        places = [ball(plan.eta) * k for k in indices]
        products = [ComplexBall(-half * y * y, half * y * across).exp() for y in places]  # of the normal loss
        for transform, copies in self._parts:
            with precision(plan.bits):
                phi = transform.at(plan.t, plan.eta, indices)
            products = [a * whole_power(b, copies) for a, b in zip(products, phi, strict=True)]
        return products

    def _tails(self) -> None:
        """Bounds of what 2Σ_{n>N} adds to the sum of U, and to both others, N = count.

        |s(s+1)| ≥ t² + y² ≥ y². A sum of a falling function is at most its integral: that of 1/y is ln(Y/y₀), that of
        1/(t²+y²) from Y on arctan(t/Y)/t. With c = λ(t + ½) the factors of h_B and h_A are at most 1 + c² + c⁴ + v⁴/6,
        v = λy. A sum of a function that rises and then falls is at most its integral and its largest value: that of
        y·e^{−v²/2} is 1/λ² and at most 1/λ, that of y·v⁴e^{−v²/2} is 8/λ² and at most 5/λ. From Y on, where V = λY,
        the integral of e^{−v²/2} is at most e^{−V²/2}/λV, and that of v⁴e^{−v²/2} at most V⁴/(1 − 4/V²) times as much.
        """
        plan = self._plan
        t, eta, width = ball(plan.t), ball(plan.eta), ball(plan.width)
        start, end = eta * plan.count, eta * plan.last
        low, far = Ball(-plan.nats).exp() / start, (width * end) ** 2
        if not far > 5:
            raise NotCertified("a smoothed contour", "its last node is too near")
        beyond = (-far / 2).exp()
        self._upper_tail = (2 * (low * (end / start).log() + beyond * (t / end).atan() / t) / eta).upper()
        square = (width * (t + Ball(0.5))) ** 2
        factor = 1 + square + square**2
        near = (factor + Ball(8) / 6) / width**2 + eta * (factor + Ball(5) / 6) / width
        past = (factor + far**2 / (6 * (1 - 4 / far))) / (width**2 * end)
        self._kernel_tail = (2 * (low * near + beyond * past) / eta).upper()

    def call(self, x: Ball) -> Ball:
        """The finite part of the call at x."""
        with precision(self.bits):
            mass, reverse, plan = self._aliases.mass, self._aliases.reverse, self._plan
            if not x.is_finite():
                return between(Ball(0), mass)
            angle, scale = -ball(plan.eta) * x, (self._log_scale - ball(plan.t) * x).exp() / self._aliases.period
            known = self._aliases.at(x)
            sums = [piece.at(angle) for piece in self._pieces]
            plain, most, least = (2 * sum(one, Ball(0)) for one in zip(*sums, strict=True))
            upper = scale * (plain + between(-self._upper_tail, self._upper_tail)) - known
            size = scale * ball(plan.width) ** 2  # e^{λ²/8} of a²/2 is not in the products
            more = (ball(plan.width**2) / 8).exp() * size * (most + self._kernel_tail)
            less = size * (least - self._kernel_tail) - 2 * Ball(known.rad())
            low = (upper - more.upper().max(Ball(0))).lower()
            high = upper - less.lower().max(Ball(0)) if plan.width <= 1 else upper
            floor, top = (mass - reverse * x.exp()).lower().max(Ball(0)), mass.upper()
            return between(low.max(floor).min(top), high.upper().min(top).max(floor))
