"""ε of the compositions that have a closed form, in mpmath: for settings in which a grid of floats sees nothing."""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
from reference_grid import Part

DIGITS = 60
RELATIVE = 1e-13  # of a root found here
TOP = 1e-6  # a δ so far below the mass of the largest loss is only met near that loss


def closed_reference(parts: list[Part], delta: float) -> tuple[float, float] | None:
    """(ε, its error), or None where no closed form is known."""
    with mp.workdps(DIGITS):
        if not any(p.sigma for p in parts):
            return _near_the_top(parts, mp.mpf(delta))
        if all(p.sigma and p.rate == 1 for p in parts):
            mu = mp.sqrt(sum(p.count / mp.mpf(p.sigma) ** 2 for p in parts))
            return _root(lambda x: _normal(mu, x), mp.mpf(delta))
        if len(parts) == 1 and parts[0].count == 1:
            return _root(lambda x: _one_step(parts[0], x), mp.mpf(delta))
    return None


def _near_the_top(parts: list[Part], delta: mp.mpf) -> tuple[float, float] | None:
    """δ(x) ≥ p(1 − e^{x−l}) with the largest loss l and its mass p; δ(l) = 0."""
    losses = [(p.count, mp.mpf(p.answer) if p.answer else 1 / mp.mpf(p.scale), p.answer) for p in parts]
    largest = sum(n * e for n, e, _ in losses)
    mass = mp.mpf(1)
    for n, e, answer in losses:
        mass *= (1 / (1 + mp.exp(-e)) if answer else mp.mpf(1) / 2) ** n
    if delta > TOP * mass:
        return None
    return float(largest), float(-mp.log1p(-delta / mass)) + RELATIVE * float(largest)


def _root(profile: Callable[[mp.mpf], mp.mpf], delta: mp.mpf) -> tuple[float, float]:
    """Where a falling profile meets δ, by halving."""
    low, high = mp.mpf(0), mp.mpf(2) ** -40
    if profile(low) <= delta:
        return 0.0, 0.0
    while profile(high) > delta:
        low, high = high, 2 * high
    while high - low > RELATIVE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if profile(middle) > delta else (low, middle)
    return float(high), RELATIVE * 4 * float(high)


def _above(x: mp.mpf) -> mp.mpf:
    return mp.erfc(x / mp.sqrt(2)) / 2


def _normal(mu: mp.mpf, x: mp.mpf) -> mp.mpf:
    return _above(x / mu - mu / 2) - mp.exp(x) * _above(x / mu + mu / 2)


def _one_step(part: Part, x: mp.mpf) -> mp.mpf:
    """The larger of both directions of one sampled Gaussian step: the likelihood ratio rises with z."""
    s, q = mp.mpf(part.sigma), mp.mpf(part.rate)

    def crossing(loss: mp.mpf) -> mp.mpf | None:
        ratio = (mp.expm1(loss) + q) / q
        return s * mp.log(ratio) + 1 / (2 * s) if ratio > 0 else None

    z = crossing(x)
    assert z is not None
    removed = (1 - q - mp.exp(x)) * _above(z) + q * _above(z - 1 / s)
    z = crossing(-x)
    if z is None:  # the loss of an added record is bounded
        return removed
    added = (1 - mp.exp(x) * (1 - q)) * _above(-z) - mp.exp(x) * q * _above(1 / s - z)
    return max(removed, added)
