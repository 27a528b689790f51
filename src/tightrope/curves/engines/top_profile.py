"""The least ε of bounded losses where δ is tiny: right below the largest loss that there is.

Let no loss L_j of a part be above M_j, and M = ΣM_j. Then E[(1 − e^{x−L})₊] ≤ 1 − e^{x−M}, and all losses are above
(1 − r)M_j with chance p = ΠP[L_j > (1 − r)M_j], so that it is at least p(1 − e^{x−(1−r)M}). If δ is tiny beside prM,
both say nearly the same of ε, whatever the other losses are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from tightrope.curves.loss import Loss, Parts, merged
from tightrope.curves.profile import Profile, Witness, within_unit
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, between, precision, sharp, upper_float
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import near
from tightrope.numerics.real import Real, largest, total

__all__ = ["TopProfile", "top_profile"]

_BITS = 256
_NEAR = tuple(Fraction(1, 2**k) for k in (42, 34, 27, 22))  # how far below its largest a loss may be, as a share of it
_EACH, _READ = 150.0, 50.0  # units of work for a chance, and for one that is known
_WIDE = 1e-6  # relatively: ends further apart are not worth a look


@dataclass(frozen=True, eq=False)
class TopProfile(Profile):
    """The parts of each direction, and their largest losses together."""

    directions: tuple[Parts, ...]
    tops: tuple[Real, ...]
    wide: float = _WIDE
    _chances: dict[tuple[int, Fraction], Ball] = field(default_factory=dict)
    may_be_wide = True

    def aiming(self, width: float) -> TopProfile:
        """What is no closer than this is left to others."""
        return TopProfile(self.directions, self.tops, width, self._chances)

    def find(self, epsilon: Fraction) -> Witness:  # noqa: ARG002 - of δ itself both bounds say little
        """None: δ is not known well here, only the ε that belongs to a tiny one."""
        raise NotCertified("the largest loss", "it says little of δ")

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """Between the two bounds."""
        return within_unit(between(*self._ends(epsilon, witness)))

    def meets(self, epsilon: Fraction, delta: Fraction, witness: Witness) -> bool:
        """By the upper one: a ball around both, which are orders of magnitude apart, would blur the lower one."""
        upper = self._ends(epsilon, witness)[1]
        with precision(_BITS):
            return bool(upper <= ball(delta))

    def needs(self, epsilon: Fraction, delta: Fraction, witness: Witness) -> bool:
        """By the lower one."""
        lower = self._ends(epsilon, witness)[0]
        with precision(_BITS):
            return bool(lower > ball(delta))

    def _ends(self, epsilon: Fraction, witness: Witness) -> tuple[Ball, Ball]:
        """The chance of nearly the largest losses in one direction, and certainty of them in both, each times what is
        kept of it."""
        worse, share = int(witness["direction"]), Fraction(witness["below"])
        if not 0 <= worse < len(self.directions) or not 0 < share < 1:
            raise NotCertified("the largest loss", f"no direction {worse}, or no losses {share} below it")
        chance = self._chance(worse, share)
        with precision(_BITS):
            x, top = ball(epsilon), largest(list(self.tops)).ball()
            lower = -chance * (x - self.tops[worse].ball() * ball(1 - share)).expm1()
            return lower.max(Ball(0)), -(x - top).expm1().min(Ball(0))

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """From where so many losses are nearly the largest that δ is exceeded, up to the largest."""
        worse, upper = self._worse
        for share in self._near_enough(worse, upper, delta):
            witness: Witness = {"direction": worse, "below": share}
            with precision(_BITS):
                lower = self.tops[worse].ball() * ball(1 - share) + (-ball(delta) / self._chance(worse, share)).log1p()
                below = math.nextafter(float(lower.mid()) * (1 - 2.0**-50), 0.0)
            bound = Bound(max(below, 0.0), upper)
            proved = self.meets(Fraction(upper), delta, witness) and self.needs(Fraction(bound.lower), delta, witness)
            if proved and bound.gap < self.wide:
                return bound, witness
        raise NotCertified("the largest loss", "too few losses are nearly that large")

    @cached_property
    def _worse(self) -> tuple[int, float]:
        """The direction with the larger largest loss, and that, rounded up."""
        tops = [sharp(top.ball) for top in self.tops]
        worse = max(range(len(tops)), key=lambda i: float(tops[i].mid()))
        return worse, math.nextafter(upper_float(tops[worse]), math.inf)

    def _near_enough(self, worse: int, top: float, delta: Fraction) -> Iterator[Fraction]:
        """The shares with which both bounds may be close, the closest first."""
        for share in _NEAR:
            if near(share) >= self.wide:
                return
            with precision(_BITS):
                if ball(delta) < self._chance(worse, share) * ball(min(self.wide * top, 1.0)):
                    yield share

    def _chance(self, direction: int, share: Fraction) -> Ball:
        """That every loss of a direction is nearly the largest, or a lower bound of it."""
        known = self._chances.get((direction, share))
        effort.spend(_READ if known is not None else _EACH * len(self.directions[direction]), "the largest loss")
        if known is None:
            with precision(_BITS):
                known = Ball(1)
                for pair, copies in self.directions[direction]:
                    one = pair.tail(pair.largest().ball() * ball(1 - share))
                    known *= one.lower().max(Ball(0)) ** copies if one.is_finite() else Ball(0)
            self._chances[direction, share] = known
        return known


def top_profile(loss: Loss) -> TopProfile | None:
    """That of bounded losses, of which none is infinite; None of others."""
    directions = tuple(merged(parts) for parts in loss.directions)
    tops = [total([(pair.largest(), n) for pair, n in parts]) for parts in directions]
    return None if any(top.infinite for top in tops) else TopProfile(directions, tuple(tops))
