"""The sparse vector technique: report which queries are above a threshold, pay only for the positives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightrope.curves.loss import Loss
from tightrope.curves.loss_renyi import LossRenyi
from tightrope.curves.pure import Pure
from tightrope.curves.renyi import LinearRenyi, Renyi, SummedRenyi
from tightrope.mechanisms.base import Leaf, truth_value
from tightrope.mechanisms.laplace import LaplacePair
from tightrope.numerics.exact import Number, count, nonnegative
from tightrope.numerics.real import ZERO, real
from tightrope.theorems import Source, theorem


@dataclass(frozen=True, init=False, repr=False)
class AboveThreshold(Leaf):
    """The sparse vector technique: say which queries lie above a threshold, and stop after ``count`` that do.

    The threshold has noise Lap(Δ/ε₁), drawn once, and each query Lap(2cΔ/ε₂) (cΔ/ε₂ if ``monotone``), where ε₁ is
    ``epsilon_threshold``, ε₂ is ``epsilon_queries`` and c is ``count``.

    >>> print(AboveThreshold(0.5, 0.5, count=3))
    above_threshold(epsilon_threshold=0.5, epsilon_queries=0.5, count=3)
    """

    epsilon_threshold: Fraction
    epsilon_queries: Fraction
    count: int
    monotone: bool
    text_name = "above_threshold"

    def __init__(
        self, epsilon_threshold: Number, epsilon_queries: Number, count: Number = 1, monotone: bool = False
    ) -> None:
        self._set(
            epsilon_threshold=nonnegative("epsilon_threshold", epsilon_threshold),
            epsilon_queries=nonnegative("epsilon_queries", epsilon_queries),
            count=_count("count", count),
            monotone=truth_value("monotone", monotone),
        )

    @property
    def defaults(self) -> Mapping[str, Any]:
        """One positive and general queries are not printed."""
        return {"count": 1, "monotone": False}


_count = count  # the class has a field of that name


@theorem(
    of=AboveThreshold, gives=Pure, kind="upper", role="analysis", source=Source("lyu2017understanding", "Thm 4, Alg. 7")
)
def above_threshold_is_pure(m: AboveThreshold) -> Pure:
    """The sparse vector technique is (ε₁ + ε₂)-DP, however many queries stay below the threshold."""
    return Pure(real(m.epsilon_threshold + m.epsilon_queries))


@theorem(
    of=AboveThreshold,
    gives=Renyi,
    kind="upper",
    role="analysis",
    source=Source("tightrope", "the sparse vector technique"),
)
def above_threshold_is_renyi(m: AboveThreshold) -> Renyi:
    """D_α is at most that of the threshold's Laplace noise plus ε₂: shift the threshold by Δ, then each positive
    costs ε₂/c."""
    threshold = LossRenyi(Loss(((LaplacePair(m.epsilon_threshold), 1),))) if m.epsilon_threshold else LinearRenyi(ZERO)
    return SummedRenyi(((threshold, 1), (LinearRenyi(ZERO, real(m.epsilon_queries)), 1)))
