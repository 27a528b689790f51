"""Where sampled steps are split: borders chosen in floats, for one blur. Any choice is valid; poor ones cost width."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tightrope.numerics.contour.tilts import log_factor
from tightrope.numerics.products import product
from tightrope.numerics.windowed.floats import FloatLaw, FloatStep, log_cdf, log_sum
from tightrope.numerics.windowed.outcomes import loss_at, loss_place, shares_above

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["REACH", "Borders", "Low"]

_BORDERS = 12
_LEFTMOST = -6.0
_BELOW = 2.0  # nats by which DEEP steps are rarer than negligible
REACH = 40  # so many blurs beyond its border, a window is negligible in any case
_HALVINGS = 20


@dataclass(frozen=True)
class Low:
    """The LOW parts: their borders, the t' at which paths of LOW steps only are bounded, and where these end."""

    borders: list[float]
    tilt: float
    ends: list[float]


class Borders:
    """One blur, for all x from ``first`` to ``last``, with errors of e^log_error. ``close``: DEEP steps are unlikely
    only together with a HIGH one."""

    def __init__(
        self,
        law: FloatLaw,
        ends: tuple[float, float],
        log_error: float,
        blur: float,
        adding: bool,
        close: bool = False,
    ) -> None:
        self.first, self.last = ends
        self.law, self.others, self.adding, self.close = law, law.others, adding, close
        self.error = log_error - math.log(len(law.samplers))
        self.steps, self.ends, self.centres = [], [], []
        copies = sum(k for _, _, k in law.samplers)
        for mu, rate, k in law.samplers:
            tau = blur / max(1.0, mu / 2)
            nats = math.log(copies) - self.error + 1
            end = math.sqrt(2 * nats * (1 + tau * tau)) + mu  # no blurred step is likely to lie beyond
            place = loss_place(mu, rate, -self.first if adding else law.room(self.first), law.exchanged)
            deep = self._deep(mu, rate, k, tau, copies) if law.exchanged else None
            self.steps.append(FloatStep(mu, rate, k, tau, end, deep))
            self.ends.append(end)
            self.centres.append(min(max(place, _LEFTMOST), end))
        rates = (rate * min(mu, 1.0) for mu, rate, _ in law.samplers)
        self.unit = 1 / max(law.room(self.last), law.deviation, *rates)
        # where a record is exchanged, losses below 0 may be much larger than x
        self._flatter = max([1.0, *(-self.unit * step.least for step in self.steps if step.exchanged)])

    def _deep(self, mu: float, rate: float, k: int, blur: float, copies: int) -> tuple[float, float]:
        """The border a of DEEP steps, and where other steps begin: those below are unlikely."""
        goal, low, high = self.error - _BELOW, 0.0, math.sqrt(2 * (math.log(copies) - self.error + _BELOW))
        for _ in range(_HALVINGS):
            z = (low + high) / 2
            first, second = shares_above(mu, rate, z, exchanged=True)  # DEEP steps are HIGH ones in a mirror
            chance = math.log(max(k * second, 1e-320)) + (math.log(copies * first) if self.close else 0.0)
            low, high = (low, z) if chance < goal else (z, high)
        border, reach = -high * math.hypot(1.0, blur), 6
        while math.log(k) - (reach**2 + (border - reach * blur) ** 2) / 2 > goal and reach < REACH:
            reach += 1
        return border, border - reach * blur

    def reach_below(self, step: FloatStep, t: float, whole: float, angle: float) -> int:
        """How many blurs below the border of DEEP steps the others are negligible, on shifted paths too."""
        reach, cost = 6, (angle / step.mu) ** 2 * (1 + step.blur**-2) / 2
        while reach < REACH:
            z = step.deep - reach * step.blur
            log = math.log(step.copies) - (reach * reach + z * z) / 2
            tilted = t * (loss_at(step.mu, step.rate, z, exchanged=True) - self.first) + whole + cost
            if log + max(tilted, 0.0) < self.error - _BELOW:
                break
            reach += 1
        return reach

    def tilts(self, first: float, last: float, number: int) -> Floats:
        """From a share of the unit to another; flatter ones, too, if losses are large."""
        import numpy as np

        more = math.ceil(number * math.log(self._flatter) / math.log(last / first))
        result: Floats = self.unit * np.geomspace(first / self._flatter, last, number + more)
        return result

    def power(self, s: Floats) -> Floats:
        """The power of w that the tilt s belongs to."""
        return -s if self.adding else s + 1

    def high_borders(self) -> list[tuple[float, float | None]]:
        """For each sampler the least b for which paths with a HIGH step surely end above x, but for the error, and its
        v; none where such steps are unlikely and nothing else."""
        import numpy as np

        v = 1 + self.tilts(0.02, 2000 - 4 * self.error, 28)
        whole = [log_sum(np.multiply.outer(1 - v, step.losses) + step.logs) for step in self.steps]
        scale = log_factor(v - 1) + ((1 - v) * self.first if self.adding else v * self.last) - self.error
        scale = scale + self.others.log_moments(v - 1 if self.adding else -v)
        scale = scale + sum(step.copies * logs for step, logs in zip(self.steps, whole, strict=True))
        return [
            self._high_border(i, v, scale - whole[i] + math.log(self.steps[i].copies)) for i in range(len(self.steps))
        ]

    def _high_border(self, i: int, v: Floats, scale: Floats) -> tuple[float, float | None]:
        import numpy as np

        step = self.steps[i]
        exponents = np.multiply.outer(step.losses, 1 - v) + step.logs[:, None]
        terms = np.exp(np.clip(exponents + scale, -740.0, 600.0))
        low, high = self.centres[i], self.ends[i]
        tilt: float | None = None
        for _ in range(2):
            borders = np.linspace(low, high, _BORDERS)
            values = product(np.exp(log_cdf((step.z - borders[:, None]) / step.blur)), terms)
            fits = np.nonzero(values.min(axis=1) < 1)[0]
            if not len(fits):
                return self.ends[i], None
            first = int(fits[0])
            high, tilt = float(borders[first]), float(v[np.nonzero(values[first] < 1)[0][0]])
            low = float(borders[max(first - 1, 0)])
        return max(high, -step.deep) if self.close else high, tilt

    def low_part(self) -> Low | None:
        """The greatest borders c for which paths with LOW steps only end below x, but for the error."""
        import numpy as np

        found = None
        t = self.unit * np.geomspace(0.1, 300 - 4 * self.error, 28)
        rest = log_factor(t) + self.others.log_moments(t) - t * self.first
        tops = [_loss(step, centre) for step, centre in zip(self.steps, self.centres, strict=True)]
        first = tops.index(max(tops))
        low, high = _LEFTMOST, self.centres[first]
        for _ in range(2):
            rows = [self._alike(first, float(border)) for border in np.linspace(low, high, _BORDERS + 4)]
            values, ends = np.tile(rest, (len(rows), 1)), []
            for k, step in enumerate(self.steps):
                some = np.nonzero(step.logs > self.error - 10)[0][::2]
                exponents = np.multiply.outer(t + 1, step.losses[some]) + step.logs[some] + math.log(2)
                windows = log_cdf((np.array([[row[k]] for row in rows]) - step.z[some]) / step.blur)
                seen = windows + step.logs[some] + step.losses[some] + math.log(step.copies) > self.error - 2
                further = np.logical_or(seen, np.roll(seen, 1, axis=1))  # as far as a proof reaches: steep tilts see it
                windows = np.where(further, windows, -math.inf)
                values += step.copies * np.array([log_sum(exponents + window) for window in windows])
                ends.append(np.where(further, step.z[some], _LEFTMOST).max(axis=1))
            fits = np.nonzero(values.min(axis=1) < self.error)[0]
            if not len(fits):
                break
            i = int(fits[-1])
            low, high = rows[i][first], rows[min(i + 1, len(rows) - 1)][first]
            found = Low(rows[i], float(t[np.nonzero(values[i] < self.error)[0][0]]), [float(end[i]) for end in ends])
        return found

    def _alike(self, first: int, border: float) -> list[float]:
        """The border of one sampler, and where the steps of the others have the loss that it has there."""
        loss = _loss(self.steps[first], border)
        found = [
            min(max(loss_place(step.mu, step.rate, loss, step.exchanged), _LEFTMOST), end)
            for step, end in zip(self.steps, self.ends, strict=True)
        ]
        found[first] = border
        return found


def _loss(step: FloatStep, z: float) -> float:
    return loss_at(step.mu, step.rate, z, step.exchanged)
