"""ε at many δ from one function δ(ε), proved wherever it is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import near
from tightrope.numerics.many_roots import many_roots

__all__ = ["SharedRoots", "log_of"]

_APART, _FURTHEST = 1e-7, 1e-3  # of ε: from so far the slope is taken
_WIDENINGS = 24
_SECANTS = 16
_STILL = 1e-15  # a step that is so small beside its place leads nowhere


class SharedRoots:
    """δ(ε) as balls, each found once; NotCertified where nothing is known."""

    def __init__(self, delta: Callable[[Fraction], Ball]) -> None:
        self._delta = delta
        self._values: dict[Fraction, Ball] = {}

    def delta(self, epsilon: Fraction) -> Ball:
        """The value, found now or before."""
        if epsilon not in self._values:
            self._values[epsilon] = self._delta(epsilon)
        return self._values[epsilon]

    def log_delta(self, x: float) -> float:
        """About ln δ."""
        return _log(self.delta(Fraction(x)))

    def between(self, deltas: Sequence[Fraction], first: float, last: float, close: float) -> dict[Fraction, Bound]:
        """ε at those δ that are taken between the first ε and the last. ``close``: how near to its target ln δ is
        brought before both ends are proved."""
        found: dict[Fraction, Bound] = {}
        try:
            ends = [(x, self.log_delta(x)) for x in (first, last)]
            goals = {delta: log_of(delta) for delta in deltas if ends[1][1] < log_of(delta) < ends[0][1]}
            places = many_roots(self._or_nothing, list(goals.values()), ends[0], ends[1], close)
        except NotCertified:
            return found
        for delta, goal in goals.items():
            try:
                found[delta] = self.enclosed(places[goal], delta)
            except NotCertified:
                continue
        return found

    def followed(self, delta: Fraction, start: float, sides: tuple[float, float], close: float) -> Bound:
        """ε at this δ by secants from a place between two sides of it; both ends are proved."""
        return self.enclosed(self.located(delta, start, sides, close)[0], delta)

    def located(self, delta: Fraction, start: float, sides: tuple[float, float], close: float) -> tuple[float, float]:
        """About that ε, and how wide its enclosure would be, relatively."""
        goal, at, (low, high) = log_of(delta), start, sides
        gap, slope = self.log_delta(at) - goal, self._slope(at)
        for _ in range(_SECANTS):
            if not abs(gap) > close:
                break
            low, high = (at, high) if gap > 0 else (low, at)
            before, last, at = at, gap, at + gap / slope
            if not low < at < high:
                at = (low + high) / 2
            if not abs(at - before) > _STILL * at:
                break
            gap = self.log_delta(at) - goal
            steeper = (last - gap) / (at - before)
            slope = steeper if 0 < steeper < math.inf else slope
        with precision(64):
            value = self.delta(Fraction(at))
            return at, float(value.rad() / value.mid()) / (slope * at) if value.mid() > 0 else math.inf

    def _or_nothing(self, x: float) -> float:
        """NaN where nothing is known: the search for one root ends, and that for the next begins."""
        try:
            return self.log_delta(x)
        except NotCertified:
            return math.nan

    def enclosed(self, x: float, delta: Fraction) -> Bound:
        """Both ends of the ε near x at which δ is this one, each proved where it is."""
        goal, value, slope = log_of(delta), self.delta(Fraction(x)), self._slope(x)
        with precision(128):
            above, below = (_log(end) - goal for end in (value.upper(), value.lower()))
        tiny = 2.0**-50 * x
        upper = self._end(x + above / slope, max(abs(above) / slope, tiny), delta, 1)
        lower = self._end(x + below / slope, max(abs(below) / slope, tiny), delta, -1)
        if upper is None:
            raise NotCertified("the exact profile", f"nothing proved an ε near {x:.6g}")
        return Bound(0.0 if lower is None else lower, upper)

    def _slope(self, x: float) -> float:
        """That of −ln δ near x, from what was asked nearby."""
        others = [at for at in self._values if _APART * x < abs(near(at) - x) < _FURTHEST * x]
        other = min(map(near, others), key=lambda at: abs(at - x), default=x * (1 - _FURTHEST / 2))
        slope = (self.log_delta(x) - self.log_delta(other)) / (other - x)
        if not 0 < slope < math.inf:
            raise NotCertified("the exact profile", f"δ does not fall near {x:.6g}")
        return slope

    def _end(self, x: float, step: float, delta: Fraction, sign: int) -> float | None:
        """The first place from x on, in steps that double, that is proved to be on that side."""
        for k in range(_WIDENINGS):
            at = x + sign * (step / 64) * (2.0**k - 1)
            if not (0 < at < math.inf and abs(at - x) < x / 2):
                break
            value = self.delta(Fraction(at))
            with precision(256):
                if value <= ball(delta) if sign > 0 else value > ball(delta):
                    return at
        return None


def log_of(delta: Fraction) -> float:
    """ln δ, however small."""
    return math.log(delta.numerator) - math.log(delta.denominator)


def _log(value: Ball) -> float:
    with precision(64):
        middle = value.mid()
        return float(middle.log()) if middle > 0 else -math.inf
