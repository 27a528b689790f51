"""Runs that now and then differ from the run that was analysed: batches cut to a largest size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from tightrope.curves.profile import Profile, Witness, within_unit
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.real import Real, total
from tightrope.numerics.sums.binomial_tail import binomial_excess
from tightrope.theorems import Source, theorem

Cut = tuple[int, Fraction, int]  # the largest number of records, the rate, the size batches are cut to

_STEPS = 40
_ROUNDING = 1e-9
_AROUND = (0.0, 1e-15, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)


@dataclass(frozen=True, eq=False)
class CoupledProfile(Profile):
    """δ(ε) + (1 + e^ε)·τ."""

    base: Profile
    distance: Real

    def find(self, epsilon: Fraction) -> Witness:
        """The base's witness."""
        return self.base.find(epsilon)

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The base's proof, with the coupling's cost on top."""
        inner = self.base.prove(epsilon, witness)
        with precision(256):
            return within_unit(inner + self._cost(ball(epsilon)))

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
