"""Where to split a sampled step and where to integrate: chosen in floats. Any choice is valid; poor ones cost width."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics.contour.floats import log_factor
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.windowed.bounds import Split
from tightrope.numerics.windowed.floats import FloatStep, Windows, log_cdf, log_sum
from tightrope.numerics.windowed.start import loss_place

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["WindowPlan", "window_plan"]

_BLURS = (0.07, 0.14, 0.28, 0.56)
_BORDERS = 12
_MOST_NODES = 4000
_MOST_MICROSECONDS, _QUICK = 9e5, 2e4
_REACH = 40  # so many blurs beyond its border, a window is negligible in any case


@dataclass(frozen=True)
class WindowPlan:
    """The split; tilt, step and number of nodes; the bits; and the tilts and angles at which the rest is bounded.

    ``above``: aliases from above. ``below``: those from below, None where there are none. ``put``: paths with a HIGH
    step. ``all_low``, ``low_end``: paths with LOW steps only, and where these end, but for few. ``angle``,
    ``low_angle``: the shifts for the nodes' tail; 0: none.
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
    low_end: Fraction
    angle: Fraction
    low_angle: Fraction
    work: float = 0.0  # about how many microseconds the proof takes


@dataclass(frozen=True)
class _Low:
    """The LOW part: its border, the t' at which paths of LOW steps only are bounded, and where these end."""

    border: float
    tilt: float
    end: float


