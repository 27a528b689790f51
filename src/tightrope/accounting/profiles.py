"""The whole privacy profile of a mechanism, read at many points that share their work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tightrope.accounting import ask
from tightrope.accounting.solve import tight_profile
from tightrope.accounting.tradeoff import tradeoffs
from tightrope.curves.profile import Profile
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import Number, nonnegative, probability

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Arrays = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True)
class MechanismProfile:
    """δ(ε), ε(δ) and the trade-off curve of one mechanism; each method returns the arrays (lower, upper)."""

    mechanism: Mechanism

    @cached_property
    def _tight(self) -> Profile | None:
        """The profile itself where it is known; what was computed for some points serves later ones too."""
        return None if ask.blocks(self.mechanism) else tight_profile(self.mechanism)

    def delta(self, epsilons: Iterable[Number] | Number) -> Arrays:
        """δ at each ε."""
        points = [nonnegative("epsilon", e) for e in _listed(epsilons)]
        shared = self._tight.deltas(points) if self._tight is not None else [None] * len(points)
        pairs = zip(points, shared, strict=True)  # points without a shared answer are asked alone
        return _arrays(ask.delta(self.mechanism, e).bound if b is None else Bound.around(b, 0.0, 1.0) for e, b in pairs)

    def epsilon(self, deltas: Iterable[Number] | Number) -> Arrays:
        """ε at each δ."""
        points = [probability("delta", d) for d in _listed(deltas)]
        inside = [d for d in points if 0 < d < 1]
        shared = self._tight.epsilons(inside) if self._tight is not None else [None] * len(inside)
        known = dict(zip(inside, shared, strict=True))
        return _arrays(known.get(d) or ask.epsilon(self.mechanism, d).bound for d in points)

    def tradeoff(self, fprs: Iterable[Number] | Number) -> Arrays:
        """The least false-negative rate at each false-positive rate; here the lower array is the safe one."""
        points = [probability("fpr", a) for a in _listed(fprs)]
        return _arrays(claim.bound for claim in tradeoffs(self.mechanism, points))


def _arrays(bounds: Iterable[Bound]) -> Arrays:
    import numpy as np

    ends = [(b.lower, b.upper) for b in bounds]
    lower, upper = np.array(ends, dtype=np.float64).reshape(-1, 2).T
    return lower, upper


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
