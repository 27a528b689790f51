"""The transform of the glued normal loss: a record exchanged in a sample of fixed size, with Gaussian noise.

With w = 1 − q + q·e^{μz−μ²/2}: M(s) = a + E[w^{s+1} + w^{−s}; z > μ/2], a = (1−q)(2Φ(μ/2) − 1) an atom at loss 0.
M(s) = M(−1−s), and M(s) − 1 = E[(w^{s+1} − 1)(1 − w^{−s}); z > μ/2].

With a *cut* the integral ends at some z: then all greater losses, of either sign, are at ∞, and M has no heavy tail.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.normal import upper_tail
from tightrope.numerics.products import product
from tightrope.numerics.real import Real
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.glued_decay import best_angle, glued_decay, log_decays
from tightrope.numerics.transforms.glued_far import FarGlued
from tightrope.numerics.transforms.glued_floats import FURTHEST, float_half, log_least
from tightrope.numerics.transforms.glued_rule import Growth, log_factor, nodes, panel_errors, panels
from tightrope.numerics.transforms.near_and_far import near_and_far
from tightrope.numerics.transforms.settled_nodes import Quadrature
from tightrope.numerics.transforms.transform import Transform, log_phases, power_sums

if TYPE_CHECKING:
    from tightrope.numerics.transforms.fine_powers import LossTerms
    from tightrope.numerics.transforms.float_lines import FloatNodes, Integers
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["GluedNormalTransform"]

_GUARD = 40
_STILL = Growth(Fraction(0))
_STEPS = 4  # of a tilt, for each time that it doubles
_NATS, _DOUBLE_BITS = 38.0, 128  # for doubles
_TOGETHER = 12  # so many tilts, and so many nats apart
_ALONE, _BESIDE = 40.0, 9.0  # nats above all else, and deviations from the peak
_DECAY_COST = (2.5e3, 4.5e3, 2e4)  # microseconds of a decay: of any, for each unit of μ, and at most


class GluedNormalTransform(Transform):
    """(N(μ, 1), N(0, 1)) with μ > 0 sampled at rate 0 < q < 1; losses up to that at μ/2 + ``cut``, if one is given."""

    sparse = True

    tilt_cost = 30.0

    def __init__(self, mu: Real, rate: Fraction, cut: Fraction | None = None) -> None:
        if not 0 < rate < 1 or (cut is not None and not cut > 0):
            raise AssertionError("the rate must lie between 0 and 1, and a cut above 0")
        self._mu, self._rate, self._cut = mu, rate, cut
        with precision(80):
            self._m, self._atom_float = float(mu.ball().mid()), float(self.atom().mid())
        self._q = min(float(rate), 1 - 2.0**-53)
        if not 0 < self._m < 100 or not self._q > 1e-300 or not self._atom_float > 0:
            raise NotCertified("a glued normal transform", "its μ or rate is out of reach")
        with precision(80):
            self._lost = float(self.infinite().mid())
        self.decay_cost = min(_DECAY_COST[0] + _DECAY_COST[1] * self._m, _DECAY_COST[2])

    def atom(self) -> Ball:
        """a."""
        return ball(1 - self._rate) * (self._mu.ball() / Ball(8).sqrt()).erf()

    def infinite(self) -> Ball:
        """P of both kinds of losses beyond the cut."""
        above, below = self.beyond()
        return above + below

    def beyond(self) -> tuple[Ball, Ball]:
        """P of losses above the cut and, in mirror image, below: the latter is also Q of the former."""
        if self._cut is None:
            return Ball(0), Ball(0)
        mu, q = self._mu.ball(), ball(self._rate)
        still, moved = upper_tail(mu / 2 + ball(self._cut)), upper_tail(ball(self._cut) - mu / 2)
        return (1 - q) * still + q * moved, still

    def reverse_mass(self) -> Ball:
        """M(0): the law is symmetric."""
        return self.mass()

    def log_real(self, t: Fraction) -> Ball:
        """ln M(t), by the rule of ``line``."""
        return self.line(t, Fraction(0), 0)[0] if t not in (0, -1) else (-self.infinite()).log1p()

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """The atom, and Gauss-Legendre panels, the same for all nodes."""
        if t < Fraction(-1, 2):  # M(t+iy) is the conjugate of M(−1−t+iy)
            log, phi = self.line(-1 - t, eta, count)
            return log, [value.conjugate() for value in phi]
        with precision(ctx.prec + _GUARD):
            sums, still, moving = self.smooth(t, eta, count)
            atom = self.atom()
            value = atom + sums[0].real + between(-still, still)
            off = between(-moving, moving)
            off_both = ComplexBall(off, off)
            phi = [ComplexBall(1)] + [(s + atom + off_both) / value for s in sums[1:]]
            return value.log(), phi

    def smooth(self, t: Fraction, eta: Fraction, count: int) -> tuple[list[ComplexBall], Ball, Ball]:
        """M − a at t + ikη, k = 0 … count, t ≥ −½, without the errors; a bound of the first's error and of any's.

        They are about 2^{_GUARD−precision} of M(t).
        """
        up, down, losses, still, moving = self._terms(t, eta * count, (ctx.prec - _GUARD) * math.log(2) + 2)
        if count == 0:
            return [ComplexBall(sum(up, Ball(0)) + sum(down, Ball(0)))], still.upper(), moving.upper()
        turn = ball(eta)
        angles = [loss * turn for loss in losses]
        # Σ down·e^{−ik·angle} is the conjugate of Σ down·e^{ik·angle}.
        found = zip(power_sums(up, angles, count), power_sums(down, angles, count), strict=True)
        return [one + other.conjugate() for one, other in found], still.upper(), moving.upper()

    def _terms(self, t: Fraction, y: Fraction, nats: float) -> tuple[list[Ball], list[Ball], list[Ball], Ball, Ball]:
        """The rule's masses for w^{s+1} and for w^{−s}, its losses ln w, and its errors at t and up to t + iy."""
        q, mu, power, growth = ball(self._rate), self._mu.ball(), ball(t), Growth(y)
        chosen = panels(self._m, self._q, float(t), growth, nats, float(self.log_floats([float(t)])[0]), self._cut)
        pairs = [(log_factor(mu, q, z), mass) for z, mass in nodes(mu, chosen)]
        up = [mass * ((power + 1) * log).exp() for log, mass in pairs]
        down = [mass * (-power * log).exp() for log, mass in pairs]
        still, moving = (panel_errors(mu, q, t, one, chosen, self._cut) for one in (_STILL, growth))
        return up, down, [log for log, _ in pairs], still, moving

    def float_nodes(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes | None:
        """All of them."""
        import numpy as np

        return self.few_nodes(t, eta, np.arange(count + 1), floor, count)

    def few_nodes(
        self, t: Fraction, eta: Fraction, indices: Integers, floor: Ball, count: int  # noqa: ARG002
    ) -> FloatNodes | None:
        """The rule of ``line`` near the axis; beyond, where it would need too many nodes, the kink at 0."""
        if t < Fraction(-1, 2) or self._cut is not None:
            return None
        with precision(_DOUBLE_BITS):
            far = recall.kept(self, "far", (t,), lambda: self._far(t))
        return near_and_far(partial(self._kept_quadrature, t), far, eta, indices, floor)

    def terms_up_to(self, t: Fraction, end: Fraction) -> LossTerms | None:
        """The same rule, for t ≥ −½."""
        with precision(_DOUBLE_BITS):
            return self._kept_quadrature(t, end) if t >= Fraction(-1, 2) else None

    def _far(self, t: Fraction) -> FarGlued:
        size = recall.log_real(self, t)
        return FarGlued(self._mu, self._rate, t, size, self.atom() * (-size).exp())

    def _kept_quadrature(self, t: Fraction, end: Fraction) -> Quadrature:
        return recall.kept(self, "rule", (t, end), lambda: self._quadrature(t, end))

    def _quadrature(self, t: Fraction, end: Fraction) -> Quadrature:
        """φ at all |y| up to the end."""
        size = recall.log_real(self, t)
        up, down, losses, _, error = self._terms(t, end, _NATS)
        scale = (-size).exp()
        shares = [mass * scale for mass in (*up, self.atom(), *down)]
        return Quadrature(shares, [*losses, Ball(0), *(-loss for loss in losses)], (2 * error * scale).upper())

    def node_cost(self, copies: int) -> float:  # noqa: ARG002
        """A row of a matrix product near the axis, a series beyond."""
        return 120.0

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """ln M(t) in floats, t of one size at a time; where w^{t+1} has nothing but its peak at (t+1)μ, that alone."""
        import numpy as np

        at, mu = np.abs(np.asarray(t, dtype=np.float64) + 0.5) - 0.5, self._m
        with np.errstate(all="ignore"):
            result = (at + 1) * (at * mu * mu / 2 + math.log(self._q))
            beside = math.log(self._q) + mu * ((at + 1) * mu - _BESIDE) - mu * mu / 2 - np.log(at + 1)  # ln ρ/(t+1)
            others = ~((result > _ALONE) & (beside > _ALONE) & ((at + 1) * mu * mu < FURTHEST) & (self._cut is None))
        if others.any():
            result[others] = self._in_groups(at[others], self._log_moments)
        return result

    def _in_groups(self, t: Floats | Sequence[float], evaluate: Callable[[Floats], Floats]) -> Floats:
        """Few t at a time share their nodes, and none whose integrals are of very different size; ∞ out of reach."""
        import numpy as np

        at = np.abs(np.asarray(t, dtype=np.float64) + 0.5) - 0.5
        order = [int(i) for i in np.argsort(at)]
        result = np.empty_like(at)
        with np.errstate(all="ignore"):
            while order:
                sizes = [log_least(self._m, self._q, float(at[i]), self._cut) for i in order[:_TOGETHER]]
                least = sizes[0]
                few = [i for i, size in zip(order, sizes, strict=False) if size <= least + _TOGETHER]
                try:
                    result[few] = evaluate(at[few]) if math.isfinite(least) else math.inf
                except NotCertified:
                    result[few] = math.inf
                order = order[len(few) :]
        return result

    def _log_moments(self, t: Floats) -> Floats:
        import numpy as np

        low = 2 ** (math.floor(_STEPS * math.log2(t.min() + 1)) / _STEPS) - 1  # few ends, as nodes are kept
        high = 2 ** (math.ceil(_STEPS * math.log2(t.max() + 1)) / _STEPS) - 1
        log_weight, losses = float_half(self._m, self._q, (low, high), Fraction(0), self._cut)
        rises, falls = np.multiply.outer(t + 1, losses), np.multiply.outer(-t, losses)
        rest = -product(np.expm1(np.minimum(rises, 600.0)) * np.expm1(falls), np.exp(log_weight))
        top = (rises + log_weight).max(axis=1)[:, None]
        terms = np.exp(rises + log_weight - top) + np.exp(falls + log_weight - top)
        logs = np.logaddexp(math.log(self._atom_float), top[:, 0] + np.log(terms.sum(axis=1)))
        result: Floats = np.where(logs < 1, np.log1p(rest - self._lost), logs)
        return result

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """The same in floats."""
        import numpy as np

        logs, losses = self._tilted(t, eta * count)
        logs, losses = np.append(logs, math.log(self._atom_float)), np.append(losses, 0.0)
        masses = np.exp(logs - logs.max())
        return float(self.log_floats([t])[0]), log_phases(masses / masses.sum(), losses, eta, count)

    def _tilted(self, t: float, y: float) -> tuple[Floats, Floats]:
        """The smooth part's tilted masses, as logarithms, and its losses, for nodes up to y."""
        import numpy as np

        logs, losses = float_half(self._m, self._q, (t, t), Fraction(y), self._cut)
        return np.concatenate([logs + (t + 1) * losses, logs - t * losses]), np.concatenate([losses, -losses])

    def decay(self, t: Fraction, y: Fraction) -> Ball:
        """The atom's share, and the integrals along a path that leaves the axis (``transforms_glued_decay``)."""
        if t < 0:
            return Ball(1)
        with precision(ctx.prec + 20):
            size = recall.log_real(self, t)
            total = self.atom() + self.smooth_decay(t, y, size)
            return (total * (-size).exp()).upper().min(Ball(1))

    def smooth_decay(self, t: Fraction, y: Fraction, log_size: Ball) -> Ball:
        """A bound of |M − a| at t + iy' for all y' ≥ y, t ≥ 0; ``log_size``: about ln M(t)."""
        theta = best_angle(self._m, self._q, float(t), float(y), self._cut)
        return glued_decay(self._mu, self._rate, t, y, theta, float(log_size.mid()), self._cut)

    def log_decay_floats(self, t: float, y: Floats) -> Floats:
        """The same in floats."""
        import numpy as np

        size = float(recall.log_floats(self, [t])[0])
        result: Floats = np.minimum(np.log(self._atom_float + self.smooth_decay_floats(t, y)) - size, 0.0)
        return result

    def smooth_decay_floats(self, t: float, y: Floats) -> Floats:
        """``smooth_decay`` in floats."""
        import numpy as np

        result: Floats = np.exp(log_decays(self._m, self._q, t, y, self._cut))
        return result

    def largest(self) -> Ball | None:
        """That at the cut; else there is none."""
        if self._cut is None:
            return None
        return log_factor(self._mu.ball(), ball(self._rate), self._mu.ball() / 2 + ball(self._cut))

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:
        """Some elementary functions for each node, then ``power_sums`` twice."""
        size, growth = float(self.log_floats([t])[0]), Growth(Fraction(eta) * count)
        chosen = panels(self._m, self._q, t, growth, bits * math.log(2) + 2, size, self._cut)
        return sum(panel.number for panel in chosen) * (8 + 1.6 * math.sqrt(count) + 0.16 * count)
