"""Where to split sampled steps and where to integrate: chosen in floats. Any choice is valid; poor ones cost width."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.contour.tilts import log_factor
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.windowed.borders import REACH, Low
from tightrope.numerics.windowed.bounds import Split
from tightrope.numerics.windowed.floats import FloatLaw, Windows
from tightrope.numerics.windowed.outcomes import loss_at
from tightrope.numerics.windowed.periods import MOST_NODES, Periods
from tightrope.numerics.windowed.plan import Piece, WindowPlan
from tightrope.numerics.windowed.work import proof_work

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["window_plan"]

_BLURS = (0.07, 0.14, 0.28, 0.56)
_PATIENCE = 2  # blurs without a plan: then the others have none either, nearly always
_MOST_MICROSECONDS, _SHORT, _QUICK = 1e6, 1.5e5, 3e4
_SEARCH, _PLACE = 5e3, 13.0  # units of work to plan with one blur, and for each of its outcomes
_NOTHING = 5.0  # nats below the error: where a step is less likely than that, its moments are cut off
_FLATTER, _FINER = (1.0, 0.9, 0.63, 0.4, 0.125), 12  # shares of the saddle; tilts between two of the first grid


class _Planner(Periods):
    """Plans for one blur."""

    @property
    def places(self) -> int:
        """How many outcomes are looked at."""
        return sum(len(step.z) for step in self.steps)

    def plans(self) -> list[WindowPlan]:
        """Plans with a LOW part, where there may be one, and without."""
        highs = self.high_borders()
        low = None if self.adding else self.low_part()
        found = self._plans(highs, None)
        if low is not None:
            rows = zip(highs, low.borders, self.steps, strict=True)
            found += self._plans([(max(high, edge + 2 * step.blur), v) for (high, v), edge, step in rows], low)
        return found

    def _saddle(self, tilts: Floats, logs: Floats) -> int:
        """Which tilt is nearest to the saddle of the integrand."""
        import numpy as np

        objective = logs - tilts * self.first - np.log(tilts) - np.log1p(tilts)
        return int(np.where(np.isfinite(objective), objective, math.inf).argmin())

    def _plans(self, highs: list[tuple[float, float | None]], low: Low | None) -> list[WindowPlan]:
        """At the saddle of the integrand and at flatter tilts."""
        import numpy as np

        windows = [
            Windows(step, None if low is None else low.borders[i], highs[i][0], self.error - _NOTHING)
            for i, step in enumerate(self.steps)
        ]
        tilts = self.tilts(0.01, 300 - 4 * self.error, 56)
        logs, wholes = self.log_moments(windows, tilts)
        saddle = self._saddle(tilts, logs)
        # far out moments outgrow all tilts within a tenth of t: a second look between the neighbours
        finer = np.geomspace(tilts[max(saddle - 1, 0)], tilts[min(saddle + 1, len(tilts) - 1)], _FINER + 2)[1:-1]
        order = np.argsort(np.concatenate((tilts, finer)), kind="stable")
        tilts = np.concatenate((tilts, finer))[order]
        more = self.log_moments(windows, finer)
        logs, wholes = (np.concatenate(pair)[order] for pair in ((logs, more[0]), (wholes, more[1])))
        deep = None
        if self.steps[0].exchanged:
            edges = [None] * len(self.steps) if low is None else low.borders
            rows = zip(self.steps, edges, highs, strict=True)
            deep = self._deep_tilt([Windows(step, edge, high) for step, edge, (high, _) in rows], tilts)
        if deep is None and self.close:
            return []
        saddle, found = self._saddle(tilts, logs), []
        for i in dict.fromkeys(int(np.abs(tilts - share * tilts[saddle]).argmin()) for share in _FLATTER):
            t = float(tilts[i])
            reached = self.reach(windows, tilts[i:], logs[i:]) if i + 1 < len(tilts) else None
            if reached is None:
                continue
            pieces = tuple(self._piece(k, highs[k], low, t, float(wholes[i]), one) for k, one in enumerate(reached[1]))
            outer = self.above(pieces, tilts[i:], logs[i:])
            if outer is None:
                continue
            above, (period, below) = outer[0], self.period(windows, t, outer[1])
            if not math.isfinite(period):
                continue
            eta = short(2 * math.pi / period)
            count = math.ceil(reached[0] / float(eta)) + 1
            if count > MOST_NODES:
                continue
            scale = float(logs[i]) - t * self.first
            bits = (scale - math.log(t * (t + 1)) + math.log(float(eta)) - self.error) / math.log(2) + 8
            plan = WindowPlan(
                pieces,
                short(t),
                eta,
                count,
                max(math.ceil(bits), 24),
                above=short(above),
                below=None if below is None else 1 + short(below - 1),
                all_low=Fraction(1) if low is None else short(low.tilt),
                deep_tilt=None if deep is None else short(deep),
            )
            found.append(replace(plan, work=proof_work(self.law, plan)))
            if len(found) > 1 and found[-1].work > found[-2].work:
                break  # flatter ones are worse still
        return found

    def _piece(
        self,
        number: int,
        border: tuple[float, float | None],
        low: Low | None,
        t: float,
        whole: float,
        angles: tuple[Fraction, Fraction],
    ) -> Piece:
        """The split with its cuts: beyond the borders, as far as is negligible, on the shifted paths too."""
        step, (high, v), found = self.steps[number], border, []
        under = None if low is None else low.borders[number]
        for edge, angle in ((high if under is None else under, angles[1]), (high, angles[0])):
            reach, cost = 6, (float(angle) / step.mu) ** 2 * (1 + step.blur**-2) / 2
            while reach < REACH:
                z = edge + reach * step.blur
                loss = loss_at(step.mu, step.rate, z, step.exchanged)
                log = math.log(step.copies) - reach * reach / 2 - max(z, 0.0) ** 2 / 2 + loss
                tilted = t * (loss - self.first) + max(whole, 0.0) + cost
                if log + max(tilted, 0.0) < self.error - 2:
                    break
                reach += 1
            found.append(_near(edge) + reach * _near(step.blur))
        start, deep = None, None
        if step.exchanged:
            deep = _near(step.deep)
            start = deep - self.reach_below(step, t, max(whole, 0.0), float(max(angles))) * _near(step.blur)
        split = Split(
            _near(step.blur), None if under is None else _near(under), _near(high), found[0], found[1], start, deep
        )
        end = split.low_cut if low is None or under is None else max(_near(low.ends[number]), _near(under))
        return Piece(split, None if v is None else 1 + short(v - 1), end, angles[0], angles[1])

    def _deep_tilt(self, windows: list[Windows], tilts: Floats) -> float | None:
        """The tilt that shows best that paths with a DEEP step and no HIGH one end below x, unless it does not; where
        DEEP steps are unlikely, any will do. The windows are not cut off: at steep tilts unlikely outcomes count."""
        import numpy as np

        bounds = log_factor(tilts) + self.log_moments(windows, tilts)[1] - tilts * self.first
        shares = np.full(len(tilts), -math.inf)
        for step, window in zip(self.steps, windows, strict=True):
            middle, low = step.log_moments(window, tilts + 1)
            deep = step.log_deep(tilts) + math.log(step.copies)
            shares = np.logaddexp(shares, deep - np.logaddexp(middle, low))
        bounds = np.where(np.isfinite(bounds), bounds + shares, math.inf)
        i = int(bounds.argmin())
        return float(tilts[i]) if bounds[i] < self.error or not self.close else None


def _near(x: float) -> Fraction:
    return Fraction(round(x * 1024), 1024)


def window_plan(
    law: FloatLaw, ends: tuple[float, float], log_call: float, relative: float, adding: bool = False
) -> WindowPlan:
    """A plan for a proof at every x between the ends, to that relative accuracy of a call of about e^log_call."""
    error = log_call + math.log(relative / 6)
    best: WindowPlan | None = None
    empty, borders = 0, [True, False] if law.exchanged else [False]  # DEEP ones: close, or far
    for blur in _BLURS:
        if empty == _PATIENCE:
            break
        found: WindowPlan | None = None
        for close in tuple(borders):
            effort.spend(_SEARCH, "a windowed contour")
            plans: list[WindowPlan] = []
            with suppress(NotCertified, ArithmeticError, ValueError):
                planner = _Planner(law, ends, error, blur, adding, close)
                effort.spend(_PLACE * planner.places, "a windowed contour")
                plans = planner.plans()
            quickest = min(plans, key=lambda plan: plan.work, default=None)
            if quickest is not None and (found is None or quickest.work < found.work):
                found, borders = quickest, [close]  # the others are worse with wider blurs, too
            if found is not None and found.work < _SHORT:
                break
        empty += found is None
        if best is not None and (found is None or found.work >= best.work):
            break  # wider blurs are worse still
        best = found
        if best is not None and best.work < _QUICK:
            break
    if best is None or not best.work < _MOST_MICROSECONDS:
        raise NotCertified("a windowed contour", "no split makes it short enough")
    return best
