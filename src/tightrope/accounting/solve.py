"""Solve: run the routes of a question, keep the best proof, and find the best lower bound beside it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tightrope.accounting.routes import Route, lower_losses, routes
from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.profile import Profile, Witness
from tightrope.errors import NotCertified
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.balls import lower_float
from tightrope.numerics.bound import Bound
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


NOTHING = Answer(Bound(0.0, math.inf), Bound(0.0, math.inf), "none", "upper", (), {})


def epsilon_by(route: Route, delta: Fraction) -> Answer:
    """ε at this δ by one route."""
    bound, witness = route.build().epsilon(delta)
    return _answer(route, bound, witness)


def delta_by(route: Route, epsilon: Fraction) -> Answer:
    """δ at this ε by one route."""
    profile = route.build()
    witness = profile.find(epsilon)
    return _answer(route, Bound.around(profile.prove(epsilon, witness), 0.0, 1.0), witness)


def _answer(route: Route, bound: Bound, witness: Witness) -> Answer:
    shown = bound if route.kind == "equal" else Bound(0.0, bound.upper)
    return Answer(shown, bound, route.name, route.kind, route.steps, witness)


def best_epsilon(m: Mechanism, delta: Fraction) -> Answer:
    """The least proved ε at this δ in (0, 1)."""
    return _best(m, lambda route: epsilon_by(route, delta), lambda profile: profile.epsilon(delta)[0].lower, effort=0)


def best_delta(m: Mechanism, epsilon: Fraction) -> Answer:
    """The least proved δ at this ε."""

    def lower(profile: Profile) -> float:
        return lower_float(profile.prove(epsilon, profile.find(epsilon)))

    return _best(m, lambda route: delta_by(route, epsilon), lower, effort=1)


def _best(m: Mechanism, by: Callable[[Route], Answer], lower: Callable[[Profile], float], effort: int) -> Answer:
    best, paired = NOTHING, False
    for route in routes(m):
        if route.effort > effort or (route.name == "rdp-optimal" and (paired or best.route not in ("rdp", "zcdp"))):
            continue  # it sharpens the Rényi routes by a trifle: worth the wait only where nothing else is known
        try:
            found = by(route)
        except NotCertified:
            continue  # a route may give up: the next is still a proof
        if found.kind == "equal":
            return found
        paired = paired or route.name in ("exact", "optimal")
        if found.bound.upper < best.bound.upper or best is NOTHING:
            best = found
    low = largest_lower(m, lower)
    return Answer(
        Bound(min(low, best.bound.upper), best.bound.upper),
        best.computed,
        best.route,
        best.kind,
        best.steps,
        best.witness,
    )


def largest_lower(m: Mechanism, lower: Callable[[Profile], float]) -> float:
    """The largest cost of a mechanism that fits the description, or of a part of it (which the whole also reveals)."""
    best = 0.0
    for law, _ in lower_losses(m):
        try:
            best = max(best, lower(loss_has_profile(law)))
        except NotCertified:
            continue
    return best
