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
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, between, precision
from tightrope.numerics.contour.aliases import Aliases, log_moment
from tightrope.numerics.contour.floats import Saddles
from tightrope.numerics.contour.kinks import KERNEL_ERROR, Kinks
from tightrope.numerics.squaring import power
from tightrope.numerics.transforms.fine_powers import fine_powers
from tightrope.numerics.transforms.float_lines import UNIT, FloatNodes, Phases, above, as_doubles, block_sum
from tightrope.numerics.transforms.screened_sums import sums_at
from tightrope.numerics.transforms.transform import Transform, whole_power

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["BITS", "KEPT_NODE", "MOST_NODES", "NODE", "BlurPlan", "BlurredProof"]

_WHAT = "a blurred contour"
BITS = 128
_ALIAS_BITS = 40
_MANY = 50  # copies whose errors are relative
_DROPPED, _LIGHT = 50, 2e-22  # a node whose share is below e^−50 is dropped; and a number above that
_FINE = Ball(2) ** -36  # an error of Π φ^k that is small enough
_SEEN = 25.0  # nanoseconds to see whether a node is dropped
NODE, KEPT_NODE = 10.0, 300.0  # nanoseconds of a node but for its transforms, and of one that is not dropped
_SPARSE, _MOST_PRODUCTS = 100, 2e6  # nodes for each that is left, and nodes times losses, if those are taken alone
_MOST_COARSE = 6_000_000  # numbers that are kept until few nodes are left: 17 bytes each
_MOST_MICROSECONDS, _RAISED = 2.5e5, 5.0  # for nodes in balls, and for the power of each
_UNITS = 1.5  # of work for each microsecond
MOST_NODES, _MOST_POINTS = 4_000_000, 2**32 - 1  # a plan may come from outside
_SLACK = 1 + Ball(2) ** -30  # for sums of doubles that bound something


@dataclass(frozen=True)
class BlurPlan:
    """Tilt t, step η, nodes 0 … count, and the lattice points in a period, of which there are more than nodes."""

    t: Fraction
    eta: Fraction
    count: int
    points: int


@dataclass(frozen=True)
class _Power:
    """φ^k at the nodes kept, or a product of such: off by at most ``error`` times ``weights``, which are no less than
    the values."""

    values: Complexes
    error: Ball
    weights: Floats

    def among(self, kept: Integers) -> _Power:
        """Those in these places."""
        return _Power(self.values[kept], self.error, self.weights[kept])


class BlurredProof:
    """Everything about one plan that does not depend on x. ``rough``: for ``floats`` alone, which balls do not help."""

    def __init__(
        self, parts: Sequence[tuple[Transform, int]], saddles: Saddles, plan: BlurPlan, rough: bool = False
    ) -> None:
        nodes = 1 <= plan.count <= MOST_NODES and plan.count < plan.points <= _MOST_POINTS
        if not (nodes and plan.t > 0 and plan.eta > 0):
            raise NotCertified(_WHAT, "its plan is void or out of reach")
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
    product: _Power | None = None
    coarse: list[tuple[FloatNodes, Transform, int]] = []  # whose powers may be known better where few nodes are left
    for transform, copies in sorted(parts, key=lambda part: part[0].sparse):  # what few are left to need not be quick
        line = _line(transform, copies, plan, indices)
        if not line.alive.all():
            indices, kept = indices[line.alive], np.nonzero(line.alive)[0]
            coarse = [(one.among(kept), part, n) for one, part, n in coarse]
            product, line = None if product is None else product.among(kept), line.among(kept)
        enough = rough or _power_error(line, copies) < _FINE / len(parts)
        if enough or (len(coarse) + 1) * len(indices) > _MOST_COARSE:
            product = _times(product, _power(line, copies))
        else:
            coarse.append((line, transform, copies))
    effort.spend(len(indices) * KEPT_NODE / 1000, _WHAT)
    for line, transform, copies in coarse:
        product = _times(product, _finer(transform, copies, plan, indices) or _power(line, copies))
    assert product is not None
    return indices, product.values, product.error.expm1().upper(), product.weights


