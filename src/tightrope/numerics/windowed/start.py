"""A float estimate of the call of a few sampled steps, on a lattice of losses: where to begin. It proves nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tightrope.numerics import effort
from tightrope.numerics.windowed.outcomes import log_one_call, loss_place, losses, shares_above, usual_deviation

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["Lattice", "near_call", "near_reverse_call", "near_root"]

_CELLS = 8192
_SUMS = 800
_ROUNDS = 12
_PLAIN = -12.0  # a call of e^−12 is seen by floats without a tilt
_FAR = -40.0
_ROOMY = 12.0  # deviations: a lattice with a lower cap is rough where losses of both signs are cut off there
_LEAST = -700.0  # of a smaller call nothing is known
_UNITS = 2.5e3  # of work, for a lattice or sums


class Lattice:
    """The sum of ``copies`` losses, each at most ``cap``; a larger one is taken to decide the outcome alone.

    Good where the call is about e^log_target, or, without one, near x.
    """

    def __init__(
        self,
        step_of: tuple[float, float, bool],
        copies: int,
        cap: float,
        log_target: float | None = None,
        x: float = 0.0,
    ) -> None:
        import numpy as np

        effort.spend(_UNITS, "a windowed contour")
        mu, rate, exchanged = step_of
        end = loss_place(mu, rate, cap, exchanged)
        self.above, self.above_reverse = (
            -math.expm1(copies * math.log1p(-min(share, 0.9))) for share in shares_above(mu, rate, end, exchanged)
        )
        z = np.linspace(-9.0, end, 3000)
        step = float(z[1] - z[0])
        at, reverse = losses(mu, rate, z, exchanged)
        logs = at + reverse - z * z / 2 + math.log(step / math.sqrt(2 * math.pi))
        at = np.maximum(at, -cap) if exchanged else at  # such steps decide the outcome likewise
        logs[-1] -= math.log(2)
        guess = _LEAST if log_target is None else log_target
        tilts = np.geomspace(0.03, 30 - 6 * guess, 60) / cap
        exponents = logs + tilts[:, None] * at
        tops = exponents.max(axis=1)
        moments = copies * (tops + np.log(np.exp(exponents - tops[:, None]).sum(axis=1)))
        if log_target is None:
            best = int((moments - tilts * x).argmin())
            log_target = float((moments - tilts * x)[best])
        else:
            best = int(((moments - log_target) / tilts).argmin())
        tilt = 0.0 if log_target > _PLAIN else float(tilts[best])
        masses = logs + tilt * at
        top = float(masses.max())
        masses = np.exp(masses - top)
        total = float(masses.sum())
        mean = float(masses @ at) / total
        deviation = math.sqrt(copies * max(float(masses @ (at - mean) ** 2) / total, 0.0))
        least = -math.inf if exchanged else copies * math.log1p(-rate)
        low = max(least, copies * mean - 12 * deviation) - cap * (1.2 if exchanged else 0.02)
        self.step = (max(2.2 * cap, copies * mean + 9 * deviation) - low) / _CELLS
        law = _spread(at / self.step, masses / total)
        power = np.fft.irfft(np.fft.rfft(law) ** copies, _CELLS)
        first = math.floor(low / self.step)
        self.places = (first + np.arange(_CELLS)) * self.step
        self.masses = np.roll(power, -(first % _CELLS))
        self.logs = copies * (top + math.log(total)) - tilt * self.places

    def call(self, x: float) -> float:
        """About the call at x."""
        import numpy as np

        chosen = self.places > x
        exponents = np.minimum(self.logs[chosen], 700.0)
        inside = float((self.masses[chosen] * np.exp(exponents) * -np.expm1(x - self.places[chosen])).sum())
        return inside + self.above - math.exp(min(x, 700.0)) * self.above_reverse

    def noise(self, x: float) -> float:
        """About the round-off in the call at x."""
        chosen = self.logs[self.places > x]
        seen = len(chosen) and float(chosen[0]) > _LEAST
        return 1e-16 * math.exp(min(float(chosen[0]), 700.0)) if seen else math.inf

    def reverse_call(self, x: float) -> float:
        """About the call at x when a record is added: e^x·E[(e^{−x−L} − 1)₊]."""
        import numpy as np

        chosen = self.places < -x
        exponents = np.minimum(self.logs[chosen] + x, 690.0)
        return float((self.masses[chosen] * np.exp(exponents) * np.expm1(-x - self.places[chosen])).sum())


def _spread(places: Floats, masses: Floats) -> Floats:
    """Masses put on the lattice by cubic interpolation, which keeps three moments."""
    import numpy as np

    cells = np.floor(places).astype(int)
    u = places - cells
    shares = (
        -u * (u - 1) * (u - 2) / 6,
        (u + 1) * (u - 1) * (u - 2) / 2,
        -(u + 1) * u * (u - 2) / 2,
        (u + 1) * u * (u - 1) / 6,
    )
    law: Floats = np.zeros(_CELLS)
    for i, share in enumerate(shares):
        law += np.bincount((cells + i - 1) % _CELLS, weights=masses * share, minlength=_CELLS)
    return law


def _near(mu: float, rate: float, copies: int, x: float, room: float = 3.5, exchanged: bool = False) -> Lattice:
    deviation = usual_deviation(mu, rate, exchanged) * math.sqrt(copies)
    return Lattice((mu, rate, exchanged), copies, max(room * x, 4 * deviation), None, x)


def near_reverse_call(mu: float, rate: float, copies: int, x: float) -> float:
    """About ln of the call at x ≥ 0 when a record is added; −∞ if nothing is seen."""
    value = _near(mu, rate, copies, x).reverse_call(x)
    return math.log(value) if value > 0 else -math.inf


def near_call(mu: float, rate: float, copies: int, x: float, exchanged: bool = False) -> tuple[float, float]:
    """About ln of the call at x ≥ 0, and its slope against ln x; −∞ if nothing is seen."""
    for room in (3.5, 1.2):  # a high cap may let rare steps hide the rest from any tilt
        lattice = _near(mu, rate, copies, x, room, exchanged)
        value = lattice.call(x)
        if value > 100 * lattice.noise(x):
            return math.log(value), _slope(lattice, x, value)
    if exchanged or not copies * rate < 5 * x:
        return -math.inf, 1.0
    log = _direct_call(mu, rate, copies, x)
    return log, (log - _direct_call(mu, rate, copies, 1.05 * x)) / 0.05


def _direct_call(mu: float, rate: float, copies: int, x: float) -> float:
    """Roughly ln of the call at x far out, where no tilt shows floats all that counts: sums of positive terms only."""
    import numpy as np

    effort.spend(_UNITS, "a windowed contour")
    z = np.linspace(-9.0, loss_place(mu, rate, x), 3000)
    at, _ = losses(mu, rate, z, exchanged=False)
    logs = at - z * z / 2 + math.log(float(z[1] - z[0]) / math.sqrt(2 * math.pi))
    tilts = np.geomspace(1.0, 1e4, 48) / x
    exponents = logs + tilts[:, None] * at
    tops = exponents.max(axis=1)
    moments = tops + np.log(np.exp(exponents - tops[:, None]).sum(axis=1))
    i = int((copies * moments - tilts * x).argmin())
    least = math.log1p(-rate)
    step = (1.6 * x - copies * least) / _SUMS
    places = (at - least) / step
    cells = np.floor(places).astype(int)
    masses, u = np.exp(exponents[i] - moments[i]), places - cells
    law = np.bincount(cells, weights=masses * (1 - u), minlength=_SUMS)[:_SUMS]
    law += np.bincount(cells + 1, weights=masses * u, minlength=_SUMS)[:_SUMS]
    total, left = np.eye(1, _SUMS)[0], copies
    while left:
        total = np.convolve(total, law)[:_SUMS] if left & 1 else total
        law, left = np.convolve(law, law)[:_SUMS], left >> 1
    sums = copies * least + step * np.arange(_SUMS)
    some = (sums > x) & (total > 0)
    together = -math.inf
    if some.any():
        values = np.log(total[some]) - tilts[i] * sums[some] + np.log(-np.expm1(x - sums[some]))
        together = (
            float(values.max()) + math.log(float(np.exp(values - values.max()).sum())) + copies * float(moments[i])
        )
    alone = log_one_call(mu, rate, x) + math.log(copies)
    return max(together, alone) + math.log1p(math.exp(-abs(together - alone)))


def _slope(lattice: Lattice, x: float, value: float) -> float:
    following = lattice.call(1.05 * x)
    return math.log(max(value / following, 1.0)) / 0.05 if following > 0 else 20.0


def near_root(
    mu: float, rate: float, copies: int, log_target: float, exchanged: bool = False
) -> tuple[float, float] | None:
    """About the x ≥ 0 at which the call is e^log_target, and its slope against ln x there; None if the search fails."""
    if not log_target > _LEAST:
        return None
    high = 1e-3 * rate
    while high < 1e5 and log_one_call(mu, rate, high, exchanged) + math.log(copies) > log_target:
        high *= 1.5
    if log_target < _FAR:
        return _far_root(partial(near_call, mu, rate, copies, exchanged=exchanged), log_target, high)
    target, cap = math.exp(log_target), 3 * high
    for _ in range(_ROUNDS):
        lattice = Lattice((mu, rate, exchanged), copies, cap, log_target)
        if lattice.call(cap / 1.7) > target:
            cap *= 2.2
            continue
        low, top = cap / 1.7, cap / 1.7
        while low > 1e-9 * cap and not lattice.call(low) > target:  # further down a tilted lattice may be noise
            low, top = 0.8 * low, low
        if not lattice.call(low) > target:
            return (0.0, 1.0) if near_call(mu, rate, copies, 0.0, exchanged)[0] < log_target else None
        while top - low > 1e-9 * top:
            middle = (low + top) / 2
            low, top = (middle, top) if lattice.call(middle) > target else (low, middle)
        if low > cap / 7 or cap / 8 < 2 * rate * mu:
            slope = _slope(lattice, low, target)
            if exchanged and cap < _ROOMY * usual_deviation(mu, rate, exchanged=True) * math.sqrt(copies):
                return _far_root(partial(near_call, mu, rate, copies, exchanged=True), log_target, low) or (low, slope)
            return low, slope
        cap = 2.4 * low
    return None


def _far_root(
    near: Callable[[float], tuple[float, float]], log_target: float, start: float
) -> tuple[float, float] | None:
    """The same far out, where each x needs a lattice of its own."""
    low, top = 0.0, math.inf
    x, before, slope = start, (0.0, 0.0), 1.0
    for _ in range(40):
        log, _ = near(x)
        gap = log - log_target
        low, top = (x, top) if gap > 0 else (low, x)
        if before[0] and gap > -math.inf and gap != before[1]:
            slope = (before[1] - gap) / math.log(x / before[0])
            if abs(gap) < 1e-2 * min(max(slope, 1e-3), 1.0) or top < low * (1 + 1e-6):
                return x, slope if slope > 0 else 20.0
        before = (x, gap) if gap > -math.inf else (0.0, 0.0)
        following = x * math.exp(max(min(gap / slope, 0.5), -0.5)) if before[0] and slope > 0 else 0.0
        if not low < following < top:
            following = 1.3 * x if top == math.inf else math.sqrt(max(low, 1e-3 * top) * top)
        x = following
    return None
