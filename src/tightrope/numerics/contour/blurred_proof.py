"""The contour integral of a loss whose transform does not decay, proved: the kink of the call is blurred.

Two functions of bounded frequency enclose the tilted call (``kinks``). Their trapezoidal sums end by themselves, and
enclose that of the call, Σ_j call(x+jB)e^{tjB}, of which all but j = 0 are ``aliases``. Nodes are doubles with a proved
error (``float_lines``); those at which the transform is tiny are dropped, and where few are left they are balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.contour.aliases import Aliases, log_moment
from tightrope.numerics.contour.floats import Saddles
from tightrope.numerics.contour.kinks import KERNEL_ERROR, Kinks
from tightrope.numerics.squaring import power
from tightrope.numerics.transforms.float_lines import UNIT, Phases, as_doubles, block_sum
from tightrope.numerics.transforms.transform import Transform, whole_power

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import FloatNodes, Integers
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["BITS", "MOST_NODES", "BlurPlan", "BlurredProof"]

BITS = 128
_ALIAS_BITS = 40
_MANY = 50  # copies whose errors are relative
_DROPPED, _LIGHT = 50, 2e-22  # a node whose share is below e^−50 is dropped; and a number above that
_FINE = Ball(2) ** -36  # an error of Π φ^k that is small enough
_FEW = 2e5  # nanoseconds of all nodes kept, as doubles: so many are worth evaluating in balls, 500 times slower
MOST_NODES, _MOST_POINTS = 4_000_000, 2**32 - 1  # a plan may come from outside
_SLACK = 1 + Ball(2) ** -30  # for sums of doubles that bound something


@dataclass(frozen=True)
class BlurPlan:
    """Tilt t, step η, nodes 0 … count, and the lattice points in a period, of which there are more than nodes."""

    t: Fraction
    eta: Fraction
    count: int
    points: int


class BlurredProof:
    """Everything about one plan that does not depend on x. ``rough``: for ``floats`` alone, which balls do not help."""

    def __init__(
        self, parts: Sequence[tuple[Transform, int]], saddles: Saddles, plan: BlurPlan, rough: bool = False
    ) -> None:
        nodes = 1 <= plan.count <= MOST_NODES and plan.count < plan.points <= _MOST_POINTS
        if not (nodes and plan.t > 0 and plan.eta > 0):
            raise NotCertified("a blurred contour", "its plan is void or out of reach")
        self.plan, self._parts = plan, parts
        with precision(BITS):
            self._log_scale = log_moment(parts, plan.t, BITS - 20)
            self._kinks = Kinks(plan.t, plan.eta, plan.points)
            self.aliases = Aliases(parts, saddles, plan.t, plan.eta, _ALIAS_BITS)
            self._fill(rough)

    def _fill(self, rough: bool) -> None:
        """The terms at the nodes that are not dropped, and a bound of what rounding and dropping can change."""
        plan, indices, values, error, weights = self.plan, *_nodes(self._parts, self.plan, rough)
        values[1:] *= 2  # and the mirror images; node 0 is always there
        kernels = self._kinks.kernels(indices)
        self.indices = indices
        self._terms = [values * kernels.below, values * kernels.above]
        self._sizes = [_total(_size(terms)) for terms in self._terms]
        lost = 2 * Ball(-_DROPPED).exp() * plan.points * self._kinks.most()
        rounding = (KERNEL_ERROR + 16) * UNIT * _total(_size(values) * kernels.sizes)
        self._error = (2 * error * _total(weights * kernels.sizes) + rounding + lost + self._beyond()).upper()

    def _beyond(self) -> Ball:
        """A bound of the sum beyond the last node."""
        plan = self.plan
        if plan.count == plan.points - 1:
            return Ball(0)
        log = Ball(0)
        for transform, copies in self._parts:
            log += transform.decay(plan.t, plan.eta * plan.count).log() * copies
        return 2 * log.exp() * self._kinks.tail(plan.count + 1)

    def floats(self, x: float) -> float:
        """About the call at x, divided by e^{K(t)−tx}, for searches: a third of the way from the sum above to the one
        below, as it is for a smooth law."""
        with precision(BITS):
            at = Ball(x)
            below, above = (float(b.mid()) for b in self._sums(at))
            known = self.aliases.at(at) / (self._log_scale - ball(self.plan.t) * at).exp()
            return (below + 2 * above) / 3 - float(known.mid())

    def _sums(self, x: Ball) -> list[Ball]:
        """The sums of both functions over the nodes, times λ/n."""
        turns = Phases(-ball(self.plan.eta) * x, self.plan.count).at(self.indices)
        results = []
        for terms, size in zip(self._terms, self._sizes, strict=True):
            total, share = block_sum((terms * turns).real)
            off = (((Phases.ERROR + 4) * UNIT + share) * size + self._error).upper()
            results.append((Ball(total.real) + between(-off, off)) * self._kinks.spacing / self.plan.points)
        return results

    def call(self, x: Ball) -> Ball:
        """The finite part of the call at x."""
        with precision(BITS):
            mass, reverse = self.aliases.mass, self.aliases.reverse
            if not x.is_finite():
                return between(Ball(0), mass)
            scale, known = (self._log_scale - ball(self.plan.t) * x).exp(), self.aliases.at(x)
            low, high = (scale * one - known for one in self._sums(x))
            least, most = (mass - reverse * x.exp()).lower().max(Ball(0)), mass.upper()
            return between(low.lower().max(least).min(most), high.upper().min(most).max(least))


def _nodes(
    parts: Sequence[tuple[Transform, int]], plan: BlurPlan, rough: bool
) -> tuple[Integers, Complexes, Ball, Floats]:
    """The nodes kept, Π φ^k there, and a bound of the errors of these: a factor of numbers for all nodes.

    If v is off by e, then v^k by r·e^r times the larger of |v|^k and e^{−50}, r = ke·e^{50/k}: with e/|v| ≤ r/k in the
    first case, and since |v^k − φ^k| ≤ ke(|v| + e)^{k−1} in the second.
    """
    import numpy as np

    indices: Integers = np.arange(plan.count + 1)
    lines: list[tuple[FloatNodes, int]] = []
    for transform, copies in sorted(parts, key=lambda part: part[0].sparse):  # what few are left to need not be quick
        line = transform.few_nodes(plan.t, plan.eta, indices, Ball(-_DROPPED) / copies, plan.count)
        if line is None:
            raise NotCertified("a blurred contour", "a part has no nodes in doubles")
        if not line.alive.all():
            indices, kept = indices[line.alive], np.nonzero(line.alive)[0]
            lines, line = [(one.among(kept), n) for one, n in lines], line.among(kept)
        lines.append((line, copies))
    total = Ball(0)
    for line, copies in lines:
        log = copies * (line.error + 4 * UNIT) + 4 * UNIT
        log *= (Ball(_DROPPED) / copies).exp() if copies >= _MANY else 1
        total += log * (2 * log).exp()  # and the powers' own rounding
    error = total.expm1().upper()
    work = len(indices) * sum(transform.node_cost(copies) for transform, copies in parts)
    values, weights = np.ones(len(indices), dtype=np.complex128), np.ones(len(indices))
    if not (rough or error < _FINE) and work <= _FEW:
        try:
            return indices, *_in_balls(parts, plan, [int(k) for k in indices]), weights
        except NotCertified:  # a transform that cannot: doubles will do, with a wider error
            pass
    for line, copies in lines:
        raised = power(line.values, copies)
        values = values * raised
        if copies >= _MANY:
            weights = weights * np.maximum(_size(raised), _LIGHT)
    return indices, values, error, weights


def _in_balls(parts: Sequence[tuple[Transform, int]], plan: BlurPlan, indices: list[int]) -> tuple[Complexes, Ball]:
    products = [ComplexBall(1)] * len(indices)
    for transform, copies in parts:
        with precision(BITS + copies.bit_length()):
            phi = transform.at(plan.t, plan.eta, indices)
            products = [a * whole_power(b, copies) for a, b in zip(products, phi, strict=True)]
    return as_doubles(products), 4 * UNIT


def _size(values: Complexes) -> Floats:
    import numpy as np

    result: Floats = np.abs(values.real) + np.abs(values.imag)
    return result


def _total(values: Floats) -> Ball:
    """An upper bound of the sum of numbers ≥ 0."""
    return Ball(block_sum(values)[0].real) * _SLACK
