"""The split sampled step in floats, on a grid of outcomes: its moments and how fast they fall. Only for choices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import precision, upper_float
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform
from tightrope.numerics.windowed.capped_others import CappedOthers
from tightrope.numerics.windowed.outcomes import losses, usual_deviation

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["FloatLaw", "FloatOthers", "FloatStep", "Windows", "log_cdf", "log_difference", "log_sum"]

_ANGLES, _AGAIN = 12, 4.0  # angles, one twice the one before; and how far y may move so that the next one will do
_LOOK, _QUICK_DECAY = 60.0, 0.04  # a decay's look; of a proof
_MOST_PLACES = 20_000
_DEEPEST, _DEEP_PLACES = 6.0, 240  # how far below their border DEEP steps are looked at, and where


@lru_cache(maxsize=1)
def _table() -> tuple[Floats, Floats]:
    import numpy as np

    places = np.arange(-3600, 801) / 100
    return places, np.array([math.log(math.erfc(-a / math.sqrt(2)) / 2) for a in places])


def log_cdf(a: Floats) -> Floats:
    """ln Φ, to a few digits."""
    import numpy as np

    places, logs = _table()
    far = -a * a / 2 - np.log(np.maximum(-a, 1.0)) - 0.92
    result: Floats = np.where(a < -36, far, np.interp(a, places, logs))
    return result


def log_sum(exponents: Floats) -> Floats:
    """ln Σ e^… along the last axis."""
    import numpy as np

    top = np.maximum(exponents.max(axis=-1, keepdims=True), -1e300)
    with np.errstate(divide="ignore"):
        result: Floats = (top + np.log(np.exp(exponents - top).sum(axis=-1, keepdims=True)))[..., 0]
    return result


def log_difference(bottom: Floats, growth: Floats) -> Floats:
    """ln of e^bottom·(e^growth − 1)."""
    import numpy as np

    with np.errstate(all="ignore"):
        risen = np.where(growth > 30, growth, np.log(np.expm1(np.minimum(growth, 30.0))))
        result: Floats = bottom + risen
    return result


def _seen(window: Floats) -> Integers:
    """Where ln of a window is not −∞."""
    import numpy as np

    return np.nonzero(window > -math.inf)[0]


class FloatOthers:
    """The parts that are not split, in floats."""

    def __init__(self, parts: Sequence[tuple[Transform, int]]) -> None:
        self._parts = parts
        with precision(64):
            tops = [(transform.largest(), copies) for transform, copies in parts]
        self.some = bool(parts)
        self.largest = sum((math.inf if top is None else upper_float(top) * copies for top, copies in tops), 0.0)

    def log_moments(self, t: Floats) -> Floats:
        """Σ k·ln M(t); ∞ where it is unknown."""
        return self.capped(math.inf).log_moments(t)

    def capped(self, cap: float) -> CappedOthers:
        """The same without losses above a cap, as far as they are known one by one."""
        return CappedOthers(self._parts, cap)

    def log_decay(self, t: float, y: float) -> float:
        """About Σ k·ln of the bounds of |M(t+iy)|/M(t)."""
        import numpy as np

        work = sum(_LOOK + _QUICK_DECAY * transform.decay_cost for transform, _ in self._parts)
        effort.spend(work, "a windowed contour")
        at = np.array([y])
        return sum(copies * float(transform.log_decay_floats(t, at)[0]) for transform, copies in self._parts)

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:
        """About how many microseconds their nodes take."""
        return sum(transform.cost(t, eta, count, bits) for transform, _ in self._parts)


@dataclass(frozen=True)
class FloatLaw:
    """μ, the rate and the number of copies of each sampler; and the other parts."""

    samplers: tuple[tuple[float, float, int], ...]
    others: FloatOthers
    exchanged: bool = False

    @cached_property
    def deviation(self) -> float:
        """About that of the sum of the sampled losses, but for rare large ones."""
        return math.sqrt(sum(k * usual_deviation(mu, rate, self.exchanged) ** 2 for mu, rate, k in self.samplers))

    def room(self, x: float) -> float:
        """What sampled steps must bring to reach x: less, where the other parts are bounded and cannot reach it."""
        top = self.others.largest
        return min(max(x - top, self.deviation), x) if 0 < top < x else x


class FloatStep:
    """Outcomes z up to ``end``, their losses, and ln of the second law's density times the step; if a record is
    exchanged, without DEEP ones, whose border and begin are given."""

    def __init__(
        self, mu: float, rate: float, copies: int, blur: float, end: float, deep: tuple[float, float] | None = None
    ) -> None:
        import numpy as np

        step = min(blur / 2.5, 0.1)
        if not (end + 20) / step < _MOST_PLACES:
            raise NotCertified("a windowed contour", "the blur is too small")
        self.mu, self.rate, self.copies, self.blur = mu, rate, copies, blur
        self.exchanged = deep is not None
        self.deep, start = (-math.inf, -9.5) if deep is None else deep
        first = math.floor(start / step) if deep is None else math.ceil(start / step)
        self.z = np.arange(first, math.ceil((end + 24 * blur) / step) + 1) * step
        self.losses, reverse = losses(mu, rate, self.z, self.exchanged)
        self.least = float(self.losses[0]) if self.exchanged else math.log1p(-rate)
        self._plain = -self.z * self.z / 2 + math.log(step / math.sqrt(2 * math.pi))
        self.kept = log_cdf((self.z - self.deep) / blur) if self.exchanged else np.zeros_like(self.z)
        self.logs = self._plain + reverse + self.kept

    def log_moments(self, windows: Windows, powers: Floats) -> tuple[Floats, Floats]:
        """ln of m and l at many powers of w."""
        return self._moments(windows.middle, powers), self._moments(windows.low, powers)

    def _moments(self, window: Floats, powers: Floats) -> Floats:
        import numpy as np

        some = _seen(window)
        if not len(some):
            return np.full(len(powers), -math.inf)
        return log_sum(np.multiply.outer(powers, self.losses[some]) + (self.logs + window)[some])

    def log_deep(self, t: Floats) -> Floats:
        """ln of what DEEP steps have at tilts t."""
        import numpy as np

        z = np.linspace(self.deep - _DEEPEST, self.deep + 9 * self.blur, _DEEP_PLACES)
        at, reverse = losses(self.mu, self.rate, z, exchanged=True)
        logs = log_cdf((self.deep - z) / self.blur) - z * z / 2 + reverse
        near = log_sum(np.multiply.outer(t + 1, at) + logs) + math.log((z[1] - z[0]) / math.sqrt(2 * math.pi))
        far = self.z > z[-1]  # hardly any DEEP step lies there, but at steep tilts it counts
        logs = log_cdf((self.deep - self.z[far]) / self.blur) + self.logs[far]
        result: Floats = np.logaddexp(near, log_sum(np.multiply.outer(t + 1, self.losses[far]) + logs))
        return result

    def falls(self, windows: Windows, power: float) -> Callable[[float], tuple[float, float, Fraction, Fraction]]:
        """A function of y: about ln of the bounds of |l| and |m| beyond it, and the angles that show them."""
        import numpy as np

        angles = np.geomspace(1e-3, 1.5, _ANGLES) * min(1.0, self.mu)
        shifted = [self._shifted(windows.middle, angles, power, windows.alone)]
        if not windows.alone:
            shifted.append(self._shifted(windows.low, angles, power, bulk=True))
        still = float(log_sum(power * self.losses + self.logs + windows.low))
        looks = [_Best(logs, turns) for logs, turns in shifted]

        def fall(y: float) -> tuple[float, float, Fraction, Fraction]:
            found = [look.at(y) for look in looks]
            middle, angle = found[0][0], short(float(angles[found[0][1]]))
            if len(found) > 1 and found[1][0] < still:
                return middle, found[1][0], angle, short(float(angles[found[1][1]]))
            return middle, still, angle, Fraction(0)

        return fall

    def _shifted(self, window: Floats, angles: Floats, power: float, bulk: bool) -> tuple[Floats, Floats]:
        """ln of the integrand on shifted paths without its fall, and arg w: angles × places."""
        import numpy as np

        some = _seen(window)
        depth = (angles[:, None] / self.mu) ** 2 / 2
        window = (window + self.kept)[some]
        size = depth / self.blur**2 + window
        if bulk:
            gap = -np.expm1(np.minimum(window, -1e-17))
            size = np.minimum(size, np.log1p(np.exp(np.minimum(depth / self.blur**2, 600.0)) * gap))
        logs, turns, places = self._plain[some] + depth + size, np.zeros((len(angles), len(some))), self.z[some]
        for z, a in ((places, power), (-places, 1 - power)) if self.exchanged else ((places, power),):
            rise = self.rate * np.exp(np.minimum(self.mu * z - self.mu * self.mu / 2, 600.0))
            real, imag = rise * np.cos(angles[:, None]) - self.rate, rise * np.sin(angles[:, None])
            logs = logs + a * np.log1p(np.maximum(real * (2 + real) + imag * imag, -1 + 1e-16)) / 2
            turns = turns + np.arctan2(imag, 1 + real)
        return logs, turns


class _Best:
    """The least ln Σ e^{logs − y·turns} of all rows: not far from the last y the best row is that of the last, or one
    beside it."""

    def __init__(self, logs: Floats, turns: Floats) -> None:
        self._logs, self._turns = logs, turns
        self._last: tuple[float, int] | None = None

    def at(self, y: float) -> tuple[float, int]:
        """It, and its row."""
        first, last = 0, len(self._logs)
        if self._last is not None and 1 / _AGAIN < y / self._last[0] < _AGAIN:
            first, last = max(self._last[1] - 1, 0), min(self._last[1] + 2, last)
        values = log_sum(self._logs[first:last] - y * self._turns[first:last])
        i = int(values.argmin())
        self._last = y, first + i
        return float(values[i]), first + i


class Windows:
    """ln of MIDDLE and LOW on the grid, up to their ends; or, without ends, where outcomes beyond a border are not less
    likely than e^least."""

    def __init__(
        self,
        step: FloatStep,
        low: float | None,
        high: float,
        least: float = -math.inf,
        ends: tuple[float, float] = (math.inf, math.inf),
    ) -> None:
        import numpy as np

        z, blur = step.z, step.blur
        upper = log_cdf((high - z) / blur)
        self.alone = low is None
        self.middle, self.low = upper, np.full_like(upper, -math.inf)
        chance = step.logs + step.losses + math.log(step.copies)
        if low is not None:
            self.middle = np.minimum(log_cdf((z - low) / blur), upper)
            self.low = log_cdf((low - z) / blur)
            self.low[((self.low + chance < least) & (z > low)) | (z > ends[0])] = -math.inf
        self.middle[((self.middle + chance < least) & (z > high)) | (z > ends[1])] = -math.inf
