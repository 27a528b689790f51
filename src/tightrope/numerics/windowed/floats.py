"""The split sampled step in floats, on a grid of outcomes: its moments and how fast they fall. Only for choices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics.balls import precision, upper_float
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["FloatLaw", "FloatOthers", "FloatStep", "Windows", "log_cdf", "log_difference", "log_sum"]

_ANGLES = 12
_MOST_PLACES = 20_000


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
        import numpy as np

        total = np.zeros(len(t))
        with np.errstate(all="ignore"):
            for transform, copies in self._parts:
                total = total + copies * recall.log_floats(transform, t)
        result: Floats = np.where(np.isnan(total), math.inf, total)
        return result

    def log_decay(self, t: float, y: float) -> float:
        """About Σ k·ln of the bounds of |M(t+iy)|/M(t)."""
        import numpy as np

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

    @cached_property
    def deviation(self) -> float:
        """About that of the sum of the sampled losses, but for rare large ones."""
        return math.sqrt(sum(k * rate * rate * math.expm1(min(mu * mu, 4.0)) for mu, rate, k in self.samplers))

    def room(self, x: float) -> float:
        """What sampled steps must bring to reach x: less, where the other parts are bounded and cannot reach it."""
        top = self.others.largest
        return min(max(x - top, self.deviation), x) if 0 < top < x else x


class Windows:
    """ln of MIDDLE and LOW on the grid."""

    def __init__(self, z: Floats, blur: float, low: float | None, high: float) -> None:
        import numpy as np

        upper = log_cdf((high - z) / blur)
        self.alone = low is None
        self.middle, self.low = upper, np.full_like(upper, -math.inf)
        if low is not None:
            self.middle = np.minimum(log_cdf((z - low) / blur), upper)
            self.low = log_cdf((low - z) / blur)


class FloatStep:
    """Outcomes z up to ``end``, their losses, and ln of the normal density times the step."""

    def __init__(self, mu: float, rate: float, copies: int, blur: float, end: float) -> None:
        import numpy as np

        step = min(blur / 2.5, 0.1)
        if not (end + 20) / step < _MOST_PLACES:
            raise NotCertified("a windowed contour", "the blur is too small")
        self.mu, self.rate, self.copies, self.blur = mu, rate, copies, blur
        self.z = np.arange(math.floor(-9.5 / step), math.ceil((end + 24 * blur) / step) + 1) * step
        self.losses = np.log1p(rate * np.expm1(np.minimum(mu * self.z - mu * mu / 2, 690.0)))
        self.logs = -self.z * self.z / 2 + math.log(step / math.sqrt(2 * math.pi))

    def log_moments(self, windows: Windows, powers: Floats) -> tuple[Floats, Floats]:
        """ln of l and m at many powers of w."""
        import numpy as np

        exponents = np.multiply.outer(powers, self.losses) + self.logs
        return log_sum(exponents + windows.middle), log_sum(exponents + windows.low)

    def falls(self, windows: Windows, power: float) -> Callable[[float], tuple[float, float, Fraction, Fraction]]:
        """A function of y: about ln of the bounds of |l| and |m| beyond it, and the angles that show them."""
        import numpy as np

        angles = np.geomspace(1e-3, 1.5, _ANGLES) * min(1.0, self.mu)
        shifted = [self._shifted(windows.middle, angles, power, windows.alone)]
        if not windows.alone:
            shifted.append(self._shifted(windows.low, angles, power, bulk=True))
        still = float(log_sum(power * self.losses + self.logs + windows.low))

        def fall(y: float) -> tuple[float, float, Fraction, Fraction]:
            values = [log_sum(logs - y * turns) for logs, turns in shifted]
            i = int(values[0].argmin())
            middle, angle = float(values[0][i]), short(float(angles[i]))
            if len(values) > 1 and float(values[1].min()) < still:
                j = int(values[1].argmin())
                return middle, float(values[1][j]), angle, short(float(angles[j]))
            return middle, still, angle, Fraction(0)

        return fall

    def _shifted(self, window: Floats, angles: Floats, power: float, bulk: bool) -> tuple[Floats, Floats]:
        """ln of the integrand on shifted paths without its fall, and arg w: angles × places."""
        import numpy as np

        depth = (angles[:, None] / self.mu) ** 2 / 2
        size = depth / self.blur**2 + window
        if bulk:
            gap = -np.expm1(np.minimum(window, -1e-17))
            size = np.minimum(size, np.log1p(np.exp(np.minimum(depth / self.blur**2, 600.0)) * gap))
        rise = self.rate * np.exp(np.minimum(self.mu * self.z - self.mu * self.mu / 2, 600.0))
        real, imag = rise * np.cos(angles[:, None]) - self.rate, rise * np.sin(angles[:, None])
        log_w = np.log1p(np.maximum(real * (2 + real) + imag * imag, -1 + 1e-16)) / 2
        return self.logs + depth + size + power * log_w, np.arctan2(imag, 1 + real)
