"""How far apart and how far out the nodes of a split sum are: chosen in floats. Any choice is valid."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.numerics.contour.tilts import log_factor
from tightrope.numerics.windowed.borders import Borders
from tightrope.numerics.windowed.floats import Windows, log_difference
from tightrope.numerics.windowed.plan import Piece

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["MOST_NODES", "Periods"]

MOST_NODES = 4000
_MORE = 0.1  # nats that moments may be larger than estimated
_NEAREST, _CLOSE = 2.0**-5, 1.02  # the least reach, in 1/x; and how well it is known
_SHORTEST = 1e-3  # of a period, in terms of x
_ROOM = 1.01  # so much longer than needed is a period that leaves nothing below it: the root may move


class Periods(Borders):
    """The moments of the split sum for one blur, and what follows of its aliases and of its nodes far out."""

    def log_moments(self, windows: list[Windows], t: Floats) -> tuple[Floats, Floats]:
        """ln F(t), and of the same with the paths of LOW steps only."""
        import numpy as np

        bottom, top, growth = (np.zeros(len(t)) for _ in range(3))
        with np.errstate(all="ignore"):
            for step, window in zip(self.steps, windows, strict=True):
                middle, low = step.log_moments(window, self.power(t))
                bottom, top = bottom + step.copies * low, top + step.copies * np.logaddexp(middle, low)
                apart = middle - low
                growth = growth + step.copies * np.where(apart > 600, apart, np.log1p(np.exp(apart)))
            logs, rest = top if windows[0].alone else log_difference(bottom, growth), self.others.log_moments(t)
            return logs + rest, top + rest

    def _periods(self, tilts: Floats, logs: Floats) -> Floats:
        """The periods at which each tilt shows that aliases from above are negligible, but the first, that of the
        nodes."""
        import numpy as np

        rest = tilts[1:]
        chernoff = log_factor(rest) + logs[1:] - rest * self.first - self.error
        result: Floats = np.where(np.isfinite(chernoff), chernoff / (rest - tilts[0]), math.inf)
        return result

    def _range(self) -> tuple[float, float]:
        """About the least and the largest loss of the sampled steps together."""
        least = sum(step.copies * step.least for step in self.steps)
        largest = sum(step.copies * float(step.losses[-1]) for step in self.steps)
        return (-largest, -1.001 * least) if self.adding else (least, largest)

    def _farthest(self, tilts: Floats, logs: Floats) -> float:
        """A y that no plan reaches: even in the shortest period that it may have, it would have too many nodes."""
        period = min(float(self._periods(tilts, logs).min()), self._range()[1] + self.others.largest - self.first)
        return 2 * math.pi * MOST_NODES / max(period, _SHORTEST / self.unit)

    def above(self, pieces: tuple[Piece, ...], tilts: Floats, logs: Floats) -> tuple[float, float] | None:
        """The tilt at which aliases from above are bounded, and the period that makes them negligible; the first tilt
        is that of the nodes. The moments ``logs`` are cut off where outcomes are unlikely; pieces may end later: None
        where the nodes would then be much larger."""
        ends = [(float(piece.split.low_cut), float(piece.split.cut)) for piece in pieces]
        lows = [None if piece.split.low is None else float(piece.split.low) for piece in pieces]
        rows = zip(self.steps, lows, pieces, ends, strict=True)
        windows = [Windows(step, low, float(piece.split.high), ends=end) for step, low, piece, end in rows]
        periods = self._periods(tilts, logs)
        j = int(periods.argmin()) + 1
        more = self.log_moments(windows, tilts[[0, j]])[0]
        if not more[0] <= logs[0] + _MORE:
            return None
        if not more[1] <= logs[j] + _MORE:
            periods = self._periods(tilts, self.log_moments(windows, tilts)[0])
            j = int(periods.argmin()) + 1
        return float(tilts[j]), float(periods[j - 1])

    def reach(
        self, windows: list[Windows], tilts: Floats, logs: Floats
    ) -> tuple[float, list[tuple[Fraction, Fraction]]] | None:
        """The y from which on the nodes are negligible, and the angles that show it; None if there is none
        within the reach of a plan. The first tilt is that of the nodes."""
        import numpy as np

        t = float(tilts[0])
        power = float(self.power(np.array([t]))[0])
        falls = [step.falls(window, power) for step, window in zip(self.steps, windows, strict=True)]
        moment = float(self.others.log_moments(np.array([t]))[0])

        def tail(y: float) -> tuple[float, list[tuple[Fraction, Fraction]]]:
            total, bottom, growth, angles = 0.0, 0.0, 0.0, []
            for step, fall in zip(self.steps, falls, strict=True):
                middle, low, angle, low_angle = fall(y)
                total += step.copies * float(np.logaddexp(middle, low))
                bottom += step.copies * low
                growth += step.copies * (middle - low if middle - low > 600 else math.log1p(math.exp(middle - low)))
                angles.append((angle, low_angle))
            if not windows[0].alone:
                total = float(log_difference(np.array([bottom]), np.array([growth]))[0])
            total += moment + self.others.log_decay(t, y) - self.error - t * self.first
            return total + math.log(math.atan(t / y) / (math.pi * t)), angles

        low, high = self.unit, self._farthest(tilts, logs)
        if not (high > 0 and tail(high)[0] < 0):
            return None
        if low >= high or tail(low)[0] < 0:
            low, high = _NEAREST * min(low, high), min(low, high)
        while high > _CLOSE * low:
            y = math.sqrt(low * high)
            low, high = (low, y) if tail(y)[0] < 0 else (y, high)
        return high * 1.02, tail(high)[1]

    def period(self, windows: list[Windows], t: float, above: float) -> tuple[float, float | None]:
        """A period whose aliases are negligible, and the v for those from below, where one is needed."""
        import numpy as np

        smallest, largest = self._range()
        period = max(min(above, largest + self.others.largest - self.first), _SHORTEST / self.unit)
        # beyond the least loss nothing is left but what is known
        known = math.inf if self.others.some else self.last - smallest
        known *= _ROOM
        if period >= known:
            return period, None
        v = 1 + self.tilts(0.05, 300.0, 32)
        logs = log_factor(v - 1) + self.log_moments(windows, -v)[0] + v * self.last - self.error
        periods = np.where(np.isfinite(logs), logs / (v + t), math.inf)
        i = int(periods.argmin())
        if periods[i] > 0.9 * known:
            return known, None
        return max(period, float(periods[i])), float(v[i])
