"""Sampled steps whose losses are at most a cap, beside other parts, in floats: what they bring together, with one step
above the cap, and with several. Only for choices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tightrope.numerics.contour.tilts import log_factor
from tightrope.numerics.windowed.floats import FloatLaw, log_sum
from tightrope.numerics.windowed.outcomes import log_one_call, log_share_above, loss_place, losses

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["Capped", "Terms"]

_PLACES = 240
_LOWEST, _FARTHEST = -9.5, 60.0  # no step goes further in any question that floats can ask
_SEEN = 3.0  # nats below the whole: terms that count


class Terms(NamedTuple):
    """ln of what paths without a step above the cap, with one, and with more of them bring to the call; which tilt is
    nearest to the saddle of the first, and which tilts show those of the latter two that count."""

    together: float
    one: float
    more: float
    cap: float
    saddle: int
    tilts: list[int]

    @property
    def whole(self) -> float:
        """ln of the sum."""
        import numpy as np

        return float(np.logaddexp.reduce([self.together, self.one, self.more]))


class _Step:
    """The outcomes of a step with losses up to ``top``, ln of their masses under the second law, and which of them are
    above each cap."""

    def __init__(self, sampler: tuple[float, float, int], caps: Sequence[float], top: float, exchanged: bool) -> None:
        import numpy as np

        mu, rate, copies = sampler
        self.copies = math.log(copies)
        place = loss_place(mu, rate, top, exchanged)
        end = min(max(place, -6.0), _FARTHEST)
        z = np.linspace(_LOWEST, end, _PLACES)
        self.losses, reverse = losses(mu, rate, z, exchanged)
        self.logs = reverse - z * z / 2 + math.log((end - _LOWEST) / (_PLACES - 1) / math.sqrt(2 * math.pi))
        self.logs[-1] -= math.log(2)
        self.cuts = np.maximum(np.searchsorted(self.losses, np.array(caps) * (1 + 1e-9)), 1)
        # larger ones: by their own call, and where the others bring some more
        self.alone = self.copies + log_one_call(mu, rate, top, exchanged)
        self.beyond = self.copies + log_share_above(mu, rate, place)

    def log_moments(self, t: Floats) -> tuple[Floats, Floats]:
        """ln E[e^{tL}] of what is below each cap, and of what is above it: caps × tilts."""
        import numpy as np

        exponents = np.multiply.outer(t + 1, self.losses) + self.logs
        nothing = np.full(len(t), -math.inf)
        ends = pairwise([0, *self.cuts, _PLACES])
        pieces = [log_sum(exponents[:, a:b]) if b > a else nothing for a, b in ends]
        below = np.logaddexp.accumulate(pieces[:-1], axis=0)
        above = np.logaddexp.accumulate(pieces[:0:-1], axis=0)[::-1]
        return below, above


class Capped:
    """A law at x > 0, its sampled steps split at each of some rising caps. Steps with a loss of more than ``top`` ≥ x
    decide the outcome alone."""

    def __init__(self, law: FloatLaw, x: float, caps: Sequence[float], top: float) -> None:
        self.x, self.caps, self._others = x, caps, law.others.capped(top)
        self._steps = [_Step(sampler, caps, top, law.exchanged) for sampler in law.samplers]

    def log_moments(self, t: Floats) -> tuple[Floats, Floats]:
        """K(t) below each cap; and ln of how many steps are above it, in the tilted law: caps × tilts."""
        import numpy as np

        total = np.tile(self._others.log_moments(t), (len(self.caps), 1))
        number = np.full_like(total, -math.inf)
        with np.errstate(all="ignore"):
            for step in self._steps:
                below, above = step.log_moments(t)
                total = total + math.exp(step.copies) * below
                number = np.logaddexp(number, step.copies + above - below)
        return _known(total), number

    def terms(self, t: Floats, rough: bool) -> list[Terms]:
        """For each cap. ``rough``: upper bounds by Chernoff; else about what a saddle would say."""
        totals, numbers = self.log_moments(t)
        return [self._terms(i, t, totals[i], numbers[i], rough) for i in range(len(self.caps))]

    def _terms(self, i: int, t: Floats, total: Floats, number: Floats, rough: bool) -> Terms:
        import numpy as np

        def logs(moments: Floats) -> Floats:
            factor = log_factor(t) if rough else np.minimum(log_factor(t), _log_saddle(moments, t))
            return _known(moments + factor)

        rests = logs(total)

        def rest(y: Floats) -> tuple[Floats, Floats]:
            """ln of the call of the paths below the cap at places y ≥ 0, and the tilts that show it."""
            values = _known(total - np.log(t) - np.log1p(t)) - np.multiply.outer(y, t)
            found = values.argmin(axis=1)
            return np.minimum((rests - np.multiply.outer(y, t))[np.arange(len(y)), found], 0.0), found

        (near, together), (_, saddle) = rest(np.array([0.0, self.x]))
        ones: list[tuple[float, int | None]] = [(self._others.log_alone(), None)]
        for step in self._steps:
            ones.append((float(np.logaddexp(step.alone, step.beyond + near)), None))
            first = int(step.cuts[i])
            if self.caps[i] < self.x and first < _PLACES:
                some = step.losses[first:]
                found, tilts = rest(np.maximum(self.x - some, 0.0))
                found = found + some + step.logs[first:]
                ones.append((step.copies + float(log_sum(found)), int(tilts[found.argmax()])))
        with np.errstate(all="ignore"):
            more = logs(total + _log_several(number)) - t * self.x
        best = int(more.argmin())
        one = float(np.logaddexp.reduce([log for log, _ in ones]))
        result = Terms(float(together), one, float(more[best]), self.caps[i], int(saddle), [])
        shown = [*ones, (result.more, best)]
        return result._replace(tilts=[k for log, k in shown if k is not None and log > result.whole - _SEEN])


def _known(values: Floats) -> Floats:
    """∞ for what is no number."""
    import numpy as np

    result: Floats = np.where(np.isnan(values), math.inf, values)
    return result


def _log_several(logs: Floats) -> Floats:
    """ln(e^n − 1 − n) from ln n."""
    import numpy as np

    n = np.exp(np.minimum(logs, 700.0))
    some = np.clip(n, 1e-3, 600.0)
    result: Floats = np.where(n < 1e-3, 2 * logs - math.log(2), np.where(n > 600, n, np.log(np.expm1(some) - some)))
    return result


def _log_saddle(moments: Floats, t: Floats) -> Floats:
    """ln of what a saddle has before e^{K(t)−tx}. Where K takes off, its least bend nearby counts: the integrand has no
    saddle there."""
    import numpy as np

    with np.errstate(all="ignore"):
        bends = np.gradient(np.gradient(moments, t), t)
    bends = np.maximum(np.where(np.isfinite(bends), bends, 0.0), 0.0)
    bends = np.minimum(bends, np.minimum(np.append(bends[1:], bends[-1]), np.append(bends[0], bends[:-1])))
    result: Floats = -np.log(2 * math.pi * (bends + t**-2 + (1 + t) ** -2)) / 2 - np.log(t) - np.log1p(t)
    return result
