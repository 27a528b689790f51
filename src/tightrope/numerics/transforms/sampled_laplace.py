"""The transform of the sampled Laplace loss: G(a) = E[w^a], w = 1 − q + q·e^l, l the Laplace loss under the plain law.

G(a) = ½e^{−ε₀}w(ε₀)^a + ½w(−ε₀)^a + ¼e^{−ε₀/2} ∫_{−ε₀}^{ε₀} e^{−l/2} w(l)^a dl. Removing: M(s) = G(s+1); adding: G(−s).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.gauss import float_gauss
from tightrope.numerics.products import product
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.chained_decay import ChainedDecay, Terms
from tightrope.numerics.transforms.float_lines import FloatNodes
from tightrope.numerics.transforms.laplace_layers import laplace_float_layers, laplace_layers
from tightrope.numerics.transforms.laplace_rule import LaplaceRule
from tightrope.numerics.transforms.layered_decay import Rectangle
from tightrope.numerics.transforms.near_and_far import near_and_far
from tightrope.numerics.transforms.sampled_laplace_nodes import FarLaplace
from tightrope.numerics.transforms.settled_nodes import Quadrature, settled_copies
from tightrope.numerics.transforms.stretched_decay import FloatLaw
from tightrope.numerics.transforms.transform import Transform, log_phases, power_sums

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["SampledLaplaceTransform"]

_GUARD = 40
_MOST_FAR = 3000  # far out, in doubles
_NATS, _DOUBLE_BITS = 40.0, 128  # accuracy of doubles, and of what they are made from
_MANY = 3000  # copies
_DENSE, _LOOK = 400, 5e3  # nodes of a law in floats; microseconds of a look at a chain
_SPARSE = 8  # nodes for each that is asked for, if these are taken alone


class SampledLaplaceTransform(Transform):
    """The Laplace pair with ε₀ > 0 sampled at rate 0 < q < 1, against the plain law, or (``adding``) the reverse."""

    bent_cost = 2e3

    fine = False

    def __init__(self, epsilon0: Fraction, rate: Fraction, adding: bool) -> None:
        if not 0 < rate < 1 or epsilon0 <= 0:
            raise AssertionError("the rate must lie between 0 and 1, ε₀ above 0")
        self._reach, self._rate, self._adding = epsilon0, rate, adding
        self._rule = LaplaceRule(epsilon0, rate)
        self._floats = self._rule.floats
        if not self._floats[0] < 100:
            raise NotCertified("a sampled Laplace transform", "ε₀ is out of reach")

    def _power(self, t: Fraction) -> Fraction:
        return -t if self._adding else t + 1

    def reverse_mass(self) -> Ball:
        """1."""
        return Ball(1)

    def log_real(self, t: Fraction) -> Ball:
        """ln G, by the rule of ``line``, or far out by partial integration."""
        power = self._power(t)
        if power in (0, 1):
            return Ball(0)
        try:
            near = self.line(t, Fraction(0), 0)[0]
        except NotCertified:
            near = Ball.nan()
        if near.rad() < Ball(2) ** (8 - ctx.prec):
            return near
        with precision(ctx.prec + _GUARD):
            far = FarLaplace(self._reach, self._rate, power)
            beyond = far.log_scale + far.moment().log()
            if beyond.is_finite() and not near.rad() < beyond.rad():
                return beyond
        if not near.is_finite():
            raise NotCertified("a sampled Laplace transform", f"no rule reaches the power {float(power):.3g}")
        return near

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """Atoms, and the integral by the Gauss-Legendre rule, one for all nodes."""
        power, y = self._power(t), eta * count
        number, rho = self._rule.number(float(power), float(y), ctx.prec * math.log(2) + 2)
        with precision(ctx.prec + _GUARD):
            turn = ball(-eta if self._adding else eta)
            terms, logs, scale = self._rule.terms(power, number)
            sums = power_sums(terms, [log * turn for log in logs], count)
            errors = (self._rule.error(power, ball(at), number, Fraction(rho)) for at in (Fraction(0), y))
            still, moving = (scale * error for error in errors)
            value = sums[0].real + between(-still.upper(), still.upper())
            off = between(-moving.upper(), moving.upper())
            off_both = ComplexBall(off, off)
            phi = [ComplexBall(1)] + [(s + off_both) / value for s in sums[1:]]
            return value.log(), phi

    def float_nodes(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes | None:
        """Only the first ones, where all others are proved to be low; else all of them."""
        import numpy as np

        found = settled_copies(self, self._quadrature, t, eta, count, floor)
        return found or self._chosen_nodes(t, eta, np.arange(count + 1), floor)

    def few_nodes(
        self, t: Fraction, eta: Fraction, indices: Integers, floor: Ball, count: int
    ) -> FloatNodes | None:
        """The same; a few of all nodes by themselves."""
        if len(indices) * _SPARSE > count:
            return super().few_nodes(t, eta, indices, floor, count)
        return self._chosen_nodes(t, eta, indices, floor)

    def _chosen_nodes(self, t: Fraction, eta: Fraction, indices: Integers, floor: Ball) -> FloatNodes | None:
        """The rule of ``line`` near the axis; partial integration beyond, where it would need too many nodes."""
        with precision(_DOUBLE_BITS):
            far = recall.kept(self, "far", (t,), lambda: self._far(t))
        return near_and_far(partial(self._kept_quadrature, t), far, eta, indices, floor)

    def _far(self, t: Fraction) -> FarLaplace:
        return FarLaplace(self._reach, self._rate, self._power(t), recall.log_real(self, t), mirrored=self._adding)

    def terms_up_to(self, t: Fraction, end: Fraction) -> Quadrature | None:
        """The rule of ``line``; NotCertified where it has too many nodes."""
        with precision(_DOUBLE_BITS):
            return self._kept_quadrature(t, end)

    def _kept_quadrature(self, t: Fraction, end: Fraction) -> Quadrature:
        return recall.kept(self, "rule", (t, end), lambda: self._quadrature(t, end))

    def _quadrature(self, t: Fraction, end: Fraction) -> Quadrature:
        """φ at all |y| up to the end."""
        power = self._power(t)
        number, rho = self._rule.number(float(power), float(end), _NATS, _MOST_FAR)
        terms, logs, scale = self._rule.terms(power, number)
        known = recall.log_real(self, t)
        size = (-known.mid()).exp()
        error = scale * self._rule.error(power, ball(end), number, Fraction(rho)) * size + known.rad().expm1()
        return Quadrature(
            [term * size for term in terms], [-at for at in logs] if self._adding else logs, error.upper()
        )

    def node_cost(self, copies: int) -> float:
        """Two series of some twenty terms; of many copies hardly any nodes matter."""
        return 300.0 if copies < _MANY else 10.0

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """ln G in floats."""
        import numpy as np

        at = np.asarray(t, dtype=np.float64)
        weights, logs = self._float_nodes(96)
        powers = -at if self._adding else at + 1
        exponents = np.multiply.outer(powers, logs) + np.log(weights)
        top = exponents.max(axis=1)
        result: Floats = top + np.log(np.exp(exponents - top[:, None]).sum(axis=1))
        gentle = np.abs(np.multiply.outer(powers, logs)).max(axis=1) < 0.5
        if gentle.any():  # G − 1 from E[w − 1] = 0
            few = powers[gentle]
            rise = product(np.expm1(np.multiply.outer(few, logs)) - np.multiply.outer(few, np.expm1(logs)), weights)
            result[gentle] = np.log1p(rise)
        return result

    def _float_nodes(self, number: int) -> tuple[Floats, Floats]:
        """Masses and ln w at the atoms and at the nodes."""
        import numpy as np

        e0, q = self._floats
        x, weights = float_gauss(number)
        masses = np.concatenate([[math.exp(-e0) / 2, 0.5], math.exp(-e0 / 2) / 4 * e0 * weights * np.exp(e0 * x / -2)])
        return masses, np.log1p(q * np.expm1(np.concatenate([[e0, -e0], e0 * x])))

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """The same in floats."""
        import numpy as np

        power = -t if self._adding else t + 1
        masses, logs = self._float_nodes(self._rule.number(power, eta * count, 36.0)[0])
        exponents = power * logs + np.log(masses)
        shares = np.exp(exponents - exponents.max())
        shares /= shares.sum()
        return float(self.log_floats([t])[0]), log_phases(shares, -logs if self._adding else logs, eta, count)

    def decay(self, t: Fraction, y: Fraction) -> Ball:
        """The atoms' share, and one integration by parts of the rest, in ln w.

        With b(l) = e^{−ε₀/2}e^{−3l/2}w^{A+1}/4q it is at most 2(b(−ε₀) + b(ε₀))/y: ln b is convex in l for
        A+1 ≥ 0 and falls for A+1 < 0, so that b varies by at most b(−ε₀) + b(ε₀).
        """
        with precision(ctx.prec + 20):
            e0, q, a = ball(self._reach), ball(self._rate), ball(self._power(t))
            total = Ball(0)
            for end, mass in ((e0, (-e0).exp() / 2), (-e0, Ball(1) / 2)):
                size = (a * (q * end.expm1()).log1p()).exp()
                edge = (e0 / -2 - 3 * end / 2).exp() * size * (1 + q * end.expm1()) / (4 * q)
                total += mass * size + 2 * edge / ball(y)
            return (total * (-self.log_real(t)).exp()).upper().min(Ball(1))

    def log_decay_floats(self, t: float, y: Floats) -> Floats:
        """The same in floats."""
        import numpy as np

        e0, q = self._floats
        power = -t if self._adding else t + 1
        log, total = float(self.log_floats([t])[0]), 0.0 * y
        for end, mass in ((e0, math.exp(-e0) / 2), (-e0, 0.5)):
            size = math.exp(power * math.log1p(q * math.expm1(end)) - log)
            edge = math.exp(-e0 / 2 - 1.5 * end) * size * (1 + q * math.expm1(end)) / (4 * q)
            total = total + mass * size + 2 * edge / y
        result: Floats = np.minimum(np.log(total), 0.0)
        return result

    @property
    def bends(self) -> bool:
        """Where many are sampled rarely, a chain of values is far closer, and dearer (``chained_decay``)."""
        return True

    def bent_decay(self, t: Fraction, y: Fraction) -> Ball:
        """That."""
        try:
            return ChainedDecay(self).bound(self._power(t), y).min(Ball(1))
        except NotCertified:
            return Ball(1)

    def log_bent_decay_floats(self, t: float, y: Floats) -> Floats:
        """The same in floats."""
        effort.spend(_LOOK, "a sampled Laplace transform")
        power, log = -t if self._adding else t + 1, float(self.log_floats([t])[0])
        return ChainedDecay(self).logs(power, y, log)

    def chained_moment(self, power: Fraction) -> Ball:
        """ln G(A)."""
        return recall.log_real(self, -power if self._adding else power - 1)

    def chained_terms(self, power: Fraction, y: Fraction, nats: float) -> Terms:
        """The rule of ``line``."""
        number, rho = self._rule.number(float(power), float(y), nats)
        terms, logs, scale = self._rule.terms(power, number)
        error = (scale * self._rule.error(power, ball(y), number, Fraction(rho))).upper()
        return terms, logs, sum(terms, between(-error, error)), error

    def chained_law(self, power: float) -> FloatLaw:
        """Atoms and nodes, under w^A."""
        import numpy as np

        masses, logs = self._float_nodes(_DENSE)
        exponents = power * logs + np.log(masses)
        shares = np.exp(exponents - exponents.max())
        return FloatLaw(logs, shares / shares.sum())

    def chained_layers(self, power: Fraction, log: Ball) -> list[Rectangle]:
        """Of the part between the atoms."""
        return laplace_layers(self._reach, self._rate, power, log)

    def chained_float_layers(self, power: float, log: float) -> list[Rectangle]:
        """About those."""
        return laplace_float_layers(*self._floats, power, log)

    def largest(self) -> Ball | None:
        """ln w(ε₀), or −ln w(−ε₀)."""
        e0, q = ball(self._reach), ball(self._rate)
        return -(q * (-e0).expm1()).log1p() if self._adding else (q * e0.expm1()).log1p()

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:
        """A few elementary functions for each node, then ``power_sums``."""
        number = self._rule.number(-t if self._adding else t + 1, eta * count, bits * math.log(2) + 2)[0]
        return number * (8 + 0.8 * math.sqrt(count) + 0.08 * count) + 5 * count
