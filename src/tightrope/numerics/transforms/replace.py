"""The transform of the sampled normal loss when one record is exchanged for another, at the two ends ±c.

w(x) = 1 − q + q·e^{cx−c²/2}: M(s) = ∫ φ(x) w(x)^{s+1} w(−x)^{−s} dx, so that M(s) = M(−1−s); analytic for |Im x| < π/c.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.products import product
from tightrope.numerics.real import Real
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.falling_nodes import FallingTransform
from tightrope.numerics.transforms.lifted_nodes import Lifted, height_and_step, lift_error
from tightrope.numerics.transforms.replace_decay import log_decay, replace_decay, shifted_angle
from tightrope.numerics.transforms.replace_panels import replace_panels, replace_quadrature
from tightrope.numerics.transforms.replace_rule import (
    log_factors,
    replace_alias,
    replace_rule,
    replace_tails,
    replace_window,
)
from tightrope.numerics.transforms.sampled_rule import Rule
from tightrope.numerics.transforms.settled_nodes import Quadrature
from tightrope.numerics.transforms.transform import log_phases, power_sums

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import FloatNodes, Integers
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["ReplaceSampledNormalTransform"]

_GUARD = 40
_NATS = 42.0  # accuracy of doubles, and of their powers
_FEW = 300  # nodes of a rule for doubles
_TOGETHER = 2.0  # ratio of the tilts that share a rule


class ReplaceSampledNormalTransform(FallingTransform):
    """N(0,1) mixed with N(c,1) at rate 0 < q < 1, against the mixture with N(−c,1)."""

    tilt_cost, decay_cost = 20.0, 1e4

    def __init__(self, c: Real, rate: Fraction) -> None:
        if not 0 < rate < 1:
            raise AssertionError("the rate must lie between 0 and 1: at 1 the loss is normal")
        self._c, self._rate = c, rate
        with precision(80):
            self._floats = abs(float(c.ball().mid())), min(float(rate), 1 - 2.0**-53)
        if not 0 < self._floats[0] < 1e3:
            raise NotCertified("a sampled normal transform", f"c = {c} is out of reach")

    def reverse_mass(self) -> Ball:
        """1."""
        return Ball(1)

    def log_real(self, t: Fraction) -> Ball:
        """ln M(t), by the rule of ``line``."""
        return self.line(t, Fraction(0), 0)[0] if t not in (0, -1) else Ball(0)

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """ln M(t) in floats, tilts of about one size at a time; ∞ where too many nodes would be needed."""
        import numpy as np

        c, rate = self._floats
        at = np.abs(np.asarray(t, dtype=np.float64) + 0.5) - 0.5
        nats = 34.0 + min(60.0, max(0.0, -2 * math.log(rate * min(c, 1.0))))
        order = np.argsort(at)
        result = np.full_like(at, math.inf)
        with np.errstate(all="ignore"):
            while len(order):
                some = order[at[order] + 1 <= (at[order[0]] + 1) * _TOGETHER]
                with suppress(NotCertified):
                    result[some] = self._grid(at[some], 0.0, nats)[0]
                order = order[len(some) :]
        return result

    def _grid(self, t: Floats, y: float, nats: float) -> tuple[Floats, Floats, Floats]:
        """ln M at these t, the last of which is the largest, the shares of the nodes in the last, and their losses: in
        floats, on one rule."""
        import numpy as np

        c, rate = self._floats
        chosen = replace_rule(c, rate, float(t[-1]), y, nats)
        h = float(chosen.step)
        x = h * np.arange(chosen.first, chosen.last + 1)
        ups, downs = (rate * np.expm1(np.minimum(c * side - c * c / 2, 600.0)) for side in (x, -x))
        first, second = np.log1p(ups), np.log1p(downs)
        exponents = first + np.multiply.outer(t, first - second)
        logs = exponents + x * x / -2
        tops = logs.max(axis=1)
        shares = np.exp(logs - tops[:, None])
        totals = shares.sum(axis=1)
        result = tops + np.log(totals * h) - math.log(2 * math.pi) / 2
        near = (np.abs(result) < 0.5) & (exponents.max(axis=1) < 300)
        if near.any():
            density, some = np.exp(x * x / -2) * (h / math.sqrt(2 * math.pi)), t[near, None]
            result[near] = np.log1p(product(np.expm1(exponents[near]) - (some + 1) * ups + some * downs, density))
        return result, shares[-1] / totals[-1], first - second

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """The trapezoidal rule in x, one for all nodes."""
        if t < Fraction(-1, 2):  # M(t+iy) is the conjugate of M(−1−t+iy)
            log, phi = self.line(-1 - t, eta, count)
            return log, [value.conjugate() for value in phi]
        with precision(ctx.prec + _GUARD):
            weights, losses, value, off = self._terms(t, eta * count, (ctx.prec - _GUARD) * math.log(2) + 2)
            turn, off_both = ball(eta), ComplexBall(off, off)
            sums = power_sums(weights, [loss * turn for loss in losses], count)
            phi = [ComplexBall(1)] + [(s + off_both) / value for s in sums[1:]]
            return value.log(), phi

    def _terms(self, t: Fraction, y: Fraction, nats: float) -> tuple[list[Ball], list[Ball], Ball, Ball]:
        """The rule's masses and losses for t ≥ −½, M(t), and a ball of the sum's errors up to y."""
        chosen = replace_rule(*self._floats, float(t), float(y), nats)
        c, q, a, step = abs(self._c.ball()), ball(self._rate), ball(t), ball(chosen.step)
        scale = step / (2 * Ball.pi()).sqrt()
        weights: list[Ball] = []
        losses: list[Ball] = []
        for j in range(chosen.first, chosen.last + 1):
            x = step * j
            first, second = log_factors(c, q, x)
            losses.append(first - second)
            weights.append((x * x / -2 + first + a * losses[-1]).exp() * scale)
        beyond = replace_tails(c, q, t, chosen)
        still, moving = (replace_alias(c, t, ball(at), chosen) for at in (Fraction(0), y))
        value = sum(weights, Ball(0))
        most = (value + beyond) / (1 - still)  # M(t) is at most this, since still < 1
        error = (beyond + still * most).upper()
        value += between(-error, error)
        error = (beyond + moving * most).upper()
        return weights, losses, value, between(-error, error)

    def quadrature(self, t: Fraction, end: Fraction) -> Quadrature:
        """φ at all |y| up to the end, for doubles, t ≥ −½: by the rule of ``line``, or by panels where it is long."""
        chosen: Rule | None = None
        with suppress(NotCertified):
            chosen = replace_rule(*self._floats, float(t), float(end), _NATS)
        if chosen is None or chosen.last - chosen.first > _FEW:
            try:
                log_size = float(self.log_floats([float(t)])[0])
                panels = replace_panels(*self._floats, float(t), float(end), _NATS, log_size)
            except NotCertified:
                if chosen is None:
                    raise
            else:
                if chosen is None or sum(panel.number for panel in panels) < chosen.last - chosen.first:
                    log = recall.log_real(self, t)
                    return replace_quadrature(abs(self._c.ball()), self._rate, t, end, panels, log)
        weights, losses, value, off = self._terms(t, end, _NATS)
        shares = [weight / value.mid() for weight in weights]
        return Quadrature(shares, losses, (2 * (off.abs_upper() + value.rad()) / value).upper())

    def lifted(self, t: Fraction, end: Fraction) -> Lifted:  # noqa: ARG002 - they serve any
        """φ at all y ≥ 0 on a path above the axis (``lifted_nodes``), t ≥ 0."""
        height, step = height_and_step(self._floats[0], float(t), _NATS)
        left, right = replace_window(*self._floats, float(t), _NATS)
        chosen = Rule(step, math.floor(left / float(step)), math.ceil(right / float(step)), height)
        c, q, a, h, log = abs(self._c.ball()), ball(self._rate), ball(t), ball(step), recall.log_real(self, t)
        shares: list[ComplexBall] = []
        losses: list[ComplexBall] = []
        scale = h / (2 * Ball.pi()).sqrt()
        for j in range(chosen.first, chosen.last + 1):
            z = ComplexBall(h * j, ball(height))
            first, second = ((q * (c * side - c * c / 2).exp() + (1 - q)).log() for side in (z, -z))
            losses.append(first - second)
            shares.append((z * z / -2 + first + losses[-1] * a - log).exp() * scale)
        beyond = replace_tails(c, q, t, chosen) * (-log).exp()
        return Lifted(shares, losses, lift_error(c, a, height, step, beyond))

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """The same in floats."""
        import numpy as np

        smallness = max(0.0, -2 * math.log(self._floats[1] * min(self._floats[0], 1.0)))
        logs, shares, losses = self._grid(np.array([t]), eta * count, 36.0 + min(smallness, 60.0))
        return float(logs[0]), log_phases(shares, losses, eta, count)

    def decay(self, t: Fraction, y: Fraction) -> Ball:
        """The integral with its path shifted by iθ/c (``transforms_replace_decay``)."""
        if t < 0:
            return Ball(1)
        theta = shifted_angle(*self._floats, float(t), float(y))
        return replace_decay(self._c, self._rate, t, y, theta, self.log_real(t))

    def log_decay_floats(self, t: float, y: Floats) -> Floats:
        """The same in floats."""
        return log_decay(*self._floats, t, y)

    def quick_rule(self, t: Fraction) -> Callable[[Fraction], Quadrature] | None:
        """That of ``line``, in doubles."""
        return partial(self.quadrature, t)

    def few_nodes(
        self, t: Fraction, eta: Fraction, indices: Integers, floor: Ball, count: int
    ) -> FloatNodes | None:
        """None for t < 0, where no decay is known."""
        return super().few_nodes(t, eta, indices, floor, count) if t >= 0 else None

    def largest(self) -> Ball | None:
        """Unbounded."""
        return None

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:
        """Some elementary functions for each x, then ``power_sums``."""
        chosen = replace_rule(*self._floats, t, eta * count, bits * math.log(2) + 2)
        return (chosen.last - chosen.first) * (6 + 0.8 * math.sqrt(count) + 0.08 * count)
