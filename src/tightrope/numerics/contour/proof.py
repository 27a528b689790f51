"""The contour integral at one tilt, proved: trapezoidal sum, aliases, node tail, rounding.

For t > 0 and s = t + iy the call E[(1 − e^{x−L})₊; L < ∞] is (1/2π)∫ M(s)e^{−sx}/(s(s+1)) dy. The trapezoidal
rule with step η = 2π/B gives the call and its ``aliases``, which are partly known and subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.contour.aliases import Aliases, call_factor, log_moment, product_of_powers
from tightrope.numerics.contour.floats import Saddles
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.transform import Transform, whole_power
from tightrope.numerics.transforms.turned_sum import TurnedSum

__all__ = ["ALIAS_BITS", "Plan", "Proof", "call_factor", "log_moment", "product_of_powers"]

_GUARD = 40
ALIAS_BITS = 12
_SPARE = 6  # bits by which the tail of the nodes may exceed their rounding
_MOST_NODES, _MOST_BITS = 100_000, 10_000  # a plan may come from outside


@dataclass(frozen=True)
class Plan:
    """Tilt t, step η, nodes 0 … count, and the bits to which the transforms are evaluated: short exact numbers."""

    t: Fraction
    eta: Fraction
    count: int
    bits: int


class Proof:
    """Everything about one plan that does not depend on x."""

    def __init__(self, parts: Sequence[tuple[Transform, int]], saddles: Saddles, plan: Plan) -> None:
        if not (plan.t > 0 and plan.eta > 0 and 1 <= plan.count <= _MOST_NODES and 2 <= plan.bits <= _MOST_BITS):
            raise NotCertified("a contour integral", "its plan is void or out of reach")
        self._parts, self._plan = parts, plan
        self.bits = plan.bits + _GUARD
        with precision(self.bits):
            self._log_scale, logs = self._line()
            t, eta = ball(plan.t), ball(plan.eta)  # short numbers: these, and their multiples, are exact
            nodes = [ComplexBall(t, eta * k) for k in range(len(logs))]
            terms = [log / (s * (s + 1)) for log, s in zip(logs, nodes, strict=True)]
            self._sum = TurnedSum([terms[0] / 2, *terms[1:]])
            self._tail = self._node_tail()
            self._aliases = Aliases(parts, saddles, plan.t, plan.eta, ALIAS_BITS)
            self.mass, self.reverse = self._aliases.mass, self._aliases.reverse

    def _line(self) -> tuple[Ball, list[ComplexBall]]:
        """K(t), and Π φ^k at the nodes."""
        plan = self._plan
        scale, products = Ball(0), [ComplexBall(1)] * (plan.count + 1)
        for transform, copies in self._parts:
            with precision(plan.bits):
                log, phi = recall.line(transform, plan.t, plan.eta, plan.count)
            scale += log * copies
            products = [a * whole_power(b, copies) for a, b in zip(products, phi, strict=True)]
        return scale, products

    def _node_tail(self) -> Ball:
        """A bound of 2 Σ_{n>N} |Π φ^k / (s(s+1))|: the decays, and |s(s+1)| ≥ t² + y², summed as an integral."""
        plan = self._plan
        y = plan.eta * plan.count
        t, bits = ball(plan.t), plan.bits - sum(copies for _, copies in self._parts).bit_length()
        factor = 2 * (t / ball(y)).atan() / (t * ball(plan.eta))
        tail = factor * self._log_decay(y, bent=False).exp()
        if tail * t * (t + 1) > Ball(2) ** (_SPARE - bits) and any(transform.bends for transform, _ in self._parts):
            tail = tail.min(factor * self._log_decay(y, bent=True).exp())  # the plan may rest on it
        return tail.upper()

    def _log_decay(self, y: Fraction, bent: bool) -> Ball:
        """ln of a bound of Π|φ|^k beyond y."""
        log = Ball(0)
        for i in self._decaying(float(y), bent):
            transform, copies = self._parts[i]
            with precision(copies.bit_length() + 4 + -(-44 // copies)):  # R^k to a few per cent, and down to 2^−44
                found = recall.bent_decay if bent and transform.bends else recall.decay
                bound = found(transform, self._plan.t, y)
            log += bound.log() * copies
        return log

    def _decaying(self, y: float, bent: bool) -> list[int]:
        """The parts whose decay is worth proving: enough of them, the strongest first."""
        import numpy as np

        if len(self._parts) == 1:
            return [0]
        at, t = np.array([y]), float(self._plan.t)
        looks = [one.log_bent_decay_floats if bent and one.bends else one.log_decay_floats for one, _ in self._parts]
        logs = [copies * float(look(t, at)[0]) for look, (_, copies) in zip(looks, self._parts, strict=True)]
        order = sorted((i for i in range(len(logs)) if logs[i] < 0), key=lambda i: logs[i])
        chosen, total, enough = [], 0.0, math.fsum(logs) + 0.05
        for i in order:
            if total < enough:
                break
            chosen.append(i)
            total += logs[i]
        return chosen

    def call(self, x: Ball) -> Ball:
        """The finite part of the call at x."""
        with precision(self.bits):
            if not x.is_finite():
                return between(Ball(0), self.mass)
            t, eta = ball(self._plan.t), ball(self._plan.eta)
            total = 2 * self._sum.at(-eta * x).real + between(-self._tail, self._tail)
            return (self._log_scale - t * x).exp() * total / self._aliases.period - self._aliases.at(x)
