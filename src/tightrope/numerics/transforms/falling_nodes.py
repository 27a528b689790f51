"""Transforms that fall to 0, in doubles: balls up to where they are low, and nothing beyond."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.float_lines import UNIT, FloatNodes, as_doubles
from tightrope.numerics.transforms.lifted_nodes import Lifted, lifted_sums
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.screened_sums import sums_at
from tightrope.numerics.transforms.settled_nodes import Quadrature
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.transforms.fine_powers import LossTerms
    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Complexes

__all__ = ["FallingTransform", "falling_nodes"]

_WHAT = "a line of doubles"
_BITS = 128
_LOW, _NEARLY = -40.0, 1.05  # ln of a size as small as rounding; |φ| is sought a little below the floor
_MOST_MICROSECONDS, _MOST_PRODUCTS = 3e5, 3e8
_DEAR = 50  # times as long a product takes by itself
_FEW, _QUICK = 300, 2e4  # nodes that balls do as quickly, if they take no longer than that (microseconds)
_ROUND, _FAR = 1.5, 4.0  # a number of 2 bits below it is not below what it is made of; of 1 bit, likewise
_UNITS, _RULE, _NODE = 1.6, 5e3, 20.0  # of work for each microsecond, for a rule, and for each of its nodes,
_LIFTED = 100.0  # and of a path


class FallingTransform(Transform):
    """One that falls to 0: its nodes in doubles are balls or a quadrature, as far as they are not low."""

    sparse = True

    def quick_rule(self, t: Fraction) -> Callable[[Fraction], Quadrature] | None:  # noqa: ARG002
        """A quadrature at t up to some y, if that is quicker than the transform's line."""
        return None

    def lifted(self, t: Fraction, end: Fraction) -> Lifted | None:  # noqa: ARG002
        """Terms that serve every y from 0 to an end, where a quadrature would be long."""
        return None

    def float_nodes(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes | None:
        """All of them."""
        import numpy as np

        return self.few_nodes(t, eta, np.arange(count + 1), floor, count)

    def rule_cost(self, t: Fraction, end: Fraction) -> float:  # noqa: ARG002
        """About how many microseconds that takes, but for what each of its nodes does."""
        return _RULE

    def few_nodes(
        self, t: Fraction, eta: Fraction, indices: Integers, floor: Ball, count: int  # noqa: ARG002
    ) -> FloatNodes | None:
        """Those with these numbers."""
        return falling_nodes(self, self.quick_rule(t), t, eta, indices, floor)

    def terms_up_to(self, t: Fraction, end: Fraction) -> LossTerms | None:
        """The quadrature."""
        rule = self.quick_rule(t)
        return None if rule is None else _kept_rule(self, rule, t, end)

    def node_cost(self, copies: int) -> float:  # noqa: ARG002
        """Hardly any: most nodes are low."""
        return 5.0


def falling_nodes(
    transform: Transform,
    rule: Callable[[Fraction], Quadrature] | None,
    t: Fraction,
    eta: Fraction,
    indices: Integers,
    floor: Ball,
) -> FloatNodes | None:
    """The nodes with these numbers, which rise from 0; None if too many of them are neither below e^floor nor as small
    as rounding."""
    import numpy as np

    count = int(indices[-1])
    y = np.geomspace(float(eta), float(eta) * max(count, 2), 300)
    low = np.nonzero(recall.log_decay_floats(transform, float(t), y) < max(_NEARLY * float(floor), _LOW))[0]
    last = min(math.ceil(float(y[low[0]]) / float(eta)) + 1, count) if len(low) else count
    try:
        with precision(_BITS):
            near = indices <= last
            values, error = _near(transform, rule, t, eta, indices[near])
            bound = _beyond(transform, t, eta * last) if last < count else Ball(0)
            dropped = bound <= floor.exp()
    except NotCertified:  # a rule or a path out of reach
        return None
    padded, alive = np.zeros(len(indices), dtype=np.complex128), np.ones(len(indices), dtype=np.bool_)
    padded[near], alive[~near] = values, not dropped
    return FloatNodes(padded, error if dropped else (error + bound).upper(), alive)


def _beyond(transform: Transform, t: Fraction, y: Fraction) -> Ball:
    if transform.decay_cost:  # remembered or not
        effort.spend(transform.decay_cost, _WHAT)
    return recall.decay(transform, t, y)


def _near(
    transform: Transform,
    rule: Callable[[Fraction], Quadrature] | None,
    t: Fraction,
    eta: Fraction,
    indices: Integers,
) -> tuple[Complexes, Ball]:
    last = int(indices[-1])
    work = math.inf
    if rule is None or last <= _FEW:
        with suppress(NotCertified):
            work = transform.cost(float(t), float(eta), last, _BITS)
    if rule is not None and not work < _QUICK:
        return _by_rule(transform, rule, t, eta, indices)
    if not work < _MOST_MICROSECONDS:
        raise NotCertified(_WHAT, "it is too long")
    effort.spend(_UNITS * work, _WHAT)
    return as_doubles(recall.line(transform, t, eta, last)[1])[indices], 4 * UNIT


def _by_rule(
    transform: Transform, rule: Callable[[Fraction], Quadrature], t: Fraction, eta: Fraction, indices: Integers
) -> tuple[Complexes, Ball]:
    """On the axis, or above it where that is too long."""
    last = int(indices[-1])
    with suppress(NotCertified):
        chosen = _kept_rule(transform, rule, t, eta * last)
        if len(chosen.shares) * min(last, _DEAR * len(indices)) < _MOST_PRODUCTS:
            values, error = sums_at(chosen.shares, [loss * ball(eta) for loss in chosen.losses], indices)
            return values, error + chosen.error
    lifted = _kept_lift(transform, t, eta * last) if isinstance(transform, FallingTransform) else None
    if lifted is None:
        raise NotCertified(_WHAT, "it is too long")
    return lifted_sums(lifted, eta, indices)


def _kept_lift(transform: FallingTransform, t: Fraction, end: Fraction) -> Lifted | None:
    further = max(short(float(end) * _FAR, 1), end)
    effort.spend(_RULE, _WHAT)
    with precision(_BITS):
        found = recall.kept(transform, "lift", (t, further), lambda: transform.lifted(t, further))
    effort.spend(_LIFTED * len(found.shares) if found else 0, _WHAT)
    return found


def _kept_rule(
    transform: Transform, rule: Callable[[Fraction], Quadrature], t: Fraction, end: Fraction
) -> Quadrature:
    """One that serves up to this end at least: few ends, as rules are kept."""
    further = max(short(float(end) * _ROUND, 2), end)
    effort.spend(transform.rule_cost(t, further) if isinstance(transform, FallingTransform) else _RULE, _WHAT)
    with precision(_BITS):
        chosen = recall.kept(transform, "rule", (t, further), lambda: rule(further))
    effort.spend(_NODE * len(chosen.shares), _WHAT)
    return chosen
