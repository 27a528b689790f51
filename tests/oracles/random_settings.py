"""Random accounting questions and whether tightrope's enclosure agrees with a reference: a closed form, or a grid."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np
from reference_closed import closed_reference
from reference_grid import Part, reference

import tightrope as tr


@dataclass(frozen=True)
class Outcome:
    """One setting: what was asked, both answers, and whether they contradict each other."""

    parts: list[Part]
    delta: float
    lower: float
    upper: float
    value: float
    error: float

    @property
    def resolved(self) -> bool:
        """The reference is sharp enough to judge."""
        return isfinite(self.error) and bool(self.error <= 0.05 * self.value)

    @property
    def missed(self) -> bool:
        """The enclosure lies beside the reference by more than the reference's own error."""
        if not self.resolved:
            return False
        return bool(self.lower > self.value + self.error or self.upper < self.value - self.error)

    @property
    def gap(self) -> float:
        return (self.upper - self.lower) / self.upper if self.upper else 0.0


def short(x: float) -> float:
    """Three digits, so that the decimal that is printed is the number that is meant."""
    return float(f"{x:.3g}")


def random_part(rng: np.random.Generator, most: float) -> Part:
    """A sampled Gaussian mostly; now and then a Gaussian, Laplace or randomized response."""
    kind = rng.choice(["sampled", "gaussian", "laplace", "response"], p=[0.7, 0.1, 0.1, 0.1])
    few = int(np.exp(rng.uniform(0, np.log(30))))
    if kind == "laplace":
        return Part(few, scale=short(np.exp(rng.uniform(np.log(1), np.log(20)))))
    if kind == "response":
        return Part(few, answer=short(np.exp(rng.uniform(np.log(0.05), np.log(1)))))
    sigma = short(np.exp(rng.uniform(np.log(0.3), np.log(20))))
    if kind == "gaussian":
        return Part(few, sigma=max(sigma, 1.0))
    rate = short(np.exp(rng.uniform(np.log(1e-5), 0)))
    return Part(int(np.exp(rng.uniform(0, np.log(most)))), sigma=sigma, rate=rate)


def random_setting(rng: np.random.Generator, most: float = 1e7) -> tuple[list[Part], float]:
    """One to three parts with a moderate total loss, and δ from 1e-40 to 0.1. Sampled: σ 0.3–20, q 1e-5–1."""
    delta = short(10 ** -rng.uniform(1, 40))
    while True:
        parts = [random_part(rng, most) for _ in range(rng.choice([1, 2, 3], p=[0.7, 0.2, 0.1]))]
        spread = sum(spread_of(p) for p in parts)
        if spread < 400:
            return parts, delta


def spread_of(part: Part) -> float:
    """About the variance of the composed loss: keeps ε within what a float grid resolves."""
    if part.sigma:
        return part.count * part.rate**2 * np.expm1(min(part.sigma**-2, 50.0))
    return part.count * (part.answer or 1 / part.scale) ** 2


def mechanism(parts: list[Part]) -> tr.Mechanism:
    """The same composition as a tree."""
    whole = None
    for p in parts:
        if p.scale:
            leaf: tr.Mechanism = tr.Laplace(p.scale)
        elif p.answer:
            leaf = tr.RandomizedResponse(epsilon=p.answer)
        else:
            leaf = tr.Gaussian(p.sigma) if p.rate == 1 else tr.Gaussian(p.sigma).poisson(p.rate)
        whole = leaf * p.count if whole is None else whole + leaf * p.count
    assert whole is not None
    return whole


def outcome(parts: list[Part], delta: float, size: int) -> Outcome:
    """Ask both."""
    claim = tr.epsilon(mechanism(parts), delta=delta)
    value, error = closed_reference(parts, delta) or reference(parts, delta, size)
    return Outcome(parts, delta, claim.lower, claim.upper, value, error)
