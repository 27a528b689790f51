"""Runs that now and then differ from the run that was analysed: batches cut to a largest size.

What is proved of δ at some ε holds at every larger one, and the cost of the coupling rises like e^ε: from some place on
the bound is that of this place, which the witness names. In e^ε the bound is convex, so that there is one such place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

from tightrope.curves.profile import Profile, Witness, within_unit
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.real import Real, total
from tightrope.numerics.sums.binomial_tail import binomial_excess
from tightrope.theorems import Source, theorem

Cut = tuple[int, Fraction, int]  # the largest number of records, the rate, the size batches are cut to

_STEPS = 40
_PLACE = "place"  # of the proof, if it is not at the ε that is asked about
_STEP, _SECANTS, _STILL, _REFINED = 1e-4, 7, 0.02, 8
_FIND, _PROVE = 1e4, 3e3  # units of work, beside what a search counts itself
_ROUNDING = 1e-9
_FEW, _ROUNDS, _RISING = 8, 12, 1e-9  # points, more of which are asked together; so often, and while they rise so much
_TOGETHER = (1e-12, 1e-9, 1e-6)  # relatively: where their upper ends are tried
_AROUND = (0.0, 1e-15, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)


@dataclass(frozen=True, eq=False)
class CoupledProfile(Profile):
    """The least of δ(x) + (1 + e^x)·τ over x ≤ ε."""

    base: Profile
    distance: Real

    def find(self, epsilon: Fraction) -> Witness:
        """The base's witness at ε, or at the best place if that is smaller."""
        best = self._best if self._beyond(epsilon) else None
        if best is not None and best[0] <= epsilon:
            return best[1]
        try:
            witness = self.base.find(epsilon)
            if epsilon == 0 or self._value(epsilon, witness) <= self._value(epsilon * (1 - Fraction(_STEP)), witness):
                return witness
        except NotCertified:
            if self._best is None or self._best[0] > epsilon:
                raise
        best = self._best
        return best[1] if best is not None and best[0] <= epsilon else witness

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The base's proof, with the coupling's cost on top, at ε or at the smaller place that the witness names."""
        place = Fraction(witness.get(_PLACE, epsilon))
        at = place if 0 <= place <= epsilon else epsilon
        return self._proved(at, {name: value for name, value in witness.items() if name != _PLACE})

    def _proved(self, at: Fraction, witness: Witness) -> Ball:
        inner = self.base.prove(at, witness)
        with precision(256):
            return within_unit(inner + self._cost(ball(at)))

    def _beyond(self, epsilon: Fraction) -> bool:
        """Whether the coupling alone costs more there than all does at 0: then the best place is a smaller one."""
        if not epsilon > 0:
            return False
        with suppress(NotCertified):
            return bool(self._cost(ball(epsilon)) > self._value(Fraction(0), self._first))
        return False

    def _value(self, at: Fraction, witness: Witness) -> float:
        """About the bound, of any size."""
        inner = self.base.prove(at, witness)
        with precision(64):
            return float((inner + self._cost(ball(at))).mid())

    @cached_property
    def _best(self) -> tuple[Fraction, Witness] | None:
        """Where the bound is least, the same for all ε beyond: by secants, and then by one witness."""
        try:
            return self._least_place()
        except NotCertified:
            return None

    def _least_place(self) -> tuple[Fraction, Witness] | None:
        """Where −δ' is e^x·τ: the difference of their logarithms falls, and nearly along a line."""
        with precision(64):
            tau = float(self.distance.ball().mid())
        if not tau > 0:
            return None
        low, high = 0.0, math.log(max(self._value(Fraction(0), self._first) / tau - 1, 1.0))
        if not high > 0:
            return Fraction(0), {**self._first, _PLACE: 0.0}
        step, place = high * _STEP, high / 2
        last: tuple[float, float] | None = None
        for _ in range(_SECANTS):
            effort.spend(_FIND, "the best place of a bound")
            witness = self.base.find(Fraction(place))
            excess = self._excess(place, step, tau, witness)
            low, high = (place, high) if excess > 0 else (low, place)
            slope = 0.0 if last is None else (excess - last[1]) / (place - last[0])
            last, at = (place, excess), place - excess / slope if slope < 0 else math.nan
            at = at if low < at < high else (low + high) / 2
            moved, place = abs(at - place), at
            if moved < _STILL * place:
                break
        least, reach = self._value(Fraction(place), witness), max(place, step) / 16
        for _ in range(_REFINED):  # by the last witness
            for x in (max(place - reach, 0.0), place + reach):
                effort.spend(_PROVE, "the best place of a bound")
                value = self._value(Fraction(x), witness)
                if value < least:
                    least, place = value, x
                    break
            reach /= 2
        if self._value(Fraction(0), self._first) <= least:
            return Fraction(0), {**self._first, _PLACE: 0.0}
        return Fraction(place), {**witness, _PLACE: place}

    def _excess(self, at: float, step: float, tau: float, witness: Witness) -> float:
        """ln(−δ'/e^x·τ) at x."""
        falls = [self.base.prove(Fraction(x), witness) for x in (at, at + step)]
        with precision(64):
            slope = float((falls[0] - falls[1]).mid()) / step
        return math.log(slope / tau) - at if slope > 0 else -math.inf

    @cached_property
    def _first(self) -> Witness:
        return self.base.find(Fraction(0))

    def _inner(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        with precision(256):
            costs = [self._cost(ball(x)) for x in epsilons]
        return [None if y is None else y + c for y, c in zip(self.base.deltas(epsilons), costs, strict=True)]

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """The base's, which share their work; beyond the best place all are as there."""
        with precision(256):
            found = [None if y is None else within_unit(y) for y in self._inner(epsilons)]
        best = self._best if any(x > 0 for x in epsilons) else None
        if best is None:
            return found
        with suppress(NotCertified):
            most = self.prove(*best)
            found = [
                most if x >= best[0] and (y is None or y.mid() > most.mid()) else y
                for x, y in zip(epsilons, found, strict=True)
            ]
        return found

    def _cost(self, epsilon: Ball) -> Ball:
        return sharp(lambda: (1 + epsilon.exp()) * self.distance.ball())

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """The least ε with δ(ε) + (1 + e^ε)τ ≤ delta, from below: what e leaves for the base raises e again, and a line
        through the last two e leads further."""
        low, high, at = 0.0, 0.0, 0.0
        known: Witness = {}
        last: tuple[float, float] | None = None  # a place before, and by how much it was raised
        for _ in range(_STEPS):
            left = self._left(delta, at)
            if left is None and at == low:
                return Bound(math.inf, math.inf), {}
            if left is None:  # the line led too far
                at, last = low, None
                continue
            found, known = self.base.epsilon(left)
            high, raised = found.upper, found.lower - at
            if not raised > max(1e-14 * at, _width(found) * high):  # or closer than the base tells
                break
            low = found.lower
            slope = 0.0 if last is None or at == last[0] else (raised - last[1]) / (at - last[0])
            last, at = (at, raised), max(at - raised / slope, low) if slope < 0 else low
        for step, again in product(_AROUND, (False, True)):
            at = max(low, high) * (1 + step)
            if math.isfinite(at) and (known or again):
                witness = self.find(Fraction(at)) if again else known
                if self.prove(Fraction(at), witness) <= ball(delta):
                    return Bound(low, at), witness
        raise NotCertified("a run with cut batches", f"no ε near {high:.6g} was proved")

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """All at once, from below as well, and all upper ends proved together; None where ε rises slowly."""
        if len(deltas) <= _FEW:
            return super().epsilons(deltas)
        low, high = dict.fromkeys(deltas, 0.0), dict.fromkeys(deltas, math.inf)
        moving = list(low)
        for _ in range(_ROUNDS):
            lefts = {x: left for x in moving if (left := self._left(x, low[x])) is not None}
            known = dict(zip(lefts, self.base.epsilons(list(lefts.values())), strict=True))
            risen = {x: b for x, b in known.items() if b is not None and b.lower > low[x] * (1 + _RISING)}
            high |= {x: b.upper for x, b in known.items() if b is not None}
            low |= {x: b.lower for x, b in risen.items()}
            moving = list(risen)
            if not moving:
                break
        found = dict[Fraction, Bound]()
        for step in _TOGETHER:
            trial = {x: high[x] * (1 + step) for x in low if x not in found and math.isfinite(high[x])}
            proved = zip(trial, self.deltas([Fraction(at) for at in trial.values()]), strict=True)
            with precision(256):
                good = [x for x, value in proved if value is not None and value <= ball(x)]
            found |= {x: Bound(min(low[x], trial[x]), trial[x]) for x in good}
        return [found.get(x) for x in deltas]

    def _left(self, delta: Fraction, epsilon: float) -> Fraction | None:
        """delta − (1 + e^ε)τ, rounded up; None if nothing is left."""
        with precision(256):
            value = (ball(delta) - self._cost(Ball(epsilon))).upper()
            if not value > 0:
                return None
            mantissa, exponent = value.man_exp()
        return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _width(found: Bound) -> float:
    """How far its ends are apart, relatively, beyond rounding."""
    width = 1 - found.lower / found.upper if 0 < found.upper < math.inf else 0.0
    return width if width > _ROUNDING else 0.0


@theorem(
    of=Profile,
    gives=Profile,
    kind="upper",
    role="profile",
    source=Source("tightrope", "batches cut to a largest size"),
    hypotheses=("no data set has more records than the stated population",),
)
def cut_batches_cost_little(c: Profile, cuts: list[tuple[Cut, int]]) -> Profile:
    """A Poisson batch exceeds b records with chance Pr[Bin(n, q) > b]; with τ the sum of these chances over all steps
    the run with batches cut to b costs at most (1 + e^ε)·τ more than the run without: P'(S) ≤ P(S) + τ ≤
    e^ε·Q(S) + δ + τ ≤ e^ε·(Q'(S) + τ) + δ + τ."""
    return CoupledProfile(c, total([(_excess(cut), n) for cut, n in cuts]))


def _excess(cut: Cut) -> Real:
    return Real(None, lambda: binomial_excess(*cut))
