"""Solve: run the routes of a question, keep the best proof, and find the best lower bound beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import islice

from tightrope.accounting.attained import within
from tightrope.accounting.lower_laws import MOST_LAWS, lower_losses
from tightrope.accounting.routes import Route, fewer_route, law_route, routes
from tightrope.accounting.terms import terms
from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.ladders import loss_dominates_fewer_kinds
from tightrope.curves.loss import Loss
from tightrope.curves.profile import Profile, Witness
from tightrope.curves.ways import FAIR, ROUGH
from tightrope.errors import NotCertified
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.sampled import cut_batches
from tightrope.numerics.bound import Bound
from tightrope.numerics.effort import affords, allowed, left
from tightrope.theorems import Kind, Step


@dataclass(frozen=True, eq=False)
class Answer:
    """The number, how it was proved, and where."""

    bound: Bound
    computed: Bound
    route: str
    kind: Kind
    steps: tuple[Step, ...]
    witness: Witness


_SAME = 1 - Fraction(1, 10**12)  # a route that gains less than this is not solved
_NEARLY = 1 - 1e-4  # ends of an exact answer that no other route is likely to bring together
_CLOSE = 1 - 1e-6  # ends of a law whose parts need not be asked
_FAIR_FOR_MANY = 0.98  # ends of very many kinds that neither some of these nor laws of fewer bring together
_NARROW = 1 - 1e-3  # further apart, another route may be better than one that is so in theory
WORK, BELOW = 2.4e6, 2.5e5  # units of work for a question; of it for its lower end, where other laws must tell that
OTHERS = 2.5e5  # of it for all other routes, where the exact one gives up
_SEVERAL, _TIMES = 16, 2.5  # terms whose Rényi curves that is enough for; more of it, at most, for those of more
MANY = 24  # terms whose whole Rényi curve takes too long
_PLENTY = 1.5e6  # nearly all of it: with less left, as for a trial of a calibration, fair ends will do,
_LESS = 0.08  # and of that so much for these two
_REST = 0.3  # of what the routes left, for a lower end by other laws
_WORSE, _ROOM = 8, 1e-5  # widths, and at most, relatively, between such a lower end and what was proved
_SHARE, _MOSTLY = 0.7, 0.9  # of what is left, for each of these laws; and for one that stands for very many kinds
_ENOUGH = 1e6  # units where a rough end will do
LAWS = ("exact", "group")  # routes through laws of the loss
NOTHING = Answer(Bound(0.0, math.inf), Bound(0.0, math.inf), "none", "upper", (), {})


def _profile(route: Route) -> Profile:
    """What is to be asked: for ends as close as they should be, unless little work is allowed."""
    return route.build().aiming(route.width if affords(_PLENTY) else FAIR)


def epsilon_by(route: Route, delta: Fraction) -> Answer:
    """ε at this δ by one route."""
    bound, witness = _profile(route).epsilon(delta)
    return _answer(route, bound, witness)


def delta_by(route: Route, epsilon: Fraction) -> Answer:
    """δ at this ε by one route."""
    profile = _profile(route)
    witness = profile.find(epsilon)
    return _answer(route, Bound.around(profile.prove(epsilon, witness), 0.0, 1.0), witness)


def _answer(route: Route, bound: Bound, witness: Witness) -> Answer:
    shown = bound if route.kind == "equal" else Bound(0.0, bound.upper)
    return Answer(shown, bound, route.name, route.kind, route.steps, witness)


def best_epsilon(m: Mechanism, delta: Fraction) -> Answer:
    """The least proved ε at this δ in (0, 1)."""
    return _best(m, partial(_epsilon_by, delta), lambda profile: profile.epsilon(delta)[0], effort=0)


def _epsilon_by(delta: Fraction, route: Route, best: Answer) -> Answer | None:
    profile, most = _profile(route), best.bound.upper
    if math.isfinite(most) and profile.misses(delta, Fraction(most) * _SAME):
        return None  # it is no better
    return _answer(route, *profile.epsilon(delta))


def least_epsilon(m: Mechanism, delta: Fraction) -> float | None:
    """The upper end of that, for searches; None where a lower end comes with it anyway."""
    route = law_route(m)
    if route is not None and route.kind == "equal":
        return None
    return _best(m, partial(_epsilon_by, delta), None, effort=0).bound.upper


def epsilon_beside(m: Mechanism, delta: Fraction, route: str, witness: Witness, x: float) -> Answer | None:
    """ε at this δ from what proved x for a mechanism that hardly differs; None where that does not do."""
    own = law_route(m) if 0 < delta < 1 else None
    if own is None or own.kind != "equal" or own.name != route:
        return None
    try:
        with allowed(WORK):
            found = _answer(own, *_profile(own).epsilon_beside(delta, witness, x))
    except NotCertified:
        return None
    return found if found.bound.lower >= found.bound.upper * _NEARLY else None


class Estimates:
    """About ε at one δ, for searches, by the law of the loss: each search begins where the last one ended. By another
    route certified costs may be less."""

    def __init__(self, delta: Fraction) -> None:
        self._delta = delta
        self._last: Profile | None = None

    def __call__(self, m: Mechanism) -> float | None:
        """None where the law is unknown or gives up."""
        route = law_route(m) if 0 < self._delta < 1 else None
        if route is None:
            return None
        last, self._last = self._last, route.build()
        try:
            return self._last.estimate(self._delta) if last is None else self._last.estimate_beside(self._delta, last)
        except NotCertified:
            return None


def best_delta(m: Mechanism, epsilon: Fraction, effort: int = 1) -> Answer:
    """The least proved δ at this ε; with less ``effort`` routes that gain a trifle are left out."""

    def enclosed(profile: Profile) -> Bound:
        return Bound.around(profile.prove(epsilon, profile.find(epsilon)), 0.0, 1.0)

    found = _best(m, lambda route, _: delta_by(route, epsilon), enclosed, effort)
    if found.bound.upper <= 1:
        return found
    return replace(found, bound=Bound(found.bound.lower, 1.0), computed=Bound(0.0, 1.0))


def _best(
    m: Mechanism, by: Callable[[Route, Answer], Answer | None], enclosed: Callable[[Profile], Bound] | None, effort: int
) -> Answer:
    """The best route's answer, and the best lower end by ``enclosed``, if that is wanted."""
    more = OTHERS * min(max(len(terms(m)) / _SEVERAL - 1, 0.0), _TIMES)
    with allowed(WORK + more):
        less = _LESS * left()
        below, others, rough = (BELOW, OTHERS + more, _ENOUGH) if affords(_PLENTY) else (less, less, less)
        best, known, floor = _least(m, by, effort, 0.0 if enclosed is None else below, others)
        if known is None:
            return best
        fair = floor >= best.bound.upper * _FAIR_FOR_MANY and len(terms(m)) > _SEVERAL
        low = floor
        if enclosed is not None and not fair:
            with allowed(left() if known else max(rough, _REST * left())):
                low = max(floor, largest_lower(m, enclosed, known))
    return replace(best, bound=Bound(min(low, best.bound.upper), best.bound.upper))


