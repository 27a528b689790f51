"""The glued normal transform far from the origin, in doubles: only the kink of its loss at 0 is seen.

With u = ln w the smooth part of M(s) is ∫_0^∞ h(u)(e^{(s+1)u} + e^{−su})du, where h = φ(z)E/μ, z' = E/μ, E' = E − E²,
E(0) = 1/q, z(0) = μ/2, so that h' = h·(1 − E − zE/μ). For ∫ h(u)e^{su}du, Re s = A and Im s = y > 0, the path goes up
from 0 to iV and then to the right, and h is a power series Σc_m u^m on the first piece. This leaves
Σ_{m<M} c_m·m!/(−s)^{m+1} and, if |h| ≤ C for |u| ≤ ρ, with X = yV > M and r = V/ρ < 1, at most

    C/(1−r)·[M!/(ρ^M·y^{M+1}) + e^{−X}·X/((X−M)·y)]   for the series' rest, and for its terms' rests beyond iV,
    e^{−X + β²/2μ²}·∫ h(x)e^{Ax}dx                    for the second piece, β = arg(e^{iV} − 1 + q),

since |e^{x+iV} − 1 + q| ≥ e^x − 1 + q, with an angle of at most β. All of it falls with y. C: with κ = e^ρ − 1 < q and
l = −ln(1 − κ/q), |z − μ/2| ≤ l/μ and |h| ≤ φ(μ/2)·e^{(l + l²/μ²)/2}·e^ρ/(μ(q − κ)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.float_lines import UNIT, powers_of, rounded
from tightrope.numerics.transforms.sampled_rule import short

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Complexes

__all__ = ["FarGlued"]

_TERMS = 24
_RADII = tuple(0.9 * 0.8**k for k in range(14))  # ρ/(q·min(1, μ))
_SHARES = (0.8, 0.6, 0.4, 0.25)  # V/ρ


@dataclass(frozen=True)
class _Choice:
    """ρ, V and M, and about ln of the error."""

    radius: float
    height: float
    terms: int
    log_error: float


class FarGlued:
    """μ, q and the tilt t ≥ −½ of one line; everything is divided by M(t) = e^{log_size}, the atom as well."""

    def __init__(self, mu: Real, rate: Fraction, t: Fraction, log_size: Ball, atom: Ball) -> None:
        self._atom, self._mu, self._rate, self._t, self._log_size = atom, mu.ball(), ball(rate), t, log_size
        self._floats = float(self._mu.mid()), min(float(rate), 1 - 2.0**-53), float(log_size.mid())
        self._series = self._coefficients()

    def _coefficients(self) -> list[Ball]:
        """c_m·m!, m < _TERMS."""
        mu = self._mu
        e, z = [1 / self._rate], [mu / 2]
        h = [(mu * mu / -8).exp() / (2 * Ball.pi()).sqrt() / (mu * self._rate)]
        rises: list[Ball] = []
        for n in range(_TERMS - 1):
            product = sum((z[k] * e[n - k] for k in range(n + 1)), Ball(0))
            rises.append((1 if n == 0 else 0) - e[n] - product / mu)
            z.append(e[n] / (mu * (n + 1)))
            e.append((e[n] - sum((e[k] * e[n - k] for k in range(n + 1)), Ball(0))) / (n + 1))
            h.append(sum((h[k] * rises[n - k] for k in range(n + 1)), Ball(0)) / (n + 1))
        return [c * math.factorial(m) for m, c in enumerate(h)]

    def _chosen(self, y: float) -> _Choice:
        """A choice for all nodes from y on, in floats."""
        mu, q, size = self._floats
        best = _Choice(0.5 * q, 0.1 * q, 2, math.inf)
        for radius in (c * q * min(1.0, mu) for c in _RADII):
            kappa = math.expm1(radius)
            if not kappa < q:
                continue
            away = -math.log1p(-kappa / q)
            most = -mu * mu / 8 + (away + away * away / (mu * mu)) / 2 + radius - math.log(mu * (q - kappa)) - size
            for share in _SHARES:
                height = share * radius
                x, beta = y * height, math.atan2(math.sin(height), math.cos(height) - 1 + q)
                for terms in range(2, _TERMS + 1, 2):
                    if x <= terms + 1:
                        break
                    rest = math.lgamma(terms + 1) - terms * math.log(radius * y)
                    logs = most - math.log((1 - share) * y) + max(rest, -x + math.log(x / (x - terms)))
                    logs = max(logs, -x + beta * beta / (2 * mu * mu))
                    best = min(best, _Choice(radius, height, terms, logs), key=lambda one: one.log_error)
        return best

    def log_error(self, y: float) -> float:
        """About ln of the error from y on."""
        return self._chosen(y).log_error

    def _error(self, y: Ball, choice: _Choice) -> Ball:
        """A bound of what is left out at every y' ≥ y; ∞ if the choice is void there."""
        mu, q, terms = self._mu, self._rate, choice.terms
        radius, height = ball(short(choice.radius)), ball(short(choice.height))
        kappa, x, share = radius.expm1(), y * height, height / radius
        if not (kappa < q and share < 1 and x > terms):
            return Ball("inf")
        away = -(-kappa / q).log1p()
        most = (mu * mu / -8 + (away + away * away / (mu * mu)) / 2 + radius - self._log_size).exp()
        most = most / ((2 * Ball.pi()).sqrt() * mu * (q - kappa)) / (1 - share)
        rest = math.factorial(terms) / (radius * y) ** terms + (-x).exp() * x / (x - terms)
        beta = Ball.atan2(height.sin(), height.cos() - 1 + q)
        return (2 * most * rest / y + (beta * beta / (2 * mu * mu) - x).exp()).upper()

    def nodes(self, eta: Fraction, numbers: Integers) -> tuple[Complexes, Ball]:
        """φ at y = kη for numbers k that rise, and a bound of the errors."""
        import numpy as np

        y = eta * int(numbers[0])
        choice = self._chosen(float(y))
        error, places = self._error(ball(y), choice), float(eta) * numbers
        values, size = np.full(len(places), rounded(self._atom), dtype=np.complex128), Ball(1)
        for power, mirrored in ((self._t + 1, False), (-self._t, True)):
            start = (ball(power * power) + ball(y * y)).sqrt()
            # In powers of |s_first|/s the terms do not grow, so that Horner's rule is off by 16u for each at most.
            scale, series = (-self._log_size).exp(), self._series[: choice.terms]
            scaled = [scale * c / start ** (m + 1) for m, c in enumerate(series)]
            size += sum((abs(c) for c in scaled), Ball(0))
            ratio = -float(start.mid()) / (float(power) + 1j * places)
            total = powers_of(ratio, scaled)
            values += total.conj() if mirrored else total
        return values, (error + size * UNIT * (24 * choice.terms + 40)).upper()
