"""Panels for Gauss's rule on a window of the sampled normal step: chosen in floats, any choice is valid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["Panel", "Shape", "panels"]

_NUMBERS = (10, 14, 20, 28, 40)
_RHOS = tuple(Fraction(n, 4) for n in (7, 9, 12, 16, 22, 32, 48, 80))
_MOST_NODES = 6000
_MOST_PLACES = 50_000  # at which a density is looked at


@dataclass(frozen=True)
class Panel:
    """[middle − half, middle + half], a number of nodes, and the ellipse in which the integrand is bounded."""

    middle: Fraction
    half: Fraction
    number: int
    rho: Fraction


@dataclass(frozen=True)
class Shape:
    """The split step in floats."""

    mu: float
    rate: float
    blur: float
    low: float | None
    high: float
    start: float | None = None  # where a record is exchanged, and
    deep: float | None = None

    def log_power(self, power: float, left: Floats, right: Floats) -> Floats:
        """ln of the largest w^A between left and right, or of w(z)^A·w(−z)^{1−A}."""
        log: Floats = power * self._rise(right if power >= 0 else left)
        if self.start is not None:
            log = log + (1 - power) * self._rise(-right if power > 1 else -left)
        return log

    def _rise(self, z: Floats) -> Floats:
        import numpy as np

        result: Floats = np.log1p(self.rate * np.expm1(np.minimum(self.mu * z - self.mu**2 / 2, 600.0)))
        return result

    def shrunk(self, power: float, left: Floats, right: Floats, angle: Floats) -> Floats | float:
        """ln of what is added to it at an angle."""
        log: Floats | float = 0.0
        if power < 0:
            log = power * self._shrinkage(right, angle)
        if self.start is not None and power > 1:
            log = log + (1 - power) * self._shrinkage(-left, angle)
        return log

    def _shrinkage(self, z: Floats, angle: Floats) -> Floats:
        import numpy as np

        rise, rest = self._growth(z), 1 - self.rate
        share = np.where(rise < rest, 4 * rest * rise / (rest + rise) ** 2, 1.0)
        result: Floats = np.log1p(-share * np.sin(np.minimum(angle, 3.1) / 2) ** 2) / 2
        return result

    def _growth(self, z: Floats) -> Floats:
        import numpy as np

        result: Floats = self.rate * np.exp(np.minimum(self.mu * z - self.mu**2 / 2, 300.0))
        return result

    def turns(self, left: Floats, right: Floats, angle: Floats) -> Floats | float:
        """The largest angle of w, and that of w(−z)."""
        import numpy as np

        total: Floats | float = 0.0
        for end in (right,) if self.start is None else (right, -left):
            rise = self._growth(end)
            total = total + np.arctan2(rise * np.sin(angle), 1 - self.rate + rise * np.cos(angle))
        return total

    def log_windows(self, kind: str, left: Floats, right: Floats, cost: Floats) -> Floats:
        """ln of the bound of |W| between left and right at the depth that costs e^cost."""
        import numpy as np

        low, high = self.borders(kind)
        plain: Floats = np.zeros_like(cost)
        outside: Floats = np.full_like(cost, -math.inf)
        if low is not None:
            plain = np.minimum(plain, _log_tails((right - low) / self.blur))
            outside = np.logaddexp(outside, _log_tails((low - left) / self.blur))
        if high is not None:
            plain = np.minimum(plain, _log_tails((high - left) / self.blur))
            outside = np.logaddexp(outside, _log_tails((right - high) / self.blur))
        if kind == "middle" and self.low is not None:
            return cost + plain
        result: Floats = np.minimum(cost + plain, np.logaddexp(0.0, cost + outside))
        return result

    def borders(self, kind: str) -> tuple[float | None, float | None]:
        """Between which ζ lies."""
        if kind == "high":
            return self.high, None
        return (self.deep, self.low) if kind == "low" else (self.deep if self.low is None else self.low, self.high)

    def log_density(self, kind: str, power: float, z: Floats) -> Floats:
        """ln of φ·W·w^A, or of φ·W·w(z)^A·w(−z)^{1−A}, about."""
        result: Floats = self.log_windows(kind, z, z, 0.0 * z) - z * z / 2 + self.log_power(power, z, z)
        return result

    def log_before(self, kind: str, power: float, z: float) -> float:
        """ln of the bound of the integral to the left of z."""
        import numpy as np

        start = -math.inf if self.start is None else self.start
        log = float(self.log_power(power, np.array([start]), np.array([z]))[0]) - min(z, 0.0) ** 2 / 2
        border = self.borders(kind)[0]
        return log if border is None else log + _log_tail((z - border) / self.blur)


def _log_tail(x: float) -> float:
    return -(min(x, 0.0) ** 2) / 2


def _log_tails(x: Floats) -> Floats:
    import numpy as np

    result: Floats = np.minimum(x, 0.0) ** 2 / -2
    return result


def panels(
    shape: Shape, kind: str, power: float, y: float, nats: float, angle: float = 0.0, cut: Fraction | None = None
) -> list[Panel]:
    """Panels for an error of about e^−nats of the integral at y = 0, at every |y'| ≤ y; they end at the cut, if given.

    With an angle: for the integrand on the path shifted by i·angle/μ, in absolute value.
    """
    extra = (angle / shape.mu) ** 2 * (1 + shape.blur**-2) / 2  # what the shift may add
    first, last, top = _ends(shape, kind, power, nats + extra, cut)
    goal = top - nats
    result: list[Panel] = []
    total, at = 0, first
    while at < last:
        panel = _widest(shape, kind, power, y, at, last, goal, angle)
        if cut is not None and panel.middle + panel.half > cut:
            half = (cut - Fraction(at)) / 2
            panel = Panel(Fraction(at) + half, half, panel.number, panel.rho)
        result.append(panel)
        total += panel.number
        at = float(panel.middle + panel.half)
        if total > _MOST_NODES:
            raise NotCertified("a windowed contour", "a step needs too many nodes")
    return result


def _ends(shape: Shape, kind: str, power: float, nats: float, cut: Fraction | None) -> tuple[float, float, float]:
    """Where the density is below e^−nats of its largest value, and that value's logarithm."""
    import numpy as np

    step = max(shape.blur, 0.05)
    border = {"low": shape.low, "middle": shape.high, "high": shape.high}[kind]
    assert border is not None
    spread = math.sqrt(2 * nats) + 1
    left = -spread - 1
    if shape.start is not None:
        left = shape.start
    elif power < 0:
        left -= math.sqrt(2 * power * math.log1p(-shape.rate))
    right = border + shape.blur * spread if kind != "high" else max(border, 0.0) + spread
    if cut is not None:
        right = float(cut)
        if not right > left:
            raise NotCertified("a windowed contour", "the cut leaves nothing")
    number = math.ceil((right - left) / step)
    if number > _MOST_PLACES:
        raise NotCertified("a windowed contour", "its panels are out of reach")
    values = shape.log_density(kind, power, np.linspace(left, right, number + 1))
    top = float(values.max())
    width = (right - left) / number
    end = min(int(np.nonzero(values > top - nats - 3)[0][-1]) + 1, number)
    begin = 0
    while begin < end - 1 and shape.log_before(kind, power, left + width * (begin + 1)) < top - nats - 3:
        begin += 1
    end_at = left + width * end
    start = left if begin == 0 and shape.start is not None else _round(left + width * begin)
    return start, right if cut is not None else max(end_at, 1.0), top


