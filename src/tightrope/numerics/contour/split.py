"""A contour sum beside terms of closed form: E[(1 − e^{x−L})₊] = scale·(contour) + known(x)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, between, precision
from tightrope.numerics.contour.floats import searching
from tightrope.numerics.contour.integral import ContourSum, Plan
from tightrope.numerics.contour.lines import FloatLine
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform

__all__ = ["SplitSum"]

_NATS, _LOST = 22.0, 15.0
_COUNTS = (64, 256, 1024)
_SMALL = 1e-6
_MOST_MICROSECONDS = 6e5  # of the proof: floats take a tenth
_RELATIVE = 1e-7  # of the whole: nodes grow like a root of its reciprocal, as the transform falls like a power


class SplitSum(ContourSum):
    """The law scale·(that of ``transform``) + a measure whose call ``known`` is in closed form; no mass at ∞."""

    def __init__(self, transform: Transform, scale: Callable[[], Ball], known: Callable[[Ball], Ball]) -> None:
        super().__init__([(transform, 1)])
        self._scale, self._known = scale, known
        self._estimates: dict[float, float] = {}
        with precision(80):
            self._log_scale = float(scale().log().mid())

    @searching
    def estimate(self, x: float) -> float:
        """About ln of the call at x; searches ask at the same places again."""
        if x not in self._estimates:
            smooth, known = self._log_smooth(x), self._log_known(x)
            top = max(smooth, known)
            value = top + math.log(math.exp(smooth - top) + math.exp(known - top)) if top > -math.inf else top
            self._estimates[x] = value
        return self._estimates[x]

    def _log_smooth(self, x: float) -> float:
        try:
            return super().estimate(x) + self._log_scale
        except NotCertified:  # too small for floats: the known terms stand alone
            return -math.inf

    def _line_at(self, x: float) -> FloatLine | None:
        """A float line at the saddle for x, as long as a transform that falls like a power asks."""
        import numpy as np

        guess = super().chernoff(x)[0] - 2.5
        tilt = self._saddles.tilt(x, guess, _NATS, _LOST)
        if self._line is not None and self._line.serves(tilt, x):
            return self._line
        t, (period, v) = float(tilt), self._saddles.period(float(tilt), x, guess - _NATS)
        eta, tilts, transform = float(short(2 * math.pi / period)), self._saddles.tilts(t), self._parts[0][0]
        self._line = None
        for count in _COUNTS:
            try:
                if transform.cost(t, eta, count, 53) > _MOST_MICROSECONDS:
                    break
                log_moment, logs = transform.float_line(t, eta, count)
            except NotCertified:  # so many nodes are out of reach: fewer may do
                break
            s = t + 1j * eta * np.arange(count + 1)
            terms = (np.exp(logs) / (s * (s + 1))).astype(np.complex128)
            sizes, reach = [float(log) for log in logs.real], 0.7 * math.sqrt(tilts.curvature)
            self._line = FloatLine(t, x, reach, eta, log_moment, terms, sizes, 0.0, 0.0, v >= 1)
            if count * abs(terms[-1]) < _SMALL * abs(terms[0]):
                break
        return self._line

    def _log_known(self, x: float) -> float:
        with precision(100):
            value = self._known(Ball(x))
        return float(value.mid().log()) if value.mid() > 0 else -math.inf

    @searching
    def root(self, log_target: float) -> float:
        """About the x at which the call is e^log_target: it falls, so by secants and halving."""
        low, high = 0.0, 1.0
        if self.estimate(low) <= log_target:
            return -math.inf
        while self.estimate(high) > log_target:
            low, high = high, 2 * high
            if high > 1e6:
                raise NotCertified("a contour integral", "no ε is large enough")
        below, above = (self.estimate(x) - log_target for x in (low, high))
        x = high
        for step in range(60):
            x = low + (high - low) * (below / (below - above) if math.isfinite(above) and step % 3 else 0.5)
            value = self.estimate(x) - log_target
            low, high, below, above = (x, high, value, above) if value > 0 else (low, x, below, value)
            if abs(value) < 1e-3 or not low < (low + high) / 2 < high:
                break
        return x

    @searching
    def plan(self, x: float, relative: float = 1e-11, spread: float = 0.0) -> Plan:
        """A plan for the contour, which need only be as accurate as its share in the whole asks."""
        share = math.exp(min(self._log_smooth(x) - self.estimate(x), 0.0))
        return super().plan(x, min(max(relative, _RELATIVE) / max(share, 1e-300), 1e-2), spread)

    def polished(self, x: float, log_target: float, plan: Plan) -> float:
        """A root improved by three secant steps on proved values; x itself if they fail."""
        for size in (1e-4, 1e-6, 1e-9):
            with precision(plan.bits + 64):
                near = x * (1 + size)
                first, second = (float(self.call(Ball(at), plan).mid().log() - Ball(log_target)) for at in (x, near))
            slope = (second - first) / (near - x)
            if not (slope < 0 and abs(first) < 0.1):
                break
            x -= first / slope
        return x

    def chernoff(self, x: float, enough: float = -math.inf) -> tuple[float, float]:  # noqa: ARG002 - it bounds nothing
        """Of the contour alone: no bound of the whole."""
        return math.inf, super().chernoff(x)[1]

    def upper(self, x: Ball, t: Fraction) -> Ball:
        """A proved upper bound."""
        with precision(128):
            return (self._scale() * super().upper(x, t) + self._known(x)).upper().min(Ball(1))

    def call(self, x: Ball, plan: Plan) -> Ball:
        """A proved enclosure. Neither term rises in x."""
        with precision(plan.bits + 60):
            inner = super().call(x, plan)
            ends = [x] if x.is_exact() else [x.lower(), x.upper()]
            known = [self._known(end) for end in ends]
            return self._scale() * inner + (known[0] if len(known) == 1 else between(*known))
