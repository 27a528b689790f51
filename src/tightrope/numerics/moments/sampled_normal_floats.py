"""The float side of the sampled normal law: where quadrature nodes go, and unproved values for searches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.numerics import effort

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["log_power_means", "short_step", "strip_step", "window"]

_MOST_NODES = 40_000
_MOST_CELLS = 1_000_000
_CELL = 0.05  # units of work


def strip_step(m: float, a: float, nats: float) -> tuple[float, float]:
    """The depth d of the strip that allows the widest step h, 2πd/h = nats + d²/2 + [a<0]·a·ln cos(dμ/2)."""
    deepest = min(math.sqrt(2 * nats), 3.04 / m if m > 1e-9 else math.inf)
    if a >= 0:
        return deepest, 2 * math.pi * deepest / (nats + deepest * deepest / 2)
    best = (deepest, 0.0)
    for k in range(48):
        d = deepest * 0.85**k
        h = 2 * math.pi * d / (nats + d * d / 2 + a * math.log(math.cos(d * m / 2)))
        if h < best[1]:
            break
        best = (d, h)
    return best


def window(m: float, a: float, stay: float, take: float, nats: float, value: float) -> tuple[float, float]:
    """Ends beyond which φ·w^a is below e^−nats of its integral, whose logarithm is at least ``value``.

    ``stay`` is ln(1−q) and ``take`` is ln q.
    """
    reach = math.sqrt(2 * nats)
    if a >= 0:
        log_ratio = _log_sum(take, stay - (a - 0.5) * m * m)  # ln(w e^−ξ) at z = aμ
        beyond = math.sqrt(2 * max(nats, nats + a * (a - 1) * m * m / 2 + a * log_ratio - value))
        return -reach, max(1.0, a) * m + beyond
    z = -math.sqrt(2 * (nats + a * stay))
    for _ in range(8):  # Newton from the left on a concave function: it never passes the root
        log_rho = take + m * z - m * m / 2
        log_w = _log_sum(stay, log_rho)
        excess, rise = a * log_w - z * z / 2 - value + nats, a * m * math.exp(log_rho - log_w) - z
        if rise <= 0:
            break
        z = min(-reach, z - min(excess, 0.0) / rise)
    return z, m + reach


def _log_sum(x: float, y: float) -> float:
    return max(x, y) + math.log1p(math.exp(-abs(x - y)))


def short_step(step: float) -> Fraction:
    """A dyadic number of three bits, at most ``step``, so that different powers share their nodes."""
    mantissa, exponent = math.frexp(min(step, 2.0))
    return Fraction(math.floor(mantissa * 8), 8) * Fraction(2) ** exponent


def log_power_means(mu: float, rate: float, powers: Floats | Sequence[float]) -> Floats:
    """ln E[w^a] for many powers a in floats, for searches: some 11 digits, unproved; inf only past floats."""
    import numpy as np

    flat = np.atleast_1d(np.asarray(powers, dtype=np.float64)).ravel()
    mu = abs(mu)
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        values = flat * (flat - 1) * (mu * mu / 2)  # exact for rate 1
        if mu == 0 or rate == 0:
            values = np.zeros_like(flat)
        elif rate < 1:
            for chosen in (flat > 0, flat < 0):
                if chosen.any():
                    values[chosen] = _same_sign(mu, rate, flat[chosen])
    values[(flat == 0) | (flat == 1)] = 0.0
    return values.reshape(np.shape(powers))


def _same_sign(mu: float, rate: float, powers: Floats) -> Floats:
    import numpy as np

    stay, take = math.log1p(-rate), math.log(rate)
    # Two modes that do not meet: right where quadrature is out of reach (large μ or a·μ).
    modes = np.logaddexp(powers * stay, powers * take + powers * (powers - 1) * (mu * mu / 2))
    positive = np.where(powers < 1, np.minimum(modes, 0.0), np.maximum(modes, 0.0))
    values = np.where(powers > 0, positive, powers * stay)
    if mu > 1e3:
        return values
    smallest = np.log(np.abs(powers * (powers - 1))).clip(-60.0).min() + 2 * take + 2 * math.log(min(mu, 1.0))
    nats = 34.0 + min(max(0.0, -float(smallest)), 1400.0)
    extreme = float(powers.min())
    step = strip_step(mu, extreme, nats)[1]
    reach = math.sqrt(2 * nats)
    left = -reach if extreme > 0 else window(mu, max(extreme, -1e12), stay, take, nats, 0.0)[0]
    near = np.maximum(powers, 1.0) * mu + reach - left < _MOST_NODES * step
    if near.any():
        right = max(1.0, float(powers[near].max())) * mu + reach
        z: Floats = step * np.arange(math.floor(left / step), math.ceil(right / step) + 1, dtype=np.float64)
        rows = max(1, _MOST_CELLS // len(z))
        some = powers[near]
        effort.spend(_CELL * len(z) * len(some), "a search for a tilt")
        values[near] = np.concatenate(
            [_quadrature(mu, rate, some[i : i + rows], z, step) for i in range(0, len(some), rows)]
        )
    return values


def _quadrature(mu: float, rate: float, powers: Floats, z: Floats, step: float) -> Floats:
    import numpy as np

    xi = mu * z - mu * mu / 2
    u = rate * np.expm1(np.minimum(xi, 500.0))
    log_w = np.where(xi < 500.0, np.log1p(u), np.logaddexp(math.log1p(-rate), math.log(rate) + xi))
    log_phi = -z * z / 2 - math.log(math.sqrt(2 * math.pi) / step)
    phi = np.exp(log_phi)
    phi_u = np.where(xi < 500.0, phi * u, rate * np.exp(log_phi + xi))
    a = powers[:, None]
    exponent = log_phi + a * log_w
    top = exponent.max(axis=1)
    large = top + np.log(np.exp(exponent - top[:, None]).sum(axis=1))
    near_one = np.abs(a - 1) < 0.5
    t = np.where(near_one, a - 1, a) * log_w
    tangent = np.where(near_one, a - 1, a) * phi_u
    gentle = np.where(near_one, phi + phi_u, phi) * np.expm1(t.clip(-1, 1)) - tangent
    closed = np.where(np.abs(t) < 1, gentle, np.exp(exponent) - (phi + a * phi_u))
    series = np.zeros_like(t)
    for k in range(8, 1, -1):
        series = 1 + (a - k) / (k + 1) * u * series
    series = a * (a - 1) / 2 * phi_u * u * series
    small = (np.abs(a) + 2) * np.abs(u) < 0.02
    centred = np.log1p(np.where(small, series, closed).sum(axis=1))
    result: Floats = np.where(large < 0.5, centred, large)
    return result
