"""Transforms in doubles at every node of a line: a quadrature near the axis, and far out what atoms and kinks leave."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.transforms.float_lines import FloatNodes, above
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.screened_sums import sums_at
from tightrope.numerics.transforms.settled_nodes import Quadrature

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Complexes

__all__ = ["FAR_NODE", "FarNodes", "near_and_far"]

_BITS = 128
_ENOUGH, _CRUDE = -36.0, -21.0  # ln of an error that is as small as rounding, and of one that is still of use
_MOST_PRODUCTS = 3e8
_DEAR = 50  # times as long a product takes by itself
_TRIES = 60  # from the first node to the last
_ROUND = 1.5  # a number of 2 bits below it is not below what it is made of
_RULE, _NODE = 5e3, 20.0  # units of work for a rule, and for each of its nodes
FAR_NODE = 0.3  # units of work for a node far out
_SHARES = (1.0, 0.75, 0.55, 0.4)  # of the nodes that should be near


class FarNodes(Protocol):
    """φ far out."""

    def log_error(self, y: float) -> float:
        """About ln of the error from y on."""
        ...

    def nodes(self, eta: Fraction, numbers: Integers) -> tuple[Complexes, Ball]:
        """φ at y = kη for numbers k that rise, and a bound of the errors."""
        ...


def near_and_far(
    rule: Callable[[Fraction], Quadrature], far: FarNodes, eta: Fraction, indices: Integers, floor: Ball
) -> FloatNodes | None:
    """The nodes with these numbers, which rise from 0; None if neither the quadrature nor what is known far out serves
    those in between."""
    import numpy as np

    count = int(indices[-1])
    with precision(_BITS):
        for last in _borders(far, float(eta), max(count, 1)):
            effort.spend(_RULE, "a line of doubles")
            try:
                chosen = rule(max(short(float(eta * last) * _ROUND, 2), eta * last))  # few ends, as rules are kept
            except NotCertified:
                continue
            effort.spend(_NODE * len(chosen.shares), "a line of doubles")  # remembered or not
            near = indices <= last
            if len(chosen.shares) * min(last, _DEAR * int(near.sum())) > _MOST_PRODUCTS:
                continue
            values, error = sums_at(chosen.shares, [loss * ball(eta) for loss in chosen.losses], indices[near])
            error += chosen.error
            if last < count:
                effort.spend(FAR_NODE * int((~near).sum()), "a line of doubles")
                beyond, other = far.nodes(eta, indices[~near])
                values, error = np.concatenate([values, beyond]), error.max(other)
            error = error.upper()
            return FloatNodes(values, error, above(values, error, floor))
    return None


def _borders(far: FarNodes, eta: float, count: int) -> list[int]:
    """Up to which node the quadrature should serve, or at least."""
    steps = sorted({math.ceil(count ** (i / _TRIES)) for i in range(_TRIES + 1)})
    least = bisect_left(steps, True, key=lambda k: far.log_error(eta * (k + 1)) < _ENOUGH)  # errors fall
    last = steps[least] if least < len(steps) else count
    shorter = [math.ceil(share * last) for share in _SHARES]
    return [k for k in shorter if k == last or far.log_error(eta * (k + 1)) < _CRUDE]
