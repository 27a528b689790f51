"""The contour integral of a loss with atoms, proved: a tiny normal loss added to it makes it decay.

With U(u) = Φ(u/λ + λ/2) − e^{−u}Φ(u/λ − λ/2), u = L − x, E[U] is the call at x after a normal loss of variance λ² has
been added. U tends to (1 − e^{−u})₊ as λ → 0, and ∂U/∂λ = φ(u/λ)e^{−u/2−λ²/8}, of which φ(u/λ) rises with λ. So

    0 ≤ U − (1 − e^{−u})₊ ≤ λφ(u/λ)e^{−u/2} =: V(u),     E[U] − E[V] ≤ call ≤ E[U].

Both are contour integrals. With s = t + iy the transform of U is e^{λ²s(s+1)/2}/(s(s+1)), that of V is s(s+1)λ²e^{λ²/8}
times as much. U has the ``aliases`` of the longer sum of losses, those of V are positive and stay in its bound. E[V] is
about λ² times the density of L at x, whatever the tilt is: far from x there is nothing, unlike in ``blurred_proof``. So
a contour may be as flat as one likes, and balls do not mind terms that exceed the call by many nats.

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
            self._upper = TurnedSum([value / (s * (s + 1)) for value, s in zip(products, nodes, strict=True)])
            self._gap = TurnedSum(products)
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
        """Bounds of what 2Σ_{n>N} adds to both sums, N = count.

        |s(s+1)| ≥ t² + y² ≥ y². A sum of a falling function is at most its integral: that of 1/y is ln(Y/y₀), that of
        1/(t²+y²) from Y on arctan(t/Y)/t. y·e^{−λ²y²/2} rises to at most 1/λ and falls, with the integral 1/λ²; that of
        e^{−λ²y²/2} from Y on is at most e^{−λ²Y²/2}/(λ²Y).
        """
        plan = self._plan
        t, eta, width = ball(plan.t), ball(plan.eta), ball(plan.width)
        start, end = eta * plan.count, eta * plan.last
        low, beyond = Ball(-plan.nats).exp() / start, (-((width * end) ** 2) / 2).exp()
        self._upper_tail = (2 * (low * (end / start).log() + beyond * (t / end).atan() / t) / eta).upper()
        self._gap_tail = (2 * (low * (1 / width**2 + eta / width) + beyond / (width**2 * end)) / eta).upper()

    def call(self, x: Ball) -> Ball:
        """The finite part of the call at x."""
        with precision(self.bits):
            mass, reverse, plan = self._aliases.mass, self._aliases.reverse, self._plan
            if not x.is_finite():
                return between(Ball(0), mass)
            angle, scale = -ball(plan.eta) * x, (self._log_scale - ball(plan.t) * x).exp() / self._aliases.period
            upper = 2 * self._upper.at(angle).real + between(-self._upper_tail, self._upper_tail)
            upper = scale * upper - self._aliases.at(x)
            width = ball(plan.width) ** 2
            gap = (scale * width * (width / 8).exp() * (2 * self._gap.at(angle).real + self._gap_tail)).upper()
            least, most = (mass - reverse * x.exp()).lower().max(Ball(0)), mass.upper()
            low = (upper - gap.max(Ball(0))).lower()
            return between(low.max(least).min(most), upper.upper().min(most).max(least))
