"""The mean of t lognormal densities: E[(γ − Λ)₊] for Λ = (W_1 + … + W_t)/t, W = e^{μX − μ²/2}, X normal.

Λ is the density of a Gaussian answer in one of t places, at random, against none. With φ(z) = E[e^{−zW}] and B = 2π/η
the trapezoidal rule on Re s = c > 0 returns all shifts at once,

(η/2π) Σ_k e^{s_kγ}φ(s_k/t)^t/s_k² = Σ_j put(γ + jB)e^{−cjB},  put(γ) = E[(γ − Λ)₊].

For j > 0 put(x) = x − 1 + call(x) and call falls; for j < 0 put(x) ≤ e^{vx}φ(v/t)^t/(ev) for every v > c, and put = 0
for x ≤ 0. φ is a sum along Im x = −d: in the strip −2d ≤ Im x ≤ 0, 2dμ ≤ π/2, the integrand is at most e^{v²/2} times a
normal density. Nodes beyond the last: |φ(a + iy)| ≤ e^{θ²/2μ²}φ(a·cos θ + y·sin θ), which falls in y.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, between, precision
from tightrope.numerics.normal import upper_tail
from tightrope.numerics.real import Real

__all__ = ["MeanDensity"]

_MOST_WORK = 600_000  # products of complex balls for one set of nodes
_MOST_BITS = 700
_KEPT = 24
_FRESH = 16
_TILTS = np.geomspace(1e-3, 1e12, 361)


@dataclass(frozen=True)
class _Nodes:
    """φ(s_k/t)^t/s_k² on one line, with what the rule needs to know of it."""

    c: Ball
    eta: Ball
    values: tuple[ComplexBall, ...]
    tail: Ball  # 2Σ of what follows


@dataclass(frozen=True, eq=False)
class MeanDensity:
    """``mu`` > 0 and ``steps`` ≥ 2."""

    mu: Real
    steps: int
    _known: dict[tuple[int, int, int], _Nodes] = field(default_factory=dict, repr=False)

    def call(self, gamma: Ball) -> Ball:
        """E[(Λ − γ)₊]."""
        return self._both(gamma)[0]

    def put(self, gamma: Ball) -> Ball:
        """E[(γ − Λ)₊]."""
        return self._both(gamma)[1]

    def put_at_most(self, gamma: Ball) -> Ball:
        """E[(γ − Λ)₊] ≤ e^{vγ}φ(v/t)^t/(ev), where floats choose v."""
        logs = _log_table(self._float_mu(), self.steps) + _TILTS * float(gamma.mid()) - np.log(_TILTS)
        v = Ball(float(_TILTS[np.where(_MOST_BITS * self.steps >= _TILTS, logs, np.inf).argmin()]))
        return (v * gamma + self.steps * self._real(v / self.steps).log() - 1).exp() / v

    def _both(self, gamma: Ball) -> tuple[Ball, Ball]:
        bits = ctx.prec
        if bits > _MOST_BITS:
            raise NotCertified("a mean of densities", f"more than {_MOST_BITS} bits are needed")
        plan = _Plan(self._float_mu(), self.steps, float(gamma.mid()), bits)
        with precision(plan.bits):
            nodes = self._nodes(plan)
            period = 2 * Ball.pi() / nodes.eta
            angle, total = nodes.eta * gamma, nodes.values[0].real
            for k, value in enumerate(nodes.values[1:], 1):
                total += 2 * (ComplexBall(0, angle * k).exp() * value).real
            total += between(-nodes.tail, nodes.tail)
            whole = nodes.eta / (2 * Ball.pi()) * (nodes.c * gamma).exp() * total
            ratio = (-nodes.c * period).exp()
            whole -= (gamma - 1) * ratio / (1 - ratio) + period * ratio / (1 - ratio) ** 2
            whole -= between(Ball(0), self._below(gamma, nodes.c, period, Ball(plan.second)).upper())
            echo = between(Ball(0), (ratio / (1 - ratio)).upper())  # the calls at γ + jB, as parts of the one at γ
            put = (whole - echo * (1 - gamma)) / (1 + echo)
            call = (whole + 1 - gamma) / (1 + echo)
        return call.nonnegative_part(), put.nonnegative_part()

    def _float_mu(self) -> float:
        with precision(64):
            return float(self.mu.ball().mid())

    def _below(self, gamma: Ball, c: Ball, period: Ball, v: Ball) -> Ball:
        """Σ over j ≥ 1 of put(γ − jB)e^{cjB}."""
        if gamma <= period:
            return Ball(0)
        log = v * gamma + self.steps * self._real(v / self.steps).log() - 1
        return log.exp() / v / ((v - c) * period).expm1()

    def _real(self, u: Ball) -> Ball:
        """An upper bound of φ(u) for u > 0, by the trapezoidal rule on the real line: good to 2^−40/t relatively."""
        with precision(128 + self.steps.bit_length()):
            return self._real_sum(u)

    def _real_sum(self, u: Ball) -> Ball:
        mu = self.mu.ball()
        width = (Ball.pi() / (2 * mu)).min(Ball(4)).lower()
        size = _log_transform(self._float_mu(), 1)(float(u.mid()))
        reach = 28 + math.log(self.steps) - size
        h = Ball(float(width.mid()) * 6 / (reach + 9))
        last = math.ceil(math.sqrt(2 * reach) / float(h.mid())) + 1
        total = Ball(0)
        for k in range(-last, last + 1):
            x = h * k
            total += (-(x**2) / 2 - u * (mu * x - mu**2 / 2).exp()).exp()
        error = 2 * (width**2 / 2).exp() / (2 * Ball.pi() * width / h).expm1() + 2 * upper_tail(h * last)
        return (total * h / (2 * Ball.pi()).sqrt() + error).upper()

    def _nodes(self, plan: _Plan) -> _Nodes:
        key = (plan.index, plan.count, plan.bits)
        if key not in self._known:
            while len(self._known) >= _KEPT:
                del self._known[next(iter(self._known))]
            self._known[key] = self._made(plan)
        return self._known[key]

    def _made(self, plan: _Plan) -> _Nodes:
        mu, t = self.mu.ball(), self.steps
        c, eta = Ball(plan.c), Ball(plan.eta)
        reach = plan.reach + math.log(t) + plan.c / t + 8  # φ(c/t) is about e^{−c/t}
        d = Ball(min(5.0, 0.78 / plan.mu))
        if not 2 * d * mu <= Ball.pi() / 2:
            raise NotCertified("a mean of densities", "the strip is too wide")
        h = Ball(2 * math.pi * float(d) / (reach + 2 * float(d) ** 2 + 3))
        last = math.ceil(math.sqrt(2 * reach + float(d) ** 2) / float(h)) + 1
        if (2 * last + 1) * plan.count > _MOST_WORK:
            raise NotCertified("a mean of densities", "too many nodes")
        error = (1 + (2 * d**2).exp()) / (2 * Ball.pi() * d / h).expm1()
        error += 2 * (d**2 / 2).exp() * upper_tail(h * last)
        scale = h / (2 * Ball.pi()).sqrt()
        starts, slopes = [], []
        for k in range(-last, last + 1):
            x = ComplexBall(h * k, -d)
            w = (mu * x - mu**2 / 2).exp() / t
            starts.append(-(x * x) / 2 - c * w)
            slopes.append(ComplexBall(0, -eta) * w)
        turns = [slope.exp() for slope in slopes]
        noise = ComplexBall(between(-error, error), between(-error, error))
        values: list[ComplexBall] = []
        terms: list[ComplexBall] = []
        for k in range(plan.count + 1):
            if k % _FRESH:
                terms = [one * turn for one, turn in zip(terms, turns, strict=True)]
            else:  # a product of unit numbers loses half a bit each time
                terms = [(start + slope * k).exp() for start, slope in zip(starts, slopes, strict=True)]
            phi = sum(terms, ComplexBall(0)) * scale + noise
            values.append(phi**t / ComplexBall(c, eta * k) ** 2)
        end = eta * plan.count
        theta = Ball(plan.theta)
        log = t * (theta**2 / (2 * mu**2) + self._real((c * theta.cos() + end * theta.sin()) / t).log())
        return _Nodes(c, eta, tuple(values), (log.exp() * 2 / (eta * end)).upper())


@lru_cache(maxsize=16)
def _log_table(mu: float, steps: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """ln φ(v/t)^t at all tilts, in floats."""
    log_phi = _log_transform(mu, steps)
    return np.array([log_phi(float(v)) for v in _TILTS])


def _log_transform(mu: float, steps: int) -> Callable[[float], float]:
    """u ↦ ln φ(u/t)^t in floats."""
    x = np.linspace(-30, 12, 841)
    plain = -x * x / 2 + math.log((x[1] - x[0]) / math.sqrt(2 * math.pi))
    w = np.exp(mu * x - mu * mu / 2)

    def log_phi(u: float) -> float:
        if math.isinf(u):
            return -math.inf
        logs = plain - u / steps * w
        top = float(logs.max())
        return steps * (top + math.log(float(np.exp(logs - top).sum())))

    return log_phi


class _Plan:
    """Line, step, number of nodes and tilts for one γ, by floats; γ's that need the same period share their nodes."""

    def __init__(self, mu: float, steps: int, gamma: float, bits: int) -> None:
        self.mu = mu
        if not (0 < mu < 8 and 0 < gamma < 1e6):
            raise NotCertified("a mean of densities", f"no plan for μ = {mu:.3g} at γ = {gamma:.3g}")
        log_phi = _log_transform(mu, steps)
        reach = 0.4 * bits + 8
        logs = _log_table(mu, steps)
        # put(low) is below e^{−2·reach}: it comes back times e^{cB}, and cB = reach
        places = gamma * (1 - np.geomspace(1, 1e-9, 300))
        small = (places[:, None] * _TILTS + logs).min(axis=1) <= -2 * reach
        low = float(places[small].max(initial=0.0))
        self.index = math.ceil(2 * math.log2(min(gamma * 1.0000001, (gamma - low) * 1.05)))
        period = 2.0 ** (self.index / 2)
        self.eta, self.c = 2 * math.pi / period, reach / period
        self.second = self.c * 2
        if gamma > period:
            wide = np.where(1.05 * self.c < _TILTS, logs - _TILTS * (period - gamma), np.inf)
            self.second = max(float(_TILTS[wide.argmin()]), self.second)
        lost = max(0.0, self.c * gamma + log_phi(self.c))
        self.reach = reach + lost
        if self.reach + self.c / steps > _MOST_BITS:
            raise NotCertified("a mean of densities", "the put is too small for its nodes")
        self.bits = 64 * math.ceil((self.reach + self.c / steps + 60) / math.log(2) / 64)  # rounded to share nodes
        self.theta, self.count = self._ends(log_phi, steps, -reach - self.c * gamma)

    def _ends(self, log_phi: Callable[[float], float], steps: int, floor: float) -> tuple[float, int]:
        """The least number of nodes after which the proved tail is small, and the turn that proves it."""
        turns = sorted(
            {min(1.3, self.mu * u / math.sqrt(steps)) for u in (1, 2, 4, 6, 8, 10, 12, 14, 17, 20, 24, 32, 48)}
        )
        for count in (int(24 * 1.4**i) for i in range(22)):
            y = self.eta * count
            for theta in turns:
                bound = steps * theta**2 / (2 * self.mu**2)
                bound += log_phi(self.c * math.cos(theta) + y * math.sin(theta))
                if bound < floor:
                    return theta, count
        raise NotCertified("a mean of densities", "its transform falls too slowly")
