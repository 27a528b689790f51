"""Symmetric losses of a sampled record exchanged for another, with Laplace noise.

With w(l) = 1 − q + q·e^l, l the Laplace loss, and L = ln w(l)/w(l₀), half of the law is the image of (l₀, ε₀] under L:

    M(s) = a + w(l₀)·{½e^{−ε₀}f(ε₀) + ¼e^{−ε₀/2} ∫_{l₀}^{ε₀} e^{−l/2} f(l) dl},   f(l) = e^{(s+1)L} + e^{−sL}.

A Poisson sample has l₀ = −ε₀ and a = 0; a sample without replacement l₀ = 0 and a = (1 − q)(1 − e^{−ε₀/2}).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.gauss import float_gauss, gauss, gauss_error
from tightrope.numerics.products import product
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.near_and_far import near_and_far
from tightrope.numerics.transforms.sampled_laplace_nodes import FarSymmetric
from tightrope.numerics.transforms.settled_nodes import Quadrature, settled_copies
from tightrope.numerics.transforms.transform import Transform, log_phases, power_sums

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import FloatNodes, Integers
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["SymmetricLaplaceTransform"]

_GUARD = 40
_MOST_NODES = 400
_MOST_FAR = 3000  # far out, in doubles
_NATS = 40.0  # accuracy of doubles
_MANY = 100  # copies
_SEVERAL = -1  # a floor that some fifty copies have
_DOUBLE_BITS = 128
_WHAT = "a sampled Laplace transform"


class SymmetricLaplaceTransform(Transform):
    """ε₀ > 0 sampled at rate 0 < q < 1: ``glued`` for samples without replacement, else for Poisson samples."""

    sparse = True

    tilt_cost = 4.0

    def __init__(self, epsilon0: Fraction, rate: Fraction, glued: bool) -> None:
        if not 0 < rate < 1 or epsilon0 <= 0:
            raise AssertionError("the rate must lie between 0 and 1, ε₀ above 0")
        self._reach, self._rate, self._glued = epsilon0, rate, glued
        self._low = Fraction(0) if glued else -epsilon0
        self._floats = float(epsilon0), min(float(rate), 1 - 2.0**-53), float(self._low)
        if not self._floats[0] < 100:
            raise NotCertified(_WHAT, "ε₀ is out of reach")

    def _atom(self) -> Ball:
        return -ball(1 - self._rate) * (ball(-self._reach) / 2).expm1() if self._glued else Ball(0)

    def reverse_mass(self) -> Ball:
        """1: the law is symmetric."""
        return Ball(1)

    def log_real(self, t: Fraction) -> Ball:
        """ln M(t), by the rule of ``line``."""
        return self.line(t, Fraction(0), 0)[0] if t not in (0, -1) else Ball(0)

    def _number(self, t: float, y: float, nats: float, most: int = _MOST_NODES) -> tuple[int, float]:
        """How many Gauss-Legendre nodes for an error of e^−nats, and the ellipse's parameter: a choice, in floats."""
        e0, q, low = self._floats
        half, middle, best = (e0 - low) / 2, (e0 + low) / 2, (most * 10, 1.5)
        bottom = math.log1p(q * math.expm1(low))
        top = (t + 1) * (math.log1p(q * math.expm1(e0)) - bottom) - e0  # about ln M(t), of which the error is a share
        for k in range(15):
            v = math.pi / 2 * 0.99 * 0.8**k  # the ellipse's lesser half axis
            rho = v / half + math.hypot(1.0, v / half)
            major = half * (rho + 1 / rho) / 2
            turn = min(v, q * math.exp(min(middle + major, 300.0)) * math.sin(v) / (1 - q))
            above = (t + 1) * (math.log1p(q * math.expm1(middle + major)) - bottom)
            below = max(t, 0.0) * (math.log1p(q * math.expm1(e0)) - math.log1p(-q))
            largest = max(above, below)
            need = nats + y * turn + max(min(largest, 60.0), largest - top) + major
            best = min(best, (2 + math.ceil(need / (2 * math.log(rho))), rho))
        number = -(-best[0] // 16) * 16 if best[0] < _MOST_NODES else -(-best[0] // 256) * 256  # few, to be kept
        if number > most:
            raise NotCertified(_WHAT, f"it needs {number} nodes")
        return number, best[1]

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """Atoms, and the integral by the Gauss-Legendre rule, one for all nodes."""
        if t < Fraction(-1, 2):  # M(t+iy) is the conjugate of M(−1−t+iy)
            log, phi = self.line(-1 - t, eta, count)
            return log, [value.conjugate() for value in phi]
        y = eta * count
        number, rho = self._number(float(t), float(y), ctx.prec * math.log(2) + 2)
        with precision(ctx.prec + _GUARD):
            power, turn, atom = ball(t), ball(eta), self._atom()
            masses, losses = self._half(number)
            angles = [loss * turn for loss in losses]
            up = [m * ((power + 1) * loss).exp() for m, loss in zip(masses, losses, strict=True)]
            down = [m * (-power * loss).exp() for m, loss in zip(masses, losses, strict=True)]
            pairs = zip(power_sums(up, angles, count), power_sums(down, angles, count), strict=True)
            sums = [one + other.conjugate() + atom for one, other in pairs]
            still, moving = (self._error(t, ball(at), number, Fraction(rho)).upper() for at in (Fraction(0), y))
            value = sums[0].real + between(-still, still)
            off = between(-moving, moving)
            phi = [ComplexBall(1)] + [(s + ComplexBall(off, off)) / value for s in sums[1:]]
            return value.log(), phi

    def float_nodes(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes | None:
        """Only the first ones, where all others are proved to be low; else all of them."""
        import numpy as np

        found = settled_copies(self, self._quadrature, t, eta, count, floor)
        return found or self.few_nodes(t, eta, np.arange(count + 1), floor, count)

    def few_nodes(
        self, t: Fraction, eta: Fraction, indices: Integers, floor: Ball, count: int  # noqa: ARG002
    ) -> FloatNodes | None:
        """The rule of ``line`` near the axis; beyond, where it would need too many nodes, partial integration."""
        if t < 0:
            return None
        with precision(_DOUBLE_BITS):
            far = recall.kept(self, "far", (t,), lambda: self._far(t))
        return near_and_far(partial(self._kept_quadrature, t), far, eta, indices, floor)

    def _far(self, t: Fraction) -> FarSymmetric:
        log = recall.log_real(self, t)
        return FarSymmetric(self._reach, self._rate, t, self._low, log, self._atom() * (-log).exp())

    def terms_up_to(self, t: Fraction, end: Fraction) -> Quadrature | None:
        """The rule of ``line``; NotCertified where it has too many nodes."""
        if t < 0:
            return None
        with precision(_DOUBLE_BITS):
            return self._kept_quadrature(t, end)

    def _kept_quadrature(self, t: Fraction, end: Fraction) -> Quadrature:
        return recall.kept(self, "rule", (t, end), lambda: self._quadrature(t, end))

    def _quadrature(self, t: Fraction, end: Fraction) -> Quadrature:
        number, rho = self._number(float(t), float(end), _NATS, _MOST_FAR)
        masses, losses = self._half(number)
        power, log = ball(t), -recall.log_real(self, t)
        up = [m * ((power + 1) * loss + log).exp() for m, loss in zip(masses, losses, strict=True)]
        down = [m * (-power * loss + log).exp() for m, loss in zip(masses, losses, strict=True)]
        error = 2 * self._error(t, ball(end), number, Fraction(rho)) * log.exp()
        atom = self._atom() * log.exp()
        return Quadrature([*up, atom, *down], [*losses, Ball(0), *(-loss for loss in losses)], error.upper())

    def node_cost(self, copies: int) -> float:
        """Four series of some twenty terms; of many copies hardly any nodes matter, but for an atom at 0."""
        return 10.0 if copies >= _MANY and not self._glued else 150.0

    def _half(self, number: int) -> tuple[list[Ball], list[Ball]]:
        """The masses of the upper half under the second law, and its losses: the atom, then the nodes."""
        e0, q, low = ball(self._reach), ball(self._rate), ball(self._low)
        first = (q * low.expm1()).log1p()
        size, half, middle = first.exp(), (e0 - low) / 2, (e0 + low) / 2
        masses, losses = [size * (-e0).exp() / 2], [(q * e0.expm1()).log1p() - first]
        scale = size * (e0 / -2).exp() / 4 * half
        for x, weight in gauss(number):
            at = middle + half * x
            masses.append(scale * weight * (at / -2).exp())
            losses.append((q * at.expm1()).log1p() - first)
        return masses, losses

    def _error(self, t: Fraction, y: Ball, number: int, rho: Fraction) -> Ball:
        """The rule's error for both powers, for every |y'| ≤ y.

        On an ellipse with half axes major and v < π/2 around the middle m: |e^{−l/2}| ≤ e^{(major−m)/2},
        1−q ≤ |w| ≤ w(m+major), and |arg w| is at most v and at most q·e^{m+major}·sin v/(1−q).
        """
        e0, q, low, r, power = ball(self._reach), ball(self._rate), ball(self._low), ball(rho), ball(t)
        half, middle = (e0 - low) / 2, (e0 + low) / 2
        major, v = half * (r + 1 / r) / 2, half * (r - 1 / r) / 2
        if not v < Ball.pi() / 2:
            raise NotCertified(_WHAT, "the ellipse is too wide")
        first, last = (q * low.expm1()).log1p(), (q * (middle + major).expm1()).log1p()
        angle = v.min(q * (middle + major).exp() * v.sin() / (1 - q))
        growth = ((power + 1) * (last - first)).exp()
        growth += (power * (first - (-q).log1p())).exp() if t >= 0 else (-power * (last - first)).exp()
        size = growth * ((major - middle) / 2 + y * angle).exp()
        return first.exp() * (e0 / -2).exp() / 4 * half * gauss_error(size, r, number)

    def _float_half(self, number: int) -> tuple[Floats, Floats]:
        """``_half`` in floats."""
        import numpy as np

        e0, q, low = self._floats
        x, weights = float_gauss(number)
        half = (e0 - low) / 2
        at = (e0 + low) / 2 + half * x
        first = math.log1p(q * math.expm1(low))
        masses = np.concatenate([[math.exp(-e0) / 2], math.exp(-e0 / 2) / 4 * half * weights * np.exp(at / -2)])
        return masses * math.exp(first), np.log1p(q * np.expm1(np.append(e0, at))) - first

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """ln M in floats: M − 1 = E[(e^{(s+1)L} − 1)(1 − e^{−sL})] over the upper half."""
        import numpy as np

        at = np.abs(np.asarray(t, dtype=np.float64) + 0.5) - 0.5
        masses, losses = self._float_half(96)
        rises, falls = np.multiply.outer(at + 1, losses), np.multiply.outer(-at, losses)
        rest = -product(np.expm1(np.minimum(rises, 600.0)) * np.expm1(falls), masses)
        large = np.logaddexp.reduce(np.logaddexp(rises, falls) + np.log(masses), axis=1)
        result: Floats = np.where(rises.max(axis=1) < 300, np.log1p(rest), large)
        return result

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """The same in floats."""
        import numpy as np

        masses, losses = self._float_half(self._number(t, eta * count, 36.0)[0])
        logs = np.concatenate([np.log(masses) + (t + 1) * losses, np.log(masses) - t * losses])
        places = np.concatenate([losses, -losses])
        if self._glued:
            logs, places = np.append(logs, math.log(float(self._atom().mid()))), np.append(places, 0.0)
        shares = np.exp(logs - logs.max())
        return float(self.log_floats([t])[0]), log_phases(shares / shares.sum(), places, eta, count)

    def decay(self, t: Fraction, y: Fraction) -> Ball:
        """The atoms' share, and one integration by parts of the rest, in L.

        With b(l) = e^{−3l/2}w^{A+1}/q, A = t + 1 or −t, ∫ is at most 2(b(l₀) + b(ε₀))/y: ln b is convex in l for
        A+1 ≥ 0 and falls for A+1 < 0, so that b varies by at most b(l₀) + b(ε₀).
        """
        if t < 0:
            return Ball(1)
        with precision(ctx.prec + 20):
            e0, q, low = ball(self._reach), ball(self._rate), ball(self._low)
            first, last = ((q * end.expm1()).log1p() for end in (low, e0))
            size, total = first.exp(), self._atom()
            for power in (ball(t + 1), ball(-t)):
                total += size * (-e0).exp() / 2 * (power * (last - first)).exp()
                edges = (-3 * low / 2 + first).exp() + (-3 * e0 / 2 + last + power * (last - first)).exp()
                total += size * (e0 / -2).exp() / 4 * 2 * edges / (q * ball(y))
            return (total * (-self.log_real(t)).exp()).upper().min(Ball(1))

    def log_decay_floats(self, t: float, y: Floats) -> Floats:
        """The same in floats."""
        import numpy as np

        e0, q, low = self._floats
        first, last = (math.log1p(q * math.expm1(end)) for end in (low, e0))
        log, total = float(self.log_floats([t])[0]), float(self._atom().mid()) + 0.0 * y
        for power in (t + 1, -t):
            total = total + math.exp(first - e0 + power * (last - first)) / 2
            edges = math.exp(first - 1.5 * low) + math.exp(last - 1.5 * e0 + power * (last - first))
            total = total + math.exp(first - e0 / 2) / 2 * edges / (q * y)
        result: Floats = np.minimum(np.log(total) - log, 0.0)
        return result

    def largest(self) -> Ball | None:
        """ln w(ε₀)/w(l₀)."""
        e0, q, low = ball(self._reach), ball(self._rate), ball(self._low)
        return (q * e0.expm1()).log1p() - (q * low.expm1()).log1p()

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:
        """A few elementary functions for each node, then ``power_sums`` twice."""
        number = self._number(t, eta * count, bits * math.log(2) + 2)[0]
        return number * (8 + 1.6 * math.sqrt(count) + 0.16 * count) + 5 * count
