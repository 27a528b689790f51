"""Where to integrate for the moments of a mean of lognormal variables: floats only, and any choice is valid.

With F(u) = E[e^{−uΛ}] the moment E[Λ^{−s}] is ∫u^{s−1}F(u)du/Γ(s) along any ray u = e^{w+iθ}, 0 ≤ θ < π/2. The rule
chosen here has nodes in w and, for F itself, nodes in x; both lie on one lattice of ln u + μx.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tightrope.errors import NotCertified, TightropeError
from tightrope.numerics.transforms.sampled_rule import short

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["AllocatedFloats", "AllocatedRule", "chosen_rule"]

_PARTS = np.linspace(0.0, 1.0, 7)
_MOST_MICROSECONDS = 1e6  # for the exponentials of one band
_STEP, _SUMMED = 0.125, 40.0  # of the table, and up to which t its sum is exact
_SPREAD = np.linspace(0.0, 1.0, 9)


@dataclass(frozen=True)
class AllocatedRule:
    """Nodes w = j·wide·fine, first ≤ j ≤ last, on the ray of this angle; ``reach`` nodes in x to either side."""

    angle: Fraction
    fine: Fraction  # the lattice
    wide: int  # a step in w is so many of it
    stride: int  # a step in μx is so many of it
    first: int
    last: int
    reach: int
    lowered: Fraction  # the path of x lies so far below the real line
    up: Fraction  # how far the path of w may be raised and lowered, in radians, for its error
    down: Fraction
    power: Fraction  # F(u) ≤ a constant times |u|^−power bounds what lies beyond the last node
    top: Fraction  # about ln of the largest term
    bits: int


class AllocatedFloats:
    """ln F and its first two derivatives in ln u, tabulated; F(u) = φ(u/t)^t, φ(v) = E[e^{−vW}], W = e^{μX−μ²/2}."""

    def __init__(self, mu: float, steps: int) -> None:
        if not (1e-7 < mu < 20 and steps <= 10**15):
            raise NotCertified("a mean of densities", f"μ = {mu:.3g} and {steps} runs are out of reach")
        self.mu, self.steps = mu, steps
        x = np.linspace(-38, 14, 651)
        self._plain = -x * x / 2
        self._weights = mu * x - mu * mu / 2

    def derivatives(self, w: Floats) -> tuple[Floats, Floats, Floats]:
        """ln F, −(ln F)′ and −(ln F)″ at ln u = w."""
        v = np.exp(np.minimum(w[:, None] - math.log(self.steps) + self._weights, 690.0))
        logs = self._plain - v
        top = logs.max(axis=1)
        shares = np.exp(logs - top[:, None])
        whole = shares.sum(axis=1)
        v = np.minimum(v, 1e150)
        first = (shares * v).sum(axis=1) / whole
        second = (shares * v * (v - 1)).sum(axis=1) / whole - first**2
        plain = math.log(float(np.exp(self._plain).sum()))
        # where F is near 1 the logarithm comes from 1 − F, which does not cancel
        near = (np.exp(self._plain - plain) * -np.expm1(-v)).sum(axis=1)
        log = np.where(near < 0.5, np.log1p(-np.minimum(near, 0.5)), top + np.log(whole) - plain)
        return self.steps * log, self.steps * first, -self.steps * second

    @cached_property
    def _table(self) -> tuple[Floats, Floats, Floats]:
        """ln u, ln F and −(ln F)′."""
        w = np.arange(-30.0, 40.0 + self.mu**2, _STEP)
        logs, slopes, _ = self.derivatives(w)
        return w, logs, np.maximum.accumulate(slopes)

    def peaks(self, t: Floats) -> tuple[Floats, Floats, Floats]:
        """Where tw + ln F(e^w) is largest, its value there, and about its second derivative, negated."""
        places, _, slopes = self._table
        w = np.interp(np.log(t), np.log(np.maximum(slopes, 1e-300)), places)
        for _ in range(2):
            _, first, second = self.derivatives(w)
            w = w + np.clip((t - first) / np.maximum(second, t * 1e-3), -0.5, 0.5)
        log, _, second = self.derivatives(w)
        return w, t * w + log, np.maximum(second, 1e-3 * t)

    def log_moments(self, t: Floats) -> Floats:
        """About ln E[Λ^{−t}], t > 0: summed for small t; for large t that integral and Γ's, by their peaks."""
        result = np.empty_like(t)
        small = t < _SUMMED
        w, logs, _ = self._table
        for i in np.nonzero(small)[0]:
            at = float(t[i])
            terms = at * w + logs
            top = float(terms.max())
            before = math.exp(max(at * float(w[0]) - top, -700.0)) / math.expm1(at * _STEP)
            result[i] = top + math.log((float(np.exp(terms - top).sum()) + before) * _STEP) - math.lgamma(at)
        large = t[~small]
        if len(large):
            _, value, bend = self.peaks(large)
            result[~small] = value - np.log(bend) / 2 - (large * np.log(large) - large - np.log(large) / 2)
        return result


def log_gamma_ratio(t: float, y: Floats) -> Floats:
    """ln Γ(t) − ln|Γ(t + iy)|."""
    s = t + 1j * np.concatenate([[0.0], y])
    far = s + 10
    logs = (far - 0.5) * np.log(far) - far + 1 / (12 * far) - sum(np.log(s + j) for j in range(10))
    result: Floats = logs.real[0] - logs.real[1:]
    return result


