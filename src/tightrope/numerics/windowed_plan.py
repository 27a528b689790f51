"""Where to split a sampled step and where to integrate: chosen in floats. Any choice is valid; a poor one costs width."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics.contour_floats import log_factor
from tightrope.numerics.transforms_sampled_rule import short
from tightrope.numerics.windowed_law import Split
from tightrope.numerics.windowed_start import loss_place

if TYPE_CHECKING:
    from tightrope.numerics.transform import Floats

__all__ = ["WindowPlan", "window_plan"]

_BLURS = (0.07, 0.14, 0.28, 0.56)
_BORDERS = 12
_MOST_NODES = 4000
_MOST_MICROSECONDS = 6e5
_QUICK = 2e4
_ANGLES = 12
_REACH = 40  # so many blurs beyond its border, a window is negligible in any case


@dataclass(frozen=True)
class WindowPlan:
    """The split; tilt, step and number of nodes; the bits; and the tilts and angles at which the rest is bounded.

    ``above``: aliases from above. ``below``: those from below, None where there are none. ``put``: paths with a HIGH
    step. ``all_low``: paths with LOW steps only. ``angle``, ``low_angle``: the shifts for the nodes' tail; 0: none.
    """

    split: Split
    t: Fraction
    eta: Fraction
    count: int
    bits: int
    above: Fraction
    below: Fraction | None
    put: Fraction
    all_low: Fraction
    angle: Fraction
    low_angle: Fraction
    work: float = 0.0


@lru_cache(maxsize=1)
def _table() -> tuple[Floats, Floats]:
    import numpy as np

    places = np.arange(-3600, 801) / 100
    return places, np.array([math.log(math.erfc(-a / math.sqrt(2)) / 2) for a in places])


def _log_cdf(a: Floats) -> Floats:
    import numpy as np

    places, logs = _table()
    far = -a * a / 2 - np.log(np.maximum(-a, 1.0)) - 0.92
    result: Floats = np.where(a < -36, far, np.interp(a, places, logs))
    return result


class _Floats:
    """One blur: the step on a grid of outcomes z."""

    def __init__(
        self, mu: float, rate: float, copies: int, x: float, log_error: float, blur: float, adding: bool
    ) -> None:
        import numpy as np

        self.mu, self.rate, self.copies, self.x, self.blur, self.error = mu, rate, copies, x, blur, log_error
        self.adding = adding
        nats = math.log(copies) - log_error + 1
        self.end = math.sqrt(2 * nats * (1 + blur * blur)) + mu  # no blurred step is likely to lie beyond
        self.centre = min(max(loss_place(mu, rate, -x if adding else x), -6.0), self.end)
        step = min(blur / 2.5, 0.1)
        if (self.end + 20) / step > 20_000:
            raise NotCertified("a windowed contour", "the blur is too small")
        self.z = np.arange(math.floor(-9.5 / step), math.ceil((self.end + 24 * blur) / step) + 1) * step
        xi = np.minimum(mu * self.z - mu * mu / 2, 690.0)
        self.losses = np.log1p(rate * np.expm1(xi))
        self.logs = -self.z * self.z / 2 + math.log(step / math.sqrt(2 * math.pi))
        self.unit = 1 / max(x, rate * min(mu, 1.0))

    def high_border(self) -> tuple[float, float]:
        """The least b for which paths with a HIGH step surely end above x, but for the error; and its v."""
        import numpy as np

        v = 1 + self.unit * np.geomspace(0.02, 2000 - 4 * self.error, 28)
        exponents = np.multiply.outer(self.losses, 1 - v) + self.logs[:, None]
        whole = (self.copies - 1) * _log_sum(exponents.T)
        rise = (1 - v) * self.x if self.adding else v * self.x
        scale = log_factor(v - 1) + rise + math.log(self.copies) + whole - self.error
        terms = np.exp(np.clip(exponents + scale, -740.0, 600.0))
        low, high, tilt = self.centre, self.end, float(v[0])
        for _ in range(2):
            borders = np.linspace(low, high, _BORDERS)
            values = np.exp(_log_cdf((self.z[None, :] - borders[:, None]) / self.blur)) @ terms
            best = values.argmin(axis=1)
            fits = np.nonzero(values[np.arange(_BORDERS), best] < 1)[0]
            i = int(fits[0]) if len(fits) else _BORDERS - 1
            enough = np.nonzero(values[i] < 1)[0]
            high, tilt = float(borders[i]), float(v[enough[0] if len(enough) else best[i]])
            low = float(borders[max(i - 1, 0)])
        return high, tilt

    def low_border(self) -> tuple[float | None, float]:
        """The greatest c for which paths with LOW steps only end below x, but for the error; and its t'."""
        import numpy as np

        t = self.unit * np.geomspace(0.1, 300 - 4 * self.error, 28)
        terms = np.exp(np.minimum(np.multiply.outer(self.losses, t + 1) + self.logs[:, None], 600.0))
        low, high, tilt = -6.0, self.centre, 1.0
        found: float | None = None
        for _ in range(2):
            borders = np.linspace(low, high, _BORDERS + 4)
            windows = np.exp(_log_cdf((borders[:, None] - self.z[None, :]) / self.blur))
            values = log_factor(t) + self.copies * np.log(windows @ terms) - t * self.x
            best = values.argmin(axis=1)
            fits = np.nonzero(values[np.arange(len(borders)), best] < self.error)[0]
            if not len(fits):
                break
            i = int(fits[-1])
            found, tilt = float(borders[i]), float(t[np.nonzero(values[i] < self.error)[0][0]])
            low, high = found, float(borders[min(i + 1, len(borders) - 1)])
        return found, tilt

    def _power(self, s: Floats) -> Floats:
        return -s if self.adding else s + 1

    def plans(self) -> list[WindowPlan]:
        """A plan with a LOW part, where there may be one, and one without."""
        high, v = self.high_border()
        low, low_t = (None, 1.0) if self.adding else self.low_border()
        found = [self._plan(high, v, None, 1.0)]
        if low is not None and low < high - self.blur:
            found.append(self._plan(high, v, low, low_t))
        return [plan for plan in found if plan is not None]

    def _plan(self, high: float, v: float, low: float | None, low_t: float) -> WindowPlan | None:
        import numpy as np

        k, x = self.copies, self.x
        upper = _log_cdf((high - self.z) / self.blur)
        if low is None:
            middle, bottom = upper, np.full_like(upper, -math.inf)
        else:
            bottom = _log_cdf((low - self.z) / self.blur)
            middle = np.minimum(_log_cdf((self.z - low) / self.blur), upper)
        tilts = self.unit * np.geomspace(0.01, 300 - 4 * self.error, 56)
        exponents = np.multiply.outer(self._power(tilts), self.losses) + self.logs
        log_middle, log_low = _log_sum(exponents + middle), _log_sum(exponents + bottom)
        logs = _log_power(log_middle, log_low, k)
        objective = logs - tilts * x - np.log(tilts) - np.log1p(tilts)
        saddle = int(np.where(np.isfinite(objective), objective, math.inf).argmin())
        best: WindowPlan | None = None
        for i in dict.fromkeys((saddle, max(saddle - 4, 0), max(saddle - 9, 0))):
            t = float(tilts[i])
            rest = slice(i + 1, None)
            periods = (log_factor(tilts[rest]) + logs[rest] - tilts[rest] * x - self.error) / (tilts[rest] - t)
            periods = np.where(np.isfinite(periods), periods, math.inf)
            if not len(periods):
                continue
            j = int(periods.argmin())
            period = max(float(periods[j]), 1e-3 / self.unit)
            ends = k * math.log1p(-self.rate), k * float(self.losses[-1])
            if self.adding:
                period, ends = max(min(period, -1.001 * ends[0] - x), 1e-3 / self.unit), (-ends[1], -ends[0])
            least = x - ends[0]
            below = None
            if period < least:  # what lies below the least loss is known; above it, a bound is needed
                lefts, below = self._below(middle, bottom, t)
                period, below = (least * 1.001, None) if lefts > 0.9 * least else (max(period, lefts), below)
            eta = short(2 * math.pi / period)
            scale = float(logs[i]) - t * x
            reached = self._reach(middle, bottom, t, self.error + t * x)
            if reached is None:
                continue
            y, angle, low_angle = reached
            count = math.ceil(y / float(eta)) + 1
            if count > _MOST_NODES:
                continue
            bits = (scale - math.log(t * (t + 1)) + math.log(float(eta)) - self.error) / math.log(2) + 8
            split = self._split(low, high, t, scale, (float(low_angle), float(angle)))
            plan = WindowPlan(
                split, short(t), eta, count, max(math.ceil(bits), 24), short(float(tilts[rest][j])),
                None if below is None else 1 + short(below - 1), 1 + short(v - 1), short(low_t), angle, low_angle,
            )  # fmt: skip
            plan = replace(plan, work=self._work(plan))
            if best is None or plan.work < best.work:
                best = plan
        return best

    def _split(
        self, low: float | None, high: float, t: float, scale: float, angles: tuple[float, float]
    ) -> Split:
        """The split with its cuts: beyond the borders, as far as is negligible, on the shifted paths too."""
        found = []
        for border, angle in zip((high if low is None else low, high), angles, strict=True):
            reach, cost = 6, (angle / self.mu) ** 2 * (1 + self.blur**-2) / 2
            while reach < _REACH:
                z = border + reach * self.blur
                loss = math.log1p(self.rate * math.expm1(min(self.mu * z - self.mu * self.mu / 2, 690.0)))
                log = math.log(self.copies) - reach * reach / 2 - max(z, 0.0) ** 2 / 2 + loss
                if log + max(t * loss - t * self.x + max(scale + t * self.x, 0.0) + cost, 0.0) < self.error - 2:
                    break
                reach += 1
            found.append(_near(border) + reach * _near(self.blur))
        return Split(_near(self.blur), None if low is None else _near(low), _near(high), found[0], found[1])

    def _below(self, middle: Floats, bottom: Floats, t: float) -> tuple[float, float]:
        """The period at which the aliases from below are negligible, and their v."""
        import numpy as np

        v = 1 + self.unit * np.geomspace(0.05, 300.0, 32)
        exponents = np.multiply.outer(self._power(-v), self.losses) + self.logs
        logs = _log_power(_log_sum(exponents + middle), _log_sum(exponents + bottom), self.copies)
        periods = (log_factor(v - 1) + logs + v * self.x - self.error) / (v + t)
        i = int(np.where(np.isfinite(periods), periods, math.inf).argmin())
        return float(periods[i]), float(v[i])

    def _reach(self, middle: Floats, bottom: Floats, t: float, log_error: float) -> tuple[float, Fraction, Fraction] | None:
        """The y from which on the integrand is negligible, and the angles that show it; None if there is none."""
        import numpy as np

        angles = np.geomspace(1e-3, 1.5, _ANGLES) * min(1.0, self.mu)
        parts = []
        alone = bool(np.isneginf(bottom[0]))
        for window, bulk in ((middle, alone), (bottom, True))[: 1 if alone else 2]:
            depth = (angles[:, None] / self.mu) ** 2 / 2
            plain = depth / self.blur**2 + window
            if bulk:
                gap = -np.expm1(np.minimum(window, -1e-17))
                plain = np.minimum(plain, np.log1p(np.exp(np.minimum(depth / self.blur**2, 600.0)) * gap))
            rise = self.rate * np.exp(np.minimum(self.mu * self.z - self.mu * self.mu / 2, 600.0))
            real, imag = rise * np.cos(angles[:, None]) - self.rate, rise * np.sin(angles[:, None])
            size = np.log1p(np.maximum(real * (2 + real) + imag * imag, -1 + 1e-16)) / 2
            parts.append((self.logs + depth + plain + (-t if self.adding else t + 1) * size, np.arctan2(imag, 1 + real)))
        trivial = float(_log_sum((t + 1) * self.losses + self.logs + bottom))
        low, high = 0.0, 1.0 * self.unit
        for _ in range(60):
            value, _, _ = self._tail(parts, trivial, high, t)
            if value < log_error:
                break
            low, high = high, high * 2
        else:
            return None
        for _ in range(5):
            y = math.sqrt(low * high) if low else high / 2
            if self._tail(parts, trivial, y, t)[0] < log_error:
                high = y
            else:
                low = y
        _, i, j = self._tail(parts, trivial, high, t)
        return high * 1.02, short(float(angles[i])), short(float(angles[j])) if j >= 0 else Fraction(0)

    def _tail(
        self, parts: list[tuple[Floats, Floats]], trivial: float, y: float, t: float
    ) -> tuple[float, int, int]:
        import numpy as np

        values = [_log_sum(logs - y * turns) for logs, turns in parts]
        i, j, low = int(values[0].argmin()), -1, trivial
        if len(values) > 1 and float(values[1].min()) < trivial:
            j = int(values[1].argmin())
            low = float(values[1][j])
        total = float(_log_power(np.array([values[0][i]]), np.array([low]), self.copies)[0])
        return total + math.log(math.atan(t / y) / (math.pi * t)), i, j

    def _work(self, plan: WindowPlan) -> float:
        """About how many microseconds the proof takes: nodes for the windows, the bulk, and the turns of w^{iy}."""
        loss = math.log1p(self.rate * math.expm1(self.mu * float(plan.split.cut) - self.mu * self.mu / 2))
        turns = float(plan.eta) * plan.count * (loss - math.log1p(-self.rate))
        number = 240 + (0 if plan.split.low is None else 100) + 0.9 * turns
        return number * (40 + 1.2 * math.sqrt(plan.count) + 0.1 * plan.count) + 20 * plan.count


