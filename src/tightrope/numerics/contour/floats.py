"""Where to integrate: tilts and periods in floats. Any choice made here is valid; a poor one only costs width."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import wraps
from statistics import NormalDist
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from tightrope.errors import NotCertified, TightropeError
from tightrope.numerics import effort
from tightrope.numerics.balls import precision, upper_float
from tightrope.numerics.contour.tilt_axis import TiltAxis
from tightrope.numerics.contour.tilts import Tilts, finite_or_infinite, log_factor
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["Saddles", "saddle_start", "searching"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_BLOCK = 17
_RATIO = 1.3
_FURTHEST = 12  # blocks from the typical tilt: a factor 66 each
_FINE = 17
_TILT_BITS = 5  # few, so that sums that differ little share their lines
_ALONE = 6.0  # tilts that asking costs, however few
_ROUGH = 5.0  # second difference of K from which on a parabola through three points is too crude
_KEPT = 32
_NARROW = 0.3  # 1/deviation, above which a loss is spread no further than e^{-L} is
_ABOVE = tuple(0.05 * 1.28**i for i in range(20))
_EASY = 16.0  # a period of so many deviations is what a normal sum needs
_FLATTER = (0.7, 0.4, 0.2)  # few: the work hardly changes between them
_FROM_END = tuple(0.3**k for k in range(2, 8))  # the room up to an end of the tilts grows
_FLATTEST = 0.05  # the least tilt, in 1/deviation: below, the terms only grow
_BELOW = (0.1, 0.25, 0.5, 0.8, 1.2, 1.8, 2.5, 3.5, 5.0, 8.0, 13.0)


def searching(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The function with floats that overflow silently; where nothing but overflow is left it raises NotCertified."""

    @wraps(function)
    def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        import numpy as np

        try:
            with np.errstate(all="ignore"):
                return function(*args, **kwargs)
        except (ArithmeticError, ValueError) as error:  # ValueError: a NaN was rounded
            if isinstance(error, TightropeError):
                raise
            raise NotCertified("a search in floats", "it lies beyond them") from error

    return guarded


