"""The calls of sampled Gaussian steps beside other parts: quadrature of their definitions, and lattices."""

import itertools
import math

import mpmath as mp
import numpy as np
from flint import ctx
from quick_numbers import density, exp, expm1, log, ncdf, of_mpmath, to_mpmath

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.windowed_profile import windowed_profile
from tightrope.curves.loss import Loss
from tightrope.numerics.balls import precision


def steps(sigma, rate, copies=1):
    """A part of a composition, as text."""
    return f"gaussian(sigma={sigma}).poisson({rate}) * {copies}"


def loss_of(text):
    return fact(tr.parse(text), Loss).curve


def profile(text):
    found = windowed_profile(loss_of(text))
    assert found is not None
    return found


def ends(value):
    with precision(200):
        return mp.mpf(value.lower().str(40, radius=False)), mp.mpf(value.upper().str(40, radius=False))


def contains(value, truth, relative=1e-12):
    low, high = ends(value)
    return low <= truth * (1 + relative) and high >= truth * (1 - relative)


# One sampled step, to the working precision of mpmath.


def panels(function, marks):
    """Gauss's rule of 16 nodes between neighbouring marks."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    total = 0
    for low, high in itertools.pairwise(marks):
        half, middle = (high - low) / 2, (high + low) / 2
        values = (function(middle + half * float(n)) for n in nodes)
        total = total + half * sum(float(w) * value for w, value in zip(weights, values, strict=True))
    return total


def ratio(mu, q, z):
    return 1 - q + q * exp(mu * z - mu * mu / 2)


def removed(mu, q, x):
    """E[(w − e^x)₊] of one step."""
    rise = expm1(x) / q + 1
    if rise <= 0:
        return -expm1(x)
    b = log(rise) / mu + mu / 2
    return (1 - q - exp(x)) * ncdf(-b) + q * ncdf(mu - b)


def added(mu, q, x):
    """E[(1 − e^x w)₊] of one step."""
    rise = (mp.exp(-x) - 1 + q) / q
    if rise <= 0:
        return mp.mpf(0)
    b = mp.log(rise) / mu + mu / 2
    return mp.ncdf(b) - mp.exp(x) * ((1 - q) * mp.ncdf(b) + q * mp.ncdf(b - mu))


def beside_laplace(call, e0, x):
    """A loss with the call given, beside that of Laplace noise: two atoms and a density."""
    atoms = (call(x - e0) + mp.exp(-e0) * call(x + e0)) / 2
    marks = [-e0, *(e0 - 2 * e0 * mp.mpf("0.7") ** n for n in range(1, 20)), e0]
    marks = sorted({*marks, *(e for e in (x, x - mp.mpf("0.05"), x - mp.mpf("0.3")) if -e0 < e < e0)})
    return atoms + panels(lambda y: mp.exp((y - e0) / 2) / 4 * call(x - y), marks)


def beside_answers(call, e0, number, x):
    """The same beside a number of randomized responses."""
    p = 1 / (1 + mp.exp(-e0))
    terms = (
        mp.binomial(number, k) * p**k * (1 - p) ** (number - k) * call(x - (2 * k - number) * e0)
        for k in range(number + 1)
    )
    return mp.fsum(terms)


def two_steps(first, second, x):
    """Two different steps, removing: the second in closed form."""
    mu, q = first
    top = mp.log(mp.expm1(x) / q + 1) / mu + mu / 2
    near = (top + sign * mp.mpf(2) ** -n for n in range(-1, 16) for sign in (1, -1))
    marks = sorted({mp.mpf(-12), *(mp.mpf(n) for n in range(-9, 20)), *near, top})
    with ctx.workdps(mp.mp.dps + 5):
        mu, q, x, *other = map(of_mpmath, (mu, q, x, *second))

        def inner(z):
            w = ratio(mu, q, z)
            return density(z) * w * removed(*other, x - log(w))

        return to_mpmath(panels(inner, list(map(of_mpmath, marks))))


def brute(samplers, x, cells=2000):
    """Two lattice laws that enclose the call of several steps: positive terms only, so no δ is too small for floats."""
    found = []
    for over in (True, False):
        h = x / cells
        total, first, alone = np.ones(1), 0, 0.0
        for mu, q, copies in samplers:
            edges = np.arange(math.floor(math.log1p(-q) / h) - 1, 3 * cells) * h
            rise = np.maximum(np.expm1(edges) / q + 1, 1e-300)
            z = np.where(np.expm1(edges) / q + 1 > 0, np.log(rise) / mu + mu / 2, -40.0)
            tail = np.array([math.erfc(a / math.sqrt(2)) / 2 for a in z])
            moved = np.array([math.erfc((a - mu) / math.sqrt(2)) / 2 for a in z])
            above = (1 - q) * tail + q * moved
            masses = above[:-1] - above[1:]  # of the cells, under the law with the record
            places = np.arange(len(masses)) + (1 if over else 0)
            law = np.zeros(len(masses) + 1)
            np.add.at(law, places, masses)
            for _ in range(copies):
                total = np.convolve(total, law)
                first += round(edges[0] / h)
            alone += copies * above[-1]
        at = (first + np.arange(len(total))) * h
        inside = float((total * np.maximum(-np.expm1(x - at), 0)).sum())
        found.append(inside + (alone if over else 0.0))
    return found
