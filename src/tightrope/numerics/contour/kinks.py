"""Two functions of bounded frequency that enclose the kink of a call: transforms that do not decay need no tail.

Lay a lattice of spacing λ over the losses and put a = λt, b = λ(t+1) and g(z) = e^{−az} − e^{−bz}. With z = (L − x)/λ
the tilted call e^{−t(L−x)}(1 − e^{−(L−x)})₊ is f(z) = g(z) for z > 0 and 0 below. Its value and slope at the points
n + α, n ≥ 0, are taken over by

    h(z) = (sin π(z−α)/π)² Σ_n [g(n+α)/(z−n−α)² + g'(n+α)/(z−n−α)],

which has no frequency above 2π (Graham and Vaaler 1981). For z < α it is (sin π(z−α)/π)² ∫_0^∞ e^{zu}V(u)du with
V(u) = W(u+a) − W(u+b), W(c) = ce^{−αc}/(1−e^{−c}). Since ∫ e^{zc}W(c)dc over all c is (π/sin π(z−α))² for
α − 1 < z < α, it is g(z) − (sin π(z−α)/π)² ∫_{−∞}^0 e^{zu}V(u)du for z > α − 1. So h − f has one sign everywhere if V
changes its own at 0 and nowhere else:

    above f   W is log-concave, so V changes its sign once, from − to +: at 0 if α is such that W(a) = W(b)
    below f   α = 1, and κ/z, which gives h the slope κ at 0, adds −κ to V. W(c) = c/(e^c−1) is convex and falls, so V
              falls: from + to −, at 0 if κ = W(a) − W(b)

The transform of h is a geometric series: with y = k/n, n the lattice points in a period, A = λs, B = λ(s+1) and
S(c) = e^{−αc}/(1−e^{−c}) it is (1−y)(S(A) − S(B)) + (κ − aS(A) + bS(B))/2πi for 0 < y < 1, and for y = 0 without
the second term. The areas of both functions differ by about λ²/8.

Doubles, as in ``float_lines``: sums of positive terms for what must not cancel, namely 1 − e^{−A} and 1 − e^{−B}.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.transforms.float_lines import Phases, rounded, scaled

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["KERNEL_ERROR", "Kernels", "Kinks"]

_BITS = 160
_STEEPEST = 2  # of λ(t+1)
_BLOCK = 2**13  # nodes at a time, which stay in the processor's cache
#: Of the sizes that come with the kernels, in units of u = 2⁻⁵³. Sines of half angles are off by 8u of themselves and
#: cosines by 8u; 1 − e^{−A} and 1 − e^{−B} by 32u of themselves, e^{−A} by 56u, their product by 67u, e^{−αA} by 20u.
#: With the constants (2.5u each) and the roundings of products and sums, no term is off by more than 200u.
KERNEL_ERROR = 256


@dataclass(frozen=True)
class Kernels:
    """The transforms of both functions at some nodes, divided by λ, and upper bounds of the sizes of their terms."""

    below: Complexes
    above: Complexes
    sizes: Floats


class Kinks:
    """The lattice with ``points`` points in a period 2π/η, at tilt t."""

    def __init__(self, t: Fraction, eta: Fraction, points: int) -> None:
        self._points = points
        with precision(_BITS):
            self.spacing = 2 * Ball.pi() / (ball(eta) * points)
            self._low, self._high = self.spacing * ball(t), self.spacing * ball(t + 1)
            if not self._high < _STEEPEST:
                raise NotCertified("a blurred contour", "its lattice is too coarse")

    def _place(self) -> Ball:
        """The α of the function above: between 0 and ½."""
        a, b = self._low, self._high
        return Ball(0.5) - ((a / b).log() + ((b / 2).sinh() / (a / 2).sinh()).log()) / self.spacing

    def kernels(self, indices: Integers) -> Kernels:
        """At the nodes with these numbers, which rise from 0 and stay below ``points``."""
        import numpy as np

        number = len(indices)
        below, above = np.empty(number, dtype=np.complex128), np.empty(number, dtype=np.complex128)
        sizes, one = np.empty(number), self._rule()
        for start in range(0, number, _BLOCK):
            some = slice(start, start + _BLOCK)
            below[some], above[some], sizes[some] = one(indices[some])
        with precision(_BITS):
            below[0], above[0] = self._at_zero(Ball(1)), self._at_zero(self._place())
        return Kernels(below, above, sizes * (1 + 2.0**-30))

    def _rule(self) -> Callable[[Integers], tuple[Complexes, Complexes, Floats]]:
        """The kernels at some nodes other than 0, and the sizes of their terms."""
        import numpy as np

        points, halves = self._points, self._halves()
        with precision(_BITS):
            spacing, a, b, place = self.spacing, self._low, self._high, self._place()
            slope = scaled((a / a.expm1() - b / b.expm1()) / spacing)
            whole, part = (scaled(-(-spacing * c).expm1() / spacing) for c in (Ball(1), place))
            fall_a, fall_b, rise_a, rise_b = (scaled(c) for c in ((-a).exp(), (-b).exp(), -(-a).expm1(), -(-b).expm1()))
            step, turned, later = (scaled(c) for c in ((-spacing).exp(), (-a * place).exp(), (-b * place).exp()))
            phases, low = Phases(-2 * Ball.pi() * place / points, points), scaled(a / (2 * Ball.pi()))

        def at(indices: Integers) -> tuple[Complexes, Complexes, Floats]:
            sin, cos = halves(indices)
            square, both = 2 * sin * sin, 2 * sin * cos
            first = (rise_a + fall_a * square) + 1j * (fall_a * both)  # 1 − e^{−A}
            second = (rise_b + fall_b * square) + 1j * (fall_b * both)  # 1 − e^{−B}
            turn = fall_a * (1 - square) - 1j * (fall_a * both)  # e^{−A}
            product, share, left = first * second, phases.at(indices), (points - indices) / points
            length, single_length = (c.real * c.real + c.imag * c.imag for c in (product, second))
            weight, single = (left + 1j * low) * np.conj(product) / length, np.conj(second) / single_length
            below = whole * (turn * weight) - 1j * ((slope + step * (turn * single)) / (2 * math.pi))
            above = share * (turned * ((part * first + whole * turn) * weight) - 1j * (later * single / (2 * math.pi)))
            sizes = 3 * (left + low) / np.sqrt(length) + (1 + 1 / np.sqrt(single_length)) / (2 * math.pi)
            return below, above, sizes

        return at

    def _at_zero(self, place: Ball) -> float:
        """(S(a) − S(b))/λ."""
        first, second = ((-c * place).exp() / -(-c).expm1() for c in (self._low, self._high))
        return scaled((first - second) / self.spacing)

    def _halves(self) -> Callable[[Integers], tuple[Floats, Floats]]:
        """sin and cos of πk/n: of the smaller of k and n − k, whose sine is a sum of positive products."""
        import numpy as np

        points, rows = self._points, []
        size = math.isqrt(points // 2) + 1
        with precision(_BITS):
            for step, number in ((size, points // 2 // size + 1), (1, size)):
                pairs = [(Ball(step * k) / points).sin_cos_pi() for k in range(number)]
                rows.append(np.array([0.0, *(scaled(sin) for sin, _ in pairs[1:])]))
                rows.append(np.array([rounded(cos) for _, cos in pairs]))

        def at(indices: Integers) -> tuple[Floats, Floats]:
            near = np.minimum(indices, points - indices)
            i, j = np.divmod(near, size)
            sines, cosines, little_sines, little_cosines = rows[0][i], rows[1][i], rows[2][j], rows[3][j]
            cos = cosines * little_cosines - sines * little_sines
            return sines * little_cosines + cosines * little_sines, np.where(2 * indices > points, -cos, cos)

        return at

    def most(self) -> Ball:
        """A bound of every size."""
        rises = [-(-c).expm1() for c in (self._low, self._high)]
        return 3 * (1 + self._low) / (rises[0] * rises[1]) + 1 + 1 / rises[1]

    def tail(self, first: int) -> Ball:
        """A bound of the sum of the sizes at the nodes from ``first`` ≥ 2 on, of which the last is n − 1.

        For m the smaller of k and n − k, |1 − e^{−A}| ≥ 2e^{−a/2}·sin πk/n ≥ 4e^{−a/2}m/n. The sum of 1/m² from
        ``first`` on is at most 1/(first − 1), that of all 1/m² is π²/6, and that of 1/m up to n at most 1 + ln n.
        """
        n, a, b = Ball(self._points), self._low, self._high
        logs, steep = 1 + n.log(), 3 * ((a + b) / 2).exp() * n / 16
        near = steep * (1 + a) * n / (first - 1)
        far = steep * (logs + a * n * Ball.pi() ** 2 / 6)
        return near + far + n * (1 + (b / 2).exp() * logs / 2) / (2 * Ball.pi())
