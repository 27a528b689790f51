"""The profile of few steps of any law, by two laws on a lattice that enclose it.

The last resort between closed forms and Rényi: it needs no transform, only how much P and Q put on cells of loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial

from tightrope.curves.concentrated import joint_failure
from tightrope.curves.engines.grid_witness import read_plan, written_plan
from tightrope.curves.engines.lesser_direction import bounded_by, chernoff_bound
from tightrope.curves.engines.transformed import contour_sum, total_variation
from tightrope.curves.loss import Loss, merged
from tightrope.curves.profile import Profile, Witness, within_unit
from tightrope.curves.shared_proofs import shared_deltas, shared_epsilons
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, lower_float, precision, sharp, upper_float
from tightrope.numerics.bound import Bound
from tightrope.numerics.contour.floats import searching
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.exact import near
from tightrope.numerics.grid.any_grid import AnyPlan, read_units
from tightrope.numerics.grid.listed_direction import ListedDirection
from tightrope.numerics.grid.search import GridDirection, log_float
from tightrope.numerics.real import Real, largest, total

_STEPS = tuple(10.0**k for k in range(-11, -1))  # relative distances at which an end is proved
_SHARES, _CLEARLY = (0.55, 0.8), 0.97  # of the work for the first direction: the other may be hard to tell from it
_NEARBY = Fraction(1, 1000)  # relatively: where else the grids of an ε are used
_FEW_POINTS = 4  # of a profile, each with grids of its own
_LOCATED = 2.5e4  # units of work: the search for the place of a grid
_MOST = 20_000_000  # steps beyond which floats see nothing of a sum


@dataclass(frozen=True, eq=False)
class GridProfile(Profile):
    """One product of laws for each direction, the largest loss and the mass at ∞ of each."""

    directions: tuple[GridDirection, ...]
    tops: tuple[Real, ...]
    leak: Real
    distance: Real  # an upper bound on δ(0): total variations add at most
    sums: tuple[Callable[[], ContourSum | None], ...]  # of transforms, where all are known
    may_be_wide = True

    def aiming(self, width: float) -> GridProfile:
        """With ends no closer than that, where less than usual will do."""
        if width <= self.directions[0].enough:
            return self
        return replace(self, directions=tuple(replace(one, enough=width) for one in self.directions))

    @searching
    def find(self, epsilon: Fraction) -> Witness:
        """A fine grid for the direction that seems to cost more, a coarse one for the other."""
        return self._found(epsilon, graded=True)

    def _found(self, epsilon: Fraction, graded: bool) -> Witness:
        """The same; graded grids do not serve other ε."""
        if epsilon < 0:
            raise NotCertified("a grid of losses", "ε is negative")
        x = near(epsilon)
        live = [i for i in range(len(self.directions)) if not self._beyond(i, epsilon)]
        if not live:
            return {"direction": 0, "other": {}}
        effort.spend(_LOCATED, "a grid of losses")
        coarse = {i: self.directions[i].planned(x, fine=False) for i in live}
        grids = {i: self.directions[i].grid(plan) for i, plan in coarse.items()}
        # by the lower ends, if there are any: a coarse upper end may be far off
        worse = max(live, key=lambda i: (max(lower_float(grids[i].lower(x)), 0.0), upper_float(grids[i].upper(x))))
        plan = self.directions[worse].planned(x, graded=graded, closely=graded)
        witness = self._witness(x, worse, plan, epsilon)
        if self._overtaken(worse, x, self.directions[worse].grid(plan).upper(x), witness):
            with suppress(NotCertified):  # what was found before is still good
                further = self.directions[1 - worse].planned(x, graded=graded, closely=graded)
                witness = self._witness(x, 1 - worse, further, epsilon, plan)
        return witness

    @searching
    def find_below(self, epsilon: Fraction, level: Ball) -> Witness:
        """Small grids; and finer ones, where they do not tell."""
        x = near(epsilon)
        live = [i for i in range(len(self.directions)) if not self._beyond(i, epsilon * (1 - _NEARBY))]
        plans = [written_plan(self._bounding(i, x, level)) for i in live]
        first, other = [*plans, {}, {}][:2]
        return {"direction": live[0] if live else 0, **first, "other": other}

    def _bounding(self, number: int, x: float, level: Ball) -> AnyPlan:
        effort.spend(_LOCATED, "a grid of losses")
        direction = self.directions[number]
        plan = direction.planned(x, fine=False)
        if not direction.grid(plan).upper(x) <= level:
            with suppress(NotCertified):  # then the coarse one is all there is
                return direction.bounding(x, level)
        return plan

    def _witness(self, x: float, worse: int, plan: AnyPlan, epsilon: Fraction, known: AnyPlan | None = None) -> Witness:
        """``known``: a plan of the lesser direction that was made for about this ε."""
        witness: Witness = {"direction": worse, **written_plan(plan), "other": {}}
        level = self.directions[worse].grid(plan).lower(x)
        for i, direction in enumerate(self.directions):
            if i == worse or self._beyond(i, epsilon * (1 - _NEARBY)):
                continue
            with effort.owing():  # a small one; what was found would be lost without it
                other = known or direction.planned(x, fine=False)
                bounded = direction.grid(other).upper(x) <= level
            witness["other"] = written_plan(other) if bounded else self._other(i, x, level, other)
        return witness

    def _other(self, number: int, x: float, level: Ball, coarse: AnyPlan) -> Witness:
        """What proves δ in the lesser direction to be at most ``level``, or else the least that is known of it."""
        whole = self.sums[number]() if level > 0 else None
        t = None if whole is None else bounded_by(whole, x, log_float(level))
        if t is not None:
            return {"t": t}
        with suppress(NotCertified):  # then the coarse one is all there is
            coarse = self.directions[number].bounding(x, level)
        return written_plan(coarse)

    def _beyond(self, direction: int, epsilon: Fraction) -> bool:
        """Whether no loss of this direction is as large as ε."""
        top = self.tops[direction]
        if top.infinite:
            return False
        with precision(80):
            return bool(ball(epsilon) >= top.ball())

    def _top(self, direction: int) -> float:
        """The largest loss of this direction, or a float above it."""
        with precision(80):
            return math.inf if self.tops[direction].infinite else upper_float(self.tops[direction].ball())

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The larger of both directions, each between the ends of its grid."""
        if "distance" in witness and epsilon >= 0:
            return Ball(0).union(sharp(self.distance.ball, bits=40))
        worse = int(witness["direction"])
        if not 0 <= worse < len(self.directions) or epsilon < 0:
            raise NotCertified("the worse direction", f"there is no direction {worse}")
        value = self._value(worse, epsilon, witness)
        for i in range(len(self.directions)):
            if i != worse:
                other = self._value(i, epsilon, witness["other"])
                with precision(100):
                    value = value.max(other)
        return within_unit(value)

    def _value(self, direction: int, epsilon: Fraction, witness: Witness) -> Ball:
        if self._beyond(direction, epsilon):
            return Ball(0)
        if not witness:  # no grid was needed where the witness was found
            return Ball(0).union(Ball(1))
        if "t" in witness:
            whole = self.sums[direction]()
            if whole is None:
                raise NotCertified("the lesser direction", "Chernoff's bound is not known")
            return chernoff_bound(whole, epsilon, Fraction(witness["t"]))
        if not {"step", "grades", "lists"} & set(witness):
            raise NotCertified("a grid of losses", f"no grid is known for direction {direction}")
        grid = self.directions[direction].grid(read_plan(witness))
        with effort.owing():  # a grid that is made would be lost without it
            effort.spend(read_units(grid), "a grid of losses")
        with precision(100):
            at = ball(epsilon)
            low, high = max(lower_float(at), 0.0), upper_float(at)  # δ falls in ε
            return grid.lower(high).union(grid.upper(low))

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """At many ε: a grid serves its neighbours as long as its ends are close enough."""
        return shared_deltas(self, epsilons, partial(self._found, graded=len(set(epsilons)) <= _FEW_POINTS))

    def _worse(self, goal: float) -> tuple[int, float]:
        """The direction that seems to need the larger ε, and the share of the work for it. One without losses that
        large may have no grid there."""
        if len(self.directions) == 1:
            return 0, 1.0
        rough = [_rough_epsilon(direction, goal) for direction in self.directions]
        found = [min(one, self._top(i)) for i, one in enumerate(rough)]  # small grids may see more than there is
        worse = max(range(len(found)), key=lambda i: found[i])
        clear = all(other < _CLEARLY * found[worse] for i, other in enumerate(found) if i != worse)
        return worse, _SHARES[clear]

    @searching
    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Solve on ever finer grids; each end is proved where it is returned."""
        return self._solved(delta, graded=True)

    def _solved(self, delta: Fraction, graded: bool) -> tuple[Bound, Witness]:
        """The same; graded grids do not serve other δ."""
        with precision(160):
            leak = sharp(self.leak.ball)
            if self.leak.rational == delta or leak >= ball(delta):  # no ball can tell a number from itself
                return Bound(math.inf if leak > ball(delta) else 0.0, math.inf), {}
            if sharp(self.distance.ball, bits=40) <= ball(delta):
                return Bound(0.0, 0.0), {"distance": "the parts' total variations"}
        goal = math.log(delta.numerator) - math.log(delta.denominator)
        effort.spend(_LOCATED, "a grid of losses")
        worse, share = self._worse(goal)
        with effort.allowed(share * effort.left()):
            found = self.directions[worse].located(goal, graded=graded)
        if not found.upper > 0:
            witness = self.find(Fraction(0))
            if not self.meets(Fraction(0), delta, witness):
                raise NotCertified("the exact profile", "ε is too close to 0 to be told from it")
            return Bound(0.0, 0.0), witness
        witness = self._witness(found.upper, worse, found.plan, Fraction(found.upper))
        if self._overtaken(worse, found.upper, ball(delta), witness):
            with suppress(NotCertified):  # what was found before is still good
                further = self.directions[1 - worse].located(goal, graded=graded)
                witness = self._witness(further.upper, 1 - worse, further.plan, Fraction(further.upper), found.plan)
                found = replace(further, lower=max(further.lower, found.lower))
        with effort.owing():  # the grids are made: little is left to do, and all would be lost without it
            return self._enclosed(found.lower, found.upper, delta, witness), witness

    def _overtaken(self, worse: int, at: float, level: Ball, witness: Witness) -> bool:
        """Whether δ is above ``level`` in the other direction, which small grids could not tell."""
        if len(self.directions) == 1 or not {"grades", "lists"} & set(witness["other"]):
            return False
        with effort.owing():
            return bool(self._value(1 - worse, Fraction(at), witness["other"]) > level)

    @searching
    def rough_level(self, epsilon: float) -> float:
        """At least ln δ, by small grids."""
        plans = [(one, one.planned(epsilon, fine=False)) for one in self.directions]
        return max(log_float(one.grid(plan).upper(epsilon)) for one, plan in plans)

    @searching
    def estimate(self, delta: Fraction) -> float:
        """About ε, from small grids."""
        goal = math.log(delta.numerator) - math.log(delta.denominator)
        return self.directions[self._worse(goal)[0]].estimated(goal)

    def _enclosed(self, low: float, high: float, delta: Fraction, witness: Witness) -> Bound:
        """Both ends near the ends that floats found, and not beyond the largest loss."""
        if not any(top.infinite for top in self.tops):
            high = min(high, max(self._top(i) for i in range(len(self.tops))))
        upper = next((x for s in _STEPS if self.meets(Fraction(x := high * (1 + s)), delta, witness)), None)
        if upper is None:
            raise NotCertified("the exact profile", f"no grid proved an ε near {high:.6g}")
        # just below the largest loss floats may see no lower end, where there is one near the upper
        below = (end * (1 - step) for end in (low, high) if end > 0 for step in _STEPS)
        return Bound(next((x for x in below if self.needs(Fraction(x), delta, witness)), 0.0), upper)

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """At many δ, likewise."""
        if len(set(deltas)) <= _FEW_POINTS:
            return [self._epsilon(delta) for delta in deltas]
        return shared_epsilons(self, deltas, find=partial(self._found, graded=False))


def _rough_epsilon(direction: GridDirection, goal: float) -> float:
    try:
        return direction.rough(goal)
    except NotCertified:
        return -1.0


def grid_profile(loss: Loss) -> GridProfile | None:
    """For losses whose parts all give cells, and few enough of them; None for others."""
    directions, tops, leaks, sizes, sums = [], [], [], [], []
    for parts in loss.directions:
        found = [(pair.cells(), copies) for pair, copies in merged(parts)]
        known = tuple((law, copies) for law, copies in found if law is not None)
        if len(known) < len(found) or not known or sum(copies for _, copies in known) > _MOST:
            return None
        directions.append(ListedDirection(known))
        tops.append(total([(pair.largest(), copies) for pair, copies in parts]))
        leaks.append(joint_failure([(pair.infinite(), copies) for pair, copies in parts]))
        sizes.append(Real(None, partial(total_variation, merged(parts))))
        sums.append(cache(partial(contour_sum, parts)))
    return GridProfile(tuple(directions), tuple(tops), largest(leaks), largest(sizes), tuple(sums))
