"""Random compositions of all kinds of noise and samples, judged by δ at both ends of the enclosure of ε."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from random_settings import short
from reference_atoms import RESOLVED, log_delta
from reference_laws import Law

import tightrope as tr

NOISES = ("gaussian", "discrete_gaussian", "laplace", "discrete_laplace", "response")
POPULATION = 100_000


@dataclass(frozen=True)
class Verdict:
    """What was asked, the enclosure, and by how much ln δ of the reference exceeds what was asked at both of its ends,
    with the error of that."""

    laws: list[Law]
    delta: float
    lower: float
    upper: float
    above: tuple[float, float]
    below: tuple[float, float]

    @property
    def resolved(self) -> bool:
        """The reference is sharp enough to judge."""
        return max(self.above[1], self.below[1]) <= RESOLVED

    @property
    def missed(self) -> bool:
        """δ at the upper end is larger than asked for, or at the lower end smaller, beyond the reference's error."""
        return self.resolved and (self.above[0] > self.above[1] or self.below[0] < -self.below[1])

    @property
    def gap(self) -> float:
        return (self.upper - self.lower) / self.upper if self.upper else 0.0


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return short(float(np.exp(rng.uniform(np.log(low), np.log(high)))))


def random_law(rng: np.random.Generator, relation: str) -> Law:
    """Some noise, sampled mostly: at rates 1e-5–1 up to 10⁷ times; otherwise up to 30 times."""
    noise = str(rng.choice(NOISES))
    scale = log_uniform(rng, 0.05, 1.5) if noise == "response" else log_uniform(rng, 0.3, 20)
    answers = int(rng.choice([2, 3, 10]))
    if rng.random() < 0.2:
        scale = max(scale, 1.0) if noise == "gaussian" else scale
        return Law(noise, scale, int(log_uniform(rng, 1, 30)), answers=answers)
    exchanged = noise != "response" and rng.random() < 0.6  # an absent response has no law of its own
    sample = "poisson" if relation == "add-remove" else "replace" if exchanged else "fixed"
    rate = log_uniform(rng, 1e-5, 1)
    if sample == "fixed":
        rate = max(1, round(rate * POPULATION)) / POPULATION
    return Law(noise, scale, int(log_uniform(rng, 1, 1e7)), sample, min(rate, 0.999), answers)


def random_laws(rng: np.random.Generator) -> tuple[list[Law], float]:
    """One to three laws with a moderate total loss, and δ from 1e-40 to 0.1."""
    delta = short(float(10 ** -rng.uniform(1, 40)))
    relation = str(rng.choice(["add-remove", "replace"]))
    while True:
        laws = [random_law(rng, relation) for _ in range(rng.choice([1, 2, 3], p=[0.6, 0.3, 0.1]))]
        if sum(spread(law) for law in laws) < 400:
            return laws, delta


def spread(law: Law) -> float:
    """About the variance of the composed loss."""
    one = law.scale if law.noise == "response" else 1 / law.scale
    return law.count * law.rate**2 * float(np.expm1(min(one**2, 50.0)))


def mechanism(laws: list[Law]) -> tr.Mechanism:
    """The same as a tree."""
    whole: tr.Mechanism | None = None
    for law in laws:
        leaf: tr.Mechanism = {
            "gaussian": tr.Gaussian,
            "discrete_gaussian": tr.DiscreteGaussian,
            "laplace": tr.Laplace,
            "discrete_laplace": tr.DiscreteLaplace,
            "response": lambda epsilon, k=law.answers: tr.RandomizedResponse(epsilon=epsilon, k=k),
        }[law.noise](law.scale)
        if law.sample == "fixed":
            leaf = leaf.without_replacement(round(law.rate * POPULATION), POPULATION)
        elif law.sample != "none":
            leaf = leaf.poisson(law.rate, relation="replace" if law.sample == "replace" else "add-remove")
        whole = leaf * law.count if whole is None else whole + leaf * law.count
    assert whole is not None
    return whole


def verdict(laws: list[Law], delta: float, size: int) -> Verdict:
    """Ask both. Of fixed-size samples the value of the dominating pair is judged, which no real pair may reach."""
    bound = tr.epsilon(mechanism(laws), delta=delta).computed

    def excess(end: float) -> tuple[float, float]:
        if end <= 0:
            return 0.0, 0.0  # nothing is said of δ there
        value, error = log_delta(laws, end, size)
        return value - float(np.log(delta)), error

    return Verdict(laws, delta, bound.lower, bound.upper, excess(bound.upper), excess(bound.lower))
