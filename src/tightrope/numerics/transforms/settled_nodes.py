"""Transforms of many copies in doubles: few nodes matter, if |φ| is proved to be low at all others.

φ(y) = M(t + iy)/M(t) is a sum over the nodes of a quadrature, but for its error, as far as that reaches. From there on
it is below a bound that falls with y.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.products import product
from tightrope.numerics.transforms.block_sums import near_bound, stretch_bound
from tightrope.numerics.transforms.float_lines import UNIT, FloatNodes, above, as_doubles, exponential_sums
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform, power_sums

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["Quadrature", "settled_copies", "settled_nodes"]

_BITS = 128
_NEARLY = 1.05  # |φ| is sought a little below the floor
_MORE = (1.0, 1.2, 1.5, 2.0, 3.0)  # times the nodes that seem enough, where those are not
_MOST_NODES = 4000
_SEVERAL = -1  # a floor that some fifty copies have
_FEW = 300  # nodes that are sums of balls, whose error is that of rounding
_MOST_SCANNED, _SCAN = 2e6, 0.025  # products, and units of work for each


@dataclass(frozen=True)
class Quadrature:
    """Shares ≥ 0 and losses whose sum Σ share·e^{iy·loss} is φ(y) but for ``error``, for every |y| ≤ some end."""

    shares: Sequence[Ball]
    losses: Sequence[Ball]
    error: Ball


def settled_copies(
    transform: Transform,
    rule: Callable[[Fraction, Fraction], Quadrature],
    t: Fraction,
    eta: Fraction,
    count: int,
    floor: Ball,
) -> FloatNodes | None:
    """``settled_nodes`` by the transform's own decay; None for few copies, and where the rule does not reach so far."""
    if not floor > _SEVERAL:
        return None
    try:
        return settled_nodes(
            lambda end: rule(t, end),
            lambda y: transform.decay(t, y),
            lambda y: transform.log_decay_floats(float(t), y),
            eta,
            count,
            floor,
        )
    except NotCertified:
        return None


def settled_nodes(
    rule: Callable[[Fraction], Quadrature],
    decay: Callable[[Fraction], Ball],
    log_decay: Callable[[Floats], Floats],
    eta: Fraction,
    count: int,
    floor: Ball,
) -> FloatNodes | None:
    """The nodes up to the last where |φ| > e^floor; None if that is not proved of all others.

    ``rule`` gives a quadrature that serves up to an end, ``decay`` a bound of |φ| from some y on, and ``log_decay`` its
    logarithm in floats.
    """
    import numpy as np

    with precision(_BITS):
        goal, limit = floor.exp(), _NEARLY * float(floor)
        y = np.geomspace(float(eta), float(eta) * max(count, 2), 200)
        enough = np.nonzero(log_decay(y) < limit)[0]
        far = max(short(float(y[enough[0]])), eta) if len(enough) else eta * count
        chosen = rule(far)
        first = _last(chosen, float(far), eta, count, limit)
        tries = sorted({min(math.ceil(first * more), count) for more in _MORE}) if first is not None else []
        last = next((n for n in tries if _low(chosen, eta * n, far, goal)), None)
        if last is None or not (far >= eta * count or decay(max(far, eta * last)) <= goal):
            return None
        angles = [loss * ball(eta) for loss in chosen.losses]
        if last <= _FEW:
            values, error = as_doubles(power_sums(chosen.shares, angles, last)), 4 * UNIT
        else:
            values, error = exponential_sums(chosen.shares, angles, last)
        error = (error + chosen.error).upper()
    padded = np.zeros(count + 1, dtype=np.complex128)
    padded[: last + 1] = values
    alive = np.zeros(count + 1, dtype=np.bool_)
    alive[: last + 1] = above(values, error, floor)
    return FloatNodes(padded, error, alive)


def _last(chosen: Quadrature, far: float, eta: Fraction, count: int, limit: float) -> int | None:
    """About the last node above the limit, and one more: a choice. None if that is far out."""
    import numpy as np

    losses, shares = (np.array([float(b.mid()) for b in row]) for row in (chosen.losses, chosen.shares))
    spread = math.sqrt(max(float(shares @ losses**2 - (shares @ losses) ** 2), 1e-300))
    step = max(float(eta), min(0.1 / spread, far / 8))
    places = np.arange(1, min(math.ceil(far / step), int(_MOST_SCANNED / len(losses))) + 1) * step
    effort.spend(_SCAN * len(places) * len(losses), "a search for nodes that are low")
    sizes = np.abs(product(np.exp(1j * np.multiply.outer(places, losses)), shares))
    high = np.nonzero(sizes > math.exp(limit))[0]
    last = math.ceil((float(places[high[-1]]) if len(high) else 0.0) / float(eta) + step / float(eta)) + 1
    if last >= count:
        return count if count <= _MOST_NODES else None
    return last if last <= _MOST_NODES else None


def _low(chosen: Quadrature, start: Fraction, far: Fraction, goal: Ball) -> bool:
    """Whether |φ| ≤ goal is proved for all y from start to ``far``."""
    room = goal - chosen.error
    if start >= far:
        return True
    bound, reached = near_bound(chosen.shares, chosen.losses, start)
    if reached > start:
        if not bound <= room:
            return False
        start = min(short(float(reached), 20), far)
    return bool(stretch_bound(chosen.shares, chosen.losses, start, far, float(room.lower())) <= room)
