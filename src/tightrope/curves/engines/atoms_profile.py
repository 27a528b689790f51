"""Finite laws beside a part that some other engine evaluates: a sum over the composed atoms.

Few terms count, and each is wanted to its share of the whole only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tightrope.curves.concentrated import joint_failure
from tightrope.curves.engines.atom_terms import MOST_ATOMS, AtomTerms, log_float
from tightrope.curves.engines.listed_sum import ListedSum
from tightrope.curves.engines.reverses import each_others_reverse
from tightrope.curves.engines.side_ways import Chernoff, side_ways
from tightrope.curves.engines.smooth_side import Place, SmoothSide
from tightrope.curves.engines.transformed import contour_sum
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss, Parts, merged
from tightrope.curves.profile import Profile, Witness, within_unit
from tightrope.curves.shared_proofs import shared_deltas, shared_epsilons
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import near
from tightrope.numerics.real import UNBOUNDED, Real, largest, total
from tightrope.numerics.sums.finite import FiniteSum

__all__ = ["AtomsProfile", "atoms_profile"]

_BITS = 256
_SHARE, _FINEST, _COARSEST = 1e-10, 1e-13, 1e-4  # of ε, and of δ
_LESSER = 0.1  # of δ, at most, for the direction that costs less
_ATTEMPTS, _SECANTS = 5, 8
_APART, _REACH = 1e-5, 0.2  # of x: between the first two points of a search, and how far it may go
_NARROWEST, _WIDENINGS = 1e-13, 20
_SETTLED = 1e-9  # of ε
_LEAST, _BEGIN = 2e5, 2e4  # units of work without which a search is in vain; and of its beginning
_PLAN = 5e3  # units of work
_MOST_ENDLESS = 500  # atoms, if a lattice is among them


@dataclass(frozen=True, eq=False)
class AtomsProfile(Profile):
    """The terms of both directions; each direction as a whole, for Chernoff's bound of the lesser one."""

    terms: AtomTerms
    wholes: tuple[Chernoff | None, ...]
    leak: Real
    may_be_wide = True

    @property
    def _directions(self) -> range:
        return range(len(self.wholes))

    def find(self, epsilon: Fraction) -> Witness:
        """Plans for the terms of both directions."""
        if epsilon < 0:
            raise NotCertified("a sum around atoms", "ε is negative")
        _worth()
        return self._witness(near(epsilon))

    def _witness(self, x: float, level: float | None = None) -> Witness:
        """``level``: about ln δ, if that is known. Should the proofs say that the other direction costs more than
        floats saw, they are made anew."""
        witness = self._planned(x, self.terms.levels(x), level)
        if len(self._directions) > 1 and not witness["other"]:
            with precision(64):
                levels = [log_float(self._value(i, Fraction(x), witness)) for i in self._directions]
            if levels[int(witness["direction"])] < max(levels):
                return self._planned(x, levels, level)
        return witness

    def _planned(self, x: float, levels: Sequence[float], level: float | None) -> Witness:
        effort.spend(_PLAN, "a sum around atoms")
        worse = max(self._directions, key=lambda i: levels[i])
        share = _SHARE
        if level is not None:  # where δ is steep, ε needs less of it
            share *= (self.terms.level(worse, x) - self.terms.level(worse, x * 1.001)) * 1000
            share = min(max(share, _FINEST), _COARSEST)
        level = levels[worse] if level is None else level
        if not level > -math.inf:
            raise NotCertified("a sum around atoms", "floats do not see δ")
        if self.terms.left_out(worse) > level + math.log(share):
            raise NotCertified("a sum around atoms", "δ is as small as the atoms that are left out")
        places: list[list[Place]] = [[] for _ in self._directions]
        witness: Witness = {"direction": worse, "least": 0.0, "other": {}}
        for i in self._directions:
            whole = self.wholes[i] if i != worse else None
            t = None if whole is None else whole.tilt(x, level - 1e-6)
            if t is not None:
                witness["other"] = {"t": t}
                continue
            wanted = share if i == worse else max(share, min(-math.expm1(levels[i] - level) / 8, _LESSER))
            terms = self.terms.listed(i, x)
            allowed = level + math.log(wanted / len(terms))
            for term in terms:
                places[term.side].append((term.place, allowed - term.weight))
            if i == worse:
                witness["least"] = math.exp(max(allowed - 1, -700.0))
        sides = zip(self.terms.sides, places, strict=True)
        return {**witness, "sides": [side.cover(asked) for side, asked in sides]}

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The larger of both directions."""
        worse = int(witness["direction"])
        if worse not in self._directions or len(witness["sides"]) != len(self._directions) or epsilon < 0:
            raise NotCertified("the worse direction", f"there is no direction {worse}")
        value = self._value(worse, epsilon, witness)
        for i in self._directions:
            if i != worse:
                other = self._other(i, epsilon, witness)
                with precision(_BITS):
                    value = value.max(other)
        return within_unit(value)

    def _other(self, direction: int, epsilon: Fraction, witness: Witness) -> Ball:
        if "t" not in witness["other"]:
            return self._value(direction, epsilon, witness)
        whole = self.wholes[direction]
        if whole is None:
            raise NotCertified("the lesser direction", "Chernoff's bound is not known")
        with precision(_BITS):
            return whole.value(ball(epsilon), Fraction(witness["other"]["t"]))

    def _value(self, direction: int, epsilon: Fraction, witness: Witness) -> Ball:
        with precision(_BITS):
            return self.terms.value(direction, ball(epsilon), witness["sides"], Ball(float(witness["least"])))

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Solve in floats, then on proved values; each end is proved where it is returned."""
        with precision(160):
            leak = sharp(self.leak.ball)
            if self.leak.rational == delta or leak >= ball(delta):  # no ball can tell a number from itself
                return Bound(math.inf if leak > ball(delta) else 0.0, math.inf), {}
        _worth()
        goal = _log(delta)
        x = self.terms.root(goal)
        if not x > 0:
            witness = self._witness(0.0)
            if not self.meets(Fraction(0), delta, witness):
                raise NotCertified("the exact profile", "ε is too close to 0 to be told from it")
            return Bound(0.0, 0.0), witness
        for _ in range(_ATTEMPTS):
            witness = self._witness(x, goal)
            x, width, worse = self._polished(x, goal, witness)
            if width < _SETTLED or (width < math.inf and not worse):
                break  # else plans made at x may be better
        return self._enclosed(x, delta, witness, width), witness

    def _enclosed(self, x: float, delta: Fraction, witness: Witness, width: float) -> Bound:
        """Both sides of a solution near x, from about half the relative width of ε on."""
        steps = [width * 4**k for k in range(_WIDENINGS) if width * 4**k < 1]
        upper = next((e for s in steps if self.meets(Fraction(e := x * (1 + s)), delta, witness)), None)
        if upper is None:
            raise NotCertified("the exact profile", f"no sum around atoms proved an ε near {x:.6g}")
        below = (x * (1 - s) for s in steps)
        return Bound(next((e for e in below if self.needs(Fraction(e), delta, witness)), 0.0), upper)

    def _polished(self, x: float, goal: float, witness: Witness) -> tuple[float, float, bool]:
        """The root by secants on proved values, about the relative width that they leave to it, and whether the plans
        say much less about δ there than at x."""
        before, at = x - min(_APART * x, self.terms.nearest(x) / 2 or math.inf), x
        last, (gap, width) = self._gap(before, goal, witness)[0], self._gap(at, goal, witness)
        steep, first = (last - gap) / (1 - before / at), width
        for _ in range(_SECANTS):
            slope = (gap - last) / (at - before) if at != before else 0.0
            if not -math.inf < slope < 0 or abs(gap) < max(width / 8, 1e-14):
                break
            following = at - gap / slope
            if not abs(following - x) < _REACH * x:
                return x * (1 + math.copysign(_REACH, following - x)), math.inf, False
            before, last, at = at, gap, following
            gap, width = self._gap(at, goal, witness)
        return at, max((abs(gap) + width) / steep, _NARROWEST) if steep > 0 else math.inf, first < width / 2

    def _gap(self, x: float, goal: float, witness: Witness) -> tuple[float, float]:
        """ln δ(x) less the goal, and its uncertainty."""
        value = self.prove(Fraction(x), witness)
        with precision(64):
            return log_float(value) - goal, float(value.rad() / value.mid()) if value.mid() > 0 else math.inf

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """At many ε: the plans of one serve its neighbours as long as they are good enough."""
        return shared_deltas(self, epsilons)

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """At many δ, likewise."""
        return shared_epsilons(self, deltas)

    def estimate(self, delta: Fraction) -> float:
        """About ε, in floats."""
        return self.terms.root(_log(delta))


