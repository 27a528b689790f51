"""The call of sampled Gaussian steps beside finite laws and Laplace noise, both ways, by plain quadrature in floats."""

import itertools
import math

import numpy as np
from scipy.special import erfcx, ndtr

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_SURE = 36.0  # beyond so many deviations nothing is left in floats


def _panels(marks):
    middle, half = (marks[1:] + marks[:-1]) / 2, (marks[1:] - marks[:-1]) / 2
    return (middle[:, None] + half[:, None] * _NODES).ravel(), (half[:, None] * _WEIGHTS).ravel()


def _graded(reach, cap=0.2, least=1e-7):
    marks = [0.0, least]
    while marks[-1] < reach:
        marks.append(min(marks[-1] * 1.8, marks[-1] + cap))
    return _panels(np.array(marks))


_LEFT, _RIGHT = _graded(_SURE), _graded(13.0)
_AWAY = np.concatenate([-_LEFT[0], _RIGHT[0]])
_AWAY_WEIGHTS = np.concatenate([_LEFT[1], _RIGHT[1]])


def _place(mu, q, loss):
    """The z at which ln w is that."""
    rise = np.expm1(loss) / q + 1
    return np.where(rise > 0, np.log(np.maximum(rise, 1e-300)) / mu + mu / 2, -np.inf)


def _mills(x):
    return math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))


def _density(z):
    return np.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def removed(mu, q, y):
    """E[(w − e^y)₊] of one step, without cancellation: q·φ(b − μ)·(R(b − μ) − R(b)) with Mills's ratio R."""
    b = _place(mu, q, y)
    at = np.clip(b, -29.0, None)
    far = q * _density(at - mu) * (_mills(at - mu) - _mills(at))
    near = -np.expm1(y) + q * (np.exp(mu * np.minimum(at, 1.0) - mu * mu / 2) * ndtr(at) - ndtr(at - mu))
    return np.where(b > 0, far, np.where(b > -29, near, -np.expm1(y)))


def added(mu, q, y):
    """E[(1 − e^y w)₊] of one step."""
    b = _place(mu, q, -y)
    at = np.clip(b, -_SURE, 0.5)
    low = q * np.exp(y) * _density(at - mu) * (_mills(-at) - _mills(mu - at))
    return np.where(b <= -_SURE, 0.0, np.where(b < 0.5, low, -np.expm1(y) + np.exp(y) * removed(mu, q, -y)))


def beside_step(call, mu, q, adding):
    """Of one more step."""

    def total(y):
        found = []
        for one in np.atleast_1d(y):
            centre = float(np.clip(_place(mu, q, -one if adding else one), -1.0, mu + 26))
            z = centre + _AWAY
            rise = q * np.expm1(np.minimum(mu * z - mu * mu / 2, 600.0))
            chance = _density(z) * (1.0 if adding else 1 + rise) * _AWAY_WEIGHTS
            z, chance, rise = (row[chance > 1e-290] for row in (z, chance, rise))
            found.append(float(chance @ call(one + np.log1p(rise) * (1 if adding else -1))))
        return np.array(found)

    return total


def beside_laplace(call, top):
    """Of Laplace noise with losses up to ``top``: two atoms and a density."""

    def total(y):
        found = []
        for one in np.atleast_1d(y):
            near = top * 1.9 ** np.arange(-28.0, 1.0)
            marks = np.concatenate([top - near, near - top, one + near, one - near, [top, -top]])
            places, weights = _panels(np.unique(marks[(marks >= -top) & (marks <= top)]))
            smooth = weights * np.exp((places - top) / 2) / 4 @ call(one - places)
            ends = call(np.array([one - top, one + top])) @ np.array([0.5, math.exp(-top) / 2])
            found.append(float(smooth + ends))
        return np.array(found)

    return total


def beside_table(call, p, q, copies):
    """Of independent finite laws, p against q, some outcomes perhaps impossible under one of them."""
    losses = [(math.log(a / b), float(a)) for a, b in zip(p, q, strict=True) if a and b]
    leak = -math.expm1(copies * math.log1p(-float(sum(a for a, b in zip(p, q, strict=True) if not b))))
    paths = list(itertools.product(losses, repeat=copies))
    places = np.array([math.fsum(loss for loss, _ in path) for path in paths])
    chances = np.array([math.prod(chance for _, chance in path) for path in paths])
    return lambda y: np.array([leak + chances @ call(one - places) for one in np.atleast_1d(y)])
