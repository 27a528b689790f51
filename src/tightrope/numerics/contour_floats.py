"""Where to integrate: tilts and periods in floats. Any choice made here is valid; a poor one only costs width."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tightrope.numerics.balls import upper_float
from tightrope.numerics.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.transform import Floats

__all__ = ["Saddles", "log_factor"]

_BLOCK = 17
_RATIO = 1.3
_FURTHEST = 12  # blocks from the typical tilt: a factor 66 each


def log_factor(t: Floats) -> Floats:
    """ln sup_u (1−e^{−u})e^{−tu} = t·ln t − (1+t)·ln(1+t), t > 0; with t = v − 1 also ln sup_u (e^u−1)e^{−vu}."""
    import numpy as np

    result: Floats = t * np.log(t) - (1 + t) * np.log1p(t)
    return result


class Saddles:
    """K(t) = Σ k·ln M(t) in floats, tabulated where it is asked for."""

    def __init__(self, parts: Sequence[tuple[Transform, int]]) -> None:
        self._parts = parts
        self._blocks: dict[int, tuple[Floats, Floats]] = {}
        zero, reverse, one = (float(v) for v in self.log_moment([0.0, -1.0, 1.0]))
        self.log_mass, self.log_reverse = zero, reverse
        tilt = 1 / math.sqrt(one) if 1e-300 < one < math.inf else 1.0
        self.unit = min(max(tilt, 1e-9), 1e9)  # 1/deviation, about: K(1) is the variance of a normal loss
        tops = [(transform.largest(), copies) for transform, copies in parts]
        known = [upper_float(top) * copies for top, copies in tops if top is not None]
        self.largest = sum(known) if len(known) == len(tops) else math.inf

    def log_moment(self, t: Floats | Sequence[float]) -> Floats:
        """K(t)."""
        import numpy as np

        total = np.zeros(len(t))
        with np.errstate(all="ignore"):
            for transform, copies in self._parts:
                total += copies * transform.log_floats(t)
        total[np.isnan(total)] = math.inf
        return total

    def _block(self, number: int) -> tuple[Floats, Floats, Floats]:
        """Tilts t, K(t) and K(−1−t) on a stretch of the logarithmic axis."""
        import numpy as np

        found = self._blocks.get(number)
        if found is None:
            first = self.unit * 4 * _RATIO ** (number * (_BLOCK - 1) - _BLOCK // 2)
            t = first * _RATIO ** np.arange(_BLOCK)
            found = self._blocks[number] = t, self.log_moment(np.concatenate([t, -1 - t]))
        return found[0], found[1][:_BLOCK], found[1][_BLOCK:]

    def _number(self, t: float) -> int:
        return math.floor((math.log(t / (self.unit * 4)) / math.log(_RATIO) + _BLOCK // 2) / (_BLOCK - 1))

    def best(self, objective: Callable[[Floats, Floats], Floats]) -> tuple[float, float]:
        """The tilt at which an objective of (t, K(t)) with one valley is least, and about its value there."""
        import numpy as np

        number, last = 0, 0
        while True:
            t, k, _ = self._block(number)
            with np.errstate(all="ignore"):
                values = objective(t, k)
            values = np.where(np.isfinite(values), values, math.inf)
            i = int(values.argmin())
            step = -1 if i == 0 else 1 if i == _BLOCK - 1 else 0
            if step == 0 or step == -last or abs(number + step) > _FURTHEST:
                break
            number, last = number + step, step
        if not 0 < i < _BLOCK - 1 or not np.isfinite(values[i - 1 : i + 2]).all():
            return float(t[i]), float(values[i])
        low, middle, high = (float(v) for v in values[i - 1 : i + 2])
        bend = low - 2 * middle + high
        shift = (low - high) / (2 * bend) if bend > 0 else 0.0
        return float(t[i]) * _RATIO**shift, middle - (low - high) * shift / 4

    def chernoff(self, x: float) -> tuple[float, float]:
        """About the least of ln c(t) + K(t) − tx, and its t."""
        t, value = self.best(lambda at, k: k + log_factor(at) - at * x)
        return value, t

    def saddle(self, x: float) -> float:
        """The t at which the integrand K(t) − tx − ln t(t+1) has its saddle."""
        import numpy as np

        return self.best(lambda at, k: k - at * x - np.log(at) - np.log1p(at))[0]

    def saddle_root(self, log_target: float) -> tuple[float, float]:
        """About the x at which the call is e^log_target, and its saddle."""
        import numpy as np

        width = math.log(2 * math.pi) / 2

        def objective(at: Floats, k: Floats) -> Floats:
            bend = self.unit**-2 + at**-2 + (1 + at) ** -2
            result: Floats = (k - np.log(at) - np.log1p(at) - np.log(bend) / 2 - width - log_target) / at
            return result

        t, x = self.best(objective)
        return x, t

    def saddle_call(self, t: float, x: float) -> float:
        """About ln of the call at x, from its saddle t."""
        bend = self.curvature(t) + t**-2 + (1 + t) ** -2
        log = float(self.log_moment([t])[0]) - t * x - math.log(t) - math.log1p(t)
        return min(log - math.log(2 * math.pi * bend) / 2, self.log_mass)

    def curvature(self, t: float) -> float:
        """About K''(t), from the table."""
        at, k, _ = self._block(self._number(t))
        i = min(max(int(abs(at - t).argmin()), 1), _BLOCK - 2)
        (a, b, c), (p, q, r) = (float(v) for v in at[i - 1 : i + 2]), (float(v) for v in k[i - 1 : i + 2])
        bend = 2 * ((r - q) / (c - b) - (q - p) / (b - a)) / (c - a)
        return bend if 0 < bend < math.inf else self.unit**-2

    def tilts(self, t: float) -> tuple[Floats, Floats, Floats]:
        """Second tilts with their K: those above t for aliases from above, and −1−tilt for those from below."""
        import numpy as np

        number = self._number(t)
        return tuple(
            np.concatenate(pair) for pair in zip(self._block(number), self._block(number + 1), strict=True)
        )  # type: ignore[return-value]

    def period(self, t: float, x: float, log_error: float) -> float:
        """A period whose aliases at x, but for the known pieces from below, are each at most e^log_error."""
        import numpy as np

        at, k, k_below = self.tilts(t)
        with np.errstate(all="ignore"):
            above = (k + log_factor(at) - at * x - log_error) / (at - t)
            below = (k_below + log_factor(at) + (1 + at) * x - log_error) / (1 + at + t)
        right = float(np.where((at > t * 1.02) & np.isfinite(above), above, math.inf).min())
        left = float(np.where(np.isfinite(below), below, math.inf).min())
        left = min(left, (self.log_reverse + x - log_error) / (1 + t))
        # A ratio r/(1−r) of the aliases doubles the bound at most: one nat and a bit over the tilt.
        return max(min(right, self.largest - x), left, self.unit**-1 * 1e-3) + 0.7 / self.unit * 0