def _round(x: float) -> float:
    return math.floor(x * 256) / 256


@lru_cache(maxsize=1)
def _trials() -> tuple[Floats, Floats, Floats, Floats]:
    """Halves × ellipses: half lengths, how far and how deep the ellipse reaches, and 2·ln ρ."""
    import numpy as np

    halves = np.floor(2048 * 2.0 * 0.75 ** np.arange(34)) / 2048
    halves = halves[halves > 0]
    rhos = np.array([float(rho) for rho in _RHOS])
    shape = (len(halves), len(rhos))
    wide, deep = np.multiply.outer(halves, (rhos + 1 / rhos) / 2), np.multiply.outer(halves, (rhos - 1 / rhos) / 2)
    return np.broadcast_to(halves[:, None], shape), wide, deep, np.broadcast_to(2 * np.log(rhos), shape)


def _widest(
    shape: Shape, kind: str, power: float, y: float, at: float, last: float, goal: float, shift: float
) -> Panel:
    """The panel from here on with the fewest nodes for its length."""
    import numpy as np

    halves, wide, depth, nats = _trials()
    left, right = at + halves - wide, at + halves + wide
    angle = depth * shape.mu
    nearest = np.maximum(np.maximum(left, -right), 0.0)
    logs = (depth * depth - nearest * nearest) / 2
    logs += shape.log_windows(kind, left, right, (depth**2 + (shift / shape.mu) ** 2) / (2 * shape.blur**2))
    logs += shape.log_power(power, left, right) + shape.shrunk(power, left, right, angle + shift)
    if y:
        logs += (y / 2 if shift else y) * shape.turns(left, right, np.maximum(angle - shift, 0.0))
    need = (logs + np.log(halves) + 2 - goal) / nats + 1
    numbers = np.array(_NUMBERS)[np.minimum(np.searchsorted(_NUMBERS, need), len(_NUMBERS) - 1)]
    fits = (need <= _NUMBERS[-1]) & (angle <= 1.57) & (angle + shift <= 3.1)
    scores = np.where(fits, numbers / np.minimum(2 * halves, last - at + halves / 4), math.inf)
    i = int(scores.argmin())
    if not scores.flat[i] < math.inf:
        raise NotCertified("a windowed contour", "a panel is out of reach")
    half = Fraction(float(halves.flat[i]))
    return Panel(Fraction(at) + half, half, int(numbers.flat[i]), _RHOS[i % len(_RHOS)])