class _Planner:
    """One blur, for all x from ``first`` to ``last``, with errors of e^log_error."""

    def __init__(
        self,
        floats: tuple[float, float, int],
        ends: tuple[float, float],
        log_error: float,
        blur: float,
        adding: bool,
    ) -> None:
        mu, rate, copies = floats
        self.first, self.last = ends
        self.error, self.adding = log_error, adding
        nats = math.log(copies) - log_error + 1
        self.end = math.sqrt(2 * nats * (1 + blur * blur)) + mu  # no blurred step is likely to lie beyond
        place = loss_place(mu, rate, -self.first if adding else self.first)
        self.centre = min(max(place, -6.0), self.end)
        self.step = FloatStep(mu, rate, copies, blur, self.end)
        self.unit = 1 / max(self.last, rate * min(mu, 1.0))

    def _power(self, s: Floats) -> Floats:
        return -s if self.adding else s + 1

    def high_border(self) -> tuple[float, float]:
        """The least b for which paths with a HIGH step surely end above x, but for the error; and its v."""
        import numpy as np

        step, copies = self.step, self.step.copies
        v = 1 + self.unit * np.geomspace(0.02, 2000 - 4 * self.error, 28)
        exponents = np.multiply.outer(step.losses, 1 - v) + step.logs[:, None]
        rise = (1 - v) * self.first if self.adding else v * self.last
        scale = log_factor(v - 1) + rise + math.log(copies) + (copies - 1) * log_sum(exponents.T) - self.error
        terms = np.exp(np.clip(exponents + scale, -740.0, 600.0))
        low, high, tilt = self.centre, self.end, float(v[0])
        for _ in range(2):
            borders = np.linspace(low, high, _BORDERS)
            values = np.exp(log_cdf((step.z - borders[:, None]) / step.blur)) @ terms
            fits = np.nonzero(values.min(axis=1) < 1)[0]
            i = int(fits[0]) if len(fits) else _BORDERS - 1
            enough = np.nonzero(values[i] < 1)[0]
            high, tilt = float(borders[i]), float(v[enough[0] if len(enough) else int(values[i].argmin())])
            low = float(borders[max(i - 1, 0)])
        return high, tilt

    def low_part(self) -> _Low | None:
        """The greatest c for which paths with LOW steps only end below x, but for the error."""
        import numpy as np

        step, found = self.step, None
        t = self.unit * np.geomspace(0.1, 300 - 4 * self.error, 28)
        some = np.nonzero(step.logs > self.error - 10)[0][::2]
        exponents = np.multiply.outer(t + 1, step.losses[some]) + step.logs[some] + math.log(2)
        low, high = -6.0, self.centre
        for _ in range(2):
            borders = np.linspace(low, high, _BORDERS + 4)
            windows = log_cdf((borders[:, None] - step.z[some]) / step.blur)
            seen = windows + step.logs[some] + step.losses[some] + math.log(step.copies) > self.error - 2
            windows = np.where(seen, windows, -math.inf)
            moments = np.array([log_sum(exponents + window) for window in windows])
            values = log_factor(t) + step.copies * moments - t * self.first
            fits = np.nonzero(values.min(axis=1) < self.error)[0]
            if not len(fits):
                break
            i = int(fits[-1])
            end = float(step.z[some][np.nonzero(seen[i])[0][-1]]) + step.blur
            found = _Low(float(borders[i]), float(t[np.nonzero(values[i] < self.error)[0][0]]), end)
            low, high = found.border, float(borders[min(i + 1, len(borders) - 1)])
        return found

    def plans(self) -> list[WindowPlan]:
        """Plans with a LOW part, where there may be one, and without."""
        high, v = self.high_border()
        low = None if self.adding else self.low_part()
        found = self._plans(high, v, None)
        if low is not None and low.border < high - self.step.blur:
            found += self._plans(high, v, low)
        return found

    def _plans(self, high: float, v: float, low: _Low | None) -> list[WindowPlan]:
        """At the saddle of the integrand and at flatter tilts."""
        import numpy as np

        step = self.step
        windows = Windows(step.z, step.blur, None if low is None else low.border, high)
        tilts = self.unit * np.geomspace(0.01, 300 - 4 * self.error, 56)
        logs = step.log_moments(windows, self._power(tilts))
        objective = logs - tilts * self.first - np.log(tilts) - np.log1p(tilts)
        saddle = int(np.where(np.isfinite(objective), objective, math.inf).argmin())
        found = []
        for i in dict.fromkeys((saddle, max(saddle - 4, 0), max(saddle - 9, 0))):
            t, rest = float(tilts[i]), tilts[i + 1 :]
            chernoff = log_factor(rest) + logs[i + 1 :] - rest * self.first - self.error
            periods = np.where(np.isfinite(chernoff), chernoff / (rest - t), math.inf)
            if not len(periods):
                continue
            j = int(periods.argmin())
            period, below = self._period(windows, t, float(periods[j]))
            reached = step.reach(
                windows, float(self._power(tilts[i : i + 1])[0]), t, self.error + t * self.first, self.unit
            )
            if reached is None or not math.isfinite(period):
                continue
            eta = short(2 * math.pi / period)
            count = math.ceil(reached[0] / float(eta)) + 1
            if count > _MOST_NODES:
                continue
            scale = float(logs[i]) - t * self.first
            bits = (scale - math.log(t * (t + 1)) + math.log(float(eta)) - self.error) / math.log(2) + 8
            split = self._split(low, high, t, scale, (float(reached[2]), float(reached[1])))
            plan = WindowPlan(
                split,
                short(t),
                eta,
                count,
                max(math.ceil(bits), 24),
                above=short(float(rest[j])),
                below=None if below is None else 1 + short(below - 1),
                put=1 + short(v - 1),
                all_low=Fraction(1) if low is None else short(low.tilt),
                low_end=split.low_cut if low is None else max(_near(low.end), _near(low.border)),
                angle=reached[1],
                low_angle=reached[2],
            )
            found.append(replace(plan, work=self._work(plan)))
        return found

    def _period(self, windows: Windows, t: float, above: float) -> tuple[float, float | None]:
        """A period whose aliases are negligible, and the v for those from below, where one is needed."""
        import numpy as np

        step = self.step
        smallest, largest = step.copies * math.log1p(-step.rate), step.copies * float(step.losses[-1])
        if self.adding:
            smallest, largest = -largest, -1.001 * smallest
        period = max(min(above, largest - self.first), 1e-3 / self.unit)
        known = self.last - smallest  # beyond the least loss nothing is left but what is known
        if period >= known:
            return period, None
        v = 1 + self.unit * np.geomspace(0.05, 300.0, 32)
        logs = log_factor(v - 1) + step.log_moments(windows, self._power(-v)) + v * self.last - self.error
        periods = np.where(np.isfinite(logs), logs / (v + t), math.inf)
        i = int(periods.argmin())
        if periods[i] > 0.9 * known:
            return 1.001 * known, None
        return max(period, float(periods[i])), float(v[i])

    def _split(self, low: _Low | None, high: float, t: float, scale: float, angles: tuple[float, float]) -> Split:
        """The split with its cuts: beyond the borders, as far as is negligible, on the shifted paths too."""
        step, found = self.step, []
        for border, angle in zip((high if low is None else low.border, high), angles, strict=True):
            reach, cost = 6, (angle / step.mu) ** 2 * (1 + step.blur**-2) / 2
            while reach < _REACH:
                z = border + reach * step.blur
                loss = math.log1p(step.rate * math.expm1(min(step.mu * z - step.mu**2 / 2, 690.0)))
                log = math.log(step.copies) - reach * reach / 2 - max(z, 0.0) ** 2 / 2 + loss
                tilted = t * (loss - self.first) + max(scale + t * self.first, 0.0) + cost
                if log + max(tilted, 0.0) < self.error - 2:
                    break
                reach += 1
            found.append(_near(border) + reach * _near(step.blur))
        return Split(_near(step.blur), None if low is None else _near(low.border), _near(high), found[0], found[1])

    def _work(self, plan: WindowPlan) -> float:
        """About how many microseconds the proof takes: nodes for the windows, the bulk, and the turns of w^{iy}."""
        step = self.step
        loss = math.log1p(step.rate * math.expm1(step.mu * float(plan.split.cut) - step.mu**2 / 2))
        turns = float(plan.eta) * plan.count * (loss - math.log1p(-step.rate))
        number = 240 + (0 if plan.split.low is None else 100) + 0.9 * turns
        return number * (40 + 1.2 * math.sqrt(plan.count) + 0.1 * plan.count) + 20 * plan.count


def _near(x: float) -> Fraction:
    return Fraction(round(x * 1024), 1024)


def window_plan(
    floats: tuple[float, float, int], ends: tuple[float, float], log_call: float, relative: float, adding: bool = False
) -> WindowPlan:
    """A plan for a proof at every x between the ends, to that relative accuracy of a call of about e^log_call.

    ``floats``: μ, the rate and the number of copies.
    """
    error = log_call + math.log(relative / 6)
    best: WindowPlan | None = None
    for blur in _BLURS:
        try:
            plans = _Planner(floats, ends, error, blur / max(1.0, floats[0] / 2), adding).plans()
        except (NotCertified, ArithmeticError, ValueError):
            continue
        found = min(plans, key=lambda plan: plan.work, default=None)
        if best is not None and (found is None or found.work >= best.work):
            break  # wider blurs are worse still
        best = found
        if best is not None and best.work < _QUICK:
            break
    if best is None or not best.work < _MOST_MICROSECONDS:
        raise NotCertified("a windowed contour", "no split makes it short enough")
    return best
