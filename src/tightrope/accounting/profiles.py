"""The whole privacy profile of a mechanism, read at many points."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tightrope.accounting import ask
from tightrope.accounting.claim import Claim
from tightrope.accounting.tradeoff import tradeoff
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.exact import Number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Arrays = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True)
class MechanismProfile:
    """δ(ε), ε(δ) and the trade-off curve of one mechanism; each method returns the arrays (lower, upper)."""

    mechanism: Mechanism

    def delta(self, epsilons: Iterable[Number] | Number) -> Arrays:
        """δ at each ε."""
        return _arrays(lambda e: ask.delta(self.mechanism, e), epsilons)

    def epsilon(self, deltas: Iterable[Number] | Number) -> Arrays:
        """ε at each δ."""
        return _arrays(lambda d: ask.epsilon(self.mechanism, d), deltas)

    def tradeoff(self, fprs: Iterable[Number] | Number) -> Arrays:
        """The least false-negative rate at each false-positive rate; here the lower array is the safe one."""
        return _arrays(lambda a: tradeoff(self.mechanism, a), fprs)


def _arrays(answer: Callable[[Any], Claim], points: Iterable[Number] | Number) -> Arrays:
    import numpy as np

    claims = [answer(x) for x in _listed(points)]
    return np.array([c.lower for c in claims], dtype=np.float64), np.array([c.upper for c in claims], dtype=np.float64)


def _listed(points: Any) -> list[Any]:
    if isinstance(points, str):
        return [points]
    try:
        return list(points)
    except TypeError:
        return [points]  # a single number, or something that will be refused by name


def profile(mechanism: Mechanism) -> MechanismProfile:
    """The privacy profile of a mechanism.

    >>> from tightrope import Laplace
    >>> lower, upper = profile(Laplace(scale=1)).delta([0, 0.5, 1])
    >>> [round(float(x), 4) for x in upper]
    [0.3935, 0.2212, 0.0]
    """
    return MechanismProfile(ask.checked(mechanism))