def chosen_rule(floats: AllocatedFloats, t: float, low_y: float, high_y: float, nats: float) -> AllocatedRule:
    """A rule for all E[Λ^{−t−iy}], low_y ≤ y ≤ high_y, with an error of about e^−nats of E[Λ^{−t}]."""
    try:
        with np.errstate(all="ignore"):
            return _chosen(floats, t, low_y, high_y, nats)
    except (ArithmeticError, ValueError) as wrong:
        if isinstance(wrong, TightropeError):
            raise
        raise NotCertified("a mean of densities", "the search left the range of floats") from wrong


def _chosen(floats: AllocatedFloats, t: float, low_y: float, high_y: float, nats: float) -> AllocatedRule:
    mu, steps = floats.mu, floats.steps
    y = low_y + (high_y - low_y) * _SPREAD
    ratio = log_gamma_ratio(t, y)
    angles = np.arctan2(low_y + (high_y - low_y) * _PARTS, t) if high_y else np.zeros(1)
    best = min(
        (_angled(t, y, ratio, float(angle), nats) for angle in angles),
        key=lambda one: one[0] * (nats + one[2] - t * math.log(math.cos(one[1]))),
    )
    frequency, angle, amplified, up, down = best
    peak, value, _ = (float(a[0]) for a in floats.peaks(np.array([t])))
    wanted = nats + amplified
    low = (value - wanted - max(0.0, math.log(1 / t)) - 3) / t
    high, power = _last(mu, steps, t, value - wanted - 3, math.log(math.cos(angle)), peak)
    ends = np.linspace(peak, max(high, peak + 1), 60)
    inside = floats.derivatives(ends + math.log(math.cos(angle)))[0] * (1 - 1 / steps)
    top = float((t * ends + inside).max())
    inner = wanted + top - value + math.log(steps) + 6  # an error of φ counts t times
    x_step, lowered = _x_step(mu, angle, inner)
    inner += lowered**2 / 2
    wide, stride = 1, 1
    step = 2 * math.pi / frequency
    if mu * x_step >= step:
        stride = int(mu * x_step / step)
        fine = short(step, 8)
    else:
        wide = math.ceil(step / (mu * x_step))
        fine = short(min(step / wide, mu * x_step), 8)
    across = float(fine) * stride / mu
    reach = math.ceil(math.sqrt(2 * inner) / across) + 1
    first, last = math.floor(low / (float(fine) * wide)), math.ceil(high / (float(fine) * wide))
    points = (last - first) * wide + 2 * reach * stride
    bits = math.ceil(inner / math.log(2)) + 24
    if not points * (4 + bits / 60) <= _MOST_MICROSECONDS:
        raise NotCertified("a mean of densities", f"{points} nodes of {bits} bits are too many")
    return AllocatedRule(
        _short(angle),
        fine,
        wide,
        stride,
        first,
        last,
        reach,
        _short(lowered),
        short(up),
        short(down),
        short(power),
        Fraction(round(top)),
        bits,
    )


def _angled(t: float, y: Floats, ratio: Floats, angle: float, nats: float) -> tuple[float, float, float, float, float]:
    """The frequency 2π/step that this angle needs, the angle, by how much sums are amplified, and both shifts."""
    amplified = ratio - angle * y
    most = float(amplified.max())
    best = []
    for sign, room in ((1, math.pi / 2 - angle), (-1, math.pi / 2 + angle)):
        shift = room * np.array([0.999, 0.99, 0.97, 0.94, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
        size = -t * np.log(np.cos(angle + sign * shift))
        wanted = (amplified[None, :] - sign * y[None, :] * shift[:, None]).max(axis=1) + size + nats
        rates = wanted / shift
        i = int(rates.argmin())
        best.append((float(rates[i]), float(shift[i])))
    return max(best[0][0], best[1][0], 0.5), angle, most, best[0][1], best[1][1]


def _last(mu: float, steps: int, t: float, floor: float, log_cos: float, peak: float) -> tuple[float, float]:
    """Beyond which w the nodes need not go, by F(u) ≤ (p/(e·|u|cos θ))^p·e^{μ²p(p/t+1)/2}, and that p."""
    p = t * (1 + np.geomspace(0.02, 300, 60))
    logs = p * np.log(p) - p - p * log_cos + mu**2 * p * (p / steps + 1) / 2
    ends = (logs - floor) / (p - t)
    i = int(ends.argmin())
    return max(float(ends[i]), peak + 0.1), float(p[i])


def _x_step(mu: float, angle: float, nats: float) -> tuple[float, float]:
    """A step in x for an error of e^−nats of φ on that ray, and how far the path of x is lowered for it."""
    return max(_x_step_lowered(mu, angle, nats, part * angle / mu) for part in (0.0, 0.25, 0.5, 0.75, 1.0))


def _x_step_lowered(mu: float, angle: float, nats: float, lowered: float) -> tuple[float, float]:
    rates = []
    for room, moved in (
        ((math.pi / 2 - angle) / mu + lowered, -lowered),
        ((math.pi / 2 + angle) / mu - lowered, lowered),
    ):
        depth = min(room, math.sqrt(2 * nats))
        # |density| on the path: e^{(moved + depth)²/2}
        rates.append((nats + (moved + depth) ** 2 / 2) / depth)
    return 2 * math.pi / max(rates), lowered


def _short(x: float) -> Fraction:
    return short(x, 12) if x else Fraction(0)