def _line(transform: Transform, copies: int, plan: BlurPlan, indices: Integers) -> FloatNodes:
    """φ at these nodes; where few of them are left, by themselves."""
    floor, number = Ball(-_DROPPED) / copies, len(indices)
    few = number * _SPARSE <= plan.count and not transform.sparse
    terms = transform.terms_of(plan.t) if few else None
    if terms is not None and number * len(terms.shares) <= _MOST_PRODUCTS:
        with precision(BITS):
            values, error = sums_at(terms.shares, [loss * ball(plan.eta) for loss in terms.losses], indices)
            error = (error + terms.error).upper()
        return FloatNodes(values, error, above(values, error, floor))
    asked = number if transform.sparse else plan.count
    cost = transform.node_cost(copies) * asked
    if not effort.affords((_SEEN * asked + cost) / 1000):
        raise NotCertified(_WHAT, "the work allowed to one question is spent")
    effort.spend(_SEEN * asked / 1000, _WHAT)
    before = effort.left()
    line = transform.few_nodes(plan.t, plan.eta, indices, floor, plan.count)
    if line is None:
        raise NotCertified(_WHAT, "a part has no nodes in doubles")
    if effort.left() == before:  # else they have counted what was evaluated, which may be far less
        effort.spend(cost / 1000, _WHAT)
    return line


def _power_error(line: FloatNodes, copies: int) -> Ball:
    """That of the power by squaring, which has a rounding of its own."""
    log = copies * (line.error + 4 * UNIT) + 4 * UNIT
    log *= (Ball(_DROPPED) / copies).exp() if copies >= _MANY else 1
    return log * (2 * log).exp()


def _power(line: FloatNodes, copies: int) -> _Power:
    """By squaring."""
    import numpy as np

    values = power(line.values, copies)
    weights = np.maximum(_size(values), _LIGHT) if copies >= _MANY else np.ones(len(values))
    return _Power(values, _power_error(line, copies), weights)


def _times(product: _Power | None, other: _Power) -> _Power:
    """The product, its own rounding apart."""
    if product is None:
        return other
    return _Power(product.values * other.values, product.error + other.error, product.weights * other.weights)


def _finer(transform: Transform, copies: int, plan: BlurPlan, indices: Integers) -> _Power | None:
    """The same with less error: from the moments of the loss, or in balls if they are few; what is chosen depends on
    nothing but the plan, as a check must take the same path."""
    import numpy as np

    try:
        terms = transform.terms_up_to(plan.t, plan.eta * int(indices[-1])) if transform.fine else None
        found = None if terms is None else fine_powers(terms, plan.eta, indices, copies, _FINE)
        if found is not None:
            return _Power(found.values, found.error + 4 * UNIT, np.maximum(_size(found.values), _LIGHT))
        if _RAISED * len(indices) > _MOST_MICROSECONDS:
            return None
        numbers = [int(k) for k in indices]
        with precision(BITS + copies.bit_length()):
            cost = transform.at_cost(plan.t, plan.eta, numbers) + _RAISED * len(numbers)
            if not cost <= _MOST_MICROSECONDS:
                return None
            effort.spend(_UNITS * cost, _WHAT)
            phi = transform.at(plan.t, plan.eta, numbers)
            return _Power(as_doubles([whole_power(one, copies) for one in phi]), 8 * UNIT, np.ones(len(numbers)))
    except NotCertified:  # a transform that cannot: doubles will do, with a wider error
        return None


def _size(values: Complexes) -> Floats:
    import numpy as np

    result: Floats = np.abs(values.real) + np.abs(values.imag)
    return result


def _total(values: Floats) -> Ball:
    """An upper bound of the sum of numbers ≥ 0."""
    return Ball(block_sum(values)[0].real) * _SLACK
