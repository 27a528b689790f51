"""Choosing the best of several candidates: the exponential mechanism, report noisy max, permute-and-flip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightrope.curves.bounded_range import BoundedRange
from tightrope.curves.pure import Pure
from tightrope.mechanisms.base import Leaf, truth_value
from tightrope.numerics.exact import Number, nonnegative
from tightrope.numerics.real import real
from tightrope.theorems import Source, theorem


@dataclass(frozen=True, init=False, repr=False)
class _Selection(Leaf):
    epsilon: Fraction
    monotone: bool

    def __init__(self, epsilon: Number, monotone: bool = False) -> None:
        self._set(epsilon=nonnegative("epsilon", epsilon), monotone=truth_value("monotone", monotone))

    @property
    def defaults(self) -> Mapping[str, Any]:
        """General scores are not printed."""
        return {"monotone": False}


@dataclass(frozen=True, init=False, repr=False)
class Exponential(_Selection):
    """The exponential mechanism: choose candidate r with chance ∝ exp(εu_r/2Δ), where u_r is its score.

    One record changes each score by at most Δ. ``monotone=True`` states that it moves all scores the same way; the
    chance is then ∝ exp(εu_r/Δ).

    >>> print(Exponential(epsilon=1))
    exponential(epsilon=1)
    """

    text_name = "exponential"
    notion = BoundedRange


@dataclass(frozen=True, init=False, repr=False)
class NoisyMax(_Selection):
    """Report which score is largest after Laplace noise of scale 2Δ/ε (Δ/ε if ``monotone``).

    Only the winner's name is released, not its score. ``monotone=True`` states that one record moves all scores the
    same way.

    >>> print(NoisyMax(epsilon=1, monotone=True))
    noisy_max(epsilon=1, monotone=true)
    """

    text_name = "noisy_max"


@dataclass(frozen=True, init=False, repr=False)
class PermuteAndFlip(_Selection):
    """Visit the candidates in random order and accept r with chance exp(ε(u_r − max u)/2Δ), until one is accepted.

    ``monotone=True`` states that one record moves all scores the same way; the 2 is then left out.

    >>> print(PermuteAndFlip(epsilon=0.5))
    permute_and_flip(epsilon=0.5)
    """

    text_name = "permute_and_flip"


@theorem(
    of=Exponential, gives=BoundedRange, kind="equal", role="analysis", source=Source("durfee2019practical", "Sec. 3")
)
def exponential_has_bounded_range(m: Exponential) -> BoundedRange:
    """The exponential mechanism with parameter ε has ε-bounded range."""
    return BoundedRange(real(m.epsilon))


@theorem(of=NoisyMax, gives=Pure, kind="upper", role="analysis", source=Source("dwork2014algorithmic", "Claim 3.9"))
def noisy_max_is_pure(m: NoisyMax) -> Pure:
    """Report noisy max with Laplace noise of scale 2Δ/ε (Δ/ε for monotone scores) is ε-DP."""
    return Pure(real(m.epsilon))


@theorem(of=PermuteAndFlip, gives=Pure, kind="equal", role="analysis", source=Source("mckenna2020permute", "Thm 1"))
def permute_and_flip_is_pure(m: PermuteAndFlip) -> Pure:
    """Permute-and-flip is ε-DP. It does not have ε-bounded range, so the exponential mechanism's ε²/8 is not its
    due."""
    return Pure(real(m.epsilon))
