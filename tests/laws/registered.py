"""An example of everything registered, so that every law is tried on every mechanism there is."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import tightrope as tr
from tightrope.accounting.text import LEAVES

EXAMPLES: dict[str, tuple[Any, ...]] = {
    "gaussian": (tr.Gaussian(2), tr.Gaussian("0.7", "1/3"), tr.Gaussian(3, grid=2**-10)),
    "laplace": (tr.Laplace(2), tr.Laplace(0.5, 2)),
    "discrete_gaussian": (tr.DiscreteGaussian(3), tr.DiscreteGaussian(2, 2, 3)),
    "discrete_laplace": (tr.DiscreteLaplace(2), tr.DiscreteLaplace(2, 3)),
    "randomized_response": (
        tr.RandomizedResponse(1),
        tr.RandomizedResponse(0.5, k=4),
        tr.RandomizedResponse(p=0.75, k=3),
        tr.RandomizedResponse(p=0.1, k=5),
    ),
    "leaky_input": (tr.LeakyInput(1e-6), tr.LeakyInput(0.25)),
    "leaky_randomized_response": (tr.LeakyRandomizedResponse(0.5, 1e-7),),
    "gaussian_pair": (tr.GaussianPair(1, 1.1, 0, 1), tr.GaussianPair(0, 1, 0, 1.25)),
    "table": (
        tr.Table([0.5, 0.25, 0.25], [0.25, 0.25, 0.5]),
        tr.Table(["1/3", "1/3", "1/3", 0], ["1/2", "1/4", 0, "1/4"]),
    ),
    "exponential": (tr.Exponential(0.5), tr.Exponential(1, monotone=True)),
    "noisy_max": (tr.NoisyMax(0.5),),
    "permute_and_flip": (tr.PermuteAndFlip(0.5),),
    "above_threshold": (tr.AboveThreshold(0.25, 0.5, count=3),),
    "staircase": (tr.Staircase(0.5), tr.Staircase(1, gamma=0.75)),
    "pure": (tr.Pure(0.5),),
    "approx": (tr.Approx(0.1, 1e-8), tr.Approx(0.25, 0)),
    "zcdp": (tr.ZCDP(0.1), tr.ZCDP(0.1, xi=0.05), tr.ZCDP(0.1, xi=-0.05, delta=1e-9)),
    "tcdp": (tr.TCDP(0.1, 20),),
    "cdp": (tr.CDP(0.3, 0.7),),
    "gdp": (tr.GDP(0.5),),
    "rdp": (tr.RDP({2: 0.1, 8: 0.5, 32: 2.5}),),
}

SAMPLED: tuple[Any, ...] = (
    tr.Gaussian(1).poisson(0.01),
    tr.Gaussian(1).poisson(0.25, relation="replace"),
    tr.RandomizedResponse(1, k=3).poisson("1/3"),
    tr.Pure(1).poisson(0.1),
    tr.Gaussian(1).without_replacement(10, 100),
    tr.Gaussian(1).without_replacement(10, 100, relation="add-remove"),
    tr.Staircase(1).without_replacement(1, 4),
    tr.Laplace(1).poisson(0.25, relation="replace"),
    tr.RandomizedResponse(1).poisson("1/3", relation="replace"),
    tr.Gaussian(1).with_replacement(3, 100),
    tr.Laplace(2).with_replacement(2, 10),
    tr.Gaussian(1).poisson(0.01, max_batch=40, population=1000),
)

SHARED: tuple[Any, ...] = (
    tr.RandomizedResponse(1).shuffled(1000),
    tr.Laplace(1).shuffled(20),
    tr.Gaussian(1, 2).shuffled_batches(50),
    tr.Gaussian(2).allocated(40),
)

COMBINED: tuple[Any, ...] = (
    tr.Gaussian(3) * 7,
    tr.Gaussian(2) * 3 + tr.RandomizedResponse(1) * 5,
    tr.Laplace(2) + tr.Approx(0.1, 1e-8) * 4 + tr.Gaussian(4),
    (tr.Laplace(2) + tr.ZCDP(0.1)) * 3,
    tr.Gaussian(2).group(3),
    tr.ZCDP(0.1, xi=-0.05).group(2),
    tr.TCDP(0.05, 40).group(4) * 2,
    tr.Approx(0.1, 1e-8).group(3),
    tr.RandomizedResponse(0.5, k=4) * 20,
    tr.Parallel(tr.Laplace(1), tr.Gaussian(2)),
    tr.Parallel(tr.Laplace(2), tr.Gaussian(3), relation="replace"),
    tr.Gaussian(1).poisson(0.05) * 10 + tr.Laplace(4),
    tr.Gaussian(1).poisson(0.05).group(2),
    tr.GaussianPair(1, 1.1, 0, 1) * 2,
    *SAMPLED,
    *SHARED,
)

ALL_LEAVES: tuple[Any, ...] = tuple(m for name in LEAVES for m in EXAMPLES.get(name, ()))
FIRST: tuple[Any, ...] = tuple(EXAMPLES[name][0] for name in LEAVES if name in EXAMPLES)
EVERYTHING: tuple[Any, ...] = (*ALL_LEAVES, *COMBINED)
# Where a law is asked of many repetitions, one sampled Gaussian speaks for all of its kind.
QUICK: tuple[Any, ...] = tuple(m for m in EVERYTHING if "gaussian(sigma=1)." not in str(m) or m is SAMPLED[0])

QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "epsilon": lambda m: tr.epsilon(m, delta=1e-5),
    "epsilon at 0.01": lambda m: tr.epsilon(m, delta=0.01),
    "delta": lambda m: tr.delta(m, epsilon=0.3),
    "advantage": tr.advantage,
    "pure": tr.pure,
    "renyi": lambda m: tr.renyi(m, order=3),
    "zcdp": tr.zcdp,
    "tcdp": lambda m: tr.tcdp(m, omega=5),
    "gdp": tr.gdp,
    "tradeoff": lambda m: tr.tradeoff(m, fpr=0.1),
}


@lru_cache(4096)  # many laws begin with the same claims
def answer(m: Any, name: str) -> Any:
    """The claim, or None where the question is refused by name."""
    try:
        return QUESTIONS[name](m)
    except tr.Unsupported:
        return None


def answers(m: Any, *names: str) -> Iterator[tuple[str, Any]]:
    """The claims about ``m``, but for the questions that are refused by name."""
    for name in names or tuple(QUESTIONS):
        claim = answer(m, name)
        if claim is not None:
            yield name, claim


def overlap(a: Any, b: Any) -> bool:
    """Whether two enclosures can hold the same number."""
    return a.lower <= b.upper and b.lower <= a.upper


def sane(claim: Any) -> None:
    """What every claim promises: ordered, never NaN, and within the range of its notion."""
    assert claim.lower <= claim.upper  # False for NaN
    assert claim.lower >= 0
    assert str(claim.lower) != "-0.0"
    if claim.question.ask in ("delta", "advantage", "tradeoff"):
        assert claim.upper <= 1
    assert claim.computed.lower <= claim.computed.upper
    assert claim.safe in (claim.lower, claim.upper)
    assert float(claim) == claim.safe


def near(a: float, b: float, relative: float = 1e-9) -> bool:
    """Equal infinities, or floats that differ by rounding."""
    return a == b or abs(a - b) <= relative * max(abs(a), abs(b))
