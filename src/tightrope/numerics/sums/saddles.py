"""Where to evaluate a lattice sum: tilt, number of nodes, second tilt. Floats: any choice is valid."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

__all__ = ["LatticeShape", "Saddle", "Side", "saddle"]

_PUSH = 3.0  # deviations: a tilt a little past the best one loses a few bits and needs a third of the nodes


class Side(Enum):
    """What the tilt lets converge: the integral above the point, the one below, or of min(1, e^{x−s})."""

    ABOVE = 1
    BELOW = -1
    BETWEEN = 0


@dataclass(frozen=True)
class Saddle:
    """The choice made. ``lost``: bits by which the terms exceed the answer."""

    side: Side
    tilt: float
    nodes: int
    extra: float
    lost: int


class LatticeShape:
    """Moments of the tilted law, for groups of (logs of masses, centred steps, copies, 1 − total mass).

    Everything is measured from the law's own centre, so that nothing is lost to 10¹⁸ copies.
    """

    def __init__(self, unit: float, groups: list[tuple[list[float], list[float], int, float]]) -> None:
        self.unit, self.groups = unit, groups

    def moments(self, t: float) -> tuple[float, float, float]:
        """ln ∫ e^{tJ}, and the mean and the variance of J under the tilted law."""
        log, mean, variance = 0.0, 0.0, 0.0
        for masses, steps, copies, short in self.groups:
            logs = [m + t * s for m, s in zip(masses, steps, strict=True)]
            peak = max(logs)
            weights = [math.exp(v - peak) for v in logs]
            total = sum(weights)
            pairs = zip(masses, steps, strict=True)
            rise = sum(math.exp(m) * math.expm1(min(t * s, 700.0)) for m, s in pairs) - short
            centre = sum(w * s for w, s in zip(weights, steps, strict=True)) / total
            log += copies * (math.log1p(rise) if abs(rise) < 0.25 else peak + math.log(total))
            mean += copies * centre
            spread = sum(w * (s - centre) ** 2 for w, s in zip(weights, steps, strict=True)) / total
            variance += copies * spread
        return log, mean, variance


def saddle(shape: LatticeShape, y: float, bits: int, room: tuple[float, float], call: bool) -> Saddle | None:
    """The tilt near the integrand's least peak, and enough nodes; None beyond floats.

    ``room``: how many steps there are below and above y.
    """
    try:
        return _saddle(shape, y, bits, room, call)
    except (OverflowError, ValueError, ZeroDivisionError):
        return None


def _side(shape: LatticeShape, y: float, call: bool) -> Side:
    _, mean, variance = shape.moments(0.0)
    if not call:
        return Side.ABOVE if y >= mean else Side.BELOW
    _, other, spread = shape.moments(-shape.unit)  # the law weighted by e^{−s}
    high, low = mean - math.sqrt(variance), other + math.sqrt(spread)
    if high <= low:
        return Side.ABOVE if 2 * y >= mean + other else Side.BELOW
    return Side.ABOVE if y >= high else Side.BELOW if y <= low else Side.BETWEEN


def _saddle(shape: LatticeShape, y: float, bits: int, room: tuple[float, float], call: bool) -> Saddle | None:
    u, side = shape.unit, _side(shape, y, call)

    def tilt(distance: float) -> float:
        if side is Side.ABOVE:
            return distance
        if side is Side.BELOW:
            return -distance - (u if call else 0.0)
        return -u * distance / (1 + distance)

    def slope(t: float) -> float:
        """How far the tilted mean is from where it should be, in deviations; rises with the tilt."""
        _, m, v = shape.moments(t)
        return (m - y - 1 / t - (1 / (t + u) if call else 0.0)) / math.sqrt(v + 1e-300)

    sign = 1 if side is Side.ABOVE else -1
    distance = _root(lambda d: sign * slope(tilt(d)), 1e-14, 600.0 if side is not Side.BETWEEN else 1e14)
    t = tilt(distance)
    log, _, variance = shape.moments(t)
    width = math.sqrt(variance + 1)
    smooth = math.log(abs(t)) + (math.log(abs(t + u) / u) if call else 0.0)
    # The lattice may put its next steps far above x: 4|t| nats of caution, which cost four nodes.
    answer = log - t * y - smooth - math.log(2.6 * width) - 4 * abs(t)
    if side is not Side.BETWEEN:
        t = tilt(max(distance, _PUSH / width))
        log = shape.moments(t)[0]
    peak = log - t * y
    need = (bits + 8) * math.log(2)
    mass, weighted = shape.moments(0.0)[0], shape.moments(-u)[0] + u * y
    if side is Side.BETWEEN:
        nodes = max((need + max(mass - answer, 0.0)) / -t, (need + max(weighted - answer, 0.0)) / (t + u))
        extra = 0.0
    else:
        whole, gap = (mass, abs(t)) if side is Side.ABOVE or not call else (weighted, -t - u)

        def beyond(extra: float) -> float:
            more = shape.moments(t + sign * extra)[0] - log - sign * extra * y
            return (more + need + max(peak - answer, 0.0)) / extra

        extra = min((c / width for c in (0.25, 0.5, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32)), key=beyond)
        ends = room[1 if side is Side.ABOVE else 0] + 2
        nodes = max((need + max(whole - answer, 0.0)) / gap, min(beyond(extra), ends))
    if not nodes < 2.0**60:
        return None
    odd = 2 * (int(max(nodes, 2.0)) // 2) + 3
    lost = min(max((peak - smooth - answer) / math.log(2) - math.log2(width), 0.0), 1000.0)
    return Saddle(side, t, odd, extra, int(lost))


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(60):
        middle = math.sqrt(low * high)
        value = rising(middle)
        if abs(value) < 0.05:
            return middle
        low, high = (middle, high) if value < 0 else (low, middle)
    return math.sqrt(low * high)
