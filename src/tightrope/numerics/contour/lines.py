"""The contour integral in floats: unproved values, for searches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.contour.floats import Saddles
    from tightrope.numerics.transforms.transform import Complexes

__all__ = ["FloatLine", "float_line", "for_many"]

_MOST_NODES = 4096
_CLOSE = 0.1
_SETTLED = 1e-10  # ln of the call this near to its target: the last secant step squares it
_SHARE, _LONG = 0.3, 10.0  # of the proof's work; long lines grow by a root of the number of nodes less than that
_FURTHEST = 25.0  # times as far as a line is good, for a search that goes on with the next line
_NATS = 34.0  # accuracy aimed at: about what floats can hold
_SEVERAL = 16  # laws


@dataclass(frozen=True)
class FloatLine:
    """The trapezoidal sum at tilt t with step η; ``terms`` are Π φ^k / (s(s+1)) at its nodes."""

    t: float
    x: float  # where it was made for
    reach: float  # how far from there it is good
    eta: float
    log_moment: float
    terms: Complexes
    log_sizes: list[float]  # Σ k ln|φ| at the nodes
    log_mass: float
    log_reverse: float
    both: bool  # whether both known pieces of the aliases from below are to be subtracted, or the first only

    def serves(self, tilt: Fraction, x: float) -> bool:
        """Whether it is as good at x as a new line would be, whose tilt were this."""
        return abs(self.t - float(tilt)) <= _CLOSE * self.t and abs(x - self.x) <= self.reach

    def redrawn(self, parts: Sequence[tuple[Transform, int]], saddles: Saddles) -> FloatLine | None:
        """The same for parts that hardly differ; None where these do not fall as far."""
        import numpy as np

        number = len(self.terms)
        log_moment, logs = 0.0, np.zeros(number, dtype=np.complex128)
        effort.spend(
            _units(sum(one.float_cost(self.t, self.eta, number) for one, _ in parts), number), "a line of floats"
        )
        for transform, copies in parts:
            one, phases = recall.float_line(transform, self.t, self.eta, number - 1)
            log_moment += copies * one
            logs += copies * phases
        if not logs[-1].real < -_NATS + 1:
            return None
        s = self.t + 1j * self.eta * np.arange(number)
        terms = (np.exp(logs) / (s * (s + 1))).astype(np.complex128)
        sizes, masses = [float(v) for v in logs.real], (saddles.log_mass, saddles.log_reverse)
        return replace(
            self, log_moment=log_moment, terms=terms, log_sizes=sizes, log_mass=masses[0], log_reverse=masses[1]
        )

    def log_call(self, x: float) -> tuple[float, float]:
        """ln of the finite part of the call at x, and the share of it that may be round-off or truncation."""
        import numpy as np

        t, number = self.t, len(self.terms)
        y = self.eta * np.arange(number)
        parts = self.terms.real * np.cos(y * x) + self.terms.imag * np.sin(y * x)
        scale = self.log_moment - t * x + math.log(self.eta / (2 * math.pi))
        total, period = float(parts[0]) + 2 * float(parts[1:].sum()), 2 * math.pi / self.eta
        # In units of e^scale: the known pieces of the aliases from below.
        known = _over(self.log_mass - scale, t * period)
        if self.both:
            known -= _over(self.log_reverse + x - scale, (t + 1) * period)
        value = total - known
        noise = 4e-16 * (2 * float(np.abs(self.terms).sum()) + abs(known)) + number * abs(self.terms[-1])
        if not value > 0:
            return -math.inf, math.inf
        return scale + math.log(value), noise / value

    def root(self, log_target: float, start: float) -> float | None:
        """The x near ``start`` at which ``log_call`` is log_target; None if it drowns in noise there."""
        x, slope = start, -self.t
        low, high = -math.inf, math.inf
        first, last = self.x - _FURTHEST * self.reach, self.x + _FURTHEST * self.reach  # its aliases are small between
        before: tuple[float, float] | None = None
        for _ in range(40):
            value, noise = self.log_call(x)
            if noise > 0.3:  # the call is tiny here: the root is to the left
                high, before = min(high, x), None
                x = max(x - 1 / self.t, (low + x) / 2)
                continue
            gap = value - log_target
            low, high = (max(low, x), high) if gap > 0 else (low, min(high, x))
            if before is not None and before[0] != x:
                secant = (gap - before[1]) / (x - before[0])
                slope = secant if secant < 0 else slope
            before = x, gap
            step = -gap / slope
            if abs(gap) < _SETTLED or abs(step) <= 4e-16 * abs(x):
                return x + step
            following = min(max(x + step, first), last)
            if x == following in (first, last):
                return x
            x = following if low < following < high else (low + high) / 2
            if not math.isfinite(x) or x in (low, high):
                return before[0]
        return None


def _over(log: float, exponent: float) -> float:
    """e^log / (e^exponent − 1)."""
    if exponent > 700:
        return math.exp(max(min(log - exponent, 700.0), -745.0))
    return math.exp(min(log, 700.0)) / math.expm1(exponent)


def _units(work: float, count: int) -> float:
    """Of work for a line of so many nodes, from what a proof would cost."""
    return _SHARE * work / (1 + math.sqrt(count) / _LONG)


def for_many(longest: float, laws: int) -> float:
    """How long a line or a proof may take, if that is what one of few laws may: no other way is quicker for many."""
    return longest * max(laws / _SEVERAL, 1.0)


def float_line(
    parts: Sequence[tuple[Transform, int]],
    saddles: Saddles,
    tilt: Fraction,
    x: float,
    guess: float,
    patience: float | None = None,
) -> FloatLine | None:
    """The line at a tilt, good near x, where ln of the call is about ``guess``; None if it needs too many nodes."""
    import numpy as np

    t, most = float(tilt), patience or for_many(max(transform.longest_line for transform, _ in parts), len(parts))
    period, v = saddles.period(t, x, guess - _NATS)
    eta = float(short(2 * math.pi / period, 5))
    tilts = saddles.tilts(t)
    reach = 0.7 * math.sqrt(tilts.curvature)
    lost = max(0.0, tilts.log_moment - t * x - guess)
    count = math.ceil(math.sqrt(2 * (_NATS + lost) / tilts.curvature) * 1.15 / eta) + 2
    while count <= _MOST_NODES:
        log_moment, logs = 0.0, np.zeros(count + 1, dtype=np.complex128)
        try:
            work = sum(transform.float_cost(t, eta, count) for transform, _ in parts)
            if work > most:
                return None
            effort.spend(_units(work, count), "a line of floats")
            for transform, copies in parts:
                one, phases = recall.float_line(transform, t, eta, count)
                log_moment += copies * one
                logs += copies * phases
        except NotCertified:
            return None
        if logs[-1].real < -_NATS or 4 * count > _MOST_NODES:
            s = t + 1j * eta * np.arange(count + 1)
            terms = (np.exp(logs) / (s * (s + 1))).astype(np.complex128)
            sizes = [float(v) for v in logs.real]
            return FloatLine(t, x, reach, eta, log_moment, terms, sizes, saddles.log_mass, saddles.log_reverse, v >= 1)
        fall = max(-float(logs[-1].real) / (_NATS + lost), 0.05)
        count = math.ceil(count * min(4.0, 1.1 / math.sqrt(fall)))
    return None
