"""The call of two sampled steps by quadrature of the definition, the last step in closed form."""

import math

import mpmath as mp
import numpy as np
from flint import acb, arb, ctx
from quick_numbers import density, integral, of_mpmath, to_mpmath
from scipy.special import ndtr


def one_step(mu, q, x):
    """E[(1 − e^{x−L})₊] of one step, removing, for an array of x."""
    rise = np.expm1(x) / q + 1
    g = np.log(np.maximum(rise, 1e-300)) / mu
    above = q * (ndtr(mu / 2 - g) - np.maximum(rise, 0) * ndtr(-mu / 2 - g))
    return np.where(rise > 0, above, -np.expm1(x))


def removing(mu, q, x):
    """Two steps in floats: E_Q[w₁ δ₁(x − ln w₁)], by Gauss's rule on panels much shorter than what δ₁ looks like."""
    marks = np.concatenate([np.arange(-10, 0, 0.5), np.arange(0, 10.01 + mu, 0.005)])
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(marks) / 2
    z = (marks[:-1, None] + half[:, None] * (1 + nodes)).ravel()
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * (half[:, None] * weights).ravel()
    loss = np.log1p(q * np.expm1(mu * z - mu * mu / 2))
    return float((density * np.exp(loss) * one_step(mu, q, x - loss)).sum())


def above(z):
    """The chance that a normal number is larger."""
    return (z / arb(2).sqrt()).erfc() / 2


class Step:
    """A sampled step in flint's arithmetic."""

    def __init__(self, mu, q, x):
        self.mu, self.q, self.grown = of_mpmath(mu), of_mpmath(q), of_mpmath(x).exp()

    def w(self, z):
        return 1 - self.q + self.q * (self.mu * z - self.mu * self.mu / 2).exp()

    def place(self, ratio, analytic=False):
        """Where w is that."""
        rise = (ratio - 1 + self.q) / self.q
        return (rise.log(analytic) if isinstance(rise, acb) else rise.log()) / self.mu + self.mu / 2


def removing_two(mu, q, x):
    """Two steps, to thirty digits and more: the larger z beyond its partner (a formula with two pieces)."""
    with ctx.workdps(50):
        step = Step(mu, q, x)
        middle = step.place(step.grown.sqrt())

        def inner(z, b):
            both = (1 - step.q) * above(b) + step.q * above(b - step.mu)
            return density(z) * (step.w(z) * both - step.grown * above(b))

        def partner(z, analytic):
            return inner(z, step.place(step.grown / step.w(z), analytic))

        found = integral(partner, [-14, *marks(-10, middle), middle], 45)
        found += integral(lambda z, _: inner(z, z), [middle, *marks(middle, 16), 18], 45)
        return 2 * to_mpmath(found.real)


def adding_two(mu, q, x):
    """E_Q[(1 − e^x w₁w₂)₊], up to where less than 10⁻³⁸ is left for the partner."""
    with ctx.workdps(50):
        step = Step(mu, q, x)
        if 1 / step.grown <= 1 - step.q:
            return mp.mpf(0)
        rise = (step.mu * (-13 - step.mu / 2)).exp()
        last = step.place(1 / (step.grown * (1 - step.q + step.q * rise)))

        def inner(z, analytic):
            b = step.place(1 / (step.grown * step.w(z)), analytic)
            both = (1 - step.q) * above(-b) + step.q * above(step.mu - b)
            return density(z) * (above(-b) - step.grown * step.w(z) * both)

        return to_mpmath(integral(inner, [-15, *marks(-10, last), last], 45).real)


def marks(low, high):
    """Whole numbers between."""
    return [n for n in range(-14, 18) if low <= n < high]
