"""The whole privacy profile of a mechanism, read at many points that share their work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tightrope.accounting import ask
from tightrope.accounting.attained import attained_bounds
from tightrope.accounting.ends import Ends, both, carried
from tightrope.accounting.facts import fact
from tightrope.accounting.filled import falling, filled_delta, filled_epsilon
from tightrope.accounting.group_laws import group_laws
from tightrope.accounting.routes import Route, law_route, routes
from tightrope.accounting.solve import LAWS, best_delta
from tightrope.accounting.terms import terms
from tightrope.accounting.tradeoff import tradeoffs
from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.engines.rarity import rare
from tightrope.curves.ladders import fewer_for_many_points, fewest
from tightrope.curves.loss import Loss
from tightrope.curves.loss_renyi import loss_has_renyi
from tightrope.curves.profile import Profile
from tightrope.curves.renyi_profile import renyi_to_profile
from tightrope.errors import NotCertified
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.sampled import cut_batches
from tightrope.numerics.bound import Bound
from tightrope.numerics.effort import affords, allowed, left
from tightrope.numerics.exact import Number, nonnegative, probability
from tightrope.numerics.many_roots import ends_first, spread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Arrays = tuple[NDArray[np.float64], NDArray[np.float64]]

Together = Callable[[Profile, list[Fraction]], list[Bound | None]]  # what a profile says at many points
_WORK = 2.2e6  # units of work for all points together
_KINDS, _MANY, _FOR_MANY = 40, 50, 2.0  # very many kinds, or points; more work for these
_KEPT = 2e5  # of it for points that are asked alone
_ABOVE, _EACH = 0.7, 0.6  # of it for upper ends, where other laws tell the lower; of what is left for each of these
_BELOW = 0.5  # of what is left, for all of these, where other routes may have lesser upper ends
_ALL, _RARE, _HALF = 0.8, 0.2, 0.5  # where laws of fewer kinds tell ends: of the work, for all; for upper ends
_MOSTLY = 0.8  # for the former of these
_NEARLY, _NOTHING = 0.9, 1e-300  # ends further apart are told by these
_ALONE = 1e5  # with less left than that, no point is asked alone
_SLOW, _PAIRED = "rdp-optimal", {"exact", "group", "optimal"}  # a route that is not worth its time beside these
_SHARE = 0.3  # of what is left, for one that is
_FEW = 8  # points for each of which no effort is spared
_TOGETHER, _MORE = (0.7, 0.15), 0.5  # shares of what is left: for what δ or ε of these share, and for each alone
_NARROW = 0.97  # of few points those that are known less well are asked alone, too


@dataclass(frozen=True)
class MechanismProfile:
    """δ(ε), ε(δ) and the trade-off curve of one mechanism; each method returns the arrays (lower, upper)."""

    mechanism: Mechanism

    @cached_property
    def _exact(self) -> tuple[Profile, bool] | None:
        """The profile through the law of the loss, where nothing else can be better, and whether it is attained. What
        was computed for some points serves later ones too."""
        route = None if ask.blocks(self.mechanism) else law_route(self.mechanism)
        if route is None or not (route.kind == "equal" or route.final):
            return None
        try:
            return route.build(), route.kind == "equal"
        except NotCertified:
            return None

    def _work(self, number: int) -> float:
        """That all points are allowed; more if they are many, or if there are very many kinds of parts."""
        return _WORK * (_FOR_MANY if number > _MANY or len(terms(self.mechanism)) > _KINDS else 1.0)

    def delta(self, epsilons: Iterable[Number] | Number) -> Arrays:
        """δ at each ε."""
        asked = [nonnegative("epsilon", e) for e in _listed(epsilons)]
        points = list(dict.fromkeys(asked))

        def together(profile: Profile, some: list[Fraction]) -> list[Bound | None]:
            return [None if b is None else Bound.around(b, 0.0, 1.0) for b in profile.deltas(some)]

        def alone(e: Fraction) -> Bound:
            few = len(points) <= _FEW or ask.blocks(self.mechanism)
            return ask.delta(self.mechanism, e).bound if few else best_delta(self.mechanism, e, effort=0).bound

        work = self._work(len(points))
        with allowed(work):
            with allowed(work - _KEPT):
                known = self._shared(together, points, _TOGETHER[0])
            return _arrays(_completed(known, alone, filled_delta, sorted), asked)

    def epsilon(self, deltas: Iterable[Number] | Number) -> Arrays:
        """ε at each δ."""
        asked = [probability("delta", d) for d in _listed(deltas)]
        points = list(dict.fromkeys(asked))
        inside = [d for d in points if 0 < d < 1]

        def together(profile: Profile, some: list[Fraction]) -> list[Bound | None]:
            return profile.epsilons(some)

        def alone(d: Fraction) -> Bound:
            return ask.epsilon(self.mechanism, d).bound

        work = self._work(len(inside))
        with allowed(work):
            with allowed(work - _KEPT):
                known = self._shared(together, inside, _TOGETHER[1])
            ends = {d: alone(d) for d in points if d not in known}
            return _arrays({**_completed(known, alone, filled_epsilon, spread), **ends}, asked)

    def _shared(self, together: Together, points: list[Fraction], share: float) -> dict[Fraction, Bound | None]:
        """The bounds at many points; None for points that must be asked alone."""
        attained = self._exact is not None and self._exact[1]
        if not attained and (len(points) <= _FEW or ask.blocks(self.mechanism)):
            return dict.fromkeys(points)
        if self._exact is not None and self._exact[1]:
            with allowed(share * left() if len(points) <= _FEW else self._of_all() * left()):
                found = together(self._exact[0], points)
            return self._bracketed(together, dict(zip(points, found, strict=True)))
        ends = Ends(points)
        law = None if cut_batches(self.mechanism) else law_route(self.mechanism)
        with allowed(_ABOVE * left()), suppress(NotCertified):
            if self._exact is not None:
                ends.above(together(self._exact[0], points), points)
            elif law is not None:
                ends.above(together(law.build(), points), points)
        with allowed((1.0 if self._exact is not None else _BELOW) * left()):
            for known in attained_bounds(self.mechanism, lambda one: self._told(together, points, one)):
                ends.below(known)
                if not ends.wide():
                    break
        if self._exact is None:
            self._by_routes(ends, together, law)
        return ends.bounds()

    @cached_property
    def _fewer(self) -> tuple[tuple[Loss, Loss], ...]:
        """Laws of fewer kinds above and below that of very many, and of fewest; none of a group, which may have several
        laws."""
        known = None if group_laws(self.mechanism) is not None else fact(self.mechanism, Loss)
        few = None if known is None else fewer_for_many_points(known.curve)
        if known is None or few is None:
            return ()
        last = None if rare(few[0]) else fewest(known.curve)
        return (few,) if last is None else (few, last)

    def _of_all(self) -> float:
        """The share of the law itself: all, unless others tell something where it gives up, as of rare losses."""
        if not self._fewer:
            return 1.0
        return _RARE if rare(self._fewer[0][0]) else _ALL

    def _bracketed(self, together: Together, found: dict[Fraction, Bound | None]) -> dict[Fraction, Bound | None]:
        """Of very many kinds: where little was found, laws of fewer kinds tell both ends."""
        missing = _far_apart(found)
        if len(found) <= _FEW or not missing or not self._fewer:
            return found
        ends = Ends(missing)
        ends.above([found[x] for x in missing], missing)
        ends.below([found[x] for x in missing])
        for (above, below), share in zip(self._fewer, (_MOSTLY, 1.0), strict=False):
            with allowed(share * left()):
                far = _far_apart(ends.bounds())
                with allowed(_HALF * left()), suppress(NotCertified):
                    ends.above(together(loss_has_profile(above), far), far)
                with suppress(NotCertified):
                    ends.below(together(loss_has_profile(below), far), far)
        far = _far_apart(ends.bounds())
        curve = loss_has_renyi(self._fewer[-1][0])
        if curve is not None:  # of few kinds it costs little
            with suppress(NotCertified):
                ends.above(together(renyi_to_profile(curve), far), far)
        return carried(found | ends.bounds())

    def _told(self, together: Together, points: list[Fraction], law: Loss) -> list[Bound | None]:
        """What a law that is attained says."""
        if not affords(_ALONE):
            raise NotCertified("a lower end", "the work allowed to one question is spent")
        with allowed(_EACH * left()):
            return together(loss_has_profile(law), points)

    def _by_routes(self, ends: Ends, together: Together, law: Route | None) -> None:
        """The least upper ends of all other routes, each of which is built once and asked for points that are not
        known closely."""
        names = set[str]() if law is None or ends.missing() else {law.name}
        others = [one for one in routes(self.mechanism) if one.effort == 0 and (law is None or one.name != law.name)]
        for i, route in enumerate(sorted(others, key=lambda route: route.name == _SLOW)):
            wide = ends.wide()
            if not wide or (route.name == _SLOW and names & _PAIRED):
                continue
            share = _EACH if route.name in LAWS else 1 / (len(others) - i)
            with allowed(share * left()), suppress(NotCertified):
                ends.above(together(route.build(), wide), wide)
                names.add(route.name)

    def tradeoff(self, fprs: Iterable[Number] | Number) -> Arrays:
        """The least false-negative rate at each false-positive rate; here the lower array is the safe one."""
        asked = [probability("fpr", a) for a in _listed(fprs)]
        points = list(dict.fromkeys(asked))
        bounds = [found.bound for found in tradeoffs(self.mechanism, points)]
        return _arrays(dict(zip(points, bounds, strict=True)), asked)


def _far_apart(found: dict[Fraction, Bound | None]) -> list[Fraction]:
    """Where little is known, but for what is next to nothing."""
    return [x for x, b in found.items() if b is None or (b.lower < b.upper * _NEARLY and b.upper > _NOTHING)]


def _completed(
    known: dict[Fraction, Bound | None],
    alone: Callable[[Fraction], Bound],
    filled: Callable[[Iterable[tuple[Fraction, Bound]], Fraction], Bound | None],
    order: Callable[[list[Fraction]], list[Fraction]] = sorted,
) -> dict[Fraction, Bound]:
    """Points that are not known are asked alone; where no work is left, their neighbours tell; ``order``: of few."""
    few = len(known) <= _FEW
    found = {x: b for x, b in known.items() if b is not None and not (few and b.lower < b.upper * _NARROW)}
    told = {}
    missing = sorted(x for x in known if x not in found)
    # of few, the extremes come last: they may take all that is left, and say little of the others
    for x in order(missing) if few else ends_first(missing):
        neighbour = None if affords(_ALONE) else filled(found.items(), x)
        if neighbour is not None:
            told[x] = neighbour
            continue
        with allowed(max((_MORE if few else _SHARE) * left(), _ALONE)):
            found[x] = alone(x)
    return falling({x: both(bound, known.get(x)) for x, bound in (found | told).items()})


def _arrays(bounds: dict[Fraction, Bound], points: list[Fraction]) -> Arrays:
    import numpy as np

    ends = [(bounds[x].lower, bounds[x].upper) for x in points]
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
    """The whole privacy profile, to be read at many points at once; they share their work.

    Returns an object with ``.delta(epsilons)``, ``.epsilon(deltas)`` and ``.tradeoff(fprs)``; each takes a list and
    returns two arrays, (lower, upper).

    >>> from tightrope import Laplace
    >>> lower, upper = profile(Laplace(scale=1)).delta([0, 0.5, 1])
    >>> [round(float(x), 4) for x in upper]
    [0.3935, 0.2212, 0.0]
    """
    return MechanismProfile(ask.checked(mechanism))
