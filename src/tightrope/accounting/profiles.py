"""The whole privacy profile of a mechanism, read at many points that share their work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tightrope.accounting import ask
from tightrope.accounting.attained import attained_bounds
from tightrope.accounting.routes import exact_route
from tightrope.accounting.tradeoff import tradeoffs
from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.profile import Profile
from tightrope.errors import NotCertified
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
    def _exact(self) -> tuple[Profile, bool] | None:
        """The profile through the law of the loss, where nothing else can be better, and whether it is attained. What
        was computed for some points serves later ones too."""
        route = None if ask.blocks(self.mechanism) else exact_route(self.mechanism)
        if route is None or not (route.kind == "equal" or route.final):
            return None
        try:
            return route.build(), route.kind == "equal"
        except NotCertified:
            return None

    def delta(self, epsilons: Iterable[Number] | Number) -> Arrays:
        """δ at each ε."""
        points = [nonnegative("epsilon", e) for e in _listed(epsilons)]

        def bounds(profile: Profile) -> list[Bound | None]:
            return [None if b is None else Bound.around(b, 0.0, 1.0) for b in profile.deltas(points)]

        shared = zip(points, self._shared(bounds, len(points)), strict=True)
        return _arrays(b or ask.delta(self.mechanism, e).bound for e, b in shared)

    def epsilon(self, deltas: Iterable[Number] | Number) -> Arrays:
        """ε at each δ."""
        points = [probability("delta", d) for d in _listed(deltas)]
        inside = [d for d in points if 0 < d < 1]
        known = dict(zip(inside, self._shared(lambda profile: profile.epsilons(inside), len(inside)), strict=True))
        return _arrays(known.get(d) or ask.epsilon(self.mechanism, d).bound for d in points)

    def _shared(self, bounds: Callable[[Profile], list[Bound | None]], number: int) -> list[Bound | None]:
        """The bounds at many points; None for points that must be asked alone."""
        if self._exact is None or not number:
            return [None] * number
        profile, attained = self._exact
        found = bounds(profile)
        if attained:
            return found
        lower = [0.0] * number
        for known in attained_bounds(self.mechanism, lambda law: bounds(loss_has_profile(law))):
            lower = [best if b is None else max(best, b.lower) for best, b in zip(lower, known, strict=True)]
        return [None if b is None else Bound(min(low, b.upper), b.upper) for b, low in zip(found, lower, strict=True)]

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