def _worth() -> None:
    """Nothing is begun that cannot be ended."""
    if not effort.affords(_LEAST):
        raise NotCertified("a sum around atoms", "too little work is left")
    effort.spend(_BEGIN, "a sum around atoms")


def _log(delta: Fraction) -> float:
    return math.log(delta.numerator) - math.log(delta.denominator)


def atoms_profile(loss: Loss) -> AtomsProfile | None:
    """For finite laws and lattices with few composed atoms beside a part whose reverse is known; None for others."""
    listed = [_listed(parts, _endless(parts)) or _listed(parts, ()) for parts in loss.directions]
    if any(one is None for one in listed):
        return None
    known = [one for one in listed if one is not None]
    smooth = Loss(*(rest for _, rest in known))
    if not all(smooth.directions) or not each_others_reverse(smooth):
        return None
    sides = []
    for i, parts in enumerate(smooth.directions):
        ways = list(side_ways(smooth, i))
        if not ways:
            return None
        whole = contour_sum(parts)
        leaky = any(pair.infinite().rational != 0 for pair, _ in parts)
        top = UNBOUNDED if leaky else total([(pair.largest(), n) for pair, n in parts])
        sides.append(SmoothSide(ways, None if whole is None else Chernoff(whole), top))
    leaks = [joint_failure([(pair.infinite(), n) for pair, n in parts]) for parts in loss.directions]
    wholes = [contour_sum(parts) for parts in loss.directions] if len(sides) > 1 else [None]
    bounds = tuple(None if whole is None else Chernoff(whole) for whole in wholes)
    return AtomsProfile(AtomTerms(tuple(sides), tuple(one for one, _ in known)), bounds, largest(leaks))


def _endless(parts: Parts) -> Parts:
    """The lattices that can be listed: among closer atoms a grid is as good, and quicker."""
    with precision(64):
        return tuple((pair, n) for pair, n in merged(parts) if pair.listed(n, _MOST_ENDLESS) is not None)


def _listed(parts: Parts, endless: Parts) -> tuple[ListedSum, Parts] | None:
    """The atoms of the finite laws and of these lattices, and the other parts; None if there are none, or too many."""
    finite = [(pair.law, n) for pair, n in parts if isinstance(pair, FinitePair)]
    atoms = ListedSum(FiniteSum(finite), endless)
    with precision(64):
        if not (finite or endless) or atoms.atoms(_MOST_ENDLESS if endless else MOST_ATOMS) is None:
            return None
    return atoms, tuple(
        (pair, n) for pair, n in merged(parts) if not isinstance(pair, FinitePair) and (pair, n) not in endless
    )
