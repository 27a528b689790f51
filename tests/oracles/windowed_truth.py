"""The call of two sampled steps by quadrature of the definition, the last step in closed form."""

import math

import mpmath as mp
import numpy as np
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


def removing_two(mu, q, x):
    """Two steps, to the working precision of mpmath: the larger z beyond its partner (a formula with two pieces)."""

    def place(ratio):
        return mp.log((ratio - 1 + q) / q) / mu + mu / 2 if ratio > 1 - q else -mp.inf

    def w(z):
        return 1 - q + q * mp.exp(mu * z - mu * mu / 2)

    def inner(z):
        b = max(place(mp.exp(x) / w(z)), z)
        return mp.npdf(z) * (w(z) * ((1 - q) * mp.ncdf(-b) + q * mp.ncdf(mu - b)) - mp.exp(x) * mp.ncdf(-b))

    middle = place(mp.exp(x / 2))
    edge = place(mp.exp(x) / (1 - q))
    marks = sorted({mp.mpf(-14), *(mp.mpf(n) for n in range(-10, 16)), middle, min(edge, mp.mpf(16))} | {mp.mpf(18)})
    return 2 * mp.quad(inner, marks)


def adding_two(mu, q, x):
    """E_Q[(1 − e^x w₁w₂)₊]."""

    def w(z):
        return 1 - q + q * mp.exp(mu * z - mu * mu / 2)

    def inner(z):
        rise = (mp.exp(-x) / w(z) - 1 + q) / q
        if rise <= 0:
            return mp.mpf(0)
        b = mp.log(rise) / mu + mu / 2
        return mp.npdf(z) * (mp.ncdf(b) - mp.exp(x) * w(z) * ((1 - q) * mp.ncdf(b) + q * mp.ncdf(b - mu)))

    rise = (mp.exp(-x) / (1 - q) - 1 + q) / q
    if rise <= 0:
        return mp.mpf(0)
    last = mp.log(rise) / mu + mu / 2
    return mp.quad(inner, [mp.mpf(-15), *mp.linspace(-10, last, 30)])
