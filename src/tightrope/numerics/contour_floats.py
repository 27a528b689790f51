"""Where to integrate: saddles, periods and unproved values in floats. Any choice made here is valid."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.numerics.balls import upper_float
from tightrope.numerics.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.transform import Complexes, Floats

__all__ = ["FloatContour", "FloatLine", "log_call_factor", "log_put_factor"]

_BLOCK = 17
_RATIO = 1.3
_LEAST, _MOST = 1e-9, 1e9
_MOST_NODES = 1 << 14
_NATS = 33.0  # accuracy aimed at: a few units of the last place of a float


def log_call_factor(t: Floats) -> Floats:
    """ln sup_u (1−e^{−u})e^{−tu} = t·ln t − (1+t)·ln(1+t), for t > 0."""
    import numpy as np

    result: Floats = t * np.log(t) - (1 + t) * np.log1p(t)
    return result


def log_put_factor(v: Floats) -> Floats:
    """ln sup_u (e^u−1)e^{−vu} = (v−1)·ln(v−1) − v·ln v, for v > 1."""
    return log_call_factor(v - 1)


@dataclass(frozen=True)
class FloatLine:
    """The trapezoidal sum at tilt t, step η, in floats."""

    t: float
    eta: float
    log_moment: float
    terms: Complexes  # Π φ^k / (s(s+1)) at the nodes
    log_mass: float
    log_reverse: float

    def log_call(self, x: float) -> tuple[float, float]:
        """ln of the finite part of the call at x, and the share of it that round-off may be."""
        import numpy as np

        t, n = self.t, len(self.terms)
        y = self.eta * np.arange(n)
        parts = self.terms.real * np.cos(y * x) + self.terms.imag * np.sin(y * x)
        scale = self.log_moment - t * x + math.log(self.eta / (2 * math.pi))
        total, period = float(parts[0]) + 2 * float(parts[1:].sum()), 2 * math.pi / self.eta
        # In units of e^scale: the two known pieces of the aliases from below.
        known = _over(self.log_mass - scale, t * period) - _over(self.log_reverse + x - scale, (t + 1) * period)
        value = total - known
        size = float(np.abs(self.terms).sum()) + abs(known)
        if not value > 0:
            return -math.inf, math.inf
        return scale + math.log(value), 1e-15 * size / value


def _over(log: float, exponent: float) -> float:
    """e^log / (e^exponent − 1)."""
    if exponent > 700:
        return math.exp(max(log - exponent, -745.0))
    return math.exp(min(log, 700.0)) / math.expm1(exponent)


class FloatContour:
    """The sum of independent losses in floats."""

    def __init__(self, parts: Sequence[tuple[Transform, int]]) -> None:
        self._parts = parts
        self.copies = sum(k for _, k in parts)
        self._blocks: dict[int, tuple[Floats, Floats]] = {}
        self._lines: dict[tuple[Fraction, Fraction, int], FloatLine] = {}
        self.log_mass = self.log_moment([0.0])[0]
        self.log_reverse = self.log_moment([-1.0])[0]
        tops = [(transform.largest(), k) for transform, k in parts]
        known = [upper_float(top) * k for top, k in tops if top is not None]
        self.largest = sum(known) if len(known) == len(tops) else math.inf
        self._unit = self._typical_tilt()

    def log_moment(self, t: Floats | Sequence[float]) -> Floats:
        """K(t) = Σ k·ln M(t)."""
        import numpy as np

        total = np.zeros(len(t))
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            for transform, copies in self._parts:
                total += copies * transform.log_floats(t)
        total[np.isnan(total)] = math.inf
        return total

    def _typical_tilt(self) -> float:
        """1/deviation, about: K(1) is the variance of a normal loss."""
        value = float(self.log_moment([1.0])[0])
        tilt = 1 / math.sqrt(value) if 0 < value < math.inf else 1.0
        return min(max(tilt, 1e-6), 1e6)

    def _block(self, number: int) -> tuple[Floats, Floats, Floats]:
        """Tilts t, K(t) and K(−1−t) on a stretch of the logarithmic axis."""
        import numpy as np

        found = self._blocks.get(number)
        if found is None:
            first = self._unit * 4 * _RATIO ** (number * (_BLOCK - 1) - _BLOCK // 2)
            t = first * _RATIO ** np.arange(_BLOCK)
            found = self._blocks[number] = t, self.log_moment(np.concatenate([t, -1 - t]))
        return found[0], found[1][:_BLOCK], found[1][_BLOCK:]

    def best(self, objective: Callable[[Floats, Floats], Floats]) -> tuple[float, float]:
        """The tilt at which an objective of (t, K(t)) with one valley is least, and about its value there."""
        import numpy as np

        number, last = 0, 0
        while True:
            t, k, _ = self._block(number)
            with np.errstate(all="ignore"):
                values = objective(t, k)
            values = np.where(np.isnan(values), math.inf, values)
            i = int(values.argmin())
            step = -1 if i == 0 else 1 if i == _BLOCK - 1 else 0
            if math.isinf(float(values[i])):
                step = -1
            if step == 0 or step == -last or not _LEAST < float(t[i]) < _MOST:
                break
            number, last = number + step, step
        if not 0 < i < _BLOCK - 1 or not np.isfinite(values[i - 1 : i + 2]).all():
            return float(t[i]), float(values[i])
        low, middle, high = (float(v) for v in values[i - 1 : i + 2])
        bend = low - 2 * middle + high
        shift = (low - high) / (2 * bend) if bend > 0 else 0.0
        return float(t[i]) * _RATIO**shift, middle - (low - high) * shift / 4

    def chernoff(self, x: float) -> tuple[float, float]:
        """The least of ln c(t) + K(t) − tx, and its t."""
        t, value = self.best(lambda at, k: k + log_call_factor(at) - at * x)
        return value, t

    def chernoff_root(self, log_target: float) -> tuple[float, float]:
        """The least x at which the Chernoff bound is at most e^log_target, and its t."""
        t, value = self.best(lambda at, k: (k + log_call_factor(at) - log_target) / at)
        return value, t

    def saddle(self, x: float) -> float:
        """The t at which the integrand K(t) − tx − ln t(t+1) has its saddle."""
        import numpy as np

        return self.best(lambda at, k: k - at * x - np.log(at) - np.log1p(at))[0]

    def curvature(self, t: float) -> float:
        """About K''(t)."""
        step = min(0.05 * t, 0.2 * self._unit)
        low, middle, high = (float(v) for v in self.log_moment([t - step, t, t + step]))
        bend = (low - 2 * middle + high) / (step * step)
        return bend if bend > 0 else self._unit**-2

    def period(self, t: float, x: float, log_error: float) -> float:
        """A period B whose aliases at x, but for the known pieces from below, are at most e^log_error."""
        import numpy as np

        rights, lefts = math.inf, math.inf
        with np.errstate(all="ignore"):
            for number in self._around(t):
                at, k, k_left = self._block(number)
                beyond = at > t * 1.02
                if beyond.any():
                    right = (k + log_call_factor(at) - at * x - log_error) / (at - t)
                    rights = min(rights, float(np.nanmin(np.where(beyond, right, math.inf))))
                left = (k_left + log_call_factor(at) + (1 + at) * x - log_error) / (1 + at + t)
                lefts = min(lefts, float(np.nanmin(left)))
        lefts = min(lefts, (self.log_reverse + x - log_error) / (1 + t))
        return max(min(rights, self.largest - x), lefts, 1e-3 / self.spread)

    def _around(self, t: float) -> list[int]:
        """The blocks to look for second tilts in."""
        position = (math.log(t / (self._unit * 4)) / math.log(_RATIO) + _BLOCK // 2) / (_BLOCK - 1)
        number = math.floor(position)
        return [number] if position - number < 0.6 else [number, number + 1]

    @property
    def spread(self) -> float:
        """1/deviation, about."""
        return self._unit
