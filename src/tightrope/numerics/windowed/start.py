"""A float estimate of the call of a few sampled steps, on a lattice of losses: where to begin. It proves nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["Lattice", "log_one_call", "loss_place", "near_call", "near_reverse_call", "near_root"]

_CELLS = 8192
_SUMS = 800
_ROUNDS = 12
_PLAIN = -12.0  # a call of e^−12 is seen by floats without a tilt
_FAR = -40.0
_LEAST = -700.0  # of a smaller call nothing is known


def loss_place(mu: float, rate: float, x: float) -> float:
    """The z whose loss ln w(z) is x; −∞ if there is none."""
    rise = math.expm1(x) / rate + 1 if x < 600 else math.inf
    if rise == math.inf:
        return (x - math.log(rate)) / mu + mu / 2
    return math.log(rise) / mu + mu / 2 if rise > 0 else -math.inf


def _log_tail(z: float) -> float:
    return math.log(math.erfc(z / math.sqrt(2)) / 2) if z < 35 else -z * z / 2 - math.log(z * math.sqrt(2 * math.pi))


class Lattice:
    """The sum of ``copies`` losses, each at most ``cap``; a larger one is taken to decide the outcome alone.

    Good where the call is about e^log_target, or, without one, near x.
    """

    def __init__(
        self, mu: float, rate: float, copies: int, cap: float, log_target: float | None = None, x: float = 0.0
    ) -> None:
        import numpy as np

        end = loss_place(mu, rate, cap)
        plain, moved = math.exp(_log_tail(end)), math.exp(_log_tail(end - mu))
        self.above = -math.expm1(copies * math.log1p(-min((1 - rate) * plain + rate * moved, 0.9)))
        self.above_reverse = -math.expm1(copies * math.log1p(-min(plain, 0.9)))
        z = np.linspace(-9.0, end, 3000)
        step = float(z[1] - z[0])
        losses = np.log1p(rate * np.expm1(np.minimum(mu * z - mu * mu / 2, 700.0)))
        logs = losses - z * z / 2 + math.log(step / math.sqrt(2 * math.pi))
        logs[-1] -= math.log(2)
        guess = _LEAST if log_target is None else log_target
        tilts = np.geomspace(0.03, 30 - 6 * guess, 60) / cap
        exponents = logs + tilts[:, None] * losses
        tops = exponents.max(axis=1)
        moments = copies * (tops + np.log(np.exp(exponents - tops[:, None]).sum(axis=1)))
        if log_target is None:
            best = int((moments - tilts * x).argmin())
            log_target = float((moments - tilts * x)[best])
        else:
            best = int(((moments - log_target) / tilts).argmin())
        tilt = 0.0 if log_target > _PLAIN else float(tilts[best])
        masses = logs + tilt * losses
        top = float(masses.max())
        masses = np.exp(masses - top)
        total = float(masses.sum())
        mean = float(masses @ losses) / total
        deviation = math.sqrt(copies * max(float(masses @ (losses - mean) ** 2) / total, 0.0))
        low = max(copies * math.log1p(-rate), copies * mean - 12 * deviation) - cap / 50
        self.step = (max(2.2 * cap, copies * mean + 9 * deviation) - low) / _CELLS
        law = _spread(losses / self.step, masses / total)
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
        return inside + self.above - math.exp(x) * self.above_reverse

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


def _near(mu: float, rate: float, copies: int, x: float, room: float = 3.5) -> Lattice:
    deviation = rate * math.sqrt(copies * math.expm1(min(mu * mu, 4.0)))
    return Lattice(mu, rate, copies, max(room * x, 4 * deviation), None, x)


def near_reverse_call(mu: float, rate: float, copies: int, x: float) -> float:
    """About ln of the call at x ≥ 0 when a record is added; −∞ if nothing is seen."""
    value = _near(mu, rate, copies, x).reverse_call(x)
    return math.log(value) if value > 0 else -math.inf


def near_call(mu: float, rate: float, copies: int, x: float) -> tuple[float, float]:
    """About ln of the call at x ≥ 0, and its slope against ln x; −∞ if nothing is seen."""
    for room in (3.5, 1.2):  # a high cap may let rare steps hide the rest from any tilt
        lattice = _near(mu, rate, copies, x, room)
        value = lattice.call(x)
        if value > 100 * lattice.noise(x):
            return math.log(value), _slope(lattice, x, value)
    if not copies * rate < 5 * x:
        return -math.inf, 1.0
    log = _direct_call(mu, rate, copies, x)
    return log, (log - _direct_call(mu, rate, copies, 1.05 * x)) / 0.05


def _direct_call(mu: float, rate: float, copies: int, x: float) -> float:
    """Roughly ln of the call at x far out, where no tilt shows floats all that counts: sums of positive terms only."""
    import numpy as np

    z = np.linspace(-9.0, loss_place(mu, rate, x), 3000)
    losses = np.log1p(rate * np.expm1(np.minimum(mu * z - mu * mu / 2, 700.0)))
    logs = losses - z * z / 2 + math.log(float(z[1] - z[0]) / math.sqrt(2 * math.pi))
    tilts = np.geomspace(1.0, 1e4, 48) / x
    exponents = logs + tilts[:, None] * losses
    tops = exponents.max(axis=1)
    moments = tops + np.log(np.exp(exponents - tops[:, None]).sum(axis=1))
    i = int((copies * moments - tilts * x).argmin())
    least = math.log1p(-rate)
    step = (1.6 * x - copies * least) / _SUMS
    places = (losses - least) / step
    cells = np.floor(places).astype(int)
    masses, u = np.exp(exponents[i] - moments[i]), places - cells
    law = np.bincount(cells, weights=masses * (1 - u), minlength=_SUMS)[:_SUMS]
    law += np.bincount(cells + 1, weights=masses * u, minlength=_SUMS)[:_SUMS]
    total, left = np.eye(1, _SUMS)[0], copies
    while left:
        total = np.convolve(total, law)[:_SUMS] if left & 1 else total
        law, left = np.convolve(law, law)[:_SUMS], left >> 1
    at = copies * least + step * np.arange(_SUMS)
    some = (at > x) & (total > 0)
    together = -math.inf
    if some.any():
        values = np.log(total[some]) - tilts[i] * at[some] + np.log(-np.expm1(x - at[some]))
        together = (
            float(values.max()) + math.log(float(np.exp(values - values.max()).sum())) + copies * float(moments[i])
        )
    alone = log_one_call(mu, rate, x) + math.log(copies)
    return max(together, alone) + math.log1p(math.exp(-abs(together - alone)))


def _slope(lattice: Lattice, x: float, value: float) -> float:
    following = lattice.call(1.05 * x)
    return math.log(max(value / following, 1.0)) / 0.05 if following > 0 else 20.0


def near_root(mu: float, rate: float, copies: int, log_target: float) -> tuple[float, float] | None:
    """About the x ≥ 0 at which the call is e^log_target, and its slope against ln x there; None if the search fails."""
    if not log_target > _LEAST:
        return None
    high = 1e-3 * rate
    while high < 1e5 and log_one_call(mu, rate, high) + math.log(copies) > log_target:
        high *= 1.5
    if log_target < _FAR:
        return _far_root(mu, rate, copies, log_target, high)
    target, cap = math.exp(log_target), 3 * high
    for _ in range(_ROUNDS):
        lattice = Lattice(mu, rate, copies, cap, log_target)
        if lattice.call(cap / 1.7) > target:
            cap *= 2.2
            continue
        low, top = cap / 1.7, cap / 1.7
        while low > 1e-9 * cap and not lattice.call(low) > target:  # further down a tilted lattice may be noise
            low, top = 0.8 * low, low
        if not lattice.call(low) > target:
            return (0.0, 1.0) if near_call(mu, rate, copies, 0.0)[0] < log_target else None
        while top - low > 1e-9 * top:
            middle = (low + top) / 2
            low, top = (middle, top) if lattice.call(middle) > target else (low, middle)
        if low > cap / 7 or cap / 8 < 2 * rate * mu:
            return low, _slope(lattice, low, target)
        cap = 2.4 * low
    return None


def _far_root(mu: float, rate: float, copies: int, log_target: float, start: float) -> tuple[float, float] | None:
    """The same far out, where each x needs a lattice of its own."""
    low, top = 0.0, math.inf
    x, before, slope = start, (0.0, 0.0), 1.0
    for _ in range(40):
        log, _ = near_call(mu, rate, copies, x)
        gap = log - log_target
        low, top = (x, top) if gap > 0 else (low, x)
        if before[0] and gap > -math.inf and gap != before[1]:
            slope = (before[1] - gap) / math.log(x / before[0])
            if abs(gap) < 1e-2 or top < low * (1 + 1e-6):
                return x, slope if slope > 0 else 20.0
        before = (x, gap) if gap > -math.inf else (0.0, 0.0)
        following = x * math.exp(max(min(gap / slope, 0.5), -0.5)) if before[0] and slope > 0 else 0.0
        if not low < following < top:
            following = 1.3 * x if top == math.inf else math.sqrt(max(low, 1e-3 * top) * top)
        x = following
    return None


def log_one_call(mu: float, rate: float, x: float) -> float:
    """ln of the call of one step at x > 0."""
    z = loss_place(mu, rate, x)
    top = math.log(rate) + _log_tail(z - mu)
    low = math.log(math.expm1(min(x, 600.0)) + rate) + _log_tail(z)
    return top + math.log(max(-math.expm1(low - top), 1e-12)) if low < top else top - 27