def _near(x: float) -> Fraction:
    return Fraction(round(x * 1024), 1024)


def _log_sum(exponents: Floats) -> Floats:
    import numpy as np

    top = np.maximum(exponents.max(axis=-1, keepdims=True), -1e300)
    with np.errstate(divide="ignore"):
        result: Floats = (top + np.log(np.exp(exponents - top).sum(axis=-1, keepdims=True)))[..., 0]
    return result


def _log_power(middle: Floats, low: Floats, copies: int) -> Floats:
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


def window_plan(
    mu: float, rate: float, copies: int, x: float, log_call: float, relative: float, adding: bool = False
) -> WindowPlan:
    """A plan for a proof at and near x, where ln of the call is about ``log_call``, to that relative accuracy."""
    error = log_call + math.log(relative / 6)
    best: WindowPlan | None = None
    for blur in _BLURS:
        try:
            plans = _Floats(mu, rate, copies, x, error, blur, adding).plans()
        except (NotCertified, ArithmeticError, ValueError):
            continue
        work = min((plan.work for plan in plans), default=math.inf)
        if best is None or work < best.work:
            best = min(plans, key=lambda plan: plan.work) if plans else best
        elif best is not None:
            break  # the wider blurs are worse still
        if best is not None and best.work < _QUICK:
            break
    if best is None or not best.work < _MOST_MICROSECONDS:
        raise NotCertified("a windowed contour", "no split makes it short enough")
    return best