class Saddles:
    """K(t) = Σ k·ln M(t) in floats, tabulated where it is asked for."""

    def __init__(self, parts: Sequence[tuple[Transform, int]]) -> None:
        self._parts = parts
        self._blocks: dict[tuple[int, int], tuple[Floats, Floats]] = {}
        self._tilts: dict[float, Tilts] = {}
        self._bests: dict[tuple[str, float], tuple[float, float]] = {}
        with precision(64):
            masses = [(transform.mass(), transform.reverse_mass(), copies) for transform, copies in parts]
            self.log_mass = sum(copies * float(mass.log().mid()) for mass, _, copies in masses)
            self.log_reverse = sum(copies * float(mass.log().mid()) for _, mass, copies in masses)
            tops = [(transform.largest(), copies) for transform, copies in parts]
        known = [upper_float(top) * copies for top, copies in tops if top is not None]
        self.largest = sum(known) if len(known) == len(tops) else math.inf
        end = min(transform.end for transform, _ in parts)
        self.axis, at = TiltAxis(end), min(1.0, end / 2)
        square = float(self.log_moment([at])[0]) * 2 / (at * (at + 1))
        tilt = 1 / math.sqrt(square) if 1e-300 < square < math.inf else 1.0
        # 1/deviation, about: K(t) of a normal loss is its variance times t(t+1)/2. A power of 2: sums that differ
        # little share tables.
        self.unit = 2.0 ** round(math.log2(min(max(tilt, 1e-9), 1e9)))
        self.flattest = float(self.axis.tilt(_FLATTEST * self.unit))

    def log_moment(self, t: Floats | Sequence[float]) -> Floats:
        """K(t)."""
        import numpy as np

        tilts = sum(transform.tilt_cost for transform, _ in self._parts)
        effort.spend((_ALONE + len(t)) * tilts, "a search for a tilt")
        total = np.zeros(len(t))
        with np.errstate(all="ignore"):
            for transform, copies in self._parts:
                total += copies * recall.log_floats(transform, t)
        total[np.isnan(total)] = math.inf
        return total

    def _block(self, number: int, finer: int = 0) -> tuple[Floats, Floats]:
        """Tilts and their K on a stretch of the logarithmic axis; ``finer``: between neighbours of its i-th point."""
        import numpy as np

        found = self._blocks.get((number, finer))
        if found is None:
            first = self.unit * 4 * _RATIO ** (number * (_BLOCK - 1) - _BLOCK // 2)
            if finer:
                places = first * _RATIO ** (finer - 1 + np.arange(_FINE) * (2 / (_FINE - 1)))
            else:
                places = first * _RATIO ** np.arange(_BLOCK)
            t = self.axis.tilt(places)
            found = self._blocks[number, finer] = t, self.log_moment(t)
        return found

    def best(self, objective: Callable[[Floats, Floats], Floats], enough: float = -math.inf) -> tuple[float, float]:
        """The tilt at which an objective of (t, K(t)) with one valley is least, and about its value there; or any at
        which it is below ``enough``."""
        import numpy as np

        number, last = 0, 0
        while True:
            t, k = self._block(number)
            values = _values(objective, t, k)
            i = int(values.argmin())
            if values[i] < enough:
                return float(t[i]), float(values[i])
            step = -1 if i == 0 else 1 if i == _BLOCK - 1 else 0
            if step == 0 or step == -last or abs(number + step) > _FURTHEST:
                break
            number, last = number + step, step
        if 0 < i < _BLOCK - 1 and not k[i - 1] - 2 * k[i] + k[i + 1] < _ROUGH:
            t, k = self._block(number, i)
            values = _values(objective, t, k)
            i = int(values.argmin())
        if not 0 < i < len(t) - 1 or not np.isfinite(values[i - 1 : i + 2]).all():
            return float(t[i]), float(values[i])
        low, middle, high = (float(v) for v in values[i - 1 : i + 2])
        bend = low - 2 * middle + high
        shift = (low - high) / (2 * bend) if bend > 0 else 0.0
        drop = min((low - high) * shift / 4, low - middle, high - middle)  # as far as convexity allows
        first, second, w = (self.axis.place(float(t[j])) for j in (0, 1, i))
        return self.axis.tilt(w * (second / first) ** shift), middle - drop

    def chernoff(self, x: float, enough: float = -math.inf) -> tuple[float, float]:
        """About the least of ln c(t) + K(t) − tx, or one below ``enough``, and its t."""

        def objective(at: Floats, k: Floats) -> Floats:
            return k + log_factor(at) - at * x

        t, value = self._once("chernoff", x, objective) if enough == -math.inf else self.best(objective, enough)
        return value, t

    def saddle(self, x: float) -> float:
        """The t at which the integrand K(t) − tx − ln t(t+1) has its saddle."""
        import numpy as np

        return self._once("saddle", x, lambda at, k: k - at * x - np.log(at) - np.log1p(at))[0]

    def _once(self, name: str, x: float, objective: Callable[[Floats, Floats], Floats]) -> tuple[float, float]:
        """The best tilt of an objective at x, kept: a search comes back to few x."""
        found = self._bests.get((name, x))
        if found is None:
            while len(self._bests) >= _KEPT:
                self._bests.pop(next(iter(self._bests)), None)
            found = self._bests[name, x] = self.best(objective)
        return found

    def tilt(self, x: float, log_call: float, nats: float, most_lost: float, dear: float = 2.0) -> Fraction:
        """A tilt for x: the saddle, or a flatter one where that shortens the period by more than it costs.

        ``log_call``: about ln of the call at x; ``nats``: the accuracy wanted; ``most_lost``: by how many nats
        the terms may exceed the call; ``dear``: with which power of both the work grows. (Balls need more nodes, each
        dearer and of more bits.)
        """
        t = self.axis.rounded(max(self.saddle(x), self.flattest), _TILT_BITS)
        best, least, allowed = t, math.inf, most_lost
        for factor in (1.0, *_FLATTER, *(_FROM_END if self.axis.end < math.inf else ())):
            trial = self.axis.rounded(self.axis.tilt(self.axis.place(float(t)) * factor), _TILT_BITS)
            at = float(trial)
            tilts = self.tilts(at)
            lost, period = tilts.log_moment - at * x - log_call, self.period(at, x, log_call - nats)[0]
            if factor == 1:
                allowed = max(most_lost, lost + min(most_lost, 5))
                if period < _EASY * min(math.sqrt(tilts.curvature), 2 / self.unit):
                    break
            work = period * (nats + max(lost, 0.0)) ** dear
            before = least
            if work < least and lost < allowed:
                best, least = trial, work
            if work > 0.85 * before:
                break
        return best

    def last_root(self, log_target: float) -> float:
        """The x at which Chernoff's bound is e^log_target: the call is no more there."""

        def objective(at: Floats, k: Floats) -> Floats:
            return (k + log_factor(at) - log_target) / at

        return self.best(objective)[1]

    def saddle_root(self, log_target: float) -> tuple[float, float]:
        """About the x at which the call is e^log_target, and its saddle."""
        import numpy as np

        width = math.log(2 * math.pi) / 2

        def objective(at: Floats, k: Floats) -> Floats:
            bend = self.unit**-2 + at**-2 + (1 + at) ** -2 + (self.axis.end - at) ** -2
            result: Floats = (k - np.log(at) - np.log1p(at) - np.log(bend) / 2 - width - log_target) / at
            return result

        t, x = self.best(objective)
        return x, t

    def flat_root(self, log_target: float) -> float:
        """The same where its saddle is so flat that it is not in the tail.

        There the call is nearly M(0) − M(−1)eˣ; or, of a loss that is spread far out, the chance that it exceeds x.
        """
        if self.unit > _NARROW:
            return math.log(math.exp(self.log_mass) - math.exp(log_target)) - self.log_reverse
        share = math.exp(log_target - self.log_mass)
        near = min(self.unit, self.axis.end) / 16
        above, below = (float(k) - self.log_mass for k in self.log_moment([near, -near]))
        square = above + below if above + below > 1e-12 * abs(above - below) else 0.0  # or nothing but rounding
        return (above - below) / (2 * near) + NormalDist().inv_cdf(1 - share) * math.sqrt(square) / near

    def saddle_call(self, t: float, x: float) -> float:
        """About ln of the call at x, from its saddle t."""
        tilts = self.tilts(t)
        bend = tilts.curvature + t**-2 + (1 + t) ** -2
        log = tilts.log_moment - t * x - math.log(t) - math.log1p(t)
        return min(log - math.log(2 * math.pi * bend) / 2, self.log_mass)

    def tilts(self, t: float) -> Tilts:
        """What the aliases of a line at tilt t need."""
        import numpy as np

        found = self._tilts.get(t)
        if found is None:
            unit, room = max(t, self.unit), self.axis.end - t
            offsets = _ABOVE if t < 4 * self.unit else _ABOVE[:-4]  # far tilts are dear and useless in the tail
            steps = self.unit * np.array(_BELOW)
            above = t + TiltAxis(room).tilt(unit * np.array(offsets))
            below = np.concatenate([[0.0], -np.expm1(-steps), [1.0], 1 + steps])
            # Whole numbers where they are dense enough: some transforms are cheap to prove there.
            if room == math.inf:
                above = np.where(above > max(4.0, 1.2 * t), np.ceil(above), above)
            below = np.where(below > 4, np.round(below), below)
            near = min(0.04 * unit, t / 2, 0.04 * room)
            values = self.log_moment(np.concatenate([[t, t - near, t + near], above, -below]))
            bend = float(values[1] - 2 * values[0] + values[2]) / near**2
            bend = bend if 0 < bend < math.inf else self.unit**-2
            number = 3 + len(above)
            while len(self._tilts) >= _KEPT:
                self._tilts.pop(next(iter(self._tilts)), None)
            found = self._tilts[t] = Tilts(float(values[0]), bend, above, values[3:number], below, values[number:])
        return found

    def period(self, t: float, x: float, log_error: float) -> tuple[float, float]:
        """A period whose aliases at x, but for the known pieces, are each at most e^log_error; and its v."""
        import numpy as np

        tilts = self.tilts(t)
        above, below = tilts.logs_above(x) - log_error, tilts.logs_below(x) - log_error
        right = float(np.min(above / (tilts.above - t)))
        lefts = below / (tilts.below + t)
        i = int(lefts.argmin())
        return max(min(right, self.largest - x), float(lefts[i]), 1e-3 / max(self.unit, t)), float(tilts.below[i])


def saddle_start(parts: Sequence[tuple[Transform, int]], delta: Fraction) -> tuple[float, float] | None:
    """About the x at which the call is delta, and the slope of its logarithm; None where floats do not see it."""
    import numpy as np

    try:
        with np.errstate(all="ignore"):
            saddles = Saddles(parts)
            rest = float(delta) + math.expm1(saddles.log_mass)  # less the mass at infinity
            if not rest > 0:
                return None
            x, t = saddles.saddle_root(math.log(rest))
            x = min(x, saddles.largest - 0.5 / t)
            return (x, -t) if 0 < x < math.inf else None
    except ArithmeticError:
        return None


def _values(objective: Callable[[Floats, Floats], Floats], t: Floats, k: Floats) -> Floats:
    import numpy as np

    with np.errstate(all="ignore"):
        return finite_or_infinite(objective(t, k))
