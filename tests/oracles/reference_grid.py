"""ε of a composition by convolution on a grid, in floats: another method than the one under test, and no part of it.

One step's loss law is put on a lattice by connecting the dots of its profile (each cell's mass goes to the cell's two
ends, keeping its mass under both hypotheses), tilted, convolved by FFT. That overstates δ by a term of second order in
the step, so three steps give an extrapolated value and an honest estimate of its error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import fft, optimize
from scipy.special import log_ndtr, ndtr

NOISE = 1e-4  # the share of δ that may be round-off


@dataclass(frozen=True)
class Part:
    """``count`` copies of one law: sigma and rate (a sampled Gaussian), scale (Laplace) or answer (binary response)."""

    count: int
    sigma: float = 0.0
    rate: float = 1.0
    scale: float = 0.0
    answer: float = 0.0


def interval(low: np.ndarray, high: np.ndarray, shift: float) -> np.ndarray:
    """Pr[low < N(shift, 1) < high], each end on the side where it is small."""
    a, b = low - shift, high - shift
    return np.where(a > 0, ndtr(-a) - ndtr(-b), ndtr(b) - ndtr(a))


def normal_cells(part: Part, edges: np.ndarray, direction: str) -> tuple[np.ndarray, np.ndarray]:
    """Masses of the cells between ``edges`` under (P, Q) of the sampled Gaussian, P being the tilted side."""
    s, q = part.sigma, part.rate
    losses = edges if direction == "remove" else -edges
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = (np.expm1(losses) + q) / q  # e^{z/σ − 1/2σ²} where the loss is this
        z = np.where(ratio > 0, s * np.log(np.where(ratio > 0, ratio, 1.0)) + 1 / (2 * s), -np.inf)
    low, high = (z[:-1], z[1:]) if direction == "remove" else (z[1:], z[:-1])
    without = interval(low, high, 0.0)
    with_record = (1 - q) * without + q * interval(low, high, 1 / s)
    return (with_record, without) if direction == "remove" else (without, with_record)


def laplace_cells(part: Part, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The continuous part of a Laplace loss: density e^{-(e0 − l)/2}/4 on (−e0, e0) under P."""
    e = 1 / part.scale
    low, high = np.clip(edges[:-1], -e, e), np.clip(edges[1:], -e, e)
    p = (np.exp((high - e) / 2) - np.exp((low - e) / 2)) / 2
    q = (np.exp((-low - e) / 2) - np.exp((-high - e) / 2)) / 2
    return p, q


def step_law(part: Part, first: int, size: int, h: float, direction: str) -> np.ndarray:
    """Masses under P of one step on the lattice (first + i) h."""
    edges = (first + np.arange(size)) * h
    law = np.zeros(size)
    if part.sigma:
        p, q = normal_cells(part, edges, direction)
    elif part.scale:
        p, q = laplace_cells(part, edges)
    else:
        p = q = np.zeros(size - 1)
    # a at the left end, p − a at the right one: a e^{−l} + (p − a) e^{−l−h} = q
    with np.errstate(over="ignore", invalid="ignore"):
        a = np.clip(np.nan_to_num((q * np.exp(edges[:-1]) - p * np.exp(-h)) / -np.expm1(-h)), 0, p)
    law[:-1] += a
    law[1:] += p - a
    if part.scale or part.answer:
        e = 1 / part.scale if part.scale else part.answer
        top = 0.5 if part.scale else 1 / (1 + np.exp(-e))
        for mass, loss in ((top, e), (top * np.exp(-e), -e)):
            cell = int(np.floor(loss / h))
            right = np.expm1(cell * h - loss) / np.expm1(-h)  # keeps mass under P and under Q
            law[cell - first] += mass * (1 - right)
            law[cell + 1 - first] += mass * right
    return law


def log_moment(part: Part, t: float, direction: str) -> float:
    """ln E_P e^{tL} of one step, roughly (only to choose the tilt and the window)."""
    if part.answer or part.scale:
        e = part.answer or 1 / part.scale
        return float(t * e - np.log1p(np.exp(-e)) + np.log1p(np.exp(-(2 * t + 1) * e)))
    s, q = part.sigma, part.rate
    order = t + 1 if direction == "remove" else -t
    z = np.linspace(-14, 14 + max(order, 0) / s, 6001)
    shift = z / s - 1 / (2 * s * s)
    log_w = np.logaddexp(np.log1p(-q), np.log(q) + shift) if q < 1 else shift
    terms = -z * z / 2 + order * log_w
    peak = terms.max()
    return float(peak + np.log(np.exp(terms - peak).sum() * (z[1] - z[0]) / np.sqrt(2 * np.pi)))


