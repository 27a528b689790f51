"""The transform of the sampled normal loss: w = 1 − q + q·e^{μz−μ²/2}, z standard normal, G(a) = E[w^a].

Removing (the sampled law against the plain one): M(s) = G(s+1). Adding (the other way): M(s) = G(−s).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.moments.sampled_normal import log_power_mean
from tightrope.numerics.moments.sampled_normal_floats import window
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.bent_decay import bent_decay, log_bent_decay
from tightrope.numerics.transforms.falling_nodes import FallingTransform
from tightrope.numerics.transforms.lifted_nodes import Lifted, height_and_step, lift_error
from tightrope.numerics.transforms.sampled_decay import decay_bound, log_decay, shifted_angle
from tightrope.numerics.transforms.sampled_floats import quick_log_means
from tightrope.numerics.transforms.sampled_panels import panel_quadrature
from tightrope.numerics.transforms.sampled_rule import Rule, right_end, rule, tails
from tightrope.numerics.transforms.settled_nodes import Quadrature
from tightrope.numerics.transforms.transform import log_phases, power_sums

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["SampledNormalTransform"]

_GUARD = 28
_NATS = 40.0  # accuracy of doubles
_FEW = 400  # nodes of a rule for doubles
_FLAT = 0.2  # μ below which w hardly varies, and a path need not bend
_LINE = 200.0, 0.04  # microseconds of a line of floats, and what it is of one of balls
_CHEAP = 300.0  # nodes that are so few that nobody need look for fewer


class SampledNormalTransform(FallingTransform):
    """The loss of N(μ, 1) mixed at rate 0 < q < 1 into N(0, 1), against N(0, 1), or (``adding``) the reverse."""

    def __init__(self, mu: Real, rate: Fraction, adding: bool) -> None:
        if not 0 < rate < 1:
            raise AssertionError("the rate must lie between 0 and 1: at 1 the loss is normal")
        self._mu, self._rate, self._adding = mu, rate, adding
        self._known: tuple[Fraction, int, Ball] | None = None  # the last tilt, with its bits and its ln G
        with precision(80):
            self._floats = abs(float(mu.ball().mid())), min(float(rate), 1 - 2.0**-53)
        if not 0 < self._floats[0] < 1e3:
            raise NotCertified("a sampled normal transform", f"μ = {mu} is out of reach")

    @property
    def numbers(self) -> tuple[Fraction | None, Fraction, bool]:
        """μ if it is rational, the rate, and whether a record is added."""
        return self._mu.rational, self._rate, self._adding

    def _power(self, t: Fraction) -> Fraction:
        return -t if self._adding else t + 1

    def reverse_mass(self) -> Ball:
        """1."""
        return Ball(1)

    def log_real(self, t: Fraction) -> Ball:
        """ln G: by a closed form for whole powers, else by the rule of ``line``."""
        power = self._power(t)
        if power.denominator == 1 and 0 <= power <= 72:
            return log_power_mean(self._mu, self._rate, power)
        return self.line(t, Fraction(0), 0)[0]

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """ln G in floats."""
        import numpy as np

        at = np.asarray(t, dtype=np.float64)
        powers = -at if self._adding else at + 1
        result = np.zeros_like(powers)
        with np.errstate(all="ignore"):
            for chosen in (powers > 0, powers < 0):
                if chosen.any():
                    result[chosen] = quick_log_means(*self._floats, powers[chosen])
        return result

    def _rule(self, power: float, y: float, nats: float) -> Rule:
        mu, rate = self._floats
        left, right = window(mu, power, math.log1p(-rate), math.log(rate), nats, 0.0)
        if power > 0:
            right = right_end(mu, rate, power, nats, right)
        return rule(mu, rate, power, y, nats, left, right)

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """The trapezoidal rule in z, one for all nodes."""
        with precision(ctx.prec + _GUARD):
            weights, logs, value, off = self._terms(t, eta * count, (ctx.prec - _GUARD) * math.log(2) + 2)
            turn = ball(-eta if self._adding else eta)
            sums = power_sums(weights, [log * turn for log in logs], count)
            off_both = ComplexBall(off, off)
            phi = [ComplexBall(1)] + [(s + off_both) / value for s in sums[1:]]
            self._known = t, int(ctx.prec), value.log()
            return self._known[2], phi

    def _terms(self, t: Fraction, y: Fraction, nats: float) -> tuple[list[Ball], list[Ball], Ball, Ball]:
        """The rule's weights·w^A and ln w, G, and a ball of the sum's errors up to y."""
        power = self._power(t)
        chosen = self._rule(float(power), float(y), nats)
        mu, q, a = abs(self._mu.ball()), ball(self._rate), ball(power)
        step, half = ball(chosen.step), mu * mu / 2
        rise, ratio, fall = (mu * step * chosen.first - half).exp(), (mu * step).exp(), step * step / -2
        scale = step / (2 * Ball.pi()).sqrt()
        weights: list[Ball] = []
        logs: list[Ball] = []
        for j in range(chosen.first, chosen.last + 1):
            log = (q * (rise - 1)).log1p()
            logs.append(log)
            weights.append((fall * (j * j) + a * log).exp() * scale)
            rise = rise * ratio  # a rounding each: some seven bits in all
        beyond = tails(mu, q, power, chosen, logs[0], logs[-1])
        still = chosen.alias(mu, power)
        value = sum(weights, Ball(0))
        most = (value + beyond) / (1 - still)  # G is at most this, since still < 1
        error = (beyond + still * most).upper()
        value += between(-error, error)
        error = (beyond + chosen.moving(mu, q, power, ball(y), still, most)).upper()
        return weights, logs, value, between(-error, error)

    def quadrature(self, t: Fraction, end: Fraction) -> Quadrature:
        """φ at all |y| up to the end, for doubles: by the rule of ``line``, or by panels where it needs many nodes."""
        mu, rate = self._floats
        power = self._power(t)
        chosen: Rule | None = None
        with suppress(NotCertified):
            chosen = self._rule(float(power), float(end), _NATS)
        if chosen is None or chosen.last - chosen.first > _FEW:
            ends = window(mu, float(power), math.log1p(-rate), math.log(rate), _NATS, 0.0)
            try:
                found = panel_quadrature(abs(self._mu.ball()), self._rate, power, end, ends, self.log_real(t))
            except NotCertified:
                if chosen is None:
                    raise
            else:
                return replace(found, losses=[-loss for loss in found.losses]) if self._adding else found
        weights, logs, value, off = self._terms(t, end, _NATS)
        shares = [weight / value.mid() for weight in weights]
        error = (2 * (off.abs_upper() + value.rad()) / value).upper()
        return Quadrature(shares, [-log for log in logs] if self._adding else logs, error)

    def lifted(self, t: Fraction, end: Fraction) -> Lifted:  # noqa: ARG002 - they serve any
        """φ at all y ≥ 0 on a path above the axis (``lifted_nodes``)."""
        mu, rate = self._floats
        power, log = self._power(t), self._log_known(t)
        inverse = max(-power, Fraction(0))
        height, step = height_and_step(mu, float(inverse), _NATS)
        left, right = window(mu, float(power), math.log1p(-rate), math.log(rate), _NATS, 0.0)
        chosen = Rule(step, math.floor(left / float(step)), math.ceil(right / float(step)), height)
        m, q, a, h, d = abs(self._mu.ball()), ball(self._rate), ball(power), ball(step), ball(height)
        shares: list[ComplexBall] = []
        losses: list[ComplexBall] = []
        scale = h / (2 * Ball.pi()).sqrt()
        for j in range(chosen.first, chosen.last + 1):
            z = ComplexBall(h * j, d)
            losses.append((q * (m * z - m * m / 2).exp() + (1 - q)).log())
            shares.append((z * z / -2 + losses[-1] * a - log).exp() * scale)
        ends = [(q * (m * h * j - m * m / 2).expm1()).log1p() for j in (chosen.first, chosen.last)]
        beyond = tails(m, q, power, chosen, *ends) * (-log).exp()
        return Lifted(shares, losses, lift_error(m, ball(inverse), height, step, beyond), self._adding)

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """The same in floats; ln G from G − 1 where it is small."""
        import numpy as np

        mu, rate = self._floats
        a = -t if self._adding else t + 1
        smallness = max(0.0, -2 * math.log(rate * min(mu, 1.0)))
        chosen = self._rule(a, eta * count, 36.0 + min(smallness, 60.0))
        h = float(chosen.step)
        z = h * np.arange(chosen.first, chosen.last + 1)
        xi = mu * z - mu * mu / 2
        u = rate * np.expm1(np.minimum(xi, 600.0))
        logs = np.where(xi < 600.0, np.log1p(u), xi + math.log(rate))
        exponents = z * z / -2 + a * logs
        top = float(exponents.max())
        shares = np.exp(exponents - top)
        total = float(shares.sum())
        log = top + math.log(total * h) - math.log(2 * math.pi) / 2
        if abs(log) < 0.5 and mu * float(z[-1]) < 600:
            density = np.exp(z * z / -2) * (h / math.sqrt(2 * math.pi))
            log = math.log1p(float(density @ (np.expm1(np.minimum(a * logs, 600.0)) - a * u)))
        return log, log_phases(shares / total, -logs if self._adding else logs, eta, count)

    def decay(self, t: Fraction, y: Fraction) -> Ball:
        """The integral with its path shifted by iθ/μ (``sampled_decay``)."""
        power = self._power(t)
        theta = shifted_angle(*self._floats, float(power), float(y))
        return decay_bound(self._mu, self._rate, power, y, theta, self._log_known(t))

    def _log_known(self, t: Fraction) -> Ball:
        known = self._known
        return known[2] if known is not None and known[0] == t and known[1] >= ctx.prec else self.log_real(t)

    def log_decay_floats(self, t: float, y: Floats) -> Floats:
        """The same in floats."""
        return log_decay(*self._floats, -t if self._adding else t + 1, y)

    @property
    def bends(self) -> bool:
        """When removing, unless μ is so small that w hardly varies."""
        return not self._adding and self._floats[0] > _FLAT

    def bent_decay(self, t: Fraction, y: Fraction) -> Ball:
        """The integral on a path that bends (``bent_decay``)."""
        return bent_decay(self._mu, self._rate, self._power(t), y, self._log_known(t))

    def log_bent_decay_floats(self, t: float, y: Floats) -> Floats:
        """The same in floats."""
        return log_bent_decay(*self._floats, t + 1, y)

    def quick_rule(self, t: Fraction) -> Callable[[Fraction], Quadrature] | None:
        """That of ``line``, in doubles, or panels."""
        return partial(self.quadrature, t)

    def largest(self) -> Ball | None:
        """−ln(1−q) when adding; unbounded when removing."""
        return -(-ball(self._rate)).log1p() if self._adding else None

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:
        """A few elementary functions for each z, then ``power_sums``."""
        power, nats, mu = -t if self._adding else t + 1, bits * math.log(2) + 2, self._floats[0]
        pull = abs(power) * mu
        nodes = (2 * math.sqrt(2 * nats) + pull) * (nats * max(mu / 3, 0.1) + eta * count * mu + 5 + pull) / 6
        if nodes > _CHEAP:
            chosen = self._rule(power, eta * count, nats)
            nodes = chosen.last - chosen.first
        return nodes * (4 + 0.8 * math.sqrt(count) + 0.08 * count)

    def line_cost(self, t: float, eta: float, count: int) -> float:
        """Of one product of matrices."""
        return _LINE[0] + _LINE[1] * self.cost(t, eta, count, 53)
