"""A float estimate of the call of sampled steps and other parts, from a saddle: where to begin. It proves nothing.

A step of loss x reaches x alone, and larger ones would hide all others from every tilt. So the steps are capped there:
the capped law has a saddle, and what is above the cap is added.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from tightrope.numerics import effort
from tightrope.numerics.contour.tilts import log_factor
from tightrope.numerics.windowed.capped_others import CappedOthers
from tightrope.numerics.windowed.floats import FloatLaw, log_sum
from tightrope.numerics.windowed.outcomes import log_one_call, loss_place, losses

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["saddle_call", "saddle_root"]

_PLACES, _TILTS, _FINER, _ROUNDS = 240, 40, 7, 5
_FARTHEST = 60.0  # no step goes further in any question that floats can ask
_STEPS = 60
_CLOSE, _APART = 0.02, 0.03
_BULK = 4.0  # deviations: smaller steps are never alone
_LEAST = -5e4
_UNITS = 100.0  # of work for a call, and for each sampler


def saddle_call(law: FloatLaw, x: float, adding: bool = False) -> float:
    """About ln of the call at x > 0; −∞ if nothing is seen."""
    import numpy as np

    effort.spend(_UNITS * (1 + len(law.samplers)), "a windowed contour")
    room = law.room(x)
    cap = max(room, _BULK * law.deviation)
    steps = [_Capped(*sampler, None if adding else cap, law.exchanged) for sampler in law.samplers]
    others = law.others.capped(math.inf if adding else max(x, cap))
    t, value = _saddle(others, steps, x, room)
    if not math.isfinite(value):
        return -math.inf
    near = 0.01 * t
    three = _log_moments(others, steps, np.array([t - near, t, t + near]))
    bend = max(float(three[0] - 2 * three[1] + three[2]) / near**2, 0.0) + t**-2 + (1 + t) ** -2
    together = min(value - math.log(2 * math.pi * bend) / 2, float(log_factor(np.array([t]))[0] + three[1]) - t * x)
    if adding:
        return together
    rest = float(others.log_moments(np.array([t]))[0]) - t * (x - room) if law.others.some else 0.0
    alone = [
        log_one_call(mu, rate, cap, law.exchanged) + math.log(copies) + min(rest, 0.0)
        for mu, rate, copies in law.samplers
    ]
    return float(np.logaddexp.reduce([together, others.log_alone(), *alone]))


class _Capped:
    """A step with losses up to a cap: ln of the masses under the second law, and the losses."""

    def __init__(self, mu: float, rate: float, copies: int, cap: float | None, exchanged: bool) -> None:
        import numpy as np

        end = 9.5 if cap is None else min(max(loss_place(mu, rate, cap, exchanged), -6.0), _FARTHEST)
        z = np.linspace(-9.5, end, _PLACES)
        self.copies, self.sign = copies, -1.0 if cap is None else 1.0
        self.losses, reverse = losses(mu, rate, z, exchanged)
        self.logs = reverse - z * z / 2 + math.log((end + 9.5) / (_PLACES - 1) / math.sqrt(2 * math.pi))
        self.logs[-1] -= math.log(2)

    def log_moments(self, t: Floats) -> Floats:
        """ln E[e^{tL}] of one step."""
        import numpy as np

        powers = t + 1 if self.sign > 0 else -t
        return log_sum(np.multiply.outer(powers, self.losses) + self.logs)


def _log_moments(others: CappedOthers, steps: list[_Capped], t: Floats) -> Floats:
    total = others.log_moments(t)
    for step in steps:
        total = total + step.copies * step.log_moments(t)
    return total


def _saddle(others: CappedOthers, steps: list[_Capped], x: float, room: float) -> tuple[float, float]:
    """The t at which the integrand K(t) − tx − ln t(t+1) is least, and its value; finer and finer, as it may bend."""
    import numpy as np

    low, high, number = 1e-2 / room, 2e4 / room, _TILTS
    for _ in range(_ROUNDS):
        tilts = np.geomspace(low, high, number)
        values = _log_moments(others, steps, tilts) - tilts * x - np.log(tilts) - np.log1p(tilts)
        values = np.where(np.isfinite(values), values, math.inf)
        i = int(values.argmin())
        low, high, number = float(tilts[max(i - 1, 0)]), float(tilts[min(i + 1, number - 1)]), _FINER
    return float(tilts[i]), float(values[i])


def saddle_root(law: FloatLaw, log_target: float) -> tuple[float, float] | None:
    """About the x > 0 at which the call is e^log_target, and the slope of −ln call against ln x; None if unseen."""
    top = law.others.largest if law.others.largest < math.inf else 0.0
    base = top if top and saddle_call(law, top * (1 + 1e-9), False) > log_target else 0.0

    def gap(room: float) -> float:
        return max(saddle_call(law, base + room), _LEAST) - log_target

    low, high = 0.0, math.inf
    room = max(rate * mu * math.sqrt(copies) for mu, rate, copies in law.samplers) * math.sqrt(-2 * log_target)
    before: tuple[float, float] | None = None
    for _ in range(_STEPS):
        value = gap(room)
        low, high = (room, high) if value > 0 else (low, room)
        if abs(value) < _CLOSE or high < low * (1 + 1e-5):
            return base + room, _slope(gap, base, room)
        following = 0.0
        if before is not None and value > _LEAST / 2:
            slope = (value - before[1]) / math.log(room / before[0])
            following = room * math.exp(max(min(-value / slope, 1.5), -1.5)) if slope < 0 else 0.0
        before = (room, value) if value > _LEAST / 2 else None
        if not low < following < high:
            following = 2 * room if high == math.inf else room / 4 if low == 0 else math.sqrt(low * high)
        room = following
        if not 1e-290 < room < 1e6:
            break
    return None


def _slope(gap: Callable[[float], float], base: float, room: float) -> float:
    found = (gap(room) - gap(room * (1 + _APART))) / _APART * (base + room) / room
    return found if 0 < found < math.inf else 20.0
