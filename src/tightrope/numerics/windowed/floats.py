"""The split sampled step in floats, on a grid of outcomes: its moments and how fast they fall. Only for choices."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics.transforms.sampled_rule import short

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["FloatStep", "Windows", "log_cdf", "log_power", "log_sum"]

_ANGLES = 12
_MOST_PLACES = 20_000
_DOUBLINGS, _HALVINGS = 60, 5


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


def log_power(middle: Floats, low: Floats, copies: int) -> Floats:
    """ln of (middle + low)^k − low^k, from logarithms."""
    import numpy as np

    with np.errstate(all="ignore"):
        growth = copies * np.log1p(np.exp(middle - low))
        result: Floats = np.where(
            np.isneginf(low) | (middle - low > 600),
            copies * np.logaddexp(middle, low),
            copies * low + np.where(growth > 30, growth, np.log(np.expm1(np.minimum(growth, 30.0)))),
        )
    return result


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

    def log_moments(self, windows: Windows, powers: Floats) -> Floats:
        """ln of (l + m)^k − m^k at many powers of w."""
        import numpy as np

        exponents = np.multiply.outer(powers, self.losses) + self.logs
        return log_power(log_sum(exponents + windows.middle), log_sum(exponents + windows.low), self.copies)

    def reach(
        self, windows: Windows, power: float, t: float, log_error: float, start: float
    ) -> tuple[float, Fraction, Fraction] | None:
        """The y from which on the nodes are negligible, and the angles that show it; None if there is none."""
        import numpy as np

        angles = np.geomspace(1e-3, 1.5, _ANGLES) * min(1.0, self.mu)
        shifted = [self._shifted(windows.middle, angles, power, windows.alone)]
        if not windows.alone:
            shifted.append(self._shifted(windows.low, angles, power, bulk=True))
        still = float(log_sum(power * self.losses + self.logs + windows.low))

        def tail(y: float) -> tuple[float, int, int]:
            values = [log_sum(logs - y * turns) for logs, turns in shifted]
            i, j, low = int(values[0].argmin()), -1, still
            if len(values) > 1 and float(values[1].min()) < still:
                j = int(values[1].argmin())
                low = float(values[1][j])
            total = float(log_power(np.array([values[0][i]]), np.array([low]), self.copies)[0])
            return total + math.log(math.atan(t / y) / (math.pi * t)), i, j

        low, high = 0.0, start
        for _ in range(_DOUBLINGS):
            if tail(high)[0] < log_error:
                break
            low, high = high, high * 2
        else:
            return None
        for _ in range(_HALVINGS):
            y = math.sqrt(low * high) if low else high / 2
            low, high = (low, y) if tail(y)[0] < log_error else (y, high)
        _, i, j = tail(high)
        return high * 1.02, short(float(angles[i])), short(float(angles[j])) if j >= 0 else Fraction(0)

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