def _least(
    m: Mechanism, by: Callable[[Route, Answer], Answer | None], effort: int, below: float, others: float
) -> tuple[Answer, int | None, float]:
    """The best route's answer; how many of the laws for a lower end need not be asked again, None if all is said; and
    a lower end. ``below``: work that is kept for that; ``others``: for other routes than the exact one."""
    best, paired, known, floor = NOTHING, False, 0, 0.0
    for route in _in_turn(m):
        if best.bound.upper == 0.0:
            break
        if not _worth(route, best, paired, effort) or (route.name == "rdp-optimal" and len(terms(m)) > MANY):
            continue
        try:
            with allowed(left() - below - others * (route.name in LAWS)):
                found = by(route, best)
        except NotCertified:
            known += route.name == "exact" and route.kind == "equal"
            continue  # a route may give up: the next is still a proof
        paired = paired or route.name in (*LAWS, "optimal")
        if found is None:
            continue
        if found.kind == "equal":
            if found.bound.lower >= found.bound.upper * _NEARLY:
                return found, None, found.bound.lower
            known, floor = 1, found.bound.lower  # its own proof is wide: another may have a better end
        if found.bound.upper < best.bound.upper or best is NOTHING:
            best = found
        if route.final and found.computed.lower >= found.computed.upper * _NARROW:
            break
    return best, known, floor


def _in_turn(m: Mechanism) -> Iterator[Route]:
    """All routes; a tight one through the law comes first, before others are looked for."""
    law = None if cut_batches(m) else law_route(m)
    first = law if law is not None and law.kind == "equal" else None
    tried = [route for route in (first, None if first is None else fewer_route(m)) if route is not None]
    yield from tried
    known = {route.name for route in tried}
    yield from (route for route in sorted(routes(m), key=_turn) if route.name not in known)


def _turn(route: Route) -> int:
    """When a route is tried: a sum of very many responses may be slow, and one value of it tells that it is no
    better."""
    return 0 if route.kind == "equal" else {"optimal": 1, "rdp-optimal": 2}.get(route.name, 0)


def _worth(route: Route, best: Answer, paired: bool, effort: int) -> bool:
    """The whole Rényi curve sharpens the best order by a trifle: worth the wait only where nothing else is known."""
    if route.name != "rdp-optimal":
        return route.effort <= effort
    at_end = route.end is not None and best.witness.get("order") == route.end
    return not paired and best.route in ("rdp", "zcdp") and route.effort <= (1 if at_end else effort)


def with_room(found: Bound) -> float:
    """A little below its lower end, so that whoever checks it may find a proof that is not as good: of δ at this ε."""
    if not math.isfinite(found.lower):
        return found.lower
    return found.lower - min(_WORSE * (found.upper - found.lower), _ROOM * found.lower)


def largest_lower(m: Mechanism, enclosed: Callable[[Profile], Bound], known: int = 0) -> float:
    """The largest cost of a mechanism that fits the description, or of a part of it (which the whole also reveals).

    The first ``known`` laws are passed over, as the exact route has already given up on them; and so are parts of a law
    whose cost is known closely, since they cost less. Where all laws are bounds from below, a rough one will do.
    """
    best, close = 0.0, _CLOSE if known else 1 - 10 * ROUGH
    settled: list[Loss] = []
    many = False
    for i, (law, _) in enumerate(islice(lower_losses(m), MOST_LAWS)):
        if loss_dominates_fewer_kinds(law) is not None:  # of very many kinds one of fewer follows
            many = True
            continue
        if i < known or any(within(law, whole) for whole in settled):
            continue
        try:
            profile = loss_has_profile(law)
            with allowed((_MOSTLY if many else _SHARE) * left()):
                found = enclosed(profile if known else profile.aiming(ROUGH))
        except NotCertified:
            continue
        best = max(best, with_room(found))
        if many and best > 0:  # some of these cost far less
            break
        if found.lower >= found.upper * close:
            settled.append(law)
    return best