def tilt(parts: list[Part], delta: float, direction: str) -> tuple[float, float]:
    """Chernoff's t and its ε."""
    best = (np.inf, 1.0)
    for t in np.geomspace(0.05, 1e7, 150):
        k = sum(p.count * log_moment(p, t, direction) for p in parts)
        best = min(best, ((k - np.log(delta) + t * np.log(t) - (t + 1) * np.log(t + 1)) / t, t))
    return best[1], best[0]


def window(parts: list[Part], delta: float, direction: str) -> tuple[float, float, float]:
    """(tilt, Chernoff's ε, width of a window that holds what matters at this δ)."""
    t, start = tilt(parts, delta, direction)
    slack = 32.0
    k0 = sum(p.count * log_moment(p, t, direction) for p in parts)
    reach = min(
        (sum(p.count * log_moment(p, t * g, direction) for p in parts) - k0 + slack) / (t * (g - 1)) - start
        for g in (1.01, 1.03, 1.1, 1.2, 1.5, 2.0, 3.0)
    )
    atoms = [p.answer or 1 / p.scale for p in parts if not p.sigma]
    width = 2 * (start + max([reach, slack / t, *atoms]))  # one step alone may carry the whole loss
    return t, start, width


def epsilon_on_grid(parts: list[Part], delta: float, direction: str, size: int) -> float:
    """ε of the composed lattice law with ``size`` points; ∞ where it drowns in round-off."""
    t, start, width = window(parts, delta, direction)
    h = width / size
    first = -size // 2
    points = (first + np.arange(size)) * h
    total = np.ones(size // 2 + 1, complex)
    scale = 0.0
    for part in parts:
        law = step_law(part, first, size, h, direction)
        with np.errstate(divide="ignore", over="ignore"):
            logs = np.where(law > 0, np.log(np.where(law > 0, law, 1.0)) + t * points, -np.inf)
        peak = np.logaddexp.reduce(logs)
        total *= fft.rfft(np.roll(np.exp(logs - peak), first)) ** part.count
        scale += part.count * peak
    composed = fft.irfft(total, size)  # index i stands for loss i h modulo the window
    middle = round(start / h)
    index = (middle - size // 2 + np.arange(size)) % size
    losses = (middle - size // 2 + np.arange(size)) * h
    weights = composed[index]

    def log_delta(x: float) -> float:
        over = losses > x
        far = losses[over] - x
        value = np.sum(weights[over] * np.exp(-t * far) * -np.expm1(-far))
        return float(np.log(max(value, 1e-300)) + scale - t * x - np.log(delta))

    low = high = start  # Chernoff's ε is not far above; a coarse grid may even lie beyond it
    for _ in range(60):
        if log_delta(low) > 0 or low <= 0:
            break
        low = max(0.0, low - 0.02 * start)
    for _ in range(60):
        if log_delta(high) <= 0:
            break
        high += 0.1 * start
    if log_delta(low) <= 0:
        return 0.0
    if log_delta(high) > 0 or high > losses[-1]:
        return float("inf")
    found = float(optimize.brentq(log_delta, low, high, xtol=1e-14, rtol=1e-13))
    # Each transform is off by some units of its size, its power by as many times more: so are the weights in the mean.
    far = np.maximum(losses - found, 0)
    counted = np.exp(-t * far) * -np.expm1(-far)
    units = 2e-16 * (10 + sum(p.count for p in parts))
    noise = 3 * units * np.sqrt(np.sum(weights**2) / size * np.sum(counted**2))
    return found if noise < NOISE * abs(float(np.sum(weights * counted))) else float("inf")


def reference(parts: list[Part], delta: float, size: int = 2**17) -> tuple[float, float]:
    """(ε, an estimate of its error): the worse direction, extrapolated from three grids."""
    found = []
    for direction in ("remove", "add"):
        a, b, c = (epsilon_on_grid(parts, delta, direction, n) for n in (size // 4, size // 2, size))
        if not np.isfinite(a):
            return c, float("inf")  # too coarse to tell
        early, late = b + (b - a) / 3, c + (c - b) / 3
        # The next order may hide in the first difference; of 4,400 settings three were off by up to 2.3 times as much.
        error = 3 * (2 * abs(late - early) + abs(c - b) / 5) + 1e-8 * late
        if not 3.3 * abs(c - b) < abs(b - a) < 5 * abs(c - b):  # not yet of second order: no extrapolation
            late, error = c, 2 * max(abs(c - b), abs(b - a)) + 1e-8 * c
        if any(not p.sigma for p in parts):  # atoms fall differently into each grid's cells: nothing to extrapolate
            step = window(parts, delta, direction)[2] / size
            late, error = c, sum(p.count for p in parts if not p.sigma) * step + 2 * abs(c - b) + 1e-8 * c
        found.append((late, error))
        if all(p.rate == 1 for p in parts):
            break
    return max(found)


def gaussian_delta(mu: float, epsilon: float) -> float:
    """δ of μ-GDP, for checking the grid itself."""
    return float(ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu)))
