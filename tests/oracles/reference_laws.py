"""One step's law of loss as a list of atoms, in floats, straight from the definition of its mechanism and its sample.

Noise on the real line is cut into many cells; a cell's masses under both hypotheses are one atom. That understates
every hockey-stick by a term of second order in the cell, far below what the references built on it can resolve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from reference_grid import interval

CELLS = 40_000
FAR = 37.0  # standard deviations: beyond, masses are below 1e-298
Atoms = tuple[np.ndarray, np.ndarray]  # masses under P, losses


@dataclass(frozen=True)
class Law:
    """``noise`` (gaussian, discrete_gaussian, laplace, discrete_laplace or response) of size ``scale``, one of
    ``answers`` where it is a response, ``sample``d (none, poisson, replace or fixed) at ``rate``, ``count`` times."""

    noise: str
    scale: float
    count: int = 1
    sample: str = "none"
    rate: float = 1.0
    answers: int = 2


def base(law: Law) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masses of all outcomes around 0, and ln of the ratios of those around 1 and −1 to them."""
    s = law.scale
    if law.noise == "gaussian":
        edges = np.linspace(-FAR, FAR, CELLS + 1)
        at0 = interval(edges[:-1], edges[1:], 0.0)
        middle = (edges[:-1] + edges[1:]) / 2

        def ratio(m: int) -> np.ndarray:
            masses = interval(edges[:-1], edges[1:], m / s)
            seen = (masses > 1e-290) & (at0 > 1e-290)  # elsewhere masses underflow
            return np.where(seen, np.log(np.where(seen, masses / at0, 1.0)), m * middle / s - 0.5 / s**2)

        return at0, ratio(1), ratio(-1)
    if law.noise == "discrete_gaussian":
        x = np.arange(-int(FAR * s) - 2, int(FAR * s) + 3, dtype=float)
        weights = np.exp(-x * x / (2 * s * s))
        return weights / weights.sum(), (x - 0.5) / s**2, (-x - 0.5) / s**2
    if law.noise == "laplace":
        inner = np.linspace(-1, 1, 2 * (CELLS // 4) + 1)
        edges = np.concatenate([[-np.inf], inner, [np.inf]])

        def masses(m: float) -> np.ndarray:
            below = np.where(edges < m, np.exp(-np.abs(edges - m) / s) / 2, 1 - np.exp(-np.abs(edges - m) / s) / 2)
            above = np.where(edges > m, np.exp(-np.abs(edges - m) / s) / 2, 1 - np.exp(-np.abs(edges - m) / s) / 2)
            return np.where(edges[:-1] >= m, above[:-1] - above[1:], below[1:] - below[:-1])

        at0 = masses(0.0)
        return at0, np.log(masses(1.0) / at0), np.log(masses(-1.0) / at0)
    if law.noise == "discrete_laplace":
        x = np.array([-1.0, 0.0, 1.0])  # beyond, ratios are those of the last
        r = np.exp(-1 / s)
        at0 = np.array([r / (1 + r), (1 - r) / (1 + r), r / (1 + r)])
        return at0, (np.abs(x) - np.abs(x - 1)) / s, (np.abs(x) - np.abs(x + 1)) / s
    k = law.answers  # the answer of one record, of the other, and all others, which say nothing
    at0 = np.array([1.0, np.exp(s), k - 2.0]) / (np.exp(s) + k - 1)
    up = np.array([s, -s, 0.0])
    return at0, up, np.full(3, np.nan)  # an absent record answers like the other: there is no third


def atoms(law: Law, direction: str) -> Atoms:
    """One step's atoms under P. ``direction`` (remove or add) matters for Poisson samples only."""
    at0, up, down = base(law)
    q = law.rate
    if law.sample == "none":
        return at0 * np.exp(up), up
    if law.sample == "fixed":
        # For base losses l > 0: ±ln(1 + q(e^l − 1)), the rest at 0.
        here = (up > 0) & (at0 > 0)
        p, y = at0[here] * (1 + q * np.expm1(up[here])), np.log1p(q * np.expm1(up[here]))
        rest = 1 - 2 * at0[here].sum() - q * (at0[here] * np.expm1(up[here])).sum()
        return np.concatenate([p, at0[here], [rest]]), np.concatenate([y, -y, [0.0]])
    y = np.log1p(q * np.expm1(up))
    if law.sample == "replace":
        return at0 * np.exp(y), y - np.log1p(q * np.expm1(down))
    return (at0 * np.exp(y), y) if direction == "remove" else (at0, -y)
