"""A float estimate of the call of sampled steps and other parts, from saddles: where to begin. It proves nothing.

A step of loss x reaches x alone, and beside other parts smaller ones nearly do; such rare large losses would hide all
others from every tilt. So the steps are capped: the capped law has a saddle, and paths with one step above the cap, and
with more of them, are added. Every cap makes the sum too large if anything, so the least one counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tightrope.numerics import effort
from tightrope.numerics.contour.tilts import log_factor
from tightrope.numerics.windowed.capped import Capped
from tightrope.numerics.windowed.floats import FloatLaw, log_sum
from tightrope.numerics.windowed.outcomes import losses

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["saddle_call", "saddle_root"]

_PLACES, _TILTS, _FINER, _ROUNDS = 240, 40, 7, 4
_CAPS, _SMALL = 4, 0.05  # how many are tried, and the least of them, of x
_STEPS = 60
_CLOSE, _APART = 0.02, 0.03
_BULK = 4.0  # deviations: smaller steps are never alone
_LEAST = -5e4
_NEXT = 1e-9  # how near to the largest loss of the other parts a root is sought, relatively
_UNITS, _CAPPED = 100.0, 500.0  # of work for a call, and for each sampler; the same with caps


def saddle_call(law: FloatLaw, x: float, adding: bool = False) -> float:
    """About ln of the call at x > 0; −∞ if nothing is seen."""
    import numpy as np

    room = law.room(x)
    if adding:
        effort.spend(_UNITS * (1 + len(law.samplers)), "a windowed contour")
        return _together(partial(_reverse_moments, law), x, np.geomspace(1e-2 / room, 2e4 / room, _TILTS))
    bulk = _BULK * law.deviation
    top, least = max(x, bulk), max(min(room, _SMALL * x), bulk)
    caps = [float(cap) for cap in np.geomspace(least, top, _CAPS)] if top > 1.01 * least else [top]
    effort.spend(_CAPPED * (1 + len(law.samplers)), "a windowed contour")
    tilts = np.geomspace(1e-2 / x, 2e4 / room, _TILTS)
    terms = min(Capped(law, x, caps, top).terms(tilts, rough=True), key=lambda one: one.whole)
    capped = Capped(law, x, [terms.cap], top)
    together = _together(lambda t: capped.log_moments(t)[0][0], x, _between(tilts, [terms.saddle], _FINER))
    one, more = terms.one, terms.more
    if terms.tilts:
        closer = capped.terms(_between(tilts, terms.tilts, _TILTS), rough=False)[0]
        one, more = min(one, closer.one), min(more, closer.more)
    return float(np.logaddexp.reduce([together, one, more]))


def _between(tilts: Floats, some: list[int], number: int) -> Floats:
    """Tilts between the neighbours of the least and of the largest of some."""
    import numpy as np

    result: Floats = np.geomspace(tilts[max(min(some) - 1, 0)], tilts[min(max(some) + 1, len(tilts) - 1)], number)
    return result


def _reverse_moments(law: FloatLaw, t: Floats) -> Floats:
    """K(t) where a record is added."""
    import numpy as np

    total = law.others.log_moments(t)
    z = np.linspace(-9.5, 9.5, _PLACES)
    logs = -z * z / 2 + math.log((z[1] - z[0]) / math.sqrt(2 * math.pi))
    for mu, rate, copies in law.samplers:
        total = total + copies * log_sum(np.multiply.outer(-t, losses(mu, rate, z, exchanged=False)[0]) + logs)
    return total


def _together(moments: Callable[[Floats], Floats], x: float, tilts: Floats) -> float:
    """ln of the call at x by a saddle: where K(t) − tx − ln t(t+1) is least; finer and finer, as it may bend. −∞ if
    there is none."""
    import numpy as np

    for left in reversed(range(_ROUNDS)):
        values = moments(tilts) - tilts * x - np.log(tilts) - np.log1p(tilts)
        values = np.where(np.isfinite(values), values, math.inf)
        i = int(values.argmin())
        if left:
            tilts = _between(tilts, [i], _FINER)
    t, value = float(tilts[i]), float(values[i])
    if not math.isfinite(value):
        return -math.inf
    near = 0.01 * t
    three = moments(np.array([t - near, t, t + near]))
    bend = max(float(three[0] - 2 * three[1] + three[2]) / near**2, 0.0) + t**-2 + (1 + t) ** -2
    return min(value - math.log(2 * math.pi * bend) / 2, float(log_factor(np.array([t]))[0] + three[1]) - t * x)


def saddle_root(law: FloatLaw, log_target: float, adding: bool = False) -> tuple[float, float] | None:
    """About the x > 0 at which the call is e^log_target, and the slope of −ln call against ln x; None if unseen."""
    top = law.others.largest if law.others.largest < math.inf else 0.0
    base = top if top and saddle_call(law, top * (1 + _NEXT), adding) > log_target else 0.0

    def gap(room: float) -> float:
        return max(saddle_call(law, base + room, adding), _LEAST) - log_target

    low, high, wider = 0.0, math.inf, math.inf
    room = max(rate * mu * math.sqrt(copies) for mu, rate, copies in law.samplers) * math.sqrt(-2 * log_target)
    before: tuple[float, float] | None = None
    for _ in range(_STEPS):
        value = gap(room)
        low, high = (room, high) if value > 0 else (low, room)
        if abs(value) < _CLOSE or high < low * (1 + 1e-5) or high < _NEXT * base:
            return base + room, _slope(gap, base, room)
        following = 0.0
        if before is not None and value > _LEAST / 2:
            slope = (value - before[1]) / math.log(room / before[0])
            following = room * math.exp(max(min(-value / slope, 1.5), -1.5)) if slope < 0 else 0.0
        before = (room, value) if value > _LEAST / 2 else None
        width = math.log(high / low) if low > 0 and high < math.inf else math.inf
        if not low < following < high or width > 0.7 * wider:  # beside atoms the call falls off cliffs
            following = 2 * room if high == math.inf else room / 4 if low == 0 else math.sqrt(low * high)
        room, wider = following, width
        if not 1e-290 < room < 1e6:
            break
    return None


def _slope(gap: Callable[[float], float], base: float, room: float) -> float:
    found = (gap(room) - gap(room * (1 + _APART))) / _APART * (base + room) / room
    return found if 0 < found < math.inf else 20.0
