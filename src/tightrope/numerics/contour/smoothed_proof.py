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
at most e^{−nats}·y/y₀ (``low_stretches``), and beyond it at most 1, times e^{−λ²y²/2}.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.contour.aliases import Aliases
from tightrope.numerics.contour.floats import Saddles
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.closed import NormalTransform
from tightrope.numerics.transforms.low_stretches import low_parts, low_up_to
from tightrope.numerics.transforms.transform import Transform, whole_power
from tightrope.numerics.transforms.turned_sum import TurnedSum

__all__ = ["NotLow", "SmoothPlan", "SmoothedProof"]

_GUARD = 40
_ALIAS_BITS = 40
_MOST_NODES, _MOST_BITS = 20_000, 10_000  # a plan may come from outside


@dataclass(frozen=True)
class SmoothPlan:
    """Tilt t, step η, nodes 0 … count, bits, λ, the number of the node at Y, and the nats by which those between are
    low."""

    t: Fraction
    eta: Fraction
    count: int
    bits: int
    width: Fraction
    last: int
    nats: int


class NotLow(NotCertified):
    """Nodes are low by so many nats up to some y only."""

    def __init__(self, reached: float, nats: int) -> None:
        super().__init__("a smoothed contour", f"its nodes are not low at {reached:.6g}")
        self.reached, self.nats = reached, nats


class SmoothedProof:
    """Everything about one plan that does not depend on x."""

    def __init__(self, parts: Sequence[tuple[Transform, int]], saddles: Saddles, plan: SmoothPlan) -> None:
        sizes = 1 <= plan.count <= _MOST_NODES and plan.count <= plan.last and 2 <= plan.bits <= _MOST_BITS
        if not (sizes and plan.t > 0 and plan.eta > 0 and plan.width > 0 and plan.nats > 0):
            raise NotCertified("a smoothed contour", "its plan is void or out of reach")
        self.bits = plan.bits + _GUARD
        self._plan, self._parts = plan, parts
        self._smooth = NormalTransform(Real(plan.width**2))
        first, end = plan.eta * plan.count, plan.eta * plan.last
        reached = low_up_to(low_parts(parts, plan.t), first, end, plan.nats) if first < end else end
        if reached < end:
            raise NotLow(float(reached), plan.nats)
        with precision(self.bits):
            self._log_scale, products = self._line()
            t, eta = ball(plan.t), ball(plan.eta)
            nodes = [ComplexBall(t, eta * k) for k in range(plan.count + 1)]
            products[0] /= 2
            squares = [((s + Ball(0.5)) * ball(plan.width)) ** 2 for s in nodes]  # a²
            pairs = list(zip(products, squares, strict=True))
            self._upper = TurnedSum([value / (s * (s + 1)) for value, s in zip(products, nodes, strict=True)])
            self._most = TurnedSum([value * (9 + square * square) / 12 for value, square in pairs])
            self._least = TurnedSum([value * (8 - 4 * square) / 25 for value, square in pairs])
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
            upper = 2 * self._upper.at(angle).real + between(-self._upper_tail, self._upper_tail)
            upper = scale * upper - known
            size = scale * ball(plan.width) ** 2  # e^{λ²/8} of a²/2 is not in the products
            more = (ball(plan.width**2) / 8).exp() * size * (2 * self._most.at(angle).real + self._kernel_tail)
            less = size * (2 * self._least.at(angle).real - self._kernel_tail) - 2 * Ball(known.rad())
            low = (upper - more.upper().max(Ball(0))).lower()
            high = upper - less.lower().max(Ball(0)) if plan.width <= 1 else upper
            least, most = (mass - reverse * x.exp()).lower().max(Ball(0)), mass.upper()
            return between(low.max(least).min(most), high.upper().min(most).max(least))
