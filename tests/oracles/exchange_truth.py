"""Sampled Gaussian steps under replace: one step in closed form, two by quadrature, with mpmath."""

import mpmath as mp
from flint import ctx
from mixture_truth import panels, ratio
from quick_numbers import density, exp, expm1, log, ncdf, of_mpmath, sqrt, to_mpmath


def loss(mu, q, z):
    """ln w(z) − ln w(−z)."""
    return log(ratio(mu, q, z)) - log(ratio(mu, q, -z))


def place(mu, q, x):
    """The z whose loss is x: w(z) = e^x·w(−z) is a quadratic equation for e^{μz}."""
    b = q * exp(-mu * mu / 2)
    half = (1 - q) * expm1(x) / 2
    root = sqrt(half * half + b * b * exp(x))
    return log((half + root) / b if half > 0 else b * exp(x) / (root - half)) / mu


def exchanged(mu, q, x):
    """P[z > z*] − e^x Q[z > z*] of one step."""
    z = place(mu, q, x)
    first = (1 - q) * ncdf(-z) + q * ncdf(mu - z)
    return first - exp(x) * ((1 - q) * ncdf(-z) + q * ncdf(-mu - z))


def two_exchanges(first, second, x):
    """Two different steps, the second in closed form."""
    mu, q = first
    top = place(mu, q, x)
    near = (top + sign * mp.mpf(2) ** -n for n in range(-1, 16) for sign in (1, -1))
    marks = sorted({*(mp.mpf(n) / 2 for n in range(-28, 50)), *near, top})
    with ctx.workdps(mp.mp.dps + 5):
        mu, q, x, *other = map(of_mpmath, (mu, q, x, *second))

        def inner(z):
            return density(z) * ratio(mu, q, z) * exchanged(*other, x - loss(mu, q, z))

        return to_mpmath(panels(inner, list(map(of_mpmath, marks))))
