"""Sampled Gaussian steps under replace: one step in closed form, two by quadrature, with mpmath."""

import mpmath as mp
from mixture_truth import panels, ratio


def loss(mu, q, z):
    """ln w(z) − ln w(−z)."""
    return mp.log(ratio(mu, q, z)) - mp.log(ratio(mu, q, -z))


def place(mu, q, x):
    """The z whose loss is x: w(z) = e^x·w(−z) is a quadratic equation for e^{μz}."""
    b = q * mp.exp(-mu * mu / 2)
    half = (1 - q) * mp.expm1(x) / 2
    return mp.log((half + mp.sqrt(half * half + b * b * mp.exp(x))) / b) / mu


def exchanged(mu, q, x):
    """P[z > z*] − e^x Q[z > z*] of one step."""
    z = place(mu, q, x)
    first = (1 - q) * mp.ncdf(-z) + q * mp.ncdf(mu - z)
    return first - mp.exp(x) * ((1 - q) * mp.ncdf(-z) + q * mp.ncdf(-mu - z))


def two_exchanges(first, second, x):
    """Two different steps, the second in closed form."""
    mu, q = first

    def inner(z):
        return mp.npdf(z) * ratio(mu, q, z) * exchanged(*second, x - loss(mu, q, z))

    top = place(mu, q, x)
    near = (top + sign * mp.mpf(2) ** -n for n in range(-1, 16) for sign in (1, -1))
    marks = sorted({*(mp.mpf(n) / 2 for n in range(-28, 50)), *near, top})
    return panels(inner, marks)
