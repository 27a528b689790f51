"""What the proofs of decay of sampled normal transforms share: the rule of a shifted integral, the search of the shift.

The shift is iθ/c, and turns w = 1 − q + ρ(x) into 1 − q + ρ(x)e^{iθ}. Each bound has its own ``logs``: about ln R at
many y (rows) and many θ (columns). Nothing found here is a proof; any θ and any rule are valid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.transforms.sampled_rule import Rule, short

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

    Logs = Callable[[Floats, Floats], Floats]

__all__ = ["best_angle", "least_logs", "polar", "positions", "shifted_rule"]

_WIDEST = 2.9
_MOST_NODES = 5000
_PLACE = 8.0  # microseconds of an angle at a y, about
_AROUND = (-0.8, -0.4, 0.0, 0.4, 0.8)  # steps of the coarse search


def shifted_rule(
    window: tuple[float, float], nats: float, c: float, theta: float, extra: Callable[[float], float]
) -> Rule:
    """The trapezoidal rule with the largest step; ``extra`` is what a strip of that depth adds to the integrand."""
    left, right = window
    widest = min(0.97 * (math.pi - theta) / c, math.sqrt(2 * nats))
    depths = [widest * 0.8**k for k in range(20)]
    best, depth = min(((nats + extra(d)) / d + d / 2, d) for d in depths)
    step = short(2 * math.pi / best)
    h = float(step)
    if not (right - left) / h < _MOST_NODES:
        raise NotCertified("a decay", "too many nodes")
    return Rule(step, math.floor(left / h), math.ceil(right / h), short(depth))


def positions(window: tuple[float, float], c: float) -> Floats:
    """Places at which a sum is about its integral."""
    import numpy as np

    left, right = window
    h = max(min(0.5, 0.7 / c, (right - left) / 30), (right - left) / 1000)
    x: Floats = np.arange(math.floor(left / h), math.ceil(right / h) + 1) * h
    return x


def polar(c: float, rate: float, x: Floats, angles: Floats) -> tuple[Floats, Floats]:
    """ln|w| and the angle of w = 1 − q + ρ(x)e^{iθ}."""
    import numpy as np

    rise = rate * np.exp(np.minimum(c * x - c * c / 2, 300.0))
    real, imag = rise * np.cos(angles) - rate, rise * np.sin(angles)
    return np.log1p(np.maximum(real * (2 + real) + imag * imag, -1 + 1e-16)) / 2, np.arctan2(imag, 1 + real)


def _best(logs: Logs, c: float, rate: float, y: float) -> tuple[float, float]:
    """About the best angle at y, from a parabola through three of a coarse search; and the ratio of its steps."""
    import numpy as np

    least = min(0.3, max(1e-12, 0.3 * c * c * rate * y * math.exp(-min(c * c / 2, 20.0))))
    number = max(8, min(30, math.ceil(math.log(_WIDEST / least) / 0.5)))
    ratio = (_WIDEST / least) ** (1 / (number - 1))
    coarse = least * ratio ** np.arange(number)
    found = logs(coarse, np.array([y]))[0]
    best = int(found.argmin())
    shift = 0.0
    if 0 < best < number - 1:
        low, middle, high = (float(v) for v in found[best - 1 : best + 2])
        bend = low - 2 * middle + high
        shift = (low - high) / (2 * bend) if bend > 0 else 0.0
    return min(float(coarse[best]) * ratio**shift, _WIDEST), ratio


def best_angle(logs: Logs, c: float, rate: float, y: float) -> Fraction:
    """The θ at which R(y) is about least."""
    return short(_best(logs, c, rate, y)[0])


def least_logs(logs: Logs, c: float, rate: float, y: Floats) -> Floats:
    """About the logarithm of the least R, at many y within a small range."""
    import numpy as np

    effort.spend(_PLACE * len(_AROUND) * len(y), "a search of a decay")
    angle, ratio = _best(logs, c, rate, math.sqrt(y[0] * y[-1]))
    angles = np.minimum(angle * ratio ** np.array(_AROUND), _WIDEST)
    result: Floats = np.minimum(logs(angles, y).min(axis=1), 0.0)
    return result
