"""How large the moments of a sampled normal loss are where μ, or the rate, is a complex number near a real one.

With a = A + iy and X = e^{μz−μ²/2}, z standard normal, w = 1 − q + qX:

*As a function of μ.* With u = μz, F(μ) = E[w^a] = (1/μ√2π)∫e^{−u²/2μ²}w^a du, w = 1 − q + q·e^{u−μ²/2}. Let μ become
ζ with |ζ − c| ≤ R = rc, α = arg ζ, so that sin|α| ≤ r, and cos 2α ≥ 1 − 2r² = κ, which must be positive. The weight
has the modulus of a normal density of variance m² = |ζ|²/cos 2α ≤ c²(1 + r)²/κ, times (cos 2α)^{−1/2}. In w only the
factor e^{−ζ²/2} is complex, with the angle θ = |Im ζ²|/2 ≤ c²(1 + r)²r√(1 − r²) < π; and |e^{−ζ²/2}| = g·e^{−m²/2}
with 1 ≤ g ≤ e^{m²(1−κ²)/2}. So |w| ≤ g·w_m, |w| ≥ cos(θ/2)·w_m and |arg w| ≤ θ, w_m being w at μ = m and the same z.
E[w_m^A] rises with m if A is not between 0 and 1, as w_m^A is convex in w_m; there it is at most 1.

*As a function of q.* w = 1 − ζ + ζX with |ζ − c| ≤ R, c + R < 1 and R < c. Both terms lie in the right half plane,
the second up to α = asin(R/c) aside, the first up to β = atan(R/(1 − c − R)). So |arg w| ≤ max(α, β). For X ≥ 1, w =
1 + ζ(X − 1) has a modulus between those of w at c − R and at c + R, for X < 1 likewise; so |w|^A is at most the sum
of both w^A, and the mean of each at most that at c + R (or 1): E[w^A] rises with q if A is not between 0 and 1, as it
is convex in q and its slope is 0 at q = 0.

*On a shifted path* (``sampled_decay``) the angle of X is ±ψ besides, in w₊ and w₋, and the integrand is
w₊^{(A+iy)/2}w₋^{(A−iy)/2} of modulus (|w₊||w₋|)^{A/2}e^{−y(arg w₊ − arg w₋)/2}, times e^{ψ²/2ζ²} if μ varies. There
arg w₊ ≥ −max(0, θ − ψ), and |w±| ≥ cos((ψ + θ)/2)·w_m, as long as ψ + θ < π; the upper bound is as before. If q
varies, the first term has an angle up to β, the second one between ψ − α and ψ + α; so arg w₊ ≥ −max(β, α − ψ), |w±|
≤ (1 − c + R) + (c + R)X = (1 + 2R)w at the rate (c + R)/(1 + 2R) ≤ c + R, and |w±| ≥ cos((ψ + α + β)/2)((1 − c − R) +
(c − R)X), which is (1 − 2R)w at the rate (c − R)/(1 − 2R) ≤ c + R; 2R < 1 as R < min(c, 1 − c).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.moments.sampled_normal import log_power_mean
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.interpolation import Disc
from tightrope.numerics.transforms.sampled import SampledNormalTransform

__all__ = ["Axis", "NoiseAxis", "RateAxis"]

_BITS = 16  # of a μ that is rounded up


class Axis(ABC):
    """Sampled normal losses that differ in one number."""

    adding: bool

    def power(self, t: Fraction) -> Fraction:
        """A, of E[w^A] = M(t)."""
        return -t if self.adding else t + 1

    @abstractmethod
    def law(self, x: Fraction) -> tuple[Fraction, Fraction]:
        """μ and the rate."""

    def transform(self, x: Fraction) -> SampledNormalTransform:
        """Of one of them."""
        mu, rate = self.law(x)
        return SampledNormalTransform(Real(mu), rate, self.adding)

    @abstractmethod
    def largest_radius(self, centre: Fraction) -> Fraction:
        """Of a disc on which there are bounds; others may be too large for them as well."""

    @abstractmethod
    def log_most(self, disc: Disc, power: Fraction, y: Fraction, shift: Fraction | None) -> Ball:
        """ln of a bound of |F| on the disc, for all imaginary parts up to y; or, on a path shifted by that angle, for y
        itself."""


def _log_mean(mu: Ball, rate: Fraction, power: Fraction) -> Ball:
    """An upper bound of ln E[w^A] for every smaller μ and every smaller rate; at least 0."""
    return log_power_mean(Real(None, lambda: mu.upper()), rate, power).upper().max(Ball(0))


@dataclass(frozen=True)
class NoiseAxis(Axis):
    """Of one rate, with different μ."""

    rate: Fraction
    adding: bool

    def law(self, x: Fraction) -> tuple[Fraction, Fraction]:
        """x is μ."""
        return x, self.rate

    def largest_radius(self, centre: Fraction) -> Fraction:
        """cos 2α > 0.6, say."""
        return centre * Fraction(2, 5)

    def log_most(self, disc: Disc, power: Fraction, y: Fraction, shift: Fraction | None) -> Ball:
        """The first bound above."""
        r, a = ball(disc.radius / disc.centre), ball(power)
        kappa = 1 - 2 * r * r
        far = ball(disc.centre + disc.radius) ** 2
        theta = far * r * (1 - r * r).sqrt()
        psi = Ball(0) if shift is None else ball(shift)
        if not (kappa > 0 and theta + psi < Ball.pi()):
            raise NotCertified("a family of sampled normal losses", "the disc is too large")
        square = far / kappa
        log = _log_mean(square.sqrt(), self.rate, power) - kappa.log() / 2
        log += a * square * (1 - kappa**2) / 2 if power >= 0 else a * ((psi + theta) / 2).cos().log()
        if shift is None:
            return log + ball(y) * theta
        near = ball(disc.centre - disc.radius)
        return log + psi * psi / (2 * near * near) + ball(y) * (theta - psi).max(Ball(0))


@dataclass(frozen=True)
class RateAxis(Axis):
    """Of one μ, with different rates."""

    mu: Fraction
    adding: bool

    def law(self, x: Fraction) -> tuple[Fraction, Fraction]:
        """x is the rate."""
        return self.mu, x

    def largest_radius(self, centre: Fraction) -> Fraction:
        """Away from 0 and from 1."""
        return min(centre, 1 - centre) * Fraction(3, 4)

    def log_most(self, disc: Disc, power: Fraction, y: Fraction, shift: Fraction | None) -> Ball:
        """The second bound above."""
        c, radius, a = disc.centre, disc.radius, ball(power)
        if not (0 < radius < c and c + radius < 1):
            raise NotCertified("a family of sampled normal losses", "the disc is too large")
        alpha, beta = (ball(radius) / ball(c)).asin(), (ball(radius) / ball(1 - c - radius)).atan()
        log = _log_mean(ball(self.mu), c + radius, power)
        if shift is None:
            return log + Ball(2).log() + ball(y) * alpha.max(beta)
        psi, mu = ball(shift), ball(self.mu)
        if not psi + alpha + beta < Ball.pi():
            raise NotCertified("a family of sampled normal losses", "the disc is too large")
        if power >= 0:
            log += a * ball(1 + 2 * radius).log()
        else:
            log += a * (((psi + alpha + beta) / 2).cos() * ball(1 - 2 * radius)).log()
        return log + psi * psi / (2 * mu * mu) + ball(y) * beta.max(alpha - psi)
