"""The trade-off curve: the least false-negative rate an attacker can have at a given false-positive rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from tightrope.accounting.ask import checked, claim
from tightrope.accounting.attained import attained_bounds
from tightrope.accounting.claim import Claim, Question
from tightrope.accounting.facts import fact
from tightrope.accounting.group_laws import group_laws
from tightrope.accounting.known import line
from tightrope.accounting.law_tradeoff import profile_to_tradeoff, tradeoffs_of
from tightrope.accounting.routes import Route, exact_route, group_route, routes
from tightrope.accounting.solve import Answer
from tightrope.accounting.terms import terms
from tightrope.curves.engines.rarity import rare
from tightrope.curves.ladders import fewest, kinds, loss_is_dominated_by_fewer_kinds
from tightrope.curves.loss import Loss
from tightrope.curves.profile import Profile
from tightrope.curves.tradeoff import guarantees_have_tradeoff
from tightrope.errors import NotCertified
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.balls import Ball, ball, lower_float, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.effort import affords, allowed, left
from tightrope.numerics.exact import Number, probability, shortest
from tightrope.theorems import Step

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_FINE = 1e-7  # a smaller gap does not show beside what separates attained laws from dominating ones
_WORK, _EXACT, _EACH = 1.9e6, 0.6, 0.6  # units of work; shares of it for the law, and of the rest for each attained
_KINDS, _FOR_KINDS = 40, (1.5, 2.0)  # very many kinds of parts; times as much work for these: at few rates, at many
_SEVERAL = 16  # kinds of which the law itself is tried with all the work
_OWN, _RARE = 0.75, 0.2  # of it for the law itself, where fewer kinds tell something; and for one of rare losses
_HALF = 0.5  # of what is left, for a law of fewer kinds
_WIDE = 1e-3  # ends so far apart are those of such a law, if they are better
_LEAST = 1e5  # with less left no law is asked for the other end
_FEW = 8  # rates, more of which share their ε
_SLOW = ("rdp-optimal", "group")  # a ladder of its searches would take seconds


def tradeoff(mechanism: Mechanism, fpr: Number) -> Claim:
    """Find the least false-negative rate of an attacker whose false-positive rate is at most ``fpr``, in [0, 1].

    The attacker tests whether one given record was used. Returns a Claim; here ``claim.lower`` is the end that is safe
    to publish, because no attacker does better.

    >>> from tightrope import Gaussian
    >>> print(f"{tradeoff(Gaussian(sigma=1), fpr=0.05):.10f}")
    0.7404889771
    """
    m, a = checked(mechanism), probability("fpr", fpr)
    return claim(m, Question("tradeoff", (("fpr", shortest(a)),)), tradeoffs(m, [a])[0])


def tradeoffs(m: Mechanism, fprs: Sequence[Fraction]) -> list[Answer]:
    """The same at many false-positive rates, which share their work."""
    many = len(fprs) > _FEW
    with allowed(_WORK * (_FOR_KINDS[many] if len(terms(m)) > _KINDS else 1.0)):
        return _tradeoffs(m, fprs)


def _tradeoffs(m: Mechanism, fprs: Sequence[Fraction]) -> list[Answer]:
    points = sorted(set(fprs))
    route, laws = _laws(m)
    exact: list[Bound | None] = [None] * len(points)
    few = _fewer(m)
    if route is not None and laws:
        with allowed(_of_exact(route, few) * left()):
            exact = _least(laws, points, 0.0 if route.kind == "equal" else _FINE)
    wide = [a for a, b in zip(points, exact, strict=True) if b is None or b.upper - b.lower > _WIDE]
    complete = route is not None and route.kind == "equal" and (not wide or few is None) and None not in exact
    known = few.ends(wide) if wide and few is not None else {}
    highest = [Bound.rational(1 - a).upper for a in points] if complete else _least_known(m, points)
    useful = [one for one in routes(m) if one.name not in _SLOW] if None in exact else []
    ladders = [Ladder(one, len(points) > _FEW, len(useful) - i) for i, one in enumerate(useful)]
    found = {}
    for a, b, high in zip(points, exact, highest, strict=True):
        if b is None or route is None:
            found[a] = _from_upper(m, a, high, ladders, known.get(a))
        else:
            found[a] = _from_law(m, route, b, high, known.get(a))
    return [found[a] for a in fprs]


def _of_exact(route: Route, few: _Fewer | None) -> float:
    """The share of the work for the law itself: less where laws of fewer kinds tell something of one of many."""
    if few is None or few.kinds <= _SEVERAL:
        return 1.0 if route.kind == "equal" else _EXACT
    if rare(few.laws[0]):
        return _RARE
    return _OWN if few.kinds > _KINDS and route.kind == "equal" else _EXACT


def _from_law(m: Mechanism, route: Route, found: Bound, high: float, known: Answer | None) -> Answer:
    """From the trade-off of the law; or what is ``known`` by one that dominates, if that is more."""
    high = min(high, found.upper) if route.kind == "equal" else max(high, found.lower)
    if known is not None and known.bound.lower > found.lower:
        return replace(known, bound=Bound(min(known.bound.lower, high), high))
    steps = (*route.steps, Step(profile_to_tradeoff.id, str(m)))
    return Answer(Bound(min(found.lower, high), high), found, route.name, route.kind, steps, {})


@dataclass(frozen=True)
class _Fewer:
    """Laws of fewer kinds that dominate, where there are too many for the law itself: the second of the fewest."""

    kinds: int  # of that law
    laws: tuple[Loss, ...]
    steps: tuple[Step, ...]

    def ends(self, points: Sequence[Fraction]) -> dict[Fraction, Answer]:
        """Their trade-offs, where they are found: no attacker does better against the mechanism."""
        best: dict[Fraction, Bound] = {}
        for law in self.laws:
            wide = [a for a in points if a not in best or best[a].upper - best[a].lower > _WIDE]
            with allowed(_HALF * left()):
                found = tradeoffs_of(law, wide, _FINE)
            for a, b in zip(wide, found, strict=True):
                if b is not None and (a not in best or b.lower > best[a].lower):
                    best[a] = b
        return {a: Answer(b, Bound(b.lower, b.lower), "fewer", "upper", self.steps, {}) for a, b in best.items()}


def _fewer(m: Mechanism) -> _Fewer | None:
    known = fact(m, Loss)
    if known is None:
        return None
    law, few = loss_is_dominated_by_fewer_kinds(known.curve), fewest(known.curve)
    laws = tuple(one for one in (law, None if few is None else few[0]) if one is not None)
    lines = line(loss_is_dominated_by_fewer_kinds, m), Step(profile_to_tradeoff.id, str(m))
    return _Fewer(kinds(known.curve), laws, (*known.steps, *lines)) if laws else None


def _laws(m: Mechanism) -> tuple[Route | None, list[Loss]]:
    """The laws that the group may have, or the law of the loss; and the route through them."""
    group, law = group_laws(m), fact(m, Loss)
    if group is not None:
        return group_route(m), group[0]
    return exact_route(m), [] if law is None else [law.curve]


def _least(laws: Sequence[Loss], points: Sequence[Fraction], fine: float) -> list[Bound | None]:
    """The least of all laws at each point."""
    found: list[list[Bound | None]] = []
    for i, law in enumerate(laws):
        with allowed(left() / (len(laws) - i)):
            found.append(tradeoffs_of(law, points, fine))
    return [_lesser(column) for column in zip(*found, strict=True)]


def _lesser(bounds: Sequence[Bound | None]) -> Bound | None:
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds):
        return None
    return Bound(min(bound.lower for bound in known), min(bound.upper for bound in known))


def _from_upper(m: Mechanism, fpr: Fraction, high: float, ladders: list[Ladder], known: Answer | None) -> Answer:
    """From bounds on δ(ε): f ≥ max(1 − δ − e^ε a, e^{−ε}(1 − δ − a)) at each of a ladder of ε; or what is ``known`` by
    a law that dominates. ``high``: what some mechanism that fits the description is known to allow."""
    best, chosen, witness = 0.0, None, {}
    for ladder in ladders:
        try:
            value, at = ladder.best(fpr)
        except NotCertified:
            continue
        if value > best or chosen is None:
            best, chosen, witness = value, ladder.route, at
    if known is not None and known.bound.lower >= best:
        return replace(known, bound=Bound(min(known.bound.lower, high), high))
    steps = () if chosen is None else (*chosen.steps, Step(profile_to_tradeoff.id, str(m)))
    bound = Bound(min(best, high), high)
    return Answer(bound, Bound(best, best), "none" if chosen is None else chosen.name, "upper", steps, witness)


class Ladder:
    """Bounds on δ by one route at some ε, shared by all false-positive rates. ``others``: how many routes, it included,
    are still to be asked: it takes its share of the work that is left."""

    def __init__(self, route: Route, many: bool, others: int = 1) -> None:
        self.route, self.many, self._others = route, many, others
        self._proved: dict[Fraction, Ball] = {}
        self._silent = False

    @cached_property
    def _profile(self) -> Profile:
        return self.route.build()

    def _ask(self, places: Sequence[Fraction]) -> None:
        """All that are new at once; a route that said nothing once is not asked again."""
        new = [x for x in dict.fromkeys(places) if x not in self._proved]
        if new and not self._silent:
            with suppress(NotCertified), allowed(left() / self._others):
                found = self._profile.deltas(new)
                self._proved.update((x, value) for x, value in zip(new, found, strict=True) if value is not None)
        self._silent = not self._proved
        if self._silent:
            raise NotCertified("a ladder of ε", f"the route {self.route.name} says nothing of δ")

    def _value(self, x: Fraction, fpr: Fraction) -> float:
        if x not in self._proved:
            return -math.inf
        with precision(128):
            return lower_float(guarantees_have_tradeoff((ball(x),), (self._proved[x],), ball(fpr)))

    def best(self, fpr: Fraction) -> tuple[float, dict[str, Fraction]]:
        """The largest of the lower bounds, and its ε."""
        if self.many:
            best = self._best_of_many(fpr)
            return max(self._value(best, fpr), 0.0), {"epsilon": best}
        best = self._best_among([Fraction(0), *(Fraction(2) ** k for k in range(-8, 7))], fpr)
        for factor in (Fraction(3, 2), Fraction(5, 4), Fraction(9, 8), Fraction(17, 16)):
            best = self._best_among([best / factor, best, best * factor], fpr)
        return max(self._value(best, fpr), 0.0), {"epsilon": best}

    def _best_among(self, places: Sequence[Fraction], fpr: Fraction) -> Fraction:
        self._ask(places)
        return max(places, key=lambda x: self._value(x, fpr))

    def _best_of_many(self, fpr: Fraction) -> Fraction:
        """Of steps so close that none between them would gain much: all at once, and the best one in floats."""
        import numpy as np

        places, grown, spared = self._steps
        a = float(fpr)
        return places[int(np.maximum(spared - grown * a, (spared - a) / grown).argmax())]

    @cached_property
    def _steps(self) -> tuple[list[Fraction], Floats, Floats]:
        """The ε that are known, e^ε, and 1 − δ there."""
        import numpy as np

        self._ask([Fraction(0), *(Fraction(2.0 ** (k / 16)).limit_denominator(2**20) for k in range(-128, 104))])
        known = list(self._proved)
        spared = np.array([1 - float(self._proved[x].mid()) for x in known])
        return known, np.exp(np.array([float(x) for x in known])), spared


def _least_known(m: Mechanism, fprs: Sequence[Fraction]) -> list[float]:
    """The largest least rates that are still possible: guessing misses 1 − fpr, and attained laws allow less."""
    found = [Bound.rational(1 - a).upper for a in fprs]

    def told(law: Loss) -> list[Bound | None]:
        if not affords(_LEAST):
            raise NotCertified("an upper end", "the work allowed to one question is spent")
        with allowed(_EACH * left()):
            known = tradeoffs_of(law, fprs, _FINE)
        few = fewest(law) if None in known else None
        if few is None:
            return known
        with allowed(_EACH * left()):
            rough = tradeoffs_of(few[1], fprs, _FINE)
        return [other if one is None else one for one, other in zip(known, rough, strict=True)]

    for bounds in attained_bounds(m, told):
        found = [most if b is None else min(most, b.upper) for most, b in zip(found, bounds, strict=True)]
    return found
